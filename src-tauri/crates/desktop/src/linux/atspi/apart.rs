//! Calls that make an application do something: each goes over a connection of its own, which then stays open and
//! silent until it is certain that the application is done.
//!
//! GTK carries out a call while it reads from the call's connection. Where that opens a modal dialog, the dialog runs
//! inside the reading, for as long as it is open. If anything more comes by that connection then, be it only its end,
//! the next key that is pressed hangs the application for good: for each key its bridge waits for an answer, reads
//! from all connections meanwhile, and waits for ever for the reading that is under way already.
//!
//! Known limit: the connections end with this process; a dialog that is still open then has that end to read.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::bus::{CallError, Object, Program, ROOT};
use super::lock;

/// For a dialog to open after the call that opens it.
const OPENING: Duration = Duration::from_secs(10);
/// Connections of one application; one that has so many dialogs open is left to pointer and keys.
const MOST: usize = 48;

/// The connections that are kept, by their applications' names on the accessibility bus.
#[derive(Default)]
pub(super) struct Apart {
    kept: Mutex<HashMap<Arc<str>, Vec<Kept>>>,
}

struct Kept {
    open: Program,
    since: Instant,
    /// The application's windows before the call.
    windows: HashSet<String>,
}

impl Apart {
    /// The same object, over a connection for one call.
    pub(super) async fn object(&self, home: &Arc<str>, object: &Object) -> Result<Object, CallError> {
        let root = Object::new(&object.program, ROOT);
        let (program, windows) = tokio::join!(object.program.own_bus(), root.children());
        // Without buses of their own, applications don't answer from within an answer.
        let Some(program) = program? else { return Ok(object.clone()) };
        let windows: HashSet<String> = windows?.into_iter().map(|(_, path)| path.to_string()).collect();
        let mut kept = lock(&self.kept);
        kept.retain(|_, all| all.iter().any(|one| !one.open.is_closed()));
        let mine = kept.entry(home.clone()).or_default();
        mine.retain(|one| one.since.elapsed() < OPENING || !windows.is_subset(&one.windows));
        if mine.len() >= MOST {
            return Err(CallError::Refused(
                "it has too many windows open that it has not answered for".into(),
            ));
        }
        mine.push(Kept { open: program.clone(), since: Instant::now(), windows });
        Ok(Object { program, path: object.path.clone() })
    }
}
