//! What the shown session's run does now, how it is stopped and all others with it, and the last thing that went wrong.

use leptos::prelude::*;
use protocol::command::{PauseRun, ResumeRun, StopRun};
use protocol::event::{Activity, Status};

use super::budget::{known_by, progress_said};
use super::entry::cost;
use super::icon::icon;
use crate::state::State;
use crate::store::store;
use crate::words::Word;
use protocol::escape::visible_text;

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

/// One line: dot, word, detail, step. While the session shown is at rest, it says that another one asks or works.
#[component]
pub fn StatusLine() -> impl IntoView {
    let store = store();
    let status = store.memo(|state| state.status());
    let questions = store.memo(State::questions_elsewhere);
    let activity = move || match questions.get() {
        0 => status.get().activity,
        _ => Activity::Waiting,
    };
    // At rest itself, beside a button that stops others.
    let elsewhere = store.memo(|state| state.other_runs().count());
    let word = move || match questions.get() {
        0 if status.get().activity == Activity::Idle && elsewhere.get() > 0 => {
            store.fill(Word::RunsAtWork, &[("n", &elsewhere.get().to_string())])
        }
        0 => store.say(activity_word(status.get().activity)).to_owned(),
        1 => store.say(Word::OneQuestionWaits).to_owned(),
        n => store.fill(Word::QuestionsWait, &[("n", &n.to_string())]),
    };
    let step = move || {
        let Status { step, max_steps, .. } = status.get();
        (step > 0)
            .then(|| store.fill(Word::StepOf, &[("n", &step.to_string()), ("max", &max_steps.to_string())]))
    };
    let detail = move || visible_text(&store.told(&status.get().detail));
    let bill =
        store.memo(|state| state.run_shown().and(state.transcript()).map(|transcript| transcript.bill));
    let spent = move || bill.get().filter(|bill| bill.spent.turns > 0).map(|bill| cost(store, bill));
    let now = Memo::new(move |_| status.get().progress);
    let progress = move || now.get().map(|progress| progress_said(store, &progress));
    let by =
        move || now.get().and_then(|progress| progress.forecast).map(|forecast| known_by(store, &forecast));
    view! {
        <div id="status" class="status" role="status" data-activity=move || activity_name(activity())>
            <span class="dot"></span>
            <span class="activity">{word}</span>
            <span class="detail" dir="auto" title=detail>{detail}</span>
            <span class="count">{step}</span>
            <span class="count cost">{spent}</span>
            <span class="count progress" title=by>{progress}</span>
        </div>
    }
}

/// Stop, and pause or resume, of the shown session's run; and stop of all, where others run, too. Stop stays where it is; it
/// is only disabled while there is nothing to stop.
#[component]
pub fn RunButtons() -> impl IntoView {
    let store = store();
    let run = store.memo(|state| state.run_shown().map(|run| run.run.clone()));
    let paused = store.memo(|state| state.run_shown().is_some_and(|run| run.status.paused));
    let turn = move |_| {
        let run = run.get_untracked();
        match (run.is_some(), paused.get_untracked()) {
            (false, _) => {}
            (true, true) => store.send(ResumeRun { run }),
            (true, false) => store.send(PauseRun { run }),
        }
    };
    let stop = move |_| {
        let run = run.get_untracked();
        if run.is_some() {
            store.send(StopRun { run });
        }
    };
    view! {
        <div class="run-buttons">
            <button id="pause" class="quiet" hidden=move || run.with(Option::is_none) on:click=turn>
                {move || icon(if paused.get() { "resume" } else { "pause" })}
                <span>{move || store.say(if paused.get() { Word::Resume } else { Word::Pause })}</span>
            </button>
            <StopAll />
            <button id="stop" class="danger" disabled=move || run.with(Option::is_none) on:click=stop>
                {icon("stop")}
                <span>{move || store.say(Word::Stop)}</span>
            </button>
        </div>
    }
}

/// Where runs are at work that the page does not show.
#[component]
pub fn StopAll() -> impl IntoView {
    let store = store();
    let all = store.memo(|state| (state.overview.runs.len(), state.other_runs().count()));
    view! {
        <button
            id="stop-all"
            class="danger quiet"
            hidden=move || all.get().1 == 0
            on:click=move |_| store.send(StopRun { run: None })
        >
            {icon("stop")}
            <span>{move || store.fill(Word::StopAll, &[("n", &all.get().0.to_string())])}</span>
        </button>
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
