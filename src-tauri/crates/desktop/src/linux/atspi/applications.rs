//! Which applications there are, which of their windows are showing, and which one is meant.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;

use super::super::windows::Own;
use super::bus::{Acquaintance, Bus, CallError, Object};
use super::quirks::Quirks;
use super::role::{States, number};
use crate::{DesktopError, ElementQuery};

/// An application with windows on the screen.
#[derive(Clone)]
pub(super) struct Application {
    /// Its name on the accessibility bus.
    pub(super) bus_name: Arc<str>,
    pub(super) name: String,
    pub(super) pid: u32,
    pub(super) quirks: Quirks,
    pub(super) windows: Vec<Window>,
}

#[derive(Clone)]
pub(super) struct Window {
    pub(super) object: Object,
    pub(super) name: String,
    pub(super) role: u32,
    pub(super) active: bool,
}

/// Everything on the screen that has a tree, ours left out.
#[derive(Clone)]
pub(super) struct Applications {
    pub(super) all: Vec<Application>,
    /// Names of those that do not answer.
    pub(super) silent: Vec<String>,
    /// One of our own windows has the focus.
    pub(super) ours_is_active: bool,
}

/// The windows to be read, the meant one first, and what has to be said about the choice.
pub(super) struct Choice {
    pub(super) application: Application,
    pub(super) windows: Vec<Window>,
    pub(super) notes: Vec<String>,
}

/// Asks all registered applications at once; one that does not answer within `patience` is left out, and named.
pub(super) async fn list(bus: &Bus, own: &Own, patience: Duration) -> Result<Applications, CallError> {
    list_named(bus, own, patience, None).await
}

/// The same; where one is `wanted` by part of its name, those that are known to have other names are left alone: a
/// slow one would hold up the answer.
pub(super) async fn list_named(
    bus: &Bus,
    own: &Own,
    patience: Duration,
    wanted: Option<&str>,
) -> Result<Applications, CallError> {
    let mut roots = bus.applications().await?;
    let names: Vec<Arc<str>> = roots.iter().map(|(bus_name, _)| bus_name.as_str().into()).collect();
    bus.forget_others(&names);
    if let Some(wanted) = wanted.map(str::trim).filter(|wanted| !wanted.is_empty()) {
        let wanted = wanted.to_lowercase();
        let says = |name: &str| bus.known_name(name).map(|known| known.to_lowercase().contains(&wanted));
        roots.retain(|(name, _)| says(name) != Some(false));
    }
    let names: Vec<Arc<str>> = roots.iter().map(|(bus_name, _)| bus_name.as_str().into()).collect();
    let answers = join_all(roots.iter().zip(&names).map(|((_, path), bus_name)| async move {
        let root = Object::new(&bus.program(bus_name), path.as_str());
        let asked = async {
            let who = bus.acquaintance(bus_name).await?;
            let windows = windows(&root, who.quirks.shown).await?;
            Ok::<_, CallError>((who, windows))
        };
        match tokio::time::timeout(patience, asked).await {
            Ok(Ok(found)) => Answer::Found(bus_name.clone(), found.0, found.1),
            Ok(Err(CallError::Late)) | Err(_) => Answer::Silent(bus.quiet_name(bus_name).await),
            Ok(Err(_)) => Answer::Gone,
        }
    }))
    .await;
    let mut found = Applications { all: Vec::new(), silent: Vec::new(), ours_is_active: false };
    for answer in answers {
        let (bus_name, who, windows) = match answer {
            Answer::Found(bus_name, who, windows) => (bus_name, who, windows),
            Answer::Silent(name) => {
                found.silent.push(name);
                continue;
            }
            Answer::Gone => continue,
        };
        if own.has(who.pid) {
            found.ours_is_active |= windows.iter().any(|window| window.active);
        } else if !windows.is_empty() {
            let Acquaintance { name, pid, quirks } = who;
            found.all.push(Application { bus_name, name, pid, quirks, windows });
        }
    }
    Ok(found)
}

enum Answer {
    Found(Arc<str>, Acquaintance, Vec<Window>),
    /// Its name.
    Silent(String),
    Gone,
}

async fn windows(root: &Object, shown: States) -> Result<Vec<Window>, CallError> {
    let children = root.children().await?;
    let windows = join_all(children.iter().map(|(_, path)| async move {
        let object = Object::new(&root.program, path.as_str());
        let (name, role, states) = tokio::join!(object.name(), object.role(), object.states());
        let states = states.ok()?;
        let window =
            Window { name: name.ok()?, role: role.ok()?, active: states.has(States::ACTIVE), object };
        states.has(shown).then_some(window)
    }))
    .await;
    Ok(windows.into_iter().flatten().collect())
}

impl Applications {
    /// The application named, or the active one; while one of our windows has the focus, the only one, or the one that was
    /// looked at last. Another's window that has no tree stands for no other application: a question about it would be
    /// answered, and the act done elsewhere.
    pub(super) fn choose(&self, query: &ElementQuery, last: Option<&str>) -> Result<Choice, DesktopError> {
        let (app, window) = wanted(query);
        if app.is_some() || window.is_some() {
            return self.named(app.as_deref(), window.as_deref());
        }
        let active = |application: &&Application| application.windows.iter().any(|window| window.active);
        if let Some(application) = self.all.iter().find(active) {
            return Ok(application.choice(|window| window.active, None));
        }
        let note = match self.silent.first() {
            _ if self.ours_is_active => "our own window has the focus and is left out".to_owned(),
            Some(silent) => format!(
                "no window that tells its elements is active; {silent} does not answer, it hangs or is busy: if the active \
                 window is its, look at a screenshot, or try again later"
            ),
            None => "no window with an accessibility tree is active; the active one may have none (look at the screenshot)"
                .to_owned(),
        };
        let fallback = match self.all.as_slice() {
            _ if !self.ours_is_active => None,
            [only] => Some(only),
            all => all.iter().find(|one| last == Some(&*one.bus_name)),
        };
        match fallback {
            Some(application) => Ok(application.choice(|window| window.role == number::FRAME, Some(note))),
            None => Err(DesktopError::NotFound(format!("{note}; name one with app: {}", self.names()))),
        }
    }

    /// The window with this path of the application with this bus name.
    pub(super) fn holding(&self, bus_name: &str, path: &str) -> Option<Choice> {
        let application = self.all.iter().find(|one| &*one.bus_name == bus_name)?;
        let window = application.windows.iter().find(|window| &*window.object.path == path)?;
        Some(Choice { application: application.clone(), windows: vec![window.clone()], notes: Vec::new() })
    }

    /// Whether only their place on the screen tells which application is meant.
    pub(super) fn are_rivals(&self, query: &ElementQuery) -> bool {
        let (app, window) = wanted(query);
        (app.is_some() || window.is_some()) && self.fitting(app.as_deref(), window.as_deref()).len() > 1
    }

    /// Those of these processes first, in their order.
    pub(super) fn sort(&mut self, processes: &[u32]) {
        let place = |one: &Application| processes.iter().position(|&pid| pid == one.pid);
        self.all.sort_by_key(|one| place(one).unwrap_or(usize::MAX));
    }

    /// By part of the application's or one of its windows' names, and part of a window's title; where none of the named
    /// application's has that title, one that tells none may have it. The active one, or those whose own name it is; all
    /// where none is.
    fn fitting(&self, app: Option<&str>, title: Option<&str>) -> Vec<&Application> {
        let by_window = |one: &Application| one.windows.iter().any(|window| says(&window.name, app));
        let titled = |one: &&Application| one.windows.iter().any(|window| says(&window.name, title));
        let matching = |one: &&Application| (says(&one.name, app) || by_window(one)) && titled(one);
        let is_app = |one: &Application| says(&one.name, app);
        let mut fitting: Vec<&Application> = self.all.iter().filter(matching).collect();
        // Of several nobody can tell which it is.
        let of_app: Vec<&Application> = self.all.iter().filter(|one| is_app(one)).collect();
        if let ([only], true, true) = (of_app.as_slice(), fitting.is_empty(), app.is_some())
            && only.windows.iter().filter(|window| window.is_untitled()).count() == 1
        {
            fitting.push(only);
        }
        let is_active =
            |one: &Application| one.windows.iter().any(|window| window.active && one.bears(window, title));
        if let Some(active) = fitting.iter().find(|one| is_active(one)) {
            return vec![active];
        }
        if fitting.iter().any(|one| is_app(one)) {
            fitting.retain(|one| is_app(one));
        }
        fitting
    }

    fn named(&self, app: Option<&str>, title: Option<&str>) -> Result<Choice, DesktopError> {
        let is_app = |one: &Application| says(&one.name, app);
        let fitting = self.fitting(app, title);
        let Some((application, rivals)) = fitting.split_first() else {
            if let Some(silent) = self.silent.iter().find(|name| app.is_some() && says(name, app)) {
                return Err(DesktopError::Failed(format!(
                    "{silent} does not answer: it hangs or is busy; look at a screenshot, or try again later"
                )));
            }
            let wanted = match (app, title) {
                (Some(app), Some(title)) => format!("application \"{app}\" with a window \"{title}\""),
                (Some(one), None) | (None, Some(one)) => format!("application or window named \"{one}\""),
                (None, None) => "application".into(),
            };
            return Err(DesktopError::NotFound(format!(
                "no {wanted} has an accessibility tree (look at a screenshot or read its text instead); there are: {}",
                self.names()
            )));
        };
        let other = |rival: &&Application| format!("process {}", rival.pid);
        let rivals: Vec<String> = rivals.iter().map(other).collect();
        let note = (!rivals.is_empty()).then(|| {
            format!(
                "more than one application fits: this is the one in front, process {}; to read another ({}), give its \
                 window the focus first",
                application.pid,
                rivals.join(", ")
            )
        });
        if title.is_some() {
            let bears = |window: &Window| application.bears(window, title);
            let active = application.windows.iter().any(|window| window.active && bears(window));
            return Ok(application.choice(|window| bears(window) && (window.active || !active), note));
        }
        // Where it is one of its windows that is named, no other of them is meant, be it the active one.
        let is_meant = |window: &Window| is_app(application) || says(&window.name, app);
        let active = application.windows.iter().any(|window| window.active && is_meant(window));
        let is_first = |window: &Window| match active {
            true => window.active && is_meant(window),
            false => !is_app(application) && is_meant(window),
        };
        Ok(application.choice(is_first, note))
    }

    fn names(&self) -> String {
        let silent = match self.silent.as_slice() {
            [] => String::new(),
            silent => format!("; not answering, hanging or busy: {}", silent.join(", ")),
        };
        if self.all.is_empty() {
            return format!("none{silent}");
        }
        let name = |application: &Application| {
            let windows: Vec<&str> = application.windows.iter().map(|window| window.name.as_str()).collect();
            format!("{} ({})", application.name, windows.join(", "))
        };
        self.all.iter().map(name).collect::<Vec<_>>().join("; ") + &silent
    }
}

/// The application and the window that are named.
fn wanted(query: &ElementQuery) -> (Option<String>, Option<String>) {
    let given = |text: &Option<String>| {
        text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_lowercase)
    };
    (given(&query.app), given(&query.window))
}

fn says(text: &str, wanted: Option<&str>) -> bool {
    wanted.is_none_or(|wanted| text.to_lowercase().contains(wanted))
}

impl Window {
    /// A title bar of the application's own may be told to nobody.
    fn is_untitled(&self) -> bool {
        self.role == number::FRAME && self.name.is_empty()
    }
}

impl Application {
    /// Whether one of its windows may be the one with this title.
    fn bears(&self, window: &Window, title: Option<&str>) -> bool {
        let is_told = self.windows.iter().any(|one| says(&one.name, title));
        if is_told { says(&window.name, title) } else { window.is_untitled() }
    }

    /// The window meant and whatever stands above it: dialogs and popups, but no second main window.
    fn choice(&self, meant: impl Fn(&Window) -> bool, note: Option<String>) -> Choice {
        let first = self.windows.iter().position(meant).unwrap_or(0);
        let (mut windows, mut behind) = (Vec::new(), Vec::new());
        for (at, window) in self.windows.iter().enumerate() {
            if at == first {
                windows.insert(0, window.clone());
            } else if window.role == number::FRAME && !window.name.is_empty() {
                behind.push(format!("\"{}\"", window.name));
            } else {
                windows.push(window.clone());
            }
        }
        let mut notes: Vec<String> = note.into_iter().collect();
        if !behind.is_empty() {
            notes.push(format!("other windows of {} are not listed: {}", self.name, behind.join(", ")));
        }
        Choice { application: self.clone(), windows, notes }
    }
}
