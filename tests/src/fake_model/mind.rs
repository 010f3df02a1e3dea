//! Scripted minds: each gets what a model gets, and answers as one.

use std::collections::VecDeque;
use std::time::Duration;

use protocol::turn::Usage;
use serde_json::{Value, json};

use super::Asked;
use super::computer::ComputerAction;

/// What stands where the model would.
pub trait Mind: Send {
    fn turn(&mut self, request: &Asked) -> MindTurn;
}

impl<F: FnMut(&Asked) -> MindTurn + Send> Mind for F {
    fn turn(&mut self, request: &Asked) -> MindTurn {
        self(request)
    }
}

/// One answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MindTurn {
    /// How long the model takes before it says anything.
    pub pause: Duration,
    pub thinking: String,
    /// What it looked up before it said anything; only where that was asked for.
    pub search: Option<Search>,
    pub text: String,
    /// In parallel, where there are several.
    pub calls: Vec<(String, Value)>,
    /// By the vendor's own computer tool, after the calls; only where that is offered.
    pub actions: Vec<ComputerAction>,
    /// What the vendor warns of before the first of them.
    pub warning: Option<String>,
    /// What the turn is said to have cost; counted where there is none.
    pub usage: Option<Usage>,
}

impl MindTurn {
    /// A turn with one call.
    pub fn call(text: &str, tool: &str, arguments: Value) -> Self {
        Self { text: text.to_owned(), calls: vec![(tool.to_owned(), arguments)], ..Self::default() }
    }

    /// A turn of the vendor's computer tool.
    pub fn actions(text: &str, actions: &[ComputerAction]) -> Self {
        Self { text: text.to_owned(), actions: actions.to_vec(), ..Self::default() }
    }

    /// The end, well or not.
    pub fn done(summary: &str, success: bool) -> Self {
        Self::call("", "done", json!({ "summary": summary, "success": success }))
    }

    #[must_use]
    pub fn thinking(mut self, thought: &str) -> Self {
        thought.clone_into(&mut self.thinking);
        self
    }
}

/// A search of the provider's own, and what it found: what the turn then says rests on all of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    pub query: String,
    /// Addresses with their titles.
    pub found: Vec<(String, String)>,
    /// The turn ends with it, to be gone on with: Anthropic's way with long searches.
    pub pauses: bool,
}

/// Never stops; never twice the same.
#[derive(Default)]
pub struct LoopMind(u32);

impl Mind for LoopMind {
    fn turn(&mut self, _: &Asked) -> MindTurn {
        self.0 += 1;
        MindTurn::call(
            "",
            "think",
            json!({ "thought": format!("I am at thought {} and see no end", self.0) }),
        )
    }
}

/// Says its turns in order, then that it is done.
pub struct ScriptMind(VecDeque<MindTurn>);

impl ScriptMind {
    pub fn new(turns: impl IntoIterator<Item = MindTurn>) -> Self {
        Self(turns.into_iter().collect())
    }
}

impl Mind for ScriptMind {
    fn turn(&mut self, _: &Asked) -> MindTurn {
        self.0.pop_front().unwrap_or_else(|| MindTurn::done("all that was in the script is done", true))
    }
}

/// Gets everything wrong that a model can, with a good call after every second one, then comes to its senses.
pub struct BadMind(ScriptMind);

impl BadMind {
    /// Calls that must each come back as an error.
    pub const MISTAKES: usize = 6;
}

impl Default for BadMind {
    fn default() -> Self {
        let think = || ("think", json!({ "thought": "that was wrong" }));
        let calls: [(&str, Value); Self::MISTAKES + 3] = [
            ("fly", json!({ "to": "the moon" })),
            ("click", json!({ "x": "left", "y": [] })),
            think(),
            ("click", json!({ "x": 5000, "y": -3 })),
            ("click", json!({ "x": 500 })),
            think(),
            ("type", json!({ "text": "x", "secretly": true })),
            ("hotkey", json!({ "keys": ["no such key"] })),
            think(),
        ];
        Self(ScriptMind::new(calls.map(|(tool, arguments)| MindTurn::call("", tool, arguments))))
    }
}

impl Mind for BadMind {
    fn turn(&mut self, request: &Asked) -> MindTurn {
        self.0.turn(request)
    }
}

/// Another mind, thinking for longer.
pub struct SlowMind<M> {
    pub mind: M,
    pub pause: Duration,
}

impl<M: Mind> Mind for SlowMind<M> {
    fn turn(&mut self, request: &Asked) -> MindTurn {
        let turn = self.mind.turn(request);
        MindTurn { pause: turn.pause + self.pause, ..turn }
    }
}
