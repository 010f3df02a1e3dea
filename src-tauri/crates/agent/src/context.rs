//! What a model is shown of a session: bounded, and byte-stable in its prefix between two compactions.
//!
//! Nothing is cut a little every turn, which would break the provider's prompt cache each time. The conversation
//! grows until it is over a bound, then it is compacted once, far enough to grow for a while again: what is left out
//! becomes lines (`recap`), and the screen is shown whole once more.

use std::sync::Arc;

use models::{Message, Part, ProposedCall, Request, ToolAnswer, ToolSpec, Turn, tokens};
use protocol::geometry::PixelSize;
use protocol::recap::{Notes, Recap};
use protocol::tool::{Effect, ExecResult, Source, ToolCall};
use protocol::turn::Usage;
use serde_json::{Value, json};
use tools::{CONTINUE, ELEMENTS, ListShown, Recalled, notes_edit_of};

mod bounds;
mod list;
pub mod recap;
mod sight;

pub use bounds::Bounds;
use bounds::Weight;
pub use sight::Sight;

/// Parts of the most messages that a compaction leaves as they are.
const KEPT: [usize; 3] = [6, 8, 12];
/// Fewer messages are not left out because they were read often.
const LEAST_LEFT_OUT: usize = 8;
/// Of the line that a turn with its answers leaves, about.
const LINE_TOKENS: usize = 50;
/// Answers whose data stay as they came, the newest.
const WHOLE_ANSWERS: usize = 2;
/// Characters of a goal that is kept with the lines; a run has its own whole.
const GOAL_CHARS: usize = 4_000;
/// The tool that is asked for the whole screen.
const SCREENSHOT: &str = "screenshot";
/// Stands for a picture that was not sent again.
const AS_BEFORE: &str = "the screen looks as in the last picture";
/// Stands for a picture that the model would refuse.
const TOO_LARGE: &str =
    "left out: it has more bytes than you take in one picture; `zoom` shows a part of the screen";
/// Stands for a picture that was taken out.
const LEFT_OUT: &str = "left out here: look again if you need it";

/// Messages of a turn: the model's, and what its calls came to.
const NEWEST_TURN: usize = 2;

/// What becomes of the lines that tell what was done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    Stay,
    Go,
}

/// A conversation with its bounds.
pub struct Context {
    /// The conversation as it is asked. Shared with a turn under way and with nobody else: it is not copied for a turn.
    request: Arc<Request>,
    /// Messages at its beginning that stand for what was left out.
    head: usize,
    /// Where the current run's goal stands among the messages.
    goal: usize,
    /// What was left out.
    recap: Recap,
    notes: Notes,
    /// The newest picture that was sent.
    shown: Option<Sight>,
    /// Only a part of it was sent, with others before.
    in_part: bool,
    /// The newest list of elements that can still be read.
    list: Option<Arc<ListShown>>,
    /// The newest turn was paused by its provider.
    paused: bool,
    bounds: Bounds,
    weight: Weight,
    /// What it has cost since the last compaction to read again what the next one leaves out, in tokens at their full price.
    reread: f64,
    /// What was left out since this was asked last.
    compacted: bool,
    /// All but the newest turn is to be left out: its model has written down what it goes on with.
    begins_anew: bool,
    /// Nothing was added since it was made ready to be asked.
    is_ready: bool,
}

/// What a session's conversation was until now.
#[derive(Default)]
pub struct Earlier {
    pub messages: Vec<Message>,
    /// How many of them stand for what `recap` says.
    pub head: usize,
    pub recap: Recap,
    pub notes: Notes,
}

impl From<Vec<Message>> for Earlier {
    fn from(messages: Vec<Message>) -> Self {
        Self { messages, ..Self::default() }
    }
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

impl Context {
    /// A conversation that goes on from `earlier` runs with a new goal.
    pub fn new(
        system: String,
        tools: Vec<ToolSpec>,
        earlier: impl Into<Earlier>,
        goal: &str,
        bounds: Bounds,
    ) -> Self {
        let mut earlier: Earlier = earlier.into();
        let at = earlier.messages.len();
        earlier.messages.push(Message::User(vec![Part::Text(goal.to_owned())]));
        let mut context = Self::resumed(system, tools, earlier, at, bounds);
        context.compact_if_over();
        context
    }

    /// A conversation that goes on where it was: its goal stands among the messages.
    pub fn resumed(
        system: String,
        tools: Vec<ToolSpec>,
        earlier: Earlier,
        goal: usize,
        bounds: Bounds,
    ) -> Self {
        let Earlier { messages, head, recap, notes } = earlier;
        let request = Arc::new(Request { system, tools, messages, ..Request::default() });
        let weight = Weight::default();
        let (shown, list) = (None, None);
        let (in_part, paused, compacted) = (false, false, false);
        Self {
            request,
            head,
            goal,
            recap,
            notes,
            shown,
            in_part,
            list,
            paused,
            bounds,
            weight,
            reread: 0.0,
            compacted,
            begins_anew: false,
            is_ready: false,
        }
    }

    /// Tells of the tools that can be asked for.
    pub fn with_later(mut self, later: Vec<ToolSpec>) -> Self {
        Arc::make_mut(&mut self.request).later = later;
        self
    }

    /// Whether it holds more than the user's goal and the model's own words: what tools told, or earlier runs.
    pub fn has_read(&self) -> bool {
        let is_told = |message: &Message| matches!(message, Message::ToolResults(_));
        self.has_earlier() || self.request.messages.iter().any(is_told)
    }

    /// Whether earlier runs stand before the user's goal, or are among what was left out.
    pub fn has_earlier(&self) -> bool {
        self.goal > 0 || self.recap.earlier
    }

    /// Takes what is left of the run's budget in tokens.
    pub fn set_left(&mut self, tokens: Option<u64>) {
        self.bounds.left = tokens;
    }

    /// What tools may know of the conversation.
    pub fn recalled(&self) -> Recalled {
        Recalled { notes: self.notes.text.as_str().into(), list: self.list.clone() }
    }

    /// Keeps what the model noted, with where it may have it from.
    pub fn note_call(&mut self, call: &ToolCall, result: &ExecResult, read: &[Source]) {
        note(&mut self.notes, call, result, read);
        if call.tool == CONTINUE && result.effect == Effect::Confirmed {
            (self.begins_anew, self.is_ready) = (true, false);
        }
    }

    /// Corrects the estimate by what the provider counted of the newest request.
    pub fn note_usage(&mut self, usage: &Usage) {
        self.weight.note(usage);
    }

    /// What was left out, where something was since this was asked last: to be journaled.
    pub fn take_compacted(&mut self) -> Option<Recap> {
        let goal: String = self.recap.goal.chars().take(GOAL_CHARS).collect();
        std::mem::take(&mut self.compacted).then(|| Recap { goal, ..self.recap.clone() })
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
        self.is_ready = false;
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

    /// An unchanged screen is said, and of a changed one the part that changed is sent, for as long as the rest is in the
    /// conversation.
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
                self.show(&mut answer, sight, must_show);
            }
            if let (true, None, Some(shown)) = (must_show, &answer.image, &self.shown) {
                // Nothing can be shown of it, and the vendor takes no answer without a picture.
                answer.image = Some(shown.whole());
            }
            results.push(answer);
        }
        self.note_lists(&results);
        self.messages_mut().push(Message::ToolResults(results));
    }

    fn show(&mut self, answer: &mut ToolAnswer, sight: Sight, must_show: bool) {
        if sight.jpeg.len() > self.bounds.picture_bytes {
            answer.response["picture"] = json!(TOO_LARGE);
            return;
        }
        let shown = self.shown.as_ref();
        let asks_for_all = must_show || (answer.name == SCREENSHOT && self.in_part);
        if !asks_for_all && shown.is_some_and(|shown| shown.hash == sight.hash) {
            answer.response["picture"] = json!(AS_BEFORE);
            return;
        }
        // A vendor's own tool counts pixels of the whole.
        let takes_parts = !must_show && self.request.display.is_none() && answer.name != SCREENSHOT;
        let part = shown.filter(|_| takes_parts).and_then(|shown| sight.part_since(shown));
        self.in_part = part.is_some();
        match part {
            Some((image, place)) => {
                // The place says it.
                if let Some(Value::Object(evidence)) = answer.response.pointer_mut("/data/evidence") {
                    evidence.shift_remove("changed");
                }
                answer.response["picture"] = json!(place);
                answer.image = Some(image);
            }
            None => answer.image = Some(sight.whole()),
        }
        self.shown = Some(sight);
    }

    /// Which list of elements the model has now.
    fn note_lists(&mut self, results: &[ToolAnswer]) {
        let Some(Message::Assistant(turn)) = self.request.messages.last() else { return };
        for (call, answer) in turn.calls.iter().zip(results) {
            let Some(data) = answer.response.get("data") else { continue };
            let before = self.list.as_deref();
            if call.name == ELEMENTS {
                let list = ListShown::after(&call.arguments, data, before);
                self.list = list.map(Arc::new);
            } else if let Some(list) = before.and_then(|list| list.after_act(data)) {
                self.list = Some(Arc::new(list));
            }
        }
    }

    /// After a word of the user's a paused turn does not go on: what it had begun, a search, must not go back half done.
    pub fn push_user(&mut self, text: String) {
        if let (true, Some(Message::Assistant(turn))) = (self.paused, self.messages_mut().last_mut()) {
            turn.raw = Value::Null;
        }
        self.paused = false;
        self.messages_mut().push(Message::User(vec![Part::Text(text)]));
    }

    /// The request for the next turn; compacts first where a bound is passed, or where that costs no more than it saves.
    pub fn request(&mut self) -> Arc<Request> {
        // Asked for again, it is the same: reading it is counted once.
        if !self.is_ready {
            if std::mem::take(&mut self.begins_anew) {
                self.leave_out(self.cut(NEWEST_TURN), Lines::Go);
            } else if self.pays() {
                self.compact(KEPT[0]);
            }
            self.compact_if_over();
            self.weight.asked = tokens::of_request(&self.request, self.bounds.family);
            self.is_ready = true;
        }
        Arc::clone(&self.request)
    }

    /// Tokens of the newest request as its provider may count it, rather more than fewer.
    pub fn asked_tokens(&self) -> u64 {
        self.weight.corrected(self.weight.asked)
    }

    fn messages(&self) -> &[Message] {
        &self.request.messages
    }

    fn messages_mut(&mut self) -> &mut Vec<Message> {
        self.is_ready = false;
        &mut Arc::make_mut(&mut self.request).messages
    }

    fn is_too_heavy(&self) -> bool {
        let estimated = tokens::of_request(&self.request, self.bounds.family);
        self.weight.corrected(estimated) > self.bounds.most_tokens()
    }

    /// Whether reading again what a compaction would leave out has cost as much by now as it costs to write anew what it
    /// leaves: no later moment is known to be better.
    fn pays(&mut self) -> bool {
        let (cut, family) = (self.cut(self.kept(KEPT[0])), self.bounds.family);
        let first = self.head.max(self.goal + 1);
        if cut < first + LEAST_LEFT_OUT {
            return false;
        }
        let of = |messages: &[Message]| tokens::of_messages(messages, family) as f64;
        let (before, rest) = self.messages().split_at(first);
        let (left_out, kept) = rest.split_at(cut - first);
        let reread = self.reread + of(left_out) * self.bounds.reread;
        let screen = self.shown.as_ref().map_or(0, |shown| family.tokens_of(&shown.whole()));
        let lines = LINE_TOKENS * left_out.len() / 2;
        let written = (of(before) + of(kept) + (screen + lines as u64) as f64) * (1.0 - self.bounds.reread);
        self.reread = reread;
        reread >= written
    }

    /// How many messages a compaction leaves, of the most one in `part`.
    fn kept(&self, part: usize) -> usize {
        (self.bounds.messages / part).max(2)
    }

    fn compact_if_over(&mut self) {
        let messages = self.messages().len() - self.head;
        if messages > self.bounds.messages || self.pictures() > self.bounds.pictures {
            self.compact(KEPT[0]);
        }
        // What cannot be made smaller is asked as it is: the provider says what is too much.
        for part in KEPT {
            if !self.is_too_heavy() || self.messages().len() - self.head <= 2 {
                return;
            }
            self.compact(part);
        }
    }

    /// Leaves the goal, lines and the newest of the messages, of the most one in `part`.
    fn compact(&mut self, part: usize) {
        self.leave_out(self.cut(self.kept(part)), Lines::Stay);
    }

    /// Leaves the goal, the notes, lines where they stay, and the messages from `cut` on.
    fn leave_out(&mut self, cut: usize, lines: Lines) {
        let mut messages = std::mem::take(self.messages_mut());
        let kept = messages.split_off(cut);
        let mut done = self.head;
        if self.goal >= self.head {
            let goal = messages.get(self.goal).map(|goal| match goal {
                Message::User(parts) => recap::text_of(parts),
                Message::Assistant(_) | Message::ToolResults(_) => String::new(),
            });
            let earlier = &messages[self.head..self.goal];
            recap::add(&mut self.recap, earlier, recap::Of::EarlierRuns);
            recap::begin(&mut self.recap, goal.unwrap_or_default());
            done = self.goal + 1;
        }
        recap::add(&mut self.recap, &messages[done..], recap::Of::ThisRun);
        let is_turn = |message: &&Message| matches!(message, Message::Assistant(_));
        self.recap.turns = kept.iter().filter(is_turn).count() as u32;
        self.recap.notes = self.notes.clone();
        if lines == Lines::Go {
            recap::forget_what_was_done(&mut self.recap);
        }
        messages = recap::messages(&self.recap);
        (self.head, self.goal) = (messages.len(), 0);
        messages.extend(kept);
        *self.messages_mut() = messages;
        (self.compacted, self.reread) = (true, 0.0);
        self.list = None;
        let (head, bounds) = (self.head, self.bounds);
        shrink(&mut self.messages_mut()[head..], &bounds);
        self.show_anew();
    }

    /// Where the messages begin that stay: before an assistant's turn, so that no tool result loses its call, and never
    /// after what the user said last.
    fn cut(&self, keep: usize) -> usize {
        let messages = self.messages();
        let first = self.head.max(self.goal + 1);
        let from = messages.len().saturating_sub(keep).max(first);
        // What goes on a paused turn belongs to it.
        let is_turn = |at: usize| matches!(messages[at], Message::Assistant(_));
        let begins = |at: &usize| is_turn(*at) && (*at == 0 || !is_turn(*at - 1));
        let is_users = |message: &Message| matches!(message, Message::User(_));
        let said_last = messages.iter().rposition(|message| !is_users(message)).map_or(first, |at| at + 1);
        let newer = (from..messages.len()).find(begins);
        newer.or_else(|| (first..from).rev().find(begins)).unwrap_or(said_last.max(first))
    }

    /// The newest answer that had a picture shows the screen as it was last, whole: later ones are told from it. Where none
    /// had one, the next one is sent whole.
    fn show_anew(&mut self) {
        let Some(shown) = self.shown.take() else { return };
        let head = self.head;
        let mut answers = self.messages_mut()[head..].iter_mut().flat_map(|message| match message {
            Message::ToolResults(answers) => answers.as_mut_slice(),
            Message::User(_) | Message::Assistant(_) => &mut [],
        });
        let had_one =
            |answer: &&mut ToolAnswer| answer.response.get("picture").is_some_and(|words| words == LEFT_OUT);
        let Some(answer) = answers.rfind(had_one) else { return };
        answer.image = Some(shown.whole());
        if let Value::Object(response) = &mut answer.response {
            response.shift_remove("picture");
        }
        self.shown = Some(shown);
        self.in_part = false;
    }

    fn pictures(&self) -> usize {
        let of = |message: &Message| match message {
            Message::ToolResults(answers) => answers.iter().filter(|answer| answer.image.is_some()).count(),
            Message::User(_) | Message::Assistant(_) => 0,
        };
        self.messages().iter().map(of).sum()
    }
}

/// Shortens all but the newest results, and takes out all pictures.
pub fn shrink(messages: &mut [Message], bounds: &Bounds) {
    let results = messages.iter_mut().filter_map(|message| match message {
        Message::ToolResults(answers) => Some(answers),
        Message::User(_) | Message::Assistant(_) => None,
    });
    for (age, answers) in results.rev().enumerate() {
        for answer in answers {
            if age >= WHOLE_ANSWERS {
                shorten(answer, bounds);
            }
            let is_told = |words: &Value| words != TOO_LARGE;
            if answer.image.take().is_some() || answer.response.get("picture").is_some_and(is_told) {
                answer.response["picture"] = json!(LEFT_OUT);
            }
        }
    }
}

/// An old answer within the bounds of old answers.
fn shorten(answer: &mut ToolAnswer, bounds: &Bounds) {
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

/// Notes after a call, if it was one of theirs, with where the model may have it from.
pub fn note(notes: &mut Notes, call: &ToolCall, result: &ExecResult, read: &[Source]) {
    if let (Effect::Confirmed, Some(edit)) = (result.effect, notes_edit_of(&call.tool, &call.arguments)) {
        recap::note(notes, &edit, read);
    }
}

/// What goes back to the model for one result, but for its picture.
pub fn answer(id: Option<String>, name: &str, result: &ExecResult) -> ToolAnswer {
    let mut response = json!({ "effect": result.effect, "summary": result.summary });
    if !result.data.is_null() {
        response["data"] = result.data.clone();
        list::make_lines(&mut response["data"]);
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
