//! Refused commands as the journal has them: each in full, but never so many that whoever sends them fills the disk.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::event::{Level, Scope};
use protocol::{ErrorView, EventBody};

use crate::log::Log;

/// Refusals of one command that are written in full; of more, how many they were.
const IN_FULL: u32 = 10;
/// How long they are counted for one line. After as long without any, they are written in full again.
const WINDOW: Duration = Duration::from_secs(60);

/// Notes refusals to the command line, by the command's name.
pub struct Refusals {
    log: Arc<Log>,
    recent: Arc<Mutex<BTreeMap<String, Recent>>>,
}

#[derive(Default)]
struct Recent {
    in_full: u32,
    /// In this window.
    all: u64,
    untold: u64,
}

impl Refusals {
    pub fn new(log: Arc<Log>) -> Self {
        Self { log, recent: Arc::default() }
    }

    /// Journals a refusal, or counts it.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn note(&self, command: &str, why: &str) -> Result<(), ErrorView> {
        if self.is_told_in_full(command) {
            return write(&self.log, why).await;
        }
        Ok(())
    }

    fn is_told_in_full(&self, command: &str) -> bool {
        let mut recent = locked(&self.recent);
        if !recent.contains_key(command) {
            tokio::spawn(count(self.log.clone(), self.recent.clone(), command.to_owned()));
        }
        let of_command = recent.entry(command.to_owned()).or_default();
        of_command.all += 1;
        if of_command.in_full < IN_FULL {
            of_command.in_full += 1;
            return true;
        }
        of_command.untold += 1;
        false
    }
}

/// Until a window passes without any: tells in one line what was not told in full.
async fn count(log: Arc<Log>, recent: Arc<Mutex<BTreeMap<String, Recent>>>, command: String) {
    loop {
        tokio::time::sleep(WINDOW).await;
        let untold = {
            let mut recent = locked(&recent);
            let Some(of_command) = recent.get_mut(&command).filter(|of_command| of_command.all > 0) else {
                recent.remove(&command);
                return;
            };
            of_command.all = 0;
            std::mem::take(&mut of_command.untold)
        };
        if untold > 0
            && let Err(error) = write(&log, &format!("{command}, {untold} times more")).await
        {
            tracing::error!("refusals cannot be noted: {error}");
        }
    }
}

async fn write(log: &Log, why: &str) -> Result<(), ErrorView> {
    let message = format!("refused to the command line: {why}");
    let noted = EventBody::Noted { level: Level::Warning, message, hint: None };
    log.append(Scope::default(), noted).await.map(drop)
}

fn locked(recent: &Mutex<BTreeMap<String, Recent>>) -> MutexGuard<'_, BTreeMap<String, Recent>> {
    recent.lock().unwrap_or_else(PoisonError::into_inner)
}
