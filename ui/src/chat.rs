//! The chat widget: say a goal, see the last of what happens, answer, stop. Esc hides it.

use fold::call::in_short;
use fold::transcript::{Entry, EntryBody, Stage};
use fold::{Outcome, Transcript};
use leptos::{html, prelude::*};
use protocol::command::{RunOverrides, ShowWindow, StopRun, Window, WindowAction};
use protocol::escape::visible_text;
use protocol::event::Activity;
use protocol::ids::{RunId, SessionId};
use protocol::view::RunStatus;

use crate::brief;
use crate::store::store;
use crate::widgets::approval::Approvals;
use crate::widgets::budget::{NextForecast, bound_said};
use crate::widgets::entry::{effect_words, end_in_brief, end_word, replied};
use crate::widgets::goal::{Aim, Goal};
use crate::widgets::icon::icon;
use crate::widgets::sources::sources;
use crate::widgets::status::{ErrorLine, RunButtons, StatusLine, activity_name};
use crate::widgets::suggestions::Suggestions;
use crate::words::Word;

/// Lines of the last run that are shown.
const LINES: usize = 5;
/// Runs of other sessions that are shown.
const OTHERS: usize = 3;

#[component]
pub fn Chat() -> impl IntoView {
    let store = store();
    let field = NodeRef::<html::Textarea>::new();
    let busy = store.memo(|state| state.run_shown().is_some());
    let has_page = store.memo(|state| state.shown().is_some());
    let asks = store.memo(|state| !state.overview.questions.is_empty());
    let aim = Aim { overrides: Signal::stored(RunOverrides::default()), started: Callback::new(|()| {}) };
    let show = move |window, action, session| store.send(ShowWindow { window, action, session });
    let hide = move || show(Window::Chat, WindowAction::Hide, None);
    let keys = window_event_listener(leptos::ev::keydown, move |event| {
        let closes_picture = document().query_selector("dialog[open]").is_ok_and(|open| open.is_some());
        if event.key() == "Escape" && !event.is_composing() && !closes_picture {
            event.prevent_default();
            hide();
        }
    });
    on_cleanup(move || keys.remove());
    let focus = move || {
        if let Some(field) = field.get_untracked()
            && !asks.get_untracked()
        {
            let _ = field.focus(); // refused while the window is hidden; the next focus event comes with it
        }
    };
    let away = RwSignal::new(!document().has_focus().unwrap_or(true));
    let shown = window_event_listener(leptos::ev::focus, move |_| {
        away.set(false);
        focus();
    });
    on_cleanup(move || shown.remove());
    let left = window_event_listener(leptos::ev::blur, move |_| away.set(true));
    on_cleanup(move || left.remove());
    let hint = move || store.say(if away.get() { Word::ChatAway } else { Word::ChatHint });
    Effect::new(move |_| {
        field.track();
        focus();
    });
    let anew = move |_| {
        store.show_new();
        if let Some(field) = field.get_untracked() {
            let _ = field.focus(); // refused while the window is hidden
        }
    };
    let open = move |_| {
        let session = store.peek(|state| state.shown().cloned());
        show(Window::Dashboard, WindowAction::Show, session);
        hide();
    };

    view! {
        <main class="chat" aria-label=move || store.say(Word::ChatTitle)>
            <div class="chat-goal">
                <span class="brand-mark" aria-hidden="true" data-tauri-drag-region></span>
                <Goal aim rows=2 field />
            </div>
            <NextForecast />
            <ErrorLine />
            <Approvals />
            <Others />
            <div class="chat-body"><Lines /></div>
            <footer class="chat-foot">
                <StatusLine />
                <Show
                    when=move || busy.get()
                    fallback=move || view! {
                        <span class="faint keys-hint">{hint}</span>
                    }
                >
                    <RunButtons />
                </Show>
                <Show when=move || has_page.get()>
                    <button id="new" class="quiet" on:click=anew>{icon("plus")}<span>{move || store.say(Word::New)}</span></button>
                </Show>
                <button
                    id="open-dashboard"
                    class="quiet"
                    title=move || store.say(Word::OpenDashboard)
                    aria-label=move || store.say(Word::OpenDashboard)
                    on:click=open
                >
                    {icon("window")}
                </button>
            </footer>
        </main>
    }
}

/// A run of another session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Other {
    run: RunId,
    session: SessionId,
    activity: Activity,
    name: String,
    detail: String,
}

/// The runs of other sessions, each with its stop.
#[component]
fn Others() -> impl IntoView {
    let store = store();
    let runs = store.memo(|state| {
        let row = |run: &RunStatus| Other {
            run: run.run.clone(),
            session: run.session.clone(),
            activity: run.status.activity,
            name: visible_text(&brief::shortened(state.name_of(&run.session).unwrap_or(&run.goal))),
            detail: visible_text(&run.status.detail),
        };
        state.other_runs().map(row).collect::<Vec<_>>()
    });
    let shown = move || runs.with(|runs| runs.iter().take(OTHERS).cloned().collect::<Vec<_>>());
    let more = move || {
        let more = runs.with(Vec::len).saturating_sub(OTHERS);
        (more > 0).then(|| store.fill(Word::MoreRuns, &[("n", &more.to_string())]))
    };
    let row = move |other: Other| {
        let Other { run, session, activity, name, detail } = other;
        let stop = store.fill(Word::StopSession, &[("name", &name)]);
        let of_session = session.0.clone();
        view! {
            <li data-session=of_session data-activity=activity_name(activity)>
                <span class="dot"></span>
                <button class="link" dir="auto" on:click=move |_| store.open_session(session.clone())>
                    {name}
                </button>
                <span class="faint detail" dir="auto">{move || store.told(&detail)}</span>
                <button
                    class="stop quiet"
                    title=stop.clone()
                    aria-label=stop
                    on:click=move |_| store.send(StopRun { run: Some(run.clone()) })
                >
                    {icon("stop")}
                </button>
            </li>
        }
    };
    view! {
        <Show when=move || !runs.with(Vec::is_empty)>
            <ul class="others" aria-label=move || store.say(Word::OtherRuns)>
                <For each=shown key=Clone::clone children=row />
                <li class="faint" hidden=move || more().is_none()>{more}</li>
            </ul>
        </Show>
    }
}

/// The goal and the last lines of the last run; examples where there is none.
#[component]
fn Lines() -> impl IntoView {
    let store = store();
    let lines = store.memo(|state| {
        let run = state.transcript().map(Transcript::last_run).unwrap_or_default();
        let goal = run.first().filter(|entry| matches!(entry.body, EntryBody::Goal { .. })).cloned();
        let rest = run.get(usize::from(goal.is_some())..).unwrap_or_default();
        let is_told =
            |entry: &&Entry| matches!(&entry.body, EntryBody::Step(step) if step.is_told_by_the_end);
        let rest = rest.iter().filter(|entry| !is_told(entry)).collect::<Vec<_>>();
        let last = rest.into_iter().rev().take(LINES).rev().cloned();
        goal.into_iter().chain(last).collect::<Vec<Entry>>()
    });
    let streaming = store.memo(|state| {
        state.transcript().map(|transcript| brief::shortened(&transcript.streaming.text)).unwrap_or_default()
    });
    view! {
        <Show
            when=move || !lines.with(Vec::is_empty)
            fallback=move || view! {
                <div class="examples">
                    <p class="faint">{move || store.say(Word::ChatExamples)}</p>
                    <ul>
                        <li>{move || store.say(Word::Example1)}</li>
                        <li>{move || store.say(Word::Example2)}</li>
                        <li>{move || store.say(Word::Example3)}</li>
                    </ul>
                </div>
            }
        >
            <ol class="lines" aria-live="polite">
                {move || lines.get().into_iter().map(line).collect_view()}
                <Show when=move || !streaming.with(String::is_empty)>
                    <li class="words">{streaming}<span class="caret" aria-hidden="true"></span></li>
                </Show>
            </ol>
        </Show>
    }
}

fn line(entry: Entry) -> AnyView {
    let store = store();
    let words = |class: &'static str, text: &str| {
        view! { <li class=class dir="auto">{brief::shortened(text)}</li> }.into_any()
    };
    match entry.body {
        EntryBody::Goal { goal, model, .. } => view! {
            <li class="goal-said">
                <span dir="auto">{brief::shortened(&goal)}</span>" "<span class="faint model-said">{model}</span>
            </li>
        }
        .into_any(),
        EntryBody::Said { text } => words("goal-said", &text),
        EntryBody::Turn { text, thinking, citations, .. } => {
            let said = brief::shortened(if text.is_empty() { &thinking } else { &text });
            view! { <li class="words"><span dir="auto">{said}</span>{sources(&citations)}</li> }.into_any()
        }
        EntryBody::Step(step) => {
            // What is said of a no is said to the model.
            let denied = step.is_denied();
            let (effect, word) = (step.effect_name(), effect_words(&step).0);
            let word = if denied { Word::DeniedByYou } else { word };
            let result = match &step.stage {
                Stage::Done { result } if !result.summary.is_empty() && !denied => {
                    brief::shortened(&result.summary)
                }
                _ => format!("{} {}", step.call.tool, in_short(&step.call, step.window.as_ref())),
            };
            view! {
                <li class="did" data-effect=effect>
                    {icon(&step.call.tool)}
                    <span class="brief" dir="auto">{protocol::escape::visible_text(&result)}</span>
                    {step.has_effect().then(|| view! {
                        <span class="badge" data-effect=effect>{move || store.say(word)}</span>
                    })}
                </li>
            }
            .into_any()
        }
        EntryBody::TurnFailed { message, .. } | EntryBody::Noted { message, .. } => {
            words("words failed", &message)
        }
        EntryBody::Paused { used_up: Some(bound), .. } => {
            let said = move || store.fill(Word::UsedUp, &[("bound", &bound_said(store, &bound))]);
            view! { <li class="words">{said}</li> }.into_any()
        }
        EntryBody::Paused { reason, used_up: None } => words("words", &store.told(&reason)),
        EntryBody::Asked(asked) => {
            let (question, reply) = (visible_text(&asked.wanted.message), asked.clone());
            view! {
                <li class="words">
                    <span dir="auto">{question}</span>" → "
                    <strong dir="auto">{move || replied(store, &reply)}</strong>
                </li>
            }
            .into_any()
        }
        EntryBody::BudgetNear { bound } => {
            let said = move || store.fill(Word::BudgetNear, &[("bound", &bound_said(store, &bound))]);
            view! { <li class="words">{said}</li> }.into_any()
        }
        EntryBody::Resumed => view! { <li class="words">{move || store.say(Word::Resumed)}</li> }.into_any(),
        EntryBody::End { end, acts, repeats, bill, .. } => {
            use protocol::event::RunEnd;
            let outcome = Outcome::from(&end);
            let word = end_word(outcome, acts);
            let is_doubted = word == Word::CameToNothing;
            let text = match end {
                // What the model has just said is not said again.
                RunEnd::Completed { .. } if repeats && !is_doubted => String::new(),
                RunEnd::Completed { summary: text }
                | RunEnd::Failed { message: text, .. }
                | RunEnd::Stopped { reason: text } => text,
                RunEnd::Interrupted { reason } => reason.unwrap_or_default(),
                RunEnd::NeedsApproval { .. } => String::new(),
            };
            view! {
                <li class="end" data-outcome=outcome.name() data-doubted=is_doubted.to_string()>
                    <strong>{move || store.say(word)}</strong>" "<span dir="auto">{text}</span>
                    {move || Some(end_in_brief(store, acts, bill.agents)).filter(|text| !text.is_empty())
                        .map(|text| view! { <p class="faint">{text}</p> })}
                    <Suggestions entry=entry.id />
                </li>
            }
            .into_any()
        }
    }
}
