//! `bench`: figures for a person, as a table, and for the next one to compare with, as JSON in `artifacts/`.

use anyhow::Result;
use clap::ValueEnum;

use crate::checkout::Checkout;

mod app;
mod context;
mod sessions;
mod space;
mod spine;

mod attacks;

mod desktop;
mod models;
mod truth;

mod figures;
mod table;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// The app: what `spine` measures, then start, answers, what it takes when idle
    App,
    /// The engine alone, on a real disk: a long session, appends beside a reader, stops (Linux)
    Spine,
    /// Search over 1,000 sessions, and export of 1,000 steps with their pictures
    Sessions,
    /// Commands in the sandbox beside plain bubblewrap, and the windows while a command floods (Linux)
    Space,
    /// Eyes and hands beside their peers (Linux)
    Desktop,
    /// Streams decoded, requests built, turns asked, beside their peers
    Models,
    /// What the conversation of a run of thirty steps costs, by each provider's formula and prices
    Context,
    /// Whether what Miki says of its acts is what applications of all toolkits did; writes docs/APPLICATIONS.md (Linux)
    Truth,
    /// A model that obeys an attacker, in every mode, and tasks of users beside it (Linux)
    Attacks,
}

pub fn bench(checkout: &Checkout, what: What) -> Result<()> {
    match what {
        What::App => app::bench(checkout),
        What::Spine => spine::bench(checkout),
        What::Sessions => sessions::bench(checkout),
        What::Space => space::bench(checkout),
        What::Desktop => desktop::bench(checkout),
        What::Models => models::bench(checkout),
        What::Context => context::bench(checkout),
        What::Truth => truth::bench(checkout),
        What::Attacks => attacks::bench(checkout),
    }
}
