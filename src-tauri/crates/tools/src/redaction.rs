//! Values of secrets are taken out of what calls bring back and of what questions show.

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use desktop::Snapshot;
use protocol::contract::{About, Finding};
use protocol::terminal::{Line, Span, Style};
use protocol::tool::Approval;
use serde_json::Value as Json;

use crate::digest::hex;
use crate::secrets::Secret;
use crate::tool::Outcome;

/// So short a value is taken out only where it stands by itself: in "e1234" it is not meant. Of a longer one, so much may
/// be left of a text that was cut.
const SHORT: usize = 8;

/// A value of fewer letters and digits would be found in any line that was read in pixels.
const LEAST_READ: usize = 4;
/// Of so many signs a reader of pixels may take one for another.
const SIGNS_AN_ERROR: usize = 7;

/// Told in place of a line that was read in pixels and may have a value in it.
const NOT_TOLD: &str = "(not told: it looks like a secret of the user's)";

/// Takes all values out of what came of a call.
pub(crate) fn redact(outcome: &mut Outcome, secrets: &[Secret]) {
    let Some(redactor) = Redactor::of(secrets) else { return };
    outcome.summary = redactor.clean_quoting(&outcome.summary);
    redact_json(&mut outcome.data, &redactor);
    if let Some(error) = &mut outcome.error {
        error.message = redactor.clean_quoting(&error.message);
    }
    for change in &mut outcome.changes {
        change.name = redactor.clean(&change.name);
        change.diff = change.diff.take().map(|diff| redactor.clean(&diff));
    }
    outcome.output.iter_mut().for_each(|line| redactor.clean_line(line));
}

/// Takes lines that may have a value in them out of what was read in pixels.
pub(crate) fn redact_read<'a>(lines: impl Iterator<Item = &'a mut String>, secrets: &[Secret]) {
    let Some(redactor) = Redactor::of(secrets) else { return };
    lines.filter(|line| redactor.may_read(line)).for_each(|line| NOT_TOLD.clone_into(line));
}

/// The same of a list of elements: of the marks in it.
pub(crate) fn redact_marks(snapshot: &mut Snapshot, secrets: &[Secret]) {
    redact_read(snapshot.marks.iter_mut().flat_map(|mark| [&mut mark.text, &mut mark.beside]), secrets);
}

/// Takes all values out of what a command printed.
pub(crate) fn redact_lines(lines: &mut [Line], secrets: &[Secret]) {
    let Some(redactor) = Redactor::of(secrets) else { return };
    lines.iter_mut().for_each(|line| redactor.clean_line(line));
}

fn redact_json(data: &mut Json, redactor: &Redactor<'_>) {
    match data {
        Json::String(text) => *text = redactor.clean(text),
        Json::Array(all) => all.iter_mut().for_each(|one| redact_json(one, redactor)),
        Json::Object(fields) => {
            let cleaned = std::mem::take(fields).into_iter().map(|(name, mut value)| {
                redact_json(&mut value, redactor);
                (redactor.clean(&name), value)
            });
            *fields = cleaned.collect();
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// Takes all values out of what a question shows beside the call's own arguments.
pub(crate) fn redact_question(question: &mut Approval, secrets: &[Secret]) {
    let Some(redactor) = Redactor::of(secrets) else { return };
    let Approval { reason, window, target, goes_to, about, .. } = question;
    *reason = redactor.clean_quoting(reason);
    match &mut **about {
        About::Call { diff: Some(diff), .. } => *diff = redactor.clean(diff),
        About::Elicitation(wanted) => wanted.texts().for_each(|text| *text = redactor.clean_quoting(text)),
        About::Call { diff: None, .. } | About::Plan { .. } | About::Result { .. } => {}
    }
    for window in window.iter_mut().chain(target) {
        window.title = redactor.clean(&window.title);
    }
    for there in goes_to {
        *there = redactor.clean_quoting(there);
    }
}

/// Takes all values out of what checks of a plan found.
pub(crate) fn redact_findings(findings: &mut [Finding], secrets: &[Secret]) {
    let Some(redactor) = Redactor::of(secrets) else { return };
    for finding in findings {
        finding.found = redactor.clean(&finding.found);
    }
}

/// A text with the names of secrets in the places of their values.
pub(crate) fn redacted(text: &str, secrets: &[Secret]) -> String {
    Redactor::of(secrets).map_or_else(|| text.to_owned(), |redactor| redactor.clean(text))
}

/// Finds secrets' values, as they are and as they are written in addresses, pages, JSON, base64 and hex.
pub(crate) struct Redactor<'a> {
    finder: AhoCorasick,
    /// For each pattern of the finder, the secret that it is the value of.
    meant: Vec<&'a Secret>,
    /// Each value as it is read in pixels.
    seen: Vec<Vec<char>>,
}

impl<'a> Redactor<'a> {
    /// `None` if there are no secrets.
    pub(crate) fn of(secrets: &'a [Secret]) -> Option<Self> {
        let written =
            |secret: &'a Secret| spellings(&secret.value.0).into_iter().map(move |text| (text, secret));
        let (texts, meant): (Vec<_>, Vec<_>) = secrets.iter().flat_map(written).unzip();
        // The longest first: a value may begin with another one.
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts).ok()?;
        let seen = secrets.iter().map(|secret| as_pixels(&secret.value.0));
        let seen = seen.filter(|value| value.len() >= LEAST_READ).collect();
        (!meant.is_empty()).then_some(Self { finder, meant, seen })
    }

    /// Whether a text has a value in it.
    pub(crate) fn finds(&self, text: &str) -> bool {
        self.clean(text) != text
    }

    /// Whether a line that was read in pixels may have a value in it: readers take signs that look alike for one another,
    /// and miss one here and there.
    pub(crate) fn may_read(&self, line: &str) -> bool {
        let read = as_pixels(line);
        let is_there = |value: &Vec<char>| has_about(&read, value, value.len() / SIGNS_AN_ERROR);
        self.finds(line) || self.seen.iter().any(is_there)
    }

    /// The same as [`Self::clean`], also for what a text quotes of what was read in pixels.
    fn clean_quoting(&self, text: &str) -> String {
        let mut done = String::new();
        let text = self.clean(text);
        let mut rest = text.as_str();
        while let Some(open) = rest.find(['"', '“']) {
            let from = open + rest[open..].chars().next().map_or(1, char::len_utf8);
            let Some(length) = rest[from..].find(['"', '”']) else { break };
            let quoted = &rest[from..from + length];
            done.push_str(&rest[..from]);
            done.push_str(if self.may_read(quoted) { NOT_TOLD } else { quoted });
            rest = &rest[from + length..];
            let close = rest.chars().next().map_or(0, char::len_utf8);
            done.push_str(&rest[..close]);
            rest = &rest[close..];
        }
        done + rest
    }

    /// A value may have several colours: what is left of the line then has one.
    fn clean_line(&self, line: &mut Line) {
        let whole: String = line.spans.iter().map(|span| span.text.as_str()).collect();
        let text = self.clean(&whole);
        if text != whole {
            line.spans = vec![Span { text, style: Style::default() }];
        }
    }

    fn clean(&self, text: &str) -> String {
        let mut done = String::new();
        self.finder.replace_all_with(text, &mut done, |found, value, done| {
            let joins = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            let (before, after) = (text[..found.start()].chars(), text[found.end()..].chars());
            let stands_alone = !joins(before.clone().next_back()) && !joins(after.clone().next());
            match value.chars().count() >= SHORT || stands_alone {
                true => done.push_str(&self.meant[found.pattern()].placeholder()),
                false => done.push_str(value),
            }
            true
        });
        self.without_cut_values(done)
    }

    /// A text that was cut to a length may end with the beginning of a value, or begin with the end of one.
    fn without_cut_values(&self, mut text: String) -> String {
        for secret in &self.meant {
            let value = secret.value.0.as_str();
            let enough = |part: &str| part.chars().count() >= SHORT;
            let parts = || value.char_indices().skip(1).map(|(at, _)| value.split_at(at));
            let bare = text.trim_end_matches(['…', '.', ' ']);
            if let Some((part, _)) = parts().filter(|(part, _)| enough(part) && bare.ends_with(part)).last() {
                let at = bare.len() - part.len();
                text.replace_range(at..at + part.len(), &secret.placeholder());
            }
            let skipped = text.len() - text.trim_start_matches(['…', '.', ' ']).len();
            if let Some((_, part)) =
                parts().find(|(_, part)| enough(part) && text[skipped..].starts_with(part))
            {
                text.replace_range(skipped..skipped + part.len(), &secret.placeholder());
            }
        }
        text
    }
}

/// A value as it may stand in what is read.
fn spellings(value: &str) -> Vec<String> {
    let percent = |upper: bool, space: &str| -> String {
        let escaped = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            b' ' => space.to_owned(),
            _ if upper => format!("%{byte:02X}"),
            _ => format!("%{byte:02x}"),
        };
        value.bytes().map(escaped).collect()
    };
    let json = Json::from(value).to_string();
    let html = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    let hex = hex(value.as_bytes());
    // A form writes a plus for a space.
    let mut all = vec![
        value.to_owned(),
        percent(true, "%20"),
        percent(false, "%20"),
        percent(true, "+"),
        percent(false, "+"),
        json[1..json.len() - 1].to_owned(),
        html.replace('\'', "&#39;"),
        html,
        hex.to_uppercase(),
        hex,
        STANDARD_NO_PAD.encode(value),
        URL_SAFE_NO_PAD.encode(value),
    ];
    all.extend((0..3).flat_map(|before| base64_amid(value.as_bytes(), before)));
    all.sort();
    all.dedup();
    all
}

/// What stays the same of a value's base64 whatever stands before and after it, where so many bytes over a multiple of three
/// are before it. Empty if that is too little to be meant.
fn base64_amid(value: &[u8], before: usize) -> Vec<String> {
    let bytes = [&[0; 2][..before], value].concat();
    // A character is of six bits: one that has bits of another byte too is not the value's own.
    let first = (before * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    let texts = [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)];
    let own = texts.iter().filter_map(|text| text.get(first..end)).filter(|own| own.len() >= SHORT);
    own.map(str::to_owned).collect()
}

/// The letters and digits of a text, those that look alike as one of them.
fn as_pixels(text: &str) -> Vec<char> {
    let of_its_kind = |sign| match sign {
        'o' | 'q' | 'ο' | 'о' | '○' | '〇' => '0',
        'i' | 'l' | '|' | '!' | 'ı' => '1',
        'z' => '2',
        's' | '$' => '5',
        'b' => '8',
        'g' => '9',
        other => other,
    };
    let signs = text.chars().flat_map(char::to_lowercase).map(of_its_kind);
    let text: String = signs.filter(|sign| sign.is_alphanumeric()).collect();
    text.replace("rn", "m").replace("vv", "w").replace("c1", "d").chars().collect()
}

/// Whether a text has a value in it but for so many signs that are others, too many or missing (Sellers' algorithm).
fn has_about(text: &[char], value: &[char], errors: usize) -> bool {
    // How far the value's first signs are from the text that ends here, for each number of them.
    let mut apart: Vec<usize> = (0..=value.len()).collect();
    text.iter().any(|sign| {
        let mut before = apart[0];
        for (at, meant) in value.iter().enumerate() {
            let replaced = before + usize::from(meant != sign);
            before = apart[at + 1];
            apart[at + 1] = replaced.min(before + 1).min(apart[at] + 1);
        }
        apart[value.len()] <= errors
    })
}

#[cfg(test)]
mod tests;
