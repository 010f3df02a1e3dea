//! What only a server can show: who signs in, what is found, what goes wrong on the way, how much it bears.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agenda::{Agenda as _, CalDav, CalDavAccount, Error, EventId, Holds, MAX_LISTED, NewEvent, Range, Scope};
use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use jiff::tz::TimeZone;
use protocol::command::Secret;

use crate::radicale::{PASSWORD, Radicale, Server};
use crate::world::{World, moment, object, titled};

#[tokio::test]
async fn the_calendars_of_an_account_are_found_from_any_of_its_addresses() {
    let radicale = Radicale::start().await;
    let anna = &radicale.user;
    let own = [format!("/{anna}/"), format!("/{anna}/office/")];
    for path in ["", "/", own[0].as_str(), own[1].as_str(), "/.well-known/caldav"] {
        let account = CalDavAccount { url: format!("{}{path}", radicale.url), ..radicale.account() };
        let mut calendars = CalDav::new(&account).unwrap().calendars().await.unwrap();
        calendars.sort_by(|one, other| one.id.cmp(&other.id));
        let at = |path: &str| format!("/{anna}/{path}/");
        let seen: Vec<_> = calendars.iter().map(|c| (c.id.0.clone(), c.name.as_str(), c.holds)).collect();
        assert_eq!(
            seen,
            [
                (at("home"), "Zuhause 家", Holds::Both),
                (at("office"), "Work", Holds::Events),
                (at("tasks"), "Tasks", Holds::Reminders),
            ]
        );
        assert!(
            calendars.iter().all(|c| !c.read_only && c.colour.as_deref() == Some("#ff8800")),
            "{calendars:?}"
        );
    }
}

#[tokio::test]
async fn a_wrong_password_is_said_and_no_password_is_ever_shown() {
    // bar: C75
    let radicale = Radicale::start().await;
    let account = CalDavAccount { password: Secret("canary-wrong".into()), ..radicale.account() };
    let agenda = CalDav::new(&account).unwrap();
    let error = agenda.calendars().await.unwrap_err();
    assert!(matches!(error, Error::SignIn { .. }), "{error}");
    for shown in [format!("{error}"), format!("{error:?}"), format!("{account:?}"), format!("{agenda:?}")] {
        assert!(!shown.contains("canary"), "{shown}");
    }
}

#[tokio::test]
async fn a_server_that_is_away_is_said() {
    let server = Server::start();
    let agenda = server.user().await.agenda();
    let work = agenda.calendars().await.unwrap().into_iter().find(|c| c.name == "Work").unwrap();
    server.end();
    let error = agenda.calendars().await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    let id = EventId(format!("{}x.ics", work.id));
    let error = agenda.delete_event(&id, Scope::All).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
}

#[tokio::test]
async fn a_thousand_events_are_listed_up_to_a_bound_and_counted() {
    let radicale = Radicale::start().await;
    let event = |day: usize, hour: usize| {
        let at = format!("2026{:02}{:02}T{hour:02}0000Z", day / 25 + 1, day % 25 + 1);
        format!(
            "BEGIN:VEVENT\nUID:e{day}-{hour}\nDTSTAMP:20260101T000000Z\nDTSTART:{at}\nDURATION:PT1H\nSUMMARY:{day} {hour}\nEND:VEVENT\n"
        )
    };
    let all: String = (0..250).flat_map(|day| (0..4).map(move |hour| event(day, hour))).collect();
    // One upload makes the calendar anew with all of them.
    let work = format!("/{}/office", radicale.user);
    radicale.delete(&format!("{work}/")).await;
    radicale.put(&work, &object(&all)).await;
    let agenda = radicale.agenda();
    let year = |first: &str, last: &str| {
        Range::days(first.parse().unwrap(), last.parse().unwrap(), TimeZone::UTC).unwrap()
    };
    let found = agenda.events(&year("2026-01-01", "2026-12-31"), None).await.unwrap();
    assert_eq!(
        (found.events.len(), found.left_off, found.unreadable.len()),
        (MAX_LISTED, 1000 - MAX_LISTED, 0)
    );
    assert_eq!(found.events[0].title, "0 0");
    assert!(found.events.is_sorted_by_key(|event| event.start.seen_in(&TimeZone::UTC)));
    let day = agenda.events(&year("2026-03-01", "2026-03-01"), None).await.unwrap();
    assert_eq!((day.events.len(), day.left_off), (4, 0));
    assert!(
        Range::days("2026-01-01".parse().unwrap(), "2036-01-01".parse().unwrap(), TimeZone::UTC).is_err()
    );
}

#[tokio::test]
async fn an_object_that_cannot_be_understood_hides_no_other() {
    let world = World::radicale().await;
    let event = |uid: &str, rule: &str| {
        object(&format!(
            "BEGIN:VEVENT\nUID:{uid}\nDTSTAMP:20260101T000000Z\nDTSTART:20260601T100000Z\n{rule}SUMMARY:{uid}\nEND:VEVENT"
        ))
    };
    world.put("office", "good", &event("good", "")).await;
    let agenda = world.agenda();
    let range =
        Range::days("2026-06-01".parse().unwrap(), "2026-06-01".parse().unwrap(), TimeZone::UTC).unwrap();
    let fake = agenda::fake::Fake::new();
    fake.set("/office/good.ics", &event("good", ""));
    fake.set("/office/odd.ics", &event("odd", "RRULE:FREQ=SOMETIMES\n"));
    fake.set("/office/cut.ics", "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:x");
    let found = fake.events(&range, None).await.unwrap();
    assert_eq!(
        (found.events.len(), found.unreadable),
        (1, vec!["/office/cut.ics".to_owned(), "/office/odd.ics".to_owned()])
    );
    assert_eq!(agenda.events(&range, None).await.unwrap().events.len(), 1);
}

#[tokio::test]
async fn no_id_leads_out_of_the_account() {
    let world = World::radicale().await;
    let new = world.new_event("one", "2026-06-01", "2026-06-02", None);
    let event = world.agenda().create_event(new).await.unwrap().now;
    let name = event.id.0.rsplit('/').next().unwrap().to_owned();
    let World::Radicale(radicale, _) = &world else { unreachable!() };
    let anna = &radicale.user;
    for id in [
        format!("/{anna}/office/../office/{name}"),
        format!("/{anna}/office/%2e%2e/office/{name}"),
        format!("/{anna}/office/..%2Foffice%2F{name}"),
        format!("//evil.example.org/{anna}/office/{name}"),
        format!("http://evil.example.org/{anna}/office/{name}"),
        format!("/{anna}/office/{name}?x=1"),
        format!("/{anna}/office/{name}#x"),
        "/user199/office/x.ics".to_owned(),
        format!("/{anna}/office/"),
        "/".to_owned(),
        String::new(),
    ] {
        let error = world.agenda().delete_event(&EventId(id.clone()), Scope::All).await.unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{id}: {error}");
    }
    assert!(world.agenda().event(&event.id).await.is_ok());
}

#[tokio::test]
async fn a_change_between_look_and_write_is_a_conflict() {
    let world = World::radicale().await;
    let World::Radicale(radicale, _) = &world else { unreachable!() };
    let new = world.new_event("one", "2026-06-01", "2026-06-02", None);
    let event = world.agenda().create_event(new).await.unwrap().now;
    // Two programs at once, many times: each change is either made or refused, none is lost.
    let (one, other) = (radicale.agenda(), radicale.agenda());
    let (mut made, mut refused) = (0, 0);
    for round in 0..10 {
        let (a, b) = (titled(&format!("a{round}")), titled(&format!("b{round}")));
        let both = futures::future::join(
            one.change_event(&event.id, a, Scope::All),
            other.change_event(&event.id, b, Scope::All),
        );
        let (a, b) = both.await;
        for result in [a, b] {
            match result {
                Ok(_) => made += 1,
                Err(Error::Conflict { .. }) => refused += 1,
                Err(error) => panic!("{error}"),
            }
        }
    }
    let text = world.text(&event.id.0).await.unwrap();
    assert!(text.contains(&format!("SEQUENCE:{made}")), "{made} {text}");
    assert_eq!(made + refused, 20);
}

/// A server of two lines: what it answers, and what it was sent.
struct Stub {
    url: String,
    asked: Arc<Mutex<Vec<(String, HeaderMap)>>>,
    stop: tokio::task::JoinHandle<()>,
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.stop.abort();
    }
}

async fn stub(
    answer: impl Fn(&str) -> (StatusCode, HeaderMap, String) + Clone + Send + Sync + 'static,
) -> Stub {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked: Arc<Mutex<Vec<(String, HeaderMap)>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let router = Router::new().fallback(move |request: axum::extract::Request| {
        let line = format!("{} {}", request.method(), request.uri().path());
        seen.lock().unwrap().push((line.clone(), request.headers().clone()));
        let answer = answer(&line);
        async move { answer }
    });
    let stop = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    Stub { url, asked, stop }
}

fn account(url: &str) -> CalDavAccount {
    CalDavAccount { url: url.into(), user: "anna".into(), password: Secret(PASSWORD.into()) }
}

fn location(to: &str) -> HeaderMap {
    HeaderMap::from_iter([(header::LOCATION, to.parse().unwrap())])
}

#[tokio::test]
async fn the_password_goes_to_no_other_host() {
    // bar: C75
    let elsewhere = stub(|_| (StatusCode::OK, HeaderMap::new(), String::new())).await;
    let target = elsewhere.url.clone();
    let redirects = stub(move |_| (StatusCode::MOVED_PERMANENTLY, location(&target), String::new())).await;
    let target = elsewhere.url.clone();
    let points = stub(move |_| {
        let body = format!(
            r#"<multistatus xmlns="DAV:"><response><href>/</href><propstat><prop><current-user-principal><href>{target}/p/</href></current-user-principal></prop><status>HTTP/1.1 200 OK</status></propstat></response></multistatus>"#
        );
        (StatusCode::MULTI_STATUS, HeaderMap::new(), body)
    })
    .await;
    let with_user = stub(|_| (StatusCode::FOUND, location("http://a:b@127.0.0.1:1/"), String::new())).await;
    for server in [&redirects, &points, &with_user] {
        let error = CalDav::new(&account(&server.url)).unwrap().calendars().await.unwrap_err();
        assert!(matches!(error, Error::Elsewhere { .. }), "{error}");
        assert!(!error.to_string().contains("a:b"), "{error}");
        assert!(
            server.asked.lock().unwrap().iter().all(|(_, headers)| headers.contains_key("authorization"))
        );
    }
    assert!(elsewhere.asked.lock().unwrap().is_empty());
    for url in ["http://example.org", "https://anna:canary@example.org", "ftp://127.0.0.1", "example.org"] {
        let error = CalDav::new(&account(url)).unwrap_err();
        assert!(matches!(error, Error::Address { .. }) && !error.to_string().contains("canary"), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_misbehaves_is_an_error_and_no_more() {
    let endless = stub(|_| (StatusCode::FOUND, location("/again"), String::new())).await;
    let error = CalDav::new(&account(&endless.url)).unwrap().calendars().await.unwrap_err();
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
    assert!(endless.asked.lock().unwrap().len() < 10);
    let page = stub(|_| (StatusCode::OK, HeaderMap::new(), "<html>hello</html>".into())).await;
    let error = CalDav::new(&account(&page.url)).unwrap().calendars().await.unwrap_err();
    assert!(matches!(error, Error::Address { .. }), "{error}");
    let echo =
        stub(|_| (StatusCode::INTERNAL_SERVER_ERROR, HeaderMap::new(), format!("<p>{PASSWORD}</p> broke")))
            .await;
    let error = CalDav::new(&account(&echo.url)).unwrap().calendars().await.unwrap_err();
    assert!(error.to_string().ends_with("status 500: [password] broke"), "{error}");
    let bomb =
        r#"<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><multistatus xmlns="DAV:">&b;</multistatus>"#;
    let bomb = stub(move |_| (StatusCode::MULTI_STATUS, HeaderMap::new(), bomb.into())).await;
    assert!(CalDav::new(&account(&bomb.url)).unwrap().calendars().await.is_err());
    let large = stub(|_| (StatusCode::MULTI_STATUS, HeaderMap::new(), "x".repeat(33 << 20))).await;
    let error = CalDav::new(&account(&large.url)).unwrap().calendars().await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
}

#[tokio::test]
async fn a_silent_server_is_given_up_and_a_change_without_an_answer_is_of_unknown_outcome() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let agenda = CalDav::with_timeout(&account(&url), Duration::from_millis(300)).unwrap();
    let error = agenda.calendars().await.unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");

    // A server that takes a change and says nothing: the stub answers what is asked before, then waits for ever.
    let found = |prop: &str| {
        format!(
            r#"<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><response><href>/c/</href><propstat><prop>{prop}</prop><status>HTTP/1.1 200 OK</status></propstat></response></multistatus>"#
        )
    };
    let principal = found("<current-user-principal><href>/p/</href></current-user-principal>");
    let home = found("<C:calendar-home-set><href>/c/</href></C:calendar-home-set>");
    let calendar = found(
        "<resourcetype><C:calendar/></resourcetype><current-user-privilege-set><privilege><read/></privilege><privilege><write/></privilege></current-user-privilege-set>",
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().fallback(move |request: axum::extract::Request| {
        let (principal, home, calendar) = (principal.clone(), home.clone(), calendar.clone());
        async move {
            match (request.method().as_str(), request.uri().path()) {
                ("PUT", _) => futures::future::pending().await,
                (_, "/p/") => (StatusCode::MULTI_STATUS, home),
                (_, "/c/") => (StatusCode::MULTI_STATUS, calendar),
                _ => (StatusCode::MULTI_STATUS, principal),
            }
        }
    });
    let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let agenda = CalDav::with_timeout(&account(&url), Duration::from_millis(500)).unwrap();
    let new = NewEvent {
        calendar: agenda.calendars().await.unwrap().remove(0).id,
        title: "x".into(),
        start: moment("2026-06-01"),
        end: None,
        time_zone: None,
        location: None,
        notes: None,
        url: None,
        recurrence: None,
    };
    let error = agenda.create_event(new).await.unwrap_err();
    assert!(matches!(error, Error::UnknownOutcome { .. }), "{error}");
    server.abort();
}

#[tokio::test]
async fn a_calendar_that_may_only_be_read_is_not_written() {
    let fake = World::fake();
    let new = NewEvent {
        calendar: fake.calendar("holidays"),
        ..fake.new_event("x", "2026-06-01", "2026-06-02", None)
    };
    let error = fake.agenda().create_event(new).await.unwrap_err();
    assert_eq!(error, Error::ReadOnly { calendar: "Holidays".into() });
}
