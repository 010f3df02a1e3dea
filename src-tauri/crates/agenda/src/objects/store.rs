//! Where calendar objects are kept: a server, or a test's memory.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::{Calendar, CalendarId, Error};

/// One object as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    pub id: String,
    pub version: String,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Event,
    Reminder,
}

impl Kind {
    /// The name of its component.
    pub(crate) const fn component(self) -> &'static str {
        match self {
            Self::Event => "VEVENT",
            Self::Reminder => "VTODO",
        }
    }
}

/// What has to be there for a change to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Nothing,
    Version(String),
}

#[async_trait]
pub(crate) trait Store: Send + Sync {
    async fn calendars(&self) -> Result<Vec<Calendar>, Error>;

    /// The objects of a kind in a calendar; those that have something in the range, perhaps more.
    async fn query(
        &self,
        calendar: &CalendarId,
        kind: Kind,
        range: Option<(Timestamp, Timestamp)>,
    ) -> Result<Vec<Object>, Error>;

    async fn get(&self, id: &str) -> Result<Option<Object>, Error>;

    /// Returns the new version. [`Error::Conflict`] where something else is there than expected.
    async fn put(&self, id: &str, text: &str, expected: &Expected) -> Result<String, Error>;

    /// [`Error::Conflict`] where it is of another version, [`Error::NotFound`] where it is gone.
    async fn delete(&self, id: &str, version: &str) -> Result<(), Error>;

    /// The calendar that an object is in. `None` for what can be no object of this store's.
    fn calendar_of(&self, id: &str) -> Option<CalendarId>;

    /// The id of a new object.
    fn new_id(&self, calendar: &CalendarId, uid: &str) -> String;
}
