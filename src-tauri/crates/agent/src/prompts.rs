//! What the model is told, from the files in `prompts/`.

use protocol::tool::Mode;

const SYSTEM: &str = include_str!("prompts/system.md");
const PLAN: &str = "\nPlan mode: you may look but not act; only tools that change nothing are here. Find out what is needed, then answer with a plan of numbered steps.\n";

/// The system prompt: the same for every turn of a run, so that the provider's cache holds.
pub fn system(mode: Mode) -> String {
    match mode {
        Mode::Act => SYSTEM.to_owned(),
        Mode::Plan => format!("{SYSTEM}{PLAN}"),
    }
}
