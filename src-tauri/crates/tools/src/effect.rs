//! What an act did, by the looks before and after it: windows, focus, pixels. Pure.
//!
//! What was read back by the tool itself stands; what was only sent stays "unverified": that something changed does not
//! say that it was the right thing, and that nothing did does not say that it was not done. Keys mean no more than to
//! arrive: a window or focus that changed tells that.

use desktop::Glance;
use protocol::tool::Effect;
use serde_json::{Map, Value, json};

use crate::settle::ScreenState;
use crate::tool::Outcome;
use crate::{Verify, untrusted};

/// Characters of a title or name, and windows named.
const TITLE_CHARS: usize = 80;
const MOST_NAMED: usize = 5;

/// Says in an outcome what can be seen of it.
pub(crate) fn judge(outcome: &mut Outcome, verify: Verify, before: &ScreenState, after: &ScreenState) {
    let mut evidence = match (&before.glance, &after.glance) {
        (Some(before), Some(after)) => scene(before, after),
        (None, _) | (_, None) => Map::new(),
    };
    if let Some(changed) = after.changed_since(before) {
        evidence.insert("changed".into(), json!(changed));
    }
    let is_sent = outcome.effect == Effect::Unverified && !outcome.in_part;
    if is_sent && verify == Verify::Keys && took_keys(before, after, &evidence) {
        outcome.effect = Effect::Confirmed;
    }
    let as_before = after.is_like(before);
    if outcome.effect == Effect::Unverified && before.thumbnail.is_some() {
        let same_pixels = evidence.get("changed").is_none() && before.pixels() == after.pixels();
        let seen = match (as_before, same_pixels) {
            (true, _) => "sent; the screen is as before",
            (false, true) => "sent; the screen looks as before, but a window or the focus changed",
            (false, false) => "sent; the screen changed",
        };
        // Not "no change": a button may have done its work where nobody sees it.
        if as_before {
            outcome.say("the screen is as before");
        }
        if let Value::Object(data) = &mut outcome.data {
            data.insert("screen".into(), seen.into());
        }
    }
    for (kind, words) in [("windowsOpened", "opened"), ("windowsClosed", "closed")] {
        if let Some(Value::Array(titles)) = evidence.get(kind) {
            let titles: Vec<String> = titles.iter().map(Value::to_string).collect();
            outcome.say(&format!("{words} the window {}", titles.join(", ")));
        }
    }
    if let Value::Object(data) = &mut outcome.data
        && !evidence.is_empty()
    {
        data.insert("evidence".into(), Value::Object(evidence));
    }
}

/// Whether the keyboard is elsewhere now. What an element is called may not be told in time.
fn took_keys(before: &ScreenState, after: &ScreenState, evidence: &Map<String, Value>) -> bool {
    let focused = |state: &ScreenState| state.glance.as_ref().and_then(|glance| glance.focused.clone());
    let has_moved = focused(before).zip(focused(after)).is_some_and(|(before, after)| before != after);
    has_moved || ["windowsOpened", "windowsClosed"].iter().any(|kind| evidence.contains_key(*kind))
}

/// Windows and focus that are not as before. Titles and names come from the screen.
fn scene(before: &Glance, after: &Glance) -> Map<String, Value> {
    let clean = |text: &str| untrusted::line(text, TITLE_CHARS);
    let mut evidence = Map::new();
    let mut add = |kind: &str, value: Value| drop(evidence.insert(kind.into(), value));
    for (kind, here, there) in [("windowsOpened", after, before), ("windowsClosed", before, after)] {
        let titles: Vec<String> = here.without(there).take(MOST_NAMED).map(|one| clean(&one.title)).collect();
        if !titles.is_empty() {
            add(kind, json!(titles));
        }
    }
    let renamed: Vec<Value> = after
        .windows
        .iter()
        .filter_map(|now| {
            let was = before.windows.iter().find(|was| was.id == now.id && was.title != now.title)?;
            Some(json!({ "from": clean(&was.title), "to": clean(&now.title) }))
        })
        .take(MOST_NAMED)
        .collect();
    if !renamed.is_empty() {
        add("titles", json!(renamed));
    }
    if before.active != after.active {
        let title = |glance: &Glance| glance.active_title().map(clean);
        add("activeWindow", json!({ "from": title(before), "to": title(after) }));
    }
    if before.focused != after.focused {
        let name = |glance: &Glance| glance.focused.as_deref().map(clean);
        add("focus", json!({ "from": name(before), "to": name(after) }));
    }
    evidence
}

#[cfg(test)]
mod tests;
