//! What an act did, by the looks before and after it: windows, focus, pixels. Pure.
//!
//! What was read back by the tool itself stands; what was only sent is judged here, and never becomes more than
//! "unverified": that something changed does not say that it was the right thing.

use desktop::Glance;
use pictures::Difference;
use protocol::tool::Effect;
use serde_json::{Map, Value, json};

use crate::eyes::Look;
use crate::tool::Outcome;
use crate::untrusted;

/// Characters of a title or name, and windows named.
const TITLE_CHARS: usize = 80;
const MOST_NAMED: usize = 5;

/// Says in an outcome what can be seen of it.
pub(crate) fn judge(outcome: &mut Outcome, before: &Look, after: &Look, changed: Option<Difference>) {
    let mut evidence = match (&before.glance, &after.glance) {
        (Some(before), Some(after)) => scene(before, after),
        (None, _) | (_, None) => Map::new(),
    };
    if let Some(changed) = changed {
        evidence.insert("changed".into(), json!(changed));
    }
    let as_before = after.is_like(before);
    if outcome.effect == Effect::Unverified && before.picture.is_some() {
        let same_pixels = evidence.get("changed").is_none() && pixels(before) == pixels(after);
        let seen = match (as_before, same_pixels) {
            (true, _) => "sent; the screen is as before",
            (false, true) => "sent; the screen looks as before, but a window or the focus changed",
            (false, false) => "sent; the screen changed",
        };
        if as_before {
            outcome.effect = Effect::NoChange;
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

fn pixels(look: &Look) -> Option<u64> {
    look.picture.as_ref().map(|picture| picture.pixels)
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
    use crate::TakenPicture;
    use desktop::{Glimpse, WindowId};
    use protocol::geometry::{NormRect, PixelSize};

    fn glance(windows: &[(u64, &str)], active: u64, focused: &str) -> Glance {
        let windows = windows.iter().map(|(id, title)| Glimpse { id: WindowId(*id), title: (*title).into() });
        Glance {
            windows: windows.collect(),
            active: Some(WindowId(active)),
            focused: (!focused.is_empty()).then(|| focused.to_owned()),
            events: 0,
        }
    }

    fn look(pixels: u64, glance: Glance) -> Look {
        let size = PixelSize { width: 1, height: 1 };
        let picture = TakenPicture { jpeg: Vec::new(), size, dot: None, pixels, sight: pixels };
        Look { picture: Some(picture), glance: Some(glance) }
    }

    fn sent() -> Outcome {
        Outcome { effect: Effect::Unverified, ..Outcome::looked("clicked", json!({})) }
    }

    #[test]
    fn what_changed_is_told_in_parts() {
        let before = look(1, glance(&[(1, "Untitled"), (2, "Old")], 1, "button \"Save\""));
        let after = look(2, glance(&[(1, "*Untitled"), (3, "Save\u{200b} As")], 3, "entry \"Name\""));
        let mut outcome = sent();
        let bounds = NormRect { x: 1.0, y: 2.0, width: 3.0, height: 4.0 };
        judge(&mut outcome, &before, &after, Some(Difference { bounds, percent: 0.5 }));
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
                "changed": {"bounds": {"x": 1.0, "y": 2.0, "width": 3.0, "height": 4.0}, "percent": 0.5},
            },
        });
        assert_eq!(outcome.data, expected);
    }

    #[test]
    fn nothing_that_changed_is_no_change_and_never_a_success() {
        let same = look(1, glance(&[(1, "Untitled")], 1, ""));
        let mut outcome = sent();
        judge(&mut outcome, &same, &same, None);
        assert_eq!(
            (outcome.effect, outcome.summary.as_str()),
            (Effect::NoChange, "clicked; the screen is as before")
        );
        assert_eq!(outcome.data, json!({"screen": "sent; the screen is as before"}));
    }

    #[test]
    fn a_focus_that_moved_without_a_pixel_is_a_change() {
        let before = look(1, glance(&[(1, "Untitled")], 1, "entry \"A\""));
        let after = look(1, glance(&[(1, "Untitled")], 1, "entry \"B\""));
        let mut outcome = sent();
        judge(&mut outcome, &before, &after, None);
        assert_eq!(outcome.effect, Effect::Unverified);
        assert_eq!(
            outcome.data["screen"],
            "sent; the screen looks as before, but a window or the focus changed"
        );
    }

    #[test]
    fn what_was_read_back_stands_whatever_the_screen_shows() {
        let same = look(1, glance(&[], 0, ""));
        let mut outcome = Outcome::looked("set", json!({}));
        judge(&mut outcome, &same, &same, None);
        assert_eq!((outcome.effect, outcome.summary.as_str()), (Effect::Confirmed, "set"));
    }
}
