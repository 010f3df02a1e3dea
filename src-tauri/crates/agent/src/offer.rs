//! What tools a run's model is offered: those of the groups that any goal needs, and the others once they are asked for.
//! Tools are a part of every request.

use models::{Message, ToolSpec};
use serde_json::{Value, json};
use tools::{Group, REASON, Spec, USE_TOOLS, named_groups};

use crate::context::Earlier;

const BOUNDS: [&str; 7] =
    ["additionalProperties", "maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum"];

/// The tools of a run, as they were when it began.
pub struct Offer {
    all: Vec<Spec>,
    /// The groups that were asked for, in that order: what was offered before stays where it was.
    asked: Vec<Group>,
}

impl Offer {
    /// Groups that were used in the conversation are offered from the beginning.
    pub fn new(all: Vec<Spec>, earlier: &Earlier) -> Self {
        let mut offer = Self { all, asked: Vec::new() };
        for tool in &earlier.recap.tools {
            offer.note_call(tool, &Value::Null);
        }
        for message in &earlier.messages {
            let Message::Assistant(turn) = message else { continue };
            for call in &turn.calls {
                offer.note_call(&call.name, &call.arguments);
            }
        }
        offer
    }

    /// The same with nothing left to be asked for.
    pub fn with_all(mut self) -> Self {
        let groups = self.all.iter().map(|spec| spec.group.clone()).collect();
        self.bring(groups);
        self
    }

    /// Whether a call brings more tools: it asks for them, or uses one that was not offered.
    pub fn note_call(&mut self, tool: &str, arguments: &Value) -> bool {
        let groups = match self.all.iter().find(|spec| &*spec.name == tool) {
            Some(_) if tool == USE_TOOLS => named_groups(arguments),
            Some(spec) => vec![spec.group.clone()],
            None => Vec::new(),
        };
        self.bring(groups)
    }

    /// Whether any of these is new.
    fn bring(&mut self, groups: Vec<Group>) -> bool {
        let before = self.asked.len();
        for group in groups {
            if !group.is_for_any_goal() && !self.asked.contains(&group) {
                self.asked.push(group);
            }
        }
        self.asked.len() > before
    }

    /// All that may be offered.
    pub fn all(&self) -> &[Spec] {
        &self.all
    }

    /// A tool of each group that was asked for, in that order.
    pub fn asked_for(&self) -> Vec<String> {
        let first = |group: &Group| self.all.iter().find(|spec| spec.group == *group);
        self.asked.iter().filter_map(first).map(|spec| spec.name.to_string()).collect()
    }

    /// All that is offered only once it is asked for, the same throughout the run.
    pub fn later(&self) -> Vec<ToolSpec> {
        self.all.iter().filter(|spec| !spec.group.is_for_any_goal()).map(offered).collect()
    }

    /// What is offered now.
    pub fn tools(&self) -> Vec<ToolSpec> {
        let of_any = self.all.iter().filter(|spec| spec.group.is_for_any_goal());
        let asked =
            self.asked.iter().flat_map(|group| self.all.iter().filter(move |spec| spec.group == *group));
        of_any.chain(asked).map(offered).collect()
    }
}

fn offered(spec: &Spec) -> ToolSpec {
    ToolSpec {
        name: spec.name.to_string(),
        description: spec.description.clone(),
        schema: brief(&spec.schema),
    }
}

/// A schema without its bounds, which weigh a fifth of it: what is beyond one is refused with a word on it. The system
/// prompt says what a reason is.
fn brief(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let mut kept = serde_json::Map::new();
    for (key, value) in fields {
        let value = match (key.as_str(), value) {
            (key, _) if BOUNDS.contains(&key) => continue,
            ("properties", Value::Object(all)) => all
                .iter()
                .map(|(name, one)| {
                    (name.clone(), if name == REASON { json!({ "type": "string" }) } else { brief(one) })
                })
                .collect(),
            ("items", one) => brief(one),
            (_, other) => other.clone(),
        };
        kept.insert(key.clone(), value);
    }
    Value::Object(kept)
}
