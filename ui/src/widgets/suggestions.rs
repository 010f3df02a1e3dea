//! Models to take in place of one that its provider does not know, each a button.

use fold::transcript::EntryId;
use leptos::prelude::*;
use protocol::command::{RunOverrides, StartRun, UpdateSettings};
use protocol::escape::visible_text;
use protocol::ids::ModelId;
use protocol::settings::SettingsPatch;

use crate::store::store;
use crate::suggestions::{broken_off, suggested_models};
use crate::words::Word;

/// Below the end `entry`, while it is the session's last word: a click sets the model and goes on with the goal.
#[component]
pub fn Suggestions(entry: EntryId) -> impl IntoView {
    let store = store();
    let offer = store.memo(move |state| suggested_models(state).filter(|offer| offer.entry == entry));
    let sending = RwSignal::new(false);
    let take = Callback::new(move |model: ModelId| {
        let Some(offer) = offer.get_untracked().filter(|_| !sending.get_untracked()) else { return };
        sending.set(true);
        let go_on = move |_| {
            sending.try_set(true);
            let overrides = RunOverrides::default();
            let command = StartRun { goal: offer.goal, session: Some(offer.session), overrides };
            store.send_or(command, |_| {}, sending);
        };
        store.send_or(UpdateSettings { patch: model_patch(&model) }, go_on, sending);
    });
    view! { {move || offer.get().map(|offer| buttons(offer.models, Word::UseAndGoOn, sending.into(), take))} }
}

/// Below the end `entry` of a run that the program's end broke off: a click goes on with it. What the model did so far it
/// is told as in any later run of the session; what may have changed since it looks at first.
#[component]
pub fn GoOn(entry: EntryId) -> impl IntoView {
    let store = store();
    let offer = store.memo(move |state| broken_off(state).filter(|offer| offer.entry == entry));
    let sending = RwSignal::new(false);
    let go_on = move |_| {
        let Some(offer) = offer.get_untracked().filter(|_| !sending.get_untracked()) else { return };
        sending.set(true);
        let overrides = RunOverrides { goes_on: true, ..RunOverrides::default() };
        let command = StartRun { goal: offer.goal, session: Some(offer.session), overrides };
        store.send_or(command, |_| {}, sending);
    };
    view! {
        <Show when=move || offer.with(Option::is_some)>
            <div class="suggestions">
                <button class="take go-on" disabled=sending on:click=go_on>{move || store.say(Word::GoOnRun)}</button>
            </div>
        </Show>
    }
}

/// A button for each, worded as `word` has it; `None` if there are none.
pub fn buttons(
    models: Vec<ModelId>,
    word: Word,
    waits: Signal<bool>,
    take: Callback<ModelId>,
) -> Option<impl IntoView> {
    let store = store();
    let button = move |model: ModelId| {
        let (id, name) = (model.0.clone(), visible_text(&model.0));
        view! {
            <button class="take" data-model=id disabled=waits on:click=move |_| take.run(model.clone())>
                {move || store.fill(word, &[("model", &name)])}
            </button>
        }
    };
    (!models.is_empty()).then(|| {
        view! {
            <div class="suggestions" role="group" aria-label=move || store.say(Word::SuggestedModels)>
                {models.into_iter().map(button).collect_view()}
            </div>
        }
    })
}

/// The model as the setting that every new run takes.
pub fn model_patch(model: &ModelId) -> SettingsPatch {
    SettingsPatch([("model".to_owned(), model.0.clone().into())].into_iter().collect())
}
