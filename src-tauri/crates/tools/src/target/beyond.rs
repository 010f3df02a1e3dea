//! What a call beyond the screen would touch: files, commands, calendars.

use std::sync::Arc;
use std::time::Duration;

use protocol::contract::EffectClass;
use protocol::tool::Grant;
use space::files::FileError;

use super::{FileThere, NAME_CHARS, Place, Targets};
use crate::contract::{self, Need};
use crate::plan::Step;
use crate::ports::Ports;
use crate::reach::FileAct;
use crate::untrusted;

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
        targets.places.push(Place::File(FileThere { path: absolute, version }));
    }
}

/// A calendar by its name; the one of the settings where none is named.
pub(super) fn add_calendar(targets: &mut Targets, part: &Step, name: Option<&str>, deletes: bool) {
    let name = untrusted::line(name.unwrap_or("your calendar"), NAME_CHARS);
    let effect = if deletes { EffectClass::Delete } else { EffectClass::Edit };
    targets.needs.push(Need::Application(name.clone()));
    targets.needs.push(Need::Effect(effect));
    targets.touches.push(Grant { tool: part.name().to_owned(), app: Some(name.clone()) });
    targets.places.push(Place::Calendar(name));
}
