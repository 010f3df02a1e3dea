//! A server of the user's own, on each wire that one may speak: the fake is as strict there as the vendors are.

use outside::fake_model::{FakeModel, Manner, ScriptMind, Wire};
use outside::miki::Miki;
use outside::stage::Stage;
use serde_json::json;

const KEY: &str = "canary-Key-123";

/// What the setting `customWire` may be, with a model of each; one that thinks where thoughts are asked for.
const WIRES: [(Wire, &str, &str); 5] = [
    (Wire::Chat, "openai-chat", "custom/some-model"),
    (Wire::Responses, "openai-responses", "custom/gpt-6.1-terra"),
    (Wire::Anthropic, "anthropic", "custom/claude-haiku-5-5"),
    (Wire::Gemini, "gemini", "custom/gemini-3-flash-preview"),
    (Wire::Ollama, "ollama", "custom/some-model"),
];

#[test]
fn a_custom_server_is_spoken_to_on_each_of_its_wires() {
    let stage = Stage::plain().unwrap();
    for (wire, name, id) in WIRES {
        let strict = Manner { key: Some(KEY.into()), ..Manner::default() };
        let model = FakeModel::with(ScriptMind::new([]), strict).unwrap();
        let settings = json!({
            "baseUrls": { "custom": model.base_url(wire) }, "customWire": name, "model": id,
            "customHeaders": { "x-team": "mine" },
        });
        let miki = Miki::with_model(&stage, name, "http://127.0.0.1:1", settings).unwrap();
        let done = miki.env("MIKI_KEY_CUSTOM", KEY).run(&stage, &["run", "be done"]).unwrap();
        let asked = model.requests();
        assert_eq!(done.code(), 0, "{name}: {} {} {asked:?}", done.stdout, done.stderr);
        assert_eq!(model.turns().len(), 1, "{name}: {asked:?}");
    }
}

#[test]
fn the_models_of_a_custom_server_and_of_ollama_are_listed_with_what_they_can_do() {
    let stage = Stage::plain().unwrap();
    let model = FakeModel::start(ScriptMind::new([])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    for (provider, wire, line) in [
        ("custom", Wire::Chat, "custom/some-model"),
        ("ollama", Wire::Ollama, "ollama/qwen3-vl:8b  262144 tokens, tools, pictures, thinking"),
    ] {
        let url = model.base_url(wire);
        let list = ["model", "list", provider, "--base-url", &url];
        let listed = miki.run(&stage, &list).unwrap();
        assert_eq!((listed.code(), listed.stdout.trim()), (0, line), "{}", listed.stderr);
    }
    let unset = miki.run(&stage, &["model", "list", "custom"]).unwrap();
    assert_eq!(unset.code(), 1);
    assert!(unset.stderr.contains("--base-url"), "{}", unset.stderr);
}
