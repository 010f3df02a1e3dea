//! Finding sessions by words: the field above their list, and what was found.

use std::time::Duration;

use leptos::prelude::*;
use leptos::{ev, html};
use protocol::command::SearchSessions;
use protocol::escape::visible_text;
use protocol::ids::SessionId;
use protocol::remembered::Tab;
use protocol::view::Found;

use crate::brief;
use crate::store::store;
use crate::widgets::icon::icon;
use crate::words::Word;

/// What is typed is looked for when nothing was typed for so long.
const PAUSE: Duration = Duration::from_millis(150);
const MOST: u32 = 50;

/// What is looked for, and what was found; `None` while the usual list is shown.
#[derive(Clone, Copy)]
pub struct Finding {
    pub query: RwSignal<String>,
    pub found: RwSignal<Option<Vec<Found>>>,
}

impl Finding {
    pub fn new() -> Self {
        Self { query: RwSignal::default(), found: RwSignal::new(None) }
    }

    /// Back to the list.
    pub fn end(self) {
        self.query.set(String::new());
        self.found.set(None);
    }
}

/// The field. Ctrl+K or `/` goes to it, Escape leaves it.
#[component]
pub fn FindField(finding: Finding) -> impl IntoView {
    let store = store();
    let field = NodeRef::<html::Input>::new();
    let keys = window_event_listener(ev::keydown, move |event| {
        let asks_for_it = (event.ctrl_key() || event.meta_key()) && event.key().eq_ignore_ascii_case("k");
        let begins_it = event.key() == "/" && !event.ctrl_key() && !event.meta_key() && !is_typing();
        if asks_for_it || begins_it {
            event.prevent_default();
            if let Some(field) = field.get_untracked() {
                let _ = field.focus(); // refused while the window is hidden
                field.select();
            }
        }
    });
    on_cleanup(move || keys.remove());
    let number = StoredValue::new(0_u32);
    let typed = move |event: web_sys::Event| {
        let query = event_target_value(&event);
        finding.query.set(query.clone());
        number.update_value(|number| *number += 1);
        let this = number.get_value();
        if query.trim().is_empty() {
            finding.found.set(None);
            return;
        }
        let look = move || {
            // A later one took its place.
            if number.try_get_value() != Some(this) {
                return;
            }
            let take = move |found| {
                if number.try_get_value() == Some(this) {
                    finding.found.set(Some(found));
                }
            };
            store.send_then(SearchSessions { query, limit: Some(MOST) }, take);
        };
        set_timeout(look, PAUSE);
    };
    let leave = move |event: ev::KeyboardEvent| {
        if event.key() == "Escape" {
            number.update_value(|number| *number += 1);
            finding.end();
        }
    };
    view! {
        <div class="find">
            {icon("zoomIn")}
            <input
                id="find-session"
                node_ref=field
                type="search"
                autocomplete="off"
                spellcheck="false"
                aria-label=move || store.say(Word::FindSession)
                aria-keyshortcuts="Control+K /"
                placeholder=move || store.say(Word::FindSessionHint)
                prop:value=move || finding.query.get()
                on:input=typed
                on:keydown=leave
            />
        </div>
    }
}

/// Whether what is typed goes into a field.
fn is_typing() -> bool {
    let focused = document().active_element().map(|element| element.tag_name().to_ascii_uppercase());
    focused.is_some_and(|tag| ["INPUT", "TEXTAREA", "SELECT"].contains(&tag.as_str()))
}

/// What was found; nothing while nothing is looked for.
#[component]
pub fn FoundList(finding: Finding) -> impl IntoView {
    let store = store();
    let count = move || finding.found.with(|found| found.as_ref().map(Vec::len));
    let open = move |found: &Found| {
        let (session, id): (_, SessionId) = (found.session.clone(), found.session.id.clone());
        store.change(|state| state.take_older_sessions(vec![session]));
        store.tab.set(Tab::Work);
        store.open_session(id);
    };
    let item = move |found: Found| {
        let title = visible_text(&brief::shortened(&found.session.title));
        let parts = marked(&found.snippet, &found.marks);
        let (archived, id) = (found.session.shelf.archived, found.session.id.0.clone());
        view! {
            <li data-session=id>
                <button class="open" on:click=move |_| open(&found)>
                    <span class="title" dir="auto">{title}</span>
                    <span class="faint" dir="auto">
                        {parts.into_iter().map(|(text, is_found)| match is_found {
                            true => view! { <mark>{text}</mark> }.into_any(),
                            false => text.into_any(),
                        }).collect_view()}
                    </span>
                    {archived.then(|| view! { <span class="badge">{move || store.say(Word::Archived)}</span> })}
                </button>
            </li>
        }
    };
    view! {
        <p class="unseen" role="status">
            {move || count().map(|n| store.fill(Word::FoundSessions, &[("n", &n.to_string())]))}
        </p>
        <Show when=move || count().is_some()>
            <ul id="found">
                {move || finding.found.get().unwrap_or_default().into_iter().map(item).collect_view()}
            </ul>
            <Show when=move || count() == Some(0)>
                <p class="faint empty">{move || store.say(Word::NothingFound)}</p>
            </Show>
        </Show>
    }
}

/// The snippet in parts, with whether each is what was looked for. Marks are in characters.
fn marked(snippet: &str, marks: &[(u32, u32)]) -> Vec<(String, bool)> {
    let characters: Vec<char> = snippet.chars().collect();
    let part = |from: usize, to: usize| {
        let part: String = characters.get(from..to).unwrap_or_default().iter().collect();
        visible_text(&part)
    };
    let (mut parts, mut at) = (Vec::new(), 0);
    for (from, to) in marks.iter().map(|(from, to)| (*from as usize, *to as usize)) {
        if from < at || to > characters.len() || to <= from {
            continue;
        }
        parts.push((part(at, from), false));
        parts.push((part(from, to), true));
        at = to;
    }
    parts.push((part(at, characters.len()), false));
    parts.retain(|(text, _)| !text.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_for_is_marked_by_characters_and_never_beyond_the_text() {
        let texts = |marks: &[(u32, u32)]| marked("秋の俳句 haiku", marks);
        assert_eq!(
            texts(&[(2, 4), (5, 10)]),
            [("秋の".into(), false), ("俳句".into(), true), (" ".into(), false), ("haiku".into(), true)]
        );
        for bad in [[(3, 2), (9, 99)], [(4, 4), (11, 12)]] {
            assert_eq!(texts(&bad), [("秋の俳句 haiku".into(), false)]);
        }
    }
}
