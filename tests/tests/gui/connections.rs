//! The Model Context Protocol in the settings: servers, what they run, how they are, what their tools may do; and the
//! programs that use Miki.

use std::path::Path;

use outside::miki::Miki;
use outside::stage::Stage;
use outside::{LONG, wait_for};
use serde_json::Value;

use crate::browser::Browser;

/// Where set-up puts it.
fn tool(path: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools").join(path);
    assert!(path.exists(), "{} is missing; run: cargo xtask setup", path.display());
    path.to_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_shown_tested_and_its_tools_are_weighed_in_the_settings() {
    let stage = Stage::full().unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    let modules = tool("mcp-servers/node_modules");
    let server = format!("{modules}/@modelcontextprotocol/server-everything/dist/index.js");
    let added = [&["mcp", "add", "pond", "--yes", "--read", &modules][..], &["--", "node", &server, "stdio"]];
    let add = || {
        let added = miki.run(&stage, &added.concat()).unwrap();
        assert_eq!(added.code(), 0, "{}{}", added.stdout, added.stderr);
    };
    add();

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

    // A prompt of it, filled in, is a goal that its user reads before it is one.
    let fill = "const row = [...document.querySelectorAll('.server .tool')].find((row) => row.querySelector('.blank'));
        if (!row) return false;
        row.closest('details').open = true;
        const button = row.querySelector('button');
        const city = row.querySelector('.blank input');
        if (button.disabled || !city.required) return false;
        city.value = 'Rome';
        city.dispatchEvent(new Event('input', { bubbles: true }));
        button.click();
        return true";
    browser.until("the prompt, filled in", fill).await.unwrap();
    let goal = "return document.querySelector('textarea#goal')?.value === \"What's weather in Rome?\"
        && document.querySelector('#steps .goal-said') === null";
    browser.until("the goal, not begun", goal).await.unwrap();
    browser.find("button#tab-settings").await.unwrap().click().await.unwrap();

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
    // The first one, connected on the command line while its user looks.
    add();
    browser.until("it again", "return document.querySelector('.server') !== null").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_uses_miki_is_named_in_the_settings_and_stopped_there() {
    let stage = Stage::full().unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    browser.window("dashboard").await.unwrap();
    browser.find("button#tab-settings").await.unwrap().click().await.unwrap();
    let nobody = "const none = document.querySelector('.guests p');
        return document.querySelector('.guest') === null && none !== null
            && none.textContent.includes('No other program uses Miki now')
            && none.textContent.includes('miki mcp install CLIENT')";
    browser.until("that nobody is there", nobody).await.unwrap();

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/peers/stays.py");
    let mut command = stage.command(tool("mcp/bin/python"));
    command.arg("-I").args([&script, &miki.bin, &miki.home]);
    let mut program =
        stage.launch("program", "the protocol's SDK (run: cargo xtask setup)", command).unwrap();
    let shown = "const guest = document.querySelector('.guests .guest');
        return guest?.querySelector('strong').textContent === 'Pond Desktop'
            && guest.textContent.includes('Sees and uses the desktop')
            && guest.textContent.includes('has started its connection itself')
            && / since|^since/.test(guest.querySelector('.faint').textContent)";
    browser.until("the program by its name", shown).await.unwrap();
    let listed = miki.run(&stage, &["ps"]).unwrap();
    assert!(listed.stdout.contains("Pond Desktop (MCP)"), "{}{}", listed.stdout, listed.stderr);

    browser.click(".guests .guest button[aria-label='Stop Pond Desktop']").await.unwrap();
    browser.until("that nobody is there any more", nobody).await.unwrap();
    assert_eq!(program.wait(LONG).unwrap().code(), Some(0), "{}", stage.log("program"));
    let told = stage.log("program");
    assert!(told.contains("stopped"), "{told}");
    assert_eq!(miki.run(&stage, &["ps"]).unwrap().stdout, "nothing is running\n");
}
