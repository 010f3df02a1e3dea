//! Events told to a person at a terminal. Pure: text out, nothing printed.

use std::collections::HashMap;

use protocol::citation::Citation;
use protocol::event::{DeltaKind, Event, EventBody, Level, RunEnd};
use protocol::ids::{CallId, ModelId};
use protocol::tool::{Answer, ApprovalMode, Effect, ExecResult, Mode};
use protocol::turn::{Spent, Usage};

/// What was told so far, as far as the next line depends on it.
#[derive(Debug, Default)]
pub struct Story {
    step: u32,
    usage: Usage,
    spent: Spent,
    calls: HashMap<CallId, String>,
    /// Text of the turn under way was streamed already.
    streamed: bool,
    /// The last text did not end its line.
    open_line: bool,
}

impl Story {
    /// What to print for this event; empty where there is nothing to say.
    pub fn tell(&mut self, event: &Event) -> String {
        let text = match &event.body {
            EventBody::TurnDelta { kind: DeltaKind::Text, text, .. } => {
                self.streamed = true;
                let text = paragraph(text);
                if !text.is_empty() {
                    self.open_line = !text.ends_with('\n');
                }
                return text;
            }
            EventBody::RunStarted(spec) => format!(
                "goal: {}\n{}, {}, {}{}, at most {} steps\n",
                plain(&spec.goal),
                spec.model,
                match spec.mode {
                    Mode::Plan => "only looking",
                    Mode::Act => "acting",
                },
                match spec.approval {
                    ApprovalMode::Ask => "asking about every change",
                    ApprovalMode::Thread => "asking once a tool",
                    ApprovalMode::Auto => "asking nothing",
                },
                if spec.search { ", searching the web" } else { "" },
                spec.max_steps
            ),
            EventBody::TurnFinished { turn, text, citations, usage, cost, .. } => {
                self.step = *turn;
                self.usage = self.usage.plus(*usage);
                self.spent = self.spent.plus(*cost);
                let whole = if self.streamed || text.trim().is_empty() {
                    String::new()
                } else {
                    format!("{}\n", paragraph(text))
                };
                self.streamed = false;
                whole + &sources(citations)
            }
            EventBody::TurnFailed { message, hint, retry, usage, cost, suggestions, .. } => {
                self.streamed = false;
                self.usage = self.usage.plus(*usage);
                self.spent = cost.map_or(self.spent, |cost| self.spent.plus(cost));
                format!(
                    "! {}{}{}\n{}",
                    plain(message),
                    hinted(hint.as_deref()),
                    if *retry { "; trying again" } else { "" },
                    ways_on(suggestions)
                )
            }
            EventBody::TurnDropped { usage, cost, .. } => {
                self.streamed = false;
                self.usage = self.usage.plus(*usage);
                self.spent = self.spent.plus(*cost);
                String::new()
            }
            EventBody::ToolStarted { call, .. } => {
                self.calls.insert(call.id.clone(), call.tool.clone());
                String::new()
            }
            EventBody::ToolFinished { call, result } => {
                let tool = self.calls.remove(call).unwrap_or_default();
                step(self.step, &tool, result)
            }
            EventBody::RunSteered { text } => format!("you: {}\n", plain(text)),
            EventBody::RunPaused { reason } => format!("paused: {}\n", plain(reason)),
            EventBody::RunResumed => "going on\n".into(),
            EventBody::ApprovalAnswered { answer, by, .. } => format!(
                "{} ({by:?})\n",
                match answer {
                    Answer::Deny => "denied",
                    Answer::Once => "allowed once",
                    Answer::Thread => "allowed for the session",
                }
            ),
            EventBody::Noted { level, message, hint } => {
                let mark = match level {
                    Level::Info => "note",
                    Level::Warning => "warning",
                    Level::Error => "error",
                };
                format!("{mark}: {}{}\n", plain(message), hinted(hint.as_deref()))
            }
            EventBody::JournalFailed { message, hint } => {
                format!("error: {}{}\n", plain(message), hinted(hint.as_deref()))
            }
            EventBody::RunEnded { end } => format!("{}{}", ended(end), self.bill()),
            EventBody::SessionCreated { .. }
            | EventBody::SessionEdited { .. }
            | EventBody::SettingsChanged { .. }
            | EventBody::ApprovalRequested { .. }
            | EventBody::TurnDelta { kind: DeltaKind::Thinking, .. }
            | EventBody::StatusChanged { .. }
            | EventBody::SessionChanged { .. }
            | EventBody::QuestionsChanged { .. }
            | EventBody::DesktopChanged { .. } => String::new(),
        };
        // Also where nothing else is said: the next text begins its own line.
        let ends_turn = matches!(event.body, EventBody::TurnFinished { .. });
        if self.open_line && (!text.is_empty() || ends_turn) {
            self.open_line = false;
            return format!("\n{text}");
        }
        text
    }

    /// What the run took; nothing where no turn of it began.
    fn bill(&self) -> String {
        let Usage { input, output, thinking, .. } = self.usage;
        match self.spent.turns {
            0 => String::new(),
            _ => format!("cost: {}; tokens: {input} in, {} out\n", self.spent, output + thinking),
        }
    }
}

/// ` 3  click         clicked Save at 512,40  (confirmed, 0.4 s)`
fn step(number: u32, tool: &str, result: &ExecResult) -> String {
    let what = match &result.error {
        Some(error) if result.summary.is_empty() => plain(&error.message),
        Some(error) if !result.summary.contains(&error.message) => {
            format!("{}: {}", plain(&result.summary), plain(&error.message))
        }
        _ => plain(&result.summary),
    };
    let effect = match result.effect {
        Effect::Confirmed => "confirmed",
        Effect::Unverified => "unverified",
        Effect::NoChange => "no change",
        Effect::Refused => "refused",
        Effect::Unknown => "unknown",
    };
    let tenths = (result.took.0 + 50) / 100;
    format!("{number:>3}  {:<13} {what}  ({effect}, {}.{} s)\n", plain(tool), tenths / 10, tenths % 10)
}

/// ` [1] Title (host) https://...`: the address as it is, to be copied.
fn sources(citations: &[Citation]) -> String {
    let line = |(number, citation): (usize, &Citation)| {
        let host = citation.host().unwrap_or_default();
        let (name, url) = (plain(citation.name()), plain(&citation.url));
        format!(" [{number}] {name} ({}) {url}\n", plain(host))
    };
    (1..).zip(citations).map(line).collect()
}

/// `  try: --model gemini/gemini-3-flash-preview`, a line for each.
fn ways_on(suggestions: &[ModelId]) -> String {
    suggestions.iter().map(|model| format!("  try: --model {}\n", plain(&model.0))).collect()
}

fn ended(end: &RunEnd) -> String {
    match end {
        RunEnd::Completed { summary } => format!("done: {}\n", plain(summary)),
        RunEnd::Failed { message, hint } => {
            format!("failed: {}{}\n", plain(message), hinted(hint.as_deref()))
        }
        RunEnd::Stopped { reason } => format!("stopped: {}\n", plain(reason)),
        // Said with the call, on stderr.
        RunEnd::NeedsApproval { .. } => String::new(),
        RunEnd::Interrupted { reason: None } => "interrupted: the program ended in the middle of it\n".into(),
        RunEnd::Interrupted { reason: Some(reason) } => format!("interrupted: {}\n", plain(reason)),
    }
}

fn hinted(hint: Option<&str>) -> String {
    hint.map(|hint| format!(" ({})", plain(hint))).unwrap_or_default()
}

/// One line without anything that could steer a terminal: what is read from the screen or a model is only data.
pub fn plain(text: &str) -> String {
    text.chars().filter_map(|c| if c == '\n' || c == '\t' { Some(' ') } else { shown(c) }).collect()
}

/// As [`plain`], with its line ends.
fn paragraph(text: &str) -> String {
    text.chars().filter_map(|c| if c == '\n' { Some(c) } else { shown(c) }).collect()
}

/// Control characters, and those that turn the reading direction about or cannot be seen, are left out.
fn shown(c: char) -> Option<char> {
    let hidden = c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    (!hidden).then_some(c)
}

#[cfg(test)]
mod tests {
    use protocol::command::Unattended;
    use protocol::event::Scope;
    use protocol::ids::{ModelId, StreamId, Timestamp};
    use protocol::run::{Fence, RunSpec};
    use protocol::tool::{Millis, Risk, ToolCall, ToolError, ToolErrorKind};
    use protocol::turn::{Cost, StopReason, Usd};
    use serde_json::{Value, json};

    use super::*;

    fn told(bodies: Vec<EventBody>) -> String {
        let mut story = Story::default();
        bodies
            .into_iter()
            .map(|body| {
                let (stream, time) = (StreamId::app(), Timestamp(0));
                story.tell(&Event { position: None, stream, time, scope: Scope::default(), body })
            })
            .collect()
    }

    fn delta(text: &str) -> EventBody {
        EventBody::TurnDelta { turn: 1, index: 0, kind: DeltaKind::Text, text: text.into() }
    }

    fn call(id: &str, tool: &str) -> EventBody {
        let call = ToolCall { id: CallId(id.into()), tool: tool.into(), arguments: json!({}) };
        EventBody::ToolStarted { call, risk: Risk::Edit }
    }

    fn result(id: &str, effect: Effect, summary: &str, error: Option<&str>) -> EventBody {
        EventBody::ToolFinished {
            call: CallId(id.into()),
            result: ExecResult {
                effect,
                summary: summary.into(),
                data: Value::Null,
                error: error
                    .map(|message| ToolError { kind: ToolErrorKind::Failed, message: message.into() }),
                picture: None,
                took: Millis(1_249),
            },
        }
    }

    fn turn(number: u32, text: &str) -> EventBody {
        EventBody::TurnFinished {
            turn: number,
            text: text.into(),
            thinking: String::new(),
            calls: Vec::new(),
            citations: Vec::new(),
            usage: Usage { input: 1_000, output: 20, thinking: 3, ..Usage::default() },
            cost: Cost::Priced { usd: Usd(1_230_000_000) },
            stop: StopReason::ToolCalls,
            raw: None,
        }
    }

    #[test]
    fn a_run_reads_as_a_story() {
        let text = told(vec![
            EventBody::RunStarted(Box::new(RunSpec {
                goal: "save it".into(),
                model: ModelId("gemini/x".into()),
                base_url: None,
                mode: Mode::Act,
                approval: ApprovalMode::Ask,
                max_steps: 30,
                search: true,
                fence: Some(Fence::default()),
                unattended: Unattended::Wait,
                space: None,
                parent: None,
                recording: None,
            })),
            delta("I look "),
            delta("first."),
            turn(1, "I look first."),
            call("c-1", "click"),
            result("c-1", Effect::Confirmed, "clicked Save at 512,40", None),
            turn(2, "Not streamed."),
            call("c-2", "type"),
            result("c-2", Effect::Refused, "", Some("no focus")),
            EventBody::RunEnded { end: RunEnd::Completed { summary: "saved".into() } },
        ]);
        assert_eq!(
            text,
            "goal: save it\n\
             gemini/x, acting, asking about every change, searching the web, at most 30 steps\n\
             I look first.\n\
             \x20 1  click         clicked Save at 512,40  (confirmed, 1.2 s)\n\
             Not streamed.\n\
             \x20 2  type          no focus  (refused, 1.2 s)\n\
             done: saved\n\
             cost: $0.00246; tokens: 2000 in, 46 out\n"
        );
    }

    #[test]
    fn what_an_answer_rests_on_is_listed_below_it() {
        let mut cited = turn(1, "News [1].");
        if let EventBody::TurnFinished { citations, .. } = &mut cited {
            citations.extend(Citation::new("https://example.org/a", "A\u{1b}[2J page"));
            citations.extend(Citation::new("https://example.org/b", ""));
        }
        assert_eq!(
            told(vec![delta("News [1]."), cited]),
            "News [1].\n [1] A[2J page (example.org) https://example.org/a\n \
             [2] example.org (example.org) https://example.org/b\n"
        );
    }

    #[test]
    fn nothing_that_was_read_can_steer_the_terminal() {
        let text = told(vec![
            delta("a\x1b]52;c;eA==\x07b\u{202e}c\u{9b}31m\rd\n"),
            result("c-1", Effect::Confirmed, "clicked \x1b[2Jx\ny", None),
        ]);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n') && !text.contains('\u{202e}'), "{text:?}");
        assert_eq!(text.lines().count(), 2, "{text:?}");
    }

    #[test]
    fn a_failed_turn_says_whether_it_is_tried_again() {
        let failed = |retry| told(vec![failure(retry, Usage::default(), None)]);
        assert_eq!(failed(true), "! overloaded; trying again\n");
        assert_eq!(failed(false), "! overloaded\n");
    }

    #[test]
    fn a_model_that_is_not_known_is_followed_by_a_line_for_each_that_may_be_taken() {
        let mut failed = failure(false, Usage::default(), None);
        if let EventBody::TurnFailed { suggestions, .. } = &mut failed {
            suggestions.extend(["xai/grok-4.7", "xai/grok-9"].map(|id| ModelId(id.into())));
        }
        let told = told(vec![failed]);
        assert_eq!(told, "! overloaded\n  try: --model xai/grok-4.7\n  try: --model xai/grok-9\n");
    }

    fn failure(retry: bool, usage: Usage, cost: Option<Cost>) -> EventBody {
        let message = "overloaded".into();
        EventBody::TurnFailed { turn: 1, message, hint: None, retry, usage, cost, suggestions: Vec::new() }
    }

    #[test]
    fn what_a_turn_cost_before_it_failed_is_in_the_sum_and_a_refused_one_costs_nothing() {
        let bill = |failed| {
            let end = RunEnd::Completed { summary: "ok".into() };
            let text = told(vec![failed, turn(1, "a"), EventBody::RunEnded { end }]);
            text.lines().last().unwrap().to_owned()
        };
        let usage = Usage { input: 7, ..Usage::default() };
        let known = bill(failure(true, Usage::default(), None));
        let partly = Cost::AtLeast { usd: Usd(1_000_000_000) };
        let more = bill(failure(true, usage, Some(partly)));
        assert!(known.starts_with("cost: $0.00123; "), "{known}");
        assert!(more.starts_with("cost: at least $0.00223 (1 turn not counted in full); "), "{more}");
        let unknown = bill(failure(true, usage, Some(Cost::Unknown)));
        assert!(unknown.starts_with("cost: at least $0.00123 (1 turn of unknown cost); "), "{unknown}");
        let dropped = EventBody::TurnDropped { turn: 1, usage, cost: Cost::Unknown };
        assert_eq!(bill(dropped), unknown);
        let tokens =
            |line: &str| line.split("tokens: ").nth(1).unwrap().split(' ').next().unwrap().parse::<u64>();
        assert_eq!(tokens(&more).unwrap(), tokens(&known).unwrap() + 7);
    }

    #[test]
    fn every_event_is_documented() {
        let source = include_str!("../../crates/protocol/src/event.rs");
        let documented = include_str!("../../../docs/EVENTS.md");
        let body = source.split("pub enum EventBody {").nth(1).unwrap().split("\n}\n").next().unwrap();
        let mut names = 0;
        for line in body.lines() {
            let Some(rest) =
                line.strip_prefix("    ").filter(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
            else {
                continue;
            };
            let name: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
            let name = format!("{}{}", name[..1].to_lowercase(), &name[1..]);
            assert!(documented.contains(&format!("| `{name}` |")), "{name} is not in docs/EVENTS.md");
            names += 1;
        }
        assert!(names >= 18, "only {names} events were found");
    }
}
