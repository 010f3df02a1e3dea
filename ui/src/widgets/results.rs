//! The cards of what searches found and of events and reminders. Text to be read and copied: a window of ours leads nowhere.

use fold::transcript::Step;
use leptos::prelude::*;
use leptos::wasm_bindgen::{JsCast, JsValue};
use protocol::escape::visible_text;
use protocol::settings::Language;

use crate::results::{Entry, Found, Hit, Results, SHOWN, State, When};
use crate::store::{Store, store};
use crate::words::Word;

/// Lines of one file that a card draws.
const LINES: usize = 5;

/// What a step found, and that it found nothing; empty if it looks for nothing.
pub fn results(step: &Step) -> impl IntoView + use<> {
    let Some(results) = crate::results::results(step) else { return ().into_any() };
    let count = match &results {
        Results::Hits(hits) => hits.len(),
        Results::Files(files) => files.len(),
        Results::Entries(entries) => entries.len(),
    };
    if count == 0 {
        let store = store();
        return view! { <p class="faint">{move || store.say(Word::NothingFound)}</p> }.into_any();
    }
    let more = and_more(count.saturating_sub(SHOWN));
    match results {
        Results::Hits(hits) => {
            let rows = hits.iter().take(SHOWN).map(hit).collect_view();
            view! { <ol class="sources hits">{rows}</ol> {more} }.into_any()
        }
        Results::Files(files) => {
            let rows = files.iter().take(SHOWN).map(file).collect_view();
            view! { <ul class="sources hits files">{rows}</ul> {more} }.into_any()
        }
        Results::Entries(entries) => {
            let rows = entries.into_iter().take(SHOWN).map(entry).collect_view();
            view! { <ul class="entries">{rows}</ul> {more} }.into_any()
        }
    }
}

fn file(Found { path, lines }: &Found) -> impl IntoView + use<> {
    let rows = lines.iter().take(LINES).map(|line| visible_text(line));
    let rows = rows.map(|line| view! { <code class="snippet" dir="auto">{line}</code> }).collect_view();
    view! {
        <li>
            <span class="source" dir="auto">{visible_text(path)}</span>
            {rows}
            {and_more(lines.len().saturating_sub(LINES))}
        </li>
    }
}

fn and_more(more: usize) -> Option<impl IntoView> {
    let store = store();
    (more > 0).then(|| {
        view! { <p class="faint">{move || store.fill(Word::AndMore, &[("n", &more.to_string())])}</p> }
    })
}

/// Whatever could not be seen in others' words, or turns the reading about, is spelled out.
fn hit(hit: &Hit) -> impl IntoView + use<> {
    let address = visible_text(&hit.address);
    let host = hit.host.as_deref().map_or_else(|| address.clone(), visible_text);
    view! {
        <li>
            <span class="source" dir="auto">{visible_text(&hit.title)}</span>
            " "
            <span class="host" title=address>{host}</span>
            {(!hit.text.is_empty()).then(|| view! { <span class="snippet" dir="auto">{visible_text(&hit.text)}</span> })}
        </li>
    }
}

fn entry(entry: Entry) -> impl IntoView {
    let store = store();
    let Entry { title, calendar, when, until, state } = entry;
    let (name, word) = match state {
        State::Event => ("event", None),
        State::Cancelled => ("cancelled", Some(Word::EventCancelled)),
        State::Open => ("open", None),
        State::Done => ("done", Some(Word::ReminderDone)),
    };
    let time = move || {
        let zone = store.read(|state| state.overview.settings.time_zone.clone());
        let begins = when.as_ref().map(|when| shown(store, when, &zone));
        let ends = until.as_ref().map(|until| shown(store, until, &zone));
        match (begins, ends) {
            (Some(begins), Some(ends)) => format!("{begins} – {ends}"),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => String::new(),
        }
    };
    view! {
        <li class="entry" data-state=name>
            <strong dir="auto">{visible_text(&title)}</strong>
            <span class="when">{time}</span>
            <span class="faint" dir="auto">{visible_text(&calendar)}</span>
            {word.map(|word| view! { <span class="badge">{move || store.say(word)}</span> })}
        </li>
    }
}

/// A time as its user's language writes it, in their zone: that of the settings, or the system's.
fn shown(store: Store, when: &When, zone: &str) -> String {
    let language = match store.read(|state| state.overview.settings.language) {
        Language::English => "en",
        Language::Japanese => "ja",
    };
    let iso = when.iso();
    let told = || {
        let date = js_sys::Date::new(&JsValue::from_str(&iso));
        let options = js_sys::Object::new();
        let set = |name: &str, value: &str| js_sys::Reflect::set(&options, &name.into(), &value.into()).ok();
        set("weekday", "short")?;
        set("year", "numeric")?;
        set("month", "short")?;
        set("day", "numeric")?;
        if !matches!(when, When::Day(_)) {
            set("hour", "2-digit")?;
            set("minute", "2-digit")?;
        }
        match when {
            When::Day(_) | When::Wall(_) => set("timeZone", "UTC")?,
            When::Instant(_) if zone.is_empty() => true,
            When::Instant(_) => set("timeZone", zone)?,
        };
        // Called this way, since it throws at a zone that is none.
        let method = js_sys::Reflect::get(&date, &"toLocaleString".into()).ok()?;
        let method = method.dyn_into::<js_sys::Function>().ok()?;
        method.call2(&date, &language.into(), &options).ok()?.as_string()
    };
    told().filter(|text| text != "Invalid Date").unwrap_or_else(|| visible_text(&iso))
}
