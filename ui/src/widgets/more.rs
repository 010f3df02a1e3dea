//! A run that paused by itself: what is used up, and whether it may have as much again.

use leptos::prelude::*;
use protocol::budget::{BudgetOf, Measure, UsedUp, thousands};
use protocol::command::{ResumeRun, StopRun};
use protocol::escape::visible_text;
use protocol::ids::{RunId, SessionId};

use super::budget::bound_said;
use super::icon::icon;
use super::ready::{cards, ready};
use crate::brief;
use crate::store::{Store, store};
use crate::words::Word;

/// A run that waits for its user's word.
#[derive(Clone, Debug, PartialEq)]
struct Waiting {
    run: RunId,
    session: SessionId,
    /// Its session's, where another one is shown.
    name: Option<String>,
    used_up: Option<UsedUp>,
}

/// A card for each run that waits for its user's word, that of the shown session first. `opened` follows where the user goes
/// to see it.
#[component]
pub fn WantWord(opened: Option<Callback<()>>) -> impl IntoView {
    let store = store();
    let waiting = store.memo(|state| {
        let mut all: Vec<Waiting> = state
            .overview
            .runs
            .iter()
            .filter(|run| run.status.wants_word)
            .map(|run| {
                let name = || state.name_of(&run.session).map_or_else(|| run.goal.clone(), str::to_owned);
                Waiting {
                    run: run.run.clone(),
                    session: run.session.clone(),
                    name: (state.shown() != Some(&run.session))
                        .then(|| visible_text(&brief::shortened(&name()))),
                    used_up: run.status.used_up.as_deref().cloned(),
                }
            })
            .collect();
        all.sort_by_key(|waiting| waiting.name.is_some());
        all
    });
    let card = move |waiting: Waiting| view! { <Card waiting opened /> };
    view! { {move || waiting.get().into_iter().map(card).collect_view()} }
}

#[component]
fn Card(waiting: Waiting, opened: Option<Callback<()>>) -> impl IntoView {
    let store = store();
    let Waiting { run, session, name, used_up } = waiting;
    let all = cards(store);
    let ready = ready(move || all.with(|_| ()));
    let sending = RwSignal::new(false);
    let (of_run, stops) = (run.clone(), run.clone());
    let go_on = move |_| {
        if ready.get_untracked() && !sending.get_untracked() {
            sending.set(true);
            store.send_or(ResumeRun { run: Some(run.clone()) }, |()| {}, sending);
        }
    };
    let stop = move |_| store.send(StopRun { run: Some(stops.clone()) });
    let open = move |_| {
        store.open_session(session.clone());
        if let Some(opened) = opened {
            opened.run(());
        }
    };
    let is_shown = name.is_none();
    let asker = name.map(|name| {
        view! {
            <p class="asker">
                <span class="faint">{move || store.say(Word::AskedIn)}</span>
                <button class="link" dir="auto" on:click=open>{name}</button>
            </p>
        }
    });
    let for_button = used_up.clone();
    let heading = move || match &used_up {
        Some(used_up) => used_up_said(store, used_up),
        None => store.say(Word::GoesInCircles).to_owned(),
    };
    let title = format!("more-{}", of_run.0);
    let labelled_by = title.clone();
    view! {
        <section class="wants-word" role="alertdialog" data-run=of_run.0 aria-labelledby=labelled_by>
            <header>
                {icon("pause")}
                <h3 id=title>{heading}</h3>
                {asker}
            </header>
            <p class="faint">
                {move || store.say(Word::WantsWord)}
                // The field below is that of the session that is shown.
                {is_shown.then(|| view! { " " {move || store.say(Word::WantsWordHint)} })}
            </p>
            <footer>
                <button class="end-it" on:click=stop>{move || store.say(Word::Stop)}</button>
                <button class="go-on primary" disabled=move || !ready.get() || sending.get() on:click=go_on>
                    {move || go_on_said(store, for_button.as_ref())}
                </button>
            </footer>
        </section>
    }
}

/// `30 of 30 steps are used`
fn used_up_said(store: Store, UsedUp { bound, .. }: &UsedUp) -> String {
    let said = bound_said(store, bound);
    match (&bound.next, bound.of) {
        (Some(next), _) => {
            let next = counted(store, bound.measure, next);
            store.fill(Word::UsedUpNext, &[("bound", &said), ("next", &next)])
        }
        (None, BudgetOf::Plan) => store.fill(Word::UsedUpPlan, &[("bound", &said)]),
        (None, BudgetOf::Run | BudgetOf::Parent) => store.fill(Word::UsedUp, &[("bound", &said)]),
    }
}

/// `Go on with 30 more`
fn go_on_said(store: Store, used_up: Option<&UsedUp>) -> String {
    match used_up.and_then(|used_up| Some((used_up.bound.measure, used_up.more.as_ref()?))) {
        Some((measure, more)) => store.fill(Word::GoOnWith, &[("more", &counted(store, measure, more))]),
        None => store.say(Word::GoOnMore).to_owned(),
    }
}

fn counted(store: Store, measure: Measure, n: &str) -> String {
    match measure {
        Measure::Steps => store.fill(Word::InSteps, &[("n", n)]),
        Measure::Minutes => store.fill(Word::InMinutes, &[("n", n)]),
        Measure::Tokens => {
            let n = n.parse().map_or_else(|_| n.to_owned(), thousands);
            store.fill(Word::InTokens, &[("n", &n)])
        }
        Measure::Dollars => format!("${n}"),
    }
}
