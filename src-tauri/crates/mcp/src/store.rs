//! What servers offered when they were last asked, a file each. A damaged one is put aside: the server is asked again.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use protocol::mcp::PromptView;
use serde::{Deserialize, Serialize};

use crate::definition::Definition;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offered {
    /// As the server calls itself, with its version.
    pub called: String,
    pub tools: Vec<Definition>,
    #[serde(default)]
    pub prompts: Vec<PromptView>,
}

pub struct Store(PathBuf);

impl Store {
    pub fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// `None` if it was never asked, or if what was kept cannot be read.
    pub fn load(&self, server: &str) -> Option<Offered> {
        let path = self.path(server);
        let text = fs::read_to_string(&path).ok()?;
        match serde_json::from_str(&text) {
            Ok(offered) => Some(offered),
            Err(error) => {
                let aside = path.with_extension("broken.json");
                tracing::warn!("{} cannot be read ({error}), and is put aside", path.display());
                let _ = fs::rename(&path, aside);
                None
            }
        }
    }

    pub fn save(&self, server: &str, offered: &Offered) {
        if let Err(error) = self.write(&self.path(server), offered) {
            tracing::warn!("what the server {server} offers is not kept: {error}");
        }
    }

    pub fn forget(&self, server: &str) {
        let _ = fs::remove_file(self.path(server));
    }

    fn write(&self, path: &Path, offered: &Offered) -> io::Result<()> {
        fs::create_dir_all(&self.0)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.0)?;
        file.write_all(&serde_json::to_vec_pretty(offered)?)?;
        file.persist(path)?;
        Ok(())
    }

    fn path(&self, server: &str) -> PathBuf {
        self.0.join(format!("{server}.json"))
    }
}
