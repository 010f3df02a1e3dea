//! What the stage shows while it is measured: a browser with a page of 2,000 elements, beside it an application with
//! every kind of control, and free desktop below both.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;

use anyhow::{Context, Result};
use outside::stage::Stage;
use outside::{LONG, Process, wait_for};

use super::contestant::Contestant;

/// As the accessibility bus has them.
pub const GTK: &str = "gtk3-widget-factory";
pub const BROWSER: &str = "chromium";

/// Rows of the page, each of nine elements, three of them interactive.
const ROWS: usize = 222;

pub struct Scene {
    _running: [Process; 2],
    /// Where the browser listens.
    pub port: u16,
}

impl Scene {
    /// # Errors
    /// Names the program that is missing or shows no window.
    pub fn open(stage: &Stage) -> Result<Self> {
        let address = serve(html())?;
        let profile = stage.path("profile");
        let mut command = stage.command("chromium");
        command.args([
            "--no-sandbox",
            "--no-first-run",
            "--no-default-browser-check",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-default-apps",
            "--password-store=basic",
            "--disable-gpu",
            "--force-renderer-accessibility",
            "--window-position=0,0",
            "--window-size=1000,700",
            "--remote-debugging-port=0",
        ]);
        command.arg(format!("--user-data-dir={}", profile.display()));
        command.arg(address);
        let browser = stage.launch("chromium", "chromium", command)?;
        let widgets = stage.launch(GTK, "gtk-3-examples", stage.command(GTK))?;
        let screen = stage.screen()?;
        screen.wait_for_window("the browser's window", LONG, |title| title.contains("Many"))?;
        let window = screen.wait_for_window("the widgets", LONG, |title| title == GTK)?;
        screen.place(&window, 1010, 30, 880, 880)?;
        let port = wait_for("the browser's debugging port", LONG, || port_in(&profile))?;
        Ok(Self { _running: [browser, widgets], port })
    }

    /// Waits until both show all they have, which ours is asked.
    ///
    /// # Errors
    /// Where they do not, for a minute.
    pub fn settle(&self, ours: &mut Contestant) -> Result<()> {
        for (app, least) in [(GTK, 100), (BROWSER, ROWS * 3)] {
            let mut last = None;
            let settled = wait_for(&format!("all elements of {app}"), LONG, || {
                let now = ours.ask(&format!("elements {app} all")).map(|answer| answer.count);
                let same = matches!((&last, &now), (Some(Ok(last)), Ok(now)) if last == now && *now >= least);
                last = Some(now);
                same.then_some(())
            });
            settled.with_context(|| format!("ours said last: {last:?}"))?;
        }
        Ok(())
    }
}

/// The address of a page, which is answered to whatever is asked there: a page of a file would not be looked at.
fn serve(page: String) -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no port for the page")?;
    let address = format!("http://{}/", listener.local_addr()?);
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // Each on its own: a browser opens connections that it asks nothing on.
            let answer = answer.clone();
            std::thread::spawn(move || {
                let mut lines = BufReader::new(&stream).lines();
                while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                let _ = stream.write_all(answer.as_bytes()); // one that was closed wants none
            });
        }
    });
    Ok(address)
}

/// The file in its profile says it.
fn port_in(profile: &Path) -> Option<u16> {
    std::fs::read_to_string(profile.join("DevToolsActivePort")).ok()?.lines().next()?.parse().ok()
}

fn html() -> String {
    let row = |n: usize| {
        format!(
            "<div class=row><span>Row {n}</span><p>some <b>words</b> of text</p><i>x</i><u>y</u>\
             <a href='#{n}'>Link {n}</a><button>Do {n}</button><input aria-label='Field {n}' value={n}></div>"
        )
    };
    let rows: String = (0..ROWS).map(row).collect();
    let style = "<style>.row{display:inline-block;width:150px;vertical-align:top}input{width:60px}</style>";
    format!("<!doctype html><meta charset=utf-8><title>Many</title>{style}{rows}<button>Last</button>")
}
