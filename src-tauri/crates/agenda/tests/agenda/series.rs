//! Series: across changes of the clock, with exceptions, and changes of some of their occurrences.

use agenda::{Error, EventId, EventPatch, NewEvent, Scope};

use crate::world::{World, from, moment, object, occurrence, promises, titled};

promises! {
    a_series_stays_at_its_time_when_the_clock_changes,
    one_occurrence_is_changed_and_changed_again,
    one_occurrence_is_deleted,
    this_and_following_become_a_series_of_their_own,
    this_and_following_are_deleted,
    a_whole_series_moves_with_its_exceptions,
    a_series_is_moved_as_seen_from_one_of_its_occurrences,
    excluded_added_and_moved_dates_of_others_are_understood,
    what_is_no_occurrence_is_not_found,
    a_night_shift_lasts_as_long_as_it_does,
}

async fn series(world: &World, start: &str, end: &str, zone: Option<&str>, rule: &str) -> EventId {
    let new = NewEvent { recurrence: Some(rule.into()), ..world.new_event("s", start, end, zone) };
    world.agenda().create_event(new).await.unwrap().now.id
}

async fn berlin_weekly(world: &World) -> EventId {
    series(
        world,
        "2026-03-16T10:00:00",
        "2026-03-16T11:00:00",
        Some("Europe/Berlin"),
        "FREQ=WEEKLY;BYDAY=MO;COUNT=5",
    )
    .await
}

async fn seen(world: &World) -> Vec<String> {
    let events = world.events("2026-03-01", "2026-05-31", "Europe/Berlin").await;
    events.iter().map(|event| format!("{} {}", event.start.wall(), event.title)).collect()
}

const WEEKS: [&str; 5] = [
    "2026-03-16T10:00:00 s",
    "2026-03-23T10:00:00 s",
    "2026-03-30T10:00:00 s",
    "2026-04-06T10:00:00 s",
    "2026-04-13T10:00:00 s",
];

async fn a_series_stays_at_its_time_when_the_clock_changes(world: World) {
    berlin_weekly(&world).await;
    let rule = "FREQ=DAILY;UNTIL=2026-03-09".replace('-', "");
    series(&world, "2026-03-07T02:30:00", "2026-03-07T03:00:00", Some("America/New_York"), &rule).await;
    series(&world, "2026-03-28T09:00:00", "2026-03-28T10:00:00", Some("Asia/Tokyo"), "FREQ=DAILY;COUNT=3")
        .await;
    series(&world, "2026-10-24T02:30:00", "2026-10-24T03:30:00", Some("Europe/Berlin"), "FREQ=DAILY;COUNT=3")
        .await;
    let mut starts = world.seen("2026-03-01", "2026-12-31", "Europe/Berlin").await;
    starts.sort();
    assert_eq!(
        starts,
        [
            "2026-03-07T02:30:00-05:00[America/New_York] s",
            // There was no half past two: RFC 5545 reads it as by the offset before.
            "2026-03-08T03:30:00-04:00[America/New_York] s",
            "2026-03-09T02:30:00-04:00[America/New_York] s",
            "2026-03-16T10:00:00+01:00[Europe/Berlin] s",
            "2026-03-23T10:00:00+01:00[Europe/Berlin] s",
            "2026-03-28T09:00:00+09:00[Asia/Tokyo] s",
            "2026-03-29T09:00:00+09:00[Asia/Tokyo] s",
            "2026-03-30T09:00:00+09:00[Asia/Tokyo] s",
            "2026-03-30T10:00:00+02:00[Europe/Berlin] s",
            "2026-04-06T10:00:00+02:00[Europe/Berlin] s",
            "2026-04-13T10:00:00+02:00[Europe/Berlin] s",
            "2026-10-24T02:30:00+02:00[Europe/Berlin] s",
            // It came twice: the first.
            "2026-10-25T02:30:00+02:00[Europe/Berlin] s",
            "2026-10-26T02:30:00+01:00[Europe/Berlin] s",
        ]
    );
}

async fn one_occurrence_is_changed_and_changed_again(world: World) {
    let id = berlin_weekly(&world).await;
    let this = || Scope::This(occurrence("2026-03-30T10:00:00+02:00[Europe/Berlin]"));
    let changed = world
        .change_and_back(
            &id,
            EventPatch { title: Some("moved".into()), ..from("2026-04-01T15:00:00") },
            this(),
        )
        .await;
    assert!(changed.is_exception);
    assert_eq!(changed.recurrence_id, Some(occurrence("2026-03-30T10:00:00+02:00[Europe/Berlin]")));
    let expected = |title: &str| {
        let mut expected = WEEKS.map(str::to_owned);
        expected[2] = format!("2026-04-01T15:00:00 {title}");
        expected.to_vec()
    };
    assert_eq!(seen(&world).await, expected("moved"));
    world.change_and_back(&id, titled("again"), this()).await;
    assert_eq!(seen(&world).await, expected("again"));
    let kept = world.text(&id.0).await.unwrap();
    assert_eq!(kept.matches("BEGIN:VEVENT").count(), 2, "{kept}");
    let rule = EventPatch { recurrence: Some("FREQ=DAILY".into()), ..EventPatch::default() };
    let error = world.agenda().change_event(&id, rule, this()).await.unwrap_err();
    assert!(matches!(error, Error::Invalid { field: "recurrence", .. }), "{error}");
}

async fn one_occurrence_is_deleted(world: World) {
    let id = berlin_weekly(&world).await;
    world
        .agenda()
        .change_event(&id, titled("x"), Scope::This(occurrence("2026-03-23T10:00:00")))
        .await
        .unwrap();
    let before = world.text(&id.0).await.unwrap();
    let mut undo = Vec::new();
    for start in ["2026-03-23T10:00:00", "2026-04-13"] {
        undo.push(world.agenda().delete_event(&id, Scope::This(occurrence(start))).await.unwrap());
    }
    assert_eq!(seen(&world).await, [WEEKS[0], WEEKS[2], WEEKS[3]]);
    for undo in undo.iter().rev() {
        world.agenda().restore(undo).await.unwrap();
    }
    assert_eq!(world.text(&id.0).await.unwrap(), before);
    // The last one takes the object with it.
    for start in ["2026-03-16", "2026-03-23", "2026-03-30", "2026-04-06", "2026-04-13"] {
        world.agenda().delete_event(&id, Scope::This(occurrence(start))).await.unwrap();
    }
    assert_eq!(world.text(&id.0).await, None);
}

async fn this_and_following_become_a_series_of_their_own(world: World) {
    let id = berlin_weekly(&world).await;
    world
        .agenda()
        .change_event(&id, titled("early"), Scope::This(occurrence("2026-03-23T10:00:00")))
        .await
        .unwrap();
    world
        .agenda()
        .change_event(&id, titled("late"), Scope::This(occurrence("2026-04-06T10:00:00")))
        .await
        .unwrap();
    world.agenda().delete_event(&id, Scope::This(occurrence("2026-04-13T10:00:00"))).await.unwrap();
    let following = Scope::ThisAndFollowing(occurrence("2026-03-30T10:00:00"));
    let new = world.change_and_back(&id, from("2026-03-31T12:00:00"), following).await;
    assert_ne!(new.id, id);
    assert_eq!(new.recurrence.as_deref(), Some("FREQ=WEEKLY;COUNT=3;BYDAY=TU"));
    assert_eq!(
        seen(&world).await,
        [
            "2026-03-16T10:00:00 s",
            "2026-03-23T10:00:00 early",
            "2026-03-31T12:00:00 s",
            "2026-04-07T12:00:00 late"
        ]
    );
    // From the first occurrence on is all of it.
    let first = Scope::ThisAndFollowing(occurrence("2026-03-31T12:00:00"));
    let same = world.change_and_back(&new.id, titled("all"), first).await;
    assert_eq!(same.id, new.id);
    assert_eq!(
        seen(&world).await,
        [
            "2026-03-16T10:00:00 s",
            "2026-03-23T10:00:00 early",
            "2026-03-31T12:00:00 all",
            "2026-04-07T12:00:00 late"
        ]
    );
    // Whole days, whose end is a day and not a time.
    let days = series(&world, "2026-05-01", "2026-05-02", None, "FREQ=DAILY;UNTIL=20260505").await;
    world.change_and_back(&days, titled("t"), Scope::ThisAndFollowing(occurrence("2026-05-04"))).await;
    let days = world.seen("2026-05-01", "2026-05-31", "Europe/Berlin").await;
    assert_eq!(days, ["2026-05-01 s", "2026-05-02 s", "2026-05-03 s", "2026-05-04 t", "2026-05-05 t"]);
}

async fn this_and_following_are_deleted(world: World) {
    let id = berlin_weekly(&world).await;
    let before = world.text(&id.0).await.unwrap();
    let undo = world
        .agenda()
        .delete_event(&id, Scope::ThisAndFollowing(occurrence("2026-03-30T10:00:00")))
        .await
        .unwrap();
    assert_eq!(seen(&world).await, WEEKS[..2]);
    world.agenda().restore(&undo).await.unwrap();
    assert_eq!(world.text(&id.0).await.unwrap(), before);
    world
        .agenda()
        .delete_event(&id, Scope::ThisAndFollowing(occurrence("2026-03-16T10:00:00")))
        .await
        .unwrap();
    assert_eq!(world.text(&id.0).await, None);
}

async fn a_whole_series_moves_with_its_exceptions(world: World) {
    let id = berlin_weekly(&world).await;
    let agenda = world.agenda();
    agenda.change_event(&id, titled("title"), Scope::This(occurrence("2026-03-23T10:00:00"))).await.unwrap();
    agenda
        .change_event(&id, from("2026-04-02T18:00:00"), Scope::This(occurrence("2026-03-30T10:00:00")))
        .await
        .unwrap();
    agenda.delete_event(&id, Scope::This(occurrence("2026-04-06T10:00:00"))).await.unwrap();
    world.change_and_back(&id, from("2026-03-17T08:30:00"), Scope::All).await;
    let moved = [
        "2026-03-17T08:30:00 s",
        "2026-03-24T08:30:00 title",
        "2026-04-02T18:00:00 s",
        "2026-04-14T08:30:00 s",
    ];
    assert_eq!(seen(&world).await, moved);
    // Into another zone: the same instants.
    let zone = EventPatch { time_zone: Some("Asia/Tokyo".into()), ..EventPatch::default() };
    let tokyo = world.change_and_back(&id, zone, Scope::All).await;
    assert_eq!(tokyo.start.to_string(), "2026-03-17T16:30:00+09:00[Asia/Tokyo]");
    // Without its rule it is one event.
    let single = EventPatch { recurrence: Some(String::new()), ..EventPatch::default() };
    let single = world.change_and_back(&id, single, Scope::All).await;
    assert_eq!((single.recurrence, seen(&world).await.len()), (None, 1));
}

async fn a_series_is_moved_as_seen_from_one_of_its_occurrences(world: World) {
    let id = berlin_weekly(&world).await;
    let seen_from = Scope::AllSeenFrom(occurrence("2026-04-06T10:00:00"));
    let patch = EventPatch { end: Some(moment("2026-04-07T12:00:00")), ..from("2026-04-07T09:00:00") };
    let moved = world.change_and_back(&id, patch, seen_from).await;
    assert_eq!(moved.start.to_string(), "2026-03-17T09:00:00+01:00[Europe/Berlin]");
    assert_eq!(moved.end.to_string(), "2026-03-17T12:00:00+01:00[Europe/Berlin]");
    let weeks = WEEKS.map(|week| week.replace("10:00", "09:00"));
    let days = ["03-16", "03-23", "03-30", "04-06", "04-13"]
        .into_iter()
        .zip(["03-17", "03-24", "03-31", "04-07", "04-14"]);
    let weeks: Vec<String> =
        weeks.iter().zip(days).map(|(week, (old, new))| week.replace(old, new)).collect();
    assert_eq!(seen(&world).await, weeks);
    // A rule that names days of the month cannot be guessed.
    let monthly = series(&world, "2026-06-01", "2026-06-02", None, "FREQ=MONTHLY;BYDAY=1MO").await;
    let error = world.agenda().change_event(&monthly, from("2026-06-02"), Scope::All).await.unwrap_err();
    assert!(matches!(error, Error::Invalid { field: "recurrence", .. }), "{error}");
    let both = EventPatch { recurrence: Some("FREQ=MONTHLY;BYDAY=1TU".into()), ..from("2026-06-02") };
    world.change_and_back(&monthly, both, Scope::All).await;
    assert_eq!(
        world.seen("2026-06-01", "2026-08-31", "Asia/Tokyo").await,
        ["2026-06-02 s", "2026-07-07 s", "2026-08-04 s"]
    );
}

async fn excluded_added_and_moved_dates_of_others_are_understood(world: World) {
    let theirs = "BEGIN:VEVENT
UID:theirs
DTSTAMP:20260101T000000Z
DTSTART;TZID=Europe/Berlin:20260316T100000
DTEND;TZID=Europe/Berlin:20260316T110000
RRULE:FREQ=WEEKLY;UNTIL=20260413T080000Z
EXDATE;TZID=Europe/Berlin:20260323T100000,20260330T100000
RDATE;TZID=Europe/Berlin:20260320T180000
SUMMARY:s
END:VEVENT
BEGIN:VEVENT
UID:theirs
DTSTAMP:20260101T000000Z
RECURRENCE-ID:20260406T080000Z
DTSTART;TZID=Europe/Berlin:20260520T100000
DTEND;TZID=Europe/Berlin:20260520T110000
STATUS:CANCELLED
SUMMARY:off
END:VEVENT";
    let id = world.put("office", "theirs", &object(theirs)).await;
    let all = [
        "2026-03-16T10:00:00 s",
        "2026-03-20T18:00:00 s",
        "2026-04-13T10:00:00 s",
        "2026-05-20T10:00:00 off",
    ];
    assert_eq!(seen(&world).await, all);
    // Not where the rule would have it.
    assert!(world.seen("2026-04-06", "2026-04-06", "Europe/Berlin").await.is_empty());
    let cancelled = world.events("2026-05-20", "2026-05-20", "Europe/Berlin").await.remove(0);
    assert!(cancelled.cancelled && cancelled.is_exception);
    // One excluded date of a line goes to the new series, the other stays.
    world.change_and_back(&id, titled("t"), Scope::ThisAndFollowing(occurrence("2026-04-13T10:00:00"))).await;
    world.change_and_back(&id, from("2026-03-16T11:00:00"), Scope::All).await;
    assert_eq!(
        seen(&world).await,
        [
            "2026-03-16T11:00:00 s",
            "2026-03-20T19:00:00 s",
            "2026-04-13T10:00:00 t",
            "2026-05-20T10:00:00 off",
        ]
    );
}

async fn what_is_no_occurrence_is_not_found(world: World) {
    let id = berlin_weekly(&world).await;
    let before = world.text(&id.0).await.unwrap();
    for start in [
        "2026-03-17T10:00:00",
        "2026-03-16T10:00:01",
        "2026-04-20T10:00:00",
        "2026-03-16T10:00:00Z",
        "2026-03-17",
    ] {
        for scope in [Scope::This(occurrence(start)), Scope::ThisAndFollowing(occurrence(start))] {
            let error = world.agenda().change_event(&id, titled("x"), scope.clone()).await.unwrap_err();
            assert!(matches!(error, Error::NotFound { .. }), "{start}: {error}");
            let error = world.agenda().delete_event(&id, scope).await.unwrap_err();
            assert!(matches!(error, Error::NotFound { .. }), "{start}: {error}");
        }
    }
    assert_eq!(world.text(&id.0).await.unwrap(), before);
}

async fn a_night_shift_lasts_as_long_as_it_does(world: World) {
    series(&world, "2026-03-27T22:00:00", "2026-03-28T06:00:00", Some("Europe/Berlin"), "FREQ=DAILY;COUNT=3")
        .await;
    let ends = world.events("2026-03-27", "2026-03-31", "Europe/Berlin").await;
    let ends: Vec<String> = ends.iter().map(|event| event.end.to_string()).collect();
    assert_eq!(
        ends,
        [
            "2026-03-28T06:00:00+01:00[Europe/Berlin]",
            // Eight hours, of which the clock skips one (RFC 5545, 3.8.5.3: the same exact duration).
            "2026-03-29T07:00:00+02:00[Europe/Berlin]",
            "2026-03-30T06:00:00+02:00[Europe/Berlin]",
        ]
    );
    // Seen in the morning on which only its end is.
    assert_eq!(
        world.seen("2026-03-30", "2026-03-30", "Europe/Berlin").await,
        ["2026-03-29T22:00:00+02:00[Europe/Berlin] s"]
    );
}
