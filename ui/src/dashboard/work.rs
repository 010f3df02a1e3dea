//! The work of one session: its steps, open questions, and the goal field with what a run is started with.

use fold::Transcript;
use fold::transcript::{Entry, EntryId};
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::closure::Closure;
use leptos::{html, prelude::*};
use protocol::command::{ChooseFolder, EditSession, RunOverrides, TakeBackGrant};
use protocol::escape::{untwisted, visible_text};
use protocol::ids::SessionId;
use protocol::tool::{ApprovalMode, Grant, Mode};

use crate::brief;
use crate::fields::APPROVALS;
use crate::state::State;
use crate::store::store;
use crate::widgets::approval::Approvals;
use crate::widgets::budget::NextForecast;
use crate::widgets::entry::EntryItem;
use crate::widgets::goal::{Aim, Goal};
use crate::widgets::icon::icon;
use crate::widgets::picture::{Enlarged, Large};
use crate::words::Word;

/// Pixels from the end within which the list follows what is new.
const NEAR_END: i32 = 120;
/// Pixels from the beginning within which older entries are fetched.
const NEAR_START: i32 = 240;
/// Milliseconds after a wheel or key within which the list scrolls by its reader's hand, on a busy machine, too.
const BY_HAND: f64 = 2_000.0;
/// Milliseconds after a change of the list within which it scrolls by itself, and at least two frames, which may take longer:
/// an entry that is drawn anew is gone for a moment, and what is above it moves down.
const REDRAWN: f64 = 400.0;

#[component]
pub fn Work(opened: Callback<()>) -> impl IntoView {
    let enlarged = RwSignal::new(None::<Enlarged>);
    view! {
        <Story enlarge=Callback::new(move |picture| enlarged.set(Some(picture))) />
        <Allowed />
        <Approvals opened />
        <Composer />
        <Large enlarged />
    }
}

/// An entry as it is drawn: session, entry and revision name the content.
type Key = (Option<SessionId>, EntryId, u32);

/// The list of steps; stays at its end while the reader is there, and fetches older ones where its beginning is reached.
#[component]
fn Story(enlarge: Callback<Enlarged>) -> impl IntoView {
    let store = store();
    let frame = NodeRef::<html::Div>::new();
    let list = NodeRef::<html::Ol>::new();
    let follows = RwSignal::new(true);
    // Where the last entry was when older ones were asked for.
    let before_older = StoredValue::new(None::<i32>);
    let last_offset = move || {
        let last = list.get_untracked().and_then(|list| list.last_element_child());
        last.and_then(|last| last.dyn_into::<web_sys::HtmlElement>().ok()).map(|last| last.offset_top())
    };
    // A streamed word touches no entry.
    let keys = store.memo(|state| {
        let session = state.shown().cloned();
        let named = |entry: &Entry| (session.clone(), entry.id, entry.revision);
        let entries = state.transcript().map(Transcript::entries).unwrap_or_default();
        entries.iter().map(named).collect::<Vec<Key>>()
    });
    let oldest =
        Memo::new(move |_| keys.with(|keys| keys.first().map(|(session, id, _)| (session.clone(), *id))));
    let streaming = store
        .memo(|state| state.transcript().map(|transcript| transcript.streaming.clone()).unwrap_or_default());
    let shown = store.memo(|state| state.shown().cloned());
    let has_older = store.memo(State::has_older);
    // Their cards take room from the story.
    let asked = store.memo(|state| state.overview.questions.len());
    let last_top = StoredValue::new(0);
    let (changed, hand) = (StoredValue::new(0.0), StoredValue::new(0.0));
    // Changes so far, and how many of them were drawn.
    let (changes, drawn) = (StoredValue::new(0_u32), StoredValue::new(0_u32));
    let note_change = move || {
        changed.set_value(js_sys::Date::now());
        let this = changes.get_value() + 1;
        changes.set_value(this);
        request_animation_frame(move || {
            request_animation_frame(move || {
                drawn.try_update_value(|drawn| *drawn = this.max(*drawn));
            });
        });
    };
    let empty = Memo::new(move |_| {
        keys.with(Vec::is_empty) && streaming.with(|streaming| *streaming == Default::default())
    });
    // A memo that is only tracked, and read nowhere, is never looked at again: these are read.
    Effect::new(move |_| {
        shown.with(|_| ());
        follows.set(true);
        // An emptied page is scrolled to its start by the browser, and tells so when the next one stands there already:
        // nobody has scrolled up.
        last_top.set_value(0);
        before_older.set_value(None);
    });
    // A run that begins is followed, wherever its user has read until then.
    let run = store.memo(|state| state.run_shown().map(|run| run.run.clone()));
    Effect::new(move |_| {
        if run.with(Option::is_some) {
            follows.set(true);
            store.reads_back(false);
        }
    });
    let stay_at_end = move || {
        if let Some(frame) = frame.get_untracked()
            && follows.get_untracked()
        {
            frame.set_scroll_top(frame.scroll_height());
            last_top.set_value(frame.scroll_top());
        }
    };
    Effect::new(move |_| {
        keys.track();
        streaming.track();
        asked.with(|_| ());
        note_change();
        request_animation_frame(stay_at_end);
    });
    // Pictures come late, a card below goes, an entry is drawn anew: whatever changes what is in view, its end stays in it.
    let grown = Closure::<dyn FnMut()>::new(move || {
        note_change();
        stay_at_end();
    });
    if let Ok(sizes) = web_sys::ResizeObserver::new(grown.as_ref().unchecked_ref()) {
        let kept = StoredValue::new_local((sizes.clone(), grown));
        Effect::new(move |_| {
            if let (Some(frame), Some(list)) = (frame.get(), list.get()) {
                kept.with_value(|(sizes, _)| {
                    sizes.observe(&frame);
                    sizes.observe(&list);
                });
            }
        });
        on_cleanup(move || sizes.disconnect());
    }
    // What is read stays where it is while older entries come in above it.
    Effect::new(move |_| {
        oldest.with(|_| ());
        let Some(before) = before_older.get_value() else { return };
        before_older.set_value(None);
        request_animation_frame(move || {
            if let (Some(frame), Some(now)) = (frame.get_untracked(), last_offset()) {
                frame.set_scroll_top(frame.scroll_top() + now - before);
                last_top.set_value(frame.scroll_top());
            }
        });
    });
    let read_older = move || {
        before_older.set_value(last_offset());
        store.read_older();
    };
    let on_scroll = move |_| {
        let Some(frame) = frame.get_untracked() else { return };
        let below = frame.scroll_height() - frame.scroll_top() - frame.client_height();
        // Only who scrolls up reads back: a card that comes in below, or an entry that grows, moves nothing up.
        let (top, before) = (frame.scroll_top(), last_top.get_value());
        last_top.set_value(top);
        let now = js_sys::Date::now();
        let is_redrawn = now - changed.get_value() < REDRAWN || drawn.get_value() < changes.get_value();
        let by_itself = is_redrawn && now - hand.get_value() > BY_HAND;
        let follow = below < NEAR_END || (follows.get_untracked() && (top >= before || by_itself));
        if follow && by_itself {
            stay_at_end();
        }
        if follows.get_untracked() != follow {
            follows.set(follow);
            store.reads_back(!follow);
        }
        let is_long = frame.scroll_height() > frame.client_height();
        if is_long && frame.scroll_top() < NEAR_START && has_older.get_untracked() {
            read_older();
        }
    };
    let touched = move || hand.set_value(js_sys::Date::now());
    // A key that answers a card, or writes, moves nothing here.
    let keys_pressed = window_event_listener(leptos::ev::keydown, move |event| {
        if matches!(&*event.key(), "ArrowUp" | "PageUp" | "Home" | " ") && !is_elsewhere(&event) {
            touched();
        }
    });
    on_cleanup(move || keys_pressed.remove());
    let to_newest = move |_| {
        follows.set(true);
        store.reads_back(false);
        stay_at_end();
    };
    let item = move |(_, id, _): Key| {
        store
            .peek(|state| state.transcript().and_then(|transcript| transcript.entry(id)).cloned())
            .map(|entry| view! { <EntryItem entry enlarge /> })
    };

    view! {
        <div
            class="story"
            node_ref=frame
            on:scroll=on_scroll
            on:wheel=move |_| touched()
            on:pointerdown=move |_| touched()
            on:touchmove=move |_| touched()
        >
            <BackUp />
            <Show when=move || empty.get()>
                <div class="welcome">
                    <h1>{move || store.say(Word::WelcomeTitle)}</h1>
                    <p>{move || store.say(Word::WelcomeText)}</p>
                </div>
            </Show>
            <Show when=move || has_older.get()>
                <button id="earlier" class="quiet" on:click=move |_| read_older()>
                    {move || store.say(Word::EarlierSteps)}
                </button>
            </Show>
            <ol id="steps" node_ref=list aria-label=move || store.say(Word::Steps)>
                <For each=move || keys.get() key=Clone::clone children=item />
            </ol>
            <Streamed />
            <button id="newest" hidden=move || follows.get() on:click=to_newest>
                {icon("down")}
                <span>{move || store.say(Word::Newest)}</span>
            </button>
        </div>
    }
}

/// From an agent's page to that of the one that it works for.
#[component]
fn BackUp() -> impl IntoView {
    let store = store();
    let above = store.memo(State::above);
    let button = move |(session, name): (SessionId, String)| {
        let title = visible_text(&brief::shortened(&name));
        view! {
            <button id="back-up" class="quiet" dir="auto" on:click=move |_| store.open_session(session.clone())>
                {move || store.fill(Word::BackTo, &[("title", &title)])}
            </button>
        }
    };
    move || above.get().map(button)
}

/// Whether a key is for a field, or for what asks.
fn is_elsewhere(event: &web_sys::KeyboardEvent) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    target.is_some_and(|target| matches!(target.closest("textarea, input, select, .approvals"), Ok(Some(_))))
}

/// What the run shown does without asking, since its user allowed it for the run or the session; each can be taken back.
#[component]
fn Allowed() -> impl IntoView {
    let store = store();
    let run = store.memo(|state| state.run_shown().map(|run| run.run.clone()));
    let grants = store.memo(|state| state.status().grants);
    // A question wants the room.
    let list = NodeRef::<html::Details>::new();
    let questions = store.memo(|state| state.questions().len());
    Effect::new(move |_| {
        if questions.get() > 0
            && let Some(list) = list.get()
        {
            list.set_open(false);
        }
    });
    let row = move |grant: Grant| {
        let (tool, app) = (visible_text(&grant.tool), grant.app.as_deref().map(visible_text));
        let what = move || match &app {
            Some(app) => store.fill(Word::GrantOf, &[("tool", &tool), ("app", app)]),
            None => tool.clone(),
        };
        let take_back = move |_| {
            if let Some(run) = run.get_untracked() {
                store.send(TakeBackGrant { run, grant: grant.clone() });
            }
        };
        view! {
            <li class="grant">
                <span dir="auto">{what}</span>
                <button on:click=take_back>{move || store.say(Word::TakeBack)}</button>
            </li>
        }
    };
    view! {
        <Show when=move || run.with(Option::is_some) && !grants.with(Vec::is_empty)>
            <details id="allowed" node_ref=list>
                <summary>{move || store.fill(Word::AllowedHere, &[("n", &grants.with(Vec::len).to_string())])}</summary>
                <ul class="grants">{move || grants.get().into_iter().map(row).collect_view()}</ul>
            </details>
        </Show>
    }
}

/// The model's words as they come.
#[component]
fn Streamed() -> impl IntoView {
    let store = store();
    let streaming = store
        .memo(|state| state.transcript().map(|transcript| transcript.streaming.clone()).unwrap_or_default());
    let text = Memo::new(move |_| streaming.with(|streaming| untwisted(&streaming.text)));
    let thinking = Memo::new(move |_| streaming.with(|streaming| untwisted(&streaming.thinking)));
    view! {
        <Show when=move || !text.with(String::is_empty) || !thinking.with(String::is_empty)>
            <div class="turn streaming" aria-live="off">
                <span class="who">{move || store.say(Word::Model)}</span>
                <Show when=move || !thinking.with(String::is_empty) && text.with(String::is_empty)>
                    <p class="thought" dir="auto">{thinking}</p>
                </Show>
                <p dir="auto">{text}<span class="caret" aria-hidden="true"></span></p>
            </div>
        </Show>
    }
}

/// Goal field, mode, approval and search. With a session they change it; without one they go with the first run.
#[component]
fn Composer() -> impl IntoView {
    let store = store();
    let session = store.memo(|state| state.shown().cloned());
    let chosen = store.memo(|state| state.chosen().cloned());
    let next = RwSignal::new(RunOverrides::default());
    let mode = move || store.read(|state| state.mode());
    let mode = Memo::new(move |_| {
        session.with(Option::is_none).then(|| next.get().mode).flatten().unwrap_or_else(mode)
    });
    let approval = move || store.read(|state| state.approval_mode());
    let approval = Memo::new(move |_| {
        session.with(Option::is_none).then(|| next.get().approval).flatten().unwrap_or_else(approval)
    });
    let search = move || store.read(|state| state.search());
    let search = Memo::new(move |_| {
        session.with(Option::is_none).then(|| next.get().search).flatten().unwrap_or_else(search)
    });
    let folder = move || store.read(State::space);
    let folder = Memo::new(move |_| {
        session.with(Option::is_none).then(|| next.get().space).flatten().unwrap_or_else(folder)
    });
    let choosing = RwSignal::new(false);
    let choose_folder = move |_| {
        choosing.set(true);
        let session = session.get_untracked();
        let begins = session.is_none();
        // A session's own is said by the engine; a new one takes it along.
        let take = move |folder: Option<String>| {
            if let (true, Some(folder)) = (begins, folder) {
                store.touch();
                next.update(|next| next.space = Some(folder));
            }
        };
        store.send_or(ChooseFolder { session }, take, choosing);
    };
    let set = move |set: RunOverrides| match session.get_untracked() {
        Some(session) => {
            let RunOverrides { mode, approval, search, .. } = set;
            if approval.is_some() {
                store.choose();
            }
            store.send(EditSession {
                session,
                title: None,
                mode,
                approval,
                search,
                pinned: None,
                archived: None,
            });
        }
        None => {
            store.touch();
            next.update(|next| {
                next.mode = set.mode.or(next.mode);
                next.approval = set.approval.or(next.approval);
                next.search = set.search.or(next.search);
            });
        }
    };
    let aim = Aim {
        overrides: Signal::derive(move || {
            if session.with(Option::is_none) {
                return next.get();
            }
            RunOverrides {
                approval: chosen.with(Option::is_none).then(|| approval.get()),
                ..RunOverrides::default()
            }
        }),
        started: Callback::new(move |()| next.set(RunOverrides::default())),
    };
    let switch = move |which: Mode, id: &'static str, word: Word, title: Word| {
        view! {
            <button
                id=id
                role="radio"
                aria-checked=move || (mode.get() == which).to_string()
                title=move || store.say(title)
                on:click=move |_| set(RunOverrides { mode: Some(which), ..RunOverrides::default() })
            >
                {move || store.say(word)}
            </button>
        }
    };
    let chosen = move |event: web_sys::Event| {
        let approval = Some(approval_of(&event_target_value(&event)));
        set(RunOverrides { approval, ..RunOverrides::default() });
    };
    let searches = move |event: web_sys::Event| {
        set(RunOverrides { search: Some(event_target_checked(&event)), ..RunOverrides::default() });
    };

    view! {
        <section class="composer">
            <Goal aim rows=2 />
            <div class="with">
                <div class="switch" role="radiogroup" aria-label=move || store.say(Word::Mode)>
                    {switch(Mode::Plan, "mode-plan", Word::Plan, Word::PlanTitle)}
                    {switch(Mode::Act, "mode-act", Word::Act, Word::ActTitle)}
                </div>
                <label class="pick">
                    <span class="faint">{move || store.say(Word::ApprovalMode)}</span>
                    <select id="approval-mode" prop:value=move || approval_name(approval.get()) on:change=chosen>
                        {APPROVALS.iter().map(|(value, word)| view! {
                            <option value=*value selected=move || approval_name(approval.get()) == *value>
                                {move || store.say(*word)}
                            </option>
                        }).collect_view()}
                    </select>
                </label>
                <label class="pick" title=move || store.say(Word::SearchTitle)>
                    <input
                        id="search"
                        type="checkbox"
                        role="switch"
                        prop:checked=move || search.get()
                        on:change=searches
                    />
                    <span class="faint">{move || store.say(Word::Search)}</span>
                </label>
                <button
                    id="folder"
                    class="quiet folder"
                    title=move || store.fill(Word::FolderTitle, &[("folder", &visible_text(&folder.get()))])
                    disabled=move || choosing.get()
                    on:click=choose_folder
                >
                    {icon("folder")}
                    <span dir="auto">{move || visible_text(&brief::folder(&folder.get()))}</span>
                </button>
                <NextForecast />
                <span class="spring"></span>
                <span class="faint keys-hint">{move || store.say(Word::ComposerHint)}</span>
            </div>
        </section>
    }
}

fn approval_name(mode: ApprovalMode) -> &'static str {
    match mode {
        ApprovalMode::Ask => "ask",
        ApprovalMode::Thread => "thread",
        ApprovalMode::Auto => "auto",
    }
}

/// Anything unexpected asks.
fn approval_of(name: &str) -> ApprovalMode {
    match name {
        "thread" => ApprovalMode::Thread,
        "auto" => ApprovalMode::Auto,
        _ => ApprovalMode::Ask,
    }
}
