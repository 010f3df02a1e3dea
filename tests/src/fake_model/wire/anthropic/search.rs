//! Anthropic's web search: what a turn tells of it, in blocks that must come back as they were.

use serde_json::{Value, json};

use crate::fake_model::history::Given;
use crate::fake_model::mind::Search;
use crate::fake_model::wire::{Saying, halves, items, response};

/// The search, and what it found, in a way of writing that is nobody else's.
pub(super) fn look(
    saying: &Saying<'_>,
    search: &Search,
    block: &mut impl FnMut(String, Vec<Value>),
    given: &mut Given,
) {
    let id = format!("srvtoolu_01{:020}", saying.number);
    let mut asked = json!({ "type": "server_tool_use", "id": id, "name": "web_search", "input": {} });
    let input = format!(r#"{{"query": {}}}"#, json!(search.query));
    let pieces = halves(&input).map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }));
    block(asked.to_string(), pieces.into());
    asked["input"] = response(&input);
    given.verbatim.push(format!(r#""input":{input}"#));
    let results = search.found.iter().enumerate().map(|(at, (url, title))| {
        let sealed = saying.signature(&format!("page {at}"));
        format!(
            r#"{{"type":"web_search_result","url":{},"title":{},"encrypted_content":"{sealed}", "page_age":null}}"#,
            json!(url),
            json!(title)
        )
    });
    let results = results.collect::<Vec<_>>().join(", ");
    let found = format!(r#"{{"type":"web_search_tool_result", "tool_use_id":"{id}","content":[{results}]}}"#);
    block(found.clone(), Vec::new());
    for whole in [asked, response(&found)] {
        given.signatures.extend(seals(&whole));
        given.raw.push(whole);
    }
    given.verbatim.push(found);
}

/// What only the server can have written in a block of a search.
pub(super) fn seals(block: &Value) -> Vec<String> {
    let pages = items(block, "content").iter().map(|page| &page["encrypted_content"]);
    pages.chain([&block["id"]]).filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What the words after it rest on.
pub(super) fn citations(saying: &Saying<'_>, search: &Search) -> Vec<Value> {
    let found = search.found.iter().enumerate();
    let cited = found.map(|(at, (url, title))| {
        json!({
            "type": "web_search_result_location", "url": url, "title": title,
            "encrypted_index": saying.signature(&format!("place {at}")), "cited_text": "as it stands there",
        })
    });
    cited.collect()
}
