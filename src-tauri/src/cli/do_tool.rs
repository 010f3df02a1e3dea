//! `miki do TOOL 'JSON'`: one call through the exec contract, without a model.

use std::io::IsTerminal;
use std::time::Instant;

use clap::Args;
use protocol::command::CallTool;
use protocol::tool::{ExecResult, ToolErrorKind};
use protocol::{ErrorCode, ErrorView};
use serde_json::{Map, Value};

use super::interrupt;
use super::run_printer::{READING, forget_typed};
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
    #[arg(required_unless_present = "list")]
    tool: Option<String>,
    /// Its arguments, a JSON object
    #[arg(value_name = "JSON", value_parser = object, required_unless_present = "list")]
    arguments: Option<Map<String, Value>>,
    /// List the tools, and what each does
    #[arg(long, exclusive = true)]
    list: bool,
}

fn object(text: &str) -> Result<Map<String, Value>, serde_json::Error> {
    serde_json::from_str(text)
}

impl Do {
    /// Does what needs no engine; gives the rest back.
    pub fn without_home(self) -> Result<Exit, Self> {
        if !self.list {
            return Err(self);
        }
        for spec in tools::Registry::builtin().specs() {
            super::say(&line(&spec));
        }
        Ok(Exit::Done)
    }

    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        let mut interrupts = interrupt::listen()?;
        // A call that nobody waits for any more is stopped by the engine, here or elsewhere, and lets go of all it holds.
        let (tool, arguments) = (self.tool.unwrap_or_default(), self.arguments.unwrap_or_default());
        let call = CallTool { tool, arguments: Value::Object(arguments), asked: None };
        let again = call.clone();
        let begun = Link::open_with(home, call, &mut interrupts).await?;
        let Some((link, mut result)) = begun else { return Ok(Exit::Stopped) };
        if let Some(Err(error)) = &result
            && let Some(digest) = error.asks.clone()
        {
            let said = asks(error).await;
            if said != Said::Yes {
                match said {
                    Said::Nobody => super::say_error(error),
                    Said::Yes | Said::No => super::tell_aside("miki: not done"),
                }
                link.leave(&mut interrupts).await;
                return Ok(Exit::NeedsApproval);
            }
            let call = CallTool { asked: Some(digest), ..again };
            result = interrupt::unless(&mut interrupts, link.call(call)).await;
        }
        link.leave(&mut interrupts).await;
        let Some(result) = result else {
            return Ok(Exit::Stopped);
        };
        let result = result?;
        let json = serde_json::to_string(&result).map_err(|error| {
            ErrorView::new(ErrorCode::Internal, format!("result cannot be written: {error}"))
        })?;
        super::say(&json);
        if result.error.as_ref().is_some_and(|error| error.kind == ToolErrorKind::UnknownTool) {
            eprintln!("miki: all tools: miki do --list");
        }
        Ok(exit_of(&result))
    }
}

/// What came of a question at this terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    Yes,
    No,
    /// It is no terminal: nobody can be asked.
    Nobody,
}

async fn asks(error: &ErrorView) -> Said {
    let message = super::text::plain(&error.message);
    ask(&format!("{message}\n  allow? [y]es, this once; anything else is no: ")).await
}

/// Asks whoever is at this terminal.
pub async fn ask(question: &str) -> Said {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Said::Nobody;
    }
    forget_typed();
    eprint!("{}", super::width::wrapped(question, super::width::of_stderr()));
    let asked = Instant::now();
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line)
    });
    let said = read.await.ok().and_then(Result::ok).unwrap_or_default();
    let is_yes = asked.elapsed() >= READING && ["y", "yes"].contains(&said.trim().to_lowercase().as_str());
    if is_yes { Said::Yes } else { Said::No }
}

/// Whether the user of this command wants what was shown. Where nobody can be asked, that and the way on are said.
pub async fn wants(question: &str, consent: bool) -> bool {
    if consent {
        return true;
    }
    let said = ask(question).await;
    if said == Said::Nobody {
        super::tell_aside("miki: nobody can be asked here: run it at a terminal, or with --yes");
    }
    said == Said::Yes
}

/// A tool and the first sentence about it.
fn line(spec: &tools::Spec) -> String {
    let about = spec.description.split_inclusive(". ").next().unwrap_or_default();
    format!("{:<16} {}", spec.name, super::text::plain(about.trim()))
}

fn exit_of(result: &ExecResult) -> Exit {
    match result.error.as_ref().map(|error| error.kind) {
        None => Exit::Done,
        // By the failsafe, or by a stop from elsewhere.
        Some(ToolErrorKind::Cancelled) => Exit::Stopped,
        Some(_) => Exit::Failed,
    }
}
