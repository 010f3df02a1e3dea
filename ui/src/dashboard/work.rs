//! The work of one session: its steps, open questions, and the goal field with what a run is started with.

use leptos::{html, prelude::*};
use protocol::command::{EditSession, RunOverrides};
use protocol::ids::SessionId;
use protocol::tool::{ApprovalMode, Mode};

use crate::fields::APPROVALS;
use crate::store::store;
use crate::widgets::approval::Approvals;
use crate::widgets::entry::{Enlarged, EntryItem};
use crate::widgets::goal::{Aim, Goal};
use crate::words::Word;

/// Pixels from the end within which the list follows what is new.
const NEAR_END: i32 = 120;

#[component]
pub fn Work() -> impl IntoView {
    let enlarged = RwSignal::new(None::<Enlarged>);
    view! {
        <Story enlarge=Callback::new(move |picture| enlarged.set(Some(picture))) />
        <Approvals />
        <Composer />
        <Picture enlarged />
    }
}

/// The list of steps; stays at its end while the reader is there.
#[component]
fn Story(enlarge: Callback<Enlarged>) -> impl IntoView {
    let store = store();
    let frame = NodeRef::<html::Div>::new();
    let follows = StoredValue::new(true);
    // Session, entry and revision name the content; a streamed word touches no entry.
    let keys = store.memo(|state| {
        let session = state.shown.clone();
        let named = |entry: &crate::transcript::Entry| (session.clone(), entry.id, entry.revision);
        state.transcript.entries().iter().map(named).collect::<Vec<(Option<SessionId>, u64, u32)>>()
    });
    let streaming = store.memo(|state| state.transcript.streaming.clone());
    let empty = Memo::new(move |_| {
        keys.with(Vec::is_empty) && streaming.with(|streaming| *streaming == Default::default())
    });
    Effect::new(move |_| {
        keys.track();
        streaming.track();
        request_animation_frame(move || {
            if let Some(frame) = frame.get_untracked()
                && follows.get_value()
            {
                frame.set_scroll_top(frame.scroll_height());
            }
        });
    });
    let on_scroll = move |_| {
        if let Some(frame) = frame.get_untracked() {
            let below = frame.scroll_height() - frame.scroll_top() - frame.client_height();
            follows.set_value(below < NEAR_END);
        }
    };
    let item = move |(_, id, _): (Option<SessionId>, u64, u32)| {
        store
            .peek(|state| state.transcript.entry(id).cloned())
            .map(|entry| view! { <EntryItem entry enlarge /> })
    };

    view! {
        <div class="story" node_ref=frame on:scroll=on_scroll>
            <Show when=move || empty.get()>
                <div class="welcome">
                    <h1>{move || store.say(Word::WelcomeTitle)}</h1>
                    <p>{move || store.say(Word::WelcomeText)}</p>
                </div>
            </Show>
            <ol id="steps" aria-label=move || store.say(Word::Steps)>
                <For each=move || keys.get() key=Clone::clone children=item />
            </ol>
            <Streamed />
        </div>
    }
}

/// The model's words as they come.
#[component]
fn Streamed() -> impl IntoView {
    let store = store();
    let text = store.memo(|state| state.transcript.streaming.text.clone());
    let thinking = store.memo(|state| state.transcript.streaming.thinking.clone());
    view! {
        <Show when=move || !text.with(String::is_empty) || !thinking.with(String::is_empty)>
            <div class="turn streaming" aria-live="off">
                <span class="who">{move || store.say(Word::Model)}</span>
                <Show when=move || !thinking.with(String::is_empty) && text.with(String::is_empty)>
                    <p class="thought" dir="auto">{thinking}</p>
                </Show>
                <p dir="auto">{text}<span class="caret" aria-hidden="true"></span></p>
            </div>
        </Show>
    }
}

/// Goal field, mode, approval and search. With a session they change it; without one they go with the first run.
#[component]
fn Composer() -> impl IntoView {
    let store = store();
    let session = store.memo(|state| state.shown.clone());
    let next = RwSignal::new(RunOverrides::default());
    let mode = move || store.read(|state| state.mode());
    let mode = Memo::new(move |_| {
        session.with(Option::is_none).then(|| next.get().mode).flatten().unwrap_or_else(mode)
    });
    let approval = move || store.read(|state| state.approval_mode());
    let approval = Memo::new(move |_| {
        session.with(Option::is_none).then(|| next.get().approval).flatten().unwrap_or_else(approval)
    });
    let search = move || store.read(|state| state.search());
    let search = Memo::new(move |_| {
        session.with(Option::is_none).then(|| next.get().search).flatten().unwrap_or_else(search)
    });
    let set = move |set: RunOverrides| match session.get_untracked() {
        Some(session) => {
            let RunOverrides { mode, approval, search, .. } = set;
            store.send(EditSession { session, title: None, mode, approval, search });
        }
        None => next.update(|next| {
            next.mode = set.mode.or(next.mode);
            next.approval = set.approval.or(next.approval);
            next.search = set.search.or(next.search);
        }),
    };
    let aim = Aim {
        session: session.into(),
        overrides: Signal::derive(move || {
            if session.with(Option::is_none) { next.get() } else { RunOverrides::default() }
        }),
        started: Callback::new(move |_| next.set(RunOverrides::default())),
    };
    let switch = move |which: Mode, id: &'static str, word: Word, title: Word| {
        view! {
            <button
                id=id
                role="radio"
                aria-checked=move || (mode.get() == which).to_string()
                title=move || store.say(title)
                on:click=move |_| set(RunOverrides { mode: Some(which), ..RunOverrides::default() })
            >
                {move || store.say(word)}
            </button>
        }
    };
    let chosen = move |event: web_sys::Event| {
        let approval = Some(approval_of(&event_target_value(&event)));
        set(RunOverrides { approval, ..RunOverrides::default() });
    };
    let searches = move |event: web_sys::Event| {
        set(RunOverrides { search: Some(event_target_checked(&event)), ..RunOverrides::default() });
    };

    view! {
        <section class="composer">
            <Goal aim rows=2 />
            <div class="with">
                <div class="switch" role="radiogroup" aria-label=move || store.say(Word::Mode)>
                    {switch(Mode::Plan, "mode-plan", Word::Plan, Word::PlanTitle)}
                    {switch(Mode::Act, "mode-act", Word::Act, Word::ActTitle)}
                </div>
                <label class="pick">
                    <span class="faint">{move || store.say(Word::ApprovalMode)}</span>
                    <select id="approval-mode" prop:value=move || approval_name(approval.get()) on:change=chosen>
                        {APPROVALS.iter().map(|(value, word)| view! {
                            <option value=*value selected=move || approval_name(approval.get()) == *value>
                                {move || store.say(*word)}
                            </option>
                        }).collect_view()}
                    </select>
                </label>
                <label class="pick" title=move || store.say(Word::SearchTitle)>
                    <input
                        id="search"
                        type="checkbox"
                        role="switch"
                        prop:checked=move || search.get()
                        on:change=searches
                    />
                    <span class="faint">{move || store.say(Word::Search)}</span>
                </label>
                <span class="spring"></span>
                <span class="faint keys-hint">{move || store.say(Word::ComposerHint)}</span>
            </div>
        </section>
    }
}

fn approval_name(mode: ApprovalMode) -> &'static str {
    match mode {
        ApprovalMode::Ask => "ask",
        ApprovalMode::Thread => "thread",
        ApprovalMode::Auto => "auto",
    }
}

/// Anything unexpected asks.
fn approval_of(name: &str) -> ApprovalMode {
    match name {
        "thread" => ApprovalMode::Thread,
        "auto" => ApprovalMode::Auto,
        _ => ApprovalMode::Ask,
    }
}

/// A step's picture, large. Esc or a click closes it.
#[component]
fn Picture(enlarged: RwSignal<Option<Enlarged>>) -> impl IntoView {
    let store = store();
    let dialog = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        if let (Some(dialog), true) = (dialog.get(), enlarged.with(Option::is_some)) {
            let _ = dialog.show_modal(); // fails where it is open already
        }
    });
    let close = move |_| {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    view! {
        <dialog class="large" node_ref=dialog on:click=close on:close=move |_| enlarged.set(None)>
            {move || enlarged.get().map(|picture| view! { <img src=picture.url alt=picture.alt /> })}
            <button class="quiet" aria-label=move || store.say(Word::Close)>{crate::widgets::icon::icon("close")}</button>
        </dialog>
    }
}
