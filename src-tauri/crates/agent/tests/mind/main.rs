//! Whole runs of the mind: a scripted model, the real router, a fake desktop, a real journal.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test's way to say that it failed"
)]

mod asking;
mod asking_once;
mod bench;
mod bodies;
mod budget;
mod computer;
mod computer_words;
mod context;
mod context_cost;
mod in_call;
mod keyboard;
mod late_no;
mod many;
mod matrix;
mod offer;
mod own_hands;
mod planning;
mod prefix;
mod runs;
mod search;
mod sessions;
mod single_calls;
mod stops;
mod tree;
mod trouble;
mod undo;
mod user_takeover;
mod waiting_tree;
