//! The trash that the user's desktop knows, so that what was deleted is found there by hand, too.
//!
//! Linux: the freedesktop.org trash, in the home folder or, on other disks, at their top. What is deleted is moved by
//! handles, never copied. Emptying it is the user's.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use cap_fs_ext::MetadataExt;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use serde::{Deserialize, Serialize};

use super::Space;
use super::document::civil;
use super::error::FileError;
use super::handle;
use super::path::SpacePath;

/// Where in the trash something is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InTrash {
    /// The trash.
    pub folder: PathBuf,
    /// What it is called there.
    pub name: String,
}

struct Trash {
    folder: PathBuf,
    /// What is written as the place where something was begins here: a disk's own trash may be mounted elsewhere.
    top: Option<PathBuf>,
    files: Dir,
    /// `None` on macOS, whose trash has no such notes.
    info: Option<Dir>,
}

/// Names tried for one thing.
const TRIED: u32 = 10_000;

/// Moves an entry into the trash. `intend` is told the place right before.
pub(super) fn put(
    space: &Space,
    dir: &Dir,
    name: &str,
    path: &SpacePath,
    intend: &dyn Fn(&InTrash) -> Result<(), FileError>,
) -> Result<InTrash, FileError> {
    let device = MetadataExt::dev(&dir.dir_metadata().map_err(|e| FileError::io(path, e))?);
    let at = space.root().join(path.as_str());
    let home = open(&space.inner.trash, None).ok();
    // Its own disk first: a move between disks would be a copy.
    let home =
        home.filter(|trash| trash.files.dir_metadata().is_ok_and(|meta| MetadataExt::dev(&meta) == device));
    for trash in [home, on_disk(&at, device)].into_iter().flatten() {
        match trash.take(dir, name, path, &at, intend) {
            Err(FileError::OtherDisk { .. }) => {} // one device, but mounted twice
            other => return other,
        }
    }
    Err(FileError::NoTrash { path: path.clone() })
}

/// The folder that holds what is in the trash, for a look and for moving it back.
pub(super) fn find(place: &InTrash) -> io::Result<Dir> {
    let dir = Dir::open_ambient_dir(&place.folder, ambient_authority())?;
    if cfg!(target_os = "macos") { Ok(dir) } else { cap_fs_ext::DirExt::open_dir_nofollow(&dir, "files") }
}

/// Takes away the note of something that was moved back.
pub(super) fn forget(place: &InTrash) {
    let info = Dir::open_ambient_dir(&place.folder, ambient_authority())
        .and_then(|dir| cap_fs_ext::DirExt::open_dir_nofollow(&dir, "info"));
    if let Ok(info) = info {
        let _ = info.remove_file(note(&place.name));
    }
}

fn note(name: &str) -> String {
    format!("{name}.trashinfo")
}

fn open(folder: &Path, top: Option<PathBuf>) -> io::Result<Trash> {
    make_private(folder)?;
    let dir = Dir::open_ambient_dir(folder, ambient_authority())?;
    let folder = folder.to_path_buf();
    if cfg!(target_os = "macos") {
        return Ok(Trash { folder, top, files: dir, info: None });
    }
    let sub = |name: &str| {
        match dir.create_dir_with(name, &private()) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
            _ => {}
        }
        cap_fs_ext::DirExt::open_dir_nofollow(&dir, name)
    };
    Ok(Trash { folder, top, files: sub("files")?, info: Some(sub("info")?) })
}

fn private() -> cap_std::fs::DirBuilder {
    let builder = cap_std::fs::DirBuilder::new();
    #[cfg(unix)]
    let builder = {
        let mut builder = builder;
        cap_std::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
    };
    builder
}

/// Nobody else sees what was deleted.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// The trash at the top of the disk that `at` is on: `.Trash-UID`, ours and no link.
#[cfg(target_os = "linux")]
fn on_disk(at: &Path, device: u64) -> Option<Trash> {
    let on = |path: &Path| {
        std::fs::symlink_metadata(path).is_ok_and(|meta| std::os::unix::fs::MetadataExt::dev(&meta) == device)
    };
    let top = at.ancestors().skip(1).take_while(|path| on(path)).last()?;
    let uid = rustix::process::getuid();
    let folder = top.join(format!(".Trash-{}", uid.as_raw()));
    make_private(&folder).ok()?;
    let meta = std::fs::symlink_metadata(&folder).ok()?;
    let ours = std::os::unix::fs::MetadataExt::uid(&meta) == uid.as_raw();
    (meta.is_dir() && ours).then(|| open(&folder, Some(top.to_path_buf())).ok()).flatten()
}

#[cfg(not(target_os = "linux"))]
fn on_disk(_: &Path, _: u64) -> Option<Trash> {
    None
}

impl Trash {
    fn take(
        &self,
        dir: &Dir,
        name: &str,
        path: &SpacePath,
        at: &Path,
        intend: &dyn Fn(&InTrash) -> Result<(), FileError>,
    ) -> Result<InTrash, FileError> {
        let io = |e| FileError::io(path, e);
        for count in 0..TRIED {
            // Room for a number and the note's ending.
            let short = &name[..name.floor_char_boundary(230)];
            let called = if count == 0 && short.len() == name.len() {
                name.to_owned()
            } else {
                format!("{short} {}", count + 1)
            };
            // The note comes first: who makes it has the name.
            match self.write_note(&called, at) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                other => other.map_err(io)?,
            }
            let place = InTrash { folder: self.folder.clone(), name: called };
            let moved = intend(&place).and_then(|()| {
                handle::rename_new(dir, name, &self.files, &place.name).map_err(|e| match e.kind() {
                    io::ErrorKind::AlreadyExists => FileError::Exists { path: path.clone() },
                    _ => FileError::io(path, e),
                })
            });
            match moved {
                Ok(()) => {
                    let _ = handle::sync_folder(&self.files).and_then(|()| handle::sync_folder(dir));
                    return Ok(place);
                }
                Err(e) => {
                    if let Some(info) = &self.info {
                        let _ = info.remove_file(note(&place.name));
                    }
                    if !matches!(e, FileError::Exists { .. }) {
                        return Err(e);
                    }
                }
            }
        }
        Err(FileError::NoTrash { path: path.clone() })
    }

    fn write_note(&self, called: &str, at: &Path) -> io::Result<()> {
        let Some(info) = &self.info else { return Ok(()) };
        let shown = self.top.as_ref().and_then(|top| at.strip_prefix(top).ok()).unwrap_or(at);
        let mut file = info.open_with(note(called), OpenOptions::new().write(true).create_new(true))?;
        let text = format!("[Trash Info]\nPath={}\nDeletionDate={}\n", encode(shown), now());
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }
}

/// Bytes as a trash note wants them: percent-encoded, but for `/`.
fn encode(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(*byte))
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// The time of a note. The specification wants the user's own time; ours is UTC, which desktops show a few hours off.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, seconds) = (i64::try_from(since / 86_400).unwrap_or_default(), since % 86_400);
    let (y, m, d) = civil(days);
    format!("{y:04}-{m:02}-{d:02}T{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
