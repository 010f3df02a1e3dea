//! `miki do TOOL 'JSON'`: one call through the exec contract, without a model.

use clap::Args;
use protocol::command::CallTool;
use protocol::{ErrorCode, ErrorView};
use serde_json::{Map, Value};

use crate::exit::Exit;
use crate::home::Home;
use crate::link::Link;

/// Make one tool call and print its result as JSON
///
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
        let link = Link::open(home).await?;
        let result = link.call(CallTool { tool: self.tool, arguments: Value::Object(self.arguments) }).await;
        link.close().await;
        let result = result?;
        let json = serde_json::to_string(&result).map_err(|error| {
            ErrorView::new(ErrorCode::Internal, format!("result cannot be written: {error}"))
        })?;
        super::say(&json);
        Ok(if result.error.is_none() { Exit::Done } else { Exit::Failed })
    }
}
