//! The overlay: shows, over everything and without taking a click, that Miki works, on what, and how to stop it. Of many runs
//! it follows the one that asks, else the one that has the desktop.

use fold::Transcript;
use leptos::prelude::*;
use protocol::event::{Activity, Status};
use protocol::ids::RunId;
use protocol::view::{BesideView, PointerView};

use crate::brief;
use crate::state::State;
use crate::store::store;
use crate::widgets::beside::color;
use crate::widgets::status::{activity_name, activity_word};
use crate::words::Word;
use protocol::escape::visible_text;

/// An agent's own pointer, as it is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
struct Pointer {
    run: Option<RunId>,
    /// Whose it is.
    name: String,
    /// In hundredths of the display.
    at: (f64, f64),
    color: &'static str,
}

impl Pointer {
    /// `None` if it is on a display that has no overlay.
    fn of(state: &State, beside: &BesideView) -> Option<Self> {
        let PointerView { at, .. } = beside.pointer.filter(|pointer| pointer.display == 0)?;
        let run = state.overview.runs.iter().find(|run| run.run == beside.run)?;
        Some(Self {
            run: Some(beside.run.clone()),
            name: visible_text(&brief::shortened(&run.goal)),
            at: (at.x() / 10.0, at.y() / 10.0),
            color: color(beside),
        })
    }
}

/// From where it was to where it is, in hundredths of the display.
type Trail = ((f64, f64), (f64, f64));

/// With its name, and a trail from where it was.
#[component]
fn OwnPointer(its: Memo<Pointer>) -> impl IntoView {
    let at = Memo::new(move |_| its.with(|its| its.at));
    let trail = Memo::new(move |before: Option<&Trail>| {
        let to = at.get();
        (before.map_or(to, |(_, from)| *from), to)
    });
    // A new line makes a new element, so that its fading starts again.
    let trails = move || Some(trail.get()).filter(|(from, to)| from != to).into_iter().collect::<Vec<_>>();
    view! {
        <div class="own-pointer" aria-hidden="true" style:--pointer=move || its.with(|its| its.color)>
            <svg class="trail" viewBox="0 0 100 100" preserveAspectRatio="none">
                <For
                    each=trails
                    key=|((x, y), (to_x, to_y))| [x, y, to_x, to_y].map(|at| at.to_bits())
                    children=|((x, y), (to_x, to_y))| view! { <line x1=x y1=y x2=to_x y2=to_y /> }
                />
            </svg>
            <div class="arrow" style:left=move || format!("{}%", at.get().0) style:top=move || format!("{}%", at.get().1)>
                <svg viewBox="0 0 24 24"><path d="M2 1l7.500 20 3.600-8.300L21.500 9z" /></svg>
                <span class="name" dir="auto">{move || its.with(|its| its.name.clone())}</span>
            </div>
        </div>
    }
}

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

    let pointers = store.memo(|state| {
        let all = &state.overview.desktop.beside;
        all.iter().filter_map(|beside| Pointer::of(state, beside)).collect::<Vec<_>>()
    });

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
                <For
                    each=move || pointers.get()
                    key=|pointer| pointer.run.clone()
                    children=move |Pointer { run, .. }| {
                        let its = Memo::new(move |_| {
                            pointers.with(|all| all.iter().find(|one| one.run == run).cloned()).unwrap_or_default()
                        });
                        view! { <OwnPointer its /> }
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
