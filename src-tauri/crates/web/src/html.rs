//! HTML as readable Markdown. Tokens come from html5ever as browsers read them; no tree is built from them, so a page
//! cannot nest itself into a stack overflow nor into quadratic time: what it costs is bounded by its length.
//!
//! Must not fetch anything, and must not fail: any bytes are some page.

mod elements;
mod markdown;
mod reader;
mod table;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, Tokenizer, TokenizerOpts};
use reqwest::Url;

use crate::fetch::{Extent, Links};
use reader::Reader;

/// Between two looks at the clock. A tag with very many attributes is quadratic in the tokenizer.
const STEP: usize = 8 << 10;
/// Bytes of Markdown at most: short tags can write long addresses.
const LIMIT: usize = 8 << 20;

/// A page as Markdown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) title: Option<String>,
    pub(crate) markdown: String,
    /// True if it was not read to its end, by `stop` or by the bound.
    pub(crate) stopped: bool,
}

/// `stop` is asked every few kilobytes.
pub(crate) fn to_markdown(
    source: &str,
    base: &Url,
    links: Links,
    extent: Extent,
    stop: &dyn Fn() -> bool,
) -> Made {
    let tokenizer = Tokenizer::new(Reader::new(base, links, extent), TokenizerOpts::default());
    let stopped = feed(&tokenizer, source, stop);
    tokenizer.sink.made(stopped)
}

/// The words of a piece of HTML, in one line.
pub(crate) fn words(source: &str) -> String {
    let nowhere = Url::parse("about:blank");
    let Ok(base) = nowhere else { return String::new() };
    let made = to_markdown(&source.replace('\n', " "), &base, Links::TextOnly, Extent::Whole, &|| false);
    // Marks of emphasis are a page's, not a line's.
    made.markdown.replace("**", "").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn feed(tokenizer: &Tokenizer<Reader<'_>>, mut source: &str, stop: &dyn Fn() -> bool) -> bool {
    let queue = BufferQueue::default();
    while !source.is_empty() {
        if stop() || tokenizer.sink.len() > LIMIT {
            return true;
        }
        let mut step = STEP.min(source.len());
        while !source.is_char_boundary(step) {
            step -= 1;
        }
        let (piece, rest) = source.split_at(step);
        queue.push_back(StrTendril::from(piece));
        let _ = tokenizer.feed(&queue);
        source = rest;
    }
    tokenizer.end();
    false
}

#[cfg(test)]
mod tests;
