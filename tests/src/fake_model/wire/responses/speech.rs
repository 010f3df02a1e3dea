//! A stream of Responses under way: items begun, told in pieces, and done.

use serde_json::{Value, json};

use crate::fake_model::history::Given;
use crate::fake_model::wire::{Written, halves, text, words};

/// A stream under way.
pub(super) struct Speech {
    number: usize,
    pub events: Vec<String>,
    pub output: Vec<Value>,
    pub given: Given,
}

impl Speech {
    pub fn new(number: usize, given: Given) -> Self {
        Self { number, events: Vec::new(), output: Vec::new(), given }
    }

    pub fn say(&mut self, mut event: Value) {
        event["sequence_number"] = json!(self.events.len());
        self.events.push(format!("event: {}\ndata: {event}\n\n", text(&event, "type")));
    }

    fn added(&mut self, item: &Value) {
        let place = self.output.len();
        self.say(json!({ "type": "response.output_item.added", "output_index": place, "item": item }));
    }

    fn done(&mut self, item: Value) {
        let place = self.output.len();
        self.say(json!({ "type": "response.output_item.done", "output_index": place, "item": item.clone() }));
        self.given.verbatim.push(item.to_string());
        self.output.push(item);
    }

    pub fn think(&mut self, thought: &str, sealed: &str) {
        let (id, place) = (format!("rs_{:024}", self.number), self.output.len());
        // Only at the end it is whole.
        let begun =
            json!({ "id": id, "type": "reasoning", "summary": [], "encrypted_content": "gAAAA-partial" });
        self.added(&begun);
        let at =
            |kind: &str| json!({ "type": kind, "item_id": id, "output_index": place, "summary_index": 0 });
        let part = |text: &str| json!({ "type": "summary_text", "text": text });
        let mut event = at("response.reasoning_summary_part.added");
        event["part"] = part("");
        self.say(event);
        for word in words(thought) {
            let mut event = at("response.reasoning_summary_text.delta");
            event["delta"] = json!(word);
            self.say(event);
        }
        let mut event = at("response.reasoning_summary_text.done");
        event["text"] = json!(thought);
        self.say(event);
        let mut event = at("response.reasoning_summary_part.done");
        event["part"] = part(thought);
        self.say(event);
        let item =
            json!({ "id": id, "type": "reasoning", "summary": [part(thought)], "encrypted_content": sealed });
        self.given.signatures.push(sealed.to_owned());
        self.given.raw.push(item.clone());
        self.done(item);
    }

    /// A search of the provider's own.
    pub fn search(&mut self, query: &str, found: &[(String, String)]) {
        let (id, place) = (format!("ws_{:024}", self.number), self.output.len());
        self.added(&json!({ "id": id, "type": "web_search_call", "status": "in_progress" }));
        for state in ["in_progress", "searching", "completed"] {
            let kind = format!("response.web_search_call.{state}");
            self.say(json!({ "type": kind, "item_id": id, "output_index": place }));
        }
        let sources: Vec<Value> = found.iter().map(|(url, _)| json!({ "type": "url", "url": url })).collect();
        let action = json!({ "type": "search", "query": query, "sources": sources });
        let item = json!({ "id": id, "type": "web_search_call", "status": "completed", "action": action });
        self.must_come_back(id, item);
    }

    /// xAI's search of posts: a tool of its own, and done.
    pub fn search_x(&mut self, query: &str) {
        let (id, place) = (format!("ctc_{:024}", self.number), self.output.len());
        let input = json!({ "query": query, "limit": 5 }).to_string();
        let item = |status: &str, input: &str| {
            json!({
                "id": id, "type": "custom_tool_call", "status": status,
                "call_id": format!("xs_call_{}", self.number), "name": "x_keyword_search", "input": input,
            })
        };
        let (begun, whole) = (item("in_progress", ""), item("completed", &input));
        self.added(&begun);
        for (kind, field) in [("delta", "delta"), ("done", "input")] {
            let kind = format!("response.custom_tool_call_input.{kind}");
            self.say(json!({ "type": kind, "item_id": id, "output_index": place, field: input }));
        }
        self.must_come_back(id, whole);
    }

    /// A call of the computer tool, which comes whole.
    pub fn actions(&mut self, item: Value) {
        let mut begun = item.clone();
        begun["status"] = json!("in_progress");
        begun["pending_safety_checks"] = json!([]);
        if begun["actions"].is_array() {
            begun["actions"] = json!([]);
        }
        self.added(&begun);
        self.given.ids.push(text(&item, "call_id").to_owned());
        self.must_come_back(text(&item, "id").to_owned(), item);
    }

    fn must_come_back(&mut self, id: String, item: Value) {
        self.given.signatures.push(id);
        self.given.raw.push(item.clone());
        self.done(item);
    }

    /// What is said, and the pages that it rests on.
    pub fn tell(&mut self, said: &str, found: &[(String, String)]) {
        let (id, place) = (format!("msg_{:024}", self.number), self.output.len());
        let item = |status: &str, content: Value| json!({ "id": id, "type": "message", "status": status, "role": "assistant", "content": content });
        self.added(&item("in_progress", json!([])));
        let at =
            |kind: &str| json!({ "type": kind, "item_id": id, "output_index": place, "content_index": 0 });
        let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [] });
        let mut event = at("response.content_part.added");
        event["part"] = part("");
        self.say(event);
        for word in words(said) {
            let mut event = at("response.output_text.delta");
            event["delta"] = json!(word);
            self.say(event);
        }
        let annotations: Vec<Value> = found
            .iter()
            .map(|(url, title)| {
                let end = said.chars().count();
                json!({ "type": "url_citation", "start_index": 0, "end_index": end, "url": url, "title": title })
            })
            .collect();
        for (index, annotation) in annotations.iter().enumerate() {
            let mut event = at("response.output_text.annotation.added");
            event["annotation_index"] = json!(index);
            event["annotation"] = annotation.clone();
            self.say(event);
        }
        let part = json!({ "type": "output_text", "text": said, "annotations": annotations });
        let mut event = at("response.output_text.done");
        event["text"] = json!(said);
        self.say(event);
        let mut event = at("response.content_part.done");
        event["part"] = part.clone();
        self.say(event);
        let item = item("completed", json!([part]));
        if !found.is_empty() {
            self.given.raw.push(item.clone());
        }
        self.done(item);
    }

    pub fn call(&mut self, call: &Written) {
        let place = self.output.len();
        let id = format!("fc_{:022}{place:02}", self.number);
        let item = |status: &str, arguments: &str| {
            json!({
                "id": id, "type": "function_call", "status": status, "call_id": call.id, "name": call.name,
                "arguments": arguments,
            })
        };
        self.added(&item("in_progress", ""));
        for piece in halves(&call.arguments) {
            self.say(json!({
                "type": "response.function_call_arguments.delta", "item_id": id, "output_index": place,
                "delta": piece,
            }));
        }
        self.say(json!({
            "type": "response.function_call_arguments.done", "item_id": id, "output_index": place,
            "arguments": call.arguments,
        }));
        let item = item("completed", &call.arguments);
        self.given.ids.push(call.id.clone());
        self.given.raw.push(item.clone());
        self.done(item);
    }
}
