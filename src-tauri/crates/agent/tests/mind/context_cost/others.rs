//! The same run in two other ways: as it was told before parts of the screen were (at commit `ffafd8c`: ten whole pictures,
//! then two; the newer half of 24 messages; whole lists; all tools in each request), and with the newest 24 messages and no cache.

use std::sync::Arc;

use models::pictures::Family;
use models::{Detail, Image, Message, Part, ProposedCall, Request, ToolAnswer, ToolSpec, Turn};
use protocol::tool::{ExecResult, ToolCall};
use serde_json::{Value, json};

const MESSAGES: usize = 24;
const PICTURES: usize = 10;
const KEPT_PICTURES: usize = 2;
const DATA_CHARS: usize = 2_000;
/// Characters of the 41 schemas that were in every request then, as issue 13 counted them.
const TOOLS_CHARS: usize = 28_000;

/// A turn with its answer, and the whole picture that came of it.
pub struct Exchange {
    turn: Turn,
    response: Value,
    name: String,
    picture: Option<(String, Image)>,
}

impl Exchange {
    pub fn of(text: String, calls: Vec<ToolCall>) -> Self {
        let name = calls.first().map(|call| call.tool.clone()).unwrap_or_default();
        let raw: Vec<Value> = calls
            .iter()
            .zip(1..)
            .map(|(call, number)| json!({ "id": format!("p{number}"), "name": call.tool, "args": call.arguments }))
            .collect();
        let raw = json!({ "text": text, "calls": raw });
        let calls = calls
            .into_iter()
            .zip(1..)
            .map(|(call, number)| ProposedCall::new(Some(format!("p{number}")), call.tool, call.arguments));
        let turn = Turn { text, calls: calls.collect(), provider: "scripted".into(), raw };
        Self { turn, response: Value::Null, name, picture: None }
    }

    /// `whole` is the list that was to be seen then.
    pub fn answer(&mut self, result: ExecResult, whole: Value) {
        self.response = json!({ "effect": result.effect, "summary": result.summary });
        if !result.data.is_null() {
            self.response["data"] = result.data;
        }
        if self.name == "elementsJson" {
            self.response["data"] = whole;
        } else if let Some(data) = self.response.get_mut("data").and_then(Value::as_object_mut) {
            // What an act changed in the list was not told.
            data.shift_remove("list");
        }
        self.picture = result.picture.map(|picture| {
            // Its size is all that is counted of it; the rest tells it from others.
            let (high, wide) = ((picture.height as u16).to_be_bytes(), (picture.width as u16).to_be_bytes());
            let mut bytes = vec![0xff, 0xd8, 0xff, 0xc0, 0, 17, 8, high[0], high[1], wide[0], wide[1]];
            bytes.extend(picture.blob.sha256.as_bytes());
            let image = Image { media_type: "image/jpeg".into(), bytes: bytes.into(), detail: Detail::Whole };
            (picture.blob.sha256, image)
        });
    }

    fn messages(&self, image: Option<Image>, words: Option<&str>) -> [Message; 2] {
        let mut response = self.response.clone();
        if let Some(words) = words {
            response["picture"] = words.into();
        }
        let answer = ToolAnswer { id: Some("p1".into()), name: self.name.clone(), response, image };
        [Message::Assistant(self.turn.clone()), Message::ToolResults(vec![answer])]
    }
}

/// With as much more to say of tools as there was: English, as what they say of themselves.
fn with_all_tools(mut first: Request) -> Request {
    let weight: usize = first
        .tools
        .iter()
        .map(|tool| json!([tool.name, tool.description, tool.schema]).to_string().len())
        .sum();
    let rest = TOOLS_CHARS.saturating_sub(weight);
    let description = first.system.chars().cycle().take(rest).collect();
    first.tools.push(ToolSpec { name: "others".into(), description, schema: json!({}) });
    first
}

pub struct Old {
    first: Request,
    pictures: usize,
}

impl Old {
    pub fn new(first: &Request, family: &Family) -> Self {
        Self { first: with_all_tools(first.clone()), pictures: PICTURES.min(family.per_request) }
    }

    pub fn requests(&self, exchanges: &[Exchange]) -> Vec<Arc<Request>> {
        let mut messages = self.first.messages.clone();
        let mut requests = vec![Arc::new(self.first.clone())];
        let mut shown: Option<&str> = None;
        for exchange in &exchanges[..exchanges.len() - 1] {
            let same = |(hash, _): &&(String, Image)| shown == Some(hash.as_str());
            messages.extend(match exchange.picture.as_ref() {
                Some(picture) if same(&picture) => {
                    exchange.messages(None, Some("the screen looks as in the last picture"))
                }
                Some((hash, image)) => {
                    shown = Some(hash);
                    exchange.messages(Some(image.clone()), None)
                }
                None => exchange.messages(None, None),
            });
            self.compact(&mut messages);
            requests.push(Arc::new(Request { messages: messages.clone(), ..self.first.clone() }));
        }
        requests
    }

    fn compact(&self, messages: &mut Vec<Message>) {
        let pictures = answers(messages).filter(|answer| answer.image.is_some()).count();
        if messages.len() > MESSAGES {
            let from = (messages.len() - MESSAGES / 2).max(1);
            let is_turn = |at: &usize| matches!(messages[*at], Message::Assistant(_));
            let at = (from..messages.len()).find(is_turn).unwrap_or(messages.len());
            messages.drain(1..at);
        } else if pictures <= self.pictures {
            return;
        }
        let count = answers(messages).count();
        for answer in answers(messages).take(count.saturating_sub(KEPT_PICTURES)) {
            if answer.image.take().is_some() {
                answer.response["picture"] = "left out here: look again if you need it".into();
            }
            if let Some(data) = answer.response.get_mut("data") {
                let text = data.to_string();
                if text.chars().count() > DATA_CHARS {
                    *data = text.chars().take(DATA_CHARS).collect::<String>().into();
                }
            }
        }
    }
}

fn answers(messages: &mut [Message]) -> impl Iterator<Item = &mut ToolAnswer> {
    messages.iter_mut().flat_map(|message| match message {
        Message::ToolResults(answers) => answers.as_mut_slice(),
        Message::User(_) | Message::Assistant(_) => &mut [],
    })
}

/// The newest 24 messages at each step, with a picture in each answer; in each message, if `all` is said.
pub fn uncached(first: &Request, exchanges: &[Exchange], all: bool) -> Vec<Request> {
    let mut newest: Option<Image> = None;
    let mut told: Vec<Message> = first.messages.clone();
    let mut requests = vec![first.clone()];
    for exchange in &exchanges[..exchanges.len() - 1] {
        newest = exchange.picture.as_ref().map(|(_, image)| image.clone()).or(newest);
        let [turn, answer] = exchange.messages(newest.clone(), None);
        told.push(turn);
        // No turn has a picture: it is beside it.
        if let (true, Some(image)) = (all, &newest) {
            told.push(Message::User(vec![Part::Image(image.clone())]));
        }
        told.push(answer);
        let most = if all { MESSAGES / 2 * 3 } else { MESSAGES };
        let from = told.len().saturating_sub(most);
        requests.push(Request { messages: told[from..].to_vec(), ..first.clone() });
    }
    requests
}
