//! An agenda to test, and a way round it: what is kept, and what other programs do.

use agenda::fake::Fake;
use agenda::{Agenda, CalendarId, Event, EventId, EventPatch, Moment, NewEvent, Range, RecurrenceId, Scope};
use jiff::tz::TimeZone;

use crate::radicale::Radicale;

pub enum World {
    Fake(Box<Fake>),
    Radicale(Box<Radicale>, Box<agenda::CalDav>),
}

/// Each promise is tested with both.
macro_rules! promises {
    ($($name:ident),* $(,)?) => {
        mod fake {
            $(#[tokio::test]
            async fn $name() {
                super::$name(crate::world::World::fake()).await;
            })*
        }
        mod radicale {
            $(#[tokio::test]
            async fn $name() {
                super::$name(crate::world::World::radicale().await).await;
            })*
        }
    };
}
pub(crate) use promises;

impl World {
    pub fn fake() -> Self {
        Self::Fake(Box::new(Fake::new()))
    }

    pub async fn radicale() -> Self {
        let radicale = Radicale::start().await;
        let agenda = radicale.agenda();
        Self::Radicale(Box::new(radicale), Box::new(agenda))
    }

    pub fn agenda(&self) -> &dyn Agenda {
        match self {
            Self::Fake(fake) => &**fake,
            Self::Radicale(_, agenda) => &**agenda,
        }
    }

    /// `work`, `home` or `tasks`.
    pub fn calendar(&self, name: &str) -> CalendarId {
        match self {
            Self::Fake(_) => CalendarId(format!("/{name}/")),
            Self::Radicale(radicale, _) => CalendarId(format!("/{}/{name}/", radicale.user)),
        }
    }

    /// What another program writes.
    pub async fn put(&self, calendar: &str, name: &str, text: &str) -> EventId {
        let id = format!("{}{name}.ics", self.calendar(calendar));
        match self {
            Self::Fake(fake) => fake.set(&id, text),
            Self::Radicale(radicale, _) => radicale.put(&id, text).await,
        }
        EventId(id)
    }

    /// The object as it is kept.
    pub async fn text(&self, id: &str) -> Option<String> {
        match self {
            Self::Fake(fake) => fake.all().remove(id),
            Self::Radicale(radicale, _) => radicale.get(id).await,
        }
    }

    /// Title and start of each event in a range of days, as someone in `zone` sees them.
    pub async fn seen(&self, first: &str, last: &str, zone: &str) -> Vec<String> {
        let events = self.events(first, last, zone).await;
        events.iter().map(|event| format!("{} {}", event.start, event.title)).collect()
    }

    pub async fn events(&self, first: &str, last: &str, zone: &str) -> Vec<Event> {
        let zone = TimeZone::get(zone).unwrap();
        let range = Range::days(first.parse().unwrap(), last.parse().unwrap(), zone).unwrap();
        let found = self.agenda().events(&range, None).await.unwrap();
        assert_eq!((found.left_off, found.unreadable.as_slice()), (0, [].as_slice()));
        found.events
    }

    pub fn new_event(&self, title: &str, start: &str, end: &str, zone: Option<&str>) -> NewEvent {
        NewEvent {
            calendar: self.calendar("office"),
            title: title.into(),
            start: moment(start),
            end: Some(moment(end)),
            time_zone: zone.map(Into::into),
            location: None,
            notes: None,
            url: None,
            recurrence: None,
        }
    }

    /// Makes a change and takes it back: the object must then be as it was, to the byte.
    pub async fn change_and_back(&self, id: &EventId, patch: EventPatch, scope: Scope) -> Event {
        let before = self.text(&id.0).await.unwrap();
        let made = self.agenda().change_event(id, patch.clone(), scope.clone()).await.unwrap();
        let redo = self.agenda().restore(&made.undo).await.unwrap();
        assert_eq!(self.text(&id.0).await.unwrap(), before);
        if made.now.id != *id {
            assert_eq!(self.text(&made.now.id.0).await, None);
        }
        self.agenda().restore(&redo).await.unwrap();
        made.now
    }
}

pub fn moment(text: &str) -> Moment {
    text.parse().unwrap()
}

pub fn occurrence(text: &str) -> RecurrenceId {
    RecurrenceId(moment(text))
}

pub fn titled(title: &str) -> EventPatch {
    EventPatch { title: Some(title.into()), ..EventPatch::default() }
}

pub fn from(start: &str) -> EventPatch {
    EventPatch { start: Some(moment(start)), ..EventPatch::default() }
}

/// A VCALENDAR around some lines.
pub fn object(lines: &str) -> String {
    let lines = lines.trim().replace('\n', "\r\n");
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Other//Program//EN\r\n{lines}\r\nEND:VCALENDAR\r\n")
}
