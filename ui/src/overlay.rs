//! The overlay: shows, over everything and without taking a click, that Miki works, on what, and how to stop it. Of many runs
//! it follows the one that asks, else the one that has the desktop.

use fold::Transcript;
use leptos::prelude::*;
use protocol::event::{Activity, Status};

use crate::store::store;
use crate::widgets::status::{activity_name, activity_word};
use crate::words::Word;
use protocol::escape::visible_text;

#[component]
pub fn Overlay() -> impl IntoView {
    let store = store();
    let status = store.memo(|state| state.status());
    let activity = store.memo(|state| state.run_shown().map(|run| run.status.activity).unwrap_or_default());
    let others = store.memo(|state| state.other_runs().count());
    let failsafe = store.memo(|state| state.overview.settings.failsafe);
    let on = Memo::new(move |_| matches!(activity.get(), Activity::Working | Activity::Waiting));
    // A new call makes a new ring, so that its animation starts again.
    let point = store.memo(|state| state.transcript().and_then(Transcript::last_point));
    let rings =
        move || point.get().filter(|_| activity.get() == Activity::Working).into_iter().collect::<Vec<_>>();
    let what = move || {
        let Status { activity, detail, .. } = status.get();
        if detail.is_empty() {
            store.say(activity_word(activity)).to_owned()
        } else {
            visible_text(&store.told(&detail))
        }
    };
    let step = move || {
        let Status { step, max_steps, .. } = status.get();
        (step > 0)
            .then(|| store.fill(Word::StepOf, &[("n", &step.to_string()), ("max", &max_steps.to_string())]))
    };
    let others = move || {
        // Not while one asks: that is what its user can do something about.
        let n = others.get();
        (n > 0 && activity.get() == Activity::Working)
            .then(|| store.fill(Word::OthersAtWork, &[("n", &n.to_string())]))
    };

    view! {
        <Show when=move || on.get()>
            <div class="overlay" data-activity=move || activity_name(activity.get())>
                <div class="glow" aria-hidden="true"></div>
                <For
                    each=rings
                    key=|(call, at)| (call.clone(), at.x().to_bits(), at.y().to_bits())
                    children=|(_, at)| view! {
                        <div
                            class="ring"
                            aria-hidden="true"
                            style:left=move || format!("{}%", at.x() / 10.0)
                            style:top=move || format!("{}%", at.y() / 10.0)
                        ></div>
                    }
                />
                <div class="pill" role="status">
                    <span class="dot"></span>
                    <span class="detail" dir="auto">{what}</span>
                    <span class="count">{step}</span>
                    <span class="count">{others}</span>
                    <Show when=move || failsafe.get()>
                        <span class="how">{move || store.say(Word::FailsafeHint)}</span>
                    </Show>
                </div>
            </div>
        </Show>
    }
}
