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
    /// A run (`r-...`) or one of its steps (`c-...`), a run by the beginning of its id, too; whatever changed something last where none is named
    what: Option<String>,
    /// The answer as JSON
    #[arg(long)]
    json: bool,
}

impl Undo {
    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        let command = match self.what.as_deref().map(str::trim) {
            None => Command { run: None, call: None },
            Some(id) if id.starts_with(RunId::PREFIX) => Command { run: Some(RunId(id.into())), call: None },
            Some(id) if id.starts_with(CallId::PREFIX) => {
                Command { run: None, call: Some(CallId(id.into())) }
            }
            Some(other) => {
                return Err(ErrorView::new(
                    ErrorCode::BadRequest,
                    format!("{other:?} is no run and no step"),
                )
                .with_hint("a run's id begins with r-, a step's with c-"));
            }
        };
        let link = Link::open(home).await?;
        let undone = link.call(command).await?;
        if self.json {
            let json = serde_json::to_string(&undone);
            super::say(&json.map_err(|error| ErrorView::new(ErrorCode::Internal, error.to_string()))?);
        } else {
            if let Some(run) = &undone.run {
                super::say(&format!("of {run}:"));
            }
            for name in &undone.undone {
                super::say(&format!("taken back: {}", plain(name)));
            }
            for left in &undone.left {
                super::say(&format!("left as it is: {}: {}", plain(&left.name), plain(&left.why)));
            }
            for act in &undone.stays {
                super::say(&format!("stays, since nothing takes it back: {}", plain(act)));
            }
            if undone.undone.is_empty() && undone.left.is_empty() {
                super::say("it was taken back already");
            }
        }
        Ok(if undone.left.is_empty() { Exit::Done } else { Exit::Failed })
    }
}
