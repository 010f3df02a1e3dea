//! Reminders: made, changed, done, and done again where they recur.

use agenda::{Due, Error, NewReminder, Reminder, ReminderFilter, ReminderId, ReminderPatch, ReminderState};

use crate::world::{World, moment, object, promises};

promises! {
    a_reminder_is_made_changed_done_and_opened_again,
    reminders_come_by_date_and_by_whether_they_are_done,
    a_reminder_that_recurs_moves_on_when_it_is_done,
    what_others_wrote_into_a_reminder_survives,
    an_event_is_no_reminder,
}

fn new(world: &World, title: &str) -> NewReminder {
    NewReminder {
        list: world.calendar("tasks"),
        title: title.into(),
        due: None,
        time_zone: None,
        notes: None,
        priority: 0,
        recurrence: None,
    }
}

async fn listed(world: &World, state: ReminderState) -> Vec<String> {
    let found = world.agenda().reminders(&ReminderFilter { state, list: None }).await.unwrap();
    assert_eq!((found.left_off, found.unreadable.len()), (0, 0));
    found.reminders.into_iter().map(|reminder| reminder.title).collect()
}

async fn again(world: &World, id: &ReminderId) -> Reminder {
    let filter = ReminderFilter { state: ReminderState::All, list: None };
    let all = world.agenda().reminders(&filter).await.unwrap().reminders;
    all.into_iter().find(|reminder| reminder.id == *id).unwrap()
}

async fn a_reminder_is_made_changed_done_and_opened_again(world: World) {
    let agenda = world.agenda();
    let made = agenda
        .create_reminder(NewReminder {
            due: Some(moment("2026-06-01T18:00:00")),
            time_zone: Some("Asia/Tokyo".into()),
            notes: Some("二リットル".into()),
            priority: 1,
            ..new(&world, "牛乳を買う")
        })
        .await
        .unwrap();
    let id = made.now.id.clone();
    let kept = again(&world, &id).await;
    assert_eq!(kept.due.as_ref().unwrap().to_string(), "2026-06-01T18:00:00+09:00[Asia/Tokyo]");
    assert_eq!(
        (kept.title.as_str(), kept.notes.as_deref(), kept.priority),
        ("牛乳を買う", Some("二リットル"), 1)
    );
    let mut texts = vec![world.text(&id.0).await.unwrap()];
    let mut undos = Vec::new();
    let patch = ReminderPatch {
        due: Some(Due::At(moment("2026-06-02T09:00:00"))),
        notes: Some(String::new()),
        priority: Some(0),
        ..ReminderPatch::default()
    };
    let changed = agenda.change_reminder(&id, patch).await.unwrap();
    assert_eq!(changed.now.due.as_ref().unwrap().to_string(), "2026-06-02T09:00:00+09:00[Asia/Tokyo]");
    assert_eq!((changed.now.notes.as_deref(), changed.now.priority), (None, 0));
    undos.push(changed.undo);
    texts.push(world.text(&id.0).await.unwrap());
    let done = agenda.complete_reminder(&id).await.unwrap();
    assert!(done.now.done && again(&world, &id).await.done_at.is_some());
    undos.push(done.undo);
    texts.push(world.text(&id.0).await.unwrap());
    let open = ReminderPatch { done: Some(false), due: Some(Due::Never), ..ReminderPatch::default() };
    let open = agenda.change_reminder(&id, open).await.unwrap();
    assert!(!open.now.done && again(&world, &id).await.due.is_none());
    undos.push(open.undo);
    texts.push(world.text(&id.0).await.unwrap());
    undos.push(agenda.delete_reminder(&id).await.unwrap());
    assert_eq!(world.text(&id.0).await, None);
    for (undo, text) in undos.iter().zip(&texts).rev() {
        agenda.restore(undo).await.unwrap();
        assert_eq!(&world.text(&id.0).await.unwrap(), text);
    }
    agenda.restore(&made.undo).await.unwrap();
    assert_eq!(world.text(&id.0).await, None);
}

async fn reminders_come_by_date_and_by_whether_they_are_done(world: World) {
    let agenda = world.agenda();
    for (title, due, list) in [
        ("never", None, "tasks"),
        ("later", Some("2026-06-02T08:00:00Z"), "home"),
        ("day", Some("2026-06-02"), "tasks"),
        ("done", Some("2026-01-01"), "tasks"),
    ] {
        let new = NewReminder { due: due.map(moment), list: world.calendar(list), ..new(&world, title) };
        let id = agenda.create_reminder(new).await.unwrap().now.id;
        if title == "done" {
            agenda.complete_reminder(&id).await.unwrap();
        }
    }
    assert_eq!(listed(&world, ReminderState::Open).await, ["day", "later", "never"]);
    assert_eq!(listed(&world, ReminderState::Done).await, ["done"]);
    assert_eq!(listed(&world, ReminderState::All).await, ["day", "later", "never", "done"]);
    let home = ReminderFilter { list: Some(world.calendar("home")), state: ReminderState::All };
    assert_eq!(agenda.reminders(&home).await.unwrap().reminders.len(), 1);
    let work = ReminderFilter { list: Some(world.calendar("office")), state: ReminderState::All };
    assert!(matches!(agenda.reminders(&work).await, Err(Error::Invalid { field: "calendar", .. })));
}

async fn a_reminder_that_recurs_moves_on_when_it_is_done(world: World) {
    let agenda = world.agenda();
    let weekly = NewReminder {
        due: Some(moment("2026-03-23T18:00:00")),
        time_zone: Some("Europe/Berlin".into()),
        recurrence: Some("FREQ=WEEKLY;COUNT=3".into()),
        ..new(&world, "bins")
    };
    let id = agenda.create_reminder(weekly).await.unwrap().now.id;
    let first = world.text(&id.0).await.unwrap();
    let second = agenda.complete_reminder(&id).await.unwrap();
    // Across the change of the clock.
    assert_eq!(second.now.due.as_ref().unwrap().to_string(), "2026-03-30T18:00:00+02:00[Europe/Berlin]");
    assert!(!second.now.done);
    let third = agenda.complete_reminder(&id).await.unwrap();
    assert_eq!(third.now.recurrence.as_deref(), Some("FREQ=WEEKLY;COUNT=1"));
    let done = agenda.complete_reminder(&id).await.unwrap();
    assert!(done.now.done);
    for undo in [&done.undo, &third.undo, &second.undo] {
        agenda.restore(undo).await.unwrap();
    }
    assert_eq!(world.text(&id.0).await.unwrap(), first);
    let dateless = NewReminder { recurrence: Some("FREQ=DAILY".into()), ..new(&world, "x") };
    assert!(matches!(
        agenda.create_reminder(dateless).await,
        Err(Error::Invalid { field: "recurrence", .. })
    ));
}

async fn what_others_wrote_into_a_reminder_survives(world: World) {
    let theirs = "BEGIN:VTODO
UID:theirs
DTSTAMP:20260101T000000Z
SUMMARY:theirs
X-APPLE-SORT-ORDER:7
RELATED-TO;RELTYPE=PARENT:other
BEGIN:VALARM
ACTION:DISPLAY
TRIGGER;VALUE=DATE-TIME:20260601T160000Z
DESCRIPTION:x
END:VALARM
END:VTODO";
    let id = ReminderId(world.put("tasks", "theirs", &object(theirs)).await.0);
    let title = ReminderPatch { title: Some("ours\r\nSTATUS:CANCELLED".into()), ..ReminderPatch::default() };
    agenda_change(&world, &id, title).await;
    world.agenda().complete_reminder(&id).await.unwrap();
    let kept = world.text(&id.0).await.unwrap();
    for line in [
        "X-APPLE-SORT-ORDER:7",
        "RELATED-TO;RELTYPE=PARENT:other",
        "TRIGGER;VALUE=DATE-TIME:20260601T160000Z",
    ] {
        assert!(kept.contains(line), "{kept}");
    }
    assert!(kept.contains("\nSTATUS:COMPLETED") && !kept.contains("\nSTATUS:CANCELLED"), "{kept}");
}

async fn agenda_change(world: &World, id: &ReminderId, patch: ReminderPatch) {
    let before = world.text(&id.0).await.unwrap();
    let changed = world.agenda().change_reminder(id, patch).await.unwrap();
    let redo = world.agenda().restore(&changed.undo).await.unwrap();
    assert_eq!(world.text(&id.0).await.unwrap(), before);
    world.agenda().restore(&redo).await.unwrap();
}

async fn an_event_is_no_reminder(world: World) {
    let event = world.new_event("event", "2026-06-01", "2026-06-02", None);
    let id = ReminderId(world.agenda().create_event(event).await.unwrap().now.id.0);
    assert!(world.agenda().delete_reminder(&id).await.is_err());
    assert!(world.agenda().complete_reminder(&id).await.is_err());
    assert!(world.text(&id.0).await.is_some());
}
