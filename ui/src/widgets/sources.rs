//! What an answer rests on: numbered, with title, host and address. Text to be selected and copied: a window of ours leads
//! nowhere.

use leptos::prelude::*;
use protocol::citation::Citation;
use protocol::escape::visible_text;

use crate::store::store;
use crate::words::Word;

/// The list of sources; `None` if nothing is cited.
pub fn sources(citations: &[Citation]) -> Option<impl IntoView + use<>> {
    let store = store();
    (!citations.is_empty()).then(|| {
        view! {
            <ol class="sources" aria-label=move || store.say(Word::Sources)>
                {citations.iter().map(source).collect_view()}
            </ol>
        }
    })
}

/// Title and address are others' words: whatever could not be seen in them, or turns the reading about, is spelled out.
fn source(citation: &Citation) -> impl IntoView + use<> {
    let host = citation.host().map(visible_text);
    let url = visible_text(&citation.url);
    view! {
        <li>
            <span class="source" dir="auto">{visible_text(citation.name())}</span>
            " "
            <span class="host" title=url.clone()>{host}</span>
            <span class="address" dir="ltr">{url}</span>
        </li>
    }
}
