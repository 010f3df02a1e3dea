//! `miki undo [RUN|STEP]`: takes back what a run changed, or one of its calls.

use clap::Args;
use protocol::command::Undo as Command;
use protocol::ids::{CallId, RunId};
use protocol::{ErrorCode, ErrorView};

use super::text::plain;
use crate::exit::Exit;
use crate::home::Home;
use crate::link::Link;

/// Take back what a run changed: files, values, windows, the clipboard
#[derive(Debug, Args)]
pub struct Undo {
    /// A run by its id or a part of it, or one of its steps (`c-...`); whatever changed something last where none is named
    #[arg(value_parser = run_or_step)]
    what: Option<String>,
    /// The answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("neither a run's id nor a step's")]
struct NoId;

fn run_or_step(text: &str) -> Result<String, NoId> {
    let text = text.trim();
    // The end of an id, too, as `miki ps` shows it.
    let is_end = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_hexdigit());
    let is_one =
        [RunId::PREFIX, CallId::PREFIX].iter().any(|prefix| text.starts_with(prefix)) || is_end(text);
    if is_one { Ok(text.to_owned()) } else { Err(NoId) }
}

impl Undo {
    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        let command = match self.what {
            None => Command { run: None, call: None },
            Some(id) if id.starts_with(CallId::PREFIX) => Command { run: None, call: Some(CallId(id)) },
            Some(id) => Command { run: Some(RunId(id)), call: None },
        };
        let link = Link::open(home).await?;
        let undone = link.call(command).await?;
        if self.json {
            let json = serde_json::to_string(&undone);
            super::say(&json.map_err(|error| ErrorView::new(ErrorCode::Internal, error.to_string()))?);
        } else {
            if let Some(run) = &undone.run {
                super::tell(&format!("of {run}:"));
            }
            for name in &undone.undone {
                super::tell(&format!("taken back: {}", plain(name)));
            }
            for name in &undone.was_so {
                super::tell(&format!("was as before already: {}", plain(name)));
            }
            for left in &undone.left {
                super::tell(&format!("left as it is: {}", plain(&left.to_string())));
            }
            for act in &undone.stays {
                super::tell(&format!("stays, since nothing takes it back: {}", plain(act)));
            }
            if [&undone.undone, &undone.was_so].into_iter().all(Vec::is_empty) && undone.left.is_empty() {
                super::tell("it was taken back already");
            }
        }
        Ok(if undone.left.is_empty() { Exit::Done } else { Exit::Failed })
    }
}
