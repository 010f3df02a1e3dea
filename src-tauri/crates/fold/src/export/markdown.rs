//! Markdown to read. What was said stands in quotes and fences, so that it is no heading, link or image of the page.

use std::io::{self, Write};

use protocol::Event;
use protocol::view::SessionView;

use super::{asked_for, decided, ended, is_denied, outcome, replied, shown, shown_of, summed, utc};
use crate::Transcript;
use crate::transcript::{EntryBody, Stage};

/// Writes a session for people to read; without its pictures.
///
/// # Errors
/// Of `out`.
pub fn markdown(out: &mut dyn Write, session: &SessionView, events: &[Event]) -> io::Result<()> {
    writeln!(out, "# {}\n\n{}\n", inline(&session.title), utc(session.created))?;
    for entry in Transcript::of(events).entries() {
        match &entry.body {
            EntryBody::Goal { goal, model, .. } => {
                writeln!(out, "## Goal\n\n{}\n\nModel: {}\n", quoted(goal), inline(model))?;
            }
            EntryBody::Said { text } => writeln!(out, "**You:**\n\n{}\n", quoted(text))?,
            EntryBody::Turn { text, .. } if text.is_empty() => {}
            EntryBody::Turn { text, .. } => writeln!(out, "**Miki:**\n\n{}\n", quoted(text))?,
            EntryBody::Step(step) => {
                writeln!(out, "### {}\n", inline(&step.call.tool))?;
                let arguments = serde_json::to_string_pretty(&step.call.arguments).unwrap_or_default();
                writeln!(out, "{}\n", fenced("json", &arguments))?;
                match &step.stage {
                    Stage::Done { .. } if is_denied(step) => writeln!(out, "Not carried out.\n")?,
                    Stage::Done { result } => {
                        writeln!(out, "{}: {}\n", outcome(step, result.effect), inline(&result.summary))?;
                        let error = result.error.as_ref();
                        if let Some(error) = error.filter(|error| !result.summary.contains(&error.message)) {
                            writeln!(out, "{}\n", quoted(&error.message))?;
                        }
                    }
                    Stage::Proposed | Stage::NotRun => writeln!(out, "Not carried out.\n")?,
                    Stage::Waiting { .. } => writeln!(out, "Waits for an answer.\n")?,
                    Stage::Running => writeln!(out, "Under way.\n")?,
                }
                for (name, lines) in shown_of(step) {
                    let (name, language) = if name.is_empty() { ("Printed", "") } else { (&*name, "diff") };
                    writeln!(out, "{}:\n\n{}\n", inline(name), fenced(language, &lines))?;
                }
                for line in decided(step) {
                    writeln!(out, "{line}.\n")?;
                }
            }
            EntryBody::Asked(asked) => {
                let server = inline(&asked.wanted.server);
                writeln!(out, "**The server {server} asks:**\n\n{}\n", quoted(&asked_for(asked)))?;
                writeln!(out, "{}\n", inline(&replied(asked)))?;
            }
            EntryBody::TurnFailed { message, .. } => writeln!(out, "Tried again: {}\n", inline(message))?,
            EntryBody::Paused { reason, .. } => writeln!(out, "Paused: {}\n", inline(reason))?,
            EntryBody::Resumed => writeln!(out, "Went on.\n")?,
            EntryBody::BudgetNear { bound } => writeln!(out, "Budget: {}\n", inline(&bound.to_string()))?,
            EntryBody::Noted { message, .. } => writeln!(out, "Note: {}\n", inline(message))?,
            EntryBody::End { end, bill, acts, report, .. } => {
                writeln!(out, "## End\n\n{}\n", quoted(&ended(end, *acts)))?;
                for line in summed(*acts, bill.agents, report.as_deref()) {
                    writeln!(out, "{}\n", inline(&line))?;
                }
                writeln!(out, "Cost: {}\n", inline(&bill.spent.to_string()))?;
            }
        }
    }
    Ok(())
}

/// On one line, with nothing in it that Markdown would take for its own.
fn inline(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in shown(text).chars() {
        match c {
            '\n' => line.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '!' | '|' | '~' | '&' => {
                line.push('\\');
                line.push(c);
            }
            c => line.push(c),
        }
    }
    line
}

/// Each line of it as a line of a quotation.
fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {}", inline(line))).collect::<Vec<_>>().join("  \n")
}

/// As it is, between fences that it does not have.
fn fenced(language: &str, text: &str) -> String {
    let text = shown(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}
