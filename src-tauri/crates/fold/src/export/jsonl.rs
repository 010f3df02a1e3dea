//! JSON Lines: a head, then each event as it is in the journal, each picture before the first event that names it.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Read, Write};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use protocol::Event;
use protocol::event::EventBody;
use protocol::ids::{BlobRef, SessionId, Timestamp};
use protocol::tool::PictureView;
use protocol::view::SessionView;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Pictures, Written};
use crate::{BlobUse, blobs};

/// Of the files that this version writes. A newer one may mean things that this version cannot know.
const VERSION: u32 = 1;
/// Bytes of one line.
const LINE: u64 = 64 * 1024 * 1024;
/// Events of one file.
const EVENTS: usize = 200_000;
/// What an event may say that a picture has.
const PICTURE: u64 = 1 << 32;
/// Pictures that a page can show.
const KINDS: [&str; 2] = ["image/jpeg", "image/png"];

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    /// Tells the file from others.
    miki: String,
    version: u32,
    session: SessionId,
    title: String,
    created: Timestamp,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PictureLine {
    picture: Encoded,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Encoded {
    sha256: String,
    media_type: String,
    base64: String,
}

/// Writes all events of a session.
///
/// # Errors
/// Of `out`.
pub fn jsonl(
    out: &mut dyn Write,
    session: &SessionView,
    events: &[Event],
    mut pictures: Option<&mut Pictures<'_>>,
) -> io::Result<Written> {
    let head = Head {
        miki: "session".into(),
        version: VERSION,
        session: session.id.clone(),
        title: session.title.clone(),
        created: session.created,
    };
    line(out, &head)?;
    let (mut written, mut seen) = (Written::default(), BTreeSet::new());
    for event in events {
        let shown = blobs(&event.body).into_iter().find(|(_, used)| *used == BlobUse::Picture);
        if let (Some(pictures), Some((blob, _))) = (&mut pictures, shown)
            && seen.insert(blob.sha256.clone())
        {
            match pictures(&blob) {
                Some(bytes) => {
                    // As a `PictureLine`; nothing in Base64 is escaped.
                    let (sha256, kind) = (Value::from(&*blob.sha256), Value::from(&*blob.media_type));
                    write!(out, r#"{{"picture":{{"sha256":{sha256},"mediaType":{kind},"base64":""#)?;
                    out.write_all(BASE64_STANDARD.encode(bytes).as_bytes())?;
                    out.write_all(b"\"}}\n")?;
                    written.pictures += 1;
                }
                None => written.missing += 1,
            }
        }
        line(out, event)?;
    }
    Ok(written)
}

fn line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// What a file says, without its pictures.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    pub title: String,
    pub events: Vec<Event>,
}

/// A picture of a file; that its bytes are what its name says is for the reader to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub sha256: String,
    pub media_type: &'static str,
    pub bytes: Vec<u8>,
}

/// Why a file is not taken, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// From 1.
    pub line: u64,
    pub why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It does not begin as one that was exported.
    NoExport,
    /// Of a version that is not known here.
    NewerFile,
    /// An event of a kind that is not known here.
    NewerEvent,
    /// It cannot be read as what it should be.
    Broken,
    /// An event that is no session's, or another one's.
    NotOfIt,
    /// A picture that is none, or another one than its name says.
    NoPicture,
    TooLong,
    /// The file itself could not be read.
    Unreadable,
}

/// Reads a file, whole: no event of one with a fault is answered. Each picture goes to `take`, which says whether it is
/// what its name says.
///
/// # Errors
/// The first fault.
pub fn read(from: &mut dyn BufRead, take: &mut dyn FnMut(Picture) -> bool) -> Result<File, Fault> {
    let mut number = 0;
    let mut text = Vec::new();
    let mut next = |number: &mut u64| -> Result<Option<String>, Fault> {
        *number += 1;
        let fault = |why| Fault { line: *number, why };
        text.clear();
        let length = (&mut *from).take(LINE + 1).read_until(b'\n', &mut text);
        match length {
            Err(_) => Err(fault(Why::Unreadable)),
            Ok(0) => Ok(None),
            Ok(length) if length as u64 > LINE => Err(fault(Why::TooLong)),
            Ok(_) => match std::str::from_utf8(&text) {
                Ok(text) => Ok(Some(text.trim().to_owned())),
                Err(_) => Err(fault(Why::Broken)),
            },
        }
    };
    let head = next(&mut number)?.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let head = head.filter(|head| head["miki"] == "session").ok_or(Fault { line: 1, why: Why::NoExport })?;
    if head["version"].as_u64().is_none_or(|version| version > u64::from(VERSION)) {
        return Err(Fault { line: 1, why: Why::NewerFile });
    }
    let head: Head = serde_json::from_value(head).map_err(|_| Fault { line: 1, why: Why::Broken })?;
    let (mut events, mut sizes) = (Vec::new(), std::collections::BTreeMap::new());
    while let Some(text) = next(&mut number)? {
        let fault = |why| Fault { line: number, why };
        if text.is_empty() {
            continue;
        }
        if text.starts_with(r#"{"picture":"#) {
            let picture = picture(&text).ok_or(fault(Why::NoPicture))?;
            sizes.insert(picture.sha256.clone(), picture.bytes.len() as u64);
            if !take(picture) {
                return Err(fault(Why::NoPicture));
            }
            continue;
        }
        let mut event = event(&text).map_err(fault)?;
        let of_it = event.scope.session.as_ref() == Some(&head.session);
        if !of_it || !event.body.is_durable() {
            return Err(fault(Why::NotOfIt));
        }
        if let Some(view) = picture_of(&mut event.body) {
            measured(&mut view.blob, &sizes).map_err(fault)?;
        }
        if events.len() >= EVENTS {
            return Err(fault(Why::TooLong));
        }
        events.push(event);
    }
    Ok(File { title: head.title, events })
}

fn event(text: &str) -> Result<Event, Why> {
    let why = match serde_json::from_str::<Event>(text) {
        Ok(event) => return Ok(event),
        // The only way to be told which it is.
        Err(error) if error.to_string().contains("unknown variant") => Why::NewerEvent,
        Err(_) => Why::Broken,
    };
    Err(why)
}

fn picture(text: &str) -> Option<Picture> {
    let Encoded { sha256, media_type, base64 } = serde_json::from_str::<PictureLine>(text).ok()?.picture;
    let media_type = KINDS.into_iter().find(|kind| *kind == media_type)?;
    let bytes = BASE64_STANDARD.decode(base64).ok()?;
    let is_one = bytes.starts_with(&[0xff, 0xd8, 0xff]) || bytes.starts_with(b"\x89PNG");
    (is_one && BlobRef::is_name(&sha256)).then_some(Picture { sha256, media_type, bytes })
}

fn picture_of(body: &mut EventBody) -> Option<&mut PictureView> {
    match body {
        EventBody::ToolFinished { result, .. } => result.picture.as_mut(),
        EventBody::ApprovalRequested { approval } => approval.picture.as_deref_mut(),
        _ => None,
    }
}

/// A blob's length is what it has, whatever the event says.
fn measured(blob: &mut BlobRef, sizes: &std::collections::BTreeMap<String, u64>) -> Result<(), Why> {
    if !BlobRef::is_name(&blob.sha256) {
        return Err(Why::Broken);
    }
    blob.bytes = sizes.get(&blob.sha256).copied().unwrap_or(blob.bytes.min(PICTURE));
    Ok(())
}
