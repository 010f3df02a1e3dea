//! A session into a file and back: the files and the pictures; what a file says is `fold::export`'s.
//!
//! A new file is made, and none is written over. An import takes a file whole or not at all.

use std::fs;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use agent::AgentHandle;
use fold::export::{self, Fault, Picture, Pictures, Why, Written};
use protocol::command::ExportFormat;
use protocol::ids::BlobRef;
use protocol::view::{Exported, Imported, SessionView};
use protocol::{ErrorCode, ErrorView, Event};
use sha2::{Digest, Sha256};

/// Bytes of a file that is imported.
const LARGEST: u64 = 4 * 1024 * 1024 * 1024;
/// Characters of a title in a file's name.
const NAME_CHARS: usize = 60;

pub fn extension(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Jsonl => "jsonl",
        ExportFormat::Markdown => "md",
        ExportFormat::Html => "html",
    }
}

/// Writes a session into the new file `to`; `blobs` is the folder of pictures, if they are to be in it.
///
/// # Errors
/// `Storage`, also where there is such a file; nothing is left of a file that could not be written whole.
pub fn export(
    to: &Path,
    format: ExportFormat,
    session: &SessionView,
    events: &[Event],
    blobs: Option<&Path>,
) -> Result<Exported, ErrorView> {
    let cannot = |error: io::Error| {
        let error = ErrorView::new(ErrorCode::Storage, format!("cannot write {}: {error}", to.display()));
        error.with_hint("name a file that is not there yet, in a folder that can be written")
    };
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".miki-").tempfile_in(folder).map_err(cannot)?;
    let written = write(file.as_file_mut(), format, session, events, blobs).map_err(cannot)?;
    let bytes = file.as_file().metadata().map_err(cannot)?.len();
    file.persist_noclobber(to).map_err(|error| cannot(error.error))?;
    let Written { pictures, missing } = written;
    Ok(Exported { file: to.display().to_string(), bytes, pictures, missing })
}

/// Writes a session to `out`.
///
/// # Errors
/// Of `out`.
pub fn write(
    out: &mut dyn Write,
    format: ExportFormat,
    session: &SessionView,
    events: &[Event],
    blobs: Option<&Path>,
) -> io::Result<Written> {
    let mut out = BufWriter::with_capacity(1 << 20, out);
    let mut found = |blob: &BlobRef| {
        let path = blobs.filter(|_| BlobRef::is_name(&blob.sha256))?.join(&blob.sha256);
        fs::read(path).ok()
    };
    let pictures: Option<&mut Pictures<'_>> = if blobs.is_some() { Some(&mut found) } else { None };
    let written = match format {
        ExportFormat::Jsonl => export::jsonl(&mut out, session, events, pictures)?,
        ExportFormat::Markdown => {
            export::markdown(&mut out, session, events)?;
            Written::default()
        }
        ExportFormat::Html => export::html(&mut out, session, events, pictures)?,
    };
    out.flush()?;
    Ok(written)
}

/// A file in `folder` that is not there yet, named by the session's title.
pub fn free_name(folder: &Path, session: &SessionView, format: ExportFormat) -> PathBuf {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let title: String = session.title.chars().filter(|c| is_plain(*c)).take(NAME_CHARS).collect();
    let title = title.trim();
    let title = if title.is_empty() { "session" } else { title };
    let numbered = |number: u32| match number {
        0 => folder.join(format!("Miki {title}.{}", extension(format))),
        number => folder.join(format!("Miki {title} ({number}).{}", extension(format))),
    };
    (0..1_000).map(numbered).find(|path| !path.exists()).unwrap_or_else(|| numbered(1_000))
}

/// Takes a session from a file.
///
/// # Errors
/// `BadRequest` with the line, `NotFound`, `Storage`; nothing is taken then.
pub async fn import(agent: &AgentHandle, file: PathBuf) -> Result<Imported, ErrorView> {
    let of = file.clone();
    let parsed = crate::engine::blocking(move || {
        // First only looked at: a picture that is not what its name says refuses the file.
        read(&of, &mut |picture| hex(&Sha256::digest(&picture.bytes)) == picture.sha256)
    })
    .await??;
    let (sender, mut pictures) = tokio::sync::mpsc::channel::<Picture>(4);
    let of = file.clone();
    let reading =
        tokio::task::spawn_blocking(move || read(&of, &mut |picture| sender.blocking_send(picture).is_ok()));
    let mut taken = 0;
    while let Some(Picture { media_type, bytes, .. }) = pictures.recv().await {
        agent.import_picture(bytes, media_type).await?;
        taken += 1;
    }
    drop(pictures);
    let again = reading
        .await
        .map_err(|error| ErrorView::new(ErrorCode::Internal, format!("a file's reader ended: {error}")))??;
    if again != parsed {
        let message = format!("{} was changed while it was read", file.display());
        return Err(ErrorView::new(ErrorCode::BadRequest, message));
    }
    let events = parsed.events.len() as u64;
    let session = agent.import_session(parsed.title, parsed.events).await?;
    Ok(Imported { session, events, pictures: taken })
}

fn read(path: &Path, take: &mut dyn FnMut(Picture) -> bool) -> Result<export::File, ErrorView> {
    let cannot = |error: io::Error| {
        let code = match error.kind() {
            io::ErrorKind::NotFound => ErrorCode::NotFound,
            _ => ErrorCode::Storage,
        };
        ErrorView::new(code, format!("cannot read {}: {error}", path.display()))
    };
    // A pipe or a device would never end.
    let meta = fs::metadata(path).map_err(cannot)?;
    if !meta.is_file() || meta.len() > LARGEST {
        let message = format!("{} is no file that can be imported", path.display());
        return Err(ErrorView::new(ErrorCode::BadRequest, message)
            .with_hint("name one that was made by: miki session export SESSION --format jsonl"));
    }
    let file = fs::File::open(path).map_err(cannot)?;
    export::read(&mut BufReader::with_capacity(1 << 20, file), take).map_err(|fault| refused(path, fault))
}

fn refused(path: &Path, Fault { line, why }: Fault) -> ErrorView {
    let (what, hint) = match why {
        Why::NoExport => {
            ("is no exported session", "export one with: miki session export SESSION --format jsonl")
        }
        Why::NewerFile | Why::NewerEvent => {
            ("was written by a newer Miki", "update this one, then import it again")
        }
        Why::Broken => ("cannot be read", "export it again; the file was cut short or changed"),
        Why::NotOfIt => ("is of another session", "export it again; the file was changed"),
        Why::NoPicture => ("has a picture that is not what it says", "export it again; the file was changed"),
        Why::TooLong => ("is too long", "a line has at most 64 MiB, and a session 200,000 events"),
        Why::Unreadable => ("could not be read from the disk", "check the disk"),
    };
    let message = format!("{}: line {line} {what}; nothing was imported", path.display());
    ErrorView::new(ErrorCode::BadRequest, message).with_hint(hint)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
