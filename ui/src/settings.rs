//! The settings page: keys, the fields of `Settings`, and what this machine gives us.

mod checks;
mod field;
mod grants;
mod guests;
mod keys;
mod models;
mod servers;

use leptos::prelude::*;
use protocol::offer::ProviderView;
use protocol::view::KeyView;

use self::checks::Checks;
use self::field::{FieldRow, ThemeRow};
use self::grants::Standing;
use self::guests::GuestList;
use self::keys::Keys;
use self::models::Models;
use self::servers::Servers;
use crate::fields::{APP, BEYOND, Field, PLACES, RUNS};
use crate::picker::can_speak;
use crate::store::store;
use crate::words::Word;

#[component]
pub fn SettingsPage(
    keys: RwSignal<Option<Vec<KeyView>>>,
    providers: RwSignal<Vec<ProviderView>>,
) -> impl IntoView {
    let store = store();
    let model = store.memo(|state| Some(state.overview.settings.model.clone()));
    let no_key = Memo::new(move |_| {
        let Some(model) = model.get() else { return false };
        let providers = providers.get();
        keys.with(|keys| keys.as_ref().is_some_and(|keys| !can_speak(&providers, keys, &model)))
    });
    view! {
        <div class="settings">
            <h1 class="unseen">{move || store.say(Word::Settings)}</h1>
            <Show when=move || no_key.get()>
                <p class="first-run" role="status">{move || store.say(Word::FirstRun)}</p>
            </Show>
            <Keys keys providers />
            <Models providers />
            {group(Word::RunGroup, group_of(RUNS))}
            {group(Word::PlacesGroup, view! { {group_of(PLACES)} <Standing /> })}
            {group(Word::BeyondHead, group_of(BEYOND))}
            <Servers />
            <GuestList />
            {group(Word::AppGroup, view! { {group_of(APP)} <ThemeRow /> })}
            <Checks />
        </div>
    }
}

fn group(title: Word, rows: impl IntoView) -> impl IntoView {
    let store = store();
    view! {
        <section class="group">
            <h2>{move || store.say(title)}</h2>
            <div class="rows">{rows}</div>
        </section>
    }
}

fn group_of(fields: &'static [Field]) -> impl IntoView {
    fields.iter().map(|field| view! { <FieldRow field=*field /> }).collect_view()
}
