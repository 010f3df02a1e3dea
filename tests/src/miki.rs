//! The real app, installed into a data folder of its own on a stage: its command line, its windows, its socket.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command as Line;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use protocol::command::{AnyCommand, CallTool, GetOverview, ReadEvents, Subscribe};
use protocol::event::RunEnd;
use protocol::ids::{SessionId, StreamId};
use protocol::socket::{Frame, Outcome, Request};
use protocol::tool::PictureView;
use protocol::view::{EventPage, Overview};
use protocol::{ErrorView, Event, EventBody};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::process::{Finished, Process};
use crate::stage::{Screen, Stage, User, Window};
use crate::waiting::{LONG, wait_for};

/// The goal of the demo and of the main tests.
pub const GOAL: &str = "Write a haiku about autumn into the editor and save it as haiku.txt";

/// The program and one data folder.
pub struct Miki {
    pub bin: PathBuf,
    pub home: PathBuf,
    env: Vec<(String, String)>,
}

impl Miki {
    /// The program that `MIKI_BIN` names, with the data folder `name` of the stage.
    ///
    /// # Errors
    /// Where `MIKI_BIN` is not set or names no file.
    pub fn on(stage: &Stage, name: &str) -> Result<Self> {
        let bin = std::env::var_os("MIKI_BIN").map(PathBuf::from);
        let bin = bin.context(
            "MIKI_BIN is not set: build with `cargo build -p miki`, then set it to the program's path",
        )?;
        let bin = bin.canonicalize().with_context(|| format!("MIKI_BIN = {} is not there", bin.display()))?;
        Ok(Self { bin, home: stage.path(name), env: Vec::new() })
    }

    /// As [`Miki::on`], with a key, the fake server's address, and no pauses made for people's eyes.
    ///
    /// # Errors
    /// As [`Miki::on`].
    pub fn with_model(stage: &Stage, name: &str, url: &str, more: Value) -> Result<Self> {
        let mut settings = json!({ "baseUrls": { "gemini": url }, "approval": "auto", "stepDelayMs": 0, "batchDelayMs": 50 });
        if let (Some(all), Value::Object(more)) = (settings.as_object_mut(), more) {
            all.extend(more);
        }
        let miki = Self::on(stage, name)?.env("MIKI_KEY_GEMINI", "demo");
        fs::create_dir_all(&miki.home)?;
        fs::write(miki.home.join("settings.json"), serde_json::to_vec_pretty(&settings)?)?;
        Ok(miki)
    }

    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn command(&self, stage: &Stage, arguments: &[&str]) -> Line {
        let mut command = stage.command(&self.bin);
        command.env("MIKI_HOME", &self.home).envs(self.env.iter().cloned()).args(arguments);
        command
    }

    /// A command of another program that is to start the app, with the app's environment.
    pub fn starter(&self, stage: &Stage, program: &str) -> Line {
        let mut command = stage.command(program);
        command.env("MIKI_HOME", &self.home).envs(self.env.iter().cloned());
        command
    }

    /// Runs one command line to its end.
    ///
    /// # Errors
    /// Where it does not end in time.
    pub fn run(&self, stage: &Stage, arguments: &[&str]) -> Result<Finished> {
        stage.run("miki (MIKI_BIN)", self.command(stage, arguments), Duration::from_secs(120))
    }

    /// Starts one command line; its output goes to the stage's log `name`.
    ///
    /// # Errors
    /// Where it cannot be started.
    pub fn start(&self, stage: &Stage, name: &str, arguments: &[&str]) -> Result<Process> {
        stage.launch(name, "miki (MIKI_BIN)", self.command(stage, arguments))
    }

    /// Connects to the engine of this data folder as soon as it listens.
    ///
    /// # Errors
    /// Where it does not within `bound`.
    pub fn connect(&self, bound: Duration) -> Result<Client> {
        let path = self.home.join("miki.sock");
        let stream =
            wait_for(&format!("the socket {}", path.display()), bound, || UnixStream::connect(&path).ok())?;
        Client::new(stream)
    }

    /// Ends the process that has this data folder as the system does when its user logs out, and waits for its end.
    ///
    /// # Errors
    /// Where there is none, or it does not end.
    pub fn quit(&self) -> Result<()> {
        let path = self.home.join("miki.lock");
        let held = fs::read_to_string(&path).with_context(|| format!("{} is not there", path.display()))?;
        let process = held.trim().parse().ok().and_then(Pid::from_raw);
        kill_process(process.context("the lock names no process")?, Signal::TERM)?;
        // It lets go of the lock with its end.
        wait_for("the app's end", LONG, || fs::File::open(&path).ok()?.try_lock().ok())
    }

    /// The bytes of a picture.
    ///
    /// # Errors
    /// Where it is not in the blob store.
    pub fn picture(&self, picture: &PictureView) -> Result<Vec<u8>> {
        let path = self.home.join("blobs").join(&picture.blob.sha256);
        fs::read(&path).with_context(|| format!("picture {} is not there", path.display()))
    }

    pub fn journal(&self) -> PathBuf {
        self.home.join("journal.db")
    }
}

/// Opens the chat widget as its user does, and waits until it has the focus.
///
/// # Errors
/// Where it does not open, though the shortcut was pressed again and again.
pub fn open_chat(screen: &Screen, user: &User) -> Result<Window> {
    let shown = || {
        screen.wait_for_window("the chat widget", Duration::from_secs(3), |title| title == "Miki Chat").ok()
    };
    // The app may listen on its socket before it has the shortcut. It toggles: it is pressed again only where nothing
    // came of it.
    let chat = wait_for("the chat widget", LONG, || {
        user.chord(&["ctrl", "shift", "space"]).ok()?;
        shown()
    })?;
    // Where something took it in that moment, the shortcut gives it the focus before it hides it.
    let has_it = || (screen.active().ok()? == chat.id).then_some(());
    wait_for("the chat widget's focus", LONG, || {
        if wait_for("it", Duration::from_secs(3), has_it).is_ok() {
            return Some(());
        }
        user.chord(&["ctrl", "shift", "space"]).ok()?;
        None
    })?;
    Ok(chat)
}

/// Hides the chat widget, which has the focus, by Escape.
///
/// # Errors
/// Where it stays, though the key was pressed again and again.
pub fn hide_chat(screen: &Screen, user: &User) -> Result<()> {
    let is_hidden = || {
        let windows = screen.windows().ok()?;
        windows.iter().all(|window| !window.shown || window.title != "Miki Chat").then_some(())
    };
    // Its page may get the keyboard a moment after its window has: pressed again where nothing came of it.
    wait_for("the chat widget to hide", LONG, || {
        user.chord(&["escape"]).ok()?;
        wait_for("it", Duration::from_secs(2), is_hidden).ok()
    })
}

/// One connection to an engine's socket.
pub struct Client {
    writer: UnixStream,
    reader: BufReader<UnixStream>,
    next: u64,
    early: Vec<Event>,
}

impl Client {
    fn new(stream: UnixStream) -> Result<Self> {
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(Self { writer: stream.try_clone()?, reader: BufReader::new(stream), next: 0, early: Vec::new() })
    }

    /// Sends one command and waits for its answer.
    ///
    /// # Errors
    /// The engine's own error, or a broken connection.
    pub fn call(&mut self, command: AnyCommand) -> Result<Value> {
        self.next += 1;
        let id = self.next;
        let mut line = serde_json::to_vec(&Request { id, command })?;
        line.push(b'\n');
        self.writer.write_all(&line)?;
        loop {
            match self.frame()? {
                Frame::Reply(reply) if reply.id == id => match reply.outcome {
                    Outcome::Ok(value) => return Ok(value),
                    Outcome::Error(error) => return Err(error.into()),
                },
                Frame::Reply(reply) => bail!("an answer to {} that nobody asked for", reply.id),
                Frame::Event(event) => self.early.push(*event),
                Frame::Unsubscribed(error) => return Err(error.into()),
                Frame::Leaving => bail!("the engine ends, and this was not begun"),
            }
        }
    }

    /// One call of its person's own, who says yes where they are asked.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn act(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        let call = CallTool { tool: tool.into(), arguments, asked: None };
        match self.call(call.clone().into()) {
            Err(error) => match error.downcast::<ErrorView>()? {
                ErrorView { asks: asked @ Some(_), .. } => self.call(CallTool { asked, ..call }.into()),
                error => Err(error.into()),
            },
            done => done,
        }
    }

    /// # Errors
    /// As [`Client::call`].
    pub fn overview(&mut self) -> Result<Overview> {
        Ok(serde_json::from_value(self.call(GetOverview {}.into())?)?)
    }

    /// All events of a session, oldest first.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn history(&mut self, session: &SessionId) -> Result<Vec<Event>> {
        let stream = StreamId::of_session(session);
        let mut events: Vec<Event> = Vec::new();
        loop {
            let after = Some(events.last().and_then(|event| event.position).map_or(0, |at| at.n));
            let read = ReadEvents { stream: stream.clone(), before: None, after, limit: 200 };
            let page: EventPage = serde_json::from_value(self.call(read.into())?)?;
            events.extend(page.events);
            if events.len() as u64 >= page.last {
                return Ok(events);
            }
        }
    }

    /// # Errors
    /// As [`Client::call`].
    pub fn subscribe(&mut self) -> Result<()> {
        self.call(Subscribe { streams: None, after: None }.into()).map(|_| ())
    }

    /// The next event after [`Client::subscribe`]; waits for it.
    ///
    /// # Errors
    /// Where the connection ends or nothing comes for a minute.
    pub fn event(&mut self) -> Result<Event> {
        if !self.early.is_empty() {
            return Ok(self.early.remove(0));
        }
        match self.frame()? {
            Frame::Event(event) => Ok(*event),
            Frame::Reply(reply) => bail!("an answer to {} that nobody asked for", reply.id),
            Frame::Unsubscribed(error) => Err(error.into()),
            Frame::Leaving => bail!("the engine ends"),
        }
    }

    /// Reads events until `is_it` says yes to one; answers all of them.
    ///
    /// # Errors
    /// As [`Client::event`].
    pub fn events_until(&mut self, is_it: impl Fn(&EventBody) -> bool) -> Result<Vec<Event>> {
        let mut events = Vec::new();
        loop {
            let event = self.event()?;
            let last = is_it(&event.body);
            events.push(event);
            if last {
                return Ok(events);
            }
        }
    }

    fn frame(&mut self) -> Result<Frame> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).context("nothing came from the engine")?;
        ensure!(read > 0 && line.ends_with('\n'), "the engine closed the connection");
        serde_json::from_str(&line).with_context(|| format!("the engine sent {line:?}"))
    }
}

/// Events as `miki run --json` prints them.
///
/// # Errors
/// Shows a line that is none.
pub fn events(stdout: &str) -> Result<Vec<Event>> {
    let parse = |line: &str| serde_json::from_str(line).with_context(|| format!("not an event: {line:?}"));
    stdout.lines().map(parse).collect()
}

/// How the last run among `events` ended.
pub fn end(events: &[Event]) -> Option<RunEnd> {
    events.iter().rev().find_map(|event| match &event.body {
        EventBody::RunEnded { end } => Some(end.clone()),
        _ => None,
    })
}

pub fn is_end(body: &EventBody) -> bool {
    matches!(body, EventBody::RunEnded { .. })
}

/// Whether a file holds exactly this; the difference is in the error.
///
/// # Errors
/// Where it is not there or other.
pub fn check_file(path: &Path, expected: &str) -> Result<()> {
    let found = fs::read(path).with_context(|| format!("{} is not there", path.display()))?;
    let shown = String::from_utf8_lossy(&found);
    ensure!(found == expected.as_bytes(), "{} holds {shown:?} instead of {expected:?}", path.display());
    Ok(())
}
