//! The fake keeps what it was given.

use jiff::tz::TimeZone;

use super::Fake;
use crate::{Agenda, CalendarId, Error, EventPatch, Moment, NewEvent, Range, RecurrenceId, Scope};

fn moment(text: &str) -> Moment {
    text.parse().unwrap()
}

fn weekly() -> NewEvent {
    NewEvent {
        calendar: CalendarId("/office/".into()),
        title: "Jour fixe".into(),
        start: moment("2026-03-23T10:00:00"),
        end: None,
        time_zone: Some("Europe/Berlin".into()),
        location: None,
        notes: None,
        url: None,
        recurrence: Some("FREQ=WEEKLY;COUNT=4".into()),
    }
}

async fn starts(fake: &Fake) -> Vec<(String, String)> {
    let days = |text: &str| text.parse().unwrap();
    let berlin = TimeZone::get("Europe/Berlin").unwrap();
    let range = Range::days(days("2026-03-01"), days("2026-04-30"), berlin).unwrap();
    let events = fake.events(&range, None).await.unwrap();
    events.events.into_iter().map(|event| (event.title, event.start.to_string())).collect()
}

#[tokio::test]
async fn one_occurrence_is_moved_and_put_back() {
    let fake = Fake::new();
    let made = fake.create_event(weekly()).await.unwrap();
    let all = fake.all();
    let before = starts(&fake).await;
    assert_eq!(
        before.iter().map(|(_, start)| start.as_str()).collect::<Vec<_>>(),
        [
            "2026-03-23T10:00:00+01:00[Europe/Berlin]",
            "2026-03-30T10:00:00+02:00[Europe/Berlin]",
            "2026-04-06T10:00:00+02:00[Europe/Berlin]",
            "2026-04-13T10:00:00+02:00[Europe/Berlin]",
        ]
    );
    let patch = EventPatch { start: Some(moment("2026-03-31T12:00:00")), ..EventPatch::default() };
    let scope = Scope::This(RecurrenceId(moment("2026-03-30T10:00:00")));
    let moved = fake.change_event(&made.now.id, patch, scope).await.unwrap();
    assert_eq!(moved.now.start.to_string(), "2026-03-31T12:00:00+02:00[Europe/Berlin]");
    assert!(moved.now.is_exception);
    assert_eq!(starts(&fake).await[1].1, "2026-03-31T12:00:00+02:00[Europe/Berlin]");
    fake.restore(&moved.undo).await.unwrap();
    assert_eq!(fake.all(), all);
    fake.restore(&made.undo).await.unwrap();
    assert!(fake.all().is_empty());
}

#[tokio::test]
async fn an_undo_is_refused_where_someone_has_changed_the_event_since() {
    let fake = Fake::new();
    let made = fake.create_event(weekly()).await.unwrap();
    let text = fake.all()[&made.now.id.0].replace("Jour fixe", "Theirs");
    fake.set(&made.now.id.0, &text);
    let conflict = fake.restore(&made.undo).await.unwrap_err();
    assert!(matches!(conflict, Error::Conflict { .. }), "{conflict}");
}
