//! One file put in place of another in one step: whoever looks, or is killed, sees the old bytes or the new.

use std::fs::FileTimes;
use std::io::{self, Read, Write};
use std::time::SystemTime;

use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use sha2::{Digest, Sha256};

use super::error::FileError;
use super::handle;
use super::path::SpacePath;

/// What a new file takes over.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Manner<'a> {
    /// The file that stands there, as it was read; it must still be that. `None` if the name must be free.
    pub old: Option<&'a Metadata>,
    /// Permissions to set; the old file's, or the system's own for a new one.
    pub mode: Option<u32>,
    pub modified: Option<SystemTime>,
}

/// Writes `content` to a file without a name, or with one of its own, puts it on the disk, and then in its place.
pub(super) fn put(
    dir: &Dir,
    name: &str,
    path: &SpacePath,
    content: &mut dyn Read,
    manner: Manner<'_>,
) -> Result<(), FileError> {
    let io = |e| FileError::io(path, e);
    let mut unfinished = Unfinished::new(dir).map_err(io)?;
    io::copy(content, unfinished.file()).map_err(io)?;
    unfinished.file().flush().map_err(io)?;
    take_over(unfinished.file(), &manner).map_err(io)?;
    unfinished.file().sync_all().map_err(io)?;
    let Some(old) = manner.old else {
        return unfinished.name_new(name).map_err(io).map(|()| synced(dir));
    };
    let spare = unfinished.name().map_err(io)?.to_owned();
    // As late as can be: somebody may have written to it since it was read.
    match handle::entry(dir, name, path)? {
        Some(now) if handle::unchanged(old, &now) => {}
        _ => return Err(FileError::Changed { path: path.clone() }),
    }
    dir.rename(&spare, dir, name).map_err(io)?;
    unfinished.placed();
    synced(dir);
    Ok(())
}

/// The new entry is there whether or not the folder could be put on the disk at once.
fn synced(dir: &Dir) {
    let _ = handle::sync_folder(dir);
}

#[cfg(unix)]
fn take_over(file: &mut File, manner: &Manner<'_>) -> io::Result<()> {
    use cap_std::fs::{MetadataExt, PermissionsExt};
    if let Some(old) = manner.old {
        // Root writes for others; everybody else owns both, or may not give away.
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
            let owner =
                (rustix::process::Uid::from_raw(old.uid()), rustix::process::Gid::from_raw(old.gid()));
            let _ = rustix::fs::fchown(&*file, Some(owner.0), Some(owner.1));
        }
    }
    if let Some(mode) = manner.mode.or(manner.old.map(|old| old.mode())) {
        file.set_permissions(cap_std::fs::Permissions::from_mode(mode & 0o7777))?;
    }
    times(file, manner)
}

#[cfg(not(unix))]
fn take_over(file: &mut File, manner: &Manner<'_>) -> io::Result<()> {
    let Manner { mode: None | Some(_), .. } = manner; // permissions are the folder's there
    times(file, manner)
}

fn times(file: &File, manner: &Manner<'_>) -> io::Result<()> {
    match manner.modified {
        Some(modified) => file.try_clone()?.into_std().set_times(FileTimes::new().set_modified(modified)),
        None => Ok(()),
    }
}

/// The permissions of a file, where the system has such.
pub(super) fn mode_of(meta: &Metadata) -> Option<u32> {
    #[cfg(unix)]
    {
        Some(cap_std::fs::MetadataExt::mode(meta) & 0o7777)
    }
    #[cfg(not(unix))]
    {
        let _ = meta;
        None
    }
}

/// A file that is not whole yet. On Linux it has no name until it is: nothing is left of it when Miki is killed.
struct Unfinished<'a> {
    dir: &'a Dir,
    file: File,
    name: Option<String>,
}

impl<'a> Unfinished<'a> {
    fn new(dir: &'a Dir) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{Mode, OFlags, openat};
            let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
            if let Ok(fd) = openat(dir, ".", flags, Mode::from_raw_mode(0o666)) {
                return Ok(Self { dir, file: File::from_std(fd.into()), name: None });
            }
        }
        let name = handle::fresh_name();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        let file = dir.open_with(&name, &options)?;
        Ok(Self { dir, file, name: Some(name) })
    }

    fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives it a name of its own, if it has none.
    fn name(&mut self) -> io::Result<&str> {
        if self.name.is_none() {
            let name = handle::fresh_name();
            self.link(&name)?;
            self.name = Some(name);
        }
        Ok(self.name.as_deref().unwrap_or_default())
    }

    /// Gives it the name it was made for, which must be free.
    fn name_new(&mut self, name: &str) -> io::Result<()> {
        match &self.name {
            Some(own) => {
                handle::rename_new(self.dir, own, self.dir, name)?;
                self.placed();
                Ok(())
            }
            None => self.link(name),
        }
    }

    fn link(&self, name: &str) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;
            let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
            let cwd = rustix::fs::CWD;
            Ok(rustix::fs::linkat(cwd, own, self.dir, name, rustix::fs::AtFlags::SYMLINK_FOLLOW)?)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = name;
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    fn placed(&mut self) {
        self.name = None;
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(name) = self.name.take() {
            let _ = self.dir.remove_file(name);
        }
    }
}

/// The SHA-256 of some bytes, in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The SHA-256 of all that is read.
pub(super) fn sha256_of(reader: &mut dyn Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
