//! Reading a file as what it is: text by lines, a picture's bytes, a document's text; or saying that it is neither.
//!
//! Told by content, never by name. Memory is bounded by the range asked for, not by the file.

use std::io::{BufRead, BufReader, Cursor, Read};

use encoding_rs_io::DecodeReaderBytesBuilder;
use serde::Serialize;

use super::document::{self, DocumentKind};
use super::error::FileError;
use super::path::SpacePath;
use super::{Space, Stop};

/// Which lines are wanted, and how much of them at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The first line, from 1.
    pub from: u64,
    pub lines: u64,
    /// Bytes of text in all.
    pub bytes: usize,
}

impl Default for Range {
    fn default() -> Self {
        Self { from: 1, lines: 2000, bytes: 50_000 }
    }
}

/// How the bytes were read as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Encoding {
    Utf8,
    Utf16,
    /// Something else: what is no UTF-8 reads as `\u{fffd}`.
    Lossy,
}

/// Some lines of a text, and what is missing of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Text {
    /// The lines with their ends. A line that was too long ends with `… [+N bytes]`.
    pub text: String,
    /// The first line of it, from 1.
    pub from: u64,
    /// How many lines of it there are.
    pub lines: u64,
    /// Lines of the whole; `None` if it is too long to count.
    pub total: Option<u64>,
    /// Further lines follow: ask from `from + lines`.
    pub more: bool,
    /// Lines that were shortened.
    pub shortened: u64,
    pub encoding: Encoding,
    /// Bytes of the whole file.
    pub bytes: u64,
}

/// Pictures that can be shown to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PictureKind {
    Png,
    Jpeg,
}

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    Text(Text),
    Picture {
        kind: PictureKind,
        bytes: Vec<u8>,
    },
    /// A document's text; `whole` is false where it has more than is taken out of one. `parts` are pages, sheets or
    /// slides.
    Document {
        kind: DocumentKind,
        text: Text,
        parts: u32,
        whole: bool,
    },
    /// Neither: its size, and what it looks like.
    Binary {
        bytes: u64,
        looks_like: &'static str,
    },
}

/// A line is shown up to here.
const LONG_LINE: usize = 2000;
/// Once the lines are read, the rest of the file is counted this far.
const COUNTED: u64 = 64 << 20;
/// What is looked at to tell what a file is.
const HEAD: u64 = 8192;
/// The largest picture that is read whole.
const PICTURE: u64 = 64 << 20;

impl Space {
    /// Reads a file. An error within a moment for what is none (a pipe, a socket, a device).
    pub fn read(&self, path: &SpacePath, range: Range, stop: Stop<'_>) -> Result<Reading, FileError> {
        let (mut file, meta) = self.file(path)?;
        let io = |e| FileError::io(path, e);
        let mut head = Vec::new();
        (&mut file).take(HEAD).read_to_end(&mut head).map_err(io)?;
        let bytes = meta.len();
        if let Some(kind) = picture(&head) {
            if bytes > PICTURE {
                return Err(FileError::TooLarge { path: path.clone(), bytes, limit: PICTURE });
            }
            file.take(PICTURE).read_to_end(&mut head).map_err(io)?;
            return Ok(Reading::Picture { kind, bytes: head });
        }
        if document::may_be(&head) {
            let Some(found) = document::read(file.into_std(), bytes, path, stop)? else {
                return Ok(Reading::Binary { bytes, looks_like: binary(&head).unwrap_or("binary data") });
            };
            let mut text = lines(Cursor::new(found.text.as_bytes()), range, path, stop)?;
            text.bytes = bytes;
            return Ok(Reading::Document { kind: found.kind, text, parts: found.parts, whole: found.whole });
        }
        let utf16 = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
        if !utf16 && let Some(looks_like) = binary(&head) {
            return Ok(Reading::Binary { bytes, looks_like });
        }
        let whole = Cursor::new(head).chain(file);
        let decoded = DecodeReaderBytesBuilder::new().utf8_passthru(true).strip_bom(true).build(whole);
        let mut text = lines(decoded, range, path, stop)?;
        text.bytes = bytes;
        if utf16 {
            text.encoding = Encoding::Utf16;
        }
        Ok(Reading::Text(text))
    }
}

/// Takes lines out of UTF-8 or what should be.
fn lines(reader: impl Read, range: Range, path: &SpacePath, stop: Stop<'_>) -> Result<Text, FileError> {
    let mut reader = BufReader::with_capacity(64 * 1024, reader);
    let from = range.from.max(1);
    let mut out = Text {
        text: String::new(),
        from,
        lines: 0,
        total: None,
        more: false,
        shortened: 0,
        encoding: Encoding::Utf8,
        bytes: 0,
    };
    let mut line: Vec<u8> = Vec::new();
    let (mut number, mut over, mut counted) = (1_u64, 0_u64, 0_u64);
    // Bytes since the last end of a line: whether there is a last line without an end.
    let mut open = false;
    loop {
        if stop() {
            return Err(FileError::Stopped);
        }
        let buffer = reader.fill_buf().map_err(|e| FileError::io(path, e))?;
        if buffer.is_empty() {
            if open {
                if number >= from && !out.more {
                    out.take(&mut line, &mut over, range);
                }
                number += 1;
            }
            out.total = Some(number - 1);
            return Ok(out);
        }
        if out.more {
            // Only counting is left.
            counted += buffer.len() as u64;
            if counted > COUNTED {
                return Ok(out);
            }
            number += memchr::memchr_iter(b'\n', buffer).count() as u64;
            open = buffer.last() != Some(&b'\n');
            let used = buffer.len();
            reader.consume(used);
            continue;
        }
        let end = memchr::memchr(b'\n', buffer);
        let used = end.map_or(buffer.len(), |end| end + 1);
        if number >= from {
            let room = LONG_LINE.saturating_sub(line.len()).min(used);
            line.extend_from_slice(&buffer[..room]);
            over += (used - room) as u64;
        }
        open = end.is_none();
        if end.is_some() {
            if number >= from {
                out.take(&mut line, &mut over, range);
            }
            number += 1;
        }
        reader.consume(used);
    }
}

impl Text {
    /// Adds a line, or says that there is more where it does not fit.
    fn take(&mut self, line: &mut Vec<u8>, over: &mut u64, range: Range) {
        // The end of a shortened line was counted with what is missing.
        let missing = if *over == 1 && line.last() != Some(&b'\n') {
            line.push(b'\n');
            0
        } else {
            over.saturating_sub(1)
        };
        *over = 0;
        if missing > 0
            && let Err(e) = std::str::from_utf8(line)
            && e.error_len().is_none()
        {
            line.truncate(e.valid_up_to()); // not in the middle of a character
        }
        let shown = String::from_utf8_lossy(line);
        let lossy = matches!(shown, std::borrow::Cow::Owned(_));
        if self.lines == range.lines || (self.lines > 0 && self.text.len() + shown.len() > range.bytes) {
            self.more = true;
            line.clear();
            return;
        }
        if lossy {
            self.encoding = Encoding::Lossy;
        }
        self.text.push_str(&shown);
        if missing > 0 {
            self.shortened += 1;
            self.text.push_str(&format!("… [+{missing} bytes]\n"));
        }
        self.lines += 1;
        line.clear();
    }
}

fn picture(head: &[u8]) -> Option<PictureKind> {
    if head.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some(PictureKind::Png)
    } else if head.starts_with(b"\xff\xd8\xff") {
        Some(PictureKind::Jpeg)
    } else {
        None
    }
}

/// What a file that is no text looks like.
fn binary(head: &[u8]) -> Option<&'static str> {
    const KINDS: &[(&[u8], &str)] = &[
        (b"PK\x03\x04", "a ZIP archive"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"BZh", "a bzip2 archive"),
        (b"\xfd7zXZ\0", "an xz archive"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        (b"\x28\xb5\x2f\xfd", "a zstd archive"),
        (b"GIF8", "a GIF picture"),
        (b"RIFF", "a RIFF file (WebP, WAV or AVI)"),
        (b"\x7fELF", "a program"),
        (b"MZ", "a Windows program"),
        (b"\xcf\xfa\xed\xfe", "a program"),
        (b"\xd0\xcf\x11\xe0", "an old Office document (.doc, .xls, .ppt)"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"OggS", "an Ogg file"),
        (b"ID3", "an MP3 file"),
    ];
    let zero = memchr::memchr(0, head).is_some();
    let known = KINDS.iter().find(|(magic, _)| head.starts_with(magic));
    match known {
        // Some of these beginnings are letters: a text can begin with them, too.
        Some((magic, what)) if zero || !magic.iter().all(u8::is_ascii_graphic) => Some(what),
        _ if zero => Some("binary data"),
        _ => None,
    }
}
