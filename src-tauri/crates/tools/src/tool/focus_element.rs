//! `focusElement`: the keyboard focus goes to an element of the last list.

use async_trait::async_trait;
use desktop::{Abilities, Deed, Target};
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::elements::needs_elements;
use super::{Catalog, Context, Outcome, Plan, Task, Tool, filled};
use crate::untrusted;

const MOST_CHARS: usize = 40;

pub(super) struct FocusElement;

/// Gives an element the keyboard focus, by its ref from the last elementsJson.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Such as e12.
    #[serde(rename = "ref")]
    #[schemars(length(min = 1, max = 40))]
    reference: String,
    /// Why, in a few words for the user.
    reason: Option<String>,
}

impl Tool for FocusElement {
    const NAME: &'static str = "focusElement";
    const RISK: Risk = Risk::Navigate;
    type Input = Input;

    fn missing(abilities: &Abilities) -> Option<&'static str> {
        needs_elements(abilities)
    }

    fn plan(input: Input, _: &Catalog<'_>) -> Result<Plan, ToolError> {
        filled("ref", &input.reference, MOST_CHARS)?;
        Ok(Plan::of(Focus { reference: input.reference }).because(input.reason))
    }
}

struct Focus {
    reference: String,
}

#[async_trait]
impl Task for Focus {
    async fn run(&self, cx: &Context) -> Outcome {
        let seen = cx.seen().get(&self.reference).cloned();
        let named =
            seen.as_ref().map(|element| untrusted::line(&element.name, 60)).filter(|name| !name.is_empty());
        let shown = untrusted::line(&self.reference, MOST_CHARS);
        let summary = match named {
            Some(name) => format!("focused {name} ({shown})"),
            None => format!("focused {shown}"),
        };
        cx.begin();
        let target = Target::Ref(self.reference.clone());
        match cx.desktop.operate(target, Deed::Focus, cx.cancel.clone()).await {
            Ok(done) => {
                Outcome::acted(&done.acted, &summary, done.at.or(seen.and_then(|element| element.at)))
            }
            Err(error) => Outcome::failed_acting(FocusElement::NAME, &error),
        }
    }
}
