//! Which folders can be a Space: never one that holds settings, keys, the system, or Miki itself.

use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::error::{FileError, NoSpace};
use super::path::SpacePath;

/// Where things are on this machine. The shell finds them out; a library reads no environment.
#[derive(Debug, Clone)]
pub struct Places {
    /// The user's home folder.
    pub home: PathBuf,
    /// Miki's own data folder.
    pub data: PathBuf,
    /// The trash of the home folder: `$XDG_DATA_HOME/Trash` on Linux, `~/.Trash` on macOS. Windows' recycle bin is
    /// behind an API of its own; there it is a folder of Miki's.
    pub trash: PathBuf,
}

/// Folders of the system; they and what is in them are no Space. `/tmp`, `/mnt`, `/media`, `/srv`, `/opt` can be.
const SYSTEM: &[&str] = &[
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/var",
    "/System",
    "/Library",
    "/Applications",
    "/private/etc",
    "/private/var",
    "/cores",
];
/// Exceptions below them: where temporary folders and removable disks are.
const NOT_SYSTEM: &[&str] =
    &["/run/media", "/var/tmp", "/var/folders", "/private/var/folders", "/private/var/tmp"];
/// Folders that hold others' homes and disks: no Space themselves, but what is in them can be.
const HOLDERS: &[&str] = &[
    "/home",
    "/Users",
    "/mnt",
    "/media",
    "/Volumes",
    "/run/media",
    "/tmp",
    "/var/tmp",
    "/private",
    "/opt",
    "/srv",
];
/// Folders of Windows, on any drive, by their first name.
const WINDOWS: &[&str] = &[
    "windows",
    "program files",
    "program files (x86)",
    "programdata",
    "$recycle.bin",
    "system volume information",
];

/// Opens `root` if it can be a Space, and says where it really is. The judgement is made of the folder that was
/// opened: its path is asked of the handle's own file system entry afterwards, and must lead to the same folder.
pub(super) fn open(root: &Path, places: &Places) -> Result<(Dir, PathBuf), FileError> {
    let refuse = |why| FileError::NotASpace { path: root.to_path_buf(), why };
    if !root.is_absolute() {
        return Err(refuse(NoSpace::NotAbsolute));
    }
    let here = SpacePath::root();
    let io = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotADirectory | std::io::ErrorKind::NotFound => refuse(NoSpace::NotAFolder),
        _ => FileError::io(&here, e),
    };
    let dir = Dir::open_ambient_dir(root, ambient_authority()).map_err(io)?;
    let real = std::fs::canonicalize(root).map_err(io)?;
    let again = Dir::open_ambient_dir(&real, ambient_authority()).map_err(io)?;
    if !super::handle::same_folder(&dir, &again).map_err(io)? {
        return Err(FileError::Changed { path: here });
    }
    // A data folder that is not made yet is where its nearest parent really is.
    let real_of = |path: &Path| {
        let there = path.ancestors().find_map(|above| Some((above, std::fs::canonicalize(above).ok()?)));
        match there {
            Some((above, real)) => real.join(path.strip_prefix(above).unwrap_or(Path::new(""))),
            None => path.to_path_buf(),
        }
    };
    match judge(&real, &real_of(&places.home), &real_of(&places.data)) {
        Some(why) => Err(refuse(why)),
        None => Ok((dir, real)),
    }
}

/// Why the folder at `real` cannot be a Space; all three are absolute and without links.
pub(super) fn judge(real: &Path, home: &Path, data: &Path) -> Option<NoSpace> {
    let mut names = real.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
        _ => None,
    });
    let Some(first) = names.next() else { return Some(NoSpace::Root) };
    if home.starts_with(real) {
        return Some(NoSpace::Home);
    }
    if data.starts_with(real) || real.starts_with(data) {
        return Some(NoSpace::OwnData);
    }
    let in_home = real.strip_prefix(home).ok();
    // Above the home nobody puts such a folder; in it, and on other disks, a project has its own.
    let within = in_home.unwrap_or(real);
    let parts = within.components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let is_guarded = super::protect::is_guarded(parts) || is_repository(real, home);
    if let Some(within) = in_home {
        let hidden = |part: Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
        let first = within.components().next();
        // macOS and Windows keep settings and keys in folders that are hidden by other means.
        let settings =
            first.is_some_and(|part| part.as_os_str() == "Library" || part.as_os_str() == "AppData");
        let hidden = first.is_some_and(hidden) || settings;
        return if hidden { Some(NoSpace::Hidden) } else { is_guarded.then_some(NoSpace::Guarded) };
    }
    if is_guarded {
        return Some(NoSpace::Guarded);
    }
    // Somebody else's home is no Space either.
    if real.parent().is_some_and(|above| above == Path::new("/home") || above == Path::new("/Users")) {
        return Some(NoSpace::Home);
    }
    let holder = HOLDERS.iter().any(|holder| real == Path::new(holder));
    let system = SYSTEM.iter().any(|folder| real.starts_with(folder))
        && !NOT_SYSTEM.iter().any(|folder| real.starts_with(folder));
    let windows =
        cfg!(windows) && (WINDOWS.contains(&first.as_str()) || (first == "users" && names.next().is_none()));
    (holder || system || windows).then_some(NoSpace::System)
}

/// Whether the folder, or one above it, is what Git keeps in a `.git`, by whatever name: a bare repository's hooks run, too.
fn is_repository(real: &Path, home: &Path) -> bool {
    let is_one = |folder: &Path| {
        folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir()
    };
    real.ancestors().take_while(|folder| *folder != home).any(is_one)
}
