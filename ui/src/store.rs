//! One window's signals: the state, the last error, and how commands are sent.
//!
//! The only place that holds the feed. Components read through memos and send through [`Store::send`].

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use protocol::command::{OpenSession, Snapshot, Window};
use protocol::ids::SessionId;
use protocol::settings::{Language, Settings, Theme};
use protocol::view::Platform;
use protocol::{Command, ErrorView, Event};

use crate::feed::{Feed, Wants};
use crate::state::State;
use crate::transcript::window_of;
use crate::words::Word;
use crate::{chat, dashboard, ipc, overlay};

/// After a failed call.
const RETRY: Duration = Duration::from_secs(2);
/// After a snapshot that was already behind when it came.
const BEHIND: Duration = Duration::from_millis(100);

/// What every component of a window shares.
#[derive(Clone, Copy)]
pub struct Store {
    /// Nothing until the first snapshot.
    pub state: RwSignal<Option<State>>,
    /// The last command that failed, until dismissed.
    pub error: RwSignal<Option<ErrorView>>,
    language: Memo<Language>,
    feed: StoredValue<Rc<RefCell<Feed>>, LocalStorage>,
}

/// Opens the window this was loaded into.
pub fn open() {
    let window = ipc::window_label().and_then(|label| window_of(&label)).unwrap_or(Window::Dashboard);
    let name = match window {
        Window::Dashboard => "dashboard",
        Window::Chat => "chat",
        Window::Overlay => "overlay",
    };
    set_on_root("data-window", Some(name));
    leptos::mount::mount_to_body(move || {
        let store = Store::new();
        provide_context(store);
        store.connect();
        store.dress();
        match window {
            Window::Dashboard => dashboard::Dashboard().into_any(),
            Window::Chat => chat::Chat().into_any(),
            Window::Overlay => overlay::Overlay().into_any(),
        }
    });
}

/// The store of the window the caller is part of.
pub fn store() -> Store {
    expect_context()
}

impl Store {
    fn new() -> Self {
        let state = RwSignal::new(None::<State>);
        let language = Memo::new(move |_| {
            state.with(|state| state.as_ref().map(|state| state.settings.language).unwrap_or_default())
        });
        let feed = StoredValue::new_local(Rc::new(RefCell::new(Feed::default())));
        Self { state, error: RwSignal::new(None), language, feed }
    }

    /// Reads from the state; the default until there is one.
    pub fn read<T: Default>(&self, read: impl FnOnce(&State) -> T) -> T {
        self.state.with(|state| state.as_ref().map(read).unwrap_or_default())
    }

    /// The same, without being called again at the next change.
    pub fn peek<T: Default>(&self, read: impl FnOnce(&State) -> T) -> T {
        self.state.with_untracked(|state| state.as_ref().map(read).unwrap_or_default())
    }

    /// A part of the state that redraws only when it is another.
    pub fn memo<T>(&self, read: impl Fn(&State) -> T + Send + Sync + 'static) -> Memo<T>
    where
        T: Default + PartialEq + Send + Sync + 'static,
    {
        let store = *self;
        Memo::new(move |_| store.read(&read))
    }

    pub fn settings(&self) -> Memo<Settings> {
        self.memo(|state| state.settings.clone())
    }

    pub fn change(&self, change: impl FnOnce(&mut State)) {
        self.state.update(|state| {
            if let Some(state) = state {
                change(state);
            }
        });
    }

    pub fn say(&self, word: Word) -> &'static str {
        word.tell(self.language.get())
    }

    pub fn fill(&self, word: Word, values: &[(&str, &str)]) -> String {
        word.fill(self.language.get(), values)
    }

    /// Sends a command; a failure shows in the window's error line.
    pub fn send<C: Command>(&self, command: C) {
        self.send_then(command, |_| {});
    }

    /// Sends a command and hands on its answer.
    pub fn send_then<C: Command>(&self, command: C, then: impl FnOnce(C::Response) + 'static) {
        self.send_or(command, then, RwSignal::new(true));
    }

    /// As [`Store::send_then`]; `sending` goes back to false when an answer or an error came.
    pub fn send_or<C: Command>(
        &self,
        command: C,
        then: impl FnOnce(C::Response) + 'static,
        sending: RwSignal<bool>,
    ) {
        let store = *self;
        spawn_local(async move {
            let answer = ipc::invoke(command).await;
            sending.try_set(false); // its component may be gone by now
            match answer {
                Ok(answer) => {
                    store.error.set(None);
                    then(answer);
                }
                Err(error) => store.error.set(Some(error)),
            }
        });
    }

    /// Shows a session, as soon as its history is here.
    pub fn open_session(&self, session: SessionId) {
        self.change(|state| {
            state.open(session);
        });
        self.read_opening();
    }

    /// Fetches the history of the session that is being opened, if any.
    fn read_opening(&self) {
        let Some((number, session)) = self.peek(State::opening) else { return };
        let store = *self;
        spawn_local(async move {
            match ipc::invoke(OpenSession { session }).await {
                Ok(history) => store.change(|state| state.show(number, &history)),
                Err(error) => {
                    store.error.set(Some(error));
                    store.change(|state| state.not_opened(number));
                }
            }
        });
    }

    fn connect(self) {
        spawn_local(async move {
            match ipc::subscribe(move |event| self.take(event)).await {
                Ok(()) => self.fetch().await,
                Err(error) => {
                    self.error.set(Some(error));
                    set_timeout(move || self.connect(), RETRY);
                }
            }
        });
    }

    fn take(self, event: Event) {
        let feed = self.feed.get_value();
        let mut wants = Wants::Nothing;
        self.state.update(|state| wants = feed.borrow_mut().event(state.as_mut(), event));
        if wants == Wants::Snapshot {
            spawn_local(self.fetch());
        }
    }

    async fn fetch(self) {
        match ipc::invoke(Snapshot {}).await {
            Ok(view) => {
                let feed = self.feed.get_value();
                let (state, wants) =
                    self.state.with_untracked(|before| feed.borrow_mut().snapshot(before.as_ref(), view));
                self.state.set(Some(state));
                self.error.set(None);
                self.read_opening();
                if wants == Wants::Snapshot {
                    set_timeout(move || spawn_local(self.fetch()), BEHIND);
                }
            }
            Err(error) => {
                self.error.set(Some(error));
                set_timeout(move || spawn_local(self.fetch()), RETRY);
            }
        }
    }

    /// Platform, theme and language go to the document, where the stylesheet and the reader find them.
    fn dress(self) {
        // The engine is on the same machine: this never changes.
        let platform =
            Memo::new(move |_| self.state.with(|state| state.as_ref().map(|state| state.platform)));
        Effect::new(move |_| {
            let name = platform.get().map(|platform| match platform {
                Platform::Linux => "linux",
                Platform::Macos => "macos",
                Platform::Windows => "windows",
            });
            set_on_root("data-platform", name);
        });
        let settings = self.settings();
        Effect::new(move |_| {
            let (theme, language) = settings.with(|settings| (settings.theme, settings.language));
            set_on_root(
                "data-theme",
                match theme {
                    Theme::System => None,
                    Theme::Light => Some("light"),
                    Theme::Dark => Some("dark"),
                },
            );
            set_on_root(
                "lang",
                Some(match language {
                    Language::English => "en",
                    Language::Japanese => "ja",
                }),
            );
        });
    }
}

fn set_on_root(name: &str, value: Option<&str>) {
    if let Some(root) = document().document_element() {
        // Fails for a malformed name only.
        let _ = match value {
            Some(value) => root.set_attribute(name, value),
            None => root.remove_attribute(name),
        };
    }
}
