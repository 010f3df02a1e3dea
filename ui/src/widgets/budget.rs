//! What a run may come to, what it has used up, and of what.

use leptos::prelude::*;
use protocol::budget::{Bound, Forecast, Measure, Progress, thousands};
use protocol::command::GetForecast;
use protocol::turn::Usd;

use crate::ipc;
use crate::store::{Store, store};
use crate::words::Word;

/// `about $0.031–0.08, 12–20 steps`
pub fn forecast_said(store: Store, forecast: &Forecast) -> String {
    let span = |least: String, most: String| if least == most { most } else { format!("{least}–{most}") };
    let takes = match forecast.cost {
        Some((least, most)) => format!("${}", span(least.rough(), most.rough())),
        None => {
            let tokens = span(thousands(forecast.tokens.0), thousands(forecast.tokens.1));
            store.fill(Word::InTokens, &[("n", &tokens)])
        }
    };
    let steps = span(forecast.steps.0.to_string(), forecast.steps.1.to_string());
    store.fill(Word::ForecastSays, &[("takes", &takes), ("steps", &steps)])
}

/// What it is known by.
pub fn known_by(store: Store, forecast: &Forecast) -> String {
    store.fill(Word::ForecastFrom, &[("n", &forecast.runs.to_string())])
}

/// What a run has used beside its steps and its cost, what it may use, and what it may come to.
pub fn progress_said(store: Store, progress: &Progress) -> String {
    let tokens = |tokens| store.fill(Word::InTokens, &[("n", &thousands(tokens))]);
    // Its cost stands beside it, where it is known.
    let used = (progress.cost.is_none() && progress.tokens > 0).then(|| tokens(progress.tokens));
    let most = progress.most;
    let bounds = [
        most.cost.map(|cost: Usd| format!("${cost}")),
        most.tokens.map(tokens),
        most.minutes.map(|minutes| store.fill(Word::InMinutes, &[("n", &minutes.to_string())])),
    ];
    let bounds: Vec<String> = bounds.into_iter().flatten().collect();
    let bounds = (!bounds.is_empty()).then(|| store.fill(Word::AtMost, &[("most", &bounds.join(", "))]));
    let forecast = progress.forecast.map(|forecast| forecast_said(store, &forecast));
    [used, bounds, forecast].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// `24 of 30 steps`
pub fn bound_said(store: Store, bound: &Bound) -> String {
    let word = match bound.measure {
        Measure::Steps => Word::BoundSteps,
        Measure::Minutes => Word::BoundMinutes,
        Measure::Tokens => Word::BoundTokens,
        Measure::Dollars => Word::BoundDollars,
    };
    store.fill(word, &[("used", &bound.used), ("most", &bound.most)])
}

/// What the next run may come to; empty if too little is known, and while one is at work.
#[component]
pub fn NextForecast() -> impl IntoView {
    let store = store();
    let known = RwSignal::new(None::<Forecast>);
    let model = store.memo(|state| state.overview.settings.model.0.clone());
    let at_work = store.memo(|state| state.run_shown().is_some());
    Effect::new(move |_| {
        let model = model.get();
        if at_work.get() || model.is_empty() {
            return;
        }
        leptos::task::spawn_local(async move {
            // Where it cannot be had, nothing is missed.
            let forecast = ipc::invoke(GetForecast { model: None }).await.ok().flatten();
            known.try_set(forecast);
        });
    });
    let line = move || {
        let forecast = known.get().filter(|_| !at_work.get())?;
        Some(view! {
            <p class="forecast faint" title=move || known_by(store, &forecast)>
                {move || forecast_said(store, &forecast)}
            </p>
        })
    };
    view! { {line} }
}
