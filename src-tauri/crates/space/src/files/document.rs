//! The text of documents: PDF, and what office programs write. Told by content; bounded in pages, bytes and text.

mod office;
mod pdf;

use std::fs::File;

use serde::Serialize;

use super::Stop;
use super::error::FileError;
use super::path::SpacePath;
pub(super) use office::civil;

/// Documents whose text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum DocumentKind {
    Pdf,
    Docx,
    Xlsx,
    Pptx,
    /// OpenDocument text (odt).
    Odt,
    /// OpenDocument spreadsheet (ods).
    Ods,
    /// OpenDocument presentation (odp).
    Odp,
}

impl DocumentKind {
    fn name(self) -> &'static str {
        match self {
            Self::Pdf => "a PDF",
            Self::Docx => "a Word document",
            Self::Xlsx => "an Excel workbook",
            Self::Pptx => "a PowerPoint presentation",
            Self::Odt => "an OpenDocument text",
            Self::Ods => "an OpenDocument spreadsheet",
            Self::Odp => "an OpenDocument presentation",
        }
    }
}

pub(super) struct Document {
    pub kind: DocumentKind,
    pub text: String,
    /// Pages, sheets or slides.
    pub parts: u32,
    pub whole: bool,
}

/// The largest document that is opened.
const LARGEST: u64 = 64 << 20;
/// Text is taken out of a document up to here.
const TEXT: usize = 4 << 20;

/// `true` where the beginning is a document's, or an archive's that may be one.
pub(super) fn may_be(head: &[u8]) -> bool {
    is_pdf(head) || head.starts_with(b"PK\x03\x04")
}

fn is_pdf(head: &[u8]) -> bool {
    head.trim_ascii_start().starts_with(b"%PDF-")
}

/// The document in `file`; `None` if it is an archive of another kind.
pub(super) fn read(
    mut file: File,
    bytes: u64,
    path: &SpacePath,
    stop: Stop<'_>,
) -> Result<Option<Document>, FileError> {
    use std::io::{Read, Seek};
    let io = |e| FileError::io(path, e);
    file.rewind().map_err(io)?;
    let mut head = Vec::new();
    (&mut file).take(1024).read_to_end(&mut head).map_err(io)?;
    file.rewind().map_err(io)?;
    if bytes > LARGEST {
        // An archive of that size is most likely no document; what it is is told all the same.
        return if is_pdf(&head) {
            Err(FileError::TooLarge { path: path.clone(), bytes, limit: LARGEST })
        } else {
            Ok(None)
        };
    }
    if is_pdf(&head) {
        let mut content = Vec::new();
        file.take(LARGEST).read_to_end(&mut content).map_err(io)?;
        return pdf::read(content, path, stop).map(Some);
    }
    office::read(file, path, stop)
}

fn unreadable(path: &SpacePath, kind: DocumentKind, why: impl std::fmt::Display) -> FileError {
    let why = why.to_string().chars().take(200).collect();
    FileError::Document { path: path.clone(), what: kind.name(), why }
}
