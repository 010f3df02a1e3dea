//! A run's way back: what can be taken back of it and what stays are said before the button that does it.

use fold::way_back::WayBack;
use leptos::prelude::*;
use protocol::escape::visible_text;
use protocol::tool::{ASK_HUMAN, Changed, Risk, ToolCall};

use super::changes::undo_button;
use crate::store::{Store, store};
use crate::words::Word;

/// Empty if there is nothing to take back, and nothing that stays.
pub fn way_back(way: WayBack) -> impl IntoView {
    let store = store();
    let WayBack { run: Some(run), back, stays, .. } = way else { return ().into_any() };
    let (n, m) = (back.len(), stays.len());
    let summary = move || match (n.to_string(), m.to_string()) {
        (_, m) if n == 0 => store.fill(Word::WayBackNone, &[("m", &m)]),
        (n, _) if m == 0 => store.fill(Word::WayBackAll, &[("n", &n)]),
        (n, m) => store.fill(Word::WayBackSome, &[("n", &n), ("m", &m)]),
    };
    if (n, m) == (0, 0) {
        return ().into_any();
    }
    let back = back.into_iter().map(|(of, name)| {
        let name = visible_text(&name);
        view! { <li dir="auto">{move || said(store, of, &name)}</li> }
    });
    let stay = (!stays.is_empty()).then(|| {
        let stays = stays.into_iter().map(|line| view! { <li dir="auto">{visible_text(&line)}</li> });
        view! {
            <h4>{move || store.say(Word::WayBackStays)}</h4>
            <ul class="stays">{stays.collect_view()}</ul>
        }
    });
    view! {
        <details class="way-back">
            <summary>{summary}</summary>
            {(n > 0).then(|| view! {
                <h4>{move || store.say(Word::WayBackGoes)}</h4>
                <ul class="back">{back.collect_view()}</ul>
            })}
            {stay}
            {(n > 0).then(|| view! {
                <p class="faint">{move || store.say(Word::WayBackNote)}</p>
                {undo_button(Some(run), None, Word::UndoRun)}
            })}
        </details>
    }
    .into_any()
}

fn said(store: Store, of: Changed, name: &str) -> String {
    let word = match of {
        Changed::File => Word::ChangedFile,
        Changed::Event => Word::ChangedEvent,
        Changed::Reminder => Word::ChangedReminder,
        Changed::Value => Word::ChangedValue,
        Changed::Window => Word::ChangedWindow,
        Changed::Clipboard => return store.say(Word::ChangedClipboard).to_owned(),
    };
    store.fill(word, &[("name", name)])
}

/// Whether a call that is asked about could be taken back. Of what only looks nothing is said, and of what is grave its
/// risk says it.
pub fn mark(call: &ToolCall, risk: Risk) -> Option<impl IntoView + use<>> {
    let store = store();
    let (can, word) = match call.can_be_taken_back() {
        true if call.may_not_be_kept() => ("true", Word::MayBeTakenBack),
        true => ("true", Word::CanBeTakenBack),
        false => ("false", Word::CannotBeTakenBack),
    };
    (risk == Risk::Edit && call.tool != ASK_HUMAN).then(|| {
        view! { <span class="can-go-back" data-can=can>{move || store.say(word)}</span> }
    })
}
