//! `plan`: the model proposes what it will work within; the user changes it, agrees to it or not.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use protocol::contract::Contract;
use protocol::tool::{Effect as CallEffect, Risk, ToolError, ToolErrorKind};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::json;

use super::{Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, tool_error};
use crate::contract;

pub(crate) const NAME: &str = "plan";

pub(super) struct Propose;

/// Read as a contract; what the model is told of it stands in [`Terms`].
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Input(Contract);

impl JsonSchema for Input {
    fn schema_name() -> Cow<'static, str> {
        Terms::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Terms::json_schema(generator)
    }
}

/// Proposes a plan to the user, once you have looked, before the first of more than two changes. What they agree to runs
/// unasked; all else asks. Name no more than you need; the answer has it as they left it. `done` is refused while a check
/// fails.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
#[schemars(deny_unknown_fields)]
struct Terms {
    /// In the user's language.
    #[schemars(length(min = 1, max = 20))]
    steps: Vec<String>,
    /// Where you will change something, as listWindows calls it; pages by hosts.
    applications: Option<Vec<String>>,
    /// Of files and checks: ~/Documents/letters.
    folders: Option<Vec<String>>,
    /// No wildcards.
    hosts: Option<Vec<String>>,
    /// All you will do there. `edit`: click, type. `browse`: go to the hosts' pages, enter things. `run`: type into
    /// terminals. The others: what a control says it does.
    effects: Option<Vec<Effect>>,
    budget: Option<Limits>,
    /// What must be so at the end.
    checks: Option<Vec<Looked>>,
}

// As `protocol::contract::EffectClass`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
#[schemars(rename_all = "camelCase")]
enum Effect {
    Edit,
    Clipboard,
    Browse,
    Run,
    Send,
    Submit,
    Publish,
    Delete,
    Pay,
    Sign,
    Install,
    System,
    Remote,
    Passwords,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
#[schemars(deny_unknown_fields)]
struct Limits {
    #[schemars(range(min = 1, max = 500))]
    turns: Option<u32>,
    #[schemars(range(min = 1, max = 10080))]
    minutes: Option<u32>,
    dollars: Option<f64>,
}

/// fileExists, fileContains, fileHash: path, text, sha256. window: application, title. element: application, name, role,
/// value. commandExit: command, code. event, reminder: title.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
#[schemars(deny_unknown_fields)]
struct Looked {
    check: Kind,
    path: Option<String>,
    text: Option<String>,
    sha256: Option<String>,
    application: Option<String>,
    title: Option<String>,
    name: Option<String>,
    role: Option<String>,
    value: Option<String>,
    address: Option<String>,
    question: Option<String>,
    command: Option<String>,
    code: Option<i32>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
#[schemars(rename_all = "camelCase")]
enum Kind {
    FileExists,
    FileContains,
    FileHash,
    Window,
    Element,
    PageAddress,
    PageText,
    AskUser,
    CommandExit,
    Reminder,
    Event,
}

impl Builtin for Propose {
    const NAME: &'static str = NAME;
    /// Asked each time, and no part of a batch.
    const RISK: Risk = Risk::Consequential;
    const GROUP: Group = Group::Mind;
    const NEEDS: Needs = Needs::Nothing;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = Input;

    fn plan(input: Input, env: &Env<'_>) -> Result<Plan, ToolError> {
        let proposed = contract::read(input.0, env.home)?;
        Ok(Plan::new(Self::RISK, Agree(Arc::new(proposed))))
    }
}

struct Agree(Arc<Contract>);

#[async_trait]
impl Task for Agree {
    async fn run(&self, cx: &Context) -> Outcome {
        let Some(agreed) = &cx.agreed else {
            let error =
                tool_error(ToolErrorKind::Failed, "the plan could not be put in force; propose it again");
            return Outcome::failed(NAME, CallEffect::Refused, error);
        };
        let changes = agreed.changes_from(&self.0);
        let summary = match changes.is_empty() {
            true => "the user agreed to the plan",
            false => "the user agreed to the plan, changed",
        };
        let mut data = json!({ "plan": **agreed });
        if !changes.is_empty() {
            data["changes"] = json!(changes);
        }
        Outcome::looked(summary, data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::contract::EffectClass;

    #[test]
    fn the_model_is_told_of_every_effect() {
        let schema = crate::schema::derive::<Input>().schema;
        let told = &schema["properties"]["effects"]["items"]["enum"];
        assert_eq!(told, &json!(EffectClass::ALL.map(EffectClass::name)));
    }
}
