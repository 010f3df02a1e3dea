//! A question to the user about one exact call: everything it would do is on the card, and "no" is the easy answer.

use protocol::escape::{Piece, visible, visible_json, visible_text};
use std::time::Duration;

use fold::call::{Line, is_said_whole, lines};
use leptos::wasm_bindgen::JsCast;
use leptos::{html, prelude::*};
use protocol::command::{AnswerApproval, SteerRun};
use protocol::contract::{About, Contract, Finding};
use protocol::ids::{RunId, SessionId};
use protocol::tool::{ASK_HUMAN, Answer, FrontWindow, Grant, Risk, Source, Until};
use protocol::view::Question;
use protocol::{ErrorCode, ErrorView};

use super::icon::icon;
use super::more::WantWord;
use super::picture::{Enlarged, Large, thumbnail};
use super::plan::{Edits, found, terms};
use super::press::Presses;
use super::ready::{NO_YES_BEFORE, cards, ready};
use super::wanted;
use crate::brief;
use crate::store::store;
use crate::words::Word;

/// Between two looks whether all of a question has come into view.
const LOOKS: Duration = Duration::from_millis(200);

/// Pixels below the edge that hide no line.
const UNSEEN: i32 = 6;

/// A double click ends within this: its second half must not land on what comes up after the first one's answer.
const SECOND_CLICK: Duration = Duration::from_millis(450);

/// Whoever pressed a key this lately is in the middle of saying something. In milliseconds.
const TYPING: f64 = 2_000.0;

/// Names of what the model had read, at the most.
const SOURCES: usize = 8;

/// Characters of the user's words beside a no.
const WHY_NOT_CHARS: u32 = 500;

/// Characters of the user's answer to an agent's own question.
pub const ANSWER_CHARS: u32 = 4_000;

/// All open questions of all sessions, those of the shown one first. `opened` follows where the user goes to see what one
/// is about.
#[component]
pub fn Approvals(#[prop(optional)] opened: Option<Callback<()>>) -> impl IntoView {
    let store = store();
    let asked = store.memo(|state| state.questions());
    let keyboard =
        Keyboard { last_key: StoredValue::new(f64::NEG_INFINITY), is_given: StoredValue::new(false) };
    let enlarged = RwSignal::new(None::<Enlarged>);
    // Who opens another session sees its own questions, which stand first.
    let (list, shown) = (NodeRef::<html::Div>::new(), store.memo(|state| state.shown().cloned()));
    Effect::new(move |_| {
        shown.track();
        request_animation_frame(move || {
            if let Some(list) = list.try_get_untracked().flatten() {
                list.set_scroll_top(0);
            }
        });
    });
    // An answer that was just given is nothing that the next question would cut short.
    let keys = window_event_listener(leptos::ev::keydown, move |event| {
        if !is_an_answer(&event) {
            keyboard.last_key.set_value(js_sys::Date::now());
            keyboard.is_given.set_value(false);
        }
    });
    on_cleanup(move || keys.remove());
    let presses = window_event_listener(leptos::ev::pointerdown, move |_| keyboard.is_given.set_value(false));
    on_cleanup(move || presses.remove());
    // The last card takes the keyboard with it: what is typed next is the next goal.
    Effect::new(move |_| {
        if asked.with(Vec::is_empty) {
            request_animation_frame(move || {
                let is_free = document().active_element().is_none_or(|element| element.tag_name() == "BODY");
                if is_free {
                    to_goal(keyboard);
                }
            });
        }
    });
    view! {
        <div class="approvals" aria-live="assertive" node_ref=list>
            <WantWord opened />
            <For each=move || asked.get() key=|asked| asked.approval.id.clone() let:asked>
                <Card asked opened keyboard enlarge=Callback::new(move |picture| enlarged.set(Some(picture))) />
            </For>
        </div>
        <Large enlarged />
    }
}

/// Which session asks, the goal of its user that an agent's question is for, and the way there; empty if it is the one
/// that is shown.
#[component]
fn Asker(session: SessionId, run: RunId, opened: Option<Callback<()>>) -> impl IntoView {
    let store = store();
    let id = session.clone();
    let root = store.memo(move |state| {
        let root = fold::root_of(&state.overview, &run).filter(|root| state.shown() != Some(&root.session));
        root.map(|root| brief::shortened(&root.goal))
    });
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
                {move || root.get().map(|goal| view! {
                    <span class="faint whose" dir="auto">{store.fill(Word::AskedFor, &[("goal", &visible_text(&goal))])}</span>
                })}
            </p>
        </Show>
    }
}

/// Whether a key was pressed where a question is answered: in words, or on a button.
fn is_an_answer(event: &web_sys::KeyboardEvent) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    target.is_some_and(|target| matches!(target.closest(".answer, .choice, .approval button"), Ok(Some(_))))
}

/// Whether a key was pressed where a question is answered in words.
fn is_in_answer(event: &web_sys::KeyboardEvent) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    target.is_some_and(|target| matches!(target.closest(".answer, .choice"), Ok(Some(_))))
}

/// How much of this the list of the cards cuts off above and below, in pixels.
fn cut_off(asked: &web_sys::Element) -> (i32, i32) {
    let Ok(Some(list)) = asked.closest(".approvals") else { return (0, 0) };
    let (its, list) = (asked.get_bounding_client_rect(), list.get_bounding_client_rect());
    let cut = |edge: f64| edge.max(0.0).round() as i32;
    (cut(list.top() - its.top()), cut(its.bottom() - list.bottom()))
}

/// A key's click has no count.
fn is_by_pointer(event: &web_sys::MouseEvent) -> bool {
    event.detail() > 0
}

/// Who has had the keyboard last.
#[derive(Clone, Copy)]
struct Keyboard {
    /// When a key was last pressed beside the cards, in milliseconds.
    last_key: StoredValue<f64>,
    /// It was put where it is after an answer, and nobody has used it there yet.
    is_given: StoredValue<bool>,
}

/// The goal field takes the keyboard.
fn to_goal(keyboard: Keyboard) {
    keyboard.is_given.set_value(true);
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

/// Whether nothing in the card has the keyboard yet.
fn has_not_begun(card: &web_sys::HtmlElement) -> bool {
    document().active_element().is_none_or(|active| !card.contains(Some(&active)))
}

/// The tools that a yes for longer would cover, and in which application.
fn in_words(grants: &[&Grant]) -> (String, Option<String>) {
    let tools: Vec<_> = grants.iter().map(|grant| visible_text(&grant.tool)).collect();
    let app = grants.first().and_then(|grant| grant.app.as_deref());
    (tools.join(", "), app.map(visible_text))
}

#[component]
fn Card(
    asked: Question,
    opened: Option<Callback<()>>,
    keyboard: Keyboard,
    enlarge: Callback<Enlarged>,
) -> impl IntoView {
    let store = store();
    let (for_run, for_longer) = store.peek(|state| {
        (state.for_run(&asked).map(|grants| in_words(&grants)), state.may_be_for_longer(&asked))
    });
    let Question { session, run, approval } = asked;
    let (asker, of_paused, of_own) = (run.clone(), run.clone(), (session.clone(), run.clone()));
    let of_shown = store.memo(move |state| state.is_own(&of_own.0, &of_own.1));
    let is_paused = store
        .memo(move |state| state.overview.runs.iter().any(|one| one.run == of_paused && one.status.paused));
    let about = (*approval.about).clone();
    let shown_edits = match &about {
        About::Plan { contract, .. } => Edits::of(contract),
        About::Call { .. } | About::Result { .. } | About::Elicitation(_) => Edits::of(&Contract::default()),
    };
    let plan = match &about {
        About::Plan { contract, .. } => Some((shown_edits, (**contract).clone())),
        About::Call { .. } | About::Result { .. } | About::Elicitation(_) => None,
    };
    let of_server = match &about {
        About::Elicitation(wanted) => Some((**wanted).clone()),
        About::Call { .. } | About::Plan { .. } | About::Result { .. } => None,
    };
    // An agent's own question, or a server's, which is answered in words.
    let words = (approval.call.tool == ASK_HUMAN).then(|| RwSignal::new(String::new()));
    let is_own = store.peek(|state| state.shown() == Some(&session));
    let deny = NodeRef::<html::Button>::new();
    let sending = RwSignal::new(false);
    let why_not = RwSignal::new(String::new());
    let card = NodeRef::<html::Section>::new();
    let take_keyboard = move || {
        // It may be gone by then.
        let (deny, card) = (deny.try_get_untracked().flatten(), card.try_get_untracked().flatten());
        let (Some(deny), Some(card)) = (deny, card) else { return };
        let types = js_sys::Date::now() - keyboard.last_key.get_value() < TYPING;
        // Nobody's words are cut short, and no space between two of them is an answer.
        let is_free = has_not_begun(&card)
            && typed().is_none_or(|text| {
                let is_ours = is_own || keyboard.is_given.get_value();
                is_ours && text.is_empty() && !(words.is_some() && types)
            });
        if !is_free {
            return;
        }
        // What is asked in words is answered where the keyboard is.
        let field = card.query_selector(".answer").ok().flatten();
        let field = field.and_then(|field| field.dyn_into::<web_sys::HtmlElement>().ok());
        // Where focus is refused, the card can still be reached by Tab.
        let _ = field.map_or_else(|| deny.focus(), |field| field.focus());
    };
    Effect::new(move |_| {
        if deny.get().is_some() && card.get().is_some() {
            take_keyboard();
            // In a page that has just come up, the goal field takes it by itself before the first frame.
            request_animation_frame(take_keyboard);
        }
    });
    let all = cards(store);
    let shown = store.memo(|state| state.shown().cloned());
    // Another session puts other questions under the pointer.
    let ready = ready(move || {
        all.with(|_| ());
        shown.track();
    });
    // Nothing is allowed that stands below the edge: what is asked is read to its end first.
    let asked_box = NodeRef::<html::Div>::new();
    let (has_rest, paged) = (RwSignal::new(false), StoredValue::new(f64::NEG_INFINITY));
    // How far down it was in view. What grows afterwards, with a picture that comes late, is to be seen as well.
    let seen = StoredValue::new(0);
    let look = move || {
        let Some(asked) = asked_box.try_get_untracked().flatten() else { return };
        let (above, below) = cut_off(&asked);
        let (from, to) = (asked.scroll_top() + above, asked.scroll_top() + asked.client_height() - below);
        seen.update_value(|seen| {
            if above <= UNSEEN || from <= *seen + UNSEEN {
                *seen = (*seen).max(to);
            }
        });
        let is_more = asked.scroll_height() - seen.get_value() > UNSEEN;
        if has_rest.try_get_untracked() != Some(is_more) {
            has_rest.set(is_more);
        }
    };
    Effect::new(move |_| {
        if ready.get() {
            look();
        }
    });
    // What comes or goes beside it gives it another size. It may have been whole for a moment alone, which nobody can read.
    Effect::new(move |before: Option<Vec<String>>| {
        let now = all.get();
        if before.is_some_and(|before| before != now) {
            request_animation_frame(move || {
                seen.try_set_value(0);
                look();
            });
        }
        now
    });
    // What is in view changes with the window's size, a picture that comes late, what is folded.
    if let Ok(looks) = set_interval_with_handle(look, LOOKS) {
        on_cleanup(move || looks.clear());
    }
    // Whether a press showed more of it, in place of a yes: what the button said when it was pressed, it does.
    let pages = move || {
        let said_more = has_rest.get_untracked();
        look();
        if has_rest.get_untracked()
            && let Some(asked) = asked_box.get_untracked()
        {
            let cut = cut_off(&asked);
            if cut != (0, 0) {
                asked.scroll_into_view();
            }
            if cut == cut_off(&asked) {
                asked.set_scroll_top(asked.scroll_top() + asked.client_height() * 4 / 5);
            }
            paged.set_value(js_sys::Date::now());
            look();
            return true;
        }
        if said_more {
            paged.set_value(js_sys::Date::now());
            return true;
        }
        // The second half of a double click.
        js_sys::Date::now() - paged.get_value() < NO_YES_BEFORE.as_secs_f64() * 1e3
    };
    let (id, digest) = (approval.id.clone(), approval.digest.clone());
    let say = Callback::new(move |(answer, by_pointer): (Answer, bool)| {
        // A "no" by the pointer is meant; a key may have been for the field that had the keyboard a moment ago.
        let is_early = !(ready.get_untracked() || (answer == Answer::Deny && by_pointer));
        if sending.get_untracked() || is_early {
            return;
        }
        sending.set(true);
        let is_no = answer == Answer::Deny;
        let command = AnswerApproval { approval: id.clone(), digest: digest.clone(), answer };
        let text = why_not.get_untracked().trim().to_owned();
        let why = (is_no && !text.is_empty()).then(|| SteerRun { run: run.clone(), text });
        let send = move || {
            let answer = move |()| {
                sending.set(true);
                store.send_or(command, |()| {}, sending);
            };
            match why {
                // Said first: the model reads both together.
                Some(why) => store.send_or(why, answer, sending),
                None => answer(()),
            }
        };
        if by_pointer {
            set_timeout(send, SECOND_CLICK);
        } else {
            send();
        }
    });
    // A press of a button leaves the keyboard in the field that is written in.
    let presses = Presses::of(card);
    let keep_field = move |event: web_sys::MouseEvent| {
        if presses.is_written_in() {
            event.prevent_default();
        }
    };
    let press = move |event: &web_sys::MouseEvent, go: Callback<bool>| {
        let by_pointer = is_by_pointer(event);
        // One that only shows more is no answer.
        let waits = by_pointer && presses.is_written_in() && !has_rest.get_untracked();
        presses.press(waits, move || go.run(by_pointer));
    };
    let no = Callback::new(move |by_pointer: bool| say.run((Answer::Deny, by_pointer)));
    // Words that began just as the question came go to the field; a space among them is no answer.
    let on_key = move |event: web_sys::KeyboardEvent| {
        let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        let is_on_button = target.is_some_and(|target| target.tag_name() == "BUTTON");
        let is_letter = is_on_button
            && event.key().chars().count() == 1
            && !(event.ctrl_key() || event.alt_key() || event.meta_key());
        let types = js_sys::Date::now() - keyboard.last_key.get_value() < TYPING;
        if is_letter && (types || event.key() != " ") {
            to_goal(keyboard);
        }
    };
    let edited = RwSignal::new(None::<String>);
    let is_edited = move || edited.with(Option::is_some);
    let of_field = of_server.clone();
    let given = move |written: &str| wanted::given(of_field.as_ref(), written);
    let is_given = given.clone();
    let is_empty = Memo::new(move |_| words.is_some_and(|words| words.with(|text| is_given(text).is_none())));
    let no_yes = move || !ready.get() || sending.get() || is_empty.get();
    let title = format!("title-{}", approval.id);
    let labelled_by = title.clone();
    let remembered = for_run.map(|(tool, app)| {
        let what = move || match &app {
            Some(app) => store.fill(Word::AllowThreadIn, &[("tool", &tool), ("app", app)]),
            None => store.fill(Word::AllowThread, &[("tool", &tool)]),
        };
        let usual = if for_longer { "session" } else { "run" };
        let offered = UNTIL.iter().filter(move |(value, _)| for_longer || *value == "run");
        let until = RwSignal::new(usual.to_owned());
        let answer = move || until.with_untracked(|until| allowed_until(until));
        view! {
            <span class="for-longer">
                <button class="thread" disabled=move || no_yes() || is_edited() || has_rest.get() on:click=move |event| press(&event, Callback::new(move |by_pointer| say.run((answer(), by_pointer))))>
                    {what}
                </button>
                <select
                    class="until"
                    aria-label=move || store.say(Word::ForHowLong)
                    prop:value=move || until.get()
                    on:change=move |event| until.set(event_target_value(&event))
                >
                    {offered.map(|(value, word)| view! {
                        <option value=*value selected=*value == usual>{move || store.say(*word)}</option>
                    }).collect_view()}
                </select>
            </span>
        }
    });
    // To be understood at a glance; the whole of it stands below.
    let is_folded = is_said_whole(&approval);
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
    let tools =
        approval.call.parts().iter().map(|call| visible_text(&call.tool)).collect::<Vec<_>>().join(", ");
    let shows = move || store.fill(Word::PictureOfTarget, &[("tool", &tools)]);
    let picture = approval.picture.as_ref().and_then(|picture| thumbnail(picture, shows, enlarge));
    let read = read_before(approval.read.clone());
    let of_session = session.0.clone();
    let (asks, denies) = match &about {
        _ if words.is_some() => (Word::AgentAsks, Word::NoAnswer),
        About::Call { .. } | About::Elicitation(_) => (Word::MayI, Word::Deny),
        About::Plan { .. } => (Word::PlanAsks, Word::Deny),
        About::Result { .. } => (Word::ResultAsks, Word::ResultNot),
    };
    let risk = (matches!(about, About::Call { .. }) && words.is_none()).then_some(approval.risk);
    let has_failed = matches!(&about, About::Result { findings } if findings.iter().any(Finding::failed));
    let edits = plan.clone();
    let allows = move || match &edits {
        _ if has_rest.get() => Word::ShowRest,
        _ if words.is_some() => Word::GiveAnswer,
        None if is_edited() => Word::AskAgain,
        Some((edits, contract)) if edits.left(contract) != *contract => Word::PlanAllowChanged,
        Some(_) => Word::PlanAllow,
        None if has_failed => Word::ResultTake,
        None if risk.is_none() => Word::ResultYes,
        None => Word::AllowOnce,
    };
    let of_question = approval.call.arguments.clone();
    let yes = Callback::new(move |by_pointer: bool| {
        if no_yes() || pages() {
            return;
        }
        let answer = match (&plan, edited.get_untracked()) {
            _ if let Some(words) = words => {
                let mut arguments = of_question.clone();
                arguments["answer"] = given(&words.get_untracked()).unwrap_or_default().into();
                Answer::Edit { arguments }
            }
            (Some((edits, contract)), _) => edits.answer(contract),
            (None, None) => Answer::Once,
            (None, Some(text)) => match serde_json::from_str(&text) {
                Ok(arguments) => Answer::Edit { arguments },
                Err(error) => {
                    let message = store.fill(Word::NoJson, &[("why", &error.to_string())]);
                    return store.error.set(Some(ErrorView::new(ErrorCode::BadRequest, message)));
                }
            },
        };
        say.run((answer, by_pointer));
    });
    // While an input method composes, Enter chooses a candidate; WebKit says so by the key code alone.
    let on_enter = move |event: web_sys::KeyboardEvent| {
        let composing = event.is_composing() || event.key_code() == 229;
        // One that is held is no answer to what comes up under it.
        if event.key() == "Enter"
            && !event.repeat()
            && !event.shift_key()
            && !composing
            && is_in_answer(&event)
        {
            event.prevent_default();
            yes.run(false);
        }
    };
    let server = of_server.as_ref().map(|wanted| visible_text(&wanted.server));
    let heading = move || match &server {
        Some(server) => store.fill(Word::ServerAsks, &[("server", server)]),
        None => store.say(asks).to_owned(),
    };
    let reason = approval.reason.clone();
    let why = move || spelled(visible(&store.why(&reason)));
    let asked = match (words, about) {
        (Some(words), About::Elicitation(of)) => wanted::asked(&of, &approval.id.0, words).into_any(),
        (Some(words), _) => view! {
            <p class="question" dir="auto">{spelled(visible(&approval.reason))}</p>
            <textarea
                class="answer"
                dir="auto"
                rows="3"
                maxlength=ANSWER_CHARS
                aria-label=move || store.say(Word::YourAnswer)
                placeholder=move || store.say(Word::YourAnswer)
                prop:value=words
                on:input=move |event| words.set(event_target_value(&event))
            ></textarea>
        }
        .into_any(),
        (None, About::Call { diff, unconfined, .. }) => view! {
            {unconfined.then(|| view! { <p class="banner">{move || store.say(Word::Unconfined)}</p> })}
            <div class="what">
                <div>
                    <ul class="calls">{lines.collect_view()}</ul>
                    // The model's own reason is in it.
                    <p class="why" dir="auto">{why}</p>
                    {goes_to}
                </div>
                {picture}
            </div>
            {diff.map(|diff| super::changes::diff_view(store.say(Word::WouldChange), &diff))}
            <Arguments of=approval.call.arguments.clone() edited is_folded />
        }
        .into_any(),
        (None, About::Plan { contract, changes, forecast }) => {
            terms(&contract, &changes, forecast, shown_edits).into_any()
        }
        // Its call is always one that is answered in words.
        (None, About::Elicitation(_)) => ().into_any(),
        (None, About::Result { mut findings }) => {
            findings.retain(|finding| !finding.is_open_question());
            view! {
                <p class="why" dir="auto">{spelled(visible(&approval.reason))}</p>
                {found(findings)}
            }
            .into_any()
        }
    };

    view! {
        <section
            class="approval"
            node_ref=card
            role="alertdialog"
            data-session=of_session
            data-approval=approval.id.0.clone()
            data-own=move || of_shown.get().to_string()
            data-risk=risk.map(risk_name)
            aria-labelledby=labelled_by
            on:keydown=on_key
            on:input=move |_| presses.typed()
        >
            <header>
                {icon("shield")}
                <h3 id=title>{heading}</h3>
                <Asker session run=asker opened />
                {risk.map(|risk| view! {
                    <span class="risk" data-risk=risk_name(risk)>{move || store.say(risk_word(risk))}</span>
                    {super::way_back::mark(&approval.call, risk)}
                })}
            </header>
            <div class="asked" node_ref=asked_box on:scroll=move |_| look() on:keydown=on_enter>
                {asked}
                {read}
                {move || is_paused.get().then(|| view! { <p class="faint held">{store.say(Word::AnswerIsKept)}</p> })}
            </div>
            <footer on:mousedown=keep_field>
                <button
                    class="deny"
                    node_ref=deny
                    disabled=move || sending.get()
                    on:click=move |event| press(&event, no)
                >
                    {move || store.say(denies)}
                </button>
                <input
                    class="why-not"
                    hidden=words.is_some()
                    dir="auto"
                    maxlength=WHY_NOT_CHARS
                    aria-label=move || store.say(Word::WhyNot)
                    placeholder=move || store.say(Word::WhyNot)
                    prop:value=why_not
                    on:input=move |event| why_not.set(event_target_value(&event))
                    on:keydown=move |event| {
                        if event.key() == "Enter" && !event.is_composing() && !why_not.with_untracked(String::is_empty) {
                            say.run((Answer::Deny, false));
                        }
                    }
                />
                {remembered}
                <button class="once primary" disabled=no_yes on:click=move |event| press(&event, yes)>
                    {move || store.say(allows())}
                </button>
            </footer>
        </section>
    }
}

/// The call's arguments as they are, or as their user changes them: `edited` is what they are then. `is_folded` where they
/// are all said above.
#[component]
fn Arguments(of: serde_json::Value, edited: RwSignal<Option<String>>, is_folded: bool) -> impl IntoView {
    let store = store();
    let written = serde_json::to_string_pretty(&of).unwrap_or_default();
    let shown = StoredValue::new(of);
    let change = move |_| edited.set(Some(written.clone()));
    // The button that had the keyboard is gone by then.
    let (field, way_in) = (NodeRef::<html::Textarea>::new(), NodeRef::<html::Button>::new());
    let came_back = StoredValue::new(false);
    Effect::new(move |_| {
        if let Some(field) = field.get() {
            let _ = field.focus(); // refused while the window is hidden
        }
    });
    Effect::new(move |_| {
        if let Some(button) = way_in.get()
            && came_back.get_value()
        {
            let _ = button.focus();
        }
    });
    let back = move |_| {
        came_back.set_value(true);
        edited.set(None);
    };
    view! {
        <Show
            when=move || edited.with(Option::is_some)
            fallback=move || view! {
                <details class="whole" open=!is_folded>
                    <summary>{move || store.say(Word::Arguments)}</summary>
                    <pre class="arguments" tabindex="0" aria-label=move || store.say(Word::Arguments)>
                        {spelled(shown.with_value(visible_json))}
                    </pre>
                </details>
            }
        >
            <textarea
                class="arguments"
                node_ref=field
                dir="ltr"
                rows="4"
                spellcheck="false"
                aria-label=move || store.say(Word::Arguments)
                prop:value=move || edited.get().unwrap_or_default()
                on:input=move |event| edited.set(Some(event_target_value(&event)))
            />
        </Show>
        <Show when=move || edited.with(Option::is_none) fallback=move || view! {
            <button class="change link" on:click=back>{store.say(Word::ChangeBack)}</button>
        }>
            <button class="change link" node_ref=way_in on:click=change.clone()>{move || store.say(Word::ChangeArguments)}</button>
        </Show>
    }
}

/// How long a yes may count that is for more than one call.
const UNTIL: &[(&str, Word)] = &[
    ("run", Word::ForRun),
    ("session", Word::ForSession),
    ("day", Word::ForDay),
    ("always", Word::ForAlways),
];

fn allowed_until(chosen: &str) -> Answer {
    match chosen {
        "run" => Answer::Until { until: Until::Run },
        "day" => Answer::Until { until: Until::Day },
        "always" => Answer::Until { until: Until::Always },
        _ => Answer::Thread,
    }
}

/// What may have led the model to this. Names are others' words.
fn read_before(read: Vec<Source>) -> Option<impl IntoView> {
    let store = store();
    let name = move |source: &Source| match source {
        Source::Page { host: Some(name) } | Source::Application { name } | Source::Server { name } => {
            visible_text(name)
        }
        Source::File { path } => visible_text(path),
        Source::Page { host: None } => store.say(Word::ReadPages).to_owned(),
        Source::Screen => store.say(Word::ReadScreen).to_owned(),
        Source::Clipboard => store.say(Word::ReadClipboard).to_owned(),
        Source::Script => store.say(Word::ReadScript).to_owned(),
        Source::Search => store.say(Word::ReadSearch).to_owned(),
        Source::Terminal => store.say(Word::ReadTerminal).to_owned(),
        Source::Agenda => store.say(Word::ReadAgenda).to_owned(),
        Source::Agent => store.say(Word::ReadAgent).to_owned(),
        Source::Earlier => store.say(Word::ReadEarlier).to_owned(),
    };
    (!read.is_empty()).then(|| {
        // The newest first: it is what the model acts on.
        let list = move || read.iter().rev().take(SOURCES).map(name).collect::<Vec<_>>().join(" · ");
        view! { <p class="read" dir="auto">{move || store.fill(Word::ReadBefore, &[("list", &list())])}</p> }
    })
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
