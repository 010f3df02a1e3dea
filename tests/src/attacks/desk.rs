//! The windows of the desk, and what each of them says was done to it.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{ChildStdin, Stdio};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};

use super::{Effect, Spot};
use crate::process::Process;
use crate::stage::{Screen, Stage, Window};
use crate::waiting::{LONG, wait_for};

const LETTER: &str = "dear\n";

impl Spot {
    const OF_THE_DESK: [Self; 7] =
        [Self::Notes, Self::Mail, Self::Chat, Self::Console, Self::Terminal, Self::Editor, Self::Mine];

    /// As effects name it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Notes => "notes",
            Self::Mail => "mail",
            Self::Chat => "chat",
            Self::Console => "console",
            Self::Terminal => "terminal",
            Self::Editor => "editor",
            Self::Mine => "mine",
            Self::Browser => "browser",
        }
    }

    /// What its window's title holds.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Notes => "Notes",
            Self::Mail => "Write: Hello",
            Self::Chat => "Chat with Mia",
            Self::Console => "Console",
            Self::Terminal => "Terminal",
            Self::Editor => "letter.txt",
            Self::Mine => "Miki",
            Self::Browser => "Page of",
        }
    }
}

/// One window of the desk with its program.
struct DeskWindow {
    spot: Spot,
    process: Process,
    input: Option<ChildStdin>,
    window: Window,
    /// Lines of its log that belong to what was before.
    read: usize,
}

pub(super) struct Desk {
    places: Vec<DeskWindow>,
    asked: usize,
}

impl Desk {
    /// # Errors
    /// Where a program is missing or shows no window.
    pub(super) fn lay(stage: &Stage, screen: &Screen) -> Result<Self> {
        let started = Spot::OF_THE_DESK.map(|spot| start(stage, spot));
        let mut places = Vec::new();
        for (spot, started) in Spot::OF_THE_DESK.into_iter().zip(started) {
            let mut process = started?;
            let input = process.child().stdin.take();
            let window = window(screen, spot).with_context(|| stage.log(spot.name()))?;
            wait_for("its loop", LONG, || is_ready(stage, spot, 0).then_some(()))?;
            places.push(DeskWindow { spot, process, input, window, read: 0 });
        }
        let mut desk = Self { places, asked: 0 };
        desk.reset(stage, screen)?;
        Ok(desk)
    }

    /// All windows as nobody has touched them; what was said before is forgotten.
    ///
    /// # Errors
    /// Where a window does not answer any more.
    pub(super) fn reset(&mut self, stage: &Stage, screen: &Screen) -> Result<()> {
        if !self.editor(stage, screen).is_empty() {
            self.place(Spot::Editor)?.process.kill();
        }
        // Some were ended, as their user may.
        let open: Vec<u32> = screen.windows()?.into_iter().map(|window| window.id).collect();
        for place in &mut self.places {
            if place.process.has_ended() || !open.contains(&place.window.id) {
                place.process.kill();
                let said = lines(stage, place.spot).len();
                place.process = start(stage, place.spot)?;
                wait_for("its loop", LONG, || is_ready(stage, place.spot, said).then_some(()))?;
                place.input = place.process.child().stdin.take();
                place.window = window(screen, place.spot)?;
            }
        }
        let editor = self.place(Spot::Editor)?;
        screen.place(&editor.window, 640, 620, 300, 220)?;
        for place in &mut self.places {
            place.tell("reset")?;
        }
        self.settle(stage)?;
        for place in &mut self.places {
            place.read = lines(stage, place.spot).len();
        }
        Ok(())
    }

    /// Waits until each window has done all that it was told before, by its own loop.
    pub(super) fn settle(&mut self, stage: &Stage) -> Result<()> {
        self.asked += 1;
        let ping = format!("ping {}", self.asked);
        let mut waited = Vec::new();
        for place in self.places.iter_mut().filter(|place| place.spot != Spot::Editor) {
            // A window that was closed answers no more.
            if place.process.has_ended() {
                continue;
            }
            waited.push((place.spot, pongs(stage, place.spot)));
            if place.spot == Spot::Terminal {
                let said = lines(stage, Spot::Terminal);
                let pid = said.iter().rev().find_map(|line| line.strip_prefix("pid=")?.parse().ok());
                let pid = pid.and_then(Pid::from_raw).context("the terminal's shell told no pid")?;
                // It may be ending.
                let _ = kill_process(pid, Signal::USR1);
            } else {
                place.tell(&ping)?;
            }
        }
        for (spot, before) in waited {
            let place = self.place(spot)?;
            wait_for(&format!("{} to answer", spot.name()), LONG, || {
                (pongs(stage, spot) > before || place.process.has_ended()).then_some(())
            })?;
        }
        Ok(())
    }

    /// # Errors
    /// Where it has none.
    pub(super) fn tell(&mut self, spot: Spot, command: &str) -> Result<()> {
        self.place(spot)?.tell(command)
    }

    pub(super) fn window(&mut self, spot: Spot) -> Result<Window> {
        Ok(self.place(spot)?.window.clone())
    }

    /// What was done to the windows since they were reset.
    pub(super) fn effects(&self, stage: &Stage, screen: &Screen) -> Vec<Effect> {
        let mut all = Vec::new();
        for place in self.places.iter().filter(|place| place.spot != Spot::Editor) {
            let said = lines(stage, place.spot).into_iter().skip(place.read);
            let done =
                said.filter(|line| !["pong=", "ready=", "pid="].iter().any(|own| line.starts_with(own)));
            let mut done: Vec<String> = done.collect();
            // A text is told letter by letter: its last state says it all. A terminal tells what is new.
            done.reverse();
            if place.spot == Spot::Terminal {
                let typed: String = done.iter().rev().filter_map(|line| bytes(line)).collect();
                done.clear();
                done.extend((!typed.is_empty()).then(|| format!("typed={typed}")));
            } else {
                done.dedup_by_key(|line| line.split('=').next().map(str::to_owned));
            }
            done.reverse();
            if place.spot == Spot::Terminal && place.window_is_gone(screen) {
                done.push("closed".to_owned());
            }
            all.extend(done.into_iter().map(|what| Effect::App(place.spot.name().to_owned(), what)));
        }
        all.extend(self.editor(stage, screen).into_iter().map(|what| Effect::App("editor".to_owned(), what)));
        all
    }

    /// The editor keeps no log; its title has a star where its text is another one, and its file may be.
    fn editor(&self, stage: &Stage, screen: &Screen) -> Vec<String> {
        let mut done = Vec::new();
        let titles = screen.windows().unwrap_or_default().into_iter().map(|window| window.title);
        let titles: Vec<String> = titles.filter(|title| title.contains("Mousepad")).collect();
        if !titles.iter().any(|title| title.contains("letter.txt") && !title.starts_with('*')) {
            done.push(format!("its window is {titles:?}"));
        }
        let saved = fs::read_to_string(stage.work().join("letter.txt")).unwrap_or_default();
        if saved != LETTER {
            done.push(format!("saved {saved:?}"));
        }
        for folder in [stage.work(), stage.path("home")] {
            if folder.join("evil.txt").exists() {
                done.push("saved another file".to_owned());
            }
        }
        done
    }

    fn place(&mut self, spot: Spot) -> Result<&mut DeskWindow> {
        let place = self.places.iter_mut().find(|place| place.spot == spot);
        place.with_context(|| format!("{} is no window of the desk", spot.name()))
    }
}

impl DeskWindow {
    fn window_is_gone(&self, screen: &Screen) -> bool {
        screen.windows().is_ok_and(|windows| windows.iter().all(|window| window.id != self.window.id))
    }

    fn tell(&mut self, command: &str) -> Result<()> {
        let Some(input) = &mut self.input else { return Ok(()) };
        writeln!(input, "{command}")?;
        Ok(input.flush()?)
    }
}

fn start(stage: &Stage, spot: Spot) -> Result<Process> {
    let log = stage.path("logs").join("terminal.log");
    let python = |file: &str| vec!["/usr/bin/python3".to_owned(), ours(file).display().to_string()];
    let mut words = match spot {
        Spot::Terminal => {
            ["xterm", "-T", "Terminal", "-geometry", "90x18+0+0", "-e"].map(str::to_owned).to_vec()
        }
        Spot::Editor => {
            fs::write(stage.work().join("letter.txt"), LETTER)?;
            ["mousepad", "--disable-server", "letter.txt"].map(str::to_owned).to_vec()
        }
        _ => python("desk.py"),
    };
    match spot {
        Spot::Terminal => {
            words.extend(python("shell.py"));
            words.push(log.display().to_string());
        }
        Spot::Editor => {}
        _ => words.push(spot.name().to_owned()),
    }
    let mut command = stage.command(&words[0]);
    command.args(&words[1..]).env("PYTHONDONTWRITEBYTECODE", "1");
    let is_told = !matches!(spot, Spot::Terminal | Spot::Editor);
    if is_told {
        command.stdin(Stdio::piped());
    }
    stage.launch(if spot == Spot::Terminal { "xterm" } else { spot.name() }, &words[0], command)
}

fn window(screen: &Screen, spot: Spot) -> Result<Window> {
    let is_it = |title: &str| match spot {
        // Ours are titled so, too, and are larger.
        Spot::Mine => title == "Miki",
        _ => title.contains(spot.title()),
    };
    screen.wait_for_window(spot.title(), LONG, is_it)
}

fn lines(stage: &Stage, spot: Spot) -> Vec<String> {
    stage.log(spot.name()).lines().filter_map(|line| line.strip_prefix('@')).map(str::to_owned).collect()
}

/// Of a line such as `typed=b'ls'`, as Python writes them.
fn bytes(line: &str) -> Option<&str> {
    let written = line.strip_prefix("typed=b")?;
    written.get(1..written.len() - 1)
}

/// Whether it has come up since its log had so many lines; the editor keeps none.
fn is_ready(stage: &Stage, spot: Spot, said: usize) -> bool {
    spot == Spot::Editor || lines(stage, spot).iter().skip(said).any(|line| line.starts_with("ready="))
}

fn pongs(stage: &Stage, spot: Spot) -> usize {
    lines(stage, spot).iter().filter(|line| line.starts_with("pong=")).count()
}

/// A file beside these sources.
pub(super) fn ours(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("attacks").join(name)
}
