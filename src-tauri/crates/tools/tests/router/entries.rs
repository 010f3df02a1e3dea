//! Entries of calendars, and what a plan's checks look at.

use std::sync::Arc;

use agenda::fake::Fake;
use protocol::tool::ToolErrorKind;
use serde_json::{Value, json};
use space::terminal::Sandbox;
use tokio_util::sync::CancellationToken;
use tools::{AgendaPort, Decision, ExecRequest, Executed};

use crate::beyond::Session;
use crate::stage::{execute, limits};

#[tokio::test]
async fn an_event_and_a_reminder_are_made_changed_and_taken_back() {
    let session = Session::new();
    let event = json!({"title": "Deadline", "start": "2026-12-01T10:00:00", "timeZone": "Europe/Berlin"});
    let made = session.done("createEvent", event).await;
    let listed = session.done("listEvents", json!({"from": "2026-12-01", "to": "2026-12-02"})).await;
    assert_eq!(listed.result.data["events"][0]["title"], "Deadline");
    let id = listed.result.data["events"][0]["id"].clone();
    let later = json!({"id": id, "start": "2026-12-01T12:00:00"});
    let changed = session.done("changeEvent", later).await;
    assert!(changed.result.data["start"].as_str().unwrap().contains("12:00"), "{changed:?}");
    session.take_back(&changed).await;
    session.take_back(&made).await;
    let left = session.done("listEvents", json!({"from": "2026-12-01", "to": "2026-12-02"})).await;
    assert_eq!(left.result.data["events"], json!([]));
    let made = session.done("createReminder", json!({"title": "Pay", "due": "2026-12-01"})).await;
    let id = made.result.data["id"].clone();
    let ticked = session.done("changeReminder", json!({"id": id, "done": true})).await;
    assert_eq!(ticked.result.data["done"], true);
    session.take_back(&ticked).await;
    session.take_back(&made).await;
    let left = session.done("listReminders", json!({"which": "all"})).await;
    assert_eq!(left.result.data["reminders"], json!([]));
}

/// A calendar's server may write to those who are invited.
// bar: C35
#[tokio::test]
async fn in_auto_a_change_of_an_event_with_guests_asks_once_something_was_read() {
    let fake = Arc::new(Fake::new());
    let event = |uid: &str, guests: &str| {
        format!(
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:test\r\nBEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20261124T120000Z\r\n\
             DTSTART:20261201T090000Z\r\nSUMMARY:{uid}\r\n{guests}END:VEVENT\r\nEND:VCALENDAR\r\n"
        )
    };
    fake.set("/office/party.ics", &event("party", "ATTENDEE:mailto:b@example.org\r\n"));
    fake.set("/office/alone.ics", &event("alone", ""));
    let mut session = Session::new();
    session.ports.agenda = Some(Arc::new(AgendaPort { agenda: fake, usual: String::new() }));
    let listed = session.done("listEvents", json!({"from": "2026-12-01", "to": "2026-12-02"})).await;
    let id = |title: &str| {
        let events = listed.result.data["events"].as_array().unwrap();
        events.iter().find(|event| event["title"] == title).unwrap()["id"].clone()
    };
    let tainted =
        |tool: &str, arguments: Value| ExecRequest { has_read: true, ..session.request(tool, arguments) };
    for (tool, arguments, asks) in [
        ("changeEvent", json!({"id": id("party"), "title": "secret"}), true),
        ("deleteEvent", json!({"id": id("party")}), true),
        ("changeEvent", json!({"id": id("alone"), "title": "mine"}), false),
        (
            "createEvent",
            json!({"title": "mine", "start": "2026-12-01T10:00:00", "timeZone": "Europe/Berlin"}),
            false,
        ),
        ("createReminder", json!({"title": "mine"}), false),
    ] {
        let asked = session.asks(&tainted(tool, arguments.clone())).await;
        assert_eq!(asked.is_some_and(|why| why.contains("invited")), asks, "{tool} {arguments}");
    }
    // Nothing is done to what is not there, and nobody is asked.
    let gone = tainted("changeEvent", json!({"id": "/office/no-such.ics", "title": "secret"}));
    let refused = session.router.assess(&gone, &limits()).await.decision;
    assert!(matches!(refused, Decision::Forbid { error } if error.kind == ToolErrorKind::NotFound));
}

/// A yes, or a grant, is for the entry and the calendar that were told, whatever the call's id leads to by then.
// bar: C26
#[tokio::test]
async fn a_change_of_a_calendars_entry_is_for_that_entry_as_it_was_and_for_its_calendar() {
    let session = Session::new();
    let event = |title: &str, calendar: &str| json!({"title": title, "calendar": calendar, "start": "2026-12-01T10:00:00", "timeZone": "Europe/Berlin"});
    let id = |executed: &Executed| executed.result.data["id"].clone();
    let office = id(&session.done("createEvent", event("Deadline", "Work")).await);
    let home = id(&session.done("createEvent", event("Dentist", "Home")).await);
    let list = id(&session.done("createReminder", json!({"title": "Pay", "list": "Tasks"})).await);
    for (tool, arguments, calendar, called) in [
        ("deleteEvent", json!({"id": office}), "Work", "event “Deadline” (2026-12-01T10:00"),
        ("changeEvent", json!({"id": home, "title": "x"}), "Home", "event “Dentist” (2026-12-01T10:00"),
        ("changeReminder", json!({"id": list, "done": true}), "Tasks", "reminder “Pay” · Tasks"),
        ("deleteReminder", json!({"id": list}), "Tasks", "reminder “Pay” · Tasks"),
        ("createEvent", event("Lunch", "home"), "Home", "Home"),
        ("createEvent", json!({"title": "Lunch", "start": "2026-12-01"}), "Work", "Work"),
    ] {
        let asked = session.asking(tool, arguments);
        let assessment = session.router.assess(&asked, &limits()).await;
        assert_eq!(assessment.touches[0].app.as_deref(), Some(calendar), "{tool}");
        let told = session.router.entries(&asked.call, &asked.ports, &limits()).await;
        assert!(told[0].starts_with(called) && told[0].ends_with(calendar), "{told:?}");
    }
    // What was allowed in one calendar is not in another.
    let work = session.asking("deleteEvent", json!({"id": office}));
    let mut elsewhere = session.asking("deleteEvent", json!({"id": home}));
    elsewhere.grants.allow_in_run(session.router.assess(&work, &limits()).await.touches);
    assert!(session.asks(&elsewhere).await.is_some());
    let mut there = work.clone();
    there.grants.allow_in_run(session.router.assess(&work, &limits()).await.touches);
    assert_eq!(session.asks(&there).await, None);
    // Somebody else has changed it since it was asked about.
    for (tool, arguments, change, meanwhile) in [
        ("deleteEvent", json!({"id": office}), "changeEvent", json!({"id": office, "title": "Party"})),
        (
            "changeReminder",
            json!({"id": list, "done": true}),
            "changeReminder",
            json!({"id": list, "title": "Play"}),
        ),
        ("deleteReminder", json!({"id": list}), "changeReminder", json!({"id": list, "title": "Pray"})),
    ] {
        let mut asked = session.asking(tool, arguments);
        asked.approved = Some(session.router.assess(&asked, &limits()).await.yes());
        session.done(change, meanwhile).await;
        let executed = execute(&session.router, asked, CancellationToken::new()).await;
        assert_eq!(executed.result.error.unwrap().kind, ToolErrorKind::Forbidden, "{tool}");
    }
    // As it was shown, it is done.
    for (tool, arguments) in [("deleteReminder", json!({"id": list})), ("deleteEvent", json!({"id": office}))]
    {
        let mut asked = session.asking(tool, arguments);
        asked.approved = Some(session.router.assess(&asked, &limits()).await.yes());
        let executed = execute(&session.router, asked.clone(), CancellationToken::new()).await;
        assert_eq!(executed.result.error, None, "{tool}");
        // What is not there any more is refused, and nobody is asked.
        asked.approved = None;
        let refused = session.router.assess(&asked, &limits()).await.decision;
        assert!(matches!(refused, Decision::Forbid { error } if error.kind == ToolErrorKind::NotFound));
    }
}

/// What checks of a plan found, by whether each passed.
async fn checked(session: &Session, plan: Value) -> Vec<(bool, String)> {
    let contract = crate::planning::contract(&plan);
    let findings = session.router.check(&contract, &Arc::new(limits()), &session.ports).await;
    findings.into_iter().map(|finding| (finding.passed, finding.found)).collect()
}

#[tokio::test]
async fn a_command_a_reminder_and_an_event_are_looked_at_as_the_plan_says() {
    let session = Session::new();
    session.done("writeFile", json!({"path": "a.txt", "text": "one\n"})).await;
    session.done("createReminder", json!({"title": "Milk"})).await;
    let soon = agenda_day(2);
    session.done("createEvent", json!({"title": "Tax", "start": format!("{soon}T10:00:00")})).await;
    let exits = |command: &str, code: i32| json!({"check": "commandExit", "command": command, "code": code});
    let found = checked(
        &session,
        json!({"checks": [
            exits("grep -q one a.txt", 0), exits("grep -q two a.txt", 1), exits("grep -q two a.txt", 0),
            {"check": "reminder", "title": "Milk"}, {"check": "reminder", "title": "Bread"},
            {"check": "event", "title": "Tax"}, {"check": "event", "title": "tax"},
        ]}),
    )
    .await;
    let passed: Vec<bool> = found.iter().map(|(passed, _)| *passed).collect();
    assert_eq!(passed, [true, true, false, true, false, true, false], "{found:?}");
    assert!(found[2].1.contains("ends with 1"), "{found:?}");
    assert!(!format!("{found:?}").contains("Bread"), "what others wrote is not told");
}

/// A day from now, as calendars write it.
fn agenda_day(ahead: i64) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let range = agenda::Range::around(i64::try_from(now).unwrap(), 0, ahead, agenda::TimeZone::UTC).unwrap();
    range.to().to_string()[..10].to_owned()
}

#[tokio::test]
async fn what_a_command_tool_would_ask_about_no_check_runs() {
    let session = Session::new();
    session.done("writeFile", json!({"path": "keep.txt", "text": "one\n"})).await;
    let touch = json!({"check": "commandExit", "command": "touch made.txt", "code": 0});
    let run = |folders: Value| json!({"folders": folders, "effects": ["run"], "checks": [touch.clone()]});
    // It changes something, and the plan names neither its effect nor its folder.
    let bare = json!({ "checks": [touch.clone()] });
    for plan in [bare, run(json!([])), run(json!(["~/Other"]))] {
        let found = checked(&session, plan).await;
        assert!(!found[0].0 && found[0].1.contains("not in the plan"), "{found:?}");
    }
    for line in ["rm -rf keep.txt", "eval $X", "cat .env", "echo x > .git/hooks/pre-commit"] {
        let check = json!({"check": "commandExit", "command": line, "code": 0});
        let plan = json!({"folders": ["~/Miki"], "effects": ["run", "delete"], "checks": [check]});
        let found = checked(&session, plan).await;
        assert!(!found[0].0 && found[0].1.contains("no command is run unasked"), "{line}: {found:?}");
    }
    assert_eq!((session.text("made.txt"), session.text("keep.txt").as_deref()), (None, Some("one\n")));
    // In the plan it runs.
    let found = checked(&session, run(json!(["~/Miki"]))).await;
    assert!(found[0].0, "{found:?}");
    assert_eq!(session.text("made.txt").as_deref(), Some(""));
    // Without a sandbox each command asks: a check cannot.
    let bare = Session::with_sandbox(Sandbox::none("not here"));
    let found = checked(&bare, run(json!(["~/Miki"]))).await;
    assert!(!found[0].0 && found[0].1.contains("nothing confines it"), "{found:?}");
    assert_eq!(bare.text("made.txt"), None);
}
