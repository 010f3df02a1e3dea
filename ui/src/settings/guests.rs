//! Programs whose agents use Miki now: who they are, what for, since when, and a stop for each.

use leptos::prelude::*;
use protocol::command::{ListGuests, StopRun};
use protocol::escape::visible_text;
use protocol::ids::RunId;
use protocol::mcp::{GuestView, GuestWay};

use super::grants::time_of;
use crate::store::store;
use crate::words::Word;

#[component]
pub fn GuestList() -> impl IntoView {
    let store = store();
    let runs =
        store.memo(|state| state.overview.runs.iter().map(|run| run.run.clone()).collect::<Vec<RunId>>());
    let told = RwSignal::new(Vec::<GuestView>::new());
    // Whoever comes has a run, and it ends with them.
    Effect::new(move |_| {
        runs.track();
        store.send_then(ListGuests {}, move |found| told.set(found));
    });
    let guests = Memo::new(move |_| {
        let runs = runs.get();
        let is_there = |guest: &GuestView| runs.contains(&guest.run);
        told.get().into_iter().filter(is_there).collect::<Vec<_>>()
    });
    view! {
        <section class="group guests">
            <h2>{move || store.say(Word::GuestsHead)}</h2>
            <Show
                when=move || !guests.with(Vec::is_empty)
                fallback=move || {
                    view! {
                        <p class="faint">
                            {move || store.say(Word::NoGuests)} " " <code>"miki mcp install CLIENT"</code>
                        </p>
                    }
                }
            >
                <p class="faint">{move || store.say(Word::GuestsNote)}</p>
                <ul class="rows">
                    <For each=move || guests.get() key=|guest| guest.run.clone() let:guest>
                        <GuestRow guest />
                    </For>
                </ul>
            </Show>
        </section>
    }
}

#[component]
fn GuestRow(guest: GuestView) -> impl IntoView {
    let store = store();
    let sending = RwSignal::new(false);
    let GuestView { run, conducts, way, since, .. } = guest;
    let stop = move |_| {
        sending.set(true);
        let stop = StopRun { run: Some(run.clone()) };
        store.send_or(stop, move |()| sending.set(false), sending);
    };
    let does = if conducts { Word::GuestAgents } else { Word::GuestDesktop };
    let comes = match way {
        GuestWay::Stdio => Word::GuestStdio,
        GuestWay::Http => Word::GuestHttp,
    };
    let client = visible_text(&guest.client);
    let named = client.clone();
    view! {
        <li class="guest">
            <div class="label-of">
                <strong dir="auto">{client}</strong>
                <span>{move || store.say(does)}</span>
                <span class="faint">
                    {move || store.fill(Word::GuestSince, &[("time", &time_of(since))])} ", "
                    {move || store.say(comes)}
                </span>
            </div>
            <button
                aria-label=move || store.fill(Word::GuestStop, &[("client", &named)])
                disabled=move || sending.get()
                on:click=stop
            >
                {move || store.say(Word::Stop)}
            </button>
        </li>
    }
}
