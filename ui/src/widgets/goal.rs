//! The goal field: says a goal, or something to the run under way.

use leptos::{html, prelude::*};
use protocol::command::{RunOverrides, StartRun, SteerRun};
use protocol::ids::SessionId;

use super::icon::icon;
use crate::store::store;
use crate::words::Word;

/// What the next goal is started with.
#[derive(Clone, Copy)]
pub struct Aim {
    /// The session it continues; nothing begins a new one.
    pub session: Signal<Option<SessionId>>,
    pub overrides: Signal<RunOverrides>,
    pub started: Callback<SessionId>,
}

/// Field and button. Enter runs, Shift+Enter makes a line.
#[component]
pub fn Goal(aim: Aim, rows: u32, #[prop(optional)] field: NodeRef<html::Textarea>) -> impl IntoView {
    let store = store();
    let text = RwSignal::new(String::new());
    let sending = RwSignal::new(false);
    let running = store.memo(|state| state.running().cloned());
    let empty = move || text.with(|text| text.trim().is_empty());

    let submit = move || {
        let said = text.get_untracked().trim().to_owned();
        if said.is_empty() || sending.get_untracked() {
            return;
        }
        sending.set(true);
        let done = move || text.set(String::new());
        match running.get_untracked() {
            Some(run) => store.send_or(SteerRun { run, text: said }, move |_| done(), sending),
            None => {
                let (session, overrides) = (aim.session.get_untracked(), aim.overrides.get_untracked());
                let started = move |run: protocol::command::StartedRun| {
                    done();
                    aim.started.run(run.session);
                };
                store.send_or(StartRun { goal: said, session, overrides }, started, sending);
            }
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
    let hint = move || {
        store.say(if running.with(Option::is_some) { Word::SteerPlaceholder } else { Word::GoalPlaceholder })
    };
    let verb = move || store.say(if running.with(Option::is_some) { Word::Tell } else { Word::Run });

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
                on:input=move |event| text.set(event_target_value(&event))
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
