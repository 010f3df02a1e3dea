//! A model that its provider does not know: refused in each vendor's own words, told with what to take in its place, and
//! taken.

use outside::fake_model::{FakeModel, Manner, ScriptMind, Wire};
use outside::miki::{self, Miki};
use outside::stage::Stage;
use protocol::EventBody;
use protocol::event::RunEnd;
use serde_json::json;

/// Who is asked, what each has, and what is offered for a name that it does not have: the near ones, then the fallback.
const OFFERS: [(Wire, &str, &[&str], &[&str]); 7] = [
    (
        Wire::Gemini,
        "gemini/gemini-9.9-flsh",
        &["gemini-9.9-flash", "gemini-3-flash-preview", "imagine"],
        &["gemini/gemini-9.9-flash", "gemini/gemini-3-flash-preview"],
    ),
    (Wire::Anthropic, "anthropic/opus", &["claude-sonnet-5-5", "zeta"], &["anthropic/claude-sonnet-5-5"]),
    (
        Wire::Responses,
        "openai/o9-mini",
        &["gpt-6.1-terra", "o8-mini"],
        &["openai/o8-mini", "openai/gpt-6.1-terra"],
    ),
    (Wire::Xai, "xai/grok-4.8", &["grok-9.9", "imagine"], &["xai/grok-9.9"]),
    (Wire::Chat, "lmstudio/mixtral", &["qwen/qwen3-vl-8b"], &["lmstudio/qwen/qwen3-vl-8b"]),
    (
        Wire::OpenRouter,
        "openrouter/grok-4.8",
        &["google/gemini-3-flash-preview", "x-ai/grok-4.7"],
        &["openrouter/x-ai/grok-4.7", "openrouter/google/gemini-3-flash-preview"],
    ),
    (Wire::Ollama, "ollama/qwen3-vl", &["qwen3-vl:8b"], &["ollama/qwen3-vl:8b"]),
];

#[test]
fn an_unknown_model_is_refused_with_others_to_take_and_one_of_them_does_the_work() {
    let stage = Stage::plain().unwrap();
    let model = FakeModel::with(ScriptMind::new([]), Manner::default()).unwrap();
    let mut miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    for provider in ["ANTHROPIC", "OPENAI", "XAI", "OPENROUTER"] {
        miki = miki.env(&format!("MIKI_KEY_{provider}"), "demo");
    }
    for (wire, wished, has, offered) in OFFERS {
        model.knows_only(has);
        let url = model.base_url(wire);
        let run = |id: &str, more: &[&str]| {
            let line = [&["run", "rest", "--model", id, "--base-url", &url], more].concat();
            miki.run(&stage, &line).unwrap()
        };
        let done = run(wished, &["--json"]);
        let events = miki::events(&done.stdout).unwrap();
        assert_eq!(done.code(), 1, "{wire:?}: {}", done.stderr);
        let failures: Vec<_> = events
            .iter()
            .filter_map(|event| match &event.body {
                EventBody::TurnFailed { suggestions, hint, retry, .. } => Some((suggestions, hint, *retry)),
                _ => None,
            })
            .collect();
        let [(suggestions, Some(hint), false)] = failures[..] else { panic!("{wire:?}: {failures:?}") };
        let names: Vec<&str> = suggestions.iter().map(|model| model.0.as_str()).collect();
        assert_eq!(names, offered, "{wire:?}");
        assert!(hint.contains(&names.join(", ")), "{wire:?}: {hint}");
        assert!(matches!(miki::end(&events), Some(RunEnd::Failed { .. })), "{wire:?}");

        // To a person, in words that can be copied.
        let told = run(wished, &[]);
        let tries: Vec<String> = offered.iter().map(|id| format!("  try: --model {id}\n")).collect();
        assert!(told.stdout.contains(&tries.concat()), "{wire:?}: {}", told.stdout);
        let tested = miki.run(&stage, &["model", "test", wished, "--base-url", &url]).unwrap();
        let tries: Vec<String> = offered.iter().map(|id| format!("  try: {id}\n")).collect();
        assert!(tested.stderr.ends_with(&tries.concat()), "{wire:?}: {}", tested.stderr);
        assert_eq!(tested.code(), 1, "{wire:?}");

        let taken = run(offered[0], &[]);
        assert_eq!(taken.code(), 0, "{wire:?}: {} {}", taken.stdout, taken.stderr);
    }
}
