//! CalDAV (RFC 4791): a server's calendars, found from an address alone (RFC 6764). Tested against Radicale; iCloud and
//! Nextcloud as they document themselves.
//!
//! Owns where objects are on the server and which address the password may go to. Knows nothing of what is in an object.

mod connection;
mod discovery;
mod xml;

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use protocol::command::Secret;
use reqwest::{Method, StatusCode, Url};
use tokio::sync::OnceCell;

use crate::ical::stamp_text;
use crate::objects::{Expected, Kind, Object, Objects, Store};
use crate::{
    Agenda, Calendar, CalendarId, Changed, Error, Event, EventId, EventPatch, Events, NewEvent, NewReminder,
    Range, Reminder, ReminderFilter, ReminderId, ReminderPatch, Reminders, Scope, Undo,
};
use connection::{Connection, Request};
use discovery::Homes;

/// How long a server may take for one answer.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// Whose calendars, and where. Its `Debug` hides the password.
#[derive(Clone, Debug)]
pub struct CalDavAccount {
    /// Of the server, or of anything on it: `https://caldav.icloud.com`, `https://cloud.example.org/remote.php/dav`.
    pub url: String,
    pub user: String,
    pub password: Secret,
}

/// The calendars of an account. Nothing is asked of the server before the first call.
pub struct CalDav(Objects<Server>);

impl std::fmt::Debug for CalDav {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CalDav")
    }
}

impl CalDav {
    /// # Errors
    /// [`Error::Address`] if no password may be sent there: it is not https, or holds a password itself.
    pub fn new(account: &CalDavAccount) -> Result<Self, Error> {
        Self::with_timeout(account, TIMEOUT)
    }

    /// # Errors
    /// As [`CalDav::new`].
    pub fn with_timeout(account: &CalDavAccount, timeout: Duration) -> Result<Self, Error> {
        let connection = Connection::new(account, timeout)?;
        Ok(Self(Objects::new(Server { connection, homes: OnceCell::new() }, Timestamp::now)))
    }
}

struct Server {
    connection: Connection,
    homes: OnceCell<Homes>,
}

impl Server {
    async fn homes(&self) -> Result<&Homes, Error> {
        self.homes.get_or_try_init(|| discovery::homes(&self.connection)).await
    }

    /// Where a path is on the server.
    async fn url(&self, path: &str) -> Result<Url, Error> {
        self.homes().await?.url(path).ok_or_else(|| Error::not_found(path))
    }
}

/// Whether a text is the path of one object as servers write it: nothing in it leads elsewhere.
fn is_path(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let plain =
        path.starts_with('/') && !path.contains("//") && !lower.contains("%2f") && !lower.contains("%5c");
    let normal = Url::parse("https://example.org").and_then(|base| base.join(path));
    plain && normal.is_ok_and(|url| url.path() == path && url.query().is_none() && url.fragment().is_none())
}

#[async_trait]
impl Store for Server {
    async fn calendars(&self) -> Result<Vec<Calendar>, Error> {
        let mut all = Vec::new();
        for home in &self.homes().await?.0 {
            let answer = self.connection.read(Request::propfind(home.clone(), "1", xml::CALENDARS)).await?;
            all.extend(xml::calendars(&answer.text, &answer.url)?);
        }
        Ok(all)
    }

    async fn query(
        &self,
        calendar: &CalendarId,
        kind: Kind,
        range: Option<(Timestamp, Timestamp)>,
    ) -> Result<Vec<Object>, Error> {
        let url = self.url(&calendar.0).await?;
        let range = range.map(|(from, to)| (stamp_text(from), stamp_text(to)));
        let body =
            xml::query(kind.component(), range.as_ref().map(|(from, to)| (from.as_str(), to.as_str())));
        let method = Method::from_bytes(b"REPORT").unwrap_or(Method::POST);
        let request =
            Request { depth: Some("1"), body: Some((body, "application/xml")), ..Request::new(method, url) };
        let answer = self.connection.read(request).await?;
        xml::objects(&answer.text, &answer.url)
    }

    async fn get(&self, id: &str) -> Result<Option<Object>, Error> {
        let url = self.url(id).await?;
        match self.connection.read(Request::new(Method::GET, url)).await {
            Ok(answer) => {
                let version = answer.version.ok_or_else(|| Error::Unreadable {
                    what: format!("the answer for {id}"),
                    why: "it has no ETag, without which a change could overwrite another".into(),
                })?;
                Ok(Some(Object { id: id.into(), version, text: answer.text }))
            }
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn put(&self, id: &str, text: &str, expected: &Expected) -> Result<String, Error> {
        let url = self.url(id).await?;
        let body = Some((text.to_owned(), "text/calendar; charset=utf-8"));
        let request = Request { body, expected: Some(expected.clone()), ..Request::new(Method::PUT, url) };
        let answer = self.connection.change(request).await?;
        if let Some(version) = answer.version {
            return Ok(version);
        }
        // RFC 4791, 5.3.4: no ETag where the server keeps another text than it was given.
        match self.get(id).await {
            Ok(Some(object)) => Ok(object.version),
            Ok(None) => Err(Error::Conflict { what: id.into() }),
            Err(error) => Err(Error::UnknownOutcome { what: id.into(), why: error.to_string() }),
        }
    }

    async fn delete(&self, id: &str, version: &str) -> Result<(), Error> {
        let url = self.url(id).await?;
        let expected = Some(Expected::Version(version.into()));
        self.connection.change(Request { expected, ..Request::new(Method::DELETE, url) }).await.map(|_| ())
    }

    fn calendar_of(&self, id: &str) -> Option<CalendarId> {
        let (calendar, name) = id.rsplit_once('/')?;
        (is_path(id) && !name.is_empty() && !calendar.is_empty()).then(|| CalendarId(format!("{calendar}/")))
    }

    fn new_id(&self, calendar: &CalendarId, uid: &str) -> String {
        let slash = if calendar.0.ends_with('/') { "" } else { "/" };
        format!("{calendar}{slash}{uid}.ics")
    }
}

/// Whether a status says that something is not there.
fn is_missing(status: StatusCode) -> bool {
    matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE)
}

crate::objects::delegate!(CalDav);
