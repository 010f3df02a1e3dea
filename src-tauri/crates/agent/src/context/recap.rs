//! What was done, as lines, once the messages that told it are left out; and the messages that stand for them. Pure.
//!
//! A line says what was called, on what, what came of it, and what was in it that is not shown any more. It holds names and
//! titles that others wrote, so it goes back as a tool's answer, which is data. The user's own words stay the user's.

use models::{Message, Part, ProposedCall, ToolAnswer, Turn};
use protocol::recap::{Notes, Recap};
use protocol::tool::Source;
use serde_json::{Value, json};
use tools::{NOTES, REASON};

/// Characters of all lines; the oldest go first, and are counted.
const LINES_CHARS: usize = 12_000;
/// Of one line, of the arguments in it, of a title, of what the model said.
const LINE_CHARS: usize = 400;
const ARGUMENT_CHARS: usize = 140;
const TITLE_CHARS: usize = 80;
const SAID_CHARS: usize = 200;
/// Words of the user's that stay as they are, the newest; and the characters of one.
const MOST_SAID: usize = 8;
const USER_CHARS: usize = 2_000;
/// How each line begins that has words of the user's. No other does: no tool's name has a blank.
const USERS: &str = "the user ";
/// So little data is in the summary as well.
const SMALL_DATA: usize = 80;

/// Whose messages they are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// What their user said becomes lines as well.
    EarlierRuns,
    ThisRun,
}

/// Takes messages in. Answers come with their turn's calls, so a turn is never given without them.
pub(super) fn add(recap: &mut Recap, messages: &[Message], of: Of) {
    recap.earlier |= of == Of::EarlierRuns && !messages.is_empty();
    let mut calls: &[ProposedCall] = &[];
    for message in messages {
        match message {
            Message::User(parts) if of == Of::EarlierRuns => {
                push(recap, &format!("the user asked: {}", quoted(&text_of(parts))));
            }
            Message::User(parts) => say(recap, &text_of(parts)),
            Message::Assistant(turn) => {
                if !turn.text.trim().is_empty() {
                    push(recap, &format!("you said: {}", quoted(&turn.text)));
                }
                calls = &turn.calls;
            }
            Message::ToolResults(answers) => {
                let all = answers.iter().enumerate();
                let lines: Vec<String> = all.filter_map(|(at, answer)| line(calls.get(at), answer)).collect();
                lines.into_iter().for_each(|line| push(recap, &line));
            }
        }
    }
}

/// Begins with another goal: what the last one was for becomes lines.
pub(super) fn begin(recap: &mut Recap, goal: String) {
    let before = std::mem::replace(&mut recap.goal, goal);
    let said = std::mem::take(&mut recap.said);
    if before.is_empty() {
        return;
    }
    recap.earlier = true;
    push(recap, &format!("all before this was for: {}", quoted(&before)));
    for words in said {
        push(recap, &format!("the user had said: {}", quoted(&words)));
    }
}

/// The messages that stand for it.
pub fn messages(recap: &Recap) -> Vec<Message> {
    let user = |text: &String| Message::User(vec![Part::Text(text.clone())]);
    let mut messages: Vec<Message> = std::iter::once(&recap.goal).chain(&recap.said).map(user).collect();
    if recap.lines.is_empty() && recap.notes.is_empty() {
        return messages;
    }
    let asks = ProposedCall::new(None, NOTES, json!({}));
    messages.push(Message::Assistant(Turn { calls: vec![asks], ..Turn::default() }));
    let mut response = json!({
        "effect": "confirmed",
        "summary": "your notes, and what you did so far; older pictures and results are left out: look again for more",
        "notes": recap.notes.text,
        "done": recap.lines,
    });
    if !recap.notes.read.is_empty() {
        let read: Vec<String> = recap.notes.read.iter().map(called).collect();
        response["notedAfterReading"] = json!(read);
    }
    if recap.left_out > 0 {
        response["leftOut"] = json!(format!("{} older lines", recap.left_out));
    }
    messages.push(Message::ToolResults(vec![ToolAnswer {
        id: None,
        name: NOTES.into(),
        response,
        image: None,
    }]));
    messages
}

/// Leaves out the lines that tell what was done. What the user said stays.
pub(super) fn forget_what_was_done(recap: &mut Recap) {
    let before = recap.lines.len();
    recap.lines.retain(|line| line.starts_with(USERS));
    recap.left_out += (before - recap.lines.len()) as u64;
}

fn say(recap: &mut Recap, words: &str) {
    recap.said.push(cut(words, USER_CHARS));
    if recap.said.len() > MOST_SAID {
        let oldest = recap.said.remove(0);
        push(recap, &format!("the user said: {}", quoted(&oldest)));
    }
}

fn push(recap: &mut Recap, line: &str) {
    recap.lines.push(cut(line, LINE_CHARS));
    let mut chars: usize = recap.lines.iter().map(|line| line.chars().count()).sum();
    let mut over = 0;
    while chars > LINES_CHARS && over < recap.lines.len() {
        chars -= recap.lines[over].chars().count();
        over += 1;
    }
    recap.lines.drain(..over);
    recap.left_out += over as u64;
}

/// `None` for what stands in the notes.
fn line(call: Option<&ProposedCall>, answer: &ToolAnswer) -> Option<String> {
    let response = &answer.response;
    let failed = response.get("error").is_some();
    if answer.name == NOTES && !failed {
        return None;
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let arguments = call.map(|call| brief(&call.arguments)).filter(|brief| brief != "{}").unwrap_or_default();
    let mut line = [answer.name.clone(), arguments].join(" ").trim_end().to_owned();
    line +=
        &format!(": {}, {}", text(&response["effect"]), one_line(&text(&response["summary"]), SAID_CHARS));
    let mut held = Vec::new();
    let data = response.get("data").unwrap_or(&Value::Null);
    for (what, title) in titles(data) {
        if !line.contains(title) {
            held.push(format!("{what} {}", one_line(title, TITLE_CHARS)));
        }
    }
    let size = if data.is_null() { 0 } else { data.to_string().chars().count() };
    if size > SMALL_DATA {
        held.push(format!("{size} characters of data"));
    }
    if answer.image.is_some() || response.get("picture").is_some() {
        held.push("a picture".to_owned());
    }
    if let Some(changed) = response.get("changedByTheUser") {
        held.push(format!("the user had made it {}", brief(changed)));
    }
    if !held.is_empty() {
        line += &format!(" [{}]", held.join("; "));
    }
    Some(line)
}

/// What is called how in an answer: windows, pages, files.
fn titles(data: &Value) -> Vec<(&'static str, &str)> {
    let places = [
        ("window", "/window"),
        ("window", "/evidence/activeWindow/to"),
        ("page", "/title"),
        ("page", "/url"),
        ("file", "/path"),
    ];
    let found = places.into_iter().filter_map(|(what, at)| Some((what, data.pointer(at)?.as_str()?)));
    found.filter(|(_, title)| !title.trim().is_empty()).collect()
}

/// Arguments as JSON, without their reason.
fn brief(arguments: &Value) -> String {
    let mut arguments = arguments.clone();
    if let Some(object) = arguments.as_object_mut() {
        object.shift_remove(REASON);
    }
    if arguments.is_null() { String::new() } else { one_line(&arguments.to_string(), ARGUMENT_CHARS) }
}

fn called(source: &Source) -> String {
    match source {
        Source::Page { host: Some(host) } => format!("a page of {host}"),
        Source::Page { host: None } => "a page".to_owned(),
        Source::Application { name } => format!("the application {name}"),
        Source::Screen => "the screen".to_owned(),
        Source::Clipboard => "the clipboard".to_owned(),
        Source::Script => "a script".to_owned(),
        Source::Server { name } => format!("the server {name}"),
        Source::Search => "a search".to_owned(),
        Source::File { path } => format!("the file {path}"),
        Source::Terminal => "the terminal".to_owned(),
        Source::Agenda => "the calendar".to_owned(),
        Source::Earlier => "an earlier run".to_owned(),
        Source::Agent => "another agent".to_owned(),
    }
}

/// After an edit of them that was done.
pub(super) fn note(notes: &mut Notes, edit: &Value, read: &[Source]) {
    if let Ok(text) = tools::edited_notes(&notes.text, edit)
        && text != notes.text
    {
        notes.text = text;
        Source::add(&mut notes.read, read.iter().cloned());
    }
}

pub fn text_of(parts: &[Part]) -> String {
    let text = |part: &Part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::Image(_) => None,
    };
    parts.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

fn quoted(text: &str) -> String {
    format!("“{}”", one_line(text, SAID_CHARS))
}

fn one_line(text: &str, most: usize) -> String {
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), most)
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests;
