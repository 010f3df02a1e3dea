//! Whether a run goes in circles: the same calls with the same outcome, in turn, or acts that change nothing on the
//! screen. Its model is told so twice, then the run pauses and its user is asked. Pure.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use protocol::tool::{Effect, ExecResult, ToolCall};
use serde_json::Value;

/// Whoever waits does the same again on purpose.
const WAIT: &str = "wait";
/// The most calls that come in turn: A, A B A B, A B C A B C.
const LONGEST_CYCLE: usize = 3;
/// Rounds of the same calls, or acts in a row that change nothing, at which something is said of it.
const ROUNDS: Steps = Steps { nudge: 3, replan: 5, pause: 7 };
const UNCHANGED: Steps = Steps { nudge: 6, replan: 9, pause: 12 };
const REMEMBERED: usize = LONGEST_CYCLE * ROUNDS.pause;

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
                "you have done this before with the same outcome; look at what is there now, and try another way",
            )),
            Said::Replan => Some(Advice::Tell(
                "you go in circles: stop, say what you know and what hinders you, and make another plan; if the user must \
                 decide or help, call done and say so. If this goes on, the run is paused",
            )),
            // Whoever looks on and on waits for something, and the steps are counted.
            Said::Pause if rounds >= ROUNDS.pause && !acts => None,
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
mod tests {
    use protocol::ids::CallId;
    use protocol::tool::{Millis, ToolError, ToolErrorKind};
    use serde_json::json;

    use super::*;

    fn call(tool: &str, arguments: Value) -> ToolCall {
        ToolCall { id: CallId("c-1".into()), tool: tool.into(), arguments }
    }

    fn result(effect: Effect) -> ExecResult {
        ExecResult {
            effect,
            summary: String::new(),
            data: Value::Null,
            error: None,
            picture: None,
            read: Vec::new(),
            changes: Vec::new(),
            output: Vec::new(),
            took: Millis(1),
        }
    }

    const LOOKS: [&str; 3] = ["screenshot", "webRead", WAIT];

    /// What is said after each call, in short.
    fn said(calls: impl IntoIterator<Item = (ToolCall, ExecResult, Option<u64>)>) -> String {
        let mut loops = LoopDetector::default();
        let word = |advice| match advice {
            None => '.',
            Some(Advice::Tell(text)) if text.contains("paused") => 'r',
            Some(Advice::Tell(_)) => 'n',
            Some(Advice::Pause(_)) => 'P',
        };
        let turns = (1..).zip(calls);
        turns
            .map(|(turn, (call, result, sight))| {
                word(loops.note(turn, &call, LOOKS.contains(&call.tool.as_str()), &result, sight))
            })
            .collect()
    }

    #[test]
    fn the_same_call_with_the_same_outcome_is_told_twice_and_then_paused() {
        let click = |n: usize| {
            let reason = format!("try {n}");
            (call("click", json!({ "x": 1, "reason": reason })), result(Effect::NoChange), Some(n as u64))
        };
        assert_eq!(said((0..16).map(click)), "..n.r.P..n.r.P..");
        let refused = |_| {
            let error = Some(ToolError { kind: ToolErrorKind::Denied, message: "no".into() });
            (call("type", json!({})), ExecResult { error, ..result(Effect::Refused) }, None)
        };
        assert_eq!(said((0..7).map(refused)), "..n.r.P");
    }

    #[test]
    fn calls_that_come_in_turn_are_a_circle_too() {
        let in_turn = |length: usize| {
            move |n: usize| {
                (call("click", json!({ "x": n % length })), result(Effect::NoChange), Some(n as u64))
            }
        };
        assert_eq!(said((0..14).map(in_turn(2))), ".....nn..rr..P", "of A B and of B A");
        assert!(said((0..12).map(in_turn(3))).starts_with("........n"));
        assert_eq!(said((0..40).map(in_turn(4))), ".".repeat(40), "nobody can tell this from work");
    }

    #[test]
    fn what_is_done_again_and_changes_something_is_no_circle() {
        let next = |n: usize| (call("click", json!({ "x": 1 })), result(Effect::Unverified), Some(n as u64));
        assert_eq!(said((0..20).map(next)), ".".repeat(20));
        let read = |n: usize| {
            let read = ExecResult { data: json!({ "text": n }), ..result(Effect::Confirmed) };
            (call("webRead", json!({})), read, None)
        };
        assert_eq!(said((0..20).map(read)), ".".repeat(20));
        let waits = |n: usize| {
            let tool = if n.is_multiple_of(2) { "wait" } else { "screenshot" };
            (call(tool, json!({})), result(Effect::Confirmed), (n % 2 == 1).then_some(7))
        };
        assert_eq!(said((0..40).map(waits)), ".".repeat(40));
    }

    #[test]
    fn looks_alone_are_told_and_never_paused() {
        let look = |_| (call("screenshot", json!({})), result(Effect::Confirmed), Some(7));
        let said = said((0..60).map(look));
        assert!(said.starts_with("..n.r..") && !said.contains('P'), "{said}");
    }

    #[test]
    fn what_is_asked_for_at_once_is_no_circle() {
        let mut loops = LoopDetector::default();
        for _ in 0..50 {
            let said =
                loops.note(1, &call("click", json!({ "x": 1 })), false, &result(Effect::NoChange), Some(7));
            assert_eq!(said, None);
        }
    }

    #[test]
    fn acts_that_change_nothing_on_the_screen_are_told_whatever_they_are() {
        let about = |n: usize| (call("click", json!({ "x": n })), result(Effect::Unverified), Some(7));
        assert_eq!(said((0..13).map(about)), "......n..r..P");
    }
}
