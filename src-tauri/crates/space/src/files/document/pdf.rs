//! The text of a PDF, page by page. A library reads what strangers wrote: its panics end in an error, and it works in
//! a thread of its own, so that a page that takes for ever does not keep a stop waiting.

mod page;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use lopdf::LoadOptions;

use super::{Document, DocumentKind, TEXT, unreadable};
use crate::files::Stop;
use crate::files::error::FileError;
use crate::files::path::SpacePath;

/// Pages that are read of one.
const PAGES: usize = 2000;
/// What all its object streams may inflate to together, and one of them: the library unpacks them all when it opens
/// a file, and knows a bound for each alone.
const INFLATED: usize = 256 << 20;
const ONE_INFLATED: usize = 64 << 20;
/// As many as each can still have as much as writers put into one.
const OBJECT_STREAMS: usize = 4000;
/// How often the stop is asked while a page is read.
const ASKED: Duration = Duration::from_millis(20);

pub(super) fn read(content: Vec<u8>, path: &SpacePath, stop: Stop<'_>) -> Result<Document, FileError> {
    let ended = Arc::new(AtomicBool::new(false));
    let (send, receive) = sync_channel(1);
    let flag = ended.clone();
    let worker = move || {
        let text = catch_unwind(AssertUnwindSafe(|| pages(&content, &flag)));
        let _ = send.send(text.unwrap_or_else(|_| Err("its content is damaged".into())));
    };
    std::thread::Builder::new().name("pdf".into()).spawn(worker).map_err(|e| FileError::io(path, e))?;
    loop {
        match receive.recv_timeout(ASKED) {
            Ok(result) => return result.map_err(|why| unreadable(path, DocumentKind::Pdf, why)),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(unreadable(path, DocumentKind::Pdf, "its content is damaged"));
            }
            Err(RecvTimeoutError::Timeout) if stop() => {
                ended.store(true, Ordering::Relaxed); // it ends after the page it is at
                return Err(FileError::Stopped);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn pages(content: &[u8], ended: &AtomicBool) -> Result<Document, String> {
    let streams = object_streams(content);
    if streams > OBJECT_STREAMS {
        return Err("it has too many parts".into());
    }
    let each = (INFLATED / streams.max(1)).min(ONE_INFLATED);
    let options = LoadOptions { max_decompressed_size: Some(each), ..LoadOptions::default() };
    let document = lopdf::Document::load_mem_with_options(content, options).map_err(|e| e.to_string())?;
    if document.is_encrypted() {
        return Err("it asks for a password".into());
    }
    let all = document.get_pages();
    let parts = u32::try_from(all.len()).unwrap_or(u32::MAX);
    let mut text = String::new();
    let mut whole = all.len() <= PAGES;
    let mut failed = None;
    for (number, id) in all.into_iter().take(PAGES) {
        if ended.load(Ordering::Relaxed) || text.len() >= TEXT {
            whole = false;
            break;
        }
        text.push_str(&format!("--- page {number} ---\n"));
        let lines = match page::text(&document, id, ended) {
            Ok(lines) => lines,
            Err(why) => {
                text.push_str(&format!("(this page cannot be read: {why})\n"));
                failed = Some(why);
                continue;
            }
        };
        text.push_str(&lines);
        if lines.trim().is_empty() {
            text.push_str("(no text: a picture, or a font that cannot be read)\n");
        }
    }
    text.truncate(text.floor_char_boundary(TEXT));
    match failed {
        Some(why) if parts == 1 => Err(why),
        failed => Ok(Document { kind: DocumentKind::Pdf, text, parts, whole: whole && failed.is_none() }),
    }
}

/// How often a file says `/ObjStm`, also where letters are written as numbers (`/Obj#53tm`).
fn object_streams(content: &[u8]) -> usize {
    const NAME: &[u8] = b"ObjStm";
    let digit = |at: usize| content.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let names = |start: usize| {
        let mut at = start;
        NAME.iter().all(|wanted| {
            let (letter, used) = match (content.get(at), digit(at + 1), digit(at + 2)) {
                (Some(b'#'), Some(high), Some(low)) => (high * 16 + low, 3),
                (Some(byte), ..) => (u32::from(*byte), 1),
                (None, ..) => return false,
            };
            at += used;
            letter == u32::from(*wanted)
        })
    };
    memchr::memchr_iter(b'/', content).filter(|slash| names(slash + 1)).count()
}

#[cfg(test)]
mod tests {
    use super::object_streams;

    #[test]
    fn object_streams_are_counted_however_they_are_written() {
        let text = b"/Type/ObjStm /Obj#53tm /#4f#62#6a#53#74#6D /ObjSt /Obj#5 /ObjStm";
        assert_eq!(object_streams(text), 4);
    }
}
