//! What a call beyond the screen would touch: files, commands, calendars.

use std::sync::Arc;
use std::time::Duration;

use agenda::EventId;
use protocol::contract::EffectClass;
use protocol::tool::Grant;
use space::files::FileError;
use space::terminal::policy;

use super::{Destination, FileThere, NAME_CHARS, Targets};
use crate::contract::{self, Need};
use crate::plan::Step;
use crate::ports::Ports;
use crate::reach::{FileAct, Ordered};
use crate::untrusted;

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
    let (path, below_home) = ports.root();
    targets.needs.push(Need::Folder { path, below_home });
    targets.needs.push(Need::Effect(EffectClass::Run));
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
    targets.places.push(Destination::Command(line));
}

/// A calendar by its name, the one of the settings where none is named; or an event as it is now. Where others are
/// invited, the calendar's server may write to them.
pub(super) async fn add_calendar(
    targets: &mut Targets,
    part: &Step,
    (name, event): (Option<&str>, Option<&str>),
    deletes: bool,
    ports: &Ports,
) {
    let mut place = untrusted::line(name.unwrap_or("your calendar"), NAME_CHARS);
    let effect = if deletes { EffectClass::Delete } else { EffectClass::Edit };
    targets.needs.push(Need::Application(place.clone()));
    targets.needs.push(Need::Effect(effect));
    targets.touches.push(Grant { tool: part.name().to_owned(), app: Some(place.clone()) });
    if let (Some(event), Some(port)) = (event, &ports.agenda) {
        let id = EventId(event.to_owned());
        // What is not there any more is refused by whoever would change it.
        if let Ok(Ok(there)) = tokio::time::timeout(LOOK, port.agenda.event(&id)).await {
            place = format!("{} {}", untrusted::line(&there.title, NAME_CHARS), there.version);
            if !there.invited.is_empty() {
                let why =
                    format!("{} others are invited, whom the calendar may write to", there.invited.len());
                targets.weigh(why, vec![Need::Effect(EffectClass::Send)]);
            }
        }
    }
    targets.places.push(Destination::Calendar(place));
}
