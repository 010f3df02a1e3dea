//! The goal field: says a goal, or something to the run under way in the session shown.

use leptos::{html, prelude::*};
use protocol::command::{RunOverrides, StartedRun};

use super::icon::icon;
use crate::goal::{Said, said};
use crate::store::store;
use crate::words::Word;

/// What the next goal of the page's session is started with.
#[derive(Clone, Copy)]
pub struct Aim {
    pub overrides: Signal<RunOverrides>,
    pub started: Callback<()>,
}

/// Field and button. Enter runs, Shift+Enter makes a line.
#[component]
pub fn Goal(aim: Aim, rows: u32, #[prop(optional)] field: NodeRef<html::Textarea>) -> impl IntoView {
    let store = store();
    let text = RwSignal::new(String::new());
    let sending = RwSignal::new(false);
    let steers = store.memo(|state| state.run_shown().is_some());
    let empty = move || text.with(|text| text.trim().is_empty());

    let submit = move || {
        let typed = text.get_untracked().trim().to_owned();
        if typed.is_empty() || sending.get_untracked() {
            return;
        }
        let page = store.peek(|state| state.shown().cloned());
        let (session, overrides) = (page.clone(), aim.overrides.get_untracked());
        let Some(said) = store.peek(|state| Some(said(state, typed, session, overrides))) else { return };
        sending.set(true);
        // Refused words stay in the field.
        let done = move || text.set(String::new());
        let started = move |run: StartedRun| {
            done();
            // A page that the user chose since stays.
            let stayed = store.peek(|state| state.shown() == page.as_ref());
            if stayed && page.as_ref() != Some(&run.session) {
                store.open_session(run.session);
            }
            aim.started.run(());
        };
        match said {
            Said::ToRun(steer) => store.send_or(steer, move |()| done(), sending),
            Said::Goal(start) => store.send_or(start, started, sending),
        }
    };
    // While an input method composes, Enter chooses a candidate; WebKit says so by the key code alone.
    let on_key = move |event: web_sys::KeyboardEvent| {
        let composing = event.is_composing() || event.key_code() == 229;
        if event.key() == "Enter" && !event.shift_key() && !composing {
            event.prevent_default();
            submit();
        }
    };
    let hint = move || store.say(if steers.get() { Word::SteerPlaceholder } else { Word::GoalPlaceholder });
    let verb = move || store.say(if steers.get() { Word::Tell } else { Word::Run });

    view! {
        <div class="goal">
            <textarea
                id="goal"
                rows=rows
                dir="auto"
                autofocus
                spellcheck="true"
                node_ref=field
                aria-label=move || store.say(Word::Goal)
                placeholder=hint
                prop:value=move || text.get()
                on:input=move |event| {
                    store.touch();
                    text.set(event_target_value(&event));
                }
                on:keydown=on_key
            ></textarea>
            <button
                id="run"
                class="primary"
                disabled=move || empty() || sending.get()
                on:click=move |_| submit()
            >
                {icon("send")}
                <span>{verb}</span>
            </button>
        </div>
    }
}
