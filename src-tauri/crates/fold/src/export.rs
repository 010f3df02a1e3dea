//! A session as a file: JSON Lines that can be imported again, Markdown to read, a page that shows it step by step.
//!
//! Pure: pictures come from whoever has them, bytes go to whoever writes them. What events say is text in all three, never
//! markup.

mod html;
mod jsonl;
mod markdown;

pub use html::html;
pub use jsonl::{Fault, File, Picture, Why, jsonl, read};
pub use markdown::markdown;

use protocol::agent::AgentsEnds;
use protocol::contract::Report;
use protocol::event::RunEnd;
use protocol::ids::{BlobRef, Timestamp};
use protocol::principal::Surface;
use protocol::tool::{Answer, Effect, Until};

use crate::transcript::{Acts, AgentsUse, AskedByServer, DONE, Reply, Stage, Step};

/// Where the bytes of a picture come from; `None` if it is gone.
pub type Pictures<'a> = dyn FnMut(&BlobRef) -> Option<Vec<u8>> + 'a;

/// How many pictures are in a file, and how many were gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    pub pictures: u64,
    pub missing: u64,
}

fn ended(end: &RunEnd, acts: Acts) -> String {
    match end {
        RunEnd::Completed { summary } if acts.came_to_nothing() => {
            format!("Ended, nothing done; the model says: {summary}")
        }
        RunEnd::Completed { summary } => format!("Completed: {summary}"),
        RunEnd::Failed { message, .. } => format!("Failed: {message}"),
        RunEnd::Stopped { reason } => format!("Stopped: {reason}"),
        RunEnd::NeedsApproval { .. } => "Ended: it needed an approval".into(),
        RunEnd::Interrupted { reason: Some(reason) } => format!("Interrupted: {reason}"),
        RunEnd::Interrupted { reason: None } => "Interrupted".into(),
    }
}

/// What a server wanted to know.
fn asked_for(asked: &AskedByServer) -> String {
    let of = &asked.wanted;
    [&*of.message, &*of.field].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// What it was told.
fn replied(asked: &AskedByServer) -> String {
    match (&asked.reply, asked.said()) {
        (_, Some(said)) => format!("Answered: {said}"),
        (Reply::Given(_), None) => "Left out".to_owned(),
        (Reply::Open, None) => "Waits for an answer".to_owned(),
        (Reply::Declined, None) => "Not answered".to_owned(),
        (Reply::Nobody, None) => "Nobody answered in time".to_owned(),
    }
}

/// What was answered to the question about a step, and that it was taken back; empty if neither.
fn decided(step: &Step) -> Vec<String> {
    let mut said = Vec::new();
    if step.proposed.is_some() {
        said.push("Its arguments were changed by its user".to_owned());
    }
    if let Some((answer, by)) = &step.answer {
        let what = match answer {
            Answer::Deny if *by == Surface::Deadline => "Not allowed: nobody answered in time",
            Answer::Deny => "Not allowed",
            Answer::Once | Answer::Edit { .. } => "Allowed once",
            Answer::Thread => "Allowed for the session",
            Answer::Until { until: Until::Run } => "Allowed for the run",
            Answer::Until { until: Until::Day } => "Allowed for a day",
            Answer::Until { until: Until::Always } => "Allowed from then on",
        };
        let place = match by {
            Surface::Dashboard => " in the dashboard",
            Surface::Chat => " in the chat",
            Surface::Cli => " at a terminal",
            Surface::Overlay | Surface::Tray | Surface::Deadline => "",
        };
        said.push(format!("{what}{place}"));
    }
    if step.is_undone {
        said.push("Taken back".to_owned());
    }
    said
}

/// What a step printed, and the lines that it changed in files, each below its name. Empty if it did neither.
fn shown_of(step: &Step) -> Vec<(String, String)> {
    let Stage::Done { result } = &step.stage else { return Vec::new() };
    let line = |line: &protocol::terminal::Line| {
        let more = if line.cut > 0 { "…" } else { "" };
        line.spans.iter().map(|span| span.text.as_str()).collect::<String>() + more
    };
    let printed = result.output.iter().map(line).collect::<Vec<_>>().join("\n");
    let printed = (!printed.is_empty()).then(|| (String::new(), printed));
    let diff = |change: &protocol::tool::Change| Some((change.name.clone(), change.diff.clone()?));
    printed.into_iter().chain(result.changes.iter().filter_map(diff)).collect()
}

/// What of a call that its user denied is for people: the result's own words are the model's.
fn is_denied(step: &Step) -> bool {
    matches!(step.answer, Some((Answer::Deny, _)))
}

/// `2 completed, 1 failed (1 needed a yes, and nobody could be asked)`
pub fn agents_ends(ends: AgentsEnds) -> String {
    let AgentsEnds { completed, came_to_nothing, failed, unanswered, stopped } = ends;
    let ways = [
        (completed, "completed"),
        (came_to_nothing, "ended with nothing done"),
        (failed, "failed"),
        (stopped, "stopped"),
    ];
    let ways: Vec<String> =
        ways.into_iter().filter(|(n, _)| *n > 0).map(|(n, way)| format!("{n} {way}")).collect();
    let unanswered = match unanswered {
        0 => String::new(),
        n => format!(" ({n} needed a yes, and nobody could be asked)"),
    };
    ways.join(", ") + &unanswered
}

/// How many acts a run did, how its agents ended and what came of its plan, a line each.
fn summed(acts: Acts, agents: Option<AgentsUse>, report: Option<&Report>) -> Vec<String> {
    let Acts { done, refused, in_doubt, .. } = acts;
    let mut lines = Vec::new();
    if done + refused + in_doubt > 0 {
        lines.push(format!("Actions: {done} carried out, {refused} refused, {in_doubt} in doubt"));
    }
    lines.extend(agents.map(|used| format!("Agents: {}", agents_ends(used.ends))));
    let Some(Report { deviations, findings, .. }) = report else { return lines };
    lines.extend(deviations.iter().map(|one| {
        let answer = match &one.answer {
            None => "not answered",
            Some(Answer::Deny) => "not allowed",
            Some(_) => "allowed",
        };
        format!("Outside the plan, {answer}: {} ({})", one.tool, one.outside.join(", "))
    }));
    lines.extend(findings.iter().map(|one| {
        let what = serde_json::to_value(&one.check).unwrap_or_default();
        let passed = if one.passed { "passed" } else { "not passed" };
        format!("Check {passed}: {}: {}", what["check"].as_str().unwrap_or_default(), one.found)
    }));
    lines
}

/// With its line breaks, and every other unseen character spelled out.
fn shown(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\t', "    ");
    lines.split('\n').map(protocol::escape::visible_text).collect::<Vec<_>>().join("\n")
}

/// A unit variant's name as it stands in JSON.
/// What came of a step, in a word: a model that gives up has not done what it was to do, and that it said so is no success.
fn outcome(step: &Step, effect: Effect) -> String {
    let gives_up = step.call.tool == DONE && step.call.arguments["success"] == false;
    if gives_up && effect == Effect::Confirmed { "failed".to_owned() } else { word(&effect) }
}

fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

/// `2026-11-24 21:30:05 UTC`. By Hinnant's `civil_from_days`.
pub fn utc(time: Timestamp) -> String {
    let seconds = time.0.div_euclid(1000);
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests;
