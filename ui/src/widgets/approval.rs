//! A question to the user about one exact call: everything it would do is on the card, and "no" is the easy answer.

use protocol::escape::{Piece, visible, visible_json, visible_text};
use std::time::Duration;

use fold::call::{Line, lines};
use leptos::wasm_bindgen::JsCast;
use leptos::{html, prelude::*};
use protocol::command::AnswerApproval;
use protocol::ids::SessionId;
use protocol::tool::{Answer, FrontWindow, Grant, Risk};
use protocol::view::Question;

use super::icon::icon;
use crate::brief;
use crate::store::store;
use crate::words::Word;

/// A yes within half a second of seeing the question was meant for something else; the rest is for painting it.
const NO_YES_BEFORE: Duration = Duration::from_millis(600);

/// A double click ends within this: its second half must not land on what comes up after the first one's answer.
const SECOND_CLICK: Duration = Duration::from_millis(450);

/// Whoever pressed a key this lately is in the middle of saying something. In milliseconds.
const TYPING: f64 = 2_000.0;

/// All open questions of all sessions, those of the shown one first. `opened` follows where the user goes to see what one
/// is about.
#[component]
pub fn Approvals(#[prop(optional)] opened: Option<Callback<()>>) -> impl IntoView {
    let store = store();
    let asked = store.memo(|state| state.questions());
    let last_key = StoredValue::new(f64::NEG_INFINITY);
    let keys = window_event_listener(leptos::ev::keydown, move |_| last_key.set_value(js_sys::Date::now()));
    on_cleanup(move || keys.remove());
    // The last card takes the keyboard with it: what is typed next is the next goal.
    Effect::new(move |_| {
        if asked.with(Vec::is_empty) {
            request_animation_frame(|| {
                let is_free = document().active_element().is_none_or(|element| element.tag_name() == "BODY");
                if is_free {
                    to_goal();
                }
            });
        }
    });
    view! {
        <div class="approvals" aria-live="assertive">
            <For each=move || asked.get() key=|asked| asked.approval.id.clone() let:asked>
                <Card asked opened last_key />
            </For>
        </div>
    }
}

/// Which session asks, and the way there; empty where it is the one that is shown.
#[component]
fn Asker(session: SessionId, opened: Option<Callback<()>>) -> impl IntoView {
    let store = store();
    let id = session.clone();
    let name = store.memo(move |state| {
        let name = || state.name_of(&id).map_or_else(|| id.0.clone(), brief::shortened);
        (state.shown() != Some(&id)).then(name)
    });
    let open = move |_| {
        store.open_session(session.clone());
        if let Some(opened) = opened {
            opened.run(());
        }
    };
    view! {
        <Show when=move || name.with(Option::is_some)>
            <p class="asker" title=name>
                <span class="faint">{move || store.say(Word::AskedIn)}</span>
                <button class="link" dir="auto" on:click=open.clone()>
                    {move || name.get().map(|name| visible_text(&name))}
                </button>
            </p>
        </Show>
    }
}

/// The goal field takes the keyboard.
fn to_goal() {
    let goal = document().get_element_by_id("goal");
    if let Some(goal) = goal.and_then(|goal| goal.dyn_into::<web_sys::HtmlElement>().ok()) {
        let _ = goal.focus(); // refused while the window is hidden
    }
}

/// What stands in the field that has the keyboard; `None` if no field has it.
fn typed() -> Option<String> {
    let field = document()
        .active_element()
        .filter(|element| matches!(element.tag_name().as_str(), "TEXTAREA" | "INPUT"))?;
    js_sys::Reflect::get(&field, &"value".into()).ok()?.as_string()
}

#[component]
fn Card(asked: Question, opened: Option<Callback<()>>, last_key: StoredValue<f64>) -> impl IntoView {
    let store = store();
    let for_session = store.peek(|state| state.for_session(&asked).cloned());
    let Question { session, approval, .. } = asked;
    let is_own = store.peek(|state| state.shown() == Some(&session));
    let deny = NodeRef::<html::Button>::new();
    let ready = RwSignal::new(false);
    let sending = RwSignal::new(false);
    Effect::new(move |_| {
        if let Some(deny) = deny.get() {
            // Nobody's words are cut short, and no space between two of them is an answer.
            if typed().is_none_or(|text| is_own && text.is_empty()) {
                let _ = deny.focus(); // where focus is refused, the card can still be reached by Tab
            }
        }
    });
    // Wherever a question goes or comes, another may slide under the pointer: none takes a yes that was meant for that one.
    let all = store
        .memo(|state| state.questions().iter().map(|asked| asked.approval.id.clone()).collect::<Vec<_>>());
    let waits = StoredValue::new(0_u32);
    Effect::new(move |_| {
        all.with(|_| ());
        ready.set(false);
        let turn = waits.get_value() + 1;
        waits.set_value(turn);
        let open = move || {
            if waits.try_get_value() == Some(turn) {
                ready.set(true);
            }
        };
        set_timeout(open, NO_YES_BEFORE);
    });
    let (id, digest) = (approval.id.clone(), approval.digest.clone());
    let say = Callback::new(move |(answer, event): (Answer, web_sys::MouseEvent)| {
        // A key's click has no count.
        let by_pointer = event.detail() > 0;
        // A "no" by the pointer is meant; a key may have been for the field that had the keyboard a moment ago.
        let is_early = !(ready.get_untracked() || (answer == Answer::Deny && by_pointer));
        if sending.get_untracked() || is_early {
            return;
        }
        sending.set(true);
        let command = AnswerApproval { approval: id.clone(), digest: digest.clone(), answer };
        let send = move || store.send_or(command, |()| {}, sending);
        if by_pointer {
            set_timeout(send, SECOND_CLICK);
        } else {
            send();
        }
    });
    // Words that began just as the question came go to the field; a space among them is no answer.
    let on_key = move |event: web_sys::KeyboardEvent| {
        let is_letter =
            event.key().chars().count() == 1 && !(event.ctrl_key() || event.alt_key() || event.meta_key());
        let types = js_sys::Date::now() - last_key.get_value() < TYPING;
        if is_letter && (types || event.key() != " ") {
            to_goal();
        }
    };
    let no_yes = move || !ready.get() || sending.get();
    let title = format!("title-{}", approval.id);
    let labelled_by = title.clone();
    let remembered = for_session.map(|Grant { tool, app }| {
        let (tool, app) = (visible_text(&tool), app.map(|app| visible_text(&app)));
        let what = move || match &app {
            Some(app) => store.fill(Word::AllowThreadIn, &[("tool", &tool), ("app", app)]),
            None => store.fill(Word::AllowThread, &[("tool", &tool)]),
        };
        view! {
            <button class="thread" disabled=no_yes on:click=move |event| say.run((Answer::Thread, event))>{what}</button>
        }
    });
    // To be understood at a glance; the whole of it stands below.
    let lines = lines(&approval).into_iter().map(|Line { tool, about, goes_to }| {
        let goes_to = visible_text(&goes_to);
        view! {
            <li class="call">
                <code class="tool">{visible_text(&tool)}</code>
                <strong dir="auto">{visible_text(&about)}</strong>
                {(!goes_to.is_empty()).then(|| view! { <span class="there" dir="auto">{goes_to}</span> })}
            </li>
        }
    });

    // A click goes to what is under its point, whatever window is in front, and what follows it in a batch goes there, too.
    let first = approval.call.parts().into_iter().next();
    let to_the_focus = first.is_some_and(|call| call.goes_to_the_focus());
    let window = approval.window.clone().filter(|_| to_the_focus);
    let goes_to = window.map(|FrontWindow { app, title, .. }| {
        let (app, title) = (visible_text(&app), visible_text(&title));
        view! {
            <p class="goes-to" dir="auto">
                {move || store.fill(Word::GoesTo, &[("app", &app), ("title", &title)])}
            </p>
        }
    });
    let of_session = session.0.clone();

    view! {
        <section
            class="approval"
            role="alertdialog"
            data-session=of_session
            data-approval=approval.id.0.clone()
            data-risk=risk_name(approval.risk)
            aria-labelledby=labelled_by
            on:keydown=on_key
        >
            <header>
                {icon("shield")}
                <h3 id=title>{move || store.say(Word::MayI)}</h3>
                <Asker session opened />
                <span class="risk" data-risk=risk_name(approval.risk)>
                    {move || store.say(risk_word(approval.risk))}
                </span>
            </header>
            <div class="asked">
                <ul class="calls">{lines.collect_view()}</ul>
                // The model's own reason is in it.
                <p class="why" dir="auto">{spelled(visible(&approval.reason))}</p>
                {goes_to}
                <pre class="arguments" tabindex="0" aria-label=move || store.say(Word::Arguments)>
                    {spelled(visible_json(&approval.call.arguments))}
                </pre>
            </div>
            <footer>
                <button
                    class="deny"
                    node_ref=deny
                    disabled=move || sending.get()
                    on:click=move |event| say.run((Answer::Deny, event))
                >
                    {move || store.say(Word::Deny)}
                </button>
                <span class="spring"></span>
                {remembered}
                <button class="once primary" disabled=no_yes on:click=move |event| say.run((Answer::Once, event))>
                    {move || store.say(Word::AllowOnce)}
                </button>
            </footer>
        </section>
    }
}

/// Text with its unseen characters set apart.
pub fn spelled(pieces: Vec<Piece>) -> impl IntoView {
    let part = |piece| match piece {
        Piece::Plain(text) => text.into_any(),
        Piece::RightToLeft(text) => view! { <bdi>{text}</bdi> }.into_any(),
        Piece::Escape(text) => view! { <mark class="escape">{text}</mark> }.into_any(),
    };
    pieces.into_iter().map(part).collect_view()
}

pub fn risk_word(risk: Risk) -> Word {
    match risk {
        Risk::Observe => Word::RiskObserve,
        Risk::Navigate => Word::RiskNavigate,
        Risk::Edit => Word::RiskEdit,
        Risk::Consequential => Word::RiskConsequential,
    }
}

pub fn risk_name(risk: Risk) -> &'static str {
    match risk {
        Risk::Observe => "observe",
        Risk::Navigate => "navigate",
        Risk::Edit => "edit",
        Risk::Consequential => "consequential",
    }
}
