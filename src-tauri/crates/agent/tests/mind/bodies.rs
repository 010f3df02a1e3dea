//! What each provider is asked in a real run, held against the types of its vendor's own Python SDK: the prompt, all
//! tools, turns as the provider wrote them, parallel calls, thinking, pictures in results. `tests/sdk/check.py` looks.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock};

use models::computer::Computer;
use models::scripted::Step;
use models::{
    CONNECT, Http, MediaResolution, Message, Options, ProposedCall, Provider, Remote, RemoteOptions, Request,
    ToolAnswer, Turn, decode,
};
use protocol::command::RunOverrides;
use protocol::tool::ApprovalMode;
use serde_json::{Value, json};

use crate::bench::{Bench, done};

macro_rules! recorded {
    ($name:literal) => {
        include_bytes!(concat!("../../../models/tests/fixtures/", $name))
    };
}

/// Each provider with recorded turns of its own, with calls that we have tools for.
pub const RECORDED: [(&str, &[&[u8]]); 7] = [
    (
        "gemini",
        &[
            recorded!("gemini/stream_thought_then_function_call.sse"),
            recorded!("gemini/stream_parallel_function_calls.sse"),
        ],
    ),
    ("anthropic", &[recorded!("anthropic/stream_thinking_two_parallel_tools.sse")]),
    ("openai", &[recorded!("openai-responses/stream_reasoning_function_call.sse")]),
    ("xai", &[recorded!("openai-responses/stream_reasoning_function_call.sse")]),
    (
        "openrouter",
        &[
            recorded!("openrouter/stream_reasoning_and_tool.sse"),
            recorded!("openrouter/stream_gemini_encrypted_reasoning.sse"),
        ],
    ),
    ("ollama", &[recorded!("ollama/stream_thinking_and_tool.ndjson")]),
    (
        "lmstudio",
        &[
            recorded!("lmstudio/stream_reasoning_tool.sse"),
            recorded!("openai-chat/stream_two_parallel_tool_calls.sse"),
        ],
    ),
];

/// What is made wrong in a body that is right: a field that nobody knows, a value that is none of its field's.
fn mistakes(provider: &str) -> [(&'static str, &'static str, Value); 4] {
    let colour = |at| (at, "colour", json!("red"));
    match provider {
        "gemini" => [
            colour(""),
            colour("/tools/0/functionDeclarations/0"),
            ("/contents/0/parts/0", "text", json!(7)),
            ("/generationConfig/thinkingConfig", "includeThoughts", json!({})),
        ],
        "anthropic" => [
            colour("/tools/0"),
            colour("/messages/2/content/0"),
            ("/messages/0", "role", json!("king")),
            ("", "max_tokens", json!("many")),
        ],
        "openai" | "xai" => [
            colour(""),
            colour("/tools/0"),
            ("/tools/0", "name", json!(7)),
            ("/input/0", "role", json!("king")),
        ],
        "openrouter" | "lmstudio" => [
            colour(""),
            colour("/tools/0/function"),
            ("/tools/0/function", "name", json!(7)),
            ("/messages/0", "role", json!("king")),
        ],
        "ollama" => [
            colour(""),
            colour("/tools/0/function"),
            ("/messages/0", "content", json!(7)),
            ("/options", "num_ctx", json!("many")),
        ],
        other => panic!("no mistakes are known for {other}"),
    }
}

struct Case {
    provider: &'static str,
    what: String,
    body: Value,
    is_right: bool,
}

/// Every case with what Python says of it, asked once: the SDKs take seconds to load.
static SEEN: LazyLock<Vec<(Case, Vec<String>)>> = LazyLock::new(|| {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let cases = runtime.block_on(cases());
    let asked: Vec<Value> =
        cases.iter().map(|case| json!({ "provider": case.provider, "body": case.body })).collect();
    let said = ask(&Value::from(asked).to_string());
    let said: Vec<Vec<String>> = serde_json::from_slice(&said).unwrap();
    assert_eq!(said.len(), cases.len());
    cases.into_iter().zip(said).collect()
});

/// Where set-up puts the SDKs.
fn python() -> PathBuf {
    let sdks = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools").join("sdks");
    let python = sdks.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    assert!(python.is_file(), "the vendors' SDKs are not in {sdks:?}; run: cargo xtask setup");
    python
}

fn ask(cases: &str) -> Vec<u8> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sdk/check.py");
    let mut child = Command::new(python())
        .args(["-I", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(cases.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "check.py ended with {}", output.status);
    output.stdout
}

async fn cases() -> Vec<Case> {
    let http = Http::new(CONNECT).unwrap();
    let mut runs = Vec::new();
    for (provider, streams) in RECORDED {
        let requests = run(streams.iter().map(|stream| (provider, *stream))).await;
        let last = requests.last().unwrap();
        assert_eq!(own(last, provider), streams.len(), "{provider}");
        assert!(pictures(last) > 0 && last.tools.len() > 25, "{provider}");
        runs.push(requests);
    }
    let mut cases = Vec::new();
    for (at, (provider, _)) in RECORDED.into_iter().enumerate() {
        let [plain, full] = [Options::default(), options()].map(|options| remote(&http, provider, options));
        let mut add = |what: &str, model: &Remote, request: &Request| {
            let body = serde_json::from_str(&model.body(request)).unwrap();
            cases.push(Case { provider, what: what.into(), body, is_right: true });
        };
        let requests = &runs[at];
        add("the first request", &plain, &requests[0]);
        add("the last request", &plain, requests.last().unwrap());
        add("the last request, with every option", &full, requests.last().unwrap());
        add("the last request, after more tools were asked for", &full, &with_more(requests.last().unwrap()));
        for &computer in computers(provider) {
            let model = remote(&http, provider, Options { computer: Some(computer), ..Options::default() });
            let what = format!("the last request, with the vendor's own tool {computer:?}");
            add(&what, &model, requests.last().unwrap());
        }
        // With parallel calls, told in neutral form.
        let other = if provider == "anthropic" { "gemini" } else { "anthropic" };
        let other = RECORDED.iter().position(|(name, _)| *name == other).unwrap();
        add("the last request, after another provider's turns", &plain, runs[other].last().unwrap());
        let right: Value = serde_json::from_str(&full.body(requests.last().unwrap())).unwrap();
        for (place, name, value) in mistakes(provider) {
            let mut body = right.clone();
            body.pointer_mut(place).unwrap()[name] = value.clone();
            cases.push(Case { provider, what: format!("{place}/{name} as {value}"), body, is_right: false });
        }
    }
    cases
}

/// The same, in which the model has asked for a group of tools: where they are deferred, by reference.
fn with_more(request: &Request) -> Request {
    let mut request = request.clone();
    let named = |tool: &&models::ToolSpec| matches!(tool.name.as_str(), "mouseDown" | "mouseUp");
    let brought: Vec<_> = request.later.iter().filter(named).cloned().collect();
    assert_eq!(brought.len(), 2);
    let names: Vec<_> = brought.iter().map(|tool| tool.name.clone()).collect();
    request.tools.extend(brought);
    let id = Some("asked-1".to_owned());
    let call = ProposedCall::new(id.clone(), "useTools", json!({ "groups": ["held"] }));
    let response = json!({ "effect": "notApplicable", "summary": "added", "data": { "tools": names } });
    let answer = ToolAnswer { id, name: "useTools".into(), response, image: None };
    request.messages.push(Message::Assistant(Turn { calls: vec![call], ..Turn::default() }));
    request.messages.push(Message::ToolResults(vec![answer]));
    request
}

/// The vendor's own computer tools, in all their versions.
fn computers(provider: &str) -> &'static [Computer] {
    match provider {
        "anthropic" => {
            &[Computer::AnthropicToolset, Computer::Anthropic20251124, Computer::Anthropic20250124]
        }
        "openai" => &[Computer::OpenAi, Computer::OpenAiPreview],
        "gemini" => &[Computer::Gemini],
        _ => &[],
    }
}

/// All that can be chosen beside them.
fn options() -> Options {
    Options {
        thinking: true,
        search: true,
        defer_tools: true,
        max_output: Some(4_096),
        context: Some(16_384),
        media_resolution: Some(MediaResolution::High),
        computer: None,
    }
}

pub fn remote(http: &Http, provider: &str, options: Options) -> Remote {
    let provider = Provider::named(provider).unwrap().clone();
    Remote::new(http, RemoteOptions { options, ..RemoteOptions::new(provider, "some-model") }).unwrap()
}

/// The requests of a run in which the model says what was recorded of these providers.
pub async fn run(recorded: impl IntoIterator<Item = (&str, &[u8])>) -> Vec<Arc<Request>> {
    let said = recorded.into_iter().map(|(provider, stream)| {
        let (events, end) = decode(Provider::named(provider).unwrap().wire, provider, stream);
        Step::events(events.into_iter().chain([end.unwrap()]).map(Ok).collect())
    });
    let steps: Vec<Step> = said.chain([done()]).collect();
    let turns = steps.len();
    let mut bench = Bench::new(steps).await;
    // Small, for an unoptimised scaler; another picture after each action.
    bench.desktop.edit(|scene| {
        scene.displays[0].bounds.width = 192;
        scene.displays[0].bounds.height = 108;
    });
    bench.desktop.react(|_, scene| scene.colour[0] = scene.colour[0].wrapping_add(9));
    let approval = Some(ApprovalMode::Auto);
    bench.start_with(None, RunOverrides { approval, max_steps: Some(500), ..RunOverrides::default() }).await;
    bench.end().await;
    let requests = bench.model.requests();
    assert_eq!(requests.len(), turns);
    requests
}

/// How many turns go back as their provider wrote them.
pub fn own(request: &Request, provider: &str) -> usize {
    let is_own = |message: &&Message| matches!(message, Message::Assistant(turn) if turn.provider == provider && turn.raw.is_string());
    request.messages.iter().filter(is_own).count()
}

/// Pictures in the answers of a request.
pub fn pictures(request: &Request) -> usize {
    let of = |message: &Message| match message {
        Message::ToolResults(answers) => answers.iter().filter(|one| one.image.is_some()).count(),
        Message::User(_) | Message::Assistant(_) => 0,
    };
    request.messages.iter().map(of).sum()
}

/// What is right must be taken, and what is wrong must be seen: a check that passes everything checks nothing.
fn check(provider: &str) {
    let mut counts = [0, 0];
    for (Case { what, is_right, .. }, said) in SEEN.iter().filter(|(case, _)| case.provider == provider) {
        assert_eq!(said.is_empty(), *is_right, "{provider}: {what}: {said:?}");
        counts[usize::from(*is_right)] += 1;
    }
    assert_eq!(counts, [4, 5 + computers(provider).len()], "{provider}: wrong and right ones");
}

#[test]
fn geminis_sdk_knows_what_gemini_is_asked() {
    check("gemini");
}

#[test]
fn anthropics_sdk_knows_what_anthropic_is_asked() {
    check("anthropic");
}

#[test]
fn openais_sdk_knows_what_openai_is_asked() {
    check("openai");
}

#[test]
fn openais_sdk_knows_what_xai_is_asked() {
    check("xai");
}

#[test]
fn openais_sdk_knows_what_openrouter_is_asked_but_for_its_own() {
    check("openrouter");
}

#[test]
fn openais_sdk_knows_what_a_server_of_chat_completions_is_asked() {
    check("lmstudio");
}

#[test]
fn ollamas_sdk_knows_what_ollama_is_asked() {
    check("ollama");
}
