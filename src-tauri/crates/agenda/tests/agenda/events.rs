//! Single events: zones, whole days, texts, what is not ours, conflicts, undo.

use agenda::{Error, EventPatch, NewEvent, Scope};

use crate::world::{World, from, moment, object, promises, titled};

promises! {
    a_time_is_the_one_on_the_clock_of_its_zone,
    a_whole_day_is_that_day_wherever_one_is,
    no_text_becomes_a_property_of_its_own,
    what_is_no_zone_rule_or_address_is_refused,
    unknown_properties_survive_a_change,
    zones_are_known_by_prefix_by_windows_name_and_by_their_own_rules,
    a_change_of_what_changed_meanwhile_is_refused,
    each_change_is_undone_and_redone,
    a_calendar_that_holds_no_events_takes_none,
}

async fn a_time_is_the_one_on_the_clock_of_its_zone(world: World) {
    let agenda = world.agenda();
    for (title, start, end, zone) in [
        ("before", "2026-03-28T09:00:00", "2026-03-28T10:00:00", "Europe/Berlin"),
        ("after", "2026-03-29T09:00:00", "2026-03-29T10:00:00", "Europe/Berlin"),
        ("東京", "2026-03-29T09:00:00", "2026-03-29T10:30:00", "Asia/Tokyo"),
        ("New York", "2026-03-28T20:00:00", "2026-03-28T21:00:00", "America/New_York"),
    ] {
        agenda.create_event(world.new_event(title, start, end, Some(zone))).await.unwrap();
    }
    let floating = world.new_event("wherever", "2026-03-29T12:00:00", "2026-03-29T13:00:00", None);
    agenda.create_event(floating).await.unwrap();
    let offset = world.new_event("offset", "2026-03-29T15:00:00+02:00", "2026-03-29T16:00:00+02:00", None);
    agenda.create_event(offset).await.unwrap();
    assert_eq!(
        world.seen("2026-03-28", "2026-03-29", "Europe/Berlin").await,
        [
            "2026-03-28T09:00:00+01:00[Europe/Berlin] before",
            "2026-03-28T20:00:00-04:00[America/New_York] New York",
            "2026-03-29T09:00:00+09:00[Asia/Tokyo] 東京",
            "2026-03-29T09:00:00+02:00[Europe/Berlin] after",
            "2026-03-29T12:00:00 wherever",
            "2026-03-29T13:00:00Z offset",
        ]
    );
    // The 29th in Tokyo begins and ends earlier.
    assert_eq!(
        world.seen("2026-03-29", "2026-03-29", "Asia/Tokyo").await,
        [
            "2026-03-28T20:00:00-04:00[America/New_York] New York",
            "2026-03-29T09:00:00+09:00[Asia/Tokyo] 東京",
            "2026-03-29T12:00:00 wherever",
            "2026-03-29T09:00:00+02:00[Europe/Berlin] after",
            "2026-03-29T13:00:00Z offset",
        ]
    );
    let event = world.events("2026-03-29", "2026-03-29", "Asia/Tokyo").await.remove(1);
    assert_eq!(
        (event.end.to_string().as_str(), event.time_zone.as_deref()),
        ("2026-03-29T10:30:00+09:00[Asia/Tokyo]", Some("Asia/Tokyo"))
    );
    let text = world.text(&event.id.0).await.unwrap();
    assert!(
        text.contains("BEGIN:VTIMEZONE") && text.contains("DTSTART;TZID=Asia/Tokyo:20260329T090000"),
        "{text}"
    );
}

async fn a_whole_day_is_that_day_wherever_one_is(world: World) {
    let agenda = world.agenda();
    agenda.create_event(world.new_event("one", "2026-05-01", "2026-05-01", None)).await.unwrap();
    let three = world.new_event("three", "2026-05-04", "2026-05-07", None);
    let three = agenda.create_event(three).await.unwrap().now;
    assert!(three.all_day && three.time_zone.is_none());
    for zone in ["Asia/Tokyo", "America/New_York", "Pacific/Kiritimati"] {
        assert_eq!(world.seen("2026-05-01", "2026-05-01", zone).await, ["2026-05-01 one"], "{zone}");
        assert_eq!(world.seen("2026-05-06", "2026-05-06", zone).await, ["2026-05-04 three"], "{zone}");
        assert!(world.seen("2026-05-07", "2026-05-07", zone).await.is_empty(), "{zone}");
        assert!(world.seen("2026-05-02", "2026-05-03", zone).await.is_empty(), "{zone}");
    }
    let moved = world.change_and_back(&three.id, from("2026-05-11"), Scope::All).await;
    assert_eq!((moved.start, moved.end), (moment("2026-05-11"), moment("2026-05-14")));
    let timed = EventPatch { time_zone: Some("Europe/Berlin".into()), ..from("2026-05-11T10:00:00") };
    let timed = world.change_and_back(&three.id, timed, Scope::All).await;
    assert_eq!(timed.end.to_string(), "2026-05-11T11:00:00+02:00[Europe/Berlin]");
}

async fn no_text_becomes_a_property_of_its_own(world: World) {
    let attack = "Lunch\r\nATTENDEE:mailto:evil@example.org\r\nBEGIN:VALARM\rACTION:EMAIL\nEND:VEVENT\u{2028}X:1\u{85}Y:2\u{b}Z";
    let long = format!("{}{}", "長い題名".repeat(40), "; a, b\\n\\, \"c\": d=e");
    for text in [attack, &long, "\\", "a\\", "\u{0}x\u{7f}y", "BEGIN:VEVENT", "=?utf-8?x"] {
        let plain =
            world.new_event("plain", "2026-06-01T10:00:00", "2026-06-01T11:00:00", Some("Asia/Tokyo"));
        let new =
            NewEvent { title: text.into(), location: Some(text.into()), notes: Some(text.into()), ..plain };
        let made = world.agenda().create_event(new).await.unwrap().now;
        let event = world.agenda().event(&made.id).await.unwrap();
        let expected: String = text
            .replace("\r\n", "\n")
            .chars()
            .map(|char| if "\r\u{b}\u{85}\u{2028}".contains(char) { '\n' } else { char })
            .filter(|char| *char == '\n' || !char.is_control())
            .collect();
        assert_eq!(event.title, expected);
        assert_eq!(
            (event.location.as_deref(), event.notes.as_deref()),
            (Some(expected.as_str()), Some(expected.as_str()))
        );
        assert!(event.invited.is_empty());
        let kept = world.text(&event.id.0).await.unwrap();
        for begin in ["\nBEGIN:VALARM", "\nATTENDEE", "\nX:1", "\nACTION"] {
            assert!(!kept.contains(begin), "{kept}");
        }
        assert_eq!(kept.matches("\nBEGIN:VEVENT").count(), 1, "{kept}");
        world.agenda().delete_event(&event.id, Scope::All).await.unwrap();
    }
}

async fn what_is_no_zone_rule_or_address_is_refused(world: World) {
    let good = || world.new_event("good", "2026-06-01T10:00:00", "2026-06-01T11:00:00", Some("Asia/Tokyo"));
    let attack = "\r\nATTENDEE:mailto:evil@example.org";
    for (bad, field) in [
        (NewEvent { time_zone: Some(format!("Asia/Tokyo{attack}")), ..good() }, "timeZone"),
        (NewEvent { time_zone: Some("CEST".into()), ..good() }, "timeZone"),
        (NewEvent { recurrence: Some(format!("FREQ=DAILY{attack}")), ..good() }, "recurrence"),
        (NewEvent { recurrence: Some("every day".into()), ..good() }, "recurrence"),
        (NewEvent { url: Some("no address".into()), ..good() }, "url"),
        (NewEvent { end: Some(moment("2026-06-01T09:00:00")), ..good() }, "end"),
        (NewEvent { end: Some(moment("2026-06-02")), ..good() }, "end"),
        (NewEvent { title: "x".repeat(3000), ..good() }, "title"),
    ] {
        match world.agenda().create_event(bad).await {
            Err(Error::Invalid { field: named, .. }) => assert_eq!(named, field),
            other => panic!("{field}: {other:?}"),
        }
    }
    let url = NewEvent { url: Some(format!("https://example.org/{attack}")), ..good() };
    let event = world.agenda().create_event(url).await.unwrap().now;
    let kept = world.text(&event.id.0).await.unwrap();
    assert!(!kept.contains("\nATTENDEE"), "{kept}");
}

const FOREIGN: &str = "BEGIN:VEVENT
UID:foreign
DTSTAMP:20260101T000000Z
DTSTART;TZID=Europe/Berlin:20260601T100000
DURATION:PT45M
SUMMARY;LANGUAGE=de:Zahnarzt
X-APPLE-STRUCTURED-LOCATION;VALUE=URI;X-TITLE=\"Praxis, 2. Stock\":geo:52.5,13.4
CATEGORIES:HEALTH,PRIVATE
ATTENDEE;CN=\"Dr. B\";PARTSTAT=ACCEPTED:mailto:b@example.org
CLASS:PRIVATE
X-UNKNOWN;X-P=1:kept as it is\\, all of it
BEGIN:VALARM
ACTION:DISPLAY
DESCRIPTION:Zahnarzt
TRIGGER:-PT30M
X-ALARM:kept
END:VALARM
END:VEVENT";

async fn unknown_properties_survive_a_change(world: World) {
    let id = world.put("office", "foreign", &object(FOREIGN)).await;
    let lines = |text: &str| -> Vec<String> {
        let mut lines: Vec<String> = text.replace("\r\n ", "").lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let before = lines(&world.text(&id.0).await.unwrap());
    let event = world.agenda().event(&id).await.unwrap();
    assert_eq!(
        (event.title.as_str(), event.invited.as_slice()),
        ("Zahnarzt", ["b@example.org".to_owned()].as_slice())
    );
    assert_eq!(event.end.to_string(), "2026-06-01T10:45:00+02:00[Europe/Berlin]");
    world
        .change_and_back(
            &id,
            EventPatch { location: Some("Praxis".into()), ..from("2026-06-02T08:00:00") },
            Scope::All,
        )
        .await;
    let after = lines(&world.text(&id.0).await.unwrap());
    let ours = ["DTSTART", "DTEND", "DURATION", "LOCATION", "DTSTAMP", "LAST-MODIFIED", "SEQUENCE"];
    let theirs = |lines: Vec<String>| -> Vec<String> {
        let zone = |line: &String| {
            line.starts_with("TZ")
                || line.contains("VTIMEZONE")
                || line.contains("STANDARD")
                || line.contains("DAYLIGHT")
                || line.starts_with("RRULE")
        };
        lines
            .into_iter()
            .filter(|line| !zone(line) && !ours.iter().any(|name| line.starts_with(name)))
            .collect()
    };
    assert_eq!(theirs(after), theirs(before));
    let event = world.agenda().event(&id).await.unwrap();
    assert_eq!(event.end.to_string(), "2026-06-02T08:45:00+02:00[Europe/Berlin]");
}

async fn zones_are_known_by_prefix_by_windows_name_and_by_their_own_rules(world: World) {
    let own = "BEGIN:VTIMEZONE
TZID:Customized Time Zone
BEGIN:STANDARD
DTSTART:16010101T030000
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010101T020000
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
END:DAYLIGHT
END:VTIMEZONE\n";
    let plain = |name: &str| {
        format!(
            "BEGIN:VTIMEZONE\nTZID:{name}\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0100\nEND:STANDARD\nEND:VTIMEZONE\n"
        )
    };
    for (at, (tzid, zone)) in [
        ("/citadel.org/20210210_1/Europe/Berlin", plain("/citadel.org/20210210_1/Europe/Berlin")),
        ("W. Europe Standard Time", plain("W. Europe Standard Time")),
        ("Customized Time Zone", own.to_owned()),
    ]
    .into_iter()
    .enumerate()
    {
        for (month, utc) in [(1, "09"), (7, "08")] {
            let event = format!(
                "{zone}BEGIN:VEVENT\nUID:z{at}{month}\nDTSTAMP:20260101T000000Z\nDTSTART;TZID={tzid}:20260{month}15T100000\nDTEND;TZID={tzid}:20260{month}15T110000\nSUMMARY:z\nEND:VEVENT"
            );
            let id = world.put("office", &format!("z{at}{month}"), &object(&event)).await;
            let start = world.agenda().event(&id).await.unwrap().start;
            assert_eq!(
                start.seen_in(&jiff::tz::TimeZone::UTC).to_string(),
                format!("2026-0{month}-15T{utc}:00:00Z"),
                "{tzid}"
            );
            // The object's own name for its zone stays.
            world
                .agenda()
                .change_event(&id, from(&format!("2026-0{month}-16T10:00:00")), Scope::All)
                .await
                .unwrap();
            let kept = world.text(&id.0).await.unwrap().replace("\r\n ", "");
            assert!(kept.contains(&format!("DTSTART;TZID={tzid}:20260{month}16T100000")), "{kept}");
        }
    }
}

async fn a_change_of_what_changed_meanwhile_is_refused(world: World) {
    let id = world.put("office", "foreign", &object(FOREIGN)).await;
    let seen = world.agenda().event(&id).await.unwrap();
    let changed = world.agenda().change_event(&id, titled("ours"), Scope::All).await.unwrap();
    world.put("office", "foreign", &object(&FOREIGN.replace("Zahnarzt", "theirs"))).await;
    let late = EventPatch { version: Some(seen.version), ..titled("late") };
    let error = world.agenda().change_event(&id, late, Scope::All).await.unwrap_err();
    assert_eq!(error, Error::Conflict { what: id.0.clone() });
    assert!(error.to_string().contains("look at it again"), "{error}");
    let error = world.agenda().restore(&changed.undo).await.unwrap_err();
    assert_eq!(error, Error::Conflict { what: id.0.clone() });
    assert_eq!(world.agenda().event(&id).await.unwrap().title, "theirs");
}

async fn each_change_is_undone_and_redone(world: World) {
    let agenda = world.agenda();
    let new = world.new_event("one", "2026-06-01T10:00:00", "2026-06-01T11:00:00", Some("Europe/Berlin"));
    let made = agenda.create_event(new).await.unwrap();
    let id = made.now.id.clone();
    let first = world.text(&id.0).await.unwrap();
    let two = agenda.change_event(&id, titled("two"), Scope::All).await.unwrap();
    let second = world.text(&id.0).await.unwrap();
    let gone = agenda.delete_event(&id, Scope::All).await.unwrap();
    assert_eq!(world.text(&id.0).await, None);
    // Back, one after the other, though each puts back under a new version.
    agenda.restore(&gone).await.unwrap();
    assert_eq!(world.text(&id.0).await.unwrap(), second);
    let redo = agenda.restore(&two.undo).await.unwrap();
    assert_eq!(world.text(&id.0).await.unwrap(), first);
    let undo = agenda.restore(&redo).await.unwrap();
    assert_eq!(world.text(&id.0).await.unwrap(), second);
    agenda.restore(&undo).await.unwrap();
    agenda.restore(&made.undo).await.unwrap();
    assert_eq!(world.text(&id.0).await, None);
    // What is gone already is not an error to be undone again, and what is not there is not made.
    assert!(agenda.restore(&two.undo).await.is_err());
    assert_eq!(world.text(&id.0).await, None);
    assert!(matches!(agenda.event(&id).await, Err(Error::NotFound { .. })));
    assert!(matches!(agenda.delete_event(&id, Scope::All).await, Err(Error::NotFound { .. })));
}

async fn a_calendar_that_holds_no_events_takes_none(world: World) {
    let new = world.new_event("one", "2026-06-01", "2026-06-02", None);
    let wrong = NewEvent { calendar: world.calendar("tasks"), ..new.clone() };
    assert!(matches!(
        world.agenda().create_event(wrong).await,
        Err(Error::Invalid { field: "calendar", .. })
    ));
    let nowhere = NewEvent { calendar: world.calendar("nowhere"), ..new };
    assert!(matches!(world.agenda().create_event(nowhere).await, Err(Error::NotFound { .. })));
}
