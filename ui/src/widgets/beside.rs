//! Where the shown session's run works with a pointer of its own, and how its user sees that window, or has it.

use leptos::prelude::*;
use protocol::command::BringUpWindow;
use protocol::escape::visible_text;
use protocol::view::BesideView;

use super::icon::icon;
use crate::brief;
use crate::store::store;
use crate::words::Word;

/// The colours of pointers in the overlay, told apart by those who see few, too (Okabe and Ito, 2008).
const COLORS: [&str; 6] = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#d55e00"];

pub fn color(beside: &BesideView) -> &'static str {
    COLORS[usize::from(beside.color) % COLORS.len()]
}

#[component]
pub fn Beside() -> impl IntoView {
    let store = store();
    let beside = store.memo(|state| {
        let run = state.run_shown()?;
        fold::beside(&state.overview, &run.run).cloned().filter(|beside| beside.window.is_some())
    });
    let is_paused = store.memo(|state| state.run_shown().is_some_and(|run| run.status.paused));
    let bring_up = move |take| {
        if let Some(BesideView { run, .. }) = beside.get_untracked() {
            store.send(BringUpWindow { run, take });
        }
    };
    let place = move || {
        let mut window = beside.get()?.window?;
        for text in [&mut window.app, &mut window.title] {
            *text = brief::shortened(text);
        }
        Some(store.fill(Word::WorksBeside, &[("window", &visible_text(&window.to_string()))]))
    };
    view! {
        <Show when=move || beside.with(Option::is_some)>
            <div class="beside" role="group" aria-label=place style:--pointer=move || beside.with(|beside| beside.as_ref().map(color))>
                <span class="dot" aria-hidden="true"></span>
                <span class="where" dir="auto" title=place>{place}</span>
                <button
                    id="show-window"
                    class="quiet"
                    title=move || store.say(Word::ShowItsWindowTip)
                    on:click=move |_| bring_up(false)
                >
                    {icon("screenshot")}
                    <span>{move || store.say(Word::ShowItsWindow)}</span>
                </button>
                <button
                    id="take-window"
                    class="quiet"
                    title=move || store.say(Word::TakeItsWindowTip)
                    disabled=move || is_paused.get()
                    on:click=move |_| bring_up(true)
                >
                    {icon("pause")}
                    <span>{move || store.say(Word::TakeItsWindow)}</span>
                </button>
            </div>
        </Show>
    }
}
