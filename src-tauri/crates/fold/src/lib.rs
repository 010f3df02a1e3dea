//! What events add up to: a session in a list, a run that has not ended, what is open now, a session's transcript. Pure
//! functions of `protocol`'s types, the same for the journal, the shell and the windows; compiles to wasm.
//!
//! No words for people, no colours, no clocks, and nothing that carries anything out.

pub mod budget;
pub mod call;
mod copy;
pub mod export;
pub mod forecast;
mod overview;
mod plan;
mod run;
#[cfg(test)]
mod sample;
mod session;
mod stream;
pub mod transcript;
pub mod way_back;
mod words;

pub use budget::Budget;
pub use copy::{Copied, Into, branched, imported, interrupted};
pub use overview::{
    Desktop, Outcome, SessionState, activity, agents_in, beside, desktop_of, overview, root_of, run_in,
    session_state, tree,
};
pub use plan::PlanState;
pub use run::{OpenRun, run};
pub use session::{changed_for_a_list, is_about_the_list, pinned_first, session};
pub use stream::Stream;
pub use transcript::Transcript;
pub use words::{BlobUse, blobs, searchable};

#[cfg(test)]
mod tests;
