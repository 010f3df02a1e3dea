//! What a command would do, as far as its text says: for the card, for grants, and for what needs no question.
//!
//! It confines nothing: the sandbox does. The text is parsed by a shell's own grammar; what is not understood to the
//! last word is [`Effect::Unclear`], and the strictest part of a command is the whole command's. Pure: no file is
//! looked at and no variable is read, so a name that means something else on this machine is not seen here; that is
//! why reading is a short list of programs with the arguments known to be harmless.

mod destructive;
mod parse;
mod programs;
#[cfg(test)]
mod tests;

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
            && !self.segments.is_empty()
            && self
                .segments
                .iter()
                .all(|segment| segment.effect == Effect::Reads || segment.grant.as_ref().is_some_and(has))
    }
}

/// Weighs what [`super::CommandSpec::command`] would run. Takes about a millisecond.
pub fn weigh(command: &str) -> Weighed {
    let parsed = match parse::parse(command) {
        Ok(parsed) => parsed,
        Err(why) => {
            return Weighed {
                effect: Effect::Unclear,
                segments: Vec::new(),
                unclear: Some(why),
                destructive: destructive::signs(command, &[], destructive::Text::Cut),
                grants: Vec::new(),
            };
        }
    };
    let mut segments: Vec<Segment> = parsed.commands.iter().map(programs::judge).collect();
    for segment in segments.iter_mut().filter(|_| parsed.environment) {
        segment.effect = segment.effect.max(Effect::Changes);
        segment.grant = None;
    }
    let strictest = segments.iter().map(|segment| segment.effect).max().unwrap_or(Effect::Changes);
    let unclear = parsed.unclear.or_else(|| {
        let named = segments.iter().find(|segment| segment.effect == Effect::Unclear)?;
        Some(format!("{} can run anything", named.words.first().map_or("a part of it", String::as_str)))
    });
    let effect = if unclear.is_some() { Effect::Unclear } else { strictest };
    let changing = segments.iter().filter(|segment| segment.effect != Effect::Reads);
    let mut grants: Vec<String> =
        changing.map(|segment| segment.grant.clone()).collect::<Option<_>>().unwrap_or_default();
    grants.sort();
    grants.dedup();
    if effect == Effect::Unclear {
        grants.clear();
    }
    // What could not be seen through is looked at as text, too.
    let text = if unclear.is_some() { destructive::Text::Cut } else { destructive::Text::Whole };
    Weighed { effect, destructive: destructive::signs(command, &segments, text), unclear, grants, segments }
}
