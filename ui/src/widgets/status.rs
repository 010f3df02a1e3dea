//! What the engine does now, and the last thing that went wrong.

use leptos::prelude::*;
use protocol::command::{PauseRun, ResumeRun, StopRun};
use protocol::event::{Activity, Status};

use super::entry::cost;
use super::icon::icon;
use crate::store::store;
use crate::words::Word;

pub fn activity_name(activity: Activity) -> &'static str {
    match activity {
        Activity::Idle => "idle",
        Activity::Working => "working",
        Activity::Waiting => "waiting",
        Activity::Error => "error",
    }
}

pub fn activity_word(activity: Activity) -> Word {
    match activity {
        Activity::Idle => Word::Idle,
        Activity::Working => Word::Working,
        Activity::Waiting => Word::Waiting,
        Activity::Error => Word::Error,
    }
}

/// One line: dot, word, detail, step.
#[component]
pub fn StatusLine() -> impl IntoView {
    let store = store();
    let status = store.memo(|state| state.status.clone());
    let step = move || {
        let Status { step, max_steps, .. } = status.get();
        (step > 0)
            .then(|| store.fill(Word::StepOf, &[("n", &step.to_string()), ("max", &max_steps.to_string())]))
    };
    let spent = store.memo(|state| (state.status.step > 0).then_some(state.transcript.bill.spent));
    let spent = move || spent.get().filter(|spent| spent.turns > 0).map(|spent| cost(store, spent));
    view! {
        <div id="status" class="status" role="status" data-activity=move || activity_name(status.get().activity)>
            <span class="dot"></span>
            <span class="activity">{move || store.say(activity_word(status.get().activity))}</span>
            <span class="detail" dir="auto">{move || status.get().detail}</span>
            <span class="count">{step}</span>
            <span class="count cost">{spent}</span>
        </div>
    }
}

/// Stop, and pause or resume. Stop stays where it is; it is only disabled while there is nothing to stop.
#[component]
pub fn RunButtons() -> impl IntoView {
    let store = store();
    let busy = store.memo(|state| state.busy());
    let running = store.memo(|state| state.running().cloned());
    let paused = store.memo(|state| state.paused());
    let turn = move |_| {
        if paused.get_untracked() {
            store.send(ResumeRun { run: running.get_untracked() });
        } else {
            store.send(PauseRun { run: running.get_untracked() });
        }
    };
    view! {
        <div class="run-buttons">
            <button id="pause" class="quiet" hidden=move || running.with(Option::is_none) on:click=turn>
                {move || icon(if paused.get() { "resume" } else { "pause" })}
                <span>{move || store.say(if paused.get() { Word::Resume } else { Word::Pause })}</span>
            </button>
            <button
                id="stop"
                class="danger"
                disabled=move || !busy.get()
                on:click=move |_| store.send(StopRun { run: None })
            >
                {icon("stop")}
                <span>{move || store.say(Word::Stop)}</span>
            </button>
        </div>
    }
}

/// The last error with its hint, until dismissed.
#[component]
pub fn ErrorLine() -> impl IntoView {
    let store = store();
    let broken = store.memo(|state| state.broken.clone());
    let line = move || {
        broken.get().or_else(|| store.error.get()).map(|error| {
            view! {
                <div class="error-line" role="alert">
                    <p dir="auto">
                        <strong>{error.message}</strong>
                        {error.hint.map(|hint| view! { <span class="hint">{hint}</span> })}
                    </p>
                    <button
                        class="quiet"
                        aria-label=move || store.say(Word::Dismiss)
                        on:click=move |_| store.error.set(None)
                    >
                        {icon("close")}
                    </button>
                </div>
            }
        })
    };
    view! { {line} }
}
