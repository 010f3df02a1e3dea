//! The model: typed or picked from a provider's list with price and abilities, where its provider is, and a try.

use fold::transcript::Bill;
use leptos::task::spawn_local;
use leptos::{html, prelude::*};
use protocol::ErrorView;
use protocol::command::{ListModels, TestModel, UpdateSettings};
use protocol::ids::ModelId;
use protocol::offer::{ModelView, ModelsView, ProviderView, TrialView};
use protocol::settings::{CustomWire, SettingsPatch};
use protocol::turn::Spent;

use super::field::FieldRow;
use super::group_of;
use crate::brief;
use crate::fields::{CUSTOM, GEMINI, MAX_OUTPUT, MODEL, OLLAMA, PICTURES};
use crate::ipc;
use crate::picker::{Offered, offered};
use crate::store::{Store, store};
use crate::widgets::entry::cost;
use crate::widgets::suggestions::{buttons, model_patch};
use crate::words::Word;

#[component]
pub fn Models(providers: RwSignal<Vec<ProviderView>>) -> impl IntoView {
    let store = store();
    let set = store.memo(|state| state.overview.settings.model.provider().unwrap_or_default().to_owned());
    let chosen = RwSignal::new(None::<String>);
    let provider = Memo::new(move |_| chosen.get().unwrap_or_else(|| set.get()));
    let wire = store.memo(|state| state.overview.settings.custom_wire);
    let of_wire = move || match wire.get() {
        CustomWire::Gemini => group_of(PICTURES).into_any(),
        CustomWire::Ollama => group_of(OLLAMA).into_any(),
        CustomWire::OpenaiChat | CustomWire::OpenaiResponses | CustomWire::Anthropic => ().into_any(),
    };
    let of_provider = move || match provider.get().as_str() {
        "gemini" => (group_of(GEMINI), group_of(PICTURES)).into_any(),
        "ollama" => group_of(OLLAMA).into_any(),
        "custom" => (group_of(CUSTOM), of_wire).into_any(),
        _ => ().into_any(),
    };
    view! {
        <section class="group" id="models">
            <h2>{move || store.say(Word::ModelGroup)}</h2>
            <div class="rows">
                <FieldRow field=MODEL />
                <Picker providers provider chosen />
                <OwnTools />
                <Address providers provider />
                {of_provider}
                <FieldRow field=MAX_OUTPUT />
                <Try />
            </div>
        </section>
    }
}

/// A provider's models, each one click away from being set.
#[component]
fn Picker(
    providers: RwSignal<Vec<ProviderView>>,
    provider: Memo<String>,
    chosen: RwSignal<Option<String>>,
) -> impl IntoView {
    let store = store();
    let listed = RwSignal::new(None::<ModelsView>);
    let typed = RwSignal::new(String::new());
    let asking = RwSignal::new(false);
    let error = RwSignal::new(None::<ErrorView>);
    let ask = move |provider: String, asked: bool| {
        asking.set(asked);
        spawn_local(async move {
            let answer = ipc::invoke(ListModels { provider: provider.clone(), asked }).await;
            // Another provider may have been chosen meanwhile; the page may be gone.
            if chosen.try_get_untracked().is_none_or(|chosen| chosen.is_some_and(|chosen| chosen != provider))
            {
                return;
            }
            asking.try_set(false);
            error.try_set(answer.as_ref().err().cloned());
            if let Ok(found) = answer {
                listed.try_set(Some(found));
            }
        });
    };
    Effect::new(move |_| {
        listed.set(None);
        ask(provider.get(), false);
    });
    let name = move || {
        let id = provider.get();
        providers.with(|all| all.iter().find(|one| one.id == id).map(|one| one.name.clone())).unwrap_or(id)
    };
    let model = store.memo(|state| Some(state.overview.settings.model.clone()));
    let shown = Memo::new(move |_| {
        listed.with(|listed| {
            let models = &listed.as_ref()?.models;
            Some(model.with_untracked(|set| offered(models, &typed.get(), set.as_ref())))
        })
    });
    let as_of = move || {
        let date = listed.with(|listed| listed.as_ref().map(|listed| listed.as_of.clone()))?;
        Some(store.fill(Word::PricesOf, &[("date", &date)]))
    };
    view! {
        <div class="row">
            <label for="model-provider">
                <span>{move || store.say(Word::ChooseFrom)}</span>
                <span class="faint">{move || store.say(Word::ChooseFromNote)}</span>
            </label>
            <div class="control">
                <div class="together">
                    <select
                        id="model-provider"
                        prop:value=move || provider.get()
                        on:change=move |event| chosen.set(Some(event_target_value(&event)))
                    >
                        {move || providers.get().into_iter().map(|one| {
                            let (id, is_it) = (one.id.clone(), one.id.clone());
                            view! { <option value=id selected=move || provider.get() == is_it>{one.name}</option> }
                        }).collect_view()}
                    </select>
                    <button
                        id="ask-provider"
                        disabled=move || asking.get()
                        on:click=move |_| ask(provider.get_untracked(), true)
                    >
                        {move || store.fill(Word::AskProvider, &[("name", &name())])}
                    </button>
                </div>
                <input
                    id="filter-models"
                    type="text"
                    spellcheck="false"
                    autocomplete="off"
                    aria-label=move || store.say(Word::FilterModels)
                    placeholder=move || store.say(Word::FilterModels)
                    prop:value=move || typed.get()
                    on:input=move |event| typed.set(event_target_value(&event))
                />
                <ul class="offer">
                    {move || shown.get().map(|Offered { models, .. }| models.into_iter().map(item).collect_view())}
                </ul>
                <span class="about" aria-live="polite">
                    {move || error.get().map(|error| view! { <span class="wrong">{error_text(&error)}</span> })}
                    {move || shown.get().and_then(|Offered { models, more }| match (models.is_empty(), more) {
                        (true, _) => Some(store.say(Word::NoModels).to_owned()),
                        (false, 0) => None,
                        (false, more) => Some(store.fill(Word::MoreModels, &[("n", &more.to_string())])),
                    })}
                    " " {as_of}
                </span>
            </div>
        </div>
    }
}

fn item(model: ModelView) -> impl IntoView {
    let store = store();
    let id = model.id.clone();
    let is_set = {
        let id = id.clone();
        store.memo(move |state| state.overview.settings.model == id)
    };
    let choose = move |_| store.send(UpdateSettings { patch: model_patch(&id) });
    let (id, name) = (model.id.0.clone(), model.id.0.clone());
    view! {
        <li>
            <button class="model" data-model=id aria-pressed=move || is_set.get().to_string() on:click=choose>
                <span class="model-id">{name}</span>
                <span class="faint">{move || facts(store, &model)}</span>
            </button>
        </li>
    }
}

/// `$0.5 / $3, more for long requests · takes 1,048,576 tokens · tools · no pictures`
fn facts(store: Store, model: &ModelView) -> String {
    let price = match model.price {
        Some(price) => {
            let more = if price.more_for_long { store.say(Word::MoreForLong) } else { "" };
            let comma = if price.more_for_long { ", " } else { "" };
            format!("${} / ${}{comma}{more}", price.input, price.output)
        }
        None => store.say(Word::PriceUnknown).to_owned(),
    };
    let context =
        model.context.map(|tokens| store.fill(Word::TokensOfContext, &[("n", &brief::grouped(tokens))]));
    let abilities = model.abilities;
    let able = [
        (abilities.tools, Word::CanTools),
        (abilities.pictures, Word::CanPictures),
        (abilities.thinking, Word::CanThinking),
    ];
    let able = able.into_iter().filter_map(|(can, word)| {
        let word = store.say(word);
        Some(if can? { word.to_owned() } else { store.fill(Word::Cannot, &[("what", word)]) })
    });
    [Some(price), context].into_iter().flatten().chain(able).collect::<Vec<_>>().join(" · ")
}

/// Whether the set model acts by its vendor's computer tool.
#[component]
fn OwnTools() -> impl IntoView {
    let store = store();
    let model = store.memo(|state| Some(state.overview.settings.model.clone()));
    let all = store.memo(|state| state.overview.settings.vendor_tools.clone());
    let is_on = move || model.get().is_some_and(|model| all.with(|all| all.contains(&model)));
    let save = move |event: web_sys::Event| {
        let (mut models, Some(model)) = (all.get_untracked(), model.get_untracked()) else { return };
        match event_target_checked(&event) {
            true => drop(models.insert(model)),
            false => drop(models.remove(&model)),
        }
        let Ok(models) = serde_json::to_value(models) else { return };
        let patch = SettingsPatch([("vendorTools".to_owned(), models)].into_iter().collect());
        store.send(UpdateSettings { patch });
    };
    view! {
        <div class="row">
            <label for="set-vendor-tools">
                <span>{move || store.say(Word::VendorTools)}</span>
                <span class="faint">{move || store.say(Word::VendorToolsNote)}</span>
            </label>
            <div class="control">
                <input
                    id="set-vendor-tools"
                    type="checkbox"
                    role="switch"
                    prop:checked=is_on
                    on:change=save
                />
            </div>
        </div>
    }
}

/// Where the provider is: its known address stands in the empty field.
#[component]
fn Address(providers: RwSignal<Vec<ProviderView>>, provider: Memo<String>) -> impl IntoView {
    let store = store();
    let all = store.memo(|state| state.overview.settings.base_urls.clone());
    let set = move || all.with(|all| all.get(&provider.get()).cloned()).unwrap_or_default();
    let known = move || {
        let id = provider.get();
        providers.with(|all| all.iter().find(|one| one.id == id).map(|one| one.base_url.clone()))
    };
    let error = RwSignal::new(None::<ErrorView>);
    let save = move |event: web_sys::Event| {
        let (mut urls, typed) = (all.get_untracked(), event_target_value(&event));
        match typed.trim() {
            "" => drop(urls.remove(&provider.get_untracked())),
            url => drop(urls.insert(provider.get_untracked(), url.to_owned())),
        }
        let Ok(urls) = serde_json::to_value(urls) else { return };
        let patch = SettingsPatch([("baseUrls".to_owned(), urls)].into_iter().collect());
        spawn_local(async move {
            error.try_set(ipc::invoke(UpdateSettings { patch }).await.err());
        });
    };
    view! {
        <div class="row">
            <label for="set-base-url">
                <span>{move || store.say(Word::BaseUrl)}</span>
                <span class="faint">{move || store.say(Word::BaseUrlNote)}</span>
            </label>
            <div class="control">
                <input
                    id="set-base-url"
                    type="text"
                    spellcheck="false"
                    autocomplete="off"
                    placeholder=known
                    aria-invalid=move || error.with(Option::is_some).to_string()
                    prop:value=set
                    on:change=save
                />
                <span class="about" aria-live="polite">
                    {move || error.get().map(|error| view! { <span class="wrong">{error_text(&error)}</span> })}
                </span>
            </div>
        </div>
    }
}

/// Asks the set model one tiny question.
#[component]
fn Try() -> impl IntoView {
    let store = store();
    let model = store.memo(|state| Some(state.overview.settings.model.clone()));
    let asking = RwSignal::new(false);
    let button = NodeRef::<html::Button>::new();
    let came = RwSignal::new(None::<Result<TrialView, ErrorView>>);
    // What was said of another model is not said of this one.
    Effect::new(move |_| {
        model.with(|_| ()); // a memo that is read nowhere is not looked at again
        came.set(None);
    });
    // The buttons go with what was said: whoever chose one goes on at the test.
    let choose = Callback::new(move |id: ModelId| {
        store.send(UpdateSettings { patch: model_patch(&id) });
        if let Some(button) = button.get_untracked() {
            let _ = button.focus(); // refused while the window is not in front
        }
    });
    let ask = move |_| {
        let Some(model) = model.get_untracked() else { return };
        asking.set(true);
        came.set(None);
        spawn_local(async move {
            let answer = ipc::invoke(TestModel { model }).await;
            asking.try_set(false);
            came.try_set(Some(answer));
        });
    };
    view! {
        <div class="row">
            <div class="label-of">
                <span>{move || store.say(Word::TryModel)}</span>
                <span class="faint">{move || store.say(Word::TryModelNote)}</span>
            </div>
            <div class="control">
                <button id="test-model" node_ref=button disabled=move || asking.get() on:click=ask>
                    {move || store.say(if asking.get() { Word::Testing } else { Word::Test })}
                </button>
                <span id="trial" class="about" aria-live="polite">
                    {move || came.get().map(|came| match came {
                        Ok(trial) => view! { <span>{trial_text(store, &trial)}</span> }.into_any(),
                        Err(error) => view! { <span class="wrong">{error_text(&error)}</span> }.into_any(),
                    })}
                </span>
                {move || came.get().and_then(Result::err).map(|error| buttons(error.suggestions, Word::Use, asking.into(), choose))}
            </div>
        </div>
    }
}

fn trial_text(store: Store, trial: &TrialView) -> String {
    let works = |works: bool, what: Word| {
        let word = if works { Word::TrialWorks } else { Word::TrialFails };
        store.fill(word, &[("what", store.say(what))])
    };
    let (first, whole) = (brief::duration(trial.first), brief::duration(trial.whole));
    [
        works(trial.tool, Word::CanTools),
        works(trial.picture, Word::CanPictures),
        store.fill(Word::TrialTime, &[("first", &first), ("whole", &whole)]),
        cost(store, Bill { spent: Spent::default().plus(trial.cost), is_whole: true, ..Bill::default() }),
    ]
    .join(" · ")
}

fn error_text(error: &ErrorView) -> String {
    match &error.hint {
        Some(hint) => format!("{} ({hint})", error.message),
        None => error.message.clone(),
    }
}
