//! Output as a bounded list of lines: what a person would see when they scroll back.
//!
//! Bytes come from a program that may be hostile. The parser keeps at most a kilobyte of an unfinished sequence, the
//! lines have bounds, nothing is ever answered, and only text with [`Style`] comes out. The cursor moves within the
//! last [`WINDOW`] lines, so a progress bar overwrites itself and leaves its last state. Lines are not wrapped.

use std::collections::VecDeque;

use unicode_width::UnicodeWidthChar;
use vte::{Params, Parser, Perform};

use protocol::terminal::{Line, Span, Style};

/// Lines the cursor can move back to; what has scrolled above no longer changes.
const WINDOW: usize = 60;
/// Columns of one line that are kept.
const COLUMNS: usize = 8 * 1024;
/// Lines and bytes kept behind the cursor.
const LINES: usize = 5_000;
const BYTES: usize = 4 << 20;
/// The first lines stay, however much follows: what a command said first is often why it failed.
const HEAD_LINES: usize = 200;
const HEAD_BYTES: usize = 64 << 10;
/// A string sequence longer than this is given up: what follows is text again, so nothing can hide behind it.
const LONGEST_SEQUENCE: usize = 1 << 20;
/// Combining marks one character may carry.
const MARKS: usize = 8;

pub(super) struct Screen {
    parser: Parser,
    grid: Grid,
    /// Bytes since the parser last came to anything.
    silent: usize,
}

impl Screen {
    pub(super) fn new() -> Self {
        Self { parser: Parser::new(), grid: Grid::default(), silent: 0 }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(16 << 10) {
            self.grid.acted = false;
            self.parser.advance(&mut self.grid, part);
            self.silent = if self.grid.acted { 0 } else { self.silent + part.len() };
            if self.silent > LONGEST_SEQUENCE {
                self.parser = Parser::new();
                self.silent = 0;
            }
        }
    }

    /// The number of the line after the last.
    pub(super) fn end(&self) -> u64 {
        self.grid.window_start() + self.grid.window.len() as u64
    }

    /// The first line that may still change.
    pub(super) fn settled(&self) -> u64 {
        self.grid.window_start() + self.grid.row as u64
    }

    /// Lines from number `from` on that are still kept, and the number of the first of them.
    pub(super) fn lines(&self, from: u64) -> (u64, Vec<Line>) {
        let grid = &self.grid;
        let first = from.clamp(grid.first, self.end());
        let skip = (first - grid.first) as usize;
        let above = grid.above.range(skip.min(grid.above.len())..).cloned();
        let window = grid.window.range(skip.saturating_sub(grid.above.len())..).map(Row::line);
        let lines = above.chain(window).collect();
        (first, lines)
    }

    pub(super) fn is_changed(&self) -> bool {
        self.grid.changed.is_some()
    }

    /// The first line changed since this was last asked for.
    pub(super) fn take_changed(&mut self) -> Option<u64> {
        self.grid.changed.take()
    }

    /// All of it as plain text of at most `most` bytes: the head, how much is left out, the tail.
    pub(super) fn text(&self, most: usize) -> String {
        let (first, lines) = self.lines(0);
        let mut tail: Vec<String> = lines.iter().map(Line::text).collect();
        while tail.last().is_some_and(String::is_empty) {
            tail.pop();
        }
        let gone = self.grid.head.iter().take((first as usize).min(self.grid.head.len()));
        let mut text: Vec<String> = gone.cloned().collect();
        let mut missing = first - text.len() as u64;
        let whole = |lines: &[String]| lines.iter().map(|line| line.len() + 1).sum::<usize>();
        if missing == 0 && whole(&text) + whole(&tail) <= most {
            text.append(&mut tail);
            return text.join("\n");
        }
        // A quarter for the beginning, the rest for the end.
        let mut room = most / 4;
        let at = text.len();
        let mut all = text;
        all.append(&mut tail);
        let mut head = Vec::new();
        for line in &all[..if missing > 0 { at } else { all.len() }] {
            if line.len() + 1 > room {
                break;
            }
            room -= line.len() + 1;
            head.push(line.clone());
        }
        let mut room = most - most / 4;
        let mut end = Vec::new();
        for line in all[at.max(head.len())..].iter().rev() {
            if line.len() + 1 > room {
                if end.is_empty() {
                    end.push(last_bytes(line, room).to_owned());
                }
                break;
            }
            room -= line.len() + 1;
            end.push(line.clone());
        }
        missing += (all.len() - head.len() - end.len()) as u64;
        if missing > 0 {
            head.push(format!("… ({missing} lines left out) …"));
        }
        head.extend(end.into_iter().rev());
        head.join("\n")
    }
}

fn last_bytes(text: &str, most: usize) -> &str {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

#[derive(Default)]
struct Grid {
    /// Number of the first line kept.
    first: u64,
    above: VecDeque<Line>,
    above_bytes: usize,
    window: VecDeque<Row>,
    head: Vec<String>,
    head_bytes: usize,
    row: usize,
    column: usize,
    style: Style,
    changed: Option<u64>,
    acted: bool,
    /// Row and column to go back to.
    saved: (usize, usize),
}

#[derive(Default)]
struct Row {
    cells: Vec<Cell>,
    cut: u64,
}

#[derive(Clone)]
struct Cell {
    /// `'\0'`: the right half of the wide character before it.
    c: char,
    style: Style,
    marks: Option<Box<str>>,
}

const BLANK: Cell = Cell { c: ' ', style: STYLE, marks: None };
const STYLE: Style = Style {
    fg: None,
    bg: None,
    bold: false,
    dim: false,
    italic: false,
    underline: false,
    strike: false,
    inverse: false,
};

impl Row {
    fn line(&self) -> Line {
        let mut spans: Vec<Span> = Vec::new();
        let blank_end = self.cells.iter().rposition(|cell| cell.c != ' ' || cell.style.bg.is_some());
        for cell in &self.cells[..blank_end.map_or(0, |at| at + 1)] {
            if cell.c == '\0' {
                continue;
            }
            if spans.last().is_none_or(|span| span.style != cell.style) {
                spans.push(Span { text: String::new(), style: cell.style });
            }
            if let Some(span) = spans.last_mut() {
                span.text.push(cell.c);
                span.text.push_str(cell.marks.as_deref().unwrap_or_default());
            }
        }
        Line { spans, cut: self.cut }
    }

    fn clear(&mut self, from: usize, to: usize) {
        let to = to.min(self.cells.len());
        if to == self.cells.len() {
            self.cells.truncate(from);
            self.cut = 0;
        } else if from < to {
            self.cells[from..to].fill(BLANK);
        }
    }
}

impl Grid {
    fn window_start(&self) -> u64 {
        self.first + self.above.len() as u64
    }

    fn touch(&mut self) {
        self.acted = true;
        let at = self.window_start() + self.row as u64;
        self.changed = Some(self.changed.map_or(at, |was| was.min(at)));
    }

    fn current(&mut self) -> &mut Row {
        while self.window.len() <= self.row {
            self.window.push_back(Row::default());
        }
        &mut self.window[self.row]
    }

    fn put(&mut self, c: char) {
        let width = c.width().unwrap_or(0);
        let (column, style) = (self.column, self.style);
        let row = self.current();
        if width == 0 {
            if let Some(cell) = column.checked_sub(1).and_then(|at| row.cells.get_mut(at)) {
                let mut marks = cell.marks.take().unwrap_or_default().into_string();
                if marks.chars().count() < MARKS {
                    marks.push(c);
                }
                cell.marks = Some(marks.into());
            }
        } else if column + width > COLUMNS {
            row.cut += 1;
        } else {
            if row.cells.len() < column + width {
                row.cells.resize(column + width, BLANK);
            }
            row.cells[column] = Cell { c, style, marks: None };
            if width == 2 {
                row.cells[column + 1] = Cell { c: '\0', style, marks: None };
            }
            self.column += width;
        }
        self.touch();
    }

    fn line_feed(&mut self) {
        self.current();
        self.touch();
        self.row += 1;
        self.current();
        while self.window.len() > WINDOW {
            self.settle_first();
        }
        self.touch();
    }

    /// The window's first line scrolls above it and no longer changes.
    fn settle_first(&mut self) {
        let Some(row) = self.window.pop_front() else { return };
        self.row = self.row.saturating_sub(1);
        let line = row.line();
        let number = self.window_start();
        if number == self.head.len() as u64 && self.head.len() < HEAD_LINES && self.head_bytes < HEAD_BYTES {
            let text = line.text();
            if self.head_bytes + text.len() <= HEAD_BYTES {
                self.head_bytes += text.len();
                self.head.push(text);
            }
        }
        self.above_bytes += weight(&line);
        self.above.push_back(line);
        while self.above.len() > LINES || self.above_bytes > BYTES {
            let Some(gone) = self.above.pop_front() else { break };
            self.above_bytes -= weight(&gone);
            self.first += 1;
        }
    }

    fn up(&mut self, by: usize) {
        self.row = self.row.saturating_sub(by);
    }

    fn down(&mut self, by: usize) {
        self.row = (self.row + by).min(self.window.len().saturating_sub(1));
    }

    fn erase(&mut self, from: usize, to: usize) {
        self.touch();
        self.current().clear(from, to);
    }

    /// Clearing the screen scrolls it away: what was said stays readable.
    fn clear_screen(&mut self) {
        self.touch();
        self.row = self.window.len().saturating_sub(1);
        if self.window.back().is_some_and(|row| !row.cells.is_empty()) {
            self.line_feed();
        }
        while self.window.len() > 1 {
            self.settle_first();
        }
        (self.row, self.column) = (0, 0);
    }

    fn csi(&mut self, params: &[Vec<u16>], action: char) {
        let raw = |at: usize| params.get(at).and_then(|param| param.first()).copied().unwrap_or(0);
        let count = |at: usize| usize::from(raw(at).max(1));
        match action {
            'm' => self.style.select(if params.is_empty() { &[] } else { params }),
            'A' => self.up(count(0)),
            'B' => self.down(count(0)),
            'C' => self.column = (self.column + count(0)).min(COLUMNS),
            'D' => self.column = self.column.saturating_sub(count(0)),
            'E' => (self.column, _) = (0, self.down(count(0))),
            'F' => (self.column, _) = (0, self.up(count(0))),
            'G' => self.column = (count(0) - 1).min(COLUMNS),
            'H' | 'f' => {
                // Top left is where a program that fills the screen begins; within the window that is its first line.
                self.current();
                self.row = (count(0) - 1).min(WINDOW - 1);
                self.current();
                self.column = (count(1) - 1).min(COLUMNS);
            }
            'K' => match raw(0) {
                0 => self.erase(self.column, usize::MAX),
                1 => self.erase(0, self.column + 1),
                2 => self.erase(0, usize::MAX),
                _ => {}
            },
            'J' => match raw(0) {
                0 => {
                    self.erase(self.column, usize::MAX);
                    self.window.truncate(self.row + 1);
                }
                2 | 3 => self.clear_screen(),
                _ => {}
            },
            'P' => {
                let (from, by) = (self.column, count(0));
                let row = self.current();
                if from < row.cells.len() {
                    row.cells.drain(from..(from + by).min(row.cells.len()));
                }
                self.touch();
            }
            's' => self.saved = (self.row, self.column),
            'u' => self.restore(),
            _ => {}
        }
    }

    fn restore(&mut self) {
        self.row = self.saved.0.min(self.window.len().saturating_sub(1));
        self.column = self.saved.1;
    }
}

fn weight(line: &Line) -> usize {
    64 + line.spans.iter().map(|span| 64 + span.text.len()).sum::<usize>()
}

impl Perform for Grid {
    fn print(&mut self, c: char) {
        self.acted = true;
        if !is_unseen(c) {
            self.put(c);
        }
    }

    fn execute(&mut self, byte: u8) {
        self.acted = true;
        match byte {
            b'\n' | 0x0b | 0x0c => self.line_feed(),
            b'\r' => self.column = 0,
            0x08 => self.column = self.column.saturating_sub(1),
            b'\t' => self.column = (self.column / 8 + 1).saturating_mul(8).min(COLUMNS),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], _ignore: bool, action: char) {
        self.acted = true;
        if intermediates.is_empty() {
            let params: Vec<Vec<u16>> = params.iter().map(<[u16]>::to_vec).collect();
            let params = if params.is_empty() { vec![vec![0]] } else { params };
            self.csi(&params, action);
        } else if intermediates == b"?" && matches!(action, 'h' | 'l') {
            // The alternate screen is the same list of lines: a pager's last page stays readable.
            if params.iter().any(|param| matches!(param, [47 | 1047 | 1049])) {
                self.clear_screen();
            }
        }
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], _ignore: bool, byte: u8) {
        self.acted = true;
        match (intermediates, byte) {
            ([], b'D') => self.line_feed(),
            ([], b'E') => (self.column, _) = (0, self.line_feed()),
            ([], b'M') => self.up(1),
            ([], b'7') => self.saved = (self.row, self.column),
            ([], b'8') => self.restore(),
            ([], b'c') => {
                self.clear_screen();
                self.style = Style::default();
            }
            _ => {}
        }
    }
    // Titles, links, clipboard, colour queries (OSC) and device strings (DCS) are swallowed: the trait's own defaults.
}

/// Controls, and characters that draw nothing or reorder what is around them. The joiner of emoji goes too.
pub(super) fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests;
