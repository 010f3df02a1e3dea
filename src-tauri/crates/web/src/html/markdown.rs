//! A buffer of Markdown: blank lines, marks and blanks are written only once a word follows them, so that nothing empty
//! stands in the text.

use crate::text::is_seen;

/// Levels of quotes and lists that are shown. Each line repeats them, so their number must have a bound.
const LEVELS: usize = 12;
const MARKS: usize = 32;

/// What stands before each line of a quote or a list's item.
#[derive(Debug)]
enum Level {
    Quote,
    Item {
        /// Until the item's first line is written.
        marker: Option<String>,
        width: usize,
    },
}

/// A pair of marks around words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Strong,
    Emphasis,
    Code,
    Link(String),
}

impl Mark {
    fn open(&self) -> &'static str {
        match self {
            Self::Strong => "**",
            Self::Emphasis => "*",
            Self::Code => "`",
            Self::Link(_) => "[",
        }
    }

    fn close(&self, out: &mut String) {
        match self {
            Self::Link(url) => {
                out.push_str("](");
                out.push_str(url);
                out.push(')');
            }
            mark => out.push_str(mark.open()),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Open,
    /// A paragraph ended within.
    Closed,
}

#[derive(Debug, Default)]
pub(super) struct Markdown {
    out: String,
    /// Ends of lines that the next word brings: 0, 1 or 2.
    breaks: usize,
    blank: bool,
    /// Written at the beginning of the next line: a heading's.
    line_marker: &'static str,
    levels: Vec<Level>,
    /// Levels that were begun beyond the bound.
    levels_beyond: usize,
    marks: Vec<(Mark, State)>,
}

impl Markdown {
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    pub(super) fn into_text(mut self) -> String {
        self.end_block(0);
        self.out
    }

    /// Text as it stands in HTML: runs of blanks are one.
    pub(super) fn text(&mut self, text: &str) {
        for c in text.chars() {
            if c.is_ascii_whitespace() {
                self.blank = true;
            } else if is_seen(c) {
                self.begin_word();
                self.out.push(c);
            }
        }
    }

    fn begin_word(&mut self) {
        if self.out.is_empty() || self.breaks > 0 {
            self.begin_line();
        } else if self.blank {
            self.out.push(' ');
        }
        self.blank = false;
        for (mark, state) in &mut self.marks {
            if *state == State::Waiting {
                self.out.push_str(mark.open());
                *state = State::Open;
            }
        }
    }

    fn begin_line(&mut self) {
        if !self.out.is_empty() {
            self.out.extend(std::iter::repeat_n('\n', self.breaks));
        }
        self.breaks = 0;
        for level in &mut self.levels {
            match level {
                Level::Quote => self.out.push_str("> "),
                Level::Item { marker, width } => match marker.take() {
                    Some(marker) => self.out.push_str(&marker),
                    None => self.out.extend(std::iter::repeat_n(' ', *width)),
                },
            }
        }
        self.out.push_str(std::mem::take(&mut self.line_marker));
    }

    /// Ends a line (1) or a paragraph (2).
    pub(super) fn end_block(&mut self, breaks: usize) {
        for (mark, state) in self.marks.iter_mut().rev() {
            if *state == State::Open {
                mark.close(&mut self.out);
                *state = State::Closed;
            }
        }
        self.blank = false;
        self.line_marker = "";
        let item_waits = matches!(self.levels.last(), Some(Level::Item { marker: Some(_), .. }));
        self.breaks = self.breaks.max(if item_waits { breaks.min(1) } else { breaks });
    }

    pub(super) fn heading(&mut self, level: usize) {
        self.end_block(2);
        self.line_marker = ["# ", "## ", "### ", "#### ", "##### ", "###### "][level.clamp(1, 6) - 1];
    }

    pub(super) fn begin_quote(&mut self) {
        self.end_block(2);
        self.push(Level::Quote);
    }

    /// An item of a list; `follows` another one.
    pub(super) fn begin_item(&mut self, marker: String, follows: bool) {
        self.end_block(1);
        if follows {
            self.breaks = 1;
        }
        let width = marker.chars().count();
        self.push(Level::Item { marker: Some(marker), width });
    }

    fn push(&mut self, level: Level) {
        if self.levels.len() < LEVELS { self.levels.push(level) } else { self.levels_beyond += 1 }
    }

    /// Ends the innermost quote or item.
    pub(super) fn end_level(&mut self, breaks: usize) {
        self.end_block(breaks);
        match self.levels_beyond.checked_sub(1) {
            Some(fewer) => self.levels_beyond = fewer,
            None => {
                self.levels.pop();
            }
        }
    }

    pub(super) fn open(&mut self, mark: Mark) {
        if self.marks.len() < MARKS {
            self.marks.push((mark, State::Waiting));
        }
    }

    /// Closes the innermost mark of a kind, if there is one.
    pub(super) fn close(&mut self, is_kind: fn(&Mark) -> bool) {
        let Some(at) = self.marks.iter().rposition(|(mark, _)| is_kind(mark)) else { return };
        // What was opened inside and not closed ends here, too.
        for (mark, state) in self.marks.drain(at..).rev() {
            if state == State::Open {
                mark.close(&mut self.out);
            }
        }
    }

    /// Lines as they are, under the levels of where they stand.
    pub(super) fn verbatim(&mut self, lines: &str) {
        self.end_block(2);
        for line in lines.lines() {
            self.breaks = self.breaks.max(1);
            self.begin_line();
            self.out.extend(line.chars().filter(|&c| is_seen(c)));
        }
        self.end_block(2);
    }

    pub(super) fn code_block(&mut self, language: &str, code: &str) {
        let code = code.trim_matches('\n').trim_end();
        if code.is_empty() {
            return;
        }
        let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or_default();
        let fence = "`".repeat(longest.clamp(2, 30) + 1);
        self.verbatim(&format!("{fence}{language}\n{code}\n{fence}"));
    }
}
