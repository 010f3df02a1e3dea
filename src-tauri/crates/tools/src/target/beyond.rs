//! What a call beyond the screen would touch: files, commands, calendars.

use std::sync::Arc;
use std::time::Duration;

use agenda::{Calendar, EventId, ReminderId};
use protocol::contract::EffectClass;
use protocol::tool::Grant;
use space::files::FileError;
use space::terminal::policy;

use super::{Destination, EntryThere, FileThere, NAME_CHARS, Targets};
use crate::contract::{self, Need};
use crate::plan::Step;
use crate::policy::Grants;
use crate::ports::Ports;
use crate::reach::{Entry, FileAct, Ordered};
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
    ports: &Ports,
) {
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

/// A command is its line, in its folder. A yes for commands like it is for their programs and what they are told first.
pub(super) fn add_command(targets: &mut Targets, part: &Step, ordered: &Ordered, ports: &Ports) {
    let (folder, _) = ports.root();
    targets.needs.extend(contract::of_command(ports));
    let line = match ordered {
        Ordered::Run { line } => {
            let weighed = policy::weigh(line);
            for like in &weighed.grants {
                let app = Some(format!("{like} ({})", ports.folder()));
                targets.touches.push(Grant { tool: part.name().to_owned(), app });
            }
            if let Some(what) = weighed.destructive.first() {
                let needs = vec![Need::Effect(EffectClass::Delete)];
                targets.ask(untrusted::line(what, REASON_CHARS), needs);
            }
            line.clone()
        }
        Ordered::Input { job, text } => format!("into job {job}: {text}"),
        Ordered::Stop { job } => format!("the end of job {job}"),
    };
    targets.places.push(Destination::Command { line, folder });
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
    let Some(Looked { there, calendar, invited }) = look_at(entry, ports).await else {
        targets.is_unknown = true;
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
    look_at(entry, ports).await.map(|looked| looked.there.called)
}

struct Looked {
    there: EntryThere,
    /// Its name.
    calendar: String,
    invited: usize,
}

async fn look_at(entry: &Entry, ports: &Ports) -> Option<Looked> {
    let port = ports.agenda.as_ref()?;
    let calendars = async { port.agenda.calendars().await.ok() };
    let all = tokio::time::timeout(LOOK, calendars).await.ok().flatten()?;
    let new = |name: Option<&str>, holds: fn(&Calendar) -> bool| {
        let meant = tool::meant_calendar(&all, name, &port.usual, holds).ok()?;
        Some((meant.id.clone(), None, String::new(), 0))
    };
    let line = |text: &str| untrusted::line(text, NAME_CHARS);
    let (calendar, version, called, invited) = match entry {
        Entry::NewEvent { calendar } => new(calendar.as_deref(), |one| one.holds.events())?,
        Entry::NewReminder { list } => new(list.as_deref(), |one| one.holds.reminders())?,
        Entry::Event(id) => {
            let id = EventId(id.clone());
            let event = tokio::time::timeout(LOOK, port.agenda.event(&id)).await.ok()?.ok()?;
            let series = if event.recurrence.is_some() { ", again and again" } else { "" };
            let called = format!("event “{}” ({}{series}) · ", line(&event.title), event.start);
            (event.calendar, Some(event.version), called, event.invited.len())
        }
        Entry::Reminder(id) => {
            let id = ReminderId(id.clone());
            let reminder = tokio::time::timeout(LOOK, port.agenda.reminder(&id)).await.ok()?.ok()?;
            let due = reminder.due.map(|due| format!(" ({due})")).unwrap_or_default();
            let called = format!("reminder “{}”{due} · ", line(&reminder.title));
            (reminder.list, Some(reminder.version), called, 0)
        }
    };
    let name =
        all.iter().find(|one| one.id == calendar).map_or_else(|| calendar.0.clone(), |one| line(&one.name));
    let there = EntryThere { calendar: calendar.0, version, called: format!("{called}{name}") };
    Some(Looked { there, calendar: name, invited })
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
