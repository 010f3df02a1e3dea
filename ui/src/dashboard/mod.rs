//! The dashboard: sessions at the left; the work or the settings at the right.

mod sessions;
mod work;

use leptos::prelude::*;
use protocol::command::KeyStatus;
use protocol::ids::ModelId;
use protocol::view::{KeyState, KeyView};

use crate::settings::SettingsPage;
use crate::store::store;
use crate::widgets::icon::icon;
use crate::widgets::status::{ErrorLine, RunButtons, StatusLine};
use crate::words::Word;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    Work,
    Settings,
}

#[component]
pub fn Dashboard() -> impl IntoView {
    let store = store();
    let tab = RwSignal::new(Tab::Work);
    let keys = RwSignal::new(None::<Vec<KeyView>>);
    store.send_then(KeyStatus {}, move |found| keys.set(Some(found)));
    // Once, as soon as both are known: the keys there are, and the model that is to be spoken to.
    let first_look = Memo::new(move |_| {
        let model = store.state.with(|state| state.as_ref().map(|state| state.settings.model.clone()));
        keys.with(|keys| Some(can_speak(keys.as_ref()?, &model?)))
    });
    let looked = StoredValue::new(false);
    Effect::new(move |_| {
        let Some(can_speak) = first_look.get() else { return };
        if !looked.get_value() && !can_speak {
            tab.set(Tab::Settings);
        }
        looked.set_value(true);
    });
    let ready = Memo::new(move |_| store.state.with(Option::is_some));
    let version = store.memo(|state| state.version.clone());

    view! {
        <div class="dashboard">
            <aside class="side">
                <div class="brand">
                    <span class="brand-mark" aria-hidden="true"></span>
                    <span class="brand-name">"Miki"</span>
                    <span class="faint">{version}</span>
                </div>
                <div class="tabs" role="tablist" aria-label=move || store.say(Word::Views)>
                    {tab_button("tab-work", "work", Word::Work, Tab::Work, tab)}
                    {tab_button("tab-settings", "settings", Word::Settings, Tab::Settings, tab)}
                </div>
                <sessions::Sessions tab />
            </aside>
            <main class="main">
                <header class="top">
                    <StatusLine />
                    <RunButtons />
                </header>
                <ErrorLine />
                <Show
                    when=move || ready.get()
                    fallback=move || view! { <p class="loading" role="status">{move || store.say(Word::Loading)}</p> }
                >
                    <Show when=move || tab.get() == Tab::Settings fallback=move || view! { <work::Work /> }>
                        <SettingsPage keys />
                    </Show>
                </Show>
            </main>
        </div>
    }
}

/// Whether the model can be spoken to with the keys there are: another provider's key is of no use to it.
pub fn can_speak(keys: &[KeyView], model: &ModelId) -> bool {
    let there = |key: &KeyView| matches!(key.state, KeyState::InKeychain | KeyState::InEnvironment);
    keys.iter().any(|key| model.provider() == Some(key.provider.as_str()) && there(key))
}

fn tab_button(
    id: &'static str,
    image: &'static str,
    word: Word,
    which: Tab,
    tab: RwSignal<Tab>,
) -> impl IntoView {
    let store = store();
    let selected = move || tab.get() == which;
    view! {
        <button
            id=id
            role="tab"
            class="tab"
            aria-selected=move || selected().to_string()
            on:click=move |_| tab.set(which)
        >
            {icon(image)}
            <span>{move || store.say(word)}</span>
        </button>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_key_of_the_configured_models_provider_counts() {
        let key = |provider: &str, state| KeyView { provider: provider.into(), state, hint: None };
        let model = ModelId("gemini/some-model".into());
        assert!(can_speak(&[key("gemini", KeyState::InKeychain)], &model));
        assert!(can_speak(&[key("gemini", KeyState::InEnvironment)], &model));
        assert!(!can_speak(&[key("openai", KeyState::InKeychain), key("gemini", KeyState::Missing)], &model));
        assert!(!can_speak(&[key("gemini", KeyState::KeychainFails)], &model));
        assert!(!can_speak(&[], &model));
    }
}
