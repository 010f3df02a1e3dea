//! An application under way, and what it says of itself.

use std::io::Write;
use std::process::{ChildStdin, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::{App, Toolkit};
use crate::patience::{LONG, wait_for};
use crate::process::Process;
use crate::stage::{Screen, Stage, Window};

/// A person would call it frozen after that.
const ANSWERS: Duration = Duration::from_secs(5);
/// What an application takes back, it takes back sooner than that after the last thing that happened.
const REST: Duration = Duration::from_millis(450);

/// Bytes of a PNG in which there is more than a background: the office's window comes long before what is in it.
const DRAWN: usize = 20_000;

pub struct Running {
    pub app: App,
    pub process: Process,
    input: Option<ChildStdin>,
    log: String,
    /// Lines of the log that belong to what was before.
    read: usize,
    asked: u32,
}

impl Running {
    /// Starts it and waits for its window; ours is fresh after a [`Running::reset`] alone.
    ///
    /// # Errors
    /// Where it is missing or shows no window.
    pub fn start(app: App, stage: &Stage, screen: &Screen, number: u32) -> Result<Self> {
        let log = format!("{app:?}-{number}");
        let mut command = app.command(stage)?;
        if app.is_ours() {
            command.stdin(Stdio::piped());
        }
        let mut process = stage.launch(&log, app.name(), command)?;
        let input = process.child().stdin.take();
        let mut running = Self { app, process, input, log, read: 0, asked: 0 };
        if app.is_ours() {
            running.reset(stage)?;
        }
        let window = running.window(screen).with_context(|| stage.log(&running.log))?;
        screen.activate(&window)?;
        if app.toolkit() == Toolkit::LibreOffice {
            let drawn = || screen.png_of(window.x, window.y, window.width, window.height).ok();
            wait_for("what is in the window", LONG, || (drawn()?.len() > DRAWN).then_some(()))?;
            wait_for("its loop", LONG, || running.is_alive(stage, screen).ok().filter(|alive| *alive))?;
        }
        Ok(running)
    }

    /// Its main window.
    ///
    /// # Errors
    /// Lists the windows that are there instead.
    pub fn window(&self, screen: &Screen) -> Result<Window> {
        screen.wait_for_window(self.app.name(), LONG, |title| {
            title.to_lowercase().contains(&self.app.title().to_lowercase())
        })
    }

    /// Makes all of its widgets anew.
    ///
    /// # Errors
    /// Where it does not come up again.
    pub fn reset(&mut self, stage: &Stage) -> Result<()> {
        self.read = self.lines(stage).len();
        self.tell("reset")?;
        self.wait_for_line(stage, "ready=", LONG)?;
        self.read = self.lines(stage).len();
        Ok(())
    }

    /// One line on its input.
    ///
    /// # Errors
    /// Where it has none, or has ended.
    pub fn tell(&mut self, command: &str) -> Result<()> {
        let input = self.input.as_mut().context("it has no input")?;
        writeln!(input, "{command}")?;
        input.flush()?;
        Ok(())
    }

    /// What happened since the last reset: keys and values.
    pub fn happened(&self, stage: &Stage) -> Vec<(String, String)> {
        let lines = self.lines(stage);
        let new = lines.iter().skip(self.read);
        new.filter_map(|line| line.split_once('='))
            .filter(|(key, _)| !["pong", "ready"].contains(key))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    }

    /// Waits until `enough` of what happened, or until nothing has happened for as long as `bound`; then until nothing
    /// more comes, since what comes late may take it back.
    pub fn rest(&self, stage: &Stage, bound: Duration, enough: impl Fn(&[(String, String)]) -> bool) {
        let _ = wait_for("what is to happen", bound, || enough(&self.happened(stage)).then_some(()));
        let (mut seen, mut since) = (self.lines(stage).len(), Instant::now());
        let _ = wait_for("rest", LONG, || {
            let now = self.lines(stage).len();
            if now != seen {
                (seen, since) = (now, Instant::now());
            }
            (since.elapsed() >= REST).then_some(())
        });
    }

    /// Whether it answers a person still: on its input, by its own loop, or as a window manager asks.
    ///
    /// # Errors
    /// Where the display is gone.
    pub fn is_alive(&mut self, stage: &Stage, screen: &Screen) -> Result<bool> {
        if self.process.has_ended() {
            return Ok(false);
        }
        // A dialog of a page holds its scripts back, and nothing else.
        if self.app.is_ours() && !self.app.is_browser() {
            self.asked += 1;
            let asked = self.asked;
            self.tell(&format!("ping {asked}"))?;
            return Ok(self.wait_for_line(stage, &format!("pong={asked}"), ANSWERS).is_ok());
        }
        // Whatever their titles are by now.
        let its =
            |window: &Window| window.shown && window.pid.is_some_and(|pid| self.process.has_started(pid));
        for window in screen.windows()?.iter().filter(|window| its(window)) {
            if stage.answers(window, ANSWERS)? == Some(false) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn wait_for_line(&mut self, stage: &Stage, start: &str, bound: Duration) -> Result<()> {
        let found = wait_for(start, bound, || {
            let lines = self.lines(stage);
            let there = lines.iter().skip(self.read).any(|line| line.starts_with(start));
            (there || self.process.has_ended()).then_some(there)
        });
        match found {
            Ok(true) => Ok(()),
            Ok(false) => bail!("{} ended: {}", self.app.name(), stage.log(&self.log)),
            Err(error) => Err(error.context(stage.log(&self.log))),
        }
    }

    /// What it said, without what its toolkit says.
    fn lines(&self, stage: &Stage) -> Vec<String> {
        let log = stage.log(&self.log);
        log.lines().filter_map(|line| line.strip_prefix('@')).map(str::to_owned).collect()
    }
}
