//! How long a person waits for a session to open in the dashboard: from the press on its line in the list to the frame
//! that shows its newest step. Prints one line of JSON, for `cargo xtask bench app`. The argument is a data folder
//! with one session; measures the program that `MIKI_BIN` names, on a private desktop.

use std::path::PathBuf;

use anyhow::{Context, Result};
use outside::browser::Browser;
use outside::miki::Miki;
use outside::stage::Stage;
use serde_json::json;

const TRIALS: usize = 30;

/// Opened from an empty page, to the second frame after the last entry is in view: the first one has drawn it.
const OPEN: &str = "
    const answer = arguments[arguments.length - 1];
    const began = performance.now();
    document.querySelector('#sessions li button.open').click();
    const look = () => {
        const last = document.querySelector('#steps')?.lastElementChild;
        const frame = document.querySelector('.story').getBoundingClientRect();
        const shown = last && last.getBoundingClientRect().bottom <= frame.bottom + 1;
        if (!shown) return requestAnimationFrame(look);
        requestAnimationFrame(() => requestAnimationFrame(() => answer(performance.now() - began)));
    };
    requestAnimationFrame(look);";

const EMPTY: &str = "return document.querySelectorAll('#steps > li').length === 0";

#[tokio::main]
async fn main() -> Result<()> {
    let home = std::env::args_os().nth(1).map(PathBuf::from).context("name a data folder")?;
    let stage = Stage::full()?;
    let mut miki = Miki::on(&stage, "opening")?.env("MIKI_KEY_GEMINI", "unused");
    miki.home = home;
    let browser = Browser::open(&stage, &miki).await?;
    browser.window("dashboard").await?;
    browser.find("#sessions li button.open").await?;
    let mut times = Vec::with_capacity(TRIALS);
    for _ in 0..TRIALS {
        browser.find("#new-session").await?.click().await?;
        browser.until("an empty page", EMPTY).await?;
        let time = browser.script_async(OPEN, Vec::new()).await?;
        times.push(time.as_f64().context("no time was answered")?);
    }
    println!("{}", json!(times));
    Ok(())
}
