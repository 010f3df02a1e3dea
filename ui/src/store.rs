//! One window's signals: the state, the last error, and how commands are sent.
//!
//! The only place that carries out what the state wants. Components read through memos and send through [`Store::send`].

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use protocol::command::{GetOverview, GetRemembered, ReadEvents, Remember, Subscribe};
use protocol::ids::SessionId;
use protocol::remembered::{Change, Heard, Remembered, Tab, Theme};
use protocol::settings::Language;
use protocol::socket::Frame;
use protocol::view::Platform;
use protocol::{Command, ErrorView};

use crate::drafts::Drafts;
use crate::fields::theme_name;
use crate::ipc;
use crate::recall::Walk;
use crate::state::{Follows, State, Want};
use crate::words::Word;

/// After a failed call.
const RETRY: Duration = Duration::from_secs(2);

/// What every component of a window shares.
#[derive(Clone, Copy)]
pub struct Store {
    /// `None` until the overview is here.
    pub state: RwSignal<Option<State>>,
    /// The last command that failed, until dismissed.
    pub error: RwSignal<Option<ErrorView>>,
    /// What the windows remember; the default until the state is here.
    pub remembered: RwSignal<Remembered>,
    /// What the dashboard shows beside the sessions.
    pub tab: RwSignal<Tab>,
    /// What is in the goal field, which comes and goes with its room.
    pub typed: RwSignal<String>,
    /// The walk through earlier goals in that field.
    pub walk: StoredValue<Walk>,
    /// What was typed in other sessions.
    drafts: StoredValue<Drafts>,
    language: Memo<Language>,
    subscription: StoredValue<Subscription>,
}

/// One at a time is asked for: of two at once, the engine might keep the earlier.
#[derive(Clone, Copy, Debug, Default)]
struct Subscription {
    /// What comes of an older one is dropped.
    number: u32,
    is_asked_for: bool,
    /// Another one is wanted by now.
    is_due: bool,
}

/// The store of the window the caller is part of.
pub fn store() -> Store {
    expect_context()
}

impl Store {
    /// Gives all components of this window a store, which begins to follow what `follows` says.
    pub fn provide(follows: Follows) {
        let store = Self::new();
        provide_context(store);
        spawn_local(store.begin(follows));
        store.dress();
    }

    fn new() -> Self {
        let state = RwSignal::new(None::<State>);
        let language = Memo::new(move |_| {
            state.with(|state| {
                state.as_ref().map(|state| state.overview.settings.language).unwrap_or_default()
            })
        });
        Self {
            state,
            error: RwSignal::new(None),
            remembered: RwSignal::default(),
            tab: RwSignal::default(),
            typed: RwSignal::default(),
            walk: StoredValue::default(),
            drafts: StoredValue::default(),
            language,
            subscription: StoredValue::new(Subscription::default()),
        }
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

    /// A sentence of the engine, in the window's language as far as it is known.
    pub fn told(&self, text: &str) -> String {
        crate::sentences::told(self.language.get(), text)
    }

    /// Why a question is asked, likewise.
    pub fn why(&self, text: &str) -> String {
        crate::sentences::why(self.language.get(), text)
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

    /// Remembers it for all windows, and for the next start.
    pub fn remember(&self, change: Change) {
        self.remembered.update(|remembered| remembered.take(change.clone()));
        let store = *self;
        // Not by `send`: what went well here is no reason to take an error from the line.
        spawn_local(async move {
            if let Err(error) = ipc::invoke(Remember { change }).await {
                store.error.set(Some(error));
            }
        });
    }

    /// Shows a session.
    pub fn open_session(&self, session: SessionId) {
        self.turn_to(|state| state.open(session));
    }

    /// Shows the session that has just begun with the page's goal. What was typed since is meant for it.
    pub fn open_begun(&self, session: SessionId) {
        self.change_and_ask(|state| state.open(session));
    }

    /// Shows an empty page, for a session that begins with the next goal.
    pub fn show_new(&self) {
        self.turn_to(|state| vec![state.show_new()]);
    }

    /// Fetches the entries before the oldest, if there are any.
    pub fn read_older(&self) {
        let mut want = None;
        // Nothing that is shown changes before the answer is here.
        self.state.update_untracked(|state| want = state.as_mut().and_then(State::read_older));
        self.ask(want);
    }

    /// The reader has left the end of what is shown, or is back there.
    pub fn reads_back(&self, reads_back: bool) {
        self.state.update_untracked(|state| {
            if let Some(state) = state {
                state.page.reads_back = reads_back;
            }
        });
    }

    /// The user has chosen what the session that is shown may do.
    pub fn choose(&self) {
        self.change(State::choose);
    }

    /// The user has begun to do something in the page.
    pub fn touch(&self) {
        // Nothing that is shown changes.
        self.state.update_untracked(|state| {
            if let Some(state) = state {
                state.touch();
            }
        });
    }

    /// Shows what the user has chosen; what is typed stays where it is.
    fn turn_to(&self, page: impl FnOnce(&mut State) -> Vec<Want>) {
        let shown = || self.peek(|state| state.shown().cloned());
        let before = shown();
        self.change_and_ask(page);
        let (now, typed) = (shown(), self.typed.get_untracked());
        if before != now {
            let draft = self.drafts.try_update_value(|drafts| drafts.turn(before, &now, typed));
            self.typed.set(draft.unwrap_or_default());
            self.walk.set_value(Walk::default());
        }
    }

    fn change_and_ask(&self, change: impl FnOnce(&mut State) -> Vec<Want>) {
        let mut wants = Vec::new();
        self.change(|state| wants = change(state));
        self.ask(wants);
    }

    fn ask(&self, wants: impl IntoIterator<Item = Want>) {
        for want in wants {
            match want {
                Want::Subscribe(command) => spawn_local(self.subscribe(command)),
                Want::Read(command) => spawn_local(self.read_page(command)),
            }
        }
    }

    /// Fetches where everything stands, once; the rest comes as events.
    async fn begin(self, follows: Follows) {
        // Without it a window is as for the first time.
        let remembered = ipc::invoke(GetRemembered {}).await.unwrap_or_default();
        match ipc::invoke(GetOverview {}).await {
            Ok(overview) => {
                let (mut state, mut wants) = State::new(overview, follows);
                if let Some(session) = remembered.room.session.clone() {
                    wants = state.reopen(session).unwrap_or(wants);
                }
                self.remembered.set(remembered);
                self.state.set(Some(state));
                self.ask(wants);
            }
            Err(error) => {
                self.error.set(Some(error));
                set_timeout(move || spawn_local(self.begin(follows)), RETRY);
            }
        }
    }

    async fn subscribe(self, command: Subscribe) {
        let mut number = 0;
        let is_busy = self.subscription.try_update_value(|subscription| {
            number = subscription.number + 1;
            *subscription = Subscription { number, is_due: subscription.is_asked_for, ..*subscription };
            std::mem::replace(&mut subscription.is_asked_for, true)
        });
        if is_busy == Some(true) {
            return;
        }
        let is_old = move || self.subscription.get_value().number != number;
        let take = move |heard| match heard {
            _ if is_old() => {}
            Heard::Remembered(remembered) => self.take_remembered(*remembered),
            Heard::Open(session) => {
                self.tab.set(Tab::Work);
                self.open_session(session);
            }
            Heard::Engine(Frame::Event(event)) => self.change_and_ask(|state| state.event(&event)),
            Heard::Engine(Frame::Unsubscribed(error)) => {
                self.error.set(Some(error));
                set_timeout(move || self.subscribe_anew(number), RETRY);
            }
            // Answers come by another way, and a window ends with its engine.
            Heard::Engine(Frame::Reply(_) | Frame::Leaving) => {}
        };
        let answer = ipc::subscribe(command, take).await;
        let before = self.subscription.get_value();
        self.subscription.set_value(Subscription { is_asked_for: false, is_due: false, ..before });
        match answer {
            _ if before.is_due => self.subscribe_anew(before.number),
            Ok(()) => {}
            Err(error) => {
                self.error.set(Some(error));
                set_timeout(move || self.subscribe_anew(before.number), RETRY);
            }
        }
    }

    /// What another window, or this one, has changed. Where the dashboard is, it knows best itself.
    fn take_remembered(self, remembered: Remembered) {
        let room = self.remembered.with_untracked(|before| before.room.clone());
        let next = Remembered { room, ..remembered };
        if self.remembered.with_untracked(|before| *before != next) {
            self.remembered.set(next);
        }
    }

    /// Follows on from what is known, unless there is a later subscription than this one.
    fn subscribe_anew(self, after: u32) {
        if self.subscription.get_value().number == after {
            self.ask(self.state.with_untracked(|state| state.as_ref().map(State::subscribe)));
        }
    }

    async fn read_page(self, command: ReadEvents) {
        let stream = command.stream.clone();
        match ipc::invoke(command.clone()).await {
            Ok(page) => {
                self.change_and_ask(|state| state.take_page(&stream, page).into_iter().collect());
            }
            Err(error) => {
                self.error.set(Some(error));
                let mut again = false;
                self.change(|state| again = state.page_failed(&stream));
                if again {
                    set_timeout(move || spawn_local(self.read_page(command)), RETRY);
                }
            }
        }
    }

    /// Platform, theme and language go to the document, where the stylesheet and the reader find them.
    fn dress(self) {
        // The engine is on the same machine: this never changes.
        let platform =
            Memo::new(move |_| self.state.with(|state| state.as_ref().map(|state| state.overview.platform)));
        Effect::new(move |_| {
            let name = platform.get().map(|platform| match platform {
                Platform::Linux => "linux",
                Platform::Macos => "macos",
                Platform::Windows => "windows",
            });
            set_on_root("data-platform", name);
        });
        let theme = Memo::new(move |_| self.remembered.with(|remembered| remembered.theme));
        Effect::new(move |_| {
            let theme = theme.get();
            set_on_root("data-theme", (theme != Theme::System).then(|| theme_name(theme)));
        });
        let language = self.language;
        Effect::new(move |_| {
            let name = match language.get() {
                Language::English => "en",
                Language::Japanese => "ja",
            };
            set_on_root("lang", Some(name));
        });
    }
}

pub fn set_on_root(name: &str, value: Option<&str>) {
    if let Some(root) = document().document_element() {
        // Fails for a malformed name only.
        let _ = match value {
            Some(value) => root.set_attribute(name, value),
            None => root.remove_attribute(name),
        };
    }
}
