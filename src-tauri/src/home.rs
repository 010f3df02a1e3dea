//! The data folder and what lies where in it. Makes the folder; reads and writes nothing else.

use std::io;
use std::path::{Path, PathBuf};

use protocol::{ErrorCode, ErrorView};

/// The folder that one engine owns: settings, journal, blobs, lock and socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home(PathBuf);

impl Home {
    /// `MIKI_HOME`, or `miki` in the platform's folder for application data.
    ///
    /// # Errors
    /// [`ErrorCode::Storage`] where no such folder is known, or it cannot be made.
    pub fn open() -> Result<Self, ErrorView> {
        let variable =
            |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = match variable("MIKI_HOME") {
            Some(folder) => folder,
            None => data_folder(variable)
                .ok_or_else(|| {
                    ErrorView::new(ErrorCode::Storage, "no folder for application data is known")
                        .with_hint("set MIKI_HOME to a folder of your own")
                })?
                .join("miki"),
        };
        Self::at(&folder)
    }

    /// The folder at `folder`, made (and closed to other users) where it is missing.
    ///
    /// # Errors
    /// [`ErrorCode::Storage`] names the folder and the reason.
    pub fn at(folder: &Path) -> Result<Self, ErrorView> {
        let home = make_private(folder).and_then(|()| folder.canonicalize()).map_err(|error| {
            ErrorView::new(
                ErrorCode::Storage,
                format!("data folder {} cannot be made: {error}", folder.display()),
            )
            .with_hint("set MIKI_HOME to a folder you may write to")
        })?;
        Ok(Self(home))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn settings(&self) -> PathBuf {
        self.0.join("settings.json")
    }

    /// What the windows remember.
    pub fn remembered(&self) -> PathBuf {
        self.0.join("windows.json")
    }

    /// The names of the user's secrets.
    pub fn secrets(&self) -> PathBuf {
        self.0.join("secrets.json")
    }

    /// The networks that read text in pictures, where the user has put them here.
    pub fn ocr_models(&self) -> PathBuf {
        self.0.join("models/ocr")
    }

    /// Pictures and other files that the journal names by their content.
    pub fn blobs(&self) -> PathBuf {
        self.0.join("blobs")
    }

    pub fn lock(&self) -> PathBuf {
        self.0.join("miki.lock")
    }

    /// The local socket. On Windows only its path is used, to name the pipe.
    pub fn socket(&self) -> PathBuf {
        self.0.join("miki.sock")
    }

    /// What servers of the Model Context Protocol offer, and the folders of those that are confined.
    pub fn servers(&self) -> PathBuf {
        self.0.join("mcp")
    }

    pub fn dotenv(&self) -> PathBuf {
        self.0.join(".env")
    }
}

#[cfg(target_os = "macos")]
fn data_folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    Some(variable("HOME")?.join("Library/Application Support"))
}

#[cfg(windows)]
fn data_folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    variable("APPDATA")
}

/// As the XDG base directories have it: a relative `XDG_DATA_HOME` counts as unset.
#[cfg(not(any(target_os = "macos", windows)))]
fn data_folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    variable("XDG_DATA_HOME")
        .filter(|folder| folder.is_absolute())
        .or_else(|| Some(variable("HOME")?.join(".local/share")))
}

/// Mode 0700 at its making and again when it is there already: keys' names and pictures of the screen are in it.
#[cfg(unix)]
fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))
}

/// The profile's folders are the user's alone by inheritance.
#[cfg(not(unix))]
fn make_private(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_made_and_found_again() {
        let parent = tempfile::tempdir().unwrap();
        let home = Home::at(&parent.path().join("deep/er")).unwrap();
        assert_eq!(Home::at(home.path()).unwrap(), home);
        assert!(home.settings().ends_with("deep/er/settings.json"));
    }

    #[cfg(unix)]
    #[test]
    fn other_users_cannot_look_into_the_folder() {
        use std::os::unix::fs::PermissionsExt;

        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("open");
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        Home::at(&folder).unwrap();
        assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named_with_a_way_out() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Home::at(&file.path().join("below")).unwrap_err();
        assert_eq!(error.code, ErrorCode::Storage);
        assert!(error.message.contains("below") && error.hint.unwrap().contains("MIKI_HOME"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_relative_xdg_folder_counts_as_unset() {
        let folder = data_folder(|name| match name {
            "XDG_DATA_HOME" => Some("relative".into()),
            "HOME" => Some("/home/mia".into()),
            _ => None,
        });
        assert_eq!(folder.unwrap(), PathBuf::from("/home/mia/.local/share"));
    }
}
