//! Events that are the last one with other words in it, read by what differs. Pure.
//!
//! A stream says the same hundreds of bytes for each piece of a text. Where a plain event (`hot.rs` of each wire) was
//! read, its bytes are kept with the places of the few values that change from piece to piece; the next event is compared
//! with them, byte for byte, and only those values are read. That a value in that place is what the wire's reader would
//! find is not assumed: an event with other values in them is read both ways before a form is kept.

use std::ops::Range;

use crate::hot::Words;

/// Forms that are kept: a thought, a text, arguments, and one to spare.
const KEPT: usize = 4;
/// Forms that were made and never fitted, after which no more are made.
const MOST_IDLE: usize = 8;
/// Values that change, at most.
const MOST: usize = 8;

/// What a wire's plain events are.
pub(crate) trait Plain {
    /// Fields whose values change from piece to piece; of each name there may be one in an event.
    const NAMES: &'static [&'static str];
    /// What an event says.
    type Said<'a>: PartialEq;
    /// What it says beside those values: the same for all events of a form.
    type Same: Copy + PartialEq;

    fn read(data: &str) -> Option<Self::Said<'_>>;

    /// Nothing where no form is to be made of it.
    fn same(said: &Self::Said<'_>) -> Option<Self::Same>;

    /// An event of the form, put together from its values.
    fn fill<'a>(same: Self::Same, values: &mut Values<'a>) -> Option<Self::Said<'a>>;
}

/// The values of an event by their names' places in [`Plain::NAMES`].
pub(crate) struct Values<'a> {
    pub data: &'a [u8],
    /// Where each stands, quotes included; empty where there is none.
    places: [(usize, usize); MOST],
    /// Strings with escapes, a bit each.
    escaped: u8,
    /// Strings that were not read yet, a bit each.
    unread: u8,
}

impl<'a> Values<'a> {
    fn json(&self, name: usize) -> Option<&'a [u8]> {
        let (start, end) = *self.places.get(name)?;
        self.data.get(start..end).filter(|json| !json.is_empty())
    }

    pub(crate) fn words(&mut self, name: usize) -> Option<Words<'a>> {
        let json = self.json(name)?;
        let bit = 1 << name;
        // What is no string is left unread, and the event is none of this form.
        let words = match (json, self.escaped & bit == 0) {
            ([b'"', words @ .., b'"'], true) => Words(std::str::from_utf8(words).ok()?.into()),
            ([b'"', words @ .., b'"'], false) => match unescaped(words) {
                Some(words) => Words(words.into()),
                None => serde_json::from_slice(json).ok()?,
            },
            _ => return None,
        };
        self.unread &= !bit;
        Some(words)
    }

    pub(crate) fn count(&self, name: usize) -> Option<u64> {
        std::str::from_utf8(self.json(name)?).ok()?.parse().ok()
    }

    /// Whether each string is one, those that nobody asked for among them.
    fn are_strings(&mut self) -> bool {
        (0..MOST).all(|name| self.unread & (1 << name) == 0 || self.words(name).is_some())
    }

    /// Where a value stands in the data.
    pub(crate) fn place(&self, name: usize) -> Option<Range<usize>> {
        self.json(name).map(|_| self.places[name].0..self.places[name].1)
    }
}

/// The forms of one stream.
pub(crate) struct Forms<P: Plain> {
    /// The last that fitted first.
    known: Vec<Form<P::Same>>,
    idle: usize,
}

struct Form<S> {
    data: String,
    /// In order, with the place of its name.
    holes: Vec<(Range<usize>, usize)>,
    same: S,
    has_fitted: bool,
}

impl<P: Plain> Forms<P> {
    pub(crate) const fn new() -> Self {
        const { assert!(P::NAMES.len() <= MOST, "a bit and a place for each") };
        Self { known: Vec::new(), idle: 0 }
    }

    /// An event that is plain; nothing where it is not wholly so.
    pub(crate) fn read<'a>(&mut self, data: &'a [u8]) -> Option<P::Said<'a>> {
        for at in 0..self.known.len() {
            if let Some(said) = self.known[at].fill::<P>(data) {
                self.known[at].has_fitted = true;
                self.known.swap(0, at);
                return Some(said);
            }
        }
        let data = std::str::from_utf8(data).ok()?;
        let said = P::read(data)?;
        if let Some(same) = P::same(&said).filter(|_| self.idle < MOST_IDLE) {
            self.keep(data, same);
        }
        Some(said)
    }

    #[cfg(test)]
    pub(crate) fn fits(&self, data: &str) -> bool {
        self.known.iter().any(|form| form.fill::<P>(data.as_bytes()).is_some())
    }

    fn keep(&mut self, data: &str, same: P::Same) {
        let form =
            holes(data, P::NAMES).map(|holes| Form { data: data.to_owned(), holes, same, has_fitted: false });
        let Some(form) = form.filter(Form::is_true::<P>) else {
            self.idle += 1;
            return;
        };
        if self.known.len() == KEPT
            && let Some(oldest) = self.known.pop()
        {
            self.idle += usize::from(!oldest.has_fitted);
        }
        self.known.insert(0, form);
    }
}

impl<S: Copy + PartialEq> Form<S> {
    /// What an event of this form says.
    fn fill<'a, P: Plain<Same = S>>(&self, data: &'a [u8]) -> Option<P::Said<'a>> {
        let mut values = self.values(data)?;
        let said = P::fill(self.same, &mut values)?;
        // A string that nobody has read may be none: by its escapes, or no text at all.
        values.are_strings().then_some(said)
    }

    /// The values of an event of this form, which is JSON as the form is.
    fn values<'a>(&self, data: &'a [u8]) -> Option<Values<'a>> {
        let mut values = Values { data, places: [(0, 0); MOST], escaped: 0, unread: 0 };
        let (mut at, mut from) = (0, 0);
        for (hole, name) in &self.holes {
            let between = &self.data.as_bytes()[from..hole.start];
            let rest = data.get(at..)?.strip_prefix(between)?;
            at += between.len();
            let length = match self.data.as_bytes().get(hole.start)? {
                b'"' => {
                    let (length, is_plain) = string(rest)?;
                    values.escaped |= u8::from(!is_plain) << name;
                    values.unread |= 1 << name;
                    length
                }
                _ => count(rest)?,
            };
            values.places[*name] = (at, at + length);
            at += length;
            from = hole.end;
        }
        (data.get(at..)? == &self.data.as_bytes()[from..]).then_some(values)
    }

    /// Whether events with other values in them say the same read by them and read as a whole; also where one of them is
    /// empty, which may show another.
    fn is_true<P: Plain<Same = S>>(&self) -> bool {
        let agree = |other: &str| {
            let read = P::read(other);
            (self.fill::<P>(other.as_bytes()) == read).then_some(read.as_ref().and_then(P::same))
        };
        let strings = self.holes.iter().filter(|(hole, _)| self.data[hole.start..].starts_with('"'));
        agree(&self.with(None)) == Some(Some(self.same))
            && strings.into_iter().all(|(_, name)| agree(&self.with(Some(*name))).is_some())
    }

    /// An event of this form with other values, one of them empty.
    fn with(&self, empty: Option<usize>) -> String {
        let mut other = String::with_capacity(self.data.len() * 2);
        let mut from = 0;
        for (hole, name) in &self.holes {
            other.push_str(&self.data[from..hole.start]);
            match self.data.as_bytes()[hole.start] {
                b'"' if empty == Some(*name) => other.push_str("\"\""),
                b'"' => other.push_str(&format!("\"\u{e4} {name}\"")),
                _ => other.push_str(&format!("{}", 1_000_003 + name)),
            }
            from = hole.end;
        }
        other.push_str(&self.data[from..]);
        other
    }
}

/// Where the values of these fields stand; nothing where a name is there twice. `data` must be JSON.
fn holes(data: &str, names: &[&str]) -> Option<Vec<(Range<usize>, usize)>> {
    let mut holes: Vec<(Range<usize>, usize)> = Vec::new();
    let mut at = 0;
    while let Some(quote) = memchr::memchr(b'"', &data.as_bytes()[at..]) {
        let start = at + quote;
        let end = start + string(&data.as_bytes()[start..])?.0;
        at = end;
        let spaces = |from: usize| data[from..].len() - data[from..].trim_ascii_start().len();
        let colon = end + spaces(end);
        let known = names.iter().position(|name| *name == &data[start + 1..end - 1]);
        let (true, Some(name)) = (data[colon..].starts_with(':'), known) else { continue };
        if holes.iter().any(|(_, other)| *other == name) {
            return None;
        }
        let value = colon + 1 + spaces(colon + 1);
        let length = match data.as_bytes().get(value)? {
            b'"' => string(&data.as_bytes()[value..])?.0,
            _ => count(&data.as_bytes()[value..]).unwrap_or_default(),
        };
        // What follows a number belongs to it where it is no plain one.
        let is_whole = data[value + length..].starts_with([',', '}', ']', ' ', '\n', '\r', '\t']);
        if length > 0 && is_whole {
            holes.push((value..value + length, name));
            at = value + length;
        }
    }
    Some(holes)
}

/// The length of the string that `json` begins with, quotes included, and whether it has no escapes. Nothing where it
/// has what no string has.
fn string(json: &[u8]) -> Option<(usize, bool)> {
    json.strip_prefix(b"\"")?;
    let (mut at, mut is_plain) = (1, true);
    let end = loop {
        let found = at + memchr::memchr2(b'"', b'\\', json.get(at..)?)?;
        if json[found] == b'"' {
            break found;
        }
        // What is escaped is a character of one byte.
        (at, is_plain) = (found + 2, false);
    };
    json[1..end].iter().all(|byte| *byte >= b' ').then_some((end + 1, is_plain))
}

/// A string's text without its escapes; nothing where it has one that is written in another way than a letter after a
/// backslash.
fn unescaped(string: &[u8]) -> Option<String> {
    let mut text = Vec::with_capacity(string.len());
    let mut rest = string;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        text.extend_from_slice(&rest[..at]);
        text.push(match rest.get(at + 1)? {
            letter @ (b'"' | b'\\' | b'/') => *letter,
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 0x08,
            b'f' => 0x0c,
            _ => return None,
        });
        rest = &rest[at + 2..];
    }
    text.extend_from_slice(rest);
    String::from_utf8(text).ok()
}

/// The length of a number as counts are written.
fn count(json: &[u8]) -> Option<usize> {
    // So many nines are a count still.
    const DIGITS: usize = 19;
    let length = json.iter().take_while(|byte| byte.is_ascii_digit()).count();
    ((1..=DIGITS).contains(&length) && (length == 1 || json[0] != b'0')).then_some(length)
}

#[cfg(test)]
#[path = "forms_tests.rs"]
mod tests;
