//! The dashboard: sessions at the left; the work or the settings at the right.

mod find;
mod sessions;
pub mod tools;
mod work;

use leptos::prelude::*;
use protocol::command::{KeyStatus, ListProviders};
use protocol::offer::ProviderView;
use protocol::remembered::{Change, Room, Tab};
use protocol::view::KeyView;

use crate::picker::can_speak;
use crate::settings::SettingsPage;
use crate::store::store;
use crate::widgets::approval::Approvals;
use crate::widgets::beside::Beside;
use crate::widgets::icon::icon;
use crate::widgets::status::{ErrorLine, RunButtons, StatusLine};
use crate::words::Word;

#[component]
pub fn Dashboard() -> impl IntoView {
    let store = store();
    let tab = store.tab;
    let keys = RwSignal::new(None::<Vec<KeyView>>);
    let providers = RwSignal::new(Vec::<ProviderView>::new());
    store.send_then(KeyStatus {}, move |found| keys.set(Some(found)));
    store.send_then(ListProviders {}, move |found| providers.set(found));
    let ready = Memo::new(move |_| store.state.with(Option::is_some));
    let restored = RwSignal::new(false);
    Effect::new(move |_| {
        if ready.get() && !restored.get_untracked() {
            tab.set(store.remembered.with_untracked(|remembered| remembered.room.tab));
            restored.set(true);
        }
    });
    // The settings were opened for want of a key, not by the user: that is not remembered.
    let for_a_key = RwSignal::new(false);
    let chosen = store.memo(|state| state.chosen().cloned());
    Effect::new(move |_| {
        let tab = if for_a_key.get() { Tab::Work } else { tab.get() };
        let room = Room { tab, session: chosen.get() };
        if restored.get() && store.remembered.with_untracked(|remembered| remembered.room != room) {
            store.remember(Change::Room(room));
        }
    });
    // Once, as soon as all are known: the providers, the keys there are, and the model that is to be spoken to.
    let first_look = Memo::new(move |_| {
        let model =
            store.state.with(|state| state.as_ref().map(|state| state.overview.settings.model.clone()))?;
        restored.get().then_some(())?;
        let providers = providers.get();
        keys.with(|keys| {
            Some(can_speak(&providers, keys.as_ref()?, &model)).filter(|_| !providers.is_empty())
        })
    });
    let looked = StoredValue::new(false);
    Effect::new(move |_| {
        let Some(can_speak) = first_look.get() else { return };
        if !looked.get_value() && !can_speak && tab.get_untracked() == Tab::Work {
            for_a_key.set(true);
            tab.set(Tab::Settings);
        }
        looked.set_value(true);
    });
    let opened = Callback::new(move |()| tab.set(Tab::Work));
    let choose = Callback::new(move |which| {
        for_a_key.set(false);
        tab.set(which);
    });
    let version = store.memo(|state| state.overview.version.clone());

    view! {
        <div class="dashboard">
            <aside class="side">
                <div class="brand">
                    <span class="brand-mark" aria-hidden="true"></span>
                    <span class="brand-name">"Miki"</span>
                    <span class="faint">{version}</span>
                </div>
                <div class="tabs" role="tablist" aria-label=move || store.say(Word::Views)>
                    {tab_button("tab-work", "work", Word::Work, Tab::Work, tab, choose)}
                    {tab_button("tab-settings", "settings", Word::Settings, Tab::Settings, tab, choose)}
                </div>
                <sessions::Sessions />
            </aside>
            <main class="main">
                <header class="top">
                    <StatusLine />
                    <RunButtons />
                </header>
                <Beside />
                <ErrorLine />
                <Show
                    when=move || ready.get()
                    fallback=move || view! { <p class="loading" role="status">{move || store.say(Word::Loading)}</p> }
                >
                    <Show when=move || tab.get() == Tab::Settings fallback=move || view! { <work::Work opened /> }>
                        <SettingsPage keys providers />
                        <Approvals opened />
                    </Show>
                </Show>
            </main>
        </div>
    }
}

fn tab_button(
    id: &'static str,
    image: &'static str,
    word: Word,
    which: Tab,
    tab: RwSignal<Tab>,
    choose: Callback<Tab>,
) -> impl IntoView {
    let store = store();
    let selected = move || tab.get() == which;
    view! {
        <button
            id=id
            role="tab"
            class="tab"
            aria-selected=move || selected().to_string()
            on:click=move |_| choose.run(which)
        >
            {icon(image)}
            <span>{move || store.say(word)}</span>
        </button>
    }
}
