//! How wide lines may be: where they go to a terminal they are broken between words, and go on below where they began. What
//! goes to a pipe or a file stays whole.

use std::io::IsTerminal;

use unicode_width::UnicodeWidthStr;

/// Of a terminal that does not say how wide it is, and of a table that goes nowhere in particular.
pub const USUAL: usize = 80;
/// In less, every word would stand on a line of its own.
#[cfg(unix)]
const LEAST: usize = 30;
/// Prose in longer lines is hard to read.
const OF_PROSE: usize = 100;

/// Columns of the terminal that stdout is; `None` if it is none.
pub fn of_stdout() -> Option<usize> {
    columns(&std::io::stdout())
}

/// The same of stderr.
pub fn of_stderr() -> Option<usize> {
    columns(&std::io::stderr())
}

#[cfg(unix)]
fn columns(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let told = rustix::termios::tcgetwinsize(stream).map_or(0, |size| usize::from(size.ws_col));
    Some(if told == 0 { USUAL } else { told.max(LEAST) })
}

#[cfg(not(unix))]
fn columns(stream: &impl IsTerminal) -> Option<usize> {
    stream.is_terminal().then_some(USUAL)
}

/// Where the rest of a line stands that begins no column of its own.
#[derive(Clone, Copy)]
enum Rest {
    /// A bit to the right of its beginning.
    Below,
    /// Right below it, as in prose.
    Same,
}

/// Lines for a person, in so many columns.
pub fn wrapped(text: &str, columns: Option<usize>) -> String {
    lines(text, columns, Rest::Below)
}

/// The same of help and the like.
pub fn wrapped_prose(text: &str, columns: Option<usize>) -> String {
    lines(text, columns.map(|columns| columns.min(OF_PROSE)), Rest::Same)
}

/// A text in so many columns, with a sign where some of it is missing.
pub fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        short.push(c);
        if short.width() >= columns {
            short.pop();
            break;
        }
    }
    short.push('…');
    short
}

fn lines(text: &str, columns: Option<usize>, rest: Rest) -> String {
    let Some(columns) = columns else { return text.to_owned() };
    text.split('\n').map(|line| broken(line, columns, rest)).collect::<Vec<_>>().join("\n")
}

/// A word that is too long for a line stays whole: it is an address or an id, to be copied.
fn broken(line: &str, columns: usize, rest: Rest) -> String {
    if shown(line) <= columns {
        return line.to_owned();
    }
    let below = below(line, columns, rest);
    let (mut out, mut at, mut spaces) = (String::new(), 0, 0);
    for (number, word) in line.split(' ').enumerate() {
        spaces += usize::from(number > 0);
        if word.is_empty() {
            continue;
        }
        let width = shown(word);
        if at > below && at + spaces + width > columns {
            out.push('\n');
            (at, spaces) = (0, below);
        }
        out.push_str(&" ".repeat(spaces));
        out.push_str(word);
        (at, spaces) = (at + spaces + width, 0);
    }
    // Behind a question.
    out + &" ".repeat(spaces)
}

/// Where a line goes on: in its last column, if that leaves room, else at its beginning.
fn below(line: &str, columns: usize, rest: Rest) -> usize {
    let line = bare(line);
    let begin = line.len() - line.trim_start_matches(' ').len();
    let (mut column, mut at) = (None, 0);
    let mut gap = 0;
    for c in line.chars() {
        let width = c.encode_utf8(&mut [0; 4]).width();
        if c != ' ' {
            if gap >= 2 && at > begin {
                column = Some(at).filter(|at| *at <= columns * 3 / 5).or(column);
            }
            gap = 0;
        } else {
            gap += 1;
        }
        at += width;
    }
    let beginning = match rest {
        Rest::Below => begin + 2,
        Rest::Same => begin,
    };
    column.unwrap_or(beginning).min(columns / 2 + columns / 10)
}

fn shown(text: &str) -> usize {
    bare(text).width()
}

/// Without what only colours it: the help's, no one else's.
fn bare(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut parts = text.split("\u{1b}[");
    bare.push_str(parts.next().unwrap_or_default());
    for part in parts {
        bare.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_between_words_and_goes_on_below_where_it_began() {
        let in_20 = |text: &str| wrapped(text, Some(20));
        assert_eq!(in_20("short"), "short");
        assert_eq!(in_20("one two three four five"), "one two three four\n  five");
        assert_eq!(in_20("  one two three four five"), "  one two three four\n    five");
        assert_eq!(in_20("abc  one two three four"), "abc  one two three\n     four");
        assert_eq!(in_20("秋の暮れ 静か 秋の暮れ"), "秋の暮れ 静か\n  秋の暮れ");
        assert_eq!(wrapped_prose("one two three four five", Some(20)), "one two three four\nfive");
        let address = "see https://example.org/a/long/address now";
        assert_eq!(in_20(address), "see\n  https://example.org/a/long/address\n  now");
        assert_eq!(wrapped(address, None), address, "a pipe gets it whole");
        assert_eq!(in_20("\u{1b}[1mone\u{1b}[0m two three fours"), "\u{1b}[1mone\u{1b}[0m two three fours");
    }

    #[test]
    fn what_is_cut_has_a_sign_and_fits() {
        assert_eq!(cut("abcde", 5), "abcde");
        assert_eq!(cut("abcdef", 5), "abcd…");
        assert_eq!(cut("秋の暮れ", 5), "秋の…");
    }
}
