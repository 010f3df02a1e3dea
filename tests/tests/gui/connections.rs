//! Servers of the Model Context Protocol in the settings: what they run, how they are, what their tools may do.

use std::path::Path;

use outside::miki::Miki;
use outside::stage::Stage;
use outside::{LONG, wait_for};
use serde_json::Value;

use crate::browser::Browser;

/// Where set-up puts the protocol's own servers.
fn modules() -> String {
    let modules = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools/mcp-servers/node_modules");
    assert!(modules.exists(), "{} is missing; run: cargo xtask setup", modules.display());
    modules.to_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_shown_tested_and_its_tools_are_weighed_in_the_settings() {
    let stage = Stage::full().unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    let modules = modules();
    let server = format!("{modules}/@modelcontextprotocol/server-everything/dist/index.js");
    let added = [&["mcp", "add", "pond", "--yes", "--read", &modules][..], &["--", "node", &server, "stdio"]];
    let added = miki.run(&stage, &added.concat()).unwrap();
    assert_eq!(added.code(), 0, "{}{}", added.stdout, added.stderr);

    let browser = Browser::open(&stage, &miki).await.unwrap();
    browser.window("dashboard").await.unwrap();
    browser.find("button#tab-settings").await.unwrap().click().await.unwrap();
    let shown = format!(
        "const server = document.querySelector('.server');
        return server?.querySelector('.runs').textContent.includes('node {server} stdio')
            && server.querySelector('.server-state').textContent === 'Started when it is needed'"
    );
    browser.until("the server, whole", &shown).await.unwrap();
    let state = |state: &str| {
        format!("return document.querySelector('.server .server-state')?.textContent === '{state}'")
    };
    browser.find(".server .buttons button").await.unwrap().click().await.unwrap();
    browser.until("the connection", &state("Connected")).await.unwrap();

    // One of its tools only looks, says its user.
    browser.find(".server summary").await.unwrap().click().await.unwrap();
    let asked_each_time = "const choice = document.querySelector('.tool select[aria-label=\"get-sum\"]');
        return choice?.value === 'anything'";
    browser.until("the tools", asked_each_time).await.unwrap();
    let choose = "const choice = document.querySelector('.tool select[aria-label=\"get-sum\"]');
        choice.value = 'looks';
        choice.dispatchEvent(new Event('change', { bubbles: true }));";
    browser.script(choose).await.unwrap();
    let kept = |pointer: &str, value: &Value| {
        let text = std::fs::read_to_string(miki.home.join("settings.json")).ok()?;
        let kept: Value = serde_json::from_str(&text).ok()?;
        (kept.pointer(pointer) == Some(value)).then_some(())
    };
    let does = "/mcpServers/pond/tools/get-sum/does";
    wait_for("what it does in the settings", LONG, || kept(does, &Value::from("looks"))).unwrap();

    // Off is off, and forgotten is forgotten.
    let press = |which: usize| {
        format!(
            "const button = document.querySelectorAll('.server .buttons button')[{which}];
            if (!button || button.disabled) return false;
            button.click();
            return true"
        )
    };
    browser.until("the switch", &press(1)).await.unwrap();
    browser.until("the server, off", &state("Off")).await.unwrap();
    browser.until("the way out", &press(2)).await.unwrap();
    browser.until("no server", "return document.querySelector('.server') === null").await.unwrap();
    wait_for("no server in the settings", LONG, || kept("/mcpServers", &serde_json::json!({}))).unwrap();
}
