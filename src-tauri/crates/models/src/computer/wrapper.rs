//! A model that acts by its vendor's own computer tool, for callers who know only tools of ours: its actions leave here as
//! our calls, and come back in the vendor's form with the answers.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use protocol::geometry::PixelSize;
use protocol::ids::ModelId;
use serde_json::{Value, json};

use super::{ACKNOWLEDGED, Adapter, Computer, Point, REPLACED, safety_checks, unwarned};
use crate::{
    Message, Model, ModelError, ProposedCall, Request, SharedModel, ToolAnswer, ToolSpec, Translation, Turn,
    TurnEvent, TurnEvents,
};

/// What the model is told of its tool; `{places}` is what its coordinates count.
const PROMPT: &str = include_str!("prompt.md");

/// The model, acting by this computer tool. In a request without a display it has our tools.
pub fn with(computer: Option<Computer>, model: SharedModel) -> SharedModel {
    match computer {
        Some(computer) => Arc::new(ComputerUse { model, computer, pointer: Arc::default() }),
        None => model,
    }
}

struct ComputerUse {
    model: SharedModel,
    computer: Computer,
    /// Where the last action left the pointer.
    pointer: Arc<Mutex<Option<Point>>>,
}

impl Model for ComputerUse {
    fn id(&self) -> &ModelId {
        self.model.id()
    }

    fn needs_display(&self) -> bool {
        true
    }

    fn stream(&self, request: Arc<Request>) -> BoxFuture<'_, Result<TurnEvents, ModelError>> {
        let Some(display) = request.display else { return self.model.stream(request) };
        let (computer, pointer) = (self.computer, Arc::clone(&self.pointer));
        let translate = move |event| match event {
            TurnEvent::Finished { turn, usage, stop } => {
                let mut pointer = pointer.lock().unwrap_or_else(PoisonError::into_inner);
                TurnEvent::Finished { turn: translated(turn, computer, display, &mut pointer), usage, stop }
            }
            other => other,
        };
        let request = as_written(&request, computer);
        async move {
            let stream = self.model.stream(Arc::new(request)).await?;
            Ok(stream.map(move |event| event.map(&translate)).boxed())
        }
        .boxed()
    }

    fn probe(&self) -> BoxFuture<'_, Result<(), ModelError>> {
        self.model.probe()
    }
}

/// The turn with calls of ours in place of the vendor's actions.
fn translated(mut turn: Turn, computer: Computer, display: PixelSize, pointer: &mut Option<Point>) -> Turn {
    let mut adapter = Adapter { computer, display, pointer: *pointer };
    let calls = turn.calls.into_iter().flat_map(|call| match computer.owns(&call.name) {
        true => parts(call, &mut adapter),
        false => vec![call],
    });
    turn.calls = calls.collect();
    *pointer = adapter.pointer;
    turn
}

/// The calls of ours that an action is; one that cannot be done stands for itself.
fn parts(call: ProposedCall, adapter: &mut Adapter) -> Vec<ProposedCall> {
    let adapted = adapter.adapt(&call);
    let refusal = adapted.as_ref().err().map(ToString::to_string);
    let ours = match adapted {
        Ok(ours) => ours.into_iter().map(|one| (one.tool.to_owned(), one.arguments)).collect(),
        Err(_) => vec![(call.name.clone(), unwarned(&call))],
    };
    let needs_picture = adapter.computer.needs_pictures();
    // Those after the first are done only if the first was.
    let mut warnings: Vec<String> = safety_checks(&call).into_iter().map(|check| check.message).collect();
    let (of, count) = (Arc::new(call), ours.len());
    let part = |(number, (name, arguments)): (usize, (String, Value))| {
        let translation = Translation {
            of: Arc::clone(&of),
            goes_on: number < count,
            refusal: refusal.clone(),
            warnings: std::mem::take(&mut warnings),
            accepted: false,
            needs_picture,
        };
        ProposedCall { id: None, name, arguments, translation: Some(Box::new(translation)) }
    };
    (1..).zip(ours).map(part).collect()
}

/// The request with all as the model wrote it, and with the vendor's tool in place of ours.
fn as_written(request: &Request, computer: Computer) -> Request {
    let system = format!("{}{}", request.system, PROMPT.replace("{places}", computer.places()));
    let ours = |tools: &[ToolSpec]| {
        tools.iter().filter(|tool| !REPLACED.contains(&tool.name.as_str())).cloned().collect::<Vec<_>>()
    };
    let (tools, later) = (ours(&request.tools), ours(&request.later));
    let mut messages = request.messages.clone();
    let mut rest = messages.as_mut_slice();
    while let [first, after @ ..] = rest {
        if let (Message::Assistant(turn), [Message::ToolResults(answers), ..]) = (first, &mut *after) {
            write_back(turn, answers);
        }
        rest = after;
    }
    Request { system, tools, later, messages, display: request.display, max_output: request.max_output }
}

/// Puts the model's own calls and one answer to each in the place of ours.
fn write_back(turn: &mut Turn, answers: &mut Vec<ToolAnswer>) {
    // In the vendor's form, a call that was warned of cannot go back without a yes: the turn is told in calls of ours.
    let is_open = |one: &Translation| !one.warnings.is_empty() && !one.accepted;
    if turn.calls.iter().filter_map(|call| call.translation.as_deref()).any(is_open) {
        turn.raw = Value::Null;
        turn.calls.iter_mut().for_each(|call| call.translation = None);
        return;
    }
    let (mut calls, mut told, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for (mut call, answer) in turn.calls.drain(..).zip(answers.drain(..)) {
        match call.translation.take() {
            None => {
                calls.push(call);
                told.push(answer);
            }
            Some(one) => {
                parts.push(answer);
                if !one.goes_on {
                    told.push(together(&one.of, std::mem::take(&mut parts)));
                    calls.push((*one.of).clone());
                }
            }
        }
    }
    (turn.calls, *answers) = (calls, told);
}

/// One answer for all parts of an action.
fn together(call: &ProposedCall, parts: Vec<ToolAnswer>) -> ToolAnswer {
    let mut response = match &parts[..] {
        [only] => only.response.clone(),
        _ => {
            let responses = || parts.iter().map(|part| &part.response);
            let said: Vec<&str> = responses().filter_map(|response| response["summary"].as_str()).collect();
            let mut response = json!({ "summary": said.join("; ") });
            let last = parts.last().map(|part| &part.response);
            response["effect"] = last.map_or(Value::Null, |last| last["effect"].clone());
            if let Some(error) = responses().find_map(|response| response.get("error")) {
                response["error"] = error.clone();
            }
            if let Some(words) = last.and_then(|last| last.get("picture")) {
                response["picture"] = words.clone();
            }
            response
        }
    };
    let checks = safety_checks(call);
    if !checks.is_empty() {
        response[ACKNOWLEDGED] = checks.into_iter().map(|check| check.as_it_came).collect();
    }
    let image = parts.into_iter().last().and_then(|last| last.image);
    ToolAnswer { id: call.id.clone(), name: call.name.clone(), response, image }
}
