//! `miki do TOOL 'JSON'`: one call through the exec contract, without a model.

use clap::Args;
use protocol::command::CallTool;
use protocol::tool::{ExecResult, ToolErrorKind};
use protocol::{ErrorCode, ErrorView};
use serde_json::{Map, Value};

use super::interrupt;
use crate::exit::Exit;
use crate::home::Home;
use crate::link::Link;

/// Make one tool call and print its result as JSON
///
/// Ctrl-C stops it, and whatever it holds down is let go of.
/// For example: miki do click '{"x":500,"y":500,"reason":"open the menu"}'. Coordinates are 0-1000 of the display.
#[derive(Debug, Args)]
pub struct Do {
    /// The tool: click, type, hotkey, elementsJson, screenshot ...
    tool: String,
    /// Its arguments, a JSON object
    #[arg(value_name = "JSON", value_parser = object)]
    arguments: Map<String, Value>,
}

fn object(text: &str) -> Result<Map<String, Value>, serde_json::Error> {
    serde_json::from_str(text)
}

impl Do {
    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        let mut interrupts = interrupt::listen()?;
        let Some(link) = interrupt::unless(&mut interrupts, Link::open(home)).await else {
            return Ok(Exit::Stopped);
        };
        let link = link?;
        // A call that nobody waits for any more is stopped by the engine, here or elsewhere, and lets go of all it holds.
        let call = link.call(CallTool { tool: self.tool, arguments: Value::Object(self.arguments) });
        let result = interrupt::unless(&mut interrupts, call).await;
        link.leave(&mut interrupts).await;
        let Some(result) = result else {
            return Ok(Exit::Stopped);
        };
        let result = result?;
        let json = serde_json::to_string(&result).map_err(|error| {
            ErrorView::new(ErrorCode::Internal, format!("result cannot be written: {error}"))
        })?;
        super::say(&json);
        Ok(exit_of(&result))
    }
}

fn exit_of(result: &ExecResult) -> Exit {
    match result.error.as_ref().map(|error| error.kind) {
        None => Exit::Done,
        // By the failsafe, or by a stop from elsewhere.
        Some(ToolErrorKind::Cancelled) => Exit::Stopped,
        Some(_) => Exit::Failed,
    }
}
