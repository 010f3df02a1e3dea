//! Work beyond the screen in the dashboard: what a run changed is said and taken back, what was found has its cards, a
//! session's folder is chosen in the system's dialog, and services' keys are kept as providers' are.

use std::fs;
use std::time::Duration;

use outside::fake_model::{FakeModel, MindTurn, ScriptMind};
use outside::miki::Miki;
use outside::stage::Stage;
use outside::{LONG, wait_for};
use protocol::command::{AnyCommand, RunOverrides, StartRun, StartedRun, UpdateSettings};
use protocol::settings::SettingsPatch;
use serde_json::{Value, json};

use crate::browser::Browser;

const PASSWORD: &str = "canary-calendar-7";

#[tokio::test(flavor = "multi_thread")]
async fn a_run_says_what_of_it_goes_back_and_what_stays_and_one_button_takes_it_back() {
    let stage = Stage::full().unwrap();
    let call = |tool: &str, arguments: Value| MindTurn::call("", tool, arguments);
    let model = FakeModel::start(ScriptMind::new([
        call("useTools", json!({"groups": ["files", "terminal"]})),
        call("writeFile", json!({"path": "a.txt", "text": "one\n"})),
        call("runCommand", json!({"command": "touch b.txt && printf '\\033[31mred\\033[0m\\n'"})),
        call("editFile", json!({"path": "a.txt", "edits": [{"find": "one", "replace": "two"}]})),
    ]))
    .unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "auto" })).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    browser.window("dashboard").await.unwrap();
    browser.find("textarea#goal").await.unwrap();
    let mut client = miki.connect(LONG).unwrap();
    let start = StartRun { goal: "write it".into(), session: None, overrides: RunOverrides::default() };
    let _: StartedRun = serde_json::from_value(client.call(start.into()).unwrap()).unwrap();
    browser.find(".way-back summary").await.unwrap().click().await.unwrap();
    let said = browser.find(".way-back").await.unwrap().text().await.unwrap();
    assert!(said.contains("changes: 1; acts that stay: 1"), "{said}");
    assert!(said.contains("File a.txt") && said.contains("runCommand touch b.txt"), "{said}");
    let coloured = "return document.querySelector('pre.terminal .fg-1')?.textContent === 'red'";
    browser.until("the command's colour", coloured).await.unwrap();
    let differs = "return document.querySelector('.diff .added')?.textContent.startsWith('+')";
    browser.until("the file's difference", differs).await.unwrap();
    let folder = stage.path("home").join("Miki");
    assert_eq!(fs::read_to_string(folder.join("a.txt")).unwrap(), "two\n");
    let gone = "return document.querySelector('.way-back .undo') === null
        && document.querySelectorAll('.step .undone').length === 2";
    browser.click_until(".way-back .undo button", "the run to be taken back", gone).await.unwrap();
    assert!(!folder.join("a.txt").exists() && folder.join("b.txt").exists(), "what a command made stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_chosen_in_a_dialog_and_one_of_gits_own_is_refused_with_the_reason() {
    let stage = Stage::full().unwrap();
    let home = stage.path("home");
    for folder in ["Trip", "proj/.git"] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    let call = |tool: &str, arguments: Value| MindTurn::call("", tool, arguments);
    let model = FakeModel::start(ScriptMind::new([
        call("useTools", json!({"groups": ["files"]})),
        call("writeFile", json!({"path": "a.txt", "text": "one\n"})),
    ]))
    .unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "auto" })).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    browser.window("dashboard").await.unwrap();
    let (screen, user) = (stage.screen().unwrap(), stage.user().unwrap());
    let mut client = miki.connect(LONG).unwrap();
    // The dialog begins in the settings' folder, and takes that where nothing is selected in it.
    let mut set = |folder: &str| {
        let patch = SettingsPatch(json!({ "space": folder }).as_object().unwrap().clone());
        client.call(AnyCommand::UpdateSettings(UpdateSettings { patch })).unwrap();
    };
    let choose = async || {
        browser.find("button#folder").await.unwrap().click().await.unwrap();
        let title = "Folder to work in";
        let dialog = screen.wait_for_window(title, LONG, |found| found == title).unwrap();
        screen.activate(&dialog).unwrap();
        wait_for("the dialog's focus", LONG, || (screen.active().ok()? == dialog.id).then_some(())).unwrap();
        let is_gone = || {
            let windows = screen.windows().ok()?;
            windows.iter().all(|window| !window.shown || window.title != title).then_some(())
        };
        wait_for("the dialog to go", LONG, || {
            user.chord(&["alt", "h"]).ok()?;
            wait_for("it", Duration::from_secs(2), is_gone).ok()
        })
        .unwrap();
    };
    set("~/proj/.git");
    choose().await;
    let refused = "return document.querySelector('.error-line p')?.textContent.includes('.git or .vscode')";
    browser.until("the reason", refused).await.unwrap();
    set("~/Trip");
    choose().await;
    set("~/Miki");
    let chosen = "return document.querySelector('button#folder')?.title.includes('~/Trip')";
    browser.until("the folder", chosen).await.unwrap();
    let field = browser.find("textarea#goal").await.unwrap();
    field.send_keys("write it\u{e007}").await.unwrap();
    let ended = "return document.querySelector('#steps .end') !== null";
    browser.until("the end", ended).await.unwrap();
    assert_eq!(fs::read_to_string(home.join("Trip/a.txt")).unwrap(), "one\n");
    // The session keeps it; a new one begins in the settings' folder.
    browser.until("the session's folder", chosen).await.unwrap();
    browser.find("button#new-session").await.unwrap().click().await.unwrap();
    let usual = "return document.querySelector('button#folder')?.title.includes('~/Miki')";
    browser.until("the usual folder", usual).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_calendar_s_password_is_kept_for_its_server_alone_and_deleted_again() {
    let stage = Stage::full().unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    browser.window("dashboard").await.unwrap();
    browser.find("button#tab-settings").await.unwrap().click().await.unwrap();
    for service in ["brave-search", "google-search", "caldav"] {
        browser.find(&format!("input#key-{service}")).await.unwrap();
    }
    let field = browser.find("input#key-caldav").await.unwrap();
    field.send_keys(PASSWORD).await.unwrap();
    browser.find("button#save-key-caldav").await.unwrap().click().await.unwrap();
    let refused =
        "return document.querySelector('#about-key-caldav.wrong')?.textContent.includes('calendar server')";
    browser.until("the objection", refused).await.unwrap();
    let address = "
        const field = document.querySelector('#set-calendarUrl');
        field.value = 'https://dav.example/';
        field.dispatchEvent(new Event('change', { bubbles: true }));";
    browser.script(address).await.unwrap();
    let is_saved = "return document.querySelector('#about-calendarUrl .saved') !== null";
    browser.until("the address", is_saved).await.unwrap();
    let status = || miki.run(&stage, &["key", "status", "caldav"]).unwrap().stdout;
    let state = |state: &str| {
        format!("return document.querySelector('#key-state-caldav')?.dataset.state === '{state}'")
    };
    browser.find("button#save-key-caldav").await.unwrap().click().await.unwrap();
    browser.until("the password", &state("inKeychain")).await.unwrap();
    assert_eq!(status(), "caldav: in the keychain, for https://dav.example only\n");
    let page = browser.script("return document.documentElement.outerHTML").await.unwrap();
    assert!(!page.as_str().unwrap().contains(PASSWORD));
    browser.find("button#delete-key-caldav").await.unwrap().click().await.unwrap();
    browser.until("no password", &state("missing")).await.unwrap();
}
