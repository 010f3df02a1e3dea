//! Calls that make an application do something: each goes over a connection of its own, which then stays open and
//! silent until it is certain that the application is done.
//!
//! GTK carries out a call while it reads from the call's connection. Where that opens a modal dialog, the dialog runs
//! inside the reading, for as long as it is open. If anything more comes by that connection then, be it only its end,
//! the next key that is pressed hangs the application for good: for each key its bridge waits for an answer, reads
//! from all connections meanwhile, and waits for ever for the reading that is under way already.
//!
//! So the connection must not end with this process either: while a modal window is open that was not before, a keeper
//! (`watchdog/program.rs`) holds the same socket, and goes on doing so should this process end.

use std::collections::HashSet;
use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::bus::{CallError, Object, OwnBus, ROOT};
use super::role::States;

/// For a dialog to open after the call that opens it.
const OPENING: Duration = Duration::from_secs(10);
/// Between two looks at an application's windows: at first, and at most.
const FIRST_LOOK: Duration = Duration::from_millis(50);
const LOOK: Duration = Duration::from_secs(3);

/// The command of the keeper; none if it is empty.
#[derive(Clone, Default)]
pub(super) struct Apart {
    pub(super) keeper: Arc<[String]>,
}

impl Apart {
    /// The same object, over a connection for one call.
    pub(super) async fn object(&self, object: &Object) -> Result<Object, CallError> {
        let root = Object::new(&object.program, ROOT);
        let (own, before) = tokio::join!(object.program.own_bus(), windows(&root));
        // Without buses of their own, applications don't answer from within an answer.
        let Some(own) = own? else { return Ok(object.clone()) };
        let program = own.program.clone();
        tokio::spawn(self.clone().hold(own, root, before?));
        Ok(Object { program, path: object.path.clone() })
    }

    async fn hold(self, own: OwnBus, root: Object, before: HashSet<String>) {
        // Where this program ends in an orderly way, its tasks are dropped, and a connection that is dropped shuts the socket
        // for the keeper, too: it is dropped here alone.
        let own = ManuallyDrop::new(own);
        let begun = Instant::now();
        let mut keeper = None;
        let mut wait = FIRST_LOOK;
        loop {
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LOOK);
            let now = match windows(&root).await {
                Ok(now) => now,
                // It is busy, or has ended.
                Err(_) if !own.program.is_closed() => continue,
                Err(_) => break,
            };
            let opened: Vec<String> = now.difference(&before).cloned().collect();
            if opened.is_empty() && begun.elapsed() >= OPENING {
                break;
            }
            for path in opened {
                let states = Object::new(&root.program, &path).states().await.unwrap_or_default();
                if states.has(States::MODAL) && keeper.is_none() {
                    keeper = own.socket.as_ref().and_then(|socket| self.keep(socket));
                }
            }
        }
        if let Some(mut keeper) = keeper {
            let _ended = keeper.kill().and_then(|()| keeper.wait());
        }
        drop(ManuallyDrop::into_inner(own));
    }

    fn keep(&self, socket: &OwnedFd) -> Option<Child> {
        let (program, arguments) = self.keeper.split_first()?;
        let mut command = Command::new(program);
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        command.env_clear().envs(crate::environment::for_children());
        let started = socket.try_clone().and_then(|socket| command.stdin(socket).spawn());
        started
            .inspect_err(|error| tracing::warn!(%error, "no keeper: at this program's end a dialog may hang"))
            .ok()
    }
}

/// Paths of an application's windows.
async fn windows(root: &Object) -> Result<HashSet<String>, CallError> {
    Ok(root.children().await?.into_iter().map(|(_, path)| path.to_string()).collect())
}
