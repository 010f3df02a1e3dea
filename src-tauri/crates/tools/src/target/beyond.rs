//! What a call beyond the screen would touch: files, commands, calendars.

use std::sync::Arc;
use std::time::Duration;

use agenda::{Calendar, EventId, ReminderId};
use protocol::contract::EffectClass;
use protocol::tool::{Grant, Risk, ToolError, ToolErrorKind};
use space::files::FileError;
use space::terminal::{JobId, policy};

use super::{Destination, EntryThere, FileThere, NAME_CHARS, Targets};
use crate::contract::{self, Need};
use crate::plan::Step;
use crate::policy::Grants;
use crate::ports::Ports;
use crate::reach::{Entry, FileAct, Ordered};
use crate::tool::tool_error;
use crate::{tool, untrusted};

/// Characters of why something is asked.
const REASON_CHARS: usize = 200;
/// Longest wait for a look at one file or folder.
const LOOK: Duration = Duration::from_secs(2);

/// Files are looked at as they are now: a yes is for no other. What cannot be taken back asks each time.
pub(super) async fn add_files(
    targets: &mut Targets,
    part: &Step,
    paths: &[String],
    does: FileAct,
    (grants, ports): (&Grants, &Ports),
) {
    feeds(targets, grants, ports);
    let Some(space) = ports.space.clone() else {
        targets.is_unknown = true;
        return;
    };
    let touch = Grant { tool: part.name().to_owned(), app: Some(ports.folder()) };
    if !targets.touches.contains(&touch) {
        targets.touches.push(touch);
    }
    for path in paths {
        let Ok(path) = space.path(path) else {
            targets.is_unknown = true;
            continue;
        };
        let (absolute, below_home) = ports.named(&path);
        targets.needs.extend(contract::of_file(absolute.clone(), below_home, does));
        let (looked, at) = (Arc::clone(&space), path.clone());
        let looked = tokio::task::spawn_blocking(move || {
            let undo = looked.can_undo(&at, &|| false)?;
            match looked.look(&at) {
                Ok(entry) => Ok((undo, Some(entry))),
                Err(FileError::Missing { .. }) => Ok((undo, None)),
                Err(error) => Err(error),
            }
        });
        // What cannot be looked at cannot be changed either: whoever tries says why.
        let Ok(Ok(Ok((undo, entry)))) = tokio::time::timeout(LOOK, looked).await else {
            targets.is_unknown = true;
            continue;
        };
        if let Err(why) = undo {
            let needs = vec![Need::Untold("what cannot be taken back")];
            targets.ask(format!("it cannot be taken back ({path}: {why})"), needs);
        }
        let version = entry.map(|entry| format!("{:?} {} {:?}", entry.kind, entry.bytes, entry.modified));
        targets.places.push(Destination::File(FileThere { path: absolute, version }));
    }
}

/// Why a file would not be written as it is now. Says nothing of what is in it; and nothing at all of one that asks whatever
/// was allowed, as those that hold keys.
pub(super) async fn refusal(part: &Step, ports: &Ports) -> Option<ToolError> {
    let write = part.plan().writes().filter(|_| part.plan().always().is_none())?.clone();
    let (space, path) = (ports.space.clone()?, write.path.clone());
    let checked = tokio::task::spawn_blocking(move || write.check(&space));
    match tokio::time::timeout(LOOK, checked).await.ok()?.ok()?.err()? {
        FileError::Edit { .. } => {
            let message = format!("{path} does not have that text, or not just once; read it again");
            Some(tool_error(ToolErrorKind::BadArguments, message))
        }
        error @ (FileError::Exists { .. } | FileError::Missing { .. } | FileError::TooLarge { .. }) => {
            Some(tool::from_files(&error))
        }
        _ => None,
    }
}

/// A command is its line, in its folder. A yes for commands like it is for their programs and what they are told first.
pub(super) fn add_command(
    targets: &mut Targets,
    part: &Step,
    ordered: &Ordered,
    grants: &Grants,
    ports: &Ports,
) {
    let (folder, _) = ports.root();
    targets.needs.extend(contract::of_command(ports));
    let line = match ordered {
        Ordered::Run { line, hosts } => {
            let weighed = policy::weigh(line);
            for like in &weighed.grants {
                let app = Some(format!("{like} ({})", ports.folder()));
                targets.touches.push(Grant { tool: part.name().to_owned(), app });
            }
            if let Some(what) = weighed.destructive.first() {
                let needs = vec![Need::Effect(EffectClass::Delete)];
                targets.ask(untrusted::line(what, REASON_CHARS), needs);
            }
            add_network(targets, hosts, grants);
            feeds(targets, grants, ports);
            line.clone()
        }
        Ordered::Input { job, text } => {
            let spoken_to = ports.terminal.as_ref().and_then(|it| it.job(JobId((*job).into())).ok());
            // What it is told may go wherever it can reach.
            add_network(targets, spoken_to.as_ref().map_or(&[], |job| job.hosts()), grants);
            format!("into job {job}: {text}")
        }
        Ordered::Stop { job } => format!("the end of job {job}"),
    };
    targets.places.push(Destination::Command { line, folder });
}

/// What a command sends to the hosts that it may reach, nobody can tell: it asks each time, whatever plan there is, and in
/// auto once something was read.
fn add_network(targets: &mut Targets, hosts: &[String], grants: &Grants) {
    if hosts.is_empty() {
        return;
    }
    targets.risk = Some(Risk::Consequential);
    targets.leaves = true;
    targets.needs.push(Need::Untold("what a command sends to its hosts"));
    for host in hosts {
        let address = format!("https://{host}/");
        targets.needs.extend(contract::of_address(&address));
        targets.visit(host, &address, grants);
    }
    targets.sends_to.extend(hosts.iter().cloned());
}

/// What is written, or run, once something was read may be taken up by a command that goes on and has a way out.
fn feeds(targets: &mut Targets, grants: &Grants, ports: &Ports) {
    if !grants.has_read() {
        return;
    }
    let jobs = ports.terminal.as_ref().map(|terminal| terminal.list()).unwrap_or_default();
    for job in jobs.iter().filter(|job| job.is_running()) {
        add_network(targets, job.hosts(), grants);
    }
}

/// A calendar by its name, the one of the settings where none is named; or an entry as it is now, with the calendar that it
/// is in, whatever the call says. Where others are invited, the calendar's server may write to them.
pub(super) async fn add_calendar(
    targets: &mut Targets,
    part: &Step,
    entry: &Entry,
    deletes: bool,
    ports: &Ports,
) {
    let effect = if deletes { EffectClass::Delete } else { EffectClass::Edit };
    targets.needs.push(Need::Effect(effect));
    // What is not there any more, or in no calendar, is refused by whoever would change it.
    let looked = look_at(entry, ports).await;
    let Ok(Looked { there, calendar, invited }) = looked else {
        targets.is_unknown = true;
        targets.refusal = looked.err().flatten();
        let need = Need::Untold("a calendar's entry that cannot be told");
        if matches!(entry, Entry::Event(_)) {
            targets.weigh("who is invited to it cannot be told".into(), vec![need]);
        } else {
            targets.needs.push(need);
        }
        return;
    };
    targets.needs.push(Need::Application(calendar.clone()));
    targets.touches.push(Grant { tool: part.name().to_owned(), app: Some(calendar) });
    if invited > 0 {
        let why = format!("{invited} others are invited, whom the calendar may write to");
        targets.weigh(why, vec![Need::Effect(EffectClass::Send)]);
    }
    targets.places.push(Destination::Calendar(there));
}

/// What a calendar's entry is, for whoever is asked about it: an id says nothing to a person.
pub(crate) async fn entry_called(entry: &Entry, ports: &Ports) -> Option<String> {
    look_at(entry, ports).await.ok().map(|looked| looked.there.called)
}

struct Looked {
    there: EntryThere,
    /// Its name.
    calendar: String,
    invited: usize,
}

/// # Errors
/// Why it cannot be done at all; `None` if it could not be looked at.
async fn look_at(entry: &Entry, ports: &Ports) -> Result<Looked, Option<ToolError>> {
    let port = ports.agenda.as_ref().ok_or(None)?;
    let all = told(port.agenda.calendars()).await?;
    let new = |name: Option<&str>, holds: fn(&Calendar) -> bool| {
        let meant = tool::meant_calendar(&all, name, &port.usual, holds).map_err(Some)?;
        Ok::<_, Option<ToolError>>((meant.id.clone(), None, String::new(), 0))
    };
    let line = |text: &str| untrusted::line(text, NAME_CHARS);
    let (calendar, version, called, invited) = match entry {
        Entry::NewEvent { calendar } => new(calendar.as_deref(), |one| one.holds.events())?,
        Entry::NewReminder { list } => new(list.as_deref(), |one| one.holds.reminders())?,
        Entry::Event(id) => {
            let event = told(port.agenda.event(&EventId(id.clone()))).await?;
            let series = if event.recurrence.is_some() { ", again and again" } else { "" };
            let called = format!("event “{}” ({}{series}) · ", line(&event.title), event.start);
            (event.calendar, Some(event.version), called, event.invited.len())
        }
        Entry::Reminder(id) => {
            let reminder = told(port.agenda.reminder(&ReminderId(id.clone()))).await?;
            let due = reminder.due.map(|due| format!(" ({due})")).unwrap_or_default();
            let called = format!("reminder “{}”{due} · ", line(&reminder.title));
            (reminder.list, Some(reminder.version), called, 0)
        }
    };
    let name =
        all.iter().find(|one| one.id == calendar).map_or_else(|| calendar.0.clone(), |one| line(&one.name));
    let there = EntryThere { calendar: calendar.0, version, called: format!("{called}{name}") };
    Ok(Looked { there, calendar: name, invited })
}

/// What a calendar answers in time.
async fn told<T>(asked: impl Future<Output = Result<T, agenda::Error>>) -> Result<T, Option<ToolError>> {
    let answer = tokio::time::timeout(LOOK, asked).await.map_err(|_| None)?;
    answer.map_err(|error| {
        let is_certain = matches!(error, agenda::Error::Absent { .. } | agenda::Error::NotFound { .. });
        is_certain.then(|| tool::from_agenda(&error))
    })
}

/// What a server does with what it is told, nobody can tell: no plan covers it.
pub(super) fn add_server(targets: &mut Targets, part: &Step, name: &str, leaves: bool) {
    if leaves {
        targets.leaves = true;
        targets
            .why
            .get_or_insert(format!("what the server {name} does with what it is told cannot be known"));
    }
    targets.needs.push(Need::Untold("what a server does with what it is told"));
    targets.touches.push(Grant { tool: part.name().to_owned(), app: Some(format!("server {name}")) });
    targets.places.push(Destination::Server(name.to_owned()));
}

/// The words of a search go to its engine. Once something was read they may carry it away: unless the user's own words have
/// them, or named the engine, that is asked about.
pub(super) fn add_search(targets: &mut Targets, part: &Step, words: &str, grants: &Grants, ports: &Ports) {
    let engine = ports.web.as_ref().and_then(|web| web.engine.as_ref()?.as_ref().ok());
    // Without one the call says so itself.
    let Some(address) = engine.map(web::Engine::address) else { return };
    targets.needs.extend(contract::of_address(&address));
    if grants.has_read() && !grants.has_said(words) {
        targets.send(part.name(), &address, grants);
    }
}
