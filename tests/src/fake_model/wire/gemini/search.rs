//! Google's search beside functions: parts of the turn that must come back, and what the words rest on at its end.
//!
//! Source: Google's page on combining built-in tools with functions.

use serde_json::{Value, json};

use crate::fake_model::history::Given;
use crate::fake_model::mind::Search;
use crate::fake_model::wire::{Saying, response};

/// Two parts, each signed, in a way of writing that is nobody else's.
pub(super) fn look(saying: &Saying<'_>, search: &Search, given: &mut Given) -> [String; 2] {
    let id = format!("ts{}", saying.number);
    let part = |name: &str, what: String| {
        let signature = saying.signature(name);
        format!(
            r#"{{"{name}": {{"toolType":"GOOGLE_SEARCH_WEB",{what},"id":"{id}"}},"thoughtSignature":"{signature}"}}"#
        )
    };
    let parts = [
        part("toolCall", format!(r#""args":{{"queries": [{}]}}"#, json!(search.query))),
        part("toolResponse", r#""response":{"search_suggestions": "<div>more</div>"}"#.to_owned()),
    ];
    for name in ["toolCall", "toolResponse"] {
        given.signatures.push(saying.signature(name));
    }
    given.raw.extend(parts.iter().map(|part| response(part)));
    given.verbatim.extend(parts.clone());
    parts
}

/// Beside the end of the turn.
pub(super) fn grounding(search: &Search, words: &str) -> Value {
    let chunk = |(url, title): &(String, String)| json!({ "web": { "uri": url, "title": title } });
    let support = |at| {
        let segment = json!({ "endIndex": words.len(), "text": words });
        json!({ "segment": segment, "groundingChunkIndices": [at] })
    };
    json!({
        "webSearchQueries": [search.query],
        "searchEntryPoint": { "renderedContent": "<div></div>" },
        "groundingChunks": search.found.iter().map(chunk).collect::<Vec<_>>(),
        "groundingSupports": (0..search.found.len()).map(support).collect::<Vec<_>>(),
    })
}
