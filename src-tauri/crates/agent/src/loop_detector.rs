//! Whether a run goes in circles: the same calls with the same outcome, in turn, or acts that change nothing on the
//! screen. Its model is told so twice, then the run pauses and its user is asked. Pure.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use protocol::tool::{Effect, ExecResult, ToolCall, WAIT_FOR};
use serde_json::Value;

/// Whoever waits does the same again on purpose.
const WAIT: &str = "wait";
/// The most calls that come in turn: A, A B A B, A B C A B C.
const LONGEST_CYCLE: usize = 3;
/// Rounds of the same calls, or acts in a row that change nothing, at which something is said of it.
const ROUNDS: Steps = Steps { nudge: 3, replan: 5, pause: 7 };
const UNCHANGED: Steps = Steps { nudge: 6, replan: 9, pause: 12 };
/// Rounds of looks alone at which the run pauses: whoever looks on and on may wait for something.
const LOOKS: usize = 20;
const REMEMBERED: usize = LONGEST_CYCLE * LOOKS;

struct Steps {
    nudge: usize,
    replan: usize,
    pause: usize,
}

/// What becomes of a run that goes in circles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// To the model, with the outcome of its call.
    Tell(&'static str),
    /// The run pauses; why, for its user.
    Pause(String),
}

#[derive(Default)]
pub struct LoopDetector {
    /// Calls with their outcomes, and whether they only looked; the newest last.
    recent: VecDeque<(u64, bool)>,
    /// A hash of the screen when it was last looked at.
    sight: Option<u64>,
    /// Acts in a row after which it was as before, and of which nothing else was read back.
    unchanged: usize,
    /// The turn that asked for the last call, with what it came to: what a model asks for at once, it asks for without
    /// knowing how the first of it came out.
    turn: u32,
    in_turn: Vec<u64>,
}

impl LoopDetector {
    /// Takes a call that has come to an outcome, with a hash of the screen after it, where it was looked at.
    pub fn note(
        &mut self,
        turn: u32,
        call: &ToolCall,
        only_looks: bool,
        result: &ExecResult,
        sight: Option<u64>,
    ) -> Option<Advice> {
        if call.tool == WAIT {
            self.forget();
            return None;
        }
        // Nor does this go in circles, but what is done between may.
        if call.tool == WAIT_FOR {
            return None;
        }
        let is_new_turn = std::mem::replace(&mut self.turn, turn) != turn;
        if is_new_turn {
            self.in_turn.clear();
        }
        let fingerprint = fingerprint(call, result, sight);
        if self.in_turn.contains(&fingerprint) {
            return None;
        }
        self.in_turn.push(fingerprint);
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back((fingerprint, only_looks));
        if let Some(sight) = sight.filter(|_| is_new_turn && !only_looks) {
            if self.sight != Some(sight) {
                self.unchanged = 0;
            } else if !matches!(result.effect, Effect::Confirmed) {
                self.unchanged += 1;
            }
            self.sight = Some(sight);
        }
        let (rounds, acts) = self.rounds();
        let (told, pauses) = if rounds >= ROUNDS.nudge {
            (
                ROUNDS.said_at(rounds),
                format!("it did the same {rounds} times, with the same outcome ({})", call.tool),
            )
        } else {
            let acts = self.unchanged;
            (UNCHANGED.said_at(acts), format!("{acts} actions in a row changed nothing on the screen"))
        };
        match told? {
            Said::Nudge => Some(Advice::Tell(
                "you have done this before with the same outcome; look at what is there now, and try another way; if something \
                 takes its time, call wait",
            )),
            Said::Replan => Some(Advice::Tell(
                "you go in circles: stop, say what you know and what hinders you, and make another plan; if the user must \
                 decide or help, call done and say so. If this goes on, the run is paused",
            )),
            Said::Pause if (ROUNDS.pause..LOOKS).contains(&rounds) && !acts => None,
            Said::Pause => {
                self.forget();
                Some(Advice::Pause(pauses))
            }
        }
    }

    /// Something else happened: the user spoke or acted, or time was let pass.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// How often the last few calls came in turn, at the most, and whether any of them acts.
    fn rounds(&self) -> (usize, bool) {
        let newest_first: Vec<(u64, bool)> = self.recent.iter().rev().copied().collect();
        let of_length = |length: usize| {
            let cycle = &newest_first[..length.min(newest_first.len())];
            let rounds = newest_first.chunks(length).take_while(|round| *round == cycle).count();
            (rounds, cycle.iter().any(|(_, only_looks)| !only_looks))
        };
        (1..=LONGEST_CYCLE).map(of_length).max().unwrap_or_default()
    }
}

enum Said {
    Nudge,
    Replan,
    Pause,
}

impl Steps {
    /// Once at each of them.
    fn said_at(&self, count: usize) -> Option<Said> {
        match count {
            count if count == self.nudge => Some(Said::Nudge),
            count if count == self.replan => Some(Said::Replan),
            count if count >= self.pause => Some(Said::Pause),
            _ => None,
        }
    }
}

/// Equal for calls that do the same and came to the same. What was done is another thing where the screen is another one
/// after it: to press "Next" ten times is no circle. What was not done is the same whatever the screen shows.
fn fingerprint(call: &ToolCall, result: &ExecResult, sight: Option<u64>) -> u64 {
    let mut arguments = call.arguments.clone();
    if let Value::Object(fields) = &mut arguments {
        fields.remove("reason");
    }
    let was_done = match result.effect {
        Effect::Confirmed | Effect::Unverified => true,
        Effect::NoChange | Effect::Refused | Effect::Unknown => false,
    };
    let mut hasher = DefaultHasher::new();
    (&call.tool, arguments.to_string(), result.effect, result.error.as_ref().map(|error| error.kind))
        .hash(&mut hasher);
    if was_done {
        (result.data.to_string(), sight).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests;
