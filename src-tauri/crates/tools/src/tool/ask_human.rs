//! `askHuman`: a child's question to the user, which stands open until it is answered, over restarts too. The answer is
//! what the user adds to its arguments.

use async_trait::async_trait;
use protocol::tool::{ASK_HUMAN, Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, filled};
use crate::untrusted;

const MOST_CHARS: usize = 2_000;
const ANSWER_CHARS: usize = 4_000;

pub(super) struct AskHuman;

/// Asks the user what only they can decide or know, and waits for the answer, however long.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(length(min = 1, max = 2000))]
    question: String,
    /// The user's: a model that gives one itself is refused by whoever runs it.
    #[schemars(skip)]
    answer: Option<String>,
}

impl Builtin for AskHuman {
    const NAME: &'static str = ASK_HUMAN;
    const RISK: Risk = Risk::Consequential;
    const GROUP: Group = Group::Mind;
    const NEEDS: Needs = Needs::Nothing;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    const FOR_CHILDREN: bool = true;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        filled("question", input.question.trim(), MOST_CHARS)?;
        let question = untrusted::clean(input.question.trim()).0;
        match input.answer {
            None => Ok(Plan::new(Self::RISK, Answered("yes".to_owned())).asking_always(question)),
            Some(answer) => {
                filled("answer", answer.trim(), ANSWER_CHARS)?;
                Ok(Plan::new(Risk::Observe, Answered(answer.trim().to_owned())))
            }
        }
    }
}

struct Answered(String);

#[async_trait]
impl Task for Answered {
    async fn run(&self, _: &Context) -> Outcome {
        let summary = format!("the user answered: {}", untrusted::line(&self.0, 120));
        Outcome::looked(summary, json!({ "answer": self.0 }))
    }
}
