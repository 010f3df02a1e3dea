//! What tools that act on an element share: which element is meant, the action done to it, and what is said of it.

use async_trait::async_trait;
use desktop::{ActionMethod, ElementAction, Operated, Selector, Target};
use protocol::tool::{Effect, ToolError};
use serde_json::json;

use super::{Builtin, Context, Outcome, Plan, Task, bad_arguments, filled, on_screen};
use crate::reach::{Act, Reach};
use crate::untrusted;

/// Characters of a ref, and of each part of a selector.
const REF_CHARS: usize = 40;
const MOST_CHARS: usize = 200;
/// Characters of an element's name in a line for people.
const CALLED_CHARS: usize = 90;

/// How a call names its element, as it came.
pub(super) struct ElementArguments {
    pub reference: Option<String>,
    pub app: Option<String>,
    pub role: Option<String>,
    pub name: Option<String>,
    pub within: Option<String>,
}

impl ElementArguments {
    /// A ref alone, or a selector with a role or a name.
    pub(super) fn target(self) -> Result<Target, ToolError> {
        // Models fill optional fields with "" where they mean nothing.
        let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let Self { reference, app, role, name, within } = self;
        let reference = given(reference);
        let selector =
            Selector { app: given(app), role: given(role), name: given(name), within: given(within) };
        if let Some(reference) = reference {
            filled("ref", &reference, REF_CHARS)?;
            if selector != Selector::default() {
                return Err(bad_arguments("give either a ref, or role, name, within and app; not both"));
            }
            return Ok(Target::Ref(reference));
        }
        let fields = [
            ("app", &selector.app),
            ("role", &selector.role),
            ("name", &selector.name),
            ("within", &selector.within),
        ];
        for (field, text) in fields {
            if let Some(text) = text {
                filled(field, text, MOST_CHARS)?;
            }
        }
        if selector.role.is_none() && selector.name.is_none() {
            return Err(bad_arguments("name the element: by its ref, or by its role or name"));
        }
        Ok(Target::Selector(selector))
    }
}

/// One action to one element.
pub(super) struct Operation {
    tool: &'static str,
    target: Target,
    action: ElementAction,
    /// "clicked", "focused": what comes before the element's name.
    verb: String,
}

impl Operation {
    pub(super) fn plan<T: Builtin>(target: Target, action: ElementAction, verb: impl Into<String>) -> Plan {
        let reach = Reach::Element(target.clone());
        let act = Act::Element(action.clone());
        Plan::new(T::RISK, Self { tool: T::NAME, target, action, verb: verb.into() })
            .reaching(reach)
            .doing(act)
    }
}

#[async_trait]
impl Task for Operation {
    async fn run(&self, cx: &Context) -> Outcome {
        let action = match &self.action {
            ElementAction::SetValue(text) => {
                match cx.fill(text, &Reach::Element(self.target.clone())).await {
                    Ok(text) => ElementAction::SetValue(text),
                    Err(error) => return Outcome::failed(self.tool, Effect::Refused, error),
                }
            }
            other => other.clone(),
        };
        let sets = matches!(action, ElementAction::SetValue(_));
        let before = if sets { on_screen::value_of(cx, &self.target).await } else { None };
        cx.begin();
        match cx.desktop.operate(self.target.clone(), action, cx.cancel.clone()).await {
            Ok(done) => {
                let mut outcome = told(&done, &self.verb);
                if sets && !cx.cancel.is_cancelled() {
                    outcome.changes.extend(on_screen::value_set(cx, &self.target, before).await);
                }
                outcome
            }
            Err(error) => Outcome::failed_acting(self.tool, &error),
        }
    }
}

/// Names come from the screen, so they are cleaned like all that was read.
pub(super) fn told(done: &Operated, verb: &str) -> Outcome {
    let called = untrusted::line(&done.called, CALLED_CHARS);
    let mut outcome = Outcome::acted(&done.acted, &format!("{verb} {called}"), done.at);
    outcome.data["by"] = json!(match done.by {
        ActionMethod::Accessibility => "accessibility",
        ActionMethod::Input => "pointer or keys",
    });
    outcome
}
