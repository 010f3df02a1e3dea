//! A key typed into the settings window goes to the keychain, and nowhere else.

use outside::fake_model::{FakeModel, MindTurn, ScriptMind};
use outside::miki::Miki;
use outside::stage::Stage;
use outside::{LONG, wait_for};
use serde_json::json;

use crate::browser::Browser;

const KEY: &str = "AIza-canary-typed-42";

#[tokio::test(flavor = "multi_thread")]
async fn a_key_saved_in_the_settings_is_in_the_keychain() {
    let stage = Stage::full().unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    browser.window("dashboard").await.unwrap();
    browser.find("button#tab-settings").await.unwrap().click().await.unwrap();
    let state = |state: &str| {
        format!("return document.querySelector('#key-state-gemini')?.dataset.state === '{state}'")
    };
    browser.until("no key", &state("missing")).await.unwrap();
    // What cannot be kept is not lost.
    let field = browser.find("input#key-gemini").await.unwrap();
    field.send_keys("AIza with blanks").await.unwrap();
    browser.find("button#save-key-gemini").await.unwrap().click().await.unwrap();
    let refused =
        "return document.querySelector('#about-key-gemini.wrong')?.textContent.includes('still in the field')
        && document.querySelector('#key-gemini').value === 'AIza with blanks'";
    browser.until("the objection", refused).await.unwrap();
    field.clear().await.unwrap();
    field.send_keys(KEY).await.unwrap();
    browser.find("button#save-key-gemini").await.unwrap().click().await.unwrap();
    browser.until("the key", &state("inKeychain")).await.unwrap();
    // bar: C75
    let page = browser
        .script("return document.documentElement.outerHTML + document.querySelector('#key-gemini').value")
        .await;
    assert!(!page.unwrap().as_str().unwrap().contains(KEY), "the key is still on the page");
    let status = miki.run(&stage, &["key", "status", "gemini"]).unwrap();
    assert_eq!((status.code(), status.stdout.as_str()), (0, "gemini: in the keychain\n"));

    // It goes to another address where its user lets it, here, and not before.
    let address = "
        const field = document.querySelector('#set-base-url');
        field.value = 'https://there.example/v1';
        field.dispatchEvent(new Event('change', { bubbles: true }));";
    browser.script(address).await.unwrap();
    let told = browser.find("#key-elsewhere-gemini").await.unwrap().text().await.unwrap();
    for place in ["https://generativelanguage.googleapis.com", "https://there.example"] {
        assert!(told.contains(place), "{told}");
    }
    let status = || miki.run(&stage, &["key", "status", "gemini"]).unwrap().stdout;
    assert_eq!(status(), "gemini: in the keychain\n");
    browser.find("button#move-key-gemini").await.unwrap().click().await.unwrap();
    let moved = "return document.querySelector('#key-elsewhere-gemini') === null";
    browser.until("the key to be moved", moved).await.unwrap();
    assert_eq!(status(), "gemini: in the keychain, for https://there.example only\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_key_the_app_opens_on_the_settings_and_says_what_is_missing() {
    let stage = Stage::full().unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    browser.window("dashboard").await.unwrap();
    let on_settings = "return document.querySelector('#tab-settings')?.getAttribute('aria-selected') === 'true'
        && document.querySelector('.first-run') !== null && document.querySelector('input#key-gemini') !== null";
    browser.until("the settings", on_settings).await.unwrap();
    browser.find("input#key-gemini").await.unwrap().send_keys(KEY).await.unwrap();
    browser.find("button#save-key-gemini").await.unwrap().click().await.unwrap();
    browser.until("nothing missing", "return document.querySelector('.first-run') === null").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_picked_from_its_providers_list_and_tried_out() {
    let stage = Stage::full().unwrap();
    let seen = MindTurn::call("", "report", json!({ "colour": "red" }));
    let model = FakeModel::start(ScriptMind::new([seen])).unwrap();
    let settings = json!({
        "model": "gemini/gemini-3.8-flash",
        "grants": [{ "tool": "type", "app": "Mousepad" }, { "tool": "click", "app": "Mousepad" }],
    });
    let miki = Miki::with_model(&stage, "miki", &model.url(), settings).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    browser.window("dashboard").await.unwrap();
    browser.find("button#tab-settings").await.unwrap().click().await.unwrap();
    // What was allowed for longer is listed, and taken back.
    browser.find(".grant button").await.unwrap().click().await.unwrap();
    let one_is_left = "const grants = [...document.querySelectorAll('.grant')];
        return grants.length === 1 && grants[0].textContent.includes('click in Mousepad from now on')";
    browser.until("one grant", one_is_left).await.unwrap();
    let kept = || {
        let text = std::fs::read_to_string(miki.home.join("settings.json")).ok()?;
        let kept: serde_json::Value = serde_json::from_str(&text).ok()?;
        (kept["grants"] == json!([{ "tool": "click", "app": "Mousepad" }])).then_some(())
    };
    wait_for("the settings file", LONG, kept).unwrap();
    // What is known without asking: another provider's models, with their prices.
    let choose = "
        const list = document.querySelector('#model-provider');
        if (!list) return false;
        list.value = 'anthropic';
        list.dispatchEvent(new Event('change', { bubbles: true }));
        return true";
    browser.until("the providers", choose).await.unwrap();
    let priced = "return document.querySelector('button.model[data-model=\"anthropic/claude-haiku-5-5\"]')
        ?.textContent.includes('$0.1 / $0.5') === true";
    let filter = |words: &str| {
        format!(
            "
            const field = document.querySelector('#filter-models');
            field.value = '{words}';
            field.dispatchEvent(new Event('input', {{ bubbles: true }}))"
        )
    };
    browser.script(&filter("haiku 5")).await.unwrap();
    browser.until("the known models", priced).await.unwrap();
    browser.script(&filter("")).await.unwrap();
    // What the provider says.
    browser.script(&choose.replace("'anthropic'", "'gemini'")).await.unwrap();
    browser.find("button#ask-provider").await.unwrap().click().await.unwrap();
    let asked = "return document.querySelectorAll('button.model').length === 1";
    browser.until("the provider's list", asked).await.unwrap();
    let pick = "button.model[data-model='gemini/gemini-3-flash-preview']";
    browser.find(pick).await.unwrap().click().await.unwrap();
    let set = "return document.querySelector('#set-model').value === 'gemini/gemini-3-flash-preview'
        && document.querySelector('button.model').getAttribute('aria-pressed') === 'true'";
    browser.until("the choice", set).await.unwrap();
    // Its vendor's tools, for this model only.
    let tools = "input#set-vendor-tools";
    browser.find(tools).await.unwrap().click().await.unwrap();
    let on = |of: &str| format!("return document.querySelector('{tools}').checked === {of}");
    browser.until("the switch", &on("true")).await.unwrap();
    let set_model = |id: &str| {
        format!(
            "
            const field = document.querySelector('#set-model');
            field.value = '{id}';
            field.dispatchEvent(new Event('change', {{ bubbles: true }}));"
        )
    };
    browser.script(&set_model("anthropic/claude-haiku-5-5")).await.unwrap();
    browser.until("the other model's", &on("false")).await.unwrap();
    browser.script(&set_model("gemini/gemini-3-flash-preview")).await.unwrap();
    browser.until("the first model's", &on("true")).await.unwrap();
    // What belongs to one provider is shown with that one.
    let shown = |there: &str, gone: &str| {
        format!(
            "return document.querySelector('#set-{there}') !== null && document.querySelector('#set-{gone}') === null"
        )
    };
    browser.until("Gemini's own", &shown("mediaResolution", "ollamaContext")).await.unwrap();
    browser.script(&choose.replace("'anthropic'", "'ollama'")).await.unwrap();
    browser.until("Ollama's own", &shown("ollamaContext", "mediaResolution")).await.unwrap();
    browser.script(&choose.replace("'anthropic'", "'custom'")).await.unwrap();
    browser.until("a custom server's", &shown("customKeyHeader", "mediaResolution")).await.unwrap();
    let wire = choose.replace("'anthropic'", "'gemini'").replace("#model-provider", "#set-customWire");
    browser.script(&wire).await.unwrap();
    browser.until("that of its wire", &shown("mediaResolution", "geminiApiVersion")).await.unwrap();
    // A try, on the user's account.
    browser.find("button#test-model").await.unwrap().click().await.unwrap();
    let tried = "const said = document.querySelector('#trial').textContent;
        return said.includes('tools work') && said.includes('pictures work') && said.includes('$0.0')";
    browser.until("the trial", tried).await.unwrap();
    let bad = "
        const field = document.querySelector('#set-base-url');
        field.value = 'http://example.org';
        field.dispatchEvent(new Event('change', { bubbles: true }));";
    browser.script(bad).await.unwrap();
    let refused = "return [...document.querySelectorAll('.wrong')].some((said) => said.textContent.includes('unencrypted'))";
    browser.until("the objection", refused).await.unwrap();
}
