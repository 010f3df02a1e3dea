//! `notes`: what the model keeps for itself, once what it read is no longer before it. Whoever runs it keeps the text; here
//! is how it is edited.

use async_trait::async_trait;
use protocol::tool::{Effect, Risk, ToolError, ToolErrorKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, bad_arguments, tool_error};
use crate::untrusted;

pub const NAME: &str = "notes";
/// Characters of all notes of a session.
pub const MOST_CHARS: usize = 4_000;

pub(super) struct Notes;

/// Your notes, which stay; told without arguments.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// A line to add.
    add: Option<String>,
    /// All anew (4,000 characters).
    all: Option<String>,
}

impl Builtin for Notes {
    const NAME: &'static str = NAME;
    const RISK: Risk = Risk::Observe;
    const GROUP: Group = Group::Mind;
    const NEEDS: Needs = Needs::Nothing;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        Ok(Plan::new(Self::RISK, Edit(input)))
    }
}

/// What a call of this tool does to the notes, as arguments of `notes`; `None` if it does nothing to them.
pub fn edit_of(tool: &str, arguments: &Value) -> Option<Value> {
    match tool {
        NAME => Some(arguments.clone()),
        super::CONTINUE => Some(json!({ "all": arguments["state"] })),
        _ => None,
    }
}

/// The notes after a call with these arguments.
///
/// # Errors
/// They would be too long, or the arguments are no edit.
pub fn edited(notes: &str, arguments: &Value) -> Result<String, ToolError> {
    let input: Input = serde_json::from_value(arguments.clone()).map_err(bad_arguments)?;
    edit(notes, &input)
}

fn edit(notes: &str, input: &Input) -> Result<String, ToolError> {
    let given = |text: &Option<String>| {
        let (text, _) = untrusted::clean(text.as_deref().unwrap_or_default());
        text.trim().to_owned()
    };
    let begun = if input.all.is_some() { given(&input.all) } else { notes.to_owned() };
    let all = match (begun.as_str(), given(&input.add)) {
        (_, added) if added.is_empty() => begun,
        ("", added) => added,
        (begun, added) => format!("{begun}\n{added}"),
    };
    let length = all.chars().count();
    if length > MOST_CHARS {
        return Err(bad_arguments(format!(
            "the notes would have {length} characters; at most {MOST_CHARS} are kept. Write them shorter, with `all`"
        )));
    }
    Ok(all)
}

struct Edit(Input);

#[async_trait]
impl Task for Edit {
    async fn run(&self, cx: &Context) -> Outcome {
        let Some(recalled) = &cx.ports.recalled else {
            let error =
                tool_error(ToolErrorKind::NotAvailable, "not available here: notes are kept within a run");
            return Outcome::failed(NAME, Effect::Refused, error);
        };
        let notes = match edit(&recalled.notes, &self.0) {
            Ok(notes) => notes,
            Err(error) => return Outcome::failed(NAME, Effect::Refused, error),
        };
        let length = notes.chars().count();
        match (&self.0.add, &self.0.all) {
            (None, None) => Outcome::looked(
                format!("told the notes, {length} of {MOST_CHARS} characters"),
                json!({ "notes": notes }),
            ),
            _ => Outcome::looked(format!("noted; {length} of {MOST_CHARS} characters"), Value::Null),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(notes: &str, arguments: &Value) -> String {
        edited(notes, arguments).unwrap()
    }

    #[test]
    fn a_line_is_added_all_are_written_anew_and_nothing_changes_nothing() {
        assert_eq!(after("", &json!({ "add": " total: 42 EUR " })), "total: 42 EUR");
        assert_eq!(after("total: 42 EUR", &json!({ "add": "due: 3 May" })), "total: 42 EUR\ndue: 3 May");
        assert_eq!(after("one\ntwo", &json!({ "all": "three" })), "three");
        assert_eq!(after("one\ntwo", &json!({ "all": "" })), "");
        assert_eq!(after("one", &json!({ "all": "two", "add": "three" })), "two\nthree");
        assert_eq!(after("one", &json!({})), "one");
        assert_eq!(after("", &json!({ "add": "a\u{200b}b" })), "ab", "what nobody sees is not kept");
    }

    #[test]
    fn more_than_is_kept_is_refused_and_says_what_to_do() {
        let full = "x".repeat(MOST_CHARS);
        assert_eq!(after("", &json!({ "all": full })), full);
        let error = edited(&full, &json!({ "add": "y" })).unwrap_err();
        assert_eq!(error.kind, ToolErrorKind::BadArguments);
        assert!(error.message.contains("4002") && error.message.contains("`all`"), "{}", error.message);
        assert!(edited("", &json!({ "text": "y" })).is_err());
    }
}
