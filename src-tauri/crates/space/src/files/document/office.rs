//! Archives that office programs write: which part holds the text, and how far one is unpacked.

mod sheet;
mod words;

use std::fs::File;
use std::io::{BufReader, Read, Take};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

use super::{Document, DocumentKind, TEXT, unreadable};
use crate::files::Stop;
use crate::files::error::FileError;
use crate::files::path::SpacePath;

/// All parts of a document together inflate to at most this much.
const INFLATED: u64 = 256 << 20;
/// Files in an archive; a list of millions is an attack by itself.
const ENTRIES: usize = 50_000;

/// The text so far, and what may still be taken.
struct Out<'a> {
    text: String,
    inflated: u64,
    whole: bool,
    kind: DocumentKind,
    path: &'a SpacePath,
    stop: Stop<'a>,
}

pub(in crate::files) use sheet::civil;

type Archive = ZipArchive<BufReader<File>>;
type Part<'a> = Reader<BufReader<Take<Box<dyn Read + 'a>>>>;

pub(super) fn read(file: File, path: &SpacePath, stop: Stop<'_>) -> Result<Option<Document>, FileError> {
    let Ok(mut archive) = ZipArchive::new(BufReader::new(file)) else { return Ok(None) };
    if archive.len() > ENTRIES {
        return Ok(None);
    }
    let Some(kind) = kind(&mut archive) else { return Ok(None) };
    let mut out = Out { text: String::new(), inflated: 0, whole: true, kind, path, stop };
    let parts = match kind {
        DocumentKind::Docx => words::docx(&mut archive, &mut out)?,
        DocumentKind::Pptx => words::pptx(&mut archive, &mut out)?,
        DocumentKind::Xlsx => sheet::xlsx(&mut archive, &mut out)?,
        DocumentKind::Odt | DocumentKind::Ods | DocumentKind::Odp => {
            words::open_document(&mut archive, &mut out)?
        }
        DocumentKind::Pdf => return Ok(None),
    };
    out.text.truncate(out.text.floor_char_boundary(TEXT));
    Ok(Some(Document { kind, text: out.text, parts, whole: out.whole }))
}

fn kind(archive: &mut Archive) -> Option<DocumentKind> {
    if let Ok(part) = archive.by_name("mimetype") {
        let mut name = String::new();
        part.take(128).read_to_string(&mut name).ok()?;
        // Also templates, masters and pages for the web, whose names begin the same.
        let kind = name.trim().strip_prefix("application/vnd.oasis.opendocument.")?;
        return match () {
            () if kind.starts_with("text") => Some(DocumentKind::Odt),
            () if kind.starts_with("spreadsheet") => Some(DocumentKind::Ods),
            () if kind.starts_with("presentation") => Some(DocumentKind::Odp),
            () => None,
        };
    }
    let has = |name: &str| archive.index_for_name(name).is_some();
    match () {
        () if has("word/document.xml") => Some(DocumentKind::Docx),
        () if has("xl/workbook.xml") => Some(DocumentKind::Xlsx),
        () if has("ppt/presentation.xml") => Some(DocumentKind::Pptx),
        () => None,
    }
}

/// What happens in a part.
enum Xml<'a> {
    Start(&'a BytesStart<'a>),
    End(&'a str),
    Text(&'a str),
}

impl Out<'_> {
    fn full(&self) -> bool {
        self.text.len() >= TEXT
    }

    /// Reads a part from beginning to end, or until nothing more may be taken. Empty if it is not there.
    fn part(
        &mut self,
        archive: &mut Archive,
        name: &str,
        see: &mut dyn FnMut(&mut Self, Xml<'_>),
    ) -> Result<(), FileError> {
        let Ok(part) = archive.by_name(name) else { return Ok(()) };
        let left = INFLATED.saturating_sub(self.inflated);
        let mut reader: Part<'_> =
            Reader::from_reader(BufReader::new((Box::new(part) as Box<dyn Read>).take(left)));
        let mut buffer = Vec::new();
        let mut count = 0_u32;
        loop {
            buffer.clear();
            count = count.wrapping_add(1);
            if count.is_multiple_of(1024) && (self.stop)() {
                return Err(FileError::Stopped);
            }
            if self.full() {
                self.whole = false;
                break;
            }
            let damaged = |why: &dyn std::fmt::Display| unreadable(self.path, self.kind, why);
            match reader.read_event_into(&mut buffer) {
                Ok(Event::Start(start)) => see(self, Xml::Start(&start)),
                Ok(Event::Empty(start)) => {
                    see(self, Xml::Start(&start));
                    see(self, Xml::End(start.local_name().as_ref()));
                }
                Ok(Event::End(end)) => see(self, Xml::End(end.local_name().as_ref())),
                Ok(Event::Text(text)) => see(self, Xml::Text(&text)),
                Ok(Event::CData(text)) => see(self, Xml::Text(&text)),
                Ok(Event::GeneralRef(name)) => {
                    // A document type of its own defines no further ones: such entities are bombs.
                    let one = name.resolve_char_ref().ok().flatten().or_else(|| match name.as_ref() {
                        "amp" => Some('&'),
                        "lt" => Some('<'),
                        "gt" => Some('>'),
                        "quot" => Some('"'),
                        "apos" => Some('\''),
                        _ => None,
                    });
                    if let Some(one) = one {
                        see(self, Xml::Text(one.encode_utf8(&mut [0; 4])));
                    }
                }
                Ok(Event::Eof) => break,
                Ok(_) => {}
                Err(_) if reader.get_ref().get_ref().limit() == 0 => {
                    self.whole = false;
                    break;
                }
                Err(e) => return Err(damaged(&e)),
            }
        }
        self.inflated += left - reader.get_ref().get_ref().limit();
        Ok(())
    }
}

/// An attribute by its local name.
fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    start.attributes().flatten().find(|a| a.key.local_name().as_ref() == name).map(|a| {
        let raw = a.value.into_owned();
        quick_xml::escape::unescape(&raw).map(std::borrow::Cow::into_owned).unwrap_or(raw)
    })
}

/// What the relations of a part call by an id.
fn relations(
    archive: &mut Archive,
    out: &mut Out<'_>,
    part: &str,
) -> Result<Vec<(String, String)>, FileError> {
    let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
    let mut found = Vec::new();
    out.part(archive, &format!("{folder}/_rels/{file}.rels"), &mut |_, xml| {
        if let Xml::Start(start) = xml
            && start.local_name().as_ref() == "Relationship"
            && let (Some(id), Some(target)) = (attribute(start, "Id"), attribute(start, "Target"))
        {
            let target = target.strip_prefix('/').map_or_else(|| format!("{folder}/{target}"), str::to_owned);
            found.push((id, target));
        }
    })?;
    Ok(found)
}
