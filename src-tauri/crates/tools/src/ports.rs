//! What a call works with beside the desktop and the browser: the folder and the terminal of its session, the web, calendars.
//!
//! Whoever starts a run makes them; a call has what its session has, and nothing of another's.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agenda::Agenda;
use async_trait::async_trait;
use protocol::elicitation::Elicitation;
use protocol::terminal::Line;
use protocol::tool::Change;
use space::files::{Keep, Space, SpacePath};
use space::terminal::{Strength, Terminal};
use web::{Engine, Fetcher, SearchError, Searcher};

use crate::agents::Agents;
use crate::tool::ListShown;

/// Of one session. Empty where there is none.
#[derive(Clone, Default)]
pub struct Ports {
    /// The folder that its files and commands are confined to.
    pub space: Option<Arc<Space>>,
    /// Where the bytes go that a change of a file replaces, so that it can be taken back.
    pub keep: Option<Arc<dyn Keep + Send + Sync>>,
    /// Has what a call is about to change on disk first; `None` if nobody could take it back later.
    pub intent: Option<Arc<dyn Intent>>,
    /// The commands of its session.
    pub terminal: Option<Arc<Terminal>>,
    /// The web without a browser.
    pub web: Option<Arc<WebPort>>,
    /// Calendars and reminders.
    pub agenda: Option<Arc<AgendaPort>>,
    /// The agents that work for its run, and the one that this works for; `None` outside any run.
    pub agents: Option<Arc<dyn Agents>>,
    /// Asks the user in the middle of a call; `None` outside any run.
    pub asker: Option<Arc<dyn Asker>>,
    /// Sees what a command prints while it runs, and how far a server says that it is.
    pub progress: Option<Arc<dyn Progress>>,
    /// The user's home, below which folders are called `~/`.
    pub home: Option<PathBuf>,
    /// What its model has from earlier calls; `None` for a call outside any run.
    pub recalled: Option<Recalled>,
}

/// What a run's conversation holds of earlier calls.
#[derive(Clone, Debug, Default)]
pub struct Recalled {
    /// The model's notes.
    pub notes: Arc<str>,
    /// The newest list of elements that it can still read.
    pub list: Option<Arc<ListShown>>,
}

/// Calendars, and the one that new entries go to.
pub struct AgendaPort {
    pub agenda: Arc<dyn Agenda>,
    /// By its name; empty for the first that takes them.
    pub usual: String,
}

/// How pages are searched and fetched.
pub struct WebPort {
    pub fetcher: Fetcher,
    pub searcher: Searcher,
    /// What the user set; `None` if nothing is, or why it cannot be asked.
    pub engine: Option<Result<Engine, SearchError>>,
}

/// Asks the user for what a call needs while it is under way.
#[async_trait]
pub trait Asker: Send + Sync {
    /// What they answered, in words; `None` for a no, where nobody can be asked, and where nobody answered in time.
    async fn ask(&self, wanted: Elicitation) -> Option<String>;
}

/// Shows what goes on, while it does.
pub trait Progress: Send + Sync {
    /// Lines of what goes on that are new, or are another now: the output of a command, the words of a server.
    fn tell(&self, first: u64, lines: Vec<Line>);
}

/// Writes down what is about to be changed: what is written down can be taken back, even where the program is killed
/// before it could say that it was done.
pub trait Intent: Send + Sync {
    /// Blocking: it is on disk when this returns. An error ends the change before it is made.
    fn write_down(&self, change: Change) -> io::Result<()>;
}

impl Ports {
    /// Why nothing confines its commands; `None` if something does, or if there are none.
    pub fn unconfined(&self) -> Option<&str> {
        match self.terminal.as_ref()?.strength() {
            Strength::None { why } => Some(why),
            Strength::Bubblewrap { .. } | Strength::Seatbelt => None,
        }
    }

    /// The folder as its user knows it: `~/Miki`.
    pub(crate) fn folder(&self) -> String {
        let (path, below_home) = self.root();
        below_home.unwrap_or(path)
    }

    /// Absolute, and as below the home.
    pub(crate) fn root(&self) -> (String, Option<String>) {
        let root = self.space.as_ref().map(|space| space.root().to_owned()).unwrap_or_default();
        (root.to_string_lossy().into_owned(), self.below_home(&root))
    }

    /// The same of a file in it.
    pub(crate) fn named(&self, path: &SpacePath) -> (String, Option<String>) {
        let root = self.space.as_ref().map(|space| space.root().to_owned()).unwrap_or_default();
        let whole = path.parts().fold(root, |at, part| at.join(part));
        (whole.to_string_lossy().into_owned(), self.below_home(&whole))
    }

    fn below_home(&self, path: &Path) -> Option<String> {
        let rest = path.strip_prefix(self.home.as_ref()?).ok()?;
        Some(format!("~/{}", rest.to_string_lossy()))
    }
}

impl fmt::Debug for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ports")
            .field("space", &self.space.as_ref().map(|space| space.root()))
            .finish_non_exhaustive()
    }
}
