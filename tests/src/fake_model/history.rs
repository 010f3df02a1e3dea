//! What every vendor refuses in a history: calls without answers, broken order, thoughts and calls that were lost or
//! changed. Each words it in its own way.
//!
//! Stricter than the real ones in this: every turn that was given out must come back whole, signed or not, and answers
//! stand in the order of their calls.

use std::collections::HashSet;

use protocol::turn::Usage;
use serde_json::Value;

use super::asked::{Answer, Heard, Said, ToolResult};

/// A turn as it was given out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// Of its calls.
    pub ids: Vec<String>,
    pub signatures: Vec<String>,
    /// What must come back, in the wire's own form.
    pub raw: Vec<Value>,
    /// Text that must come back byte for byte.
    pub verbatim: Vec<String>,
    /// What the wire told of the tokens: not every one can tell all.
    pub usage: Usage,
    /// What the vendor said that it charges, in pieces of which a dollar has 10^10.
    pub billed: Option<u64>,
    /// The turn did not end: it goes on where it comes back as the last.
    pub paused: bool,
    /// The conversation before it.
    pub(super) prefix: u64,
}

/// What is wrong with a history; `at` counts messages.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Flaw {
    Empty,
    NotTheUserFirst,
    NotTheUserLast,
    Unanswered {
        at: usize,
        ids: Vec<String>,
    },
    /// An answer where no call is.
    Unasked {
        at: usize,
        id: String,
    },
    /// Answers stand in another order than their calls.
    Swapped {
        at: usize,
        id: String,
    },
    /// Of what was given out, something is not there any more.
    Lost {
        at: usize,
        raw: Vec<Value>,
    },
    Changed {
        at: usize,
    },
    /// A signature that nobody gave out.
    Forged {
        at: usize,
    },
    /// A thought of another conversation.
    Bound {
        at: usize,
    },
}

/// # Errors
/// The first flaw.
pub(super) fn check(heard: &Heard, given: &[&Given]) -> Result<(), Flaw> {
    in_order(&heard.messages)?;
    if let Some(Said::Assistant(last)) = heard.messages.last()
        && !given.iter().any(|given| given.paused && is_of(last, given))
    {
        return Err(Flaw::NotTheUserLast);
    }
    let signatures: HashSet<&String> = given.iter().flat_map(|given| &given.signatures).collect();
    for (at, said) in heard.messages.iter().enumerate() {
        let Said::Assistant(answer) = said else { continue };
        // The newest first: that is where a conversation mostly is.
        match given.iter().rev().find(|given| is_of(answer, given)) {
            Some(given) if answer.raw.len() < given.raw.len() => {
                return Err(Flaw::Lost { at, raw: given.raw.clone() });
            }
            Some(given) if answer.raw != given.raw => return Err(Flaw::Changed { at }),
            Some(given) => {
                let is_signed = !given.signatures.is_empty();
                if heard.binds && is_signed && heard.prefix(at) != given.prefix {
                    return Err(Flaw::Bound { at });
                }
            }
            None if answer.signatures.iter().all(|signature| signatures.contains(signature)) => {}
            None => return Err(Flaw::Forged { at }),
        }
    }
    Ok(())
}

fn is_of(answer: &Answer, given: &Given) -> bool {
    let same_call = answer.calls.iter().any(|call| call.id.as_ref().is_some_and(|id| given.ids.contains(id)));
    same_call || answer.signatures.iter().any(|signature| given.signatures.contains(signature))
}

fn in_order(messages: &[Said]) -> Result<(), Flaw> {
    match messages.first() {
        None => return Err(Flaw::Empty),
        Some(Said::Assistant(_)) => return Err(Flaw::NotTheUserFirst),
        Some(Said::User { .. } | Said::Results(_)) => {}
    }
    for (at, said) in messages.iter().enumerate() {
        let next = messages.get(at + 1);
        match (said, next) {
            (Said::Assistant(answer), Some(Said::Results(results))) => answered(answer, results, at)?,
            (Said::Assistant(answer), _) if !answer.calls.is_empty() => {
                let ids = answer.calls.iter().filter_map(|call| call.id.clone()).collect();
                return Err(Flaw::Unanswered { at, ids });
            }
            (Said::Results(results), _)
                if !at.checked_sub(1).is_some_and(|at| matches!(messages[at], Said::Assistant(_))) =>
            {
                let id = results.first().map(name_of).unwrap_or_default();
                return Err(Flaw::Unasked { at, id });
            }
            _ => {}
        }
    }
    Ok(())
}

/// The answers to the calls of the message at `at`, which stand in the one after it.
fn answered(answer: &Answer, results: &[ToolResult], at: usize) -> Result<(), Flaw> {
    for result in results {
        let known = answer.calls.iter().any(|call| match (&result.id, &call.id) {
            (Some(one), Some(other)) => one == other,
            _ => result.name == call.name,
        });
        if !known {
            return Err(Flaw::Unasked { at: at + 1, id: name_of(result) });
        }
    }
    if results.len() != answer.calls.len() {
        let is_answered =
            |id: &String| results.iter().any(|result| result.id.as_ref().is_none_or(|one| one == id));
        let ids = answer.calls.iter().filter_map(|call| call.id.clone());
        return Err(Flaw::Unanswered { at, ids: ids.filter(|id| !is_answered(id)).collect() });
    }
    for (call, result) in answer.calls.iter().zip(results) {
        let same_id = result.id.is_none() || result.id == call.id;
        if !same_id || result.name != call.name {
            return Err(Flaw::Swapped { at: at + 1, id: name_of(result) });
        }
    }
    Ok(())
}

fn name_of(result: &ToolResult) -> String {
    result.id.clone().unwrap_or_else(|| result.name.clone())
}

/// Gives answers without a name that of their call.
pub(super) fn name_results(messages: &mut [Said]) {
    let mut calls: Vec<(Option<String>, String)> = Vec::new();
    for said in messages {
        match said {
            Said::Assistant(answer) => {
                calls = answer.calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
            }
            Said::Results(results) => {
                for result in results.iter_mut().filter(|result| result.name.is_empty()) {
                    let call = calls.iter().find(|(id, _)| *id == result.id);
                    call.map(|(_, name)| name).unwrap_or(&String::new()).clone_into(&mut result.name);
                }
            }
            Said::User { .. } => {}
        }
    }
}
