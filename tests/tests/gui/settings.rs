//! A key typed into the settings window goes to the keychain, and nowhere else.

use outside::miki::Miki;
use outside::stage::Stage;

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
    browser.find("input#key-gemini").await.unwrap().send_keys(KEY).await.unwrap();
    browser.find("button#save-key-gemini").await.unwrap().click().await.unwrap();
    browser.until("the key", &state("inKeychain")).await.unwrap();
    // bar: C75
    let page = browser
        .script("return document.documentElement.outerHTML + document.querySelector('#key-gemini').value")
        .await;
    assert!(!page.unwrap().as_str().unwrap().contains(KEY), "the key is still on the page");
    let status = miki.run(&stage, &["key", "status", "gemini"]).unwrap();
    assert_eq!((status.code(), status.stdout.as_str()), (0, "gemini: in the keychain\n"));
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
