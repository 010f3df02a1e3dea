//! Where things are: the checkout, the target folder, and the folders of ours below it. Nothing here writes.

use std::path::PathBuf;

/// The checkout and the folders that builds and tools use.
#[derive(Clone, Debug)]
pub struct Checkout {
    /// The checkout's top.
    pub root: PathBuf,
    /// `CARGO_TARGET_DIR`, else the checkout's `target`.
    pub target: PathBuf,
}

impl Checkout {
    /// Reads `CARGO_TARGET_DIR`; a relative one is taken from the current folder, as cargo does.
    pub fn of_this_checkout() -> std::io::Result<Self> {
        // Asked when run, not when built: checkouts that share a target folder share this binary too.
        let here = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let here = here.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
        let root = here.parent().unwrap_or(&here).to_path_buf();
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(folder) if !folder.is_empty() => std::path::absolute(PathBuf::from(folder))?,
            _ => root.join("target"),
        };
        Ok(Self { root, target })
    }

    /// The windows' own target folder: another profile and target, so that neither build waits for the other's lock.
    pub fn ui_target(&self) -> PathBuf {
        self.target.join("ui")
    }

    /// The cross-checks' own target folder.
    pub fn cross_target(&self) -> PathBuf {
        self.target.join("cross")
    }

    /// Tools that set-up installs, each in a folder of its own.
    pub fn tools(&self) -> PathBuf {
        self.target.join("tools")
    }

    /// What `demo`, `bench` and `dist` leave for a person to look at.
    pub fn artifacts(&self) -> PathBuf {
        self.root.join("artifacts")
    }

    /// The app's binary as cargo lays it down.
    pub fn app(&self, build: Build) -> PathBuf {
        let folder = match build {
            Build::Debug => "debug",
            Build::Release => "release",
        };
        self.target.join(folder).join(format!("miki{}", std::env::consts::EXE_SUFFIX))
    }

    /// The windows, which the app looks for beside itself.
    pub fn gui(&self, build: Build) -> PathBuf {
        self.app(build).with_file_name(format!("miki-gui{}", std::env::consts::EXE_SUFFIX))
    }

    /// The small program that confines commands on Linux; the app looks for it beside itself.
    pub fn confiner(&self, build: Build) -> PathBuf {
        self.app(build).with_file_name("miki-confine")
    }
}

/// How the app or the windows are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    Debug,
    Release,
}
