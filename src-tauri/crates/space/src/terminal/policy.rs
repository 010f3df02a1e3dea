//! What a command would do, as far as its text says: for the card, for grants, and for what needs no question.
//!
//! It confines nothing: the sandbox does. The text is parsed by a shell's own grammar; what is not understood to the
//! last word is [`Effect::Unclear`], and the strictest part of a command is the whole command's. Pure: no file is
//! looked at and no variable is read, so a name that means something else on this machine is not seen here; that is
//! why reading is a short list of programs with the arguments known to be harmless.

use serde::{Deserialize, Serialize};

/// From the mildest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// Only programs that read, with arguments that only read.
    Reads,
    /// May change files of the Space, or run what is in them.
    Changes,
    /// Cannot be told from the text: ask each time.
    Unclear,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weighed {
    /// The strictest of the segments.
    pub effect: Effect,
    pub segments: Vec<Segment>,
    /// Why it is unclear, for the card.
    pub unclear: Option<String>,
    /// What it would destroy, for the card. Advice: never the reason to let something else pass.
    pub destructive: Vec<String>,
    /// What a yes for "commands like this" would cover: one grant for each segment that does not only read, as
    /// `git commit` or `cargo test`. Empty: it can only be allowed as it stands.
    pub grants: Vec<String>,
}

/// One program with its words, quotes taken off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    pub words: Vec<String>,
    pub effect: Effect,
    /// Its grant; `None`: can only be allowed as it stands.
    pub grant: Option<String>,
}

impl Weighed {
    /// Whether each part only reads or was granted before.
    pub fn is_covered_by<S: AsRef<str>>(&self, granted: &[S]) -> bool {
        let has = |grant: &String| granted.iter().any(|one| one.as_ref() == grant);
        self.effect != Effect::Unclear
            && self
                .segments
                .iter()
                .all(|segment| segment.effect == Effect::Reads || segment.grant.as_ref().is_some_and(has))
    }
}

pub fn weigh(_command: &str) -> Weighed {
    Weighed {
        effect: Effect::Unclear,
        segments: Vec::new(),
        unclear: Some("commands are not read yet".into()),
        destructive: Vec::new(),
        grants: Vec::new(),
    }
}
