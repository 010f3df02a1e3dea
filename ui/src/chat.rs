//! The chat widget: say a goal, see the last of what happens, answer, stop. Esc hides it.

use leptos::{html, prelude::*};
use protocol::command::{RunOverrides, ShowWindow, Window, WindowAction};
use protocol::ids::SessionId;

use crate::brief;
use crate::store::store;
use crate::transcript::{Entry, EntryBody, Stage};
use crate::widgets::approval::Approvals;
use crate::widgets::entry::{effect_words, end_words};
use crate::widgets::goal::{Aim, Goal};
use crate::widgets::icon::icon;
use crate::widgets::instead::Instead;
use crate::widgets::sources::sources;
use crate::widgets::status::{ErrorLine, RunButtons, StatusLine};
use crate::words::Word;

/// Lines of the last run that are shown.
const LINES: usize = 5;

#[component]
pub fn Chat() -> impl IntoView {
    let store = store();
    let field = NodeRef::<html::Textarea>::new();
    // The session this widget began, until "new" is pressed.
    let own = RwSignal::new(None::<SessionId>);
    let busy = store.memo(|state| state.busy());
    let asks = store.memo(|state| !state.approvals.is_empty());
    let aim = Aim {
        session: own.into(),
        overrides: Signal::stored(RunOverrides::default()),
        started: Callback::new(move |session| own.set(Some(session))),
    };
    let hide = move || store.send(ShowWindow { window: Window::Chat, action: WindowAction::Hide });
    let keys = window_event_listener(leptos::ev::keydown, move |event| {
        if event.key() == "Escape" && !event.is_composing() {
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
    let shown = window_event_listener(leptos::ev::focus, move |_| focus());
    on_cleanup(move || shown.remove());
    Effect::new(move |_| {
        field.track();
        focus();
    });
    let anew = move |_| {
        own.set(None);
        store.change(crate::state::State::show_new);
        focus();
    };
    let open = move |_| {
        store.send(ShowWindow { window: Window::Dashboard, action: WindowAction::Show });
    };

    view! {
        <main class="chat" aria-label=move || store.say(Word::ChatTitle)>
            <div class="chat-goal">
                <span class="brand-mark" aria-hidden="true" data-tauri-drag-region></span>
                <Goal aim rows=2 field />
            </div>
            <ErrorLine />
            <Approvals />
            <div class="chat-body">
                <Lines started=aim.started />
            </div>
            <footer class="chat-foot">
                <StatusLine />
                <Show
                    when=move || busy.get()
                    fallback=move || view! {
                        <span class="faint keys-hint">{move || store.say(Word::ChatHint)}</span>
                    }
                >
                    <RunButtons />
                </Show>
                <Show when=move || own.with(Option::is_some) && !busy.get()>
                    <button id="new" class="quiet" on:click=anew>{icon("plus")}<span>{move || store.say(Word::New)}</span></button>
                </Show>
                <button
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

/// The goal and the last lines of the last run; examples where there is none.
#[component]
fn Lines(started: Callback<SessionId>) -> impl IntoView {
    let store = store();
    let lines = store.memo(|state| {
        let run = state.transcript.last_run();
        let goal = run.first().filter(|entry| matches!(entry.body, EntryBody::Goal { .. })).cloned();
        let rest = run.get(usize::from(goal.is_some())..).unwrap_or_default();
        let last = rest.get(rest.len().saturating_sub(LINES)..).unwrap_or_default();
        goal.into_iter().chain(last.iter().cloned()).collect::<Vec<Entry>>()
    });
    let streaming = store.memo(|state| brief::shortened(&state.transcript.streaming.text));
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
                {move || lines.get().into_iter().map(|entry| line(entry, started)).collect_view()}
                <Show when=move || !streaming.with(String::is_empty)>
                    <li class="words">{streaming}<span class="caret" aria-hidden="true"></span></li>
                </Show>
            </ol>
        </Show>
    }
}

fn line(entry: Entry, started: Callback<SessionId>) -> AnyView {
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
            let (effect, word) = (step.effect_name(), effect_words(&step).0);
            let result = match &step.stage {
                Stage::Done { result } if !result.summary.is_empty() => brief::shortened(&result.summary),
                _ => format!("{} {}", step.call.tool, brief::arguments(&step.call)),
            };
            view! {
                <li class="did" data-effect=effect>
                    {icon(&step.call.tool)}
                    <span class="brief" dir="auto">{crate::escape::visible_text(&result)}</span>
                    <span class="badge" data-effect=effect>{move || store.say(word)}</span>
                </li>
            }
            .into_any()
        }
        EntryBody::TurnFailed { message, .. } => view! {
            <li class="words failed">
                <span dir="auto">{brief::shortened(&message)}</span>
                <Instead entry=entry.id started />
            </li>
        }
        .into_any(),
        EntryBody::Noted { message, .. } => words("words failed", &message),
        EntryBody::Paused { reason } => words("words", &reason),
        EntryBody::Resumed => view! { <li class="words">{move || store.say(Word::Resumed)}</li> }.into_any(),
        EntryBody::End { end, is_told, .. } => {
            use protocol::event::RunEnd;
            let (outcome, word) = end_words(&end);
            let text = match end {
                RunEnd::Completed { summary: text }
                | RunEnd::Failed { message: text, .. }
                | RunEnd::Stopped { reason: text } => text,
                RunEnd::NeedsApproval { .. } | RunEnd::Interrupted => String::new(),
            };
            let text = if is_told { String::new() } else { text };
            view! {
                <li class="end" data-outcome=outcome>
                    <strong>{move || store.say(word)}</strong>" "<span dir="auto">{text}</span>
                </li>
            }
            .into_any()
        }
    }
}
