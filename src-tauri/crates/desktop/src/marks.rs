//! Text that was read in the picture of a window, where its application tells nothing: which window and place each ref
//! stands for, and where that text is now. Pure.
//!
//! The application has no part in it: a mark says that these letters were seen there, and nothing of what they belong to.

use std::collections::VecDeque;

use protocol::geometry::PhysicalRect;

use crate::DesktopError;

/// Marks remembered; those that were given first are forgotten first.
const MOST: usize = 2_000;
/// Pixels that letters move when they are read anew.
const BLUR: u32 = 6;

/// A line of text as it was read, in pixels of its window.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub text: String,
    pub at: PhysicalRect,
}

/// What a ref was given to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KnownMark {
    number: u64,
    pub window: u64,
    pub app: String,
    pub seen: Seen,
}

impl KnownMark {
    pub fn reference(&self) -> String {
        format!("m{}", self.number)
    }

    /// `text "Sum" (m3)`
    pub fn called(&self) -> String {
        format!("text \"{}\" ({})", self.seen.text, self.reference())
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
    pub fn enter(&mut self, window: u64, app: &str, lines: Vec<Seen>) -> Vec<KnownMark> {
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

impl Seen {
    fn stands_at(&self, other: &Self) -> bool {
        self.text == other.text && near(&self.at, &other.at)
    }
}

fn near(one: &PhysicalRect, other: &PhysicalRect) -> bool {
    one.x.abs_diff(other.x) <= BLUR && one.y.abs_diff(other.y) <= BLUR
}

/// Where the text of a mark is now: where it was, or at the only other place that has it.
///
/// # Errors
/// `NotFound` says what is read there now.
pub(crate) fn find_again<'a>(mark: &KnownMark, now: &'a [Seen]) -> Result<&'a Seen, DesktopError> {
    if let Some(seen) = now.iter().find(|seen| seen.stands_at(&mark.seen)) {
        return Ok(seen);
    }
    let alike: Vec<&Seen> = now.iter().filter(|seen| seen.text == mark.seen.text).collect();
    if let [only] = alike.as_slice() {
        return Ok(only);
    }
    let there = now.iter().find(|seen| near(&seen.at, &mark.seen.at));
    let there = there.map(|seen| format!("; \"{}\" is read there now", seen.text)).unwrap_or_default();
    Err(DesktopError::NotFound(format!(
        "{} is no longer where it was read{there}; nothing was done; call elementsJson again",
        mark.called()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str, x: i32, y: i32) -> Seen {
        Seen { text: text.into(), at: PhysicalRect { x, y, width: 40, height: 12 } }
    }

    #[test]
    fn a_mark_keeps_its_ref_and_is_met_where_its_text_is_now() {
        let mut table = MarkTable::default();
        let first = table.enter(7, "xcalc", vec![seen("OK", 10, 10), seen("No", 90, 10)]);
        let again = table.enter(7, "xcalc", vec![seen("No", 91, 10), seen("OK", 10, 200)]);
        let refs = |marks: &[KnownMark]| marks.iter().map(KnownMark::reference).collect::<Vec<_>>();
        assert_eq!(
            (refs(&first), refs(&again)),
            (vec!["m1".into(), "m2".into()], vec!["m2".into(), "m3".into()])
        );
        assert_ne!(table.enter(8, "other", vec![seen("No", 90, 10)]), again[..1]);
        let ok = table.find(" m1 ").unwrap();
        assert_eq!(find_again(ok, &[seen("OK", 12, 11), seen("OK", 10, 300)]), Ok(&seen("OK", 12, 11)));
        assert_eq!(find_again(ok, &[seen("OK", 10, 300)]), Ok(&seen("OK", 10, 300)), "it was scrolled");
    }

    #[test]
    fn a_mark_whose_text_changed_or_stands_at_several_other_places_is_refused() {
        let mut table = MarkTable::default();
        let ok = table.enter(7, "xcalc", vec![seen("OK", 10, 10)]).remove(0);
        let relabelled = find_again(&ok, &[seen("Delete all", 10, 10)]).unwrap_err().to_string();
        assert!(relabelled.contains("\"Delete all\" is read there now"), "{relabelled}");
        assert!(find_again(&ok, &[seen("OK", 10, 90), seen("OK", 10, 300)]).is_err());
        assert!(table.find("e1").is_none() && table.find("m2").is_none() && !is_mark("e1"));
    }
}
