//! The list of sessions, newest first.

use leptos::prelude::*;
use protocol::ids::Timestamp;
use protocol::view::SessionView;

use super::Tab;
use crate::brief;
use crate::store::store;
use crate::widgets::entry::end_words;
use crate::widgets::icon::icon;
use crate::words::Word;

#[component]
pub fn Sessions(tab: RwSignal<Tab>) -> impl IntoView {
    let store = store();
    let sessions = store.memo(|state| state.sessions.clone());
    let begin = move |_| {
        store.change(crate::state::State::show_new);
        tab.set(Tab::Work);
    };
    view! {
        <nav class="sessions" aria-label=move || store.say(Word::Sessions)>
            <div class="sessions-head">
                <h2>{move || store.say(Word::Sessions)}</h2>
                <button id="new-session" class="quiet" on:click=begin>
                    {icon("plus")}
                    <span>{move || store.say(Word::NewSession)}</span>
                </button>
            </div>
            <ul id="sessions">
                <For each=move || sessions.get() key=looks let:session>
                    <Item session tab />
                </For>
            </ul>
            <Show when=move || sessions.with(Vec::is_empty)>
                <p class="faint empty">{move || store.say(Word::NoSessions)}</p>
            </Show>
        </nav>
    }
}

/// All that a session's line shows, so that only a changed line is drawn anew.
fn looks(session: &SessionView) -> (String, String, i64, &'static str) {
    (session.id.0.clone(), session.title.clone(), session.updated.0, outcome(session).0)
}

#[component]
fn Item(session: SessionView, tab: RwSignal<Tab>) -> impl IntoView {
    let store = store();
    let id = session.id.clone();
    let shown = {
        let id = id.clone();
        store.memo(move |state| state.shown.as_ref() == Some(&id))
    };
    let open = {
        let id = id.clone();
        move |_| {
            tab.set(Tab::Work);
            if !shown.get_untracked() {
                store.open_session(id.clone());
            }
        }
    };
    let (dot, word) = outcome(&session);
    let (unit, n) = brief::age(Timestamp(js_sys::Date::now() as i64), session.updated);
    let age = move || store.fill(unit, &[("n", &n.to_string())]);
    let name = {
        let goal = session.last_run.as_ref().map(|run| run.goal.clone());
        let title = Some(session.title).filter(|title| !title.trim().is_empty()).or(goal);
        move || title.as_deref().map_or_else(|| store.say(Word::Untitled).to_owned(), brief::shortened)
    };
    view! {
        <li data-session=id.0.clone()>
            <button aria-current=move || shown.get().then_some("page") on:click=open>
                <span class="dot" data-outcome=dot></span>
                <span class="title" dir="auto">{name}</span>
                <span class="faint">{age}</span>
                <span class="unseen">{move || word.map(|word| store.say(word))}</span>
            </button>
        </li>
    }
}

fn outcome(session: &SessionView) -> (&'static str, Option<Word>) {
    match &session.last_run {
        None => ("none", None),
        Some(run) => match &run.end {
            None => ("running", Some(Word::Running)),
            Some(end) => {
                let (name, word) = end_words(end);
                (name, Some(word))
            }
        },
    }
}
