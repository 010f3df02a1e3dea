//! The fault matrix in virtual time: each provider, each way in which a network and a server fail, through the whole
//! way from request to turn, asked again as the policy has it.

mod computer;
mod deferral;
mod description;
mod history;
mod search;

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, LazyLock, Mutex};

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::time::Instant;

use super::*;
use crate::decode::decode;
use crate::{CONNECT, Message, Part, Retry, RetryPolicy, TurnEvent};

/// What a server does with one request.
#[derive(Clone)]
enum Fault {
    /// Refuses, with a head and a body.
    Status(u16, &'static [(&'static str, &'static str)], &'static str),
    /// There is no answer: DNS, TLS, a refused connection.
    NoAnswer(&'static ModelError),
    /// Takes the request and says nothing.
    Silence,
    /// The answer up to a byte, then its end.
    CutAt(usize),
    /// The answer up to a byte, then a lost connection.
    LostAt(usize),
    /// The answer up to a byte, then nothing more.
    StallAt(usize),
    /// An error in the middle of the stream.
    ErrorInside,
    /// Another answer in its place.
    Says(Vec<u8>),
    /// The whole answer.
    None,
}

struct Script {
    faults: Mutex<VecDeque<Fault>>,
    calls: Arc<Mutex<u32>>,
    answer: &'static [u8],
    wire: Wire,
}

impl Transport for Script {
    fn send(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpAnswer, ModelError>> {
        *self.calls.lock().unwrap() += 1;
        let fault = self.faults.lock().unwrap().pop_front().unwrap_or(Fault::None);
        let (answer, wire) = (self.answer, self.wire);
        Box::pin(async move {
            let body = match fault {
                Fault::Status(status, head, body) => return Ok(refused(status, head, body)),
                Fault::NoAnswer(why) => return Err(why.clone()),
                Fault::Silence => return std::future::pending().await,
                Fault::CutAt(byte) => stream::iter([Ok(answer[..byte].to_vec())]).boxed(),
                Fault::LostAt(byte) => {
                    let lost = ModelError::new(ModelErrorKind::Network, "the connection was lost");
                    stream::iter([Ok(answer[..byte].to_vec()), Err(lost)]).boxed()
                }
                Fault::StallAt(byte) => {
                    stream::iter([Ok(answer[..byte].to_vec())]).chain(stream::pending()).boxed()
                }
                Fault::ErrorInside => stream::iter([Ok(error_inside(wire).as_bytes().to_vec())]).boxed(),
                Fault::Says(other) => stream::iter([Ok(other)]).boxed(),
                Fault::None => stream::iter([Ok(answer.to_vec())]).boxed(),
            };
            Ok(HttpAnswer { status: StatusCode::OK, headers: HeaderMap::new(), body })
        })
    }
}

fn refused(status: u16, head: &[(&'static str, &'static str)], body: &'static str) -> HttpAnswer {
    let pairs =
        head.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    HttpAnswer {
        status: StatusCode::from_u16(status).unwrap(),
        headers: pairs.collect(),
        body: stream::iter([Ok(body.as_bytes().to_vec())]).boxed(),
    }
}

fn error_inside(wire: Wire) -> &'static str {
    match wire {
        Wire::Ollama => "{\"error\":\"it broke\"}\n",
        Wire::Anthropic => {
            "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"it broke\"}}\n\n"
        }
        _ => "data: {\"error\":{\"code\":503,\"message\":\"it broke\"}}\n\n",
    }
}

macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!("../../tests/fixtures/", $name))
    };
}

/// A turn with calls of each provider, as it was recorded.
const TURNS: [(&str, &[u8]); 7] = [
    ("gemini", fixture!("gemini/stream_thought_then_function_call.sse")),
    ("anthropic", fixture!("anthropic/stream_text_then_tool_use.sse")),
    ("openai", fixture!("openai-responses/stream_reasoning_function_call.sse")),
    ("openrouter", fixture!("openrouter/stream_reasoning_and_tool.sse")),
    ("xai", fixture!("xai/stream_chat_reasoning_tool.sse")),
    ("ollama", fixture!("ollama/stream_thinking_and_tool.ndjson")),
    ("lmstudio", fixture!("lmstudio/stream_reasoning_tool.sse")),
];

fn remote(provider: &str, answer: &'static [u8], faults: Vec<Fault>) -> (Remote, Arc<Mutex<u32>>) {
    let provider = Provider { api_version: None, ..Provider::named(provider).unwrap().clone() };
    let calls = Arc::new(Mutex::new(0));
    let script =
        Script { faults: Mutex::new(faults.into()), calls: Arc::clone(&calls), answer, wire: provider.wire };
    let base = base_url(&provider.base_url).unwrap();
    let key = Some(Secret("canary-Key-123".into()));
    let options = RemoteOptions { key, ..RemoteOptions::new(provider, "some-model") };
    (Remote::over(Box::new(script), base, options), calls)
}

/// A model that nobody asks: only its bodies are looked at. One client for all, since it reads the system's
/// certificates, which takes a while.
fn unasked(provider: &Provider, options: Options) -> Remote {
    static HTTP: LazyLock<Http> = LazyLock::new(|| Http::new(CONNECT).unwrap());
    Remote::new(&HTTP, RemoteOptions { options, ..RemoteOptions::new(provider.clone(), "some-model") })
        .unwrap()
}

async fn turn(model: &Remote) -> Result<TurnEvent, ModelError> {
    let messages = vec![Message::User(vec![Part::Text("go".into())])];
    let mut stream = model.stream(Request { messages, ..Request::default() }.into()).await?;
    let mut last = None;
    while let Some(event) = stream.next().await {
        assert!(last.replace(event?).is_none_or(|last| !matches!(last, TurnEvent::Finished { .. })));
    }
    Ok(last.expect("a stream never ends silently"))
}

/// What our client makes of a name that nobody has, of a port without TLS behind it, and of one without anybody: it
/// never leaves this machine. On a thread of its own, where time is real.
static NO_ANSWERS: LazyLock<[ModelError; 3]> = LazyLock::new(|| {
    let asked = async {
        let http = Http::new(CONNECT).unwrap();
        let ask = async |address: &str| {
            let url = base_url(address).unwrap();
            let transport = HttpTransport::new(&http, url.clone(), &[]).unwrap();
            transport.send(HttpRequest { url, json: None }).await.map(|answer| answer.status).unwrap_err()
        };
        let plain = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = plain.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = plain.accept().await {
                let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            }
        });
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        [
            ask("https://nobody.invalid/canary").await,
            ask(&format!("https://127.0.0.1:{port}/canary")).await,
            ask(&format!("http://127.0.0.1:{free}/canary")).await,
        ]
    };
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    std::thread::spawn(move || runtime().block_on(asked)).join().unwrap()
});

#[test]
fn a_network_that_fails_is_told_by_its_host_and_cause_and_may_be_tried_again() {
    for (error, host) in NO_ANSWERS.iter().zip(["nobody.invalid", "127.0.0.1:", "127.0.0.1:"]) {
        assert_eq!((error.kind, error.retry()), (ModelErrorKind::Network, Retry::After(None)), "{error}");
        let (who, why) = error.message.split_once(": ").unwrap();
        assert!(who.starts_with(&format!("cannot reach {host}")) && !why.is_empty(), "{error}");
        assert!(!format!("{error:?}").contains("canary"), "{error:?}");
    }
    let whys: BTreeSet<&str> =
        NO_ANSWERS.iter().map(|error| error.message.split_once(": ").unwrap().1).collect();
    assert_eq!(whys.len(), 3, "{whys:?}");
}

/// Asks until there is a turn or no try is left; returns how long that took, in virtual time.
async fn patiently(model: &Remote) -> (Result<TurnEvent, ModelError>, Duration) {
    let (policy, began) = (RetryPolicy::default(), Instant::now());
    let mut failures = 0;
    loop {
        let outcome = turn(model).await;
        failures += 1;
        match outcome.as_ref().map_err(ModelError::retry) {
            Err(Retry::After(asked)) if failures < policy.tries => {
                tokio::time::sleep(policy.delay(asked, failures, 0.5)).await;
            }
            Ok(_) | Err(_) => return (outcome, began.elapsed()),
        }
    }
}

fn has_call(end: &Result<TurnEvent, ModelError>) -> bool {
    matches!(end, Ok(TurnEvent::Finished { turn, .. }) if !turn.calls.is_empty())
}

/// Faults that pass, with the time that one of them takes before the next try begins.
fn passing() -> Vec<(Fault, Duration)> {
    let seconds = Duration::from_secs;
    vec![
        (Fault::Status(429, &[("retry-after", "7")], "{}"), seconds(7)),
        (Fault::Status(429, &[("retry-after-ms", "1500")], "{}"), Duration::from_millis(1_500)),
        (Fault::Status(500, &[], "<html>"), seconds(1)),
        (Fault::Status(502, &[], ""), seconds(1)),
        (Fault::Status(503, &[("retry-after", "Sat, 21 Nov 1970 10:00:30 GMT")], "{}"), seconds(1)),
        (Fault::Status(429, &[("retry-after", "0")], "{}"), seconds(1)),
        (Fault::Status(504, &[], "{}"), seconds(1)),
        (Fault::Status(529, &[], "{}"), seconds(1)),
        (Fault::NoAnswer(&NO_ANSWERS[0]), seconds(1)),
        (Fault::NoAnswer(&NO_ANSWERS[1]), seconds(1)),
        (Fault::NoAnswer(&NO_ANSWERS[2]), seconds(1)),
        (Fault::Silence, seconds(121)),
        (Fault::StallAt(60), seconds(121)),
        (Fault::LostAt(60), seconds(1)),
        (Fault::CutAt(0), seconds(1)),
        (Fault::ErrorInside, seconds(1)),
    ]
}

/// Faults that do not pass by waiting.
fn final_ones() -> Vec<(Fault, ModelErrorKind)> {
    use ModelErrorKind::{Auth, BadRequest, NoCredit, NotFound, Overloaded, Quota, Redirect, TooLarge};
    vec![
        (Fault::Status(400, &[], "{}"), BadRequest),
        (Fault::Status(401, &[], "{\"error\":{\"message\":\"bad canary-Key-123\"}}"), Auth),
        (Fault::Status(402, &[], "{}"), NoCredit),
        (Fault::Status(403, &[], "{}"), Auth),
        (Fault::Status(404, &[], "{}"), NotFound),
        (Fault::Status(413, &[], "{}"), TooLarge),
        (Fault::Says(b"\xef\xbb\xbf\r\n<!DOCTYPE html>\n<title>Log in</title>".to_vec()), Redirect),
        (Fault::Status(429, &[("retry-after", "3600")], "{}"), Quota),
        (Fault::Status(429, &[("retry-after", "99999999999")], "{}"), Quota),
        (Fault::Status(503, &[("retry-after", "86400")], "{}"), Overloaded),
        (Fault::Status(429, &[("retry-after", "1")], "{\"error\":{\"code\":\"insufficient_quota\"}}"), Quota),
    ]
}

// bar: C61
#[tokio::test(start_paused = true)]
async fn what_passes_is_waited_out_and_what_does_not_is_told_at_once() {
    let (mut cases, mut requests, mut unexpected) = (0, 0, Vec::new());
    let mut case = |asked: &Mutex<u32>, wanted: u32, is_expected: bool, what: String| {
        let asked = *asked.lock().unwrap();
        cases += 1;
        requests += asked;
        if !is_expected || asked != wanted {
            unexpected.push(format!("{what} after {asked} requests"));
        }
    };
    for (provider, answer) in TURNS {
        for (fault, before) in passing() {
            // Once: the second try has the turn. The head's wait may be a tenth longer; the end of an answer is waited
            // for a moment.
            let (model, asked) = remote(provider, answer, vec![fault.clone()]);
            let (end, took) = patiently(&model).await;
            let most = before.mul_f64(1.1) + Duration::from_secs(1);
            let in_time = (before..=most).contains(&took);
            let what = format!("{provider}: {end:?} in {took:?} for {before:?}");
            case(&asked, 2, has_call(&end) && in_time, what);
            // Always: it is given up after four, with the reason.
            let (model, asked) = remote(provider, answer, vec![fault; 9]);
            let (end, _) = patiently(&model).await;
            let has_reason = end.as_ref().is_err_and(|error| !error.message.is_empty());
            case(&asked, 4, has_reason, format!("{provider}: {end:?}"));
        }
        for (fault, kind) in final_ones() {
            let (model, asked) = remote(provider, answer, vec![fault]);
            let (end, took) = patiently(&model).await;
            let is_told = end.as_ref().is_err_and(|error| error.kind == kind) && took.is_zero();
            let what = format!("{provider}: {end:?} for {kind:?}");
            let is_hidden = !what.contains("canary");
            // Where the name may be what is wrong, the provider's list is asked for.
            let may_be_the_name = kind == ModelErrorKind::NotFound
                || (kind == ModelErrorKind::BadRequest && provider == "openrouter");
            case(&asked, if may_be_the_name { 2 } else { 1 }, is_told && is_hidden, what);
        }
    }
    println!("fault matrix: {cases} cases, {requests} requests, {} unexpected ends", unexpected.len());
    assert_eq!(unexpected, Vec::<String>::new());
}

// bar: C61, C62
#[tokio::test(start_paused = true)]
async fn a_stream_cut_lost_or_stalled_anywhere_runs_nothing_and_the_next_try_has_the_turn() {
    let (mut cases, mut runnable) = (0, 0);
    for (provider, answer) in TURNS {
        let (whole, _) = patiently(&remote(provider, answer, Vec::new()).0).await;
        // Every byte is cut in `tests/streams.rs`; here a step that meets each kind of cut everywhere.
        for byte in (0..answer.len()).step_by(7) {
            let fault = match byte % 3 {
                0 => Fault::CutAt(byte),
                1 => Fault::LostAt(byte),
                _ => Fault::StallAt(byte),
            };
            let (model, _) = remote(provider, answer, vec![fault]);
            match turn(&model).await {
                Ok(TurnEvent::Finished { turn, .. }) => {
                    let Ok(TurnEvent::Finished { turn: whole, .. }) = &whole else { panic!("{whole:?}") };
                    assert_eq!(turn, *whole, "{provider} at {byte}");
                }
                Ok(other) => panic!("{provider} at {byte}: {other:?}"),
                Err(error) => {
                    runnable += u32::from(patience_is_over(&error));
                    assert_eq!(turn(&model).await, whole, "{provider} at {byte}");
                }
            }
            cases += 1;
        }
    }
    println!("{cases} streams cut, lost or stalled, {runnable} that could not be asked again");
    assert_eq!(runnable, 0);
}

fn patience_is_over(error: &ModelError) -> bool {
    error.retry() == Retry::Never
}

/// Each answer in which a stretch of the events comes again, from anywhere to anywhere.
fn told_again(answer: &[u8]) -> Vec<Vec<u8>> {
    let answer = std::str::from_utf8(answer).unwrap();
    let events: Vec<&str> = answer.split_inclusive("\n\n").collect();
    let stretches = (0..events.len()).flat_map(|from| (from + 1..=events.len()).map(move |to| (from, to)));
    let again = |(from, to)| [&events[..to], &events[from..]].concat().concat().into_bytes();
    stretches.map(again).collect()
}

/// Where events are numbered, or a call has a name of its own. Elsewhere a piece that came again cannot be told from
/// one that says the same.
// bar: C61
#[tokio::test(start_paused = true)]
async fn events_that_come_again_are_told_once_and_do_not_make_another_call() {
    let mut cases = 0;
    let turn_of = |provider: &str| *TURNS.iter().find(|(name, _)| *name == provider).unwrap();
    let (_, openai) = turn_of("openai");
    let whole = decode(Wire::OpenAiResponses, "openai", openai);
    for answer in told_again(openai) {
        assert_eq!(decode(Wire::OpenAiResponses, "openai", &answer), whole, "{cases}");
        cases += 1;
    }
    let calls = |end: Result<TurnEvent, ModelError>| match end {
        Ok(TurnEvent::Finished { turn, .. }) => turn.calls,
        other => panic!("{other:?}"),
    };
    let (_, gemini) = turn_of("gemini");
    let made = calls(decode(Wire::Gemini, "gemini", gemini).1);
    for answer in told_again(gemini) {
        assert_eq!(calls(decode(Wire::Gemini, "gemini", &answer).1), made, "{cases}");
        cases += 1;
    }
    // Anthropic numbers its blocks: what begins again is refused, and the next try has the turn.
    let (provider, anthropic) = turn_of("anthropic");
    let whole = decode(Wire::Anthropic, provider, anthropic).1;
    let events = anthropic.windows(2).filter(|pair| pair == b"\n\n").count();
    // The stretches that have the beginning in them, but for the whole: what comes after an end changes nothing.
    for answer in told_again(anthropic).into_iter().take(events - 1) {
        let (model, asked) = remote(provider, anthropic, vec![Fault::Says(answer)]);
        assert_eq!((patiently(&model).await.0, *asked.lock().unwrap()), (whole.clone(), 2), "{cases}");
        cases += 1;
    }
    println!("{cases} streams with events that came again");
}
