//! Which window may call what: everything that its capability file does not grant is refused before it is looked at.

use std::collections::BTreeSet;

use outside::LONG;
use outside::miki::Miki;
use outside::stage::Stage;
use protocol::command::COMMANDS;
use serde_json::{Value, json};

use crate::browser::Browser;

const INVOKE: &str = "
    const [name, done] = arguments;
    window.__TAURI_INTERNALS__.invoke(name, { args: {} }).then(
        (answer) => done({ answered: answer ?? null }),
        (error) => done({ refused: typeof error === 'string' ? error : JSON.stringify(error) }),
    );
";

/// Commands that a window's capability file grants.
fn granted(window: &str) -> BTreeSet<String> {
    let path = format!("{}/../capabilities/{window}.json", std::env::var("CARGO_MANIFEST_DIR").unwrap());
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let names = file["permissions"].as_array().unwrap().iter().filter_map(Value::as_str);
    names.filter_map(|name| name.strip_prefix("allow-")).map(|name| name.replace('-', "_")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_that_a_window_is_not_granted_is_refused() {
    // bar: C40
    let stage = Stage::full().unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let mut refused = 0;
    for window in ["dashboard", "chat", "overlay"] {
        browser.window(window).await.unwrap();
        let granted = granted(window);
        for command in COMMANDS.iter().filter(|command| !granted.contains(**command)) {
            let answer = browser.client.execute_async(INVOKE, vec![json!(command)]).await.unwrap();
            let said = answer["refused"].as_str().unwrap_or_default();
            assert!(said.contains("not allowed"), "{window} x {command}: {answer}");
            refused += 1;
        }
    }
    browser.window("overlay").await.unwrap();
    let answer = browser.client.execute_async(INVOKE, vec![json!("get_overview")]).await.unwrap();
    assert!(answer["answered"].is_object(), "the overlay needs its overview: {answer}");
    println!("{refused} calls refused");
    assert!(refused > COMMANDS.len(), "only {refused} calls were tried");
    assert_eq!(miki.connect(LONG).unwrap().overview().unwrap().sessions, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_built_page_has_a_strict_policy_and_a_frozen_prototype() {
    // bar: C43
    let stage = Stage::full().unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    browser.window("dashboard").await.unwrap();
    browser.find("button#tab-settings").await.unwrap();
    let frozen = browser.script("return Object.isFrozen(Object.prototype)").await.unwrap();
    assert_eq!(frozen, true);
    // What the policy forbids does not run, and is reported.
    let script = "
        const done = arguments[0];
        window.__ran = [];
        document.addEventListener('securitypolicyviolation', (event) => window.__ran.push(event.effectiveDirective));
        const inline = document.createElement('script');
        inline.textContent = 'window.__inline = true';
        document.body.append(inline);
        const data = document.createElement('script');
        data.src = 'data:text/javascript,window.__data=true';
        // Both are reported in their own time; that there are no more of them is what the answer is not about.
        const told = () => window.__ran.length >= 2
            ? done([window.__inline ?? false, window.__data ?? false, window.__ran.length])
            : requestAnimationFrame(told);
        data.onerror = data.onload = told;
        document.body.append(data);
    ";
    let ran = browser.client.execute_async(script, vec![]).await.unwrap();
    assert_eq!((&ran[0], &ran[1]), (&json!(false), &json!(false)), "{ran}");
    assert!(ran[2].as_u64().unwrap() >= 2, "{ran}");
}
