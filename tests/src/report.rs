//! The page that shows a run: one file, everything in it, made from events and pictures alone.

use std::collections::BTreeMap;
use std::fmt::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use protocol::event::RunEnd;
use protocol::ids::CallId;
use protocol::tool::{ExecResult, Risk, ToolCall};
use protocol::turn::{Spent, Usage};
use protocol::{Event, EventBody};

const STYLE: &str = include_str!("report/page.css");

/// All that the page is made from.
pub struct Report<'a> {
    pub goal: &'a str,
    /// Durable events of one run, oldest first.
    pub events: &'a [Event],
    /// JPEGs by the blob's name.
    pub pictures: &'a BTreeMap<String, Vec<u8>>,
    /// PNGs of the screen, with what they show.
    pub views: &'a [(String, Vec<u8>)],
    /// Said at the top: what is real here and what is not.
    pub notice: &'a str,
    /// What the task left: the file's name and text.
    pub outcome: Option<(&'a str, &'a str)>,
}

/// One call with what came of it.
struct Step<'a> {
    call: &'a ToolCall,
    risk: Risk,
    said: &'a str,
    result: Option<&'a ExecResult>,
}

impl Report<'_> {
    /// The page as HTML.
    pub fn html(&self) -> String {
        let mut page = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut page);
        page
    }

    fn write(&self, page: &mut String) -> std::fmt::Result {
        writeln!(page, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">")?;
        writeln!(
            page,
            "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Miki: {}</title>",
            escape(self.goal)
        )?;
        writeln!(page, "<style>\n{STYLE}</style>\n<main>\n<h1>{}</h1>", escape(self.goal))?;
        writeln!(page, "<p class=\"notice\">{}</p>", escape(self.notice))?;
        self.write_summary(page)?;
        if let Some((name, text)) = self.outcome {
            writeln!(page, "<h2>{}</h2>\n<pre class=\"outcome\">{}</pre>", escape(name), escape(text))?;
        }
        writeln!(page, "<h2>Steps</h2>\n<ol class=\"steps\">")?;
        for step in self.steps() {
            self.write_step(page, &step)?;
        }
        writeln!(page, "</ol>\n<h2>What the user saw</h2>")?;
        for (what, png) in self.views {
            let data = BASE64_STANDARD.encode(png);
            let what = escape(what);
            writeln!(
                page,
                "<figure><img alt=\"{what}\" src=\"data:image/png;base64,{data}\"><figcaption>{what}</figcaption></figure>"
            )?;
        }
        writeln!(page, "</main>\n</html>")
    }

    fn write_summary(&self, page: &mut String) -> std::fmt::Result {
        let (mut usage, mut spent, mut model, mut ended) =
            (Usage::default(), Spent::default(), "", String::from("did not end"));
        let mut turns = 0;
        for event in self.events {
            match &event.body {
                EventBody::RunStarted(spec) => model = &spec.model.0,
                EventBody::TurnFinished { usage: more, cost, .. } => {
                    turns += 1;
                    spent = spent.plus(*cost);
                    usage = usage.plus(*more);
                }
                EventBody::TurnFailed { usage: more, cost: Some(cost), .. }
                | EventBody::TurnDropped { usage: more, cost, .. } => {
                    spent = spent.plus(*cost);
                    usage = usage.plus(*more);
                }
                EventBody::RunEnded { end } => ended = describe(end),
                _ => {}
            }
        }
        let seconds = self.seconds();
        let facts = [
            ("Outcome", ended),
            ("Model", model.to_owned()),
            ("Turns", turns.to_string()),
            ("Time", format!("{seconds:.1} s")),
            ("Tokens in", usage.input.to_string()),
            ("Tokens out", usage.output.to_string()),
            ("Tokens thinking", usage.thinking.to_string()),
            ("Cost", spent.to_string()),
        ];
        writeln!(page, "<dl>")?;
        for (name, value) in facts {
            writeln!(page, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(&value))?;
        }
        writeln!(page, "</dl>")
    }

    fn seconds(&self) -> f64 {
        let time = |event: Option<&Event>| event.map_or(0, |event| event.time.0);
        (time(self.events.last()) - time(self.events.first())) as f64 / 1000.0
    }

    fn steps(&self) -> Vec<Step<'_>> {
        let mut said = "";
        let mut steps: Vec<Step<'_>> = Vec::new();
        let mut index: BTreeMap<&CallId, usize> = BTreeMap::new();
        for event in self.events {
            match &event.body {
                EventBody::TurnFinished { text, .. } => said = text,
                EventBody::ToolStarted { call, risk } => {
                    index.insert(&call.id, steps.len());
                    steps.push(Step { call, risk: *risk, said: std::mem::take(&mut said), result: None });
                }
                EventBody::ToolFinished { call, result } => {
                    if let Some(step) = index.get(call).and_then(|at| steps.get_mut(*at)) {
                        step.result = Some(result);
                    }
                }
                _ => {}
            }
        }
        steps
    }

    fn write_step(&self, page: &mut String, step: &Step<'_>) -> std::fmt::Result {
        let tool = escape(&step.call.tool);
        writeln!(page, "<li>\n<h3>{tool} <small>{}</small></h3>", word(&step.risk))?;
        if !step.said.is_empty() {
            writeln!(page, "<p class=\"said\">{}</p>", escape(step.said))?;
        }
        let arguments = serde_json::to_string(&step.call.arguments).unwrap_or_default();
        writeln!(page, "<pre>{}</pre>", escape(&arguments))?;
        let Some(result) = step.result else { return writeln!(page, "<p>interrupted</p>\n</li>") };
        let effect = word(&result.effect);
        writeln!(
            page,
            "<p><span class=\"effect {effect}\">{effect}</span> {} <small>{} ms</small></p>",
            escape(&result.summary),
            result.took.0
        )?;
        if let Some(error) = &result.error {
            writeln!(page, "<p class=\"error\">{}</p>", escape(&error.message))?;
        }
        if let Some(jpeg) = result.picture.as_ref().and_then(|p| self.pictures.get(&p.blob.sha256)) {
            let data = BASE64_STANDARD.encode(jpeg);
            writeln!(page, "<img alt=\"the screen after {tool}\" src=\"data:image/jpeg;base64,{data}\">")?;
        }
        writeln!(page, "</li>")
    }
}

fn describe(end: &RunEnd) -> String {
    match end {
        RunEnd::Completed { summary } => format!("completed: {summary}"),
        RunEnd::Failed { message, .. } => format!("failed: {message}"),
        RunEnd::Stopped { reason } => format!("stopped: {reason}"),
        RunEnd::NeedsApproval { .. } => "needs an approval".to_owned(),
        RunEnd::Interrupted { .. } => "interrupted".to_owned(),
    }
}

/// A unit variant's name as it stands in JSON.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::ids::{StreamId, Timestamp};
    use protocol::tool::{Effect, Millis};
    use serde_json::json;

    #[test]
    fn a_page_needs_nothing_from_outside_and_runs_nothing_that_it_shows() {
        let call = ToolCall {
            id: CallId("c-1".into()),
            tool: "type".into(),
            arguments: json!({ "text": "<script>alert(1)</script>" }),
        };
        let result = ExecResult {
            effect: Effect::Confirmed,
            summary: "typed".into(),
            data: json!(null),
            error: None,
            picture: None,
            read: Vec::new(),
            changes: Vec::new(),
            output: Vec::new(),
            took: Millis(5),
        };
        let bodies = [
            EventBody::ToolStarted { call, risk: Risk::Edit },
            EventBody::ToolFinished { call: CallId("c-1".into()), result },
        ];
        let events: Vec<Event> = bodies
            .into_iter()
            .map(|body| {
                let (stream, time) = (StreamId::app(), Timestamp(0));
                Event { position: None, stream, time, scope: Default::default(), body }
            })
            .collect();
        let views = [("the dashboard".to_owned(), vec![1, 2, 3])];
        let pictures = BTreeMap::new();
        let report = Report {
            goal: "a & b",
            events: &events,
            pictures: &pictures,
            views: &views,
            notice: "scripted",
            outcome: Some(("f", "text")),
        };
        let html = report.html();
        assert!(!html.contains("<script") && !html.contains("http:") && !html.contains("https:"));
        assert!(
            html.contains("a &amp; b")
                && html.contains("confirmed")
                && html.contains("data:image/png;base64,AQID")
        );
    }
}
