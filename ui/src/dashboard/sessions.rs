//! The list of sessions, newest first: how each stands, who has the desktop, and a stop for each run.

use std::time::Duration;

use fold::{Desktop, Outcome, SessionState};
use leptos::wasm_bindgen::JsCast;
use leptos::{html, prelude::*};
use protocol::budget::thousands;
use protocol::command::{EditSession, ListSessions, StopRun, Which};
use protocol::escape::visible_text;
use protocol::ids::{RunId, SessionId, Timestamp};
use protocol::remembered::Tab;
use protocol::view::{Overview, RunStatus, SessionView, Shelf};

use super::find::{FindField, Finding, FoundList};
use super::tools::{self, SessionTools, TitleField, Toast, Tools};
use crate::brief;
use crate::state::State;
use crate::store::{Store, store};
use crate::widgets::entry::outcome_word;
use crate::widgets::icon::icon;
use crate::words::Word;

/// Sessions fetched where the end of the list is reached.
const PAGE: u32 = 100;
/// Pixels from the end of the list.
const NEAR_END: i32 = 200;
/// How long an age in the list may stand; it is told in minutes.
const TICK: Duration = Duration::from_secs(30);

fn now() -> Timestamp {
    Timestamp(js_sys::Date::now() as i64)
}

#[component]
pub fn Sessions() -> impl IntoView {
    let store = store();
    let list = NodeRef::<html::Ul>::new();
    let lines = store.memo(|state| {
        let open = state.overview.sessions.iter().filter(|session| session.shelf.is_open());
        fold::pinned_first(open).into_iter().map(|session| Line::new(state, session)).collect::<Vec<_>>()
    });
    let (finding, tools) = (Finding::new(), Tools::new());
    // While they are looked at in place of the others.
    let archived = RwSignal::new(None::<Vec<SessionView>>);
    // One clock for all lines, as long as the list is there.
    let clock = RwSignal::new(now());
    if let Ok(ticking) = set_interval_with_handle(move || clock.set(now()), TICK) {
        on_cleanup(move || ticking.clear());
    }
    // Timers stand still in a window that is not seen.
    let back = window_event_listener(leptos::ev::focus, move |_| clock.set(now()));
    on_cleanup(move || back.remove());
    let ids = Memo::new(move |_| {
        lines.with(|lines| lines.iter().filter_map(|line| line.id.clone()).collect::<Vec<_>>())
    });
    let begin = move |_| {
        store.show_new();
        store.tab.set(Tab::Work);
        // There once the tab is drawn.
        request_animation_frame(|| {
            let field = document().get_element_by_id("goal");
            if let Some(field) = field.and_then(|field| field.dyn_into::<web_sys::HtmlElement>().ok()) {
                let _ = field.focus(); // refused while the window is hidden
            }
        });
    };
    let fetching = RwSignal::new(false);
    let is_whole = StoredValue::new(false);
    let on_scroll = move |_| {
        let Some(list) = list.get_untracked() else { return };
        let below = list.scroll_height() - list.scroll_top() - list.client_height();
        let before = ids.with_untracked(|ids| ids.last().cloned());
        if below > NEAR_END || before.is_none() || fetching.get_untracked() || is_whole.get_value() {
            return;
        }
        fetching.set(true);
        let take = move |sessions: Vec<SessionView>| {
            is_whole.set_value(sessions.is_empty());
            store.change(|state| state.take_older_sessions(sessions));
        };
        store.send_or(ListSessions { before, limit: Some(PAGE), which: Which::Open }, take, fetching);
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
            <FindField finding />
            <FoundList finding />
            <ul
                id="sessions"
                node_ref=list
                on:scroll=on_scroll
                hidden=move || finding.found.with(Option::is_some) || archived.with(Option::is_some)
            >
                <For each=move || ids.get() key=Clone::clone let:id>
                    <Item id lines clock tools />
                </For>
            </ul>
            <Show when=move || ids.with(Vec::is_empty)>
                <p class="faint empty">{move || store.say(Word::NoSessions)}</p>
            </Show>
            <Archived archived />
            <Toast tools />
        </nav>
    }
}

/// All that a session's line shows.
#[derive(Clone, Debug, Default, PartialEq)]
struct Line {
    id: Option<SessionId>,
    name: Option<String>,
    updated: i64,
    state: SessionState,
    desktop: Desktop,
    /// The application that it works in beside its user.
    place: Option<String>,
    run: Option<RunId>,
    /// What the run does.
    detail: String,
    /// Its last run has tried to change something, and nothing of it was done.
    came_to_nothing: bool,
    is_shown: bool,
    shelf: Shelf,
}

impl Line {
    fn new(state: &State, session: &SessionView) -> Self {
        let view = &state.overview;
        let run = fold::run_in(view, &session.id);
        Self {
            id: Some(session.id.clone()),
            name: state.name_of(&session.id).map(|name| visible_text(&brief::shortened(name))),
            updated: session.updated.0,
            state: fold::session_state(view, session),
            desktop: run.map(|run| fold::desktop_of(view, &run.run)).unwrap_or_default(),
            place: run.and_then(|run| place_of(view, &run.run)),
            run: run.map(|run| run.run.clone()),
            detail: run.map(|run| visible_text(&run.status.detail)).unwrap_or_default(),
            came_to_nothing: came_to_nothing(session),
            is_shown: state.shown() == Some(&session.id),
            shelf: session.shelf.clone(),
        }
    }
}

#[component]
fn Item(id: SessionId, lines: Memo<Vec<Line>>, clock: RwSignal<Timestamp>, tools: Tools) -> impl IntoView {
    let store = store();
    let line = {
        let id = id.clone();
        let is_it = move |line: &&Line| line.id.as_ref() == Some(&id);
        Memo::new(move |_| lines.with(|lines| lines.iter().find(&is_it).cloned()).unwrap_or_default())
    };
    let open = {
        let id = id.clone();
        move |_| {
            store.tab.set(Tab::Work);
            if !line.with_untracked(|line| line.is_shown) {
                store.open_session(id.clone());
            }
        }
    };
    let name =
        move || line.with(|line| line.name.clone()).unwrap_or_else(|| store.say(Word::Untitled).to_owned());
    let below = move || {
        let Line { updated, run, detail, state, came_to_nothing, .. } = line.get();
        if run.is_some() {
            return store.told(&detail);
        }
        let (unit, n) = brief::age(clock.get(), Timestamp(updated));
        let age = store.fill(unit, &[("n", &n.to_string())]);
        match state {
            SessionState::Ended(Outcome::Completed) if came_to_nothing => {
                let end = store.say(Word::CameToNothing);
                store.fill(Word::EndedAgo, &[("end", end), ("age", &age)])
            }
            // How else it ended is not left to the colour of a dot.
            SessionState::Ended(outcome) if outcome != Outcome::Completed => {
                let end = store.say(outcome_word(outcome));
                store.fill(Word::EndedAgo, &[("end", end), ("age", &age)])
            }
            _ => age,
        }
    };
    let state = Memo::new(move |_| line.with(|line| line.state));
    let questions = Memo::new(move |_| match state.get() {
        SessionState::Asks { questions } => questions,
        _ => 0,
    });
    let desktop = Memo::new(move |_| line.with(|line| (line.desktop, line.place.clone())));
    let run = Memo::new(move |_| line.with(|line| line.run.clone()));
    let stop = move |_| {
        let run = run.get_untracked();
        if run.is_some() {
            store.send(StopRun { run });
        }
    };
    let agents = {
        let id = id.clone();
        store.memo(move |state| {
            let agents = fold::agents_in(&state.overview, &id);
            agents.into_iter().map(|(depth, run)| Branch::new(state, depth, run)).collect::<Vec<_>>()
        })
    };
    let shelf = Memo::new(move |_| line.with(|line| line.shelf.clone()));
    let (of_tools, of_more, of_title, of_rename) = (id.clone(), id.clone(), id.clone(), id.clone());
    let is_open = Memo::new(move |_| tools.open.with(|open| open.as_ref() == Some(&of_more)));
    let is_renamed = Memo::new(move |_| tools.renaming.with(|id| id.as_ref() == Some(&of_rename)));
    let more = {
        let id = id.clone();
        move |_| tools.open.update(|open| *open = (open.as_ref() != Some(&id)).then(|| id.clone()))
    };
    view! {
        <li
            data-session=id.0
            data-pinned=move || shelf.get().pinned.to_string()
            data-state=move || state.get().name()
            data-doubted=move || line.with(|line| line.came_to_nothing).to_string()
            data-desktop=move || desktop_name(desktop.get().0)
        >
            <button
                class="open"
                aria-current=move || line.with(|line| line.is_shown).then_some("page")
                on:click=open
            >
                <span class="dot" data-state=move || state.get().name()></span>
                <span class="title" dir="auto">{name}</span>
                <span class="faint" dir="auto" title=below>{below}</span>
                <span class="unseen">{move || state_word(state.get()).filter(|_| !line.with(|line| line.came_to_nothing)).map(|word| store.say(word))}</span>
                <span class="marks">
                    {move || shelf.get().pinned.then(|| view! {
                        <span class="badge">{move || store.say(Word::Pinned)}</span>
                    })}
                    {move || (questions.get() > 0).then(|| view! {
                        <span class="badge" data-effect="waiting">{count_of_questions(store, questions.get())}</span>
                    })}
                    {move || desktop_words(store, desktop.get()).map(|words| view! {
                        <span class="badge desktop" dir="auto" data-desktop=desktop_name(desktop.get().0)>{words}</span>
                    })}
                </span>
            </button>
            <Show when=move || run.with(Option::is_some)>
                <button
                    class="stop quiet"
                    title=move || store.fill(Word::StopSession, &[("name", &name())])
                    aria-label=move || store.fill(Word::StopSession, &[("name", &name())])
                    on:click=stop
                >
                    {icon("stop")}
                </button>
            </Show>
            <button
                class="more quiet"
                title=move || store.fill(Word::MoreFor, &[("name", &name())])
                aria-label=move || store.fill(Word::MoreFor, &[("name", &name())])
                aria-expanded=move || is_open.get().to_string()
                on:click=more
            >
                {icon("more")}
            </button>
            <Show when=move || agents.with(|agents| !agents.is_empty())>
                <ul class="agents" aria-label=move || store.say(Word::AgentsOf)>
                    <For each=move || agents.get() key=|agent| agent.run.clone() let:agent>
                        <Agent agent agents />
                    </For>
                </ul>
            </Show>
            <Show when=move || is_renamed.get()>
                <TitleField id=of_title.clone() title=name() tools />
            </Show>
            <Show when=move || is_open.get()>
                <SessionTools id=of_tools.clone() shelf tools />
            </Show>
        </li>
    }
}

/// An agent that another one started, below the line of its session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Branch {
    session: SessionId,
    run: RunId,
    /// From 1 for those right below the session's own.
    depth: usize,
    name: String,
    state: SessionState,
    is_paused: bool,
    desktop: Desktop,
    /// The application that it works in beside its user.
    place: Option<String>,
    /// What it does, and what it took.
    detail: String,
    took: String,
    is_shown: bool,
}

impl Branch {
    fn new(state: &State, depth: usize, run: &RunStatus) -> Self {
        let view = &state.overview;
        let questions = view.questions.iter().filter(|question| question.run == run.run).count();
        let progress = run.status.progress.as_deref();
        let cost = progress.and_then(|progress| progress.cost).map(|cost| format!("${}", cost.brief()));
        let tokens = progress.filter(|progress| progress.tokens > 0);
        let tokens = tokens.map(|progress| thousands(progress.tokens));
        let steps = format!("{}/{}", run.status.step, run.status.max_steps);
        Self {
            session: run.session.clone(),
            run: run.run.clone(),
            depth,
            name: visible_text(&brief::shortened(&run.goal)),
            state: match questions {
                0 if run.status.paused => SessionState::Paused,
                0 => SessionState::Works,
                questions => SessionState::Asks { questions },
            },
            is_paused: run.status.paused,
            desktop: fold::desktop_of(view, &run.run),
            place: place_of(view, &run.run),
            detail: visible_text(&run.status.detail),
            took: [Some(steps), cost.or(tokens)].into_iter().flatten().collect::<Vec<_>>().join(" · "),
            is_shown: state.shown() == Some(&run.session),
        }
    }
}

#[component]
fn Agent(agent: Branch, agents: Memo<Vec<Branch>>) -> impl IntoView {
    let store = store();
    let (session, run, of_memo) = (agent.session.clone(), agent.run.clone(), agent.run.clone());
    // As it was last, where it has just ended.
    let agent = Memo::new(move |before: Option<&Branch>| {
        let now = agents.with(|agents| agents.iter().find(|one| one.run == of_memo).cloned());
        now.or_else(|| before.cloned()).unwrap_or_else(|| agent.clone())
    });
    let open = move |_| {
        store.tab.set(Tab::Work);
        if !agent.with_untracked(|agent| agent.is_shown) {
            store.open_session(session.clone());
        }
    };
    let stop = {
        let run = run.clone();
        move |_| store.send(StopRun { run: Some(run.clone()) })
    };
    let stop_words = move || agent.with(|agent| store.fill(Word::StopSession, &[("name", &agent.name)]));
    let state = Memo::new(move |_| agent.with(|agent| agent.state));
    let desktop = Memo::new(move |_| agent.with(|agent| (agent.desktop, agent.place.clone())));
    let detail = move || agent.with(|agent| store.told(&agent.detail));
    view! {
        <li
            data-run=run.0
            data-depth=move || agent.with(|agent| agent.depth.min(4).to_string())
            data-state=move || state.get().name()
            data-desktop=move || desktop_name(desktop.get().0)
        >
            <button
                class="open"
                aria-current=move || agent.with(|agent| agent.is_shown).then_some("page")
                on:click=open
            >
                <span class="dot" data-state=move || state.get().name()></span>
                <span class="title" dir="auto">{move || agent.with(|agent| agent.name.clone())}</span>
                <span class="faint" dir="auto" title=detail>{detail}</span>
                <span class="unseen">{move || state_word(state.get()).map(|word| store.say(word))}</span>
                <span class="marks">
                    <span class="took">{move || agent.with(|agent| agent.took.clone())}</span>
                    {move || matches!(state.get(), SessionState::Asks { .. }).then(|| view! {
                        <span class="badge" data-effect="waiting">{store.say(Word::OneQuestion)}</span>
                        {agent.with(|agent| agent.is_paused).then(|| view! {
                            <span class="badge">{store.say(Word::PausedMark)}</span>
                        })}
                    })}
                    {move || desktop_words(store, desktop.get()).map(|words| view! {
                        <span class="badge desktop" dir="auto" data-desktop=desktop_name(desktop.get().0)>{words}</span>
                    })}
                </span>
            </button>
            <button class="stop quiet" title=stop_words aria-label=stop_words on:click=stop>
                {icon("stop")}
            </button>
        </li>
    }
}

/// The archived sessions, in place of the others while they are looked at.
#[component]
fn Archived(archived: RwSignal<Option<Vec<SessionView>>>) -> impl IntoView {
    let store = store();
    let toggle = move |_| match archived.get_untracked() {
        Some(_) => archived.set(None),
        None => {
            let command = ListSessions { before: None, limit: Some(1_000), which: Which::Archived };
            store.send_then(command, move |found| archived.set(Some(found)));
        }
    };
    let item = move |session: SessionView| {
        let title = visible_text(&brief::shortened(&session.title));
        let (id, back) = (session.id.clone(), session.id.clone());
        let open = move |_| {
            let session = session.clone();
            store.change(|state| state.take_older_sessions(vec![session]));
            store.tab.set(Tab::Work);
            store.open_session(id.clone());
        };
        let unarchive = move |_| {
            let edit = EditSession { archived: Some(false), ..tools::edit(&back) };
            store.send_then(edit, move |_| archived.set(None));
        };
        view! {
            <li>
                <button class="open" on:click=open><span class="title" dir="auto">{title}</span></button>
                <button class="quiet" on:click=unarchive>{move || store.say(Word::Unarchive)}</button>
            </li>
        }
    };
    view! {
        <Show when=move || archived.with(Option::is_some)>
            <ul id="archived">
                {move || archived.get().unwrap_or_default().into_iter().map(item).collect_view()}
            </ul>
            <Show when=move || archived.with(|archived| archived.as_ref().is_some_and(Vec::is_empty))>
                <p class="faint empty">{move || store.say(Word::NothingFound)}</p>
            </Show>
        </Show>
        <button id="show-archived" class="quiet" aria-pressed=move || archived.with(Option::is_some).to_string() on:click=toggle>
            {move || store.say(if archived.with(Option::is_some) { Word::HideArchived } else { Word::ShowArchived })}
        </button>
    }
}

/// Whether its last run has tried to change something, and nothing of it was done, whatever its model said.
fn came_to_nothing(session: &SessionView) -> bool {
    let tried = session.last_run.as_ref().filter(|run| run.end.is_some()).and_then(|run| run.tried.as_ref());
    tried.is_some_and(|tried| tried.came_to_nothing())
}

fn count_of_questions(store: Store, n: usize) -> String {
    match n {
        1 => store.say(Word::OneQuestion).to_owned(),
        n => store.fill(Word::Questions, &[("n", &n.to_string())]),
    }
}

fn desktop_name(desktop: Desktop) -> &'static str {
    match desktop {
        Desktop::Has => "has",
        Desktop::Beside => "beside",
        Desktop::Waits { .. } => "waits",
        Desktop::Nothing => "nothing",
    }
}

/// Shortened for a badge.
fn place_of(view: &Overview, run: &RunId) -> Option<String> {
    let window = fold::beside(view, run)?.window.as_ref()?;
    Some(visible_text(&brief::shortened(&window.app)))
}

fn desktop_words(store: Store, (desktop, place): (Desktop, Option<String>)) -> Option<String> {
    match desktop {
        Desktop::Has => Some(store.say(Word::HasDesktop).to_owned()),
        Desktop::Beside => place.map(|app| store.fill(Word::WorksInApp, &[("app", &app)])),
        Desktop::Waits { before: 0 } => Some(store.say(Word::NextForDesktop).to_owned()),
        Desktop::Waits { before } => {
            Some(store.fill(Word::InLineForDesktop, &[("n", &(before + 1).to_string())]))
        }
        Desktop::Nothing => None,
    }
}

fn state_word(state: SessionState) -> Option<Word> {
    match state {
        SessionState::New => None,
        SessionState::Works => Some(Word::Running),
        SessionState::Asks { .. } => Some(Word::AsksYou),
        SessionState::Paused => Some(Word::Paused),
        SessionState::Ended(Outcome::Completed) => Some(Word::Completed),
        // Said below its title.
        SessionState::Ended(_) => None,
    }
}
