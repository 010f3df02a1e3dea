//! What a model is shown of a run: bounded, and byte-stable in its prefix between two compactions.
//!
//! Nothing is cut a little every turn, which would break the provider's prompt cache each time. The conversation
//! grows until it is over a bound, then it is compacted once, far enough to grow for a while again.

use std::sync::Arc;

use models::pictures::Family;
use models::{Message, Part, ProposedCall, Request, ToolAnswer, ToolSpec, Turn};
use protocol::geometry::PixelSize;
use protocol::settings::Settings;
use protocol::tool::ExecResult;
use serde_json::{Value, json};

/// Pictures the conversation may hold before the older ones become a line of text.
const MOST_PICTURES: usize = 10;
/// Stands for a picture that was not sent again.
const AS_BEFORE: &str = "the screen looks as in the last picture";
/// Stands for a picture that the model would refuse.
const TOO_LARGE: &str =
    "left out: it has more bytes than you take in one picture; `zoom` shows a part of the screen";
/// Stands for a picture that was taken out.
const LEFT_OUT: &str = "left out here: look again if you need it";
/// Pictures that a compaction leaves.
const KEPT_PICTURES: usize = 2;

/// A conversation with its bounds.
pub struct Context {
    /// The conversation as it is asked. Shared with a turn under way and with nobody else: it is not copied for a turn.
    request: Arc<Request>,
    /// Where the current run's goal stands among the messages.
    goal: usize,
    /// The newest picture that was sent.
    shown: Option<Sight>,
    /// The newest turn was paused by its provider.
    paused: bool,
    bounds: Bounds,
}

/// A picture, and what tells it from others: equal only where both show the same.
#[derive(Clone, Debug)]
pub struct Sight {
    pub jpeg: Arc<[u8]>,
    pub hash: u64,
}

/// An answer with its picture apart, which is sent only where the model does not have it.
#[derive(Clone, Debug)]
pub struct Answered {
    pub answer: ToolAnswer,
    pub sight: Option<Sight>,
    /// The picture is sent even where it shows what the last one showed; without one, the last one is sent again.
    pub must_show: bool,
    /// Its picture is the next answer's, unless that has its own.
    pub goes_on: bool,
}

impl From<ToolAnswer> for Answered {
    fn from(answer: ToolAnswer) -> Self {
        Self { answer, sight: None, must_show: false, goes_on: false }
    }
}

/// How much of the conversation is shown.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub messages: usize,
    pub text_chars: usize,
    pub data_chars: usize,
    pub pictures: usize,
    /// Bytes of one picture.
    pub picture_bytes: usize,
}

impl Bounds {
    /// What the user has set, and what the model takes.
    pub fn of(settings: &Settings, family: &Family) -> Self {
        Self {
            pictures: MOST_PICTURES.min(family.per_request),
            picture_bytes: family.bytes,
            messages: settings.history_messages as usize,
            text_chars: settings.history_text_chars as usize,
            data_chars: settings.history_data_chars as usize,
        }
    }
}

impl Context {
    /// A conversation that goes on from `earlier` runs with a new goal.
    pub fn new(
        system: String,
        tools: Vec<ToolSpec>,
        earlier: Vec<Message>,
        goal: &str,
        bounds: Bounds,
    ) -> Self {
        let mut messages = earlier;
        messages.push(Message::User(vec![Part::Text(goal.to_owned())]));
        let goal = messages.len() - 1;
        let request = Arc::new(Request { system, tools, messages, ..Request::default() });
        let mut context = Self { request, goal, shown: None, paused: false, bounds };
        context.compact();
        context
    }

    /// A conversation that goes on where it was: its goal stands among `messages`.
    pub fn resumed(
        system: String,
        tools: Vec<ToolSpec>,
        messages: Vec<Message>,
        goal: usize,
        bounds: Bounds,
    ) -> Self {
        let request = Arc::new(Request { system, tools, messages, ..Request::default() });
        Self { request, goal, shown: None, paused: false, bounds }
    }

    /// Whether it holds more than the user's goal and the model's own words: what tools told, or earlier runs.
    pub fn has_read(&self) -> bool {
        let is_told = |message: &Message| matches!(message, Message::ToolResults(_));
        self.has_earlier() || self.request.messages.iter().any(is_told)
    }

    /// Whether earlier runs stand before the user's goal.
    pub fn has_earlier(&self) -> bool {
        self.goal > 0
    }

    /// The size of the pictures of the display, if the model is told.
    pub fn display(&self) -> Option<PixelSize> {
        self.request.display
    }

    pub fn set_display(&mut self, display: PixelSize) {
        if self.request.display != Some(display) {
            Arc::make_mut(&mut self.request).display = Some(display);
        }
    }

    /// Bounds the next answer, in tokens.
    pub fn set_max_output(&mut self, most: Option<u32>) {
        if self.request.max_output != most {
            Arc::make_mut(&mut self.request).max_output = most;
        }
    }

    /// Offers more, or others; whatever is kept of the requests before is of no use then.
    pub fn set_tools(&mut self, tools: Vec<ToolSpec>) {
        Arc::make_mut(&mut self.request).tools = tools;
    }

    /// Sets the calls of the newest turn, as they stand after the user was asked about them.
    pub fn set_calls(&mut self, calls: Vec<ProposedCall>) {
        if let Some(Message::Assistant(turn)) = self.messages_mut().last_mut() {
            turn.calls = calls;
        }
    }

    pub fn push_turn(&mut self, turn: Turn) {
        self.paused = false;
        self.messages_mut().push(Message::Assistant(turn));
    }

    /// A turn that goes on where it stopped, as soon as it is sent back.
    pub fn push_paused(&mut self, turn: Turn) {
        self.push_turn(turn);
        self.paused = true;
    }

    /// An unchanged screen is said, not sent again, for as long as its picture is in the conversation.
    pub fn push_results(&mut self, answers: Vec<Answered>) {
        let mut results = Vec::with_capacity(answers.len());
        let mut last = None;
        for Answered { mut answer, sight, must_show, goes_on } in answers {
            let sight = sight.or(last.take());
            if goes_on {
                last = sight;
                results.push(answer);
                continue;
            }
            if let Some(sight) = sight {
                if sight.jpeg.len() > self.bounds.picture_bytes {
                    answer.response["picture"] = json!(TOO_LARGE);
                } else if !must_show && self.shown.as_ref().is_some_and(|shown| shown.hash == sight.hash) {
                    answer.response["picture"] = json!(AS_BEFORE);
                } else {
                    answer.image = Some(image(&sight));
                    self.shown = Some(sight);
                }
            }
            if let (true, None, Some(shown)) = (must_show, &answer.image, &self.shown) {
                // Nothing can be shown of it, and the vendor takes no answer without a picture.
                answer.image = Some(image(shown));
            }
            results.push(answer);
        }
        self.messages_mut().push(Message::ToolResults(results));
    }

    /// After a word of the user's a paused turn does not go on: what it had begun, a search, must not go back half done.
    pub fn push_user(&mut self, text: String) {
        if let (true, Some(Message::Assistant(turn))) = (self.paused, self.messages_mut().last_mut()) {
            turn.raw = Value::Null;
        }
        self.paused = false;
        self.messages_mut().push(Message::User(vec![Part::Text(text)]));
    }

    /// The request for the next turn; compacts first where a bound is passed.
    pub fn request(&mut self) -> Arc<Request> {
        self.compact();
        Arc::clone(&self.request)
    }

    fn messages(&self) -> &[Message] {
        &self.request.messages
    }

    fn messages_mut(&mut self) -> &mut Vec<Message> {
        &mut Arc::make_mut(&mut self.request).messages
    }

    fn compact(&mut self) {
        if self.messages().len() > self.bounds.messages {
            self.drop_oldest();
            self.shrink_old();
        } else if self.pictures() > self.bounds.pictures {
            self.shrink_old();
        } else {
            return;
        }
        self.correct_picture_notes();
    }

    /// Makes true again what answers say of pictures, after some were taken out. Where the newest picture went, the
    /// newest answer that speaks of it gets it; where none does, it will be sent again.
    fn correct_picture_notes(&mut self) {
        let Some(shown) = self.shown.take() else { return };
        let is_shown = |answer: &ToolAnswer| {
            answer.image.as_ref().is_some_and(|image| Arc::ptr_eq(&image.bytes, &shown.jpeg))
        };
        let mut is_there = self.answers().any(|answer| is_shown(answer));
        if !is_there {
            let last = self.answers().filter(|answer| speaks_of_it(answer)).last();
            if let Some(answer) = last {
                answer.image = Some(image(&shown));
                if let Value::Object(response) = &mut answer.response {
                    response.remove("picture");
                }
                is_there = true;
            }
        }
        // What older answers speak of may have gone as well.
        let mut has_picture = false;
        for answer in self.answers() {
            has_picture |= answer.image.is_some();
            if !has_picture && speaks_of_it(answer) {
                answer.response["picture"] = json!(LEFT_OUT);
            }
        }
        self.shown = is_there.then_some(shown);
    }

    fn answers(&mut self) -> impl Iterator<Item = &mut ToolAnswer> {
        self.messages_mut().iter_mut().flat_map(|message| match message {
            Message::ToolResults(answers) => answers.as_mut_slice(),
            Message::User(_) | Message::Assistant(_) => &mut [],
        })
    }

    /// Leaves the goal and the newest half of the bound, cut only before an assistant's turn, so that no tool
    /// result loses its call.
    fn drop_oldest(&mut self) {
        let keep = (self.bounds.messages / 2).max(2);
        let from = self.messages().len().saturating_sub(keep).max(self.goal + 1);
        // What goes on a paused turn belongs to it.
        let is_turn = |at: usize| matches!(self.messages()[at], Message::Assistant(_));
        let begins = |at: &usize| is_turn(*at) && !is_turn(*at - 1);
        let at = (from..self.messages().len()).find(begins).unwrap_or(self.messages().len());
        let goal = self.goal;
        let messages = self.messages_mut();
        messages.drain(goal + 1..at);
        messages.drain(..goal);
        self.goal = 0;
    }

    /// Shortens results and drops pictures of all but the newest results.
    fn shrink_old(&mut self) {
        let bounds = self.bounds;
        let mut results: Vec<&mut Vec<ToolAnswer>> = self
            .messages_mut()
            .iter_mut()
            .filter_map(|message| match message {
                Message::ToolResults(answers) => Some(answers),
                Message::User(_) | Message::Assistant(_) => None,
            })
            .collect();
        let newest = results.len().saturating_sub(KEPT_PICTURES);
        for answer in results[..newest].iter_mut().flat_map(|answers| answers.iter_mut()) {
            shrink(answer, &bounds);
        }
    }

    fn pictures(&self) -> usize {
        let of = |message: &Message| match message {
            Message::ToolResults(answers) => answers.iter().filter(|answer| answer.image.is_some()).count(),
            Message::User(_) | Message::Assistant(_) => 0,
        };
        self.messages().iter().map(of).sum()
    }
}

fn image(sight: &Sight) -> models::Image {
    models::Image { media_type: "image/jpeg".into(), bytes: sight.jpeg.clone() }
}

/// Whether an answer says that the screen looks as in the last picture.
fn speaks_of_it(answer: &ToolAnswer) -> bool {
    answer.response.get("picture").is_some_and(|words| words == AS_BEFORE)
}

fn shrink(answer: &mut ToolAnswer, bounds: &Bounds) {
    if answer.image.take().is_some() || speaks_of_it(answer) {
        answer.response["picture"] = json!(LEFT_OUT);
    }
    if let Some(data) = answer.response.get_mut("data") {
        let text = data.to_string();
        if text.chars().count() > bounds.data_chars {
            *data = Value::String(cut(&text, bounds.data_chars));
        }
    }
    if let Some(Value::String(summary)) = answer.response.get_mut("summary") {
        *summary = cut(summary, bounds.text_chars);
    }
}

/// The first `most` characters, saying how many there were.
fn cut(text: &str, most: usize) -> String {
    let total = text.chars().count();
    if total <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most).collect();
    format!("{head} [cut: {most} of {total} characters]")
}

/// What goes back to the model for one result, but for its picture.
pub fn answer(id: Option<String>, name: &str, result: &ExecResult) -> ToolAnswer {
    let mut response = json!({ "effect": result.effect, "summary": result.summary });
    if !result.data.is_null() {
        response["data"] = result.data.clone();
    }
    if let Some(error) = &result.error {
        let what_to_do = error.kind.class(result.effect).for_the_model();
        response["error"] = json!({ "kind": error.kind, "message": error.message, "next": what_to_do });
    }
    ToolAnswer { id, name: name.to_owned(), response, image: None }
}

/// Says of an old answer that its picture is not sent any more.
pub fn without_picture(answer: &mut ToolAnswer) {
    answer.response["picture"] = json!(LEFT_OUT);
}

#[cfg(test)]
mod tests;
