//! The short wait before what has just come up can be agreed to: a press that was meant for what stood there before, or for
//! nothing, is no yes to it.

use std::time::Duration;

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;

use crate::store::Store;

/// A yes within half a second of seeing the question was meant for something else; the rest is for painting it.
pub const NO_YES_BEFORE: Duration = Duration::from_millis(600);

/// All that stands among the cards and asks: where one of them goes, another may slide under the pointer, and none takes a yes
/// that was meant for that one.
pub fn cards(store: Store) -> Memo<Vec<String>> {
    store.memo(|state| {
        let questions = state.questions().into_iter().map(|asked| asked.approval.id.0);
        let waiting = state.overview.runs.iter().filter(|run| run.status.wants_word);
        questions.collect::<Vec<_>>().into_iter().chain(waiting.map(|run| run.run.0.clone())).collect()
    })
}

/// Whether what `changes` tracks has stood as it is for a while in which nobody pressed: each press begins the wait anew, so
/// that whoever presses again and again agrees to nothing.
pub fn ready(changes: impl Fn() + 'static) -> RwSignal<bool> {
    let ready = RwSignal::new(false);
    let waits = StoredValue::new(0_u32);
    let wait = move || {
        ready.set(false);
        let turn = waits.get_value() + 1;
        waits.set_value(turn);
        let open = move || {
            if waits.try_get_value() == Some(turn) {
                ready.set(true);
            }
        };
        set_timeout(open, NO_YES_BEFORE);
    };
    Effect::new(move |_| {
        changes();
        wait();
    });
    let press = move || {
        if ready.try_get_untracked() == Some(false) {
            wait();
        }
    };
    let pressed = window_event_listener(leptos::ev::pointerdown, move |_| press());
    on_cleanup(move || pressed.remove());
    let typed = window_event_listener(leptos::ev::keydown, move |event| {
        let on = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        let answers = on.is_some_and(|on| matches!(on.closest("button, .answer, .choice"), Ok(Some(_))));
        let presses = answers && matches!(&*event.key(), "Enter" | " ");
        if presses {
            press();
        }
    });
    on_cleanup(move || typed.remove());
    ready
}
