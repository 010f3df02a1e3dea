//! What was read from the screen: cleaned of characters that people cannot see, and bounded. Data, never instructions.
//!
//! Invisible characters carry orders past a person's eye (Unicode tags), or make text look like something it is not
//! (bidirectional controls). The price: emoji joined by zero-width joiners fall into their parts.

use desktop::Snapshot;
use serde_json::Value;

/// Characters of one name; longer ones are cut.
const NAME_CHARS: usize = 200;
/// Characters of a value that every element keeps, however much text the others have.
const VALUE_CHARS: usize = 80;

/// Text without invisible characters, and how many those were.
pub fn clean(text: &str) -> (String, usize) {
    let mut hidden = 0;
    let seen = text
        .chars()
        .filter(|&c| {
            let drop = is_invisible(c);
            hidden += usize::from(drop);
            !drop
        })
        .collect();
    (seen, hidden)
}

/// Cleans every text in JSON.
pub fn clean_json(value: &mut Value) {
    match value {
        Value::String(text) => *text = clean(text).0,
        Value::Array(all) => all.iter_mut().for_each(clean_json),
        Value::Object(fields) => fields.values_mut().for_each(clean_json),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Cleaned, on one line, at most `most` characters.
pub fn line(text: &str, most: usize) -> String {
    let (text, _) = clean(text);
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), most)
}

/// At most `most` characters; what was cut is said in the text itself.
pub fn cut(text: &str, most: usize) -> String {
    let all = text.chars().count();
    if all <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most).collect();
    format!("{kept}… (cut: {} of {all} characters)", all - most)
}

fn is_invisible(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        c if c.is_control() => true,
        // soft hyphen, combining grapheme joiner, Arabic letter mark, Hangul and Khmer fillers, Mongolian separators
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => true,
        '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' => true,
        // zero width, joiners, direction marks, embeddings, overrides, isolates, invisible operators, separators
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        // interlinear annotations, musical controls
        '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' => true,
        // tags and variation selectors, which spell whole sentences unseen; the sixteen common selectors stay
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// Cleans and bounds every text of a snapshot, and says in `cut` what was taken away.
pub(crate) fn clean_snapshot(mut snapshot: Snapshot, nodes: u32, data_chars: usize) -> Snapshot {
    let mut hidden = 0;
    let mut shortened = Vec::new();
    let mut spare = data_chars;
    let nodes = usize::try_from(nodes).unwrap_or(usize::MAX);
    let more = snapshot.elements.len().saturating_sub(nodes);
    if more > 0 {
        let all = snapshot.elements.len();
        snapshot.elements.truncate(nodes);
        snapshot.cut.push(format!("cut: {more} of {all} elements; ask with app or query for fewer"));
    }
    let mut tidy = |text: &mut String, most: usize| {
        let (seen, removed) = clean(text);
        hidden += removed;
        *text = cut(&seen, most);
        seen.chars().count() > most
    };
    tidy(&mut snapshot.app, NAME_CHARS);
    tidy(&mut snapshot.window, NAME_CHARS);
    for element in &mut snapshot.elements {
        tidy(&mut element.reference, NAME_CHARS);
        tidy(&mut element.role, NAME_CHARS);
        for state in &mut element.states {
            tidy(state, NAME_CHARS);
        }
        for action in &mut element.actions {
            tidy(action, NAME_CHARS);
        }
        let mut short = tidy(&mut element.name, NAME_CHARS);
        short |= tidy(&mut element.description, NAME_CHARS);
        // Long values share one allowance, so that one big editor is whole and twenty of them are still bounded.
        let length = element.value.chars().count();
        short |= tidy(&mut element.value, VALUE_CHARS.min(data_chars) + spare);
        spare = spare.saturating_sub(length.saturating_sub(VALUE_CHARS));
        if short {
            shortened.push(element.reference.clone());
        }
    }
    let read = snapshot.marks.iter_mut().flat_map(|mark| [&mut mark.text, &mut mark.beside]);
    for said in snapshot.cut.iter_mut().chain(read) {
        tidy(said, NAME_CHARS);
    }
    if !shortened.is_empty() {
        snapshot.cut.push(format!("cut: text of {}", shortened.join(", ")));
    }
    if hidden > 0 {
        snapshot.cut.push(format!("cut: {hidden} invisible characters, which can carry hidden orders"));
    }
    snapshot
}

#[cfg(test)]
mod tests;
