//! The goal field: says a goal, or something to the run under way in the session shown.

use leptos::wasm_bindgen::JsCast;
use leptos::{html, prelude::*};
use protocol::command::{RunOverrides, StartedRun};
use protocol::remembered::Change;

use super::icon::icon;
use crate::goal::{Said, said};
use crate::recall::{Caret, Walk};
use crate::store::store;
use crate::words::Word;

/// What the next goal of the page's session is started with.
#[derive(Clone, Copy)]
pub struct Aim {
    pub overrides: Signal<RunOverrides>,
    pub started: Callback<()>,
}

/// Field and button. Enter runs, Shift+Enter makes a line, Up and Down walk through earlier goals.
#[component]
pub fn Goal(aim: Aim, rows: u32, #[prop(optional)] field: NodeRef<html::Textarea>) -> impl IntoView {
    let store = store();
    let (text, walk) = (store.typed, store.walk);
    let sending = RwSignal::new(false);
    let steers = store.memo(|state| state.run_shown().is_some());
    let empty = move || text.with(|text| text.trim().is_empty());

    let submit = move || {
        let typed = text.get_untracked().trim().to_owned();
        if typed.is_empty() || sending.get_untracked() {
            return;
        }
        let page = store.peek(|state| state.shown().cloned());
        let (session, overrides) = (page.clone(), aim.overrides.get_untracked());
        let goal = Change::Goal(typed.clone());
        let Some(said) = store.peek(|state| Some(said(state, typed, session, overrides))) else { return };
        sending.set(true);
        // Refused words stay in the field, and so do those that were typed since.
        let sent = text.get_untracked();
        let done = move |goal| {
            if text.with_untracked(|text| *text == sent) {
                text.set(String::new());
            }
            walk.update_value(Walk::sent);
            store.remember(goal);
        };
        match said {
            Said::ToRun(steer) => store.send_or(steer, move |()| done(goal), sending),
            Said::GoOn(resume) => store.send_or(resume, move |()| done(goal), sending),
            Said::Goal(start) => {
                let started = move |run: StartedRun| {
                    done(goal);
                    // A page that the user chose since stays.
                    let stayed = store.peek(|state| state.shown() == page.as_ref());
                    if stayed && page.as_ref() != Some(&run.session) {
                        store.open_begun(run.session);
                    }
                    aim.started.run(());
                };
                store.send_or(*start, started, sending);
            }
        }
    };
    // While an input method composes, Enter chooses a candidate; WebKit says so by the key code alone.
    let on_key = move |event: web_sys::KeyboardEvent| {
        let composing = event.is_composing() || event.key_code() == 229;
        let plain = !(event.shift_key() || event.ctrl_key() || event.alt_key() || event.meta_key());
        if composing {
            return;
        }
        match event.key().as_str() {
            "Enter" if !event.shift_key() => {
                event.prevent_default();
                submit();
            }
            key @ ("ArrowUp" | "ArrowDown") if plain => {
                let Some(field) = event.target().and_then(|field| field.dyn_into().ok()) else { return };
                let Some(caret) = caret_in(&field) else { return };
                let typed = text.get_untracked();
                let line = walk.try_update_value(|walk| match key {
                    "ArrowUp" => {
                        let goals = store.remembered.with_untracked(|remembered| remembered.goals.clone());
                        walk.older(&goals, &typed, caret)
                    }
                    _ => walk.newer(&typed, caret),
                });
                if let Some(line) = line.flatten() {
                    event.prevent_default();
                    store.touch();
                    field.set_value(&line); // puts the caret at its end
                    text.set(line);
                }
            }
            _ => {}
        }
    };
    let hint = move || store.say(if steers.get() { Word::SteerPlaceholder } else { Word::GoalPlaceholder });
    let verb = move || store.say(if steers.get() { Word::Tell } else { Word::Run });

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
                on:input=move |event| {
                    store.touch();
                    text.set(event_target_value(&event));
                }
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

/// `None` if a part is selected.
fn caret_in(field: &web_sys::HtmlTextAreaElement) -> Option<Caret> {
    let (start, end) = (field.selection_start().ok()??, field.selection_end().ok()??);
    let units: Vec<u16> = field.value().encode_utf16().collect();
    let before = String::from_utf16_lossy(units.get(..start as usize)?);
    (start == end).then(|| Caret {
        is_on_first_row: before.is_empty() || is_one_row(field, &before).unwrap_or(false),
        is_at_end: end as usize == units.len(),
    })
}

/// Whether the text is drawn in one row of the field.
fn is_one_row(field: &web_sys::HtmlTextAreaElement, text: &str) -> Option<bool> {
    if text.contains('\n') {
        return Some(false);
    }
    let style = window().get_computed_style(field).ok()??;
    let canvas: web_sys::HtmlCanvasElement = document().create_element("canvas").ok()?.dyn_into().ok()?;
    let pen: web_sys::CanvasRenderingContext2d = canvas.get_context("2d").ok()??.dyn_into().ok()?;
    pen.set_font(&style.get_property_value("font").ok()?);
    let length = |name: &str| style.get_property_value(name).ok()?.strip_suffix("px")?.parse::<f64>().ok();
    let room = f64::from(field.client_width()) - length("padding-left")? - length("padding-right")?;
    Some(pen.measure_text(text).ok()?.width() <= room)
}
