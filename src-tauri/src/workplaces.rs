//! What sessions work with beyond the screen, made at the composition root: their folders, their terminals, the web,
//! calendars.
//!
//! A folder is opened for each run anew; terminals are their sessions' and live as long as the engine.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use agenda::{Absent, Agenda, CalDav, CalDavAccount};
use agent::{OpenPorts, PortSource};
use futures::FutureExt;
use futures::future::BoxFuture;
use journal::Blobs;
use protocol::ids::SessionId;
use protocol::settings::{SearchEngine, Settings};
use protocol::tool::KEPT;
use protocol::{ErrorCode, ErrorView};
use space::files::{self, Keep, Places, Space};
use space::terminal::{Sandbox, Setup, Strength, Terminal};
use tokio::sync::OnceCell;
use tools::{AgendaPort, Ports, WebPort};
use web::{Engine, Fetcher, Guard, SearchError, Searcher};

use crate::home::Home;
use crate::keys::{self, Keys};

/// By session and folder.
type Terminals = BTreeMap<(Option<SessionId>, PathBuf), Arc<Terminal>>;

pub struct Workplaces {
    places: Option<Places>,
    blobs: Blobs,
    keys: Keys,
    /// Found out once, when it is first needed: it starts a program.
    sandbox: OnceCell<Arc<Sandbox>>,
    terminals: Mutex<Terminals>,
    web: Option<(Fetcher, Searcher)>,
}

impl Workplaces {
    pub fn new(home: &Home, blobs: Blobs, keys: Keys) -> Self {
        let places = std::env::home_dir().map(|user| Places {
            trash: trash(&user),
            data: home.path().to_owned(),
            home: user,
        });
        let version = env!("CARGO_PKG_VERSION");
        let web = Fetcher::new(version, Guard::strict(&[])).ok().zip(Searcher::new(version).ok());
        Self { places, blobs, keys, sandbox: OnceCell::new(), terminals: Mutex::default(), web }
    }

    /// What confines commands here.
    pub async fn sandbox(&self) -> Arc<Sandbox> {
        let sandbox = self.sandbox.get_or_init(|| async {
            let probed = tokio::task::spawn_blocking(sandbox).await;
            Arc::new(probed.unwrap_or_else(|panic| Sandbox::none(panic.to_string())))
        });
        Arc::clone(sandbox.await)
    }

    /// The web without a browser; `None` if there is no way to it.
    pub fn fetcher(&self) -> Option<&Fetcher> {
        self.web.as_ref().map(|(fetcher, _)| fetcher)
    }

    /// The terminal of a session in its folder; `None` if there can be none.
    async fn terminal(&self, session: Option<&SessionId>, space: &Space) -> Option<Arc<Terminal>> {
        let sandbox = self.sandbox().await;
        let key = (session.cloned(), space.root().to_owned());
        let mut terminals = self.terminals.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(terminal) = terminals.get(&key) {
            return Some(Arc::clone(terminal));
        }
        match Terminal::open(Setup::new(space.root()), sandbox) {
            Ok(terminal) => {
                let terminal = Arc::new(terminal);
                terminals.insert(key, Arc::clone(&terminal));
                Some(terminal)
            }
            Err(error) => {
                tracing::warn!("no terminal: {error}");
                None
            }
        }
    }

    /// A folder as it is written in a setting, as a whole path; `None` if no home is known.
    pub fn path(&self, written: &str) -> Option<PathBuf> {
        self.places.as_ref().map(|places| whole(places, written))
    }

    /// What a folder that was chosen is called in settings and sessions. Blocking.
    ///
    /// # Errors
    /// `BadRequest` with the reason, where nobody may work in it.
    pub fn judged(&self, chosen: &Path) -> Result<String, ErrorView> {
        let refused = |message: String| {
            ErrorView::new(ErrorCode::BadRequest, message)
                .with_hint("choose a folder of yours with the files to work on, for example ~/Documents/Trip")
        };
        let places = self.places.as_ref().ok_or_else(|| refused("no home folder is known".into()))?;
        let space = Space::open(chosen, places).map_err(|error| refused(error.to_string()))?;
        let real = space.root();
        let home = places.home.canonicalize().unwrap_or_else(|_| places.home.clone());
        let below = real.strip_prefix(home).ok().and_then(Path::to_str).map(|rest| format!("~/{rest}"));
        let name = below.or_else(|| real.to_str().map(str::to_owned));
        let name = name.ok_or_else(|| refused(format!("{} is no text", real.display())))?;
        protocol::settings::space_path(&name).map_err(|why| refused(format!("{name} {why}")))?;
        Ok(name)
    }

    fn folder(&self, wanted: Option<&str>, settings: &Settings) -> Result<Option<Arc<Space>>, ErrorView> {
        let Some(places) = &self.places else { return Ok(None) };
        let named = wanted.filter(|named| *named != settings.space);
        let whole = whole(places, named.unwrap_or(&settings.space));
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
        let OpenPorts { session, space, settings } = what;
        async move {
            let space = self.folder(space, settings)?;
            let terminal = match &space {
                Some(space) => self.terminal(session, space).await,
                None => None,
            };
            let (keys, of) = (self.keys.clone(), settings.clone());
            // Asked for anew each time: what is set meanwhile counts.
            let looked =
                tokio::task::spawn_blocking(move || (engine(&keys, &of), calendars(&keys, &of))).await;
            let (engine, agenda) = looked.map_err(|panic| {
                ErrorView::new(ErrorCode::Internal, format!("the keychain could not be asked: {panic}"))
            })?;
            let keep: Arc<dyn Keep + Send + Sync> = Arc::new(BlobKeep(self.blobs.clone()));
            Ok(Ports {
                space,
                terminal,
                keep: Some(keep),
                web: self
                    .web
                    .clone()
                    .map(|(fetcher, searcher)| Arc::new(WebPort { fetcher, searcher, engine })),
                agenda: Some(Arc::new(AgendaPort { agenda, usual: settings.calendar.clone() })),
                intent: None,
                asker: None,
                progress: None,
                agents: None,
                recalled: None,
                home: self.places.as_ref().map(|places| places.home.clone()),
            })
        }
        .boxed()
    }
}

/// With the small program that confines a command, where it is beside this one: it starts at once. This one does it, too, but
/// takes longer to start than all the rest of the sandbox.
pub fn sandbox() -> Sandbox {
    let own = std::env::current_exe().ok();
    let small = own.as_ref().map(|own| own.with_file_name("miki-confine")).filter(|small| small.is_file());
    if let Some(small) = small {
        let sandbox = Sandbox::probe(Some(&small));
        if matches!(sandbox.strength(), Strength::Bubblewrap { landlock: true, .. }) {
            return sandbox;
        }
    }
    Sandbox::probe(own.as_deref())
}

fn whole(places: &Places, written: &str) -> PathBuf {
    match written.strip_prefix("~/") {
        Some(rest) => places.home.join(rest),
        None => PathBuf::from(written),
    }
}

/// What `webSearch` asks; `None` if nothing is set. Blocking: a key is in the keychain.
fn engine(keys: &Keys, settings: &Settings) -> Option<Result<Engine, SearchError>> {
    let key = |name: &str, engine: &'static str| match keys.of_service(name) {
        Ok(Some(key)) => Ok(key),
        Ok(None) | Err(_) => Err(SearchError::NoKey { engine }),
    };
    let engine_id = settings.search_engine_id.trim().to_owned();
    match settings.search_engine {
        SearchEngine::None => None,
        SearchEngine::Google if engine_id.is_empty() => Some(Err(SearchError::NoEngineId)),
        SearchEngine::Google => {
            Some(key(keys::GOOGLE_SEARCH, "Google").map(|key| Engine::Google { key, engine_id }))
        }
        SearchEngine::Brave => Some(key(keys::BRAVE_SEARCH, "Brave").map(|key| Engine::Brave { key })),
        SearchEngine::Searxng if settings.search_url.is_empty() => Some(Err(SearchError::NoBase)),
        SearchEngine::Searxng => Some(Ok(Engine::SearXng { url: settings.search_url.clone() })),
    }
}

/// The user's calendars. Blocking, as above.
fn calendars(keys: &Keys, settings: &Settings) -> Arc<dyn Agenda> {
    let absent = |why: String| Arc::new(Absent { why }) as Arc<dyn Agenda>;
    if settings.calendar_url.is_empty() {
        return system_agenda();
    }
    let password = match keys.get(keys::CALENDAR, &settings.calendar_url) {
        Ok(Some(password)) => password,
        Ok(None) => {
            let url = &settings.calendar_url;
            return absent(format!(
                "no password is kept for it: miki key set {} --for {url}",
                keys::CALENDAR
            ));
        }
        Err(error) => return absent(error.message),
    };
    let (url, user) = (settings.calendar_url.clone(), settings.calendar_user.clone());
    match CalDav::new(&CalDavAccount { url, user, password }) {
        Ok(caldav) => Arc::new(caldav),
        Err(error) => absent(error.to_string()),
    }
}

/// Calendars that the system keeps.
fn system_agenda() -> Arc<dyn Agenda> {
    #[cfg(target_os = "macos")]
    return Arc::new(agenda::EventKit);
    #[cfg(not(target_os = "macos"))]
    Arc::new(Absent::not_set_up())
}

/// In the journal's blobs: written and synced before the change that they are kept for.
struct BlobKeep(Blobs);

impl Keep for BlobKeep {
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
