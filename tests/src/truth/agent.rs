//! An agent with hands of its own, that does what it is told: a run whose model is asked for the next call by its test.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use protocol::command::{AnswerApproval, RunOverrides, StartRun, StartedRun};
use protocol::tool::Answer;
use protocol::view::Question;
use serde_json::{Value, json};

use crate::fake_model::{Asked, FakeModel, MindTurn, SentElement};
use crate::miki::{self, Client};
use crate::waiting::{LONG, wait_for};

/// Longest wait for what a call came to.
const ANSWERS: Duration = Duration::from_secs(30);
/// Between two looks whether it asks its user.
const LOOKS: Duration = Duration::from_millis(300);

pub struct Agent {
    client: Client,
    run: Option<StartedRun>,
    next: Sender<Option<(String, Value)>>,
    came: Receiver<Value>,
}

/// The model, and what it is told by.
pub struct Puppet {
    pub model: FakeModel,
    next: Sender<Option<(String, Value)>>,
    came: Receiver<Value>,
}

impl Puppet {
    /// # Errors
    /// Where its server does not come up.
    pub fn new() -> Result<Self> {
        let (next, told) = channel::<Option<(String, Value)>>();
        let (tell, came) = channel::<Value>();
        let mind = move |asked: &Asked| {
            for result in asked.results() {
                let mut came = result.response.clone();
                if result.name == "elementsJson" {
                    came["data"]["elements"] = result.elements().iter().map(listed).collect();
                }
                // Nobody waits for what was done by the run's own doing.
                let _ = tell.send(came);
            }
            match told.recv() {
                Ok(Some((tool, arguments))) => MindTurn::call("", &tool, arguments),
                Ok(None) | Err(_) => MindTurn::done("it was done as told", true),
            }
        };
        Ok(Self { model: FakeModel::start(mind)?, next, came })
    }

    /// The agent of this model, in the engine that `client` is connected to.
    pub fn agent(self, client: Client) -> (Agent, FakeModel) {
        let Self { model, next, came } = self;
        (Agent { client, run: None, next, came }, model)
    }
}

/// As a single call has it, from the line that a model reads.
fn listed(one: &SentElement) -> Value {
    json!({
        "ref": one.reference, "role": one.role, "name": one.name, "value": one.value, "states": one.states,
        "actions": one.actions,
        "bounds": { "x": one.x, "y": one.y, "width": one.width, "height": one.height },
    })
}

impl Agent {
    /// A run of its own, whose first act makes its hands.
    ///
    /// # Errors
    /// Where the engine does not take it.
    pub fn begin(&mut self) -> Result<()> {
        self.end()?;
        let start = StartRun { goal: "do as told".into(), session: None, overrides: RunOverrides::default() };
        self.run = Some(serde_json::from_value(self.client.call(start.into())?)?);
        Ok(())
    }

    /// Its hands are gone with it.
    ///
    /// # Errors
    /// Where it does not end.
    pub fn end(&mut self) -> Result<()> {
        let Some(run) = self.run.take() else { return Ok(()) };
        self.next.send(None)?;
        let client = &mut self.client;
        wait_for("the agent's end", LONG, || miki::end(&client.history(&run.session).ok()?))?;
        while self.came.try_recv().is_ok() {}
        Ok(())
    }

    /// As `CallTool` answers a call: its effect, what is said of it, its data.
    ///
    /// # Errors
    /// Where there is no answer.
    pub fn call(&mut self, tool: &str, mut arguments: Value) -> Result<Value> {
        if self.run.is_none() {
            bail!("{tool}: no agent works");
        }
        // What only looks takes none.
        if tool != "elementsJson" {
            arguments["reason"] = json!("as told");
        }
        self.next.send(Some((tool.to_owned(), arguments)))?;
        let begun = Instant::now();
        while begun.elapsed() < ANSWERS {
            match self.came.recv_timeout(LOOKS) {
                Ok(came) => return Ok(came),
                // Its user says yes where they are asked.
                Err(RecvTimeoutError::Timeout) => self.say_yes()?,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        bail!("{tool} was not answered")
    }

    fn say_yes(&mut self) -> Result<()> {
        for Question { approval, .. } in self.client.overview()?.questions {
            let answer =
                AnswerApproval { approval: approval.id, digest: approval.digest, answer: Answer::Once };
            self.client.call(answer.into())?;
        }
        Ok(())
    }
}
