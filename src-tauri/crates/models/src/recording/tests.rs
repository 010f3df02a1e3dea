//! A recording's way there and back: recorded from a model at work, replayed with nobody there.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use protocol::command::Secret;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::json;

use super::*;
use crate::http::{HttpAnswer, HttpRequest, Transport, base_url};
use crate::{Model, ModelError, ModelErrorKind, Provider, Remote, RemoteOptions, ToolSpec, Turn, TurnEvent};

const KEY: &str = "canary-Key-123";

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../tests/fixtures/", $name))
    };
}

/// A file that a test can look into.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Paper {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

/// A disk with no room but for the head.
struct Full(bool);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if std::mem::replace(&mut self.0, true) {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What a server says to one request, in pieces; the last one may be that the connection was lost.
type Said = Result<Vec<Result<Vec<u8>, ModelError>>, ModelError>;

struct Script(Mutex<Vec<Said>>);

impl Transport for Script {
    fn send(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpAnswer, ModelError>> {
        let said = self.0.lock().unwrap().remove(0);
        Box::pin(async move {
            // An answer takes a while.
            tokio::time::sleep(Duration::from_millis(30)).await;
            let body = futures::stream::iter(said?).boxed();
            Ok(HttpAnswer { status: StatusCode::OK, headers: HeaderMap::new(), body })
        })
    }
}

fn pieces(stream: &[u8]) -> Said {
    Ok(stream.chunks(77).map(|piece| Ok(piece.to_vec())).collect())
}

fn remote(provider: &str, said: Vec<Said>, out: Box<dyn Write + Send>) -> Remote {
    remote_of(Provider::named(provider).unwrap().clone(), said, out)
}

fn remote_of(provider: Provider, said: Vec<Said>, out: Box<dyn Write + Send>) -> Remote {
    let key = Some(Secret(KEY.into()));
    let options = RemoteOptions { key, ..RemoteOptions::new(provider, "some-model") };
    let recorder = Recorder::begin(out, &options.model, &options.provider, None).unwrap();
    let base = base_url(&options.provider.base_url).unwrap();
    Remote::over(Box::new(Script(Mutex::new(said))), base, options).recorded_by(recorder)
}

fn request(goal: &str) -> Request {
    let schema = json!({ "type": "object", "properties": {} });
    let tool = ToolSpec { name: "click".into(), description: "Clicks.".into(), schema };
    let messages = vec![Message::User(vec![Part::Text(goal.into())])];
    Request { system: "You operate a desktop.".into(), tools: vec![tool], messages, ..Request::default() }
}

/// The request after `turn`, whose calls were answered so.
fn next(mut request: Request, turn: &Turn, effect: &str, picture: u8) -> Request {
    let answer = |call: &crate::ProposedCall| ToolAnswer {
        id: call.id.clone(),
        name: call.name.clone(),
        response: json!({ "effect": effect, "summary": format!("at {picture} o'clock") }),
        image: Some(crate::Image {
            media_type: "image/png".into(),
            bytes: vec![picture].into(),
            detail: crate::Detail::Whole,
        }),
    };
    let answers = turn.calls.iter().map(answer).collect();
    request.messages.extend([Message::Assistant(turn.clone()), Message::ToolResults(answers)]);
    request
}

type Events = Vec<Result<TurnEvent, ModelError>>;

async fn ask(model: &dyn Model, request: &Request) -> Events {
    match model.stream(request.clone().into()).await {
        Ok(stream) => stream.collect().await,
        Err(error) => vec![Err(error)],
    }
}

fn turn(events: &Events) -> Turn {
    match events.last() {
        Some(Ok(TurnEvent::Finished { turn, .. })) => turn.clone(),
        other => panic!("{other:?}"),
    }
}

/// A run of two turns with a refusal between them: all its events, and the recording.
async fn recorded(provider: &str, streams: [&'static str; 2]) -> (Vec<Events>, Vec<u8>) {
    let paper = Paper::default();
    let busy = ModelError {
        retry_after: Some(Duration::from_secs(7)),
        ..ModelError::new(ModelErrorKind::Overloaded, format!("busy; you sent {KEY}"))
    };
    let said = vec![pieces(streams[0].as_bytes()), Err(busy), pieces(streams[1].as_bytes())];
    let model = remote(provider, said, Box::new(paper.clone()));
    (play(&model, "confirmed", 3).await, paper.bytes())
}

/// The same run, whoever answers.
async fn play(model: &dyn Model, effect: &str, picture: u8) -> Vec<Events> {
    let first = request("press the button");
    let begun = ask(model, &first).await;
    let second = next(first, &turn(&begun), effect, picture);
    let refused = ask(model, &second).await;
    let ended = ask(model, &second).await;
    vec![begun, refused, ended]
}

/// Of each framing one: a recording knows nothing of wires.
const RUNS: [(&str, [&str; 2]); 2] = [
    (
        "anthropic",
        [
            fixture!("anthropic/stream_thinking_two_parallel_tools.sse"),
            fixture!("anthropic/stream_text_then_tool_use.sse"),
        ],
    ),
    ("ollama", [fixture!("ollama/stream_thinking_and_tool.ndjson"), fixture!("ollama/stream_text.ndjson")]),
];

#[tokio::test(start_paused = true)]
async fn a_recorded_run_is_replayed_without_a_server_event_for_event() {
    for (provider, streams) in RUNS {
        let (events, recording) = recorded(provider, streams).await;
        let replay = Replay::read(&recording).unwrap();
        assert_eq!(replay.id(), &ModelId(format!("{provider}/some-model")));
        let played = play(&replay, "confirmed", 3).await;
        assert_eq!((&played[0], &played[2]), (&events[0], &events[2]), "{provider}");
        let refusal = played[1][0].as_ref().unwrap_err();
        assert_eq!(
            (refusal.kind, refusal.retry_after),
            (ModelErrorKind::Overloaded, Some(Duration::from_secs(7)))
        );
    }
}

// bar: C75
#[tokio::test(start_paused = true)]
async fn no_key_and_nothing_that_was_asked_is_recorded() {
    let said = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"it is {KEY}\"}},\"finish_reason\":\"stop\"}}]}}\n\n"
    );
    let lost = ModelError::new(ModelErrorKind::Network, format!("lost, says {KEY}"));
    let binary = [b"data: \xff".as_slice(), KEY.as_bytes()].concat();
    for said in [pieces(said.as_bytes()), Ok(vec![Ok(b"data: ".to_vec()), Err(lost)]), pieces(&binary)] {
        let paper = Paper::default();
        let model = remote("lmstudio", vec![said], Box::new(paper.clone()));
        ask(&model, &request("the goal is secret")).await;
        let recording = String::from_utf8(paper.bytes()).unwrap();
        for secret in [KEY, "secret", "You operate"] {
            assert!(!recording.contains(secret), "{secret}: {recording}");
        }
        Replay::read(recording.as_bytes()).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_recording_is_what_was_said_in_order() {
    let (_, recording) = recorded(RUNS[0].0, RUNS[0].1).await;
    let replay = Replay::read(&recording).unwrap();
    let said = replay.turns.iter().map(|turn| match &turn.answer {
        Answer::Stream { said, end: End::Whole | End::Dropped } => said.as_str(),
        Answer::Refused(error) => error.message.as_str(),
        other => panic!("{other:?}"),
    });
    assert_eq!(said.collect::<Vec<_>>(), [RUNS[0].1[0], "busy; you sent [key]", RUNS[0].1[1]]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_goes_another_way_is_refused_with_its_turn() {
    let (_, recording) = recorded(RUNS[0].0, RUNS[0].1).await;
    let asked = async |request: Request| match ask(&Replay::read(&recording).unwrap(), &request).await.pop() {
        Some(Err(error)) => (error.kind, error.message),
        other => panic!("{other:?}"),
    };
    let good = request("press the button");
    for other in [request("press another button"), next(good.clone(), &Turn::default(), "confirmed", 3)] {
        let message = "turn 1 of the recording was asked something else".to_owned();
        assert_eq!(asked(other).await, (ModelErrorKind::BadRequest, message));
    }
    let replay = Replay::read(&recording).unwrap();
    let error = play(&replay, "unknown", 3).await.pop().unwrap().pop().unwrap().unwrap_err();
    assert!(error.message.starts_with("turn 2 of"), "{error}");
    // What did not fit is not used up.
    let replay = Replay::read(&recording).unwrap();
    ask(&replay, &request("press another button")).await;
    assert!(play(&replay, "confirmed", 3).await[2].last().unwrap().is_ok());
    let error = ask(&replay, &good).await.pop().unwrap().unwrap_err();
    assert_eq!(error.message, "the recording has 3 turns and is asked for turn 4");
}

// A later version of the program has other prompts and tools, and another hour shows another clock.
#[tokio::test(start_paused = true)]
async fn other_prompts_tools_and_pictures_are_no_other_way() {
    let (events, recording) = recorded(RUNS[0].0, RUNS[0].1).await;
    let replay = Replay::read(&recording).unwrap();
    let first = Request { system: String::new(), tools: vec![], ..request("press the button") };
    assert_eq!(ask(&replay, &first).await, events[0]);
    assert_eq!(play(&Replay::read(&recording).unwrap(), "confirmed", 4).await[2], events[2]);
}

#[tokio::test(start_paused = true)]
async fn a_recording_cut_anywhere_is_refused_or_ends_where_it_was_cut() {
    let (_, recording) = recorded(RUNS[1].0, RUNS[1].1).await;
    let ends: Vec<usize> =
        recording.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    let head = ends[0];
    for cut in 0..recording.len() {
        match Replay::read(&recording[..cut]) {
            Ok(replay) => {
                let whole = ends.iter().position(|end| *end == cut);
                assert_eq!(Some(replay.turns.len()), whole, "at {cut}");
            }
            Err(RecordingError::NotARecording) => assert!(cut < head),
            Err(RecordingError::Broken { line }) => {
                assert_eq!(line, ends.iter().filter(|end| **end <= cut).count() + 1, "at {cut}");
            }
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn a_recording_of_another_version_or_none_at_all_is_told_apart() {
    let read = |text: &str| Replay::read(text.as_bytes()).unwrap_err();
    for none in ["", "\n", "hello\n", "{}\n", "{\"kind\":\"another\",\"version\":1}\n"] {
        assert_eq!(read(none), RecordingError::NotARecording, "{none:?}");
    }
    for other in [1, 9] {
        let other = read(&format!("{{\"kind\":\"miki recording\",\"version\":{other},\"more\":0}}\n"));
        assert!(matches!(other, RecordingError::OtherVersion { .. }));
        assert!(other.to_string().ends_with(", and this program plays version 2"), "{other}");
    }
    assert_eq!(read("{\"kind\":\"miki recording\",\"version\":2}\n"), RecordingError::Broken { line: 1 });
}

#[test]
fn a_run_by_a_vendors_computer_tool_is_replayed_by_it() {
    let provider = Provider::named("anthropic").unwrap();
    let model = ModelId("anthropic/some-model".into());
    let played = |computer| {
        let paper = Paper::default();
        drop(Recorder::begin(Box::new(paper.clone()), &model, provider, computer).unwrap());
        Replay::read(&paper.bytes()).unwrap().computer()
    };
    for computer in [None, Some(Computer::AnthropicToolset), Some(Computer::OpenAi), Some(Computer::Gemini)] {
        assert_eq!(played(computer), computer);
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_was_lost_or_dropped_is_replayed_as_far_as_it_came() {
    let whole = RUNS[0].1[0].as_bytes();
    let lost = ModelError::new(ModelErrorKind::Network, "the connection was lost");
    let paper = Paper::default();
    let said = vec![Ok(vec![Ok(whole[..900].to_vec()), Err(lost.clone())]), pieces(whole), pieces(whole)];
    let model = remote("anthropic", said, Box::new(paper.clone()));
    let first = request("go");
    let heard = ask(&model, &first).await;
    let mut stopped = model.stream(first.clone().into()).await.unwrap();
    let one = stopped.next().await;
    drop(stopped);
    // Also before anything is heard.
    tokio::time::timeout(Duration::from_millis(10), model.stream(first.clone().into())).await.err().unwrap();
    let replay = Replay::read(&paper.bytes()).unwrap();
    assert_eq!(ask(&replay, &first).await, heard);
    assert_eq!(heard.last(), Some(&Err(lost)));
    let played = ask(&replay, &first).await;
    assert_eq!(played.first(), one.as_ref());
    let error = played.last().unwrap().as_ref().unwrap_err();
    assert_eq!(error.message, "turn 2 was stopped here when it was recorded");
    let [Err(error)] = &ask(&replay, &first).await[..] else { panic!("more than an error") };
    assert_eq!(error.message, "turn 3 was stopped here when it was recorded");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_no_text_or_breaks_off_within_a_character_is_replayed_to_the_same_end() {
    let event =
        |text: &[u8]| [b"data: {\"choices\":[{\"delta\":{\"content\":\"", text, b"\"}}]}\n\n"].concat();
    let good = event("wörld".as_bytes());
    let cut = "data: ö".as_bytes().split_last().unwrap().1;
    for bad in [event(b"\xff"), cut.to_vec()] {
        let paper = Paper::default();
        let model = remote("lmstudio", vec![pieces(&[&good[..], &bad].concat())], Box::new(paper.clone()));
        let heard = ask(&model, &request("go")).await;
        assert!(heard.len() == 2 && heard[1].is_err(), "{heard:?}");
        assert_eq!(ask(&Replay::read(&paper.bytes()).unwrap(), &request("go")).await, heard);
    }
}

#[tokio::test(start_paused = true)]
async fn a_replayed_turn_is_kept_under_the_name_of_the_one_that_was_recorded() {
    let whole = RUNS[0].1[0].as_bytes();
    let custom = Provider::custom("mine", "https://example.org", Wire::Anthropic, BTreeMap::new());
    for provider in [Provider::named("anthropic").unwrap().clone(), custom] {
        let paper = Paper::default();
        let model = remote_of(provider, vec![pieces(whole)], Box::new(paper.clone()));
        let heard = ask(&model, &request("go")).await;
        let replay = Replay::read(&paper.bytes()).unwrap();
        assert_eq!(turn(&heard).provider, model.provider().author());
        assert_eq!(ask(&replay, &request("go")).await, heard);
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_does_not_go_on_where_its_recording_cannot_be_written() {
    let whole = RUNS[0].1[0].as_bytes();
    let model = remote("anthropic", vec![pieces(whole), pieces(whole)], Box::new(Full(false)));
    turn(&ask(&model, &request("go")).await);
    let error = ask(&model, &request("go")).await.pop().unwrap().unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::BadRequest);
    assert!(error.message.starts_with("the recording cannot be written: "), "{error}");
}
