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
mod tests {
    use super::*;
    use desktop::{Glimpse, WindowId};
    use pictures::{Frame, Order, thumbnail};

    fn glance(windows: &[(u64, &str)], active: u64, focused: &str) -> Glance {
        let windows = windows.iter().map(|(id, title)| Glimpse { id: WindowId(*id), title: (*title).into() });
        Glance {
            windows: windows.collect(),
            active: Some(WindowId(active)),
            focused: (!focused.is_empty()).then(|| focused.to_owned()),
            events: 0,
        }
    }

    #[derive(PartialEq)]
    enum Shown {
        Nothing,
        /// A white box.
        Box,
    }

    fn look(shown: &Shown, glance: Glance) -> ScreenState {
        let is_white =
            |x: u32, y: u32| *shown == Shown::Box && (10..40).contains(&x) && (20..60).contains(&y);
        let pixel = |at: u32| [if is_white(at % 100, at / 100) { 255 } else { 0 }; 4];
        let pixels: Vec<u8> = (0..100 * 100).flat_map(pixel).collect();
        let frame = Frame { width: 100, height: 100, order: Order::Bgrx, pixels };
        ScreenState { thumbnail: thumbnail(&frame).ok(), glance: Some(glance) }
    }

    fn sent() -> Outcome {
        Outcome { effect: Effect::Unverified, ..Outcome::looked("clicked", json!({})) }
    }

    #[test]
    fn what_changed_is_told_in_parts() {
        let before = look(&Shown::Nothing, glance(&[(1, "Untitled"), (2, "Old")], 1, "button \"Save\""));
        let after =
            look(&Shown::Box, glance(&[(1, "*Untitled"), (3, "Save\u{200b} As")], 3, "entry \"Name\""));
        let mut outcome = sent();
        judge(&mut outcome, Verify::Screen, &before, &after);
        assert_eq!(outcome.effect, Effect::Unverified);
        assert_eq!(outcome.summary, "clicked; opened the window \"Save As\"; closed the window \"Old\"");
        let expected = json!({
            "screen": "sent; the screen changed",
            "evidence": {
                "windowsOpened": ["Save As"],
                "windowsClosed": ["Old"],
                "titles": [{"from": "Untitled", "to": "*Untitled"}],
                "activeWindow": {"from": "Untitled", "to": "Save As"},
                "focus": {"from": "button \"Save\"", "to": "entry \"Name\""},
                "changed": {"bounds": {"x": 100.0, "y": 200.0, "width": 300.0, "height": 400.0}, "percent": 12.0},
            },
        });
        assert_eq!(outcome.data, expected);
    }

    #[test]
    fn keys_have_arrived_where_a_window_closed_or_the_focus_moved() {
        let before = look(&Shown::Nothing, glance(&[(1, "Untitled"), (2, "About")], 2, "button \"OK\""));
        let closed = look(&Shown::Nothing, glance(&[(1, "Untitled")], 1, ""));
        let moved = look(&Shown::Nothing, glance(&[(1, "Untitled"), (2, "About")], 2, "link \"More\""));
        let silent = look(&Shown::Box, glance(&[(1, "Untitled"), (2, "About")], 2, ""));
        for (after, effect) in
            [(closed, Effect::Confirmed), (moved, Effect::Confirmed), (silent, Effect::Unverified)]
        {
            let mut outcome = sent();
            judge(&mut outcome, Verify::Keys, &before, &after);
            assert_eq!(outcome.effect, effect, "{}", outcome.summary);
        }
    }

    #[test]
    fn a_screen_that_is_as_before_is_said_and_proves_nothing() {
        let same = look(&Shown::Nothing, glance(&[(1, "Untitled")], 1, ""));
        let mut outcome = sent();
        judge(&mut outcome, Verify::Screen, &same, &same);
        assert_eq!(
            (outcome.effect, outcome.summary.as_str()),
            (Effect::Unverified, "clicked; the screen is as before")
        );
        assert_eq!(outcome.data, json!({"screen": "sent; the screen is as before"}));
    }

    #[test]
    fn a_focus_that_moved_without_a_pixel_is_a_change() {
        let before = look(&Shown::Nothing, glance(&[(1, "Untitled")], 1, "entry \"A\""));
        let after = look(&Shown::Nothing, glance(&[(1, "Untitled")], 1, "entry \"B\""));
        let mut outcome = sent();
        judge(&mut outcome, Verify::Screen, &before, &after);
        assert_eq!(outcome.effect, Effect::Unverified);
        assert_eq!(
            outcome.data["screen"],
            "sent; the screen looks as before, but a window or the focus changed"
        );
    }

    #[test]
    fn what_was_read_back_stands_whatever_the_screen_shows() {
        let same = look(&Shown::Nothing, glance(&[], 0, ""));
        let mut outcome = Outcome::looked("set", json!({}));
        judge(&mut outcome, Verify::Screen, &same, &same);
        assert_eq!((outcome.effect, outcome.summary.as_str()), (Effect::Confirmed, "set"));
    }
}
