//! One field: shows what is set, saves what is typed when it is left, and the engine's objection beside it.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use protocol::command::{ChooseFolder, Remember, UpdateSettings};
use protocol::remembered::Change;
use protocol::settings::SettingsPatch;
use protocol::{ErrorCode, ErrorView};

use crate::fields::{Field, Kind, THEME, theme_name};
use crate::ipc;
use crate::store::store;
use crate::words::Word;

const SAVED_SHOWS: Duration = Duration::from_secs(2);

#[component]
pub fn FieldRow(field: Field) -> impl IntoView {
    let store = store();
    let set = store.memo(move |state| field.shown(&state.overview.settings));
    let send = move |typed: String| {
        let patch = SettingsPatch([(field.name.to_owned(), field.patch(&typed))].into_iter().collect());
        async move { ipc::invoke(UpdateSettings { patch }).await.map(drop) }
    };
    row(field, set, send)
}

/// The theme's row, which is as any other.
#[component]
pub fn ThemeRow() -> impl IntoView {
    let store = store();
    let set = Memo::new(move |_| store.remembered.with(|remembered| theme_name(remembered.theme).to_owned()));
    let send = move |typed: String| async move {
        let theme = serde_json::from_value(THEME.patch(&typed))
            .map_err(|error| ErrorView::new(ErrorCode::BadRequest, error.to_string()))?;
        ipc::invoke(Remember { change: Change::Theme(theme) }).await
    };
    row(THEME, set, send)
}

/// The row of a field that shows what is `set`, and sends what is typed.
fn row<S, F>(field: Field, set: Memo<String>, send: S) -> impl IntoView
where
    S: Fn(String) -> F + Send + Sync + 'static,
    F: Future<Output = Result<(), ErrorView>> + 'static,
{
    let store = store();
    let error = RwSignal::new(None::<ErrorView>);
    let saved = RwSignal::new(false);
    let save = Callback::new(move |typed: String| {
        let answer = send(typed);
        spawn_local(async move {
            let answer = answer.await;
            saved.try_set(answer.is_ok());
            error.try_set(answer.err());
            set_timeout(move || _ = saved.try_set(false), SAVED_SHOWS);
        });
    });
    let id = format!("set-{}", field.name);
    let about = format!("about-{}", field.name);
    let invalid = move || error.with(Option::is_some).to_string();
    view! {
        <div class="row">
            <label for=id.clone()>
                <span>{move || store.say(field.label)}</span>
                {field.note.map(|note| view! { <span class="faint">{move || store.say(note)}</span> })}
            </label>
            <div class="control">
                {control(field, id, about.clone(), set, save, Signal::derive(invalid))}
                <span id=about class="about" aria-live="polite">
                    {move || error.get().map(|error| view! {
                        <span class="wrong">{error.message}{error.hint.map(|hint| format!(" ({hint})"))}</span>
                    })}
                    <Show when=move || saved.get()>
                        <span class="saved">{move || store.say(Word::Saved)}</span>
                    </Show>
                </span>
            </div>
        </div>
    }
}

fn control(
    field: Field,
    id: String,
    about: String,
    set: Memo<String>,
    save: Callback<String>,
    invalid: Signal<String>,
) -> AnyView {
    let store = store();
    let changed = move |event: web_sys::Event| save.run(event_target_value(&event));
    match field.kind {
        Kind::Text | Kind::Number | Kind::Json | Kind::Names => view! {
            <input
                id=id
                type="text"
                inputmode=if field.kind == Kind::Number { "numeric" } else { "text" }
                class:number=field.kind == Kind::Number
                spellcheck="false"
                autocomplete="off"
                aria-describedby=about
                aria-invalid=move || invalid.get()
                prop:value=move || set.get()
                on:change=changed
            />
        }
        .into_any(),
        Kind::Folder => {
            let choosing = RwSignal::new(false);
            let choose = move |_| {
                choosing.set(true);
                let take = move |folder: Option<String>| {
                    if let Some(folder) = folder {
                        save.run(folder);
                    }
                };
                store.send_or(ChooseFolder { session: None }, take, choosing);
            };
            view! {
                <div class="together">
                    <input
                        id=id.clone()
                        type="text"
                        spellcheck="false"
                        autocomplete="off"
                        aria-describedby=about
                        aria-invalid=move || invalid.get()
                        prop:value=move || set.get()
                        on:change=changed
                    />
                    <button id=format!("choose-{id}") class="quiet" disabled=move || choosing.get() on:click=choose>
                        {move || store.say(Word::ChooseFolder)}
                    </button>
                </div>
            }
            .into_any()
        }
        Kind::Lines => view! {
            <textarea
                id=id
                rows="4"
                aria-describedby=about
                aria-invalid=move || invalid.get()
                prop:value=move || set.get()
                on:change=changed
            ></textarea>
        }
        .into_any(),
        Kind::Switch => view! {
            <input
                id=id
                type="checkbox"
                role="switch"
                aria-describedby=about
                prop:checked=move || set.get() == "true"
                on:change=move |event| save.run(event_target_checked(&event).to_string())
            />
        }
        .into_any(),
        Kind::Choice(choices) => view! {
            <select id=id aria-describedby=about prop:value=move || set.get() on:change=changed>
                {choices.iter().map(|(value, word)| view! {
                    <option value=*value selected=move || set.get() == *value>{move || store.say(*word)}</option>
                }).collect_view()}
            </select>
        }
        .into_any(),
    }
}
