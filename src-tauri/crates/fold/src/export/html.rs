//! A page that shows a session step by step, in one file: pictures in it, a slider and the arrow keys, no network. It runs
//! its own script and nothing that it shows; without scripts, all steps stand below each other.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use protocol::Event;
use protocol::tool::PictureView;
use protocol::view::SessionView;

use super::{
    Pictures, Written, asked_for, decided, ended, is_denied, outcome, replied, shown, shown_of, summed, utc,
};
use crate::Transcript;
use crate::transcript::{EntryBody, Stage, Step};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Of the two files, for the page's policy; a test holds them to it.
pub(super) const STYLE_HASH: &str = "sB+fzyuTgN0H1KiDvpEUv5x16XKB8/c2KjkbO7S4y7s=";
pub(super) const SCRIPT_HASH: &str = "am5sjjtf7Oh6yDm4ZKXSdwmf6h8PCDtx7JEx1plgSdA=";

/// Writes a session as a page.
///
/// # Errors
/// Of `out`.
pub fn html(
    out: &mut dyn Write,
    session: &SessionView,
    events: &[Event],
    pictures: Option<&mut Pictures<'_>>,
) -> io::Result<Written> {
    let title = escape(&session.title);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
         style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <header><h1 dir=\"auto\">{title}</h1><p class=\"faint\">{}</p></header>\n\
         <nav hidden aria-label=\"Steps\"><button id=\"back\" aria-label=\"Previous step\">&#9664;</button>\
         <input id=\"at\" type=\"range\" min=\"0\" max=\"0\" value=\"0\" aria-label=\"Step\">\
         <button id=\"on\" aria-label=\"Next step\">&#9654;</button><output id=\"where\" for=\"at\"></output></nav>\n<main>\n",
        utc(session.created)
    )?;
    let mut page = Page { out, pictures, seen: BTreeMap::new(), written: Written::default() };
    let transcript = Transcript::of(events);
    let mut said = String::new();
    for entry in transcript.entries() {
        match &entry.body {
            EntryBody::Goal { goal, model, .. } => {
                page.frame("Goal", &format!("{}<p class=\"faint\">{}</p>", text(goal), escape(model)), None)?;
            }
            EntryBody::Said { text: words } => page.frame("You", &text(words), None)?,
            // With the steps that it asks for; alone where there are none.
            EntryBody::Turn { text: words, .. } => {
                page.flush(&mut said)?;
                said = text(words);
            }
            EntryBody::Step(step) => {
                let body = std::mem::take(&mut said) + &of_step(step);
                page.frame(&step.call.tool, &body, picture_of(step))?;
            }
            EntryBody::Asked(asked) => {
                let name = format!("The server {} asks", asked.wanted.server);
                page.frame(&name, &(text(&asked_for(asked)) + &faint(&replied(asked))), None)?;
            }
            EntryBody::TurnFailed { message, .. } => page.frame("Tried again", &text(message), None)?,
            EntryBody::Paused { reason, .. } => page.frame("Paused", &text(reason), None)?,
            EntryBody::Resumed => page.frame("Went on", "", None)?,
            EntryBody::BudgetNear { bound } => page.frame("Budget", &text(&bound.to_string()), None)?,
            EntryBody::Noted { message, .. } => page.frame("Note", &text(message), None)?,
            EntryBody::End { end, bill, acts, report, .. } => {
                page.flush(&mut said)?;
                let mut below = summed(*acts, bill.agents, report.as_deref());
                below.push(format!("Cost: {}", bill.spent));
                let below: String = below.iter().map(|line| faint(line)).collect();
                page.frame("End", &(text(&ended(end, *acts)) + &below), None)?;
            }
        }
    }
    page.flush(&mut said)?;
    let Page { out, written, .. } = page;
    write!(out, "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n")?;
    Ok(written)
}

struct Page<'a, 'b> {
    out: &'a mut dyn Write,
    pictures: Option<&'a mut Pictures<'b>>,
    /// The pictures that are in the page, by the numbers of their elements.
    seen: BTreeMap<String, usize>,
    written: Written,
}

impl Page<'_, '_> {
    /// What the model said without asking for a step.
    fn flush(&mut self, said: &mut String) -> io::Result<()> {
        let said = std::mem::take(said);
        if said.is_empty() { Ok(()) } else { self.frame("Miki", &said, None) }
    }

    fn frame(&mut self, name: &str, body: &str, picture: Option<&PictureView>) -> io::Result<()> {
        write!(self.out, "<section><div class=\"words\"><h2>{}</h2>{body}</div>", escape(name))?;
        if let Some(picture) = picture {
            self.picture(picture)?;
        }
        self.out.write_all(b"</section>\n")
    }

    fn picture(&mut self, picture: &PictureView) -> io::Result<()> {
        let Some(pictures) = &mut self.pictures else { return Ok(()) };
        let (width, height) = (picture.width, picture.height);
        if let Some(number) = self.seen.get(&picture.blob.sha256) {
            return write!(
                self.out,
                "<img alt=\"The screen after this step\" width=\"{width}\" height=\"{height}\" data-same=\"p{number}\">"
            );
        }
        let bytes = pictures(&picture.blob);
        let kind = bytes.as_deref().and_then(|bytes| match bytes {
            [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
            [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
            _ => None,
        });
        let (Some(bytes), Some(kind)) = (bytes, kind) else {
            self.written.missing += 1;
            return self.out.write_all(b"<p class=\"gone\">The picture of this step is gone.</p>");
        };
        let number = self.seen.len();
        self.seen.insert(picture.blob.sha256.clone(), number);
        self.written.pictures += 1;
        write!(
            self.out,
            "<img id=\"p{number}\" alt=\"The screen after this step\" width=\"{width}\" height=\"{height}\" \
             src=\"data:{kind};base64,"
        )?;
        self.out.write_all(BASE64_STANDARD.encode(bytes).as_bytes())?;
        self.out.write_all(b"\">")
    }
}

fn picture_of(step: &Step) -> Option<&PictureView> {
    match &step.stage {
        Stage::Done { result } => result.picture.as_ref(),
        Stage::Proposed | Stage::Waiting { .. } | Stage::Running | Stage::NotRun => None,
    }
}

fn of_step(step: &Step) -> String {
    let mut page = String::new();
    let arguments = serde_json::to_string_pretty(&step.call.arguments).unwrap_or_default();
    let (effect, summary) = match &step.stage {
        Stage::Done { .. } if is_denied(step) => ("refused".into(), "not carried out".into()),
        Stage::Done { result } => (outcome(step, result.effect), result.summary.clone()),
        Stage::Proposed | Stage::NotRun => ("refused".into(), "not carried out".into()),
        Stage::Waiting { .. } => ("unknown".into(), "waits for an answer".into()),
        Stage::Running => ("unknown".into(), "under way".into()),
    };
    let effect = escape(&effect);
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "<p><span class=\"effect {effect}\">{effect}</span> <span dir=\"auto\">{}</span></p>\
         <pre dir=\"auto\">{}</pre>",
        escape(&summary),
        escape(&arguments)
    );
    if let (Stage::Done { result }, false) = (&step.stage, is_denied(step))
        && let Some(error) = result.error.as_ref().filter(|error| !result.summary.contains(&error.message))
    {
        page.push_str(&text(&error.message));
    }
    for (name, lines) in shown_of(step) {
        let _ = write!(page, "{}<pre dir=\"auto\">{}</pre>", faint(&name), escape(&lines));
    }
    for line in decided(step) {
        page.push_str(&faint(&line));
    }
    page
}

fn faint(line: &str) -> String {
    if line.is_empty() {
        return String::new();
    }
    format!("<p class=\"faint\" dir=\"auto\">{}</p>", escape(line))
}

fn text(words: &str) -> String {
    if words.trim().is_empty() {
        return String::new();
    }
    format!("<p class=\"text\" dir=\"auto\">{}</p>", escape(words))
}

fn escape(text: &str) -> String {
    let text = shown(text);
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}
