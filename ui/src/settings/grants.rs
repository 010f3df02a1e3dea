//! What the user allowed beyond a session: each with when it ends, and a way to take it back.

use leptos::prelude::*;
use protocol::command::UpdateSettings;
use protocol::escape::visible_text;
use protocol::ids::Timestamp;
use protocol::settings::{SettingsPatch, StandingGrant};

use crate::store::store;
use crate::words::Word;

#[component]
pub fn Standing() -> impl IntoView {
    let store = store();
    let grants = store.memo(|state| state.overview.settings.grants.clone());
    let sending = RwSignal::new(false);
    let take_back = move |gone: StandingGrant| {
        let left: Vec<_> = grants.get_untracked().into_iter().filter(|grant| *grant != gone).collect();
        let Ok(left) = serde_json::to_value(left) else { return };
        let patch = SettingsPatch([("grants".to_owned(), left)].into_iter().collect());
        sending.set(true);
        store.send_or(UpdateSettings { patch }, move |_| sending.set(false), sending);
    };
    let row = move |grant: StandingGrant| {
        let (tool, app) = (visible_text(&grant.tool), visible_text(&grant.app));
        let until = grant.until;
        view! {
            <li class="grant">
                <span dir="auto">
                    {move || store.fill(Word::GrantOf, &[("tool", &tool), ("app", &app)])}
                    " "
                    <span class="faint">
                        {move || match until {
                            Some(until) => store.fill(Word::GrantUntil, &[("time", &time_of(until))]),
                            None => store.say(Word::GrantAlways).to_owned(),
                        }}
                    </span>
                </span>
                <button disabled=move || sending.get() on:click=move |_| take_back(grant.clone())>
                    {move || store.say(Word::TakeBack)}
                </button>
            </li>
        }
    };
    view! {
        <div class="row">
            <div class="label-of">
                <span>{move || store.say(Word::Grants)}</span>
                <span class="faint">{move || store.say(Word::GrantsNote)}</span>
            </div>
            <div class="control">
                <Show
                    when=move || !grants.with(Vec::is_empty)
                    fallback=move || view! { <span class="faint">{store.say(Word::NoGrants)}</span> }
                >
                    <ul class="grants">{move || grants.get().into_iter().map(row).collect_view()}</ul>
                </Show>
            </div>
        </div>
    }
}

/// As the user's system writes times.
pub(super) fn time_of(at: Timestamp) -> String {
    let date = js_sys::Date::new(&(at.0 as f64).into());
    date.to_locale_string("default", &wasm_bindgen::JsValue::UNDEFINED).into()
}
