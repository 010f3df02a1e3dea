//! Keys of providers, of search engines and of the calendar: where each is, a field to set it. What was typed is cleared as soon as it is kept, and not before.

use leptos::prelude::*;
use leptos::task::spawn_local;
use protocol::command::{DeleteKey, MoveKey, Secret, SetKey};
use protocol::offer::ProviderView;
use protocol::settings::{SearchEngine, Settings};
use protocol::view::{KeyState, KeyView};
use protocol::{Command, ErrorCode, ErrorView, address};

use crate::ipc;
use crate::store::store;
use crate::words::Word;

#[component]
pub fn Keys(keys: RwSignal<Option<Vec<KeyView>>>, providers: RwSignal<Vec<ProviderView>>) -> impl IntoView {
    let store = store();
    let all = move || {
        providers.get().into_iter().filter(|provider| provider.takes_key).map(move |provider| {
            let ProviderView { id, name, base_url, .. } = provider;
            view! { <KeyRow provider=id name=Signal::stored(name) base_url keys /> }
        })
    };
    let services = SERVICES.iter().map(|(id, word)| {
        let name = Signal::derive(move || store.say(*word).to_owned());
        view! { <KeyRow provider=(*id).to_owned() name base_url=String::new() keys /> }
    });
    view! {
        <section class="group">
            <h2>{move || store.say(Word::Keys)}</h2>
            <div class="rows">
                {move || all().collect_view()}
            </div>
            <h3>{move || store.say(Word::ServiceKeys)}</h3>
            <div class="rows">{services.collect_view()}</div>
        </section>
    }
}

/// What takes a key and is no model: search engines, and the calendar's password. Their names are those of the keychain.
const SERVICES: [(&str, Word); 3] = [
    ("brave-search", Word::SearchEngineBrave),
    ("google-search", Word::SearchEngineGoogle),
    (CALENDAR, Word::CalendarUrl),
];
const CALENDAR: &str = "caldav";

/// Whether the settings have a use for it: the model's provider, the search engine that is set, a calendar server.
fn is_needed(provider: &str, settings: &Settings) -> bool {
    match (provider, settings.search_engine) {
        ("brave-search", engine) => engine == SearchEngine::Brave,
        ("google-search", engine) => engine == SearchEngine::Google,
        (CALENDAR, _) => !settings.calendar_url.is_empty(),
        _ => settings.model.provider() == Some(provider),
    }
}

/// The address that the settings have for it, where it is another than its own.
fn address_of(provider: &str, settings: &Settings) -> Option<String> {
    match provider {
        CALENDAR => Some(settings.calendar_url.clone()).filter(|url| !url.is_empty()),
        _ => settings.base_urls.get(provider).cloned(),
    }
}

#[component]
fn KeyRow(
    provider: String,
    name: Signal<String>,
    base_url: String,
    keys: RwSignal<Option<Vec<KeyView>>>,
) -> impl IntoView {
    let store = store();
    let typed = RwSignal::new(String::new());
    let sending = RwSignal::new(false);
    let error = RwSignal::new(None::<ErrorView>);
    let provider = StoredValue::new(provider);
    let view_of = move || {
        let is_it = |key: &&KeyView| provider.with_value(|provider| key.provider == *provider);
        keys.with(|keys| keys.as_ref()?.iter().find(is_it).cloned())
    };
    let state = Memo::new(move |_| view_of().map_or(KeyState::Missing, |key| key.state));
    let hint = move || {
        error
            .get()
            .map(|error| match error.hint {
                Some(hint) => format!("{}: {hint}", error.message),
                None => error.message,
            })
            .map(|said| match typed.with(String::is_empty) {
                true => said,
                false => format!("{said}. {}", store.say(Word::KeyStays)),
            })
            .or_else(|| view_of()?.hint)
    };
    // That others have none is nothing to fix.
    let needed = store
        .memo(move |state| provider.with_value(|provider| is_needed(provider, &state.overview.settings)));
    let set_url = store
        .memo(move |state| provider.with_value(|provider| address_of(provider, &state.overview.settings)));
    // The address that the key is for, and the one that the provider has now.
    let elsewhere = move || {
        let set = set_url.get();
        let url = set.as_deref().unwrap_or(&base_url);
        let old = match view_of()? {
            KeyView { address: Some(address), .. } => address,
            // Unused so far, it goes to its provider; a server of the user's own has to be told of, but for this machine.
            KeyView { state: KeyState::InKeychain, .. } if !address::stays_here(url) => match &*base_url {
                "" => "localhost".to_owned(),
                own => address::shown(own),
            },
            _ => return None,
        };
        let new = address::shown(url);
        (old != new && !url.is_empty()).then_some((old, new))
    };
    let send = Sending { keys, sending, error };
    let save = move || {
        let key = typed.get_untracked().trim().to_owned();
        if !key.is_empty() && !sending.get_untracked() {
            let sent = key.clone();
            let is_kept = move || {
                // What was typed meanwhile is another one.
                if typed.try_with_untracked(|typed| typed.trim() == sent) == Some(true) {
                    typed.set(String::new());
                }
            };
            let (provider, key) = (provider.get_value(), Secret(key));
            // A password is for the server that it is typed for, and there is none before that is known.
            let address = set_url.get_untracked().filter(|_| provider == CALENDAR);
            if provider == CALENDAR && address.is_none() {
                error.set(Some(ErrorView::new(ErrorCode::BadRequest, store.say(Word::CalendarFirst))));
                return;
            }
            send.send(SetKey { provider, key, address }, is_kept);
        }
    };
    let named = move |what: &str| provider.with_value(|provider| format!("{what}-{provider}"));
    let (id, note) = (named("key"), named("about-key"));
    view! {
        <div class="row">
            <label for=id.clone()>
                <span>{move || name.get()}</span>
                <span
                    id=named("key-state")
                    class="badge"
                    class:calm=move || !needed.get()
                    data-state=move || state_name(state.get())
                >
                    {move || store.say(state_word(state.get()))}
                </span>
            </label>
            <div class="control">
                <div class="together">
                    <input
                        id=id
                        type="password"
                        autocomplete="off"
                        spellcheck="false"
                        aria-describedby=note.clone()
                        placeholder=move || store.say(Word::KeyPlaceholder)
                        prop:value=move || typed.get()
                        on:input=move |event| typed.set(event_target_value(&event))
                        on:keydown=move |event| if event.key() == "Enter" { save() }
                    />
                    <button
                        id=named("save-key")
                        class="primary"
                        disabled=move || sending.get() || typed.with(|typed| typed.trim().is_empty())
                        on:click=move |_| save()
                    >
                        {move || store.say(Word::Save)}
                    </button>
                    <button
                        id=named("delete-key")
                        class="quiet"
                        hidden=move || state.get() != KeyState::InKeychain
                        disabled=move || sending.get()
                        on:click=move |_| send.send(DeleteKey { provider: provider.get_value() }, || {})
                    >
                        {move || store.say(Word::Delete)}
                    </button>
                </div>
                {move || elsewhere().map(|(old, new)| view! {
                    <span id=named("key-elsewhere") class="about wrong" role="alert">
                        {store.fill(Word::KeyElsewhere, &[("old", &old), ("new", &new)])}
                    </span>
                    <button
                        id=named("move-key")
                        class="quiet"
                        disabled=move || sending.get()
                        on:click=move |_| send.send(MoveKey { provider: provider.get_value() }, || {})
                    >
                        {store.fill(Word::MoveKey, &[("new", &new)])}
                    </button>
                })}
                <span id=note class="about" class:wrong=move || error.with(Option::is_some) aria-live="polite">{hint}</span>
            </div>
        </div>
    }
}

#[derive(Clone, Copy)]
struct Sending {
    keys: RwSignal<Option<Vec<KeyView>>>,
    sending: RwSignal<bool>,
    error: RwSignal<Option<ErrorView>>,
}

impl Sending {
    /// Sends a command about a key and shows where the key is afterwards.
    fn send<C: Command<Response = KeyView>>(self, command: C, is_done: impl FnOnce() + 'static) {
        self.sending.set(true);
        spawn_local(async move {
            let answer = ipc::invoke(command).await;
            self.sending.try_set(false);
            match answer {
                Ok(view) => {
                    self.error.try_set(None);
                    is_done();
                    self.keys.update(|keys| {
                        let keys = keys.get_or_insert_default();
                        keys.retain(|key| key.provider != view.provider);
                        keys.push(view);
                    });
                }
                Err(error) => drop(self.error.try_set(Some(error))),
            }
        });
    }
}

fn state_name(state: KeyState) -> &'static str {
    match state {
        KeyState::Missing => "missing",
        KeyState::InKeychain => "inKeychain",
        KeyState::InEnvironment => "inEnvironment",
        KeyState::KeychainFails => "keychainFails",
    }
}

fn state_word(state: KeyState) -> Word {
    match state {
        KeyState::Missing => Word::KeyMissing,
        KeyState::InKeychain => Word::KeyInKeychain,
        KeyState::InEnvironment => Word::KeyInEnvironment,
        KeyState::KeychainFails => Word::KeyKeychainFails,
    }
}
