//! What sessions work with beyond the screen, made at the composition root: their folders, their terminals, the web,
//! calendars.
//!
//! A folder is opened for each run anew; terminals are their sessions' and live as long as the engine.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use agent::{OpenPorts, PortSource};
use futures::FutureExt;
use futures::future::BoxFuture;
use journal::Blobs;
use protocol::ids::SessionId;
use protocol::settings::Settings;
use protocol::{ErrorCode, ErrorView};
use space::files::{self, Keep, Places, Space};
use tools::Ports;

use crate::home::Home;
use crate::keys::Keys;

/// What is kept of a file that was changed.
const KEPT: &str = "application/octet-stream";

pub struct Workplaces {
    places: Option<Places>,
    blobs: Blobs,
    keys: Keys,
}

impl Workplaces {
    pub fn new(home: &Home, blobs: Blobs, keys: Keys) -> Self {
        let places = std::env::home_dir().map(|user| Places {
            trash: trash(&user),
            data: home.path().to_owned(),
            home: user,
        });
        Self { places, blobs, keys }
    }

    fn folder(&self, wanted: Option<&str>, settings: &Settings) -> Result<Option<Arc<Space>>, ErrorView> {
        let Some(places) = &self.places else { return Ok(None) };
        let named = wanted.filter(|named| *named != settings.space);
        let path = named.unwrap_or(&settings.space);
        let whole = match path.strip_prefix("~/") {
            Some(rest) => places.home.join(rest),
            None => PathBuf::from(path),
        };
        if named.is_none() {
            // The folder of the settings is ours to make, one level deep in what is there.
            let _ = std::fs::create_dir(&whole);
        }
        match (Space::open(&whole, places), named) {
            (Ok(space), _) => Ok(Some(Arc::new(space))),
            (Err(error), Some(named)) => {
                let message = format!("the folder {named} cannot be worked in: {error}");
                Err(ErrorView::new(ErrorCode::BadRequest, message)
                    .with_hint("name a folder of yours, for example ~/Documents/Trip"))
            }
            (Err(error), None) => {
                tracing::warn!("no folder to work in: {error}");
                Ok(None)
            }
        }
    }
}

impl PortSource for Workplaces {
    fn open<'a>(&'a self, what: OpenPorts<'a>) -> BoxFuture<'a, Result<Ports, ErrorView>> {
        let OpenPorts { session: _, space, settings } = what;
        async move {
            let space = self.folder(space, settings)?;
            let keep: Arc<dyn Keep> = Arc::new(Kept(self.blobs.clone()));
            Ok(Ports { space, keep: Some(keep), home: self.places.as_ref().map(|places| places.home.clone()), ..Ports::default() })
        }
        .boxed()
    }
}

/// In the journal's blobs: written and synced before the change that they are kept for.
struct Kept(Blobs);

impl Keep for Kept {
    fn keep(&self, bytes: &mut dyn Read) -> io::Result<String> {
        let mut whole = Vec::new();
        bytes.take(files::MAX_KEPT + 1).read_to_end(&mut whole)?;
        let kept = self.0.put(&whole, KEPT).map_err(io::Error::other)?;
        Ok(kept.sha256)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Read>> {
        let whole = self.0.get(name).map_err(io::Error::other)?;
        Ok(Box::new(io::Cursor::new(whole)))
    }
}

/// Where the user's trash is.
fn trash(user: &Path) -> PathBuf {
    if cfg!(target_os = "macos") {
        return user.join(".Trash");
    }
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|data| data.is_absolute());
    data.unwrap_or_else(|| user.join(".local/share")).join("Trash")
}
