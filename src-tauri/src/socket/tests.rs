//! A real socket between a real server and real clients; only what stands behind it is a fake.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use protocol::command::{AnyCommand, CallTool, GetOverview, RunOverrides, StartRun, StopRun, Subscribe};
use protocol::event::{DeltaKind, Event, EventBody, Scope};
use protocol::ids::{Seq, StreamId, Timestamp};
use protocol::principal::Principal;
use protocol::socket::MAX_LINE;
use protocol::{ErrorCode, ErrorView};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::sync::broadcast;
use tokio::time::timeout;

use super::{Client, Endpoint, Served, Stream, read_line, serve};
use crate::home::Home;

const BOUND: Duration = Duration::from_secs(20);

/// Answers with the command's own JSON; `get_overview` never answers.
struct Echo(broadcast::Sender<Event>);

impl Endpoint for Echo {
    fn call<'a>(&'a self, command: AnyCommand, _: &'a Principal) -> BoxFuture<'a, Result<Value, ErrorView>> {
        Box::pin(async move {
            match command {
                AnyCommand::GetOverview(_) => std::future::pending().await,
                AnyCommand::ListSessions(_) => Err(ErrorView::new(ErrorCode::Busy, "busy").with_hint("wait")),
                other => Ok(serde_json::to_value(other).unwrap()),
            }
        })
    }

    fn subscribe(&self, _: Subscribe) -> BoxFuture<'_, Result<(Seq, Stream), ErrorView>> {
        let events = self.0.subscribe();
        let next = |mut events: broadcast::Receiver<Event>| async move {
            loop {
                match events.recv().await {
                    Ok(event) => return Some((Ok(event), events)),
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return None,
                }
            }
        };
        Box::pin(async move { Ok((Seq(0), futures::stream::unfold(events, next).boxed())) })
    }
}

struct House {
    _folder: tempfile::TempDir,
    home: Home,
    events: broadcast::Sender<Event>,
    served: Served,
}

fn house() -> House {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path()).unwrap();
    let (events, _) = broadcast::channel(16);
    let served = serve(&home, Arc::new(Echo(events.clone()))).unwrap();
    House { _folder: folder, home, events, served }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_that_took_the_socket_is_told_from_miki() {
    use std::io::BufRead as _;

    let house = house();
    assert!(Client::connect(&house.home).await.unwrap().is_miki());
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path()).unwrap();
    let listen = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print(flush=True); sys.stdin.read()";
    let mut other = std::process::Command::new("python3")
        .args(["-c", listen])
        .arg(home.socket())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::BufReader::new(other.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    assert!(!Client::connect(&home).await.unwrap().is_miki());
    drop(other.stdin.take());
    other.wait().unwrap();
}

fn event(index: u32, text: &str) -> Event {
    let (turn, kind, text) = (1, DeltaKind::Text, text.into());
    let body = EventBody::TurnDelta { turn, index, kind, text };
    Event { position: None, stream: StreamId::app(), time: Timestamp(0), scope: Scope::default(), body }
}

fn everything() -> Subscribe {
    Subscribe { streams: None, after: None }
}

fn stop() -> AnyCommand {
    AnyCommand::StopRun(StopRun { run: None })
}

#[tokio::test]
async fn commands_are_answered_and_errors_arrive_whole() {
    let house = house();
    let client = Client::connect(&house.home).await.unwrap();
    assert_eq!(client.call(stop()).await.unwrap(), json!({"command": "stop_run", "args": {"run": null}}));
    let error = client
        .call(protocol::command::ListSessions { before: None, limit: None, which: Default::default() }.into())
        .await
        .unwrap_err();
    assert_eq!(error, ErrorView::new(ErrorCode::Busy, "busy").with_hint("wait"));
}

#[tokio::test]
async fn a_request_that_takes_for_ever_holds_up_no_other() {
    let house = house();
    let client = Client::connect(&house.home).await.unwrap();
    tokio::select! {
        _ = client.call(GetOverview {}.into()) => panic!("answered"),
        answer = timeout(BOUND, async { tokio::task::yield_now().await; client.call(stop()).await }) => {
            answer.unwrap().unwrap();
        }
    }
}

#[tokio::test]
async fn subscribers_get_events_in_order_and_others_get_none() {
    let house = house();
    let (listening, silent) =
        (Client::connect(&house.home).await.unwrap(), Client::connect(&house.home).await.unwrap());
    let mut events = listening.subscribe(everything()).await.unwrap();
    silent.call(stop()).await.unwrap();
    for seq in 1..=10 {
        house.events.send(event(seq, "x")).unwrap();
    }
    for seq in 1..=10 {
        assert_eq!(timeout(BOUND, events.recv()).await.unwrap().unwrap().unwrap(), event(seq, "x"));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_client_that_does_not_read_holds_up_no_other() {
    let house = house();
    let mut hanging = tokio::net::UnixStream::connect(house.home.socket()).await.unwrap();
    hanging.write_all(b"{\"id\":1,\"command\":\"subscribe\",\"args\":{}}\n").await.unwrap();
    let reading = Client::connect(&house.home).await.unwrap();
    let mut events = reading.subscribe(everything()).await.unwrap();
    let big = "x".repeat(100_000);
    for seq in 1..=600 {
        house.events.send(event(seq, &big)).unwrap();
        assert_eq!(timeout(BOUND, events.recv()).await.unwrap().unwrap().unwrap(), event(seq, &big));
    }
    timeout(BOUND, reading.call(stop())).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_does_not_take_its_events_is_told_why_no_more_come() {
    let house = house();
    let client = Client::connect(&house.home).await.unwrap();
    let mut events = client.subscribe(everything()).await.unwrap();
    let mut seq = 0;
    // An answer comes behind the events before it, so that none of them is lost on the way.
    while timeout(BOUND, client.call(stop())).await.unwrap().is_ok() {
        for _ in 0..8 {
            seq += 1;
            house.events.send(event(seq, "x")).unwrap();
        }
        assert!(seq < 100_000, "it takes any number of events");
    }
    let mut taken = 0;
    let error = loop {
        match timeout(BOUND, events.recv()).await.unwrap().unwrap() {
            Ok(_) => taken += 1,
            Err(error) => break error,
        }
    };
    assert!(taken > 10_000 && error.message.contains("too slow"), "{taken}: {error:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_line_that_is_no_request_is_answered_and_the_next_one_works() {
    let house = house();
    let mut stream = BufReader::new(tokio::net::UnixStream::connect(house.home.socket()).await.unwrap());
    let lines: [(&str, u64); 5] = [
        ("nonsense", 0),
        ("{\"id\":7}", 7),
        ("{\"id\":8,\"command\":\"fly\",\"args\":{}}", 8),
        ("[]", 0),
        ("", 0),
    ];
    for (line, id) in lines {
        stream.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        let mut answer = String::new();
        timeout(BOUND, stream.read_line(&mut answer)).await.unwrap().unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["reply"]["id"], json!(id), "{line}");
        assert_eq!(answer["reply"]["error"]["code"], json!("bad_request"), "{line}");
    }
    stream.write_all(b"{\"id\":9,\"command\":\"stop_run\",\"args\":{}}\n").await.unwrap();
    let mut answer = String::new();
    timeout(BOUND, stream.read_line(&mut answer)).await.unwrap().unwrap();
    assert!(answer.starts_with(r#"{"reply":{"id":9,"ok":"#), "{answer}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_line_without_end_is_refused_at_the_limit_and_hung_up_on() {
    let house = house();
    let mut stream = tokio::net::UnixStream::connect(house.home.socket()).await.unwrap();
    let (mut input, mut output) = stream.split();
    let flood = async {
        let chunk = vec![b'x'; 1 << 20];
        // The server hangs up somewhere in the middle.
        for _ in 0..(MAX_LINE >> 20) + 4 {
            if output.write_all(&chunk).await.is_err() {
                break;
            }
        }
    };
    let mut answer = Vec::new();
    let (_, end) =
        timeout(BOUND, async { tokio::join!(flood, input.read_to_end(&mut answer)) }).await.unwrap();
    // What was still on its way when the server hung up resets the connection; the answer was sent before that.
    if let Err(error) = end {
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    }
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(answer["reply"]["error"]["code"], json!("bad_request"));
    let told = answer["reply"]["error"]["message"].as_str().unwrap();
    assert!(told.contains(&MAX_LINE.to_string()), "{told}");
    timeout(BOUND, Client::connect(&house.home).await.unwrap().call(stop())).await.unwrap().unwrap();
}

/// Holds on to a call until it is dropped, and tells both.
struct Unanswering(tokio::sync::watch::Sender<Option<bool>>);

impl Endpoint for Unanswering {
    fn call<'a>(&'a self, _: AnyCommand, _: &'a Principal) -> BoxFuture<'a, Result<Value, ErrorView>> {
        struct DropNotice(tokio::sync::watch::Sender<Option<bool>>);
        impl Drop for DropNotice {
            fn drop(&mut self) {
                self.0.send_replace(Some(false));
            }
        }
        let told = DropNotice(self.0.clone());
        Box::pin(async move {
            told.0.send_replace(Some(true));
            std::future::pending().await
        })
    }

    fn subscribe(&self, _: Subscribe) -> BoxFuture<'_, Result<(Seq, Stream), ErrorView>> {
        Box::pin(async { Ok((Seq(0), futures::stream::empty().boxed())) })
    }
}

#[tokio::test]
async fn a_call_or_a_start_ends_when_the_client_that_asked_for_it_hangs_up() {
    let call = CallTool { tool: "wait".into(), arguments: json!({}), asked: None };
    let start = StartRun { goal: "g".into(), session: None, overrides: RunOverrides::default() };
    for command in [AnyCommand::from(call), start.into()] {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path()).unwrap();
        let (told, mut held) = tokio::sync::watch::channel(None);
        let _served = serve(&home, Arc::new(Unanswering(told))).unwrap();
        let client = Client::connect(&home).await.unwrap();
        let asking = tokio::spawn(async move { client.call(command).await });
        timeout(BOUND, held.wait_for(|held| *held == Some(true))).await.unwrap().unwrap();
        asking.abort();
        timeout(BOUND, held.wait_for(|held| *held == Some(false))).await.unwrap().unwrap();
    }
}

/// Takes a moment over each command, and tells how many it has carried out.
struct Slow(tokio::sync::watch::Sender<usize>);

impl Endpoint for Slow {
    fn call<'a>(&'a self, _: AnyCommand, _: &'a Principal) -> BoxFuture<'a, Result<Value, ErrorView>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            self.0.send_modify(|done| *done += 1);
            Ok(Value::Null)
        })
    }

    fn subscribe(&self, _: Subscribe) -> BoxFuture<'_, Result<(Seq, Stream), ErrorView>> {
        Box::pin(async { Ok((Seq(0), futures::stream::empty().boxed())) })
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_command_that_came_whole_is_carried_out_though_its_client_hangs_up_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path()).unwrap();
    let (told, mut done) = tokio::sync::watch::channel(0);
    let served = serve(&home, Arc::new(Slow(told))).unwrap();
    for number in 1..=20 {
        let mut stream = tokio::net::UnixStream::connect(home.socket()).await.unwrap();
        stream.write_all(b"{\"id\":1,\"command\":\"stop_run\",\"args\":{}}\n").await.unwrap();
        drop(stream);
        timeout(BOUND, done.wait_for(|done| *done == number)).await.unwrap().unwrap();
    }
    timeout(BOUND, served.idle()).await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_client_that_has_said_its_last_word_still_hears_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path()).unwrap();
    let _served = serve(&home, Arc::new(Slow(tokio::sync::watch::channel(0).0))).unwrap();
    let wait = br#"{"id":7,"command":"call_tool","args":{"tool":"wait","arguments":{}}}"#;
    let mut stream = tokio::net::UnixStream::connect(home.socket()).await.unwrap();
    stream.write_all(wait).await.unwrap();
    stream.write_all(b"\n").await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = String::new();
    timeout(BOUND, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
    assert_eq!(answer, "{\"reply\":{\"id\":7,\"ok\":null}}\n");
}

#[tokio::test]
async fn the_server_is_idle_when_nobody_waits_for_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path()).unwrap();
    let (told, mut held) = tokio::sync::watch::channel(None);
    let served = serve(&home, Arc::new(Unanswering(told))).unwrap();
    timeout(BOUND, served.idle()).await.unwrap();
    let client = Client::connect(&home).await.unwrap();
    client.subscribe(everything()).await.unwrap();
    timeout(BOUND, served.idle()).await.unwrap();
    let call = CallTool { tool: "wait".into(), arguments: json!({}), asked: None };
    let asking = tokio::spawn(async move { client.call(call.into()).await });
    timeout(BOUND, held.wait_for(|held| *held == Some(true))).await.unwrap().unwrap();
    assert!(futures::poll!(std::pin::pin!(served.idle())).is_pending());
    asking.abort();
    timeout(BOUND, served.idle()).await.unwrap();
}

#[tokio::test]
async fn a_line_is_kept_no_longer_than_its_limit() {
    let mut line = Vec::new();
    let mut input = BufReader::new(&b"12345\n123456\n"[..]);
    read_line(&mut input, &mut line, 5).await.unwrap().unwrap();
    assert_eq!(line, b"12345");
    assert!(read_line(&mut input, &mut line, 5).await.is_err());
    let mut cut = BufReader::new(&b"half"[..]);
    assert!(read_line(&mut cut, &mut line, 5).await.unwrap().is_none());
}

#[tokio::test]
async fn whoever_waits_is_told_when_the_engine_goes() {
    let house = house();
    let client = Client::connect(&house.home).await.unwrap();
    let waiting = client.call(GetOverview {}.into());
    let end = async {
        client.call(stop()).await.unwrap();
        house.served.end().await;
    };
    let (answer, ()) = timeout(BOUND, async { tokio::join!(waiting, end) }).await.unwrap();
    assert_eq!(answer.unwrap_err().code, ErrorCode::Unavailable);
}

#[tokio::test]
async fn a_client_that_has_sent_nothing_is_told_that_its_command_was_not_begun() {
    let house = house();
    let client = Client::connect(&house.home).await.unwrap();
    client.call(stop()).await.unwrap();
    timeout(BOUND, house.served.end()).await.unwrap();
    let start = StartRun { goal: "g".into(), session: None, overrides: RunOverrides::default() };
    let error = timeout(BOUND, client.call(start.into())).await.unwrap().unwrap_err();
    assert_eq!(error.code, ErrorCode::Leaving);
    // Nobody listens where nobody will answer.
    assert!(Client::connect(&house.home).await.is_err());
}

#[cfg(unix)]
#[tokio::test]
async fn a_dead_processs_socket_is_replaced_and_the_new_one_is_private() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path()).unwrap();
    drop(std::os::unix::net::UnixListener::bind(home.socket()).unwrap());
    assert!(Client::connect(&home).await.is_err());
    let (events, _) = broadcast::channel(1);
    let _served = serve(&home, Arc::new(Echo(events))).unwrap();
    assert_eq!(std::fs::metadata(home.socket()).unwrap().permissions().mode() & 0o777, 0o600);
    Client::connect(&home).await.unwrap().call(stop()).await.unwrap();
}
