//! Text and shapes that were seen in the picture of a window, where its application tells nothing: which window and place
//! each ref stands for, and where that is now. Pure.
//!
//! The application has no part in it: a mark says that these letters, or something that looks like a field, were seen
//! there, and nothing of what they belong to.

use std::collections::VecDeque;

use pictures::{Appearance, Kind, Shape};
use protocol::geometry::PhysicalRect;

use crate::{DesktopError, PictureMark};

/// Marks remembered; those that were given first are forgotten first.
const MOST: usize = 2_000;
/// Pixels that letters move when they are read anew.
const BLUR: u32 = 6;

/// What was seen, in pixels of its window.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundMark {
    pub what: What,
    pub at: PhysicalRect,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    /// A line of text as it was read.
    Text(String),
    Shape {
        looks_like: &'static str,
        /// The text that is nearest to it.
        beside: String,
        look: Appearance,
    },
}

impl From<What> for PictureMark {
    fn from(what: What) -> Self {
        match what {
            What::Text(text) => Self { text, ..Self::default() },
            What::Shape { looks_like, beside, .. } => {
                Self { looks_like: looks_like.into(), beside, ..Self::default() }
            }
        }
    }
}

/// What a ref was given to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KnownMark {
    number: u64,
    pub window: u64,
    pub app: String,
    pub seen: FoundMark,
}

impl KnownMark {
    pub fn reference(&self) -> String {
        format!("m{}", self.number)
    }

    /// `text "Sum" (m3)`, `icon beside "Sum" (m4)`
    pub fn called(&self) -> String {
        format!("{} ({})", self.seen.called(), self.reference())
    }
}

/// All marks of one desktop.
#[derive(Default)]
pub(crate) struct MarkTable {
    given: u64,
    known: VecDeque<KnownMark>,
}

impl MarkTable {
    /// What was read of a window gets its refs: those it had, where the same text stands at the same place.
    pub fn enter(&mut self, window: u64, app: &str, lines: Vec<FoundMark>) -> Vec<KnownMark> {
        let mut entered = Vec::with_capacity(lines.len());
        for seen in lines {
            let had = self.known.iter().find(|one| one.window == window && one.seen.stands_at(&seen));
            entered.push(had.cloned().unwrap_or_else(|| {
                self.given += 1;
                let mark = KnownMark { number: self.given, window, app: app.to_owned(), seen };
                self.known.push_back(mark.clone());
                mark
            }));
        }
        let spare = self.known.len().saturating_sub(MOST);
        self.known.drain(..spare);
        entered
    }

    pub fn find(&self, reference: &str) -> Option<&KnownMark> {
        let number = number_of(reference)?;
        self.known.iter().find(|mark| mark.number == number)
    }
}

/// Whether this is a mark's ref, and no element's.
pub(crate) fn is_mark(reference: &str) -> bool {
    number_of(reference).is_some()
}

/// `m12` is 12.
fn number_of(reference: &str) -> Option<u64> {
    reference.trim().strip_prefix('m')?.parse().ok()
}

impl FoundMark {
    /// Its role, and the name that goes with it.
    pub fn named(&self) -> (String, &str) {
        match &self.what {
            What::Text(text) => ("text".into(), text),
            What::Shape { looks_like, beside, .. } if beside.is_empty() => ((*looks_like).into(), ""),
            What::Shape { looks_like, beside, .. } => (format!("{looks_like} beside"), beside),
        }
    }

    fn called(&self) -> String {
        match self.named() {
            (role, "") => role,
            (role, name) => format!("{role} \"{name}\""),
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        match (&self.what, &other.what) {
            (What::Text(one), What::Text(other)) => one == other,
            (
                What::Shape { looks_like, look, .. },
                What::Shape { looks_like: others, look: other_look, .. },
            ) => looks_like == others && look.is_like(other_look) && self.is_as_large(other),
            (What::Text(_), What::Shape { .. }) | (What::Shape { .. }, What::Text(_)) => false,
        }
    }

    fn is_as_large(&self, other: &Self) -> bool {
        let (one, other) = (&self.at, &other.at);
        one.width.abs_diff(other.width) <= BLUR && one.height.abs_diff(other.height) <= BLUR
    }

    fn stands_at(&self, other: &Self) -> bool {
        self.is_like(other) && near(&self.at, &other.at)
    }
}

fn near(one: &PhysicalRect, other: &PhysicalRect) -> bool {
    one.x.abs_diff(other.x) <= BLUR && one.y.abs_diff(other.y) <= BLUR
}

/// Texts, then shapes. A box around a text is one with it.
pub(crate) fn together(mut texts: Vec<(String, PhysicalRect)>, shapes: Vec<Shape>) -> Vec<FoundMark> {
    let mut others = Vec::new();
    for Shape { kind, at, look } in shapes {
        let looks_like = match kind {
            Kind::Around(text) => {
                if let Some((_, place)) = texts.get_mut(text) {
                    *place = at;
                }
                continue;
            }
            Kind::Field => "empty field",
            Kind::Area => "empty box",
            Kind::Small | Kind::Circle => {
                texts.iter_mut().for_each(|text| without(text, &at));
                if kind == Kind::Small { "small box" } else { "circle" }
            }
            Kind::Icon => "icon",
            Kind::Button => "box with a picture",
            Kind::Bar => "bar",
        };
        let is_wide = matches!(kind, Kind::Field | Kind::Area | Kind::Bar);
        let far = |text: &usize| texts.get(*text).and_then(|(_, text)| distance(&at, text, is_wide));
        // A single letter may be an icon.
        let is_label = |text: &usize| {
            far(text).is_some() && texts.get(*text).is_some_and(|(text, _)| text.chars().count() > 1)
        };
        let beside = (0..texts.len()).filter(is_label).min_by_key(far);
        let beside =
            beside.and_then(|text| texts.get(text)).map(|(text, _)| text.clone()).unwrap_or_default();
        others.push(FoundMark { what: What::Shape { looks_like, beside, look }, at });
    }
    texts.into_iter().map(|(text, at)| FoundMark { what: What::Text(text), at }).chain(others).collect()
}

/// A text that a reader took a check box for the first letter of.
fn without((text, place): &mut (String, PhysicalRect), shape: &PhysicalRect) {
    let (middle, right) = (shape.x + (shape.width / 2) as i32, shape.x + shape.width as i32);
    let is_in_line =
        (place.y..place.y + place.height as i32).contains(&(shape.y + (shape.height / 2) as i32));
    let end = place.x + place.width as i32;
    if is_in_line && (place.x..place.x + (place.width / 2) as i32).contains(&middle) && right < end {
        *text = text.trim_start_matches(['□', '☐', '☑', '■', '○', '◯', '●', '◎', ' ']).to_owned();
        (place.x, place.width) = (right, (end - right).unsigned_abs());
    }
}

/// How far a shape is from a text that may be its label: before or above a field, behind or below what is small.
fn distance(shape: &PhysicalRect, text: &PhysicalRect, is_wide: bool) -> Option<i32> {
    let end = |from: i32, length: u32| from + length as i32;
    let (right, bottom) = (end(shape.x, shape.width), end(shape.y, shape.height));
    let (text_right, text_bottom) = (end(text.x, text.width), end(text.y, text.height));
    let is_in_line = text.y < bottom && shape.y < text_bottom;
    let is_in_column = text.x < right && shape.x < text_right;
    let (before, behind) = (shape.x - text_right, text.x - right);
    let (above, below) = (shape.y - text_bottom, text.y - bottom);
    // A reader takes some pixels too many.
    let within = |gap: i32, most: i32| (-4..=most).contains(&gap);
    let gaps = if is_wide {
        [
            (is_in_line && within(before, 300)).then_some(before),
            (is_in_column && within(above, 24)).then_some(above * 4),
        ]
    } else {
        [
            (is_in_line && within(behind, 40)).then_some(behind),
            (is_in_column && within(below, 24)).then_some(20 + below),
        ]
    };
    let beside = (!is_wide && is_in_line && within(before, 40)).then_some(40 + before);
    gaps.into_iter().chain([beside]).flatten().min()
}

/// Where a mark is now: where it was, or a text at the only other place that has it.
///
/// # Errors
/// `NotFound` says what is seen there now.
pub(crate) fn find_again<'a>(mark: &KnownMark, now: &'a [FoundMark]) -> Result<&'a FoundMark, DesktopError> {
    if let Some(seen) = now.iter().find(|seen| seen.stands_at(&mark.seen)) {
        return Ok(seen);
    }
    // Two icons may look the same, and one of them not be there any more.
    let is_text = matches!(mark.seen.what, What::Text(_));
    let alike: Vec<&FoundMark> = now.iter().filter(|seen| is_text && seen.is_like(&mark.seen)).collect();
    if let [only] = alike.as_slice() {
        return Ok(only);
    }
    let there = now.iter().find(|seen| near(&seen.at, &mark.seen.at));
    let there = match there.map(|seen| (&seen.what, seen)) {
        None => String::new(),
        Some((What::Text(text), _)) => format!("; \"{text}\" is read there now"),
        Some((What::Shape { .. }, seen)) if seen.called() == mark.seen.called() => {
            "; it looks different now".into()
        }
        Some((What::Shape { .. }, seen)) => format!("; there is {} now", seen.called()),
    };
    Err(DesktopError::NotFound(format!(
        "{} is no longer as it was{there}; nothing was done; call elementsJson again",
        mark.called()
    )))
}

#[cfg(test)]
mod tests;
