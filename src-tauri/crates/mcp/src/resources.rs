//! What a server has to read beside its tools (resources), as one more tool of it: without an address it lists them, with one it
//! reads. Its user agrees to it as to any other.

use std::time::Duration;

use futures::future::BoxFuture;
use rmcp::model::{
    CallToolResult, ClientRequest, ContentBlock, ListResourceTemplatesRequest, ListResourcesRequest,
    PaginatedRequestParams, ReadResourceRequest, ReadResourceRequestParams, ResourceContents, ServerResult,
};
use rmcp::service::{Peer, RoleClient};
use serde_json::{Map, Value, json};
use tools::untrusted;

use crate::connection::CallError;
use crate::definition::Definition;

/// In the place of a server's own name for a tool.
pub const RAW: &str = "resources/read";
/// Sends a request to the server of a call, and waits for the answer.
pub type Ask<'a> = dyn Fn(ClientRequest) -> BoxFuture<'a, Result<ServerResult, CallError>> + Send + Sync + 'a;

/// Longest wait for whether there are any.
const LOOK: Duration = Duration::from_secs(5);
/// Of each of the two lists.
const PAGES: usize = 5;
const MOST: usize = 200;
const LINE_CHARS: usize = 300;

pub fn definition() -> Definition {
    let uri = json!({ "type": "string", "description": "One of the list; the list itself if left out." });
    Definition {
        raw: RAW.into(),
        description: "Reads what this server has beside its tools (resources).".into(),
        schema: json!({ "type": "object", "properties": { "uri": uri }, "additionalProperties": false }),
    }
}

/// Whether a server has any. Many say that they may have some, and have none.
pub async fn are_there(peer: &Peer<RoleClient>) -> bool {
    if peer.peer_info().is_none_or(|info| info.capabilities.resources.is_none()) {
        return false;
    }
    let first = Some(PaginatedRequestParams::default());
    let are_there = async {
        peer.list_resources(first.clone()).await.is_ok_and(|page| !page.resources.is_empty())
            || peer.list_resource_templates(first).await.is_ok_and(|page| !page.resource_templates.is_empty())
    };
    tokio::time::timeout(LOOK, are_there).await.unwrap_or(false)
}

/// Reads one that the server lists, or lists all, by requests of the protocol that `ask` carries. An address of nobody's list may
/// lead anywhere, whatever its user was told that this tool does.
///
/// # Errors
/// Those of `ask`.
pub async fn read(arguments: &Map<String, Value>, ask: &Ask<'_>) -> Result<CallToolResult, CallError> {
    let listed = list(ask).await?;
    let Some(uri) = arguments.get("uri").and_then(Value::as_str).filter(|uri| !uri.is_empty()) else {
        return Ok(CallToolResult::success(vec![ContentBlock::text(listed.text())]));
    };
    if !listed.has(uri) {
        let said = untrusted::line(uri, LINE_CHARS);
        let message = format!("it lists no {said}: leave `uri` out for what it has");
        return Ok(CallToolResult::error(vec![ContentBlock::text(message)]));
    }
    let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
    let ServerResult::ReadResourceResult(read) = ask(ClientRequest::ReadResourceRequest(request)).await?
    else {
        return Err(CallError::NoResult);
    };
    let shown = |contents| match contents {
        ResourceContents::BlobResourceContents { blob, mime_type: Some(kind), .. }
            if kind.starts_with("image/") =>
        {
            ContentBlock::image(blob, kind)
        }
        other => ContentBlock::resource(other),
    };
    Ok(CallToolResult::success(read.contents.into_iter().map(shown).collect()))
}

/// What a server says that it has.
#[derive(Default)]
struct Resources {
    /// Addresses, and patterns of addresses (RFC 6570).
    uris: Vec<String>,
    patterns: Vec<String>,
    lines: Vec<String>,
    is_cut: bool,
}

impl Resources {
    fn has(&self, uri: &str) -> bool {
        let fits = |pattern: &String| {
            let fixed = pattern.split('{').next().unwrap_or_default();
            // Without a host or a path of its own it fits everything.
            let names_a_place = fixed.split_once("://").is_some_and(|(_, place)| !place.is_empty());
            names_a_place && uri.starts_with(fixed) && !uri.contains("..")
        };
        self.uris.iter().any(|known| known == uri) || self.patterns.iter().any(fits)
    }

    fn text(mut self) -> String {
        self.is_cut |= self.lines.len() > MOST;
        self.lines.truncate(MOST);
        if self.is_cut {
            self.lines.push("and more, which are not listed".into());
        }
        if self.lines.is_empty() {
            self.lines.push("it has none".into());
        }
        self.lines.join("\n")
    }
}

async fn list(ask: &Ask<'_>) -> Result<Resources, CallError> {
    let mut all = Resources::default();
    let mut cursor = None;
    for _ in 0..PAGES {
        let request = ListResourcesRequest::with_param(PaginatedRequestParams::default().with_cursor(cursor));
        let ServerResult::ListResourcesResult(page) =
            ask(ClientRequest::ListResourcesRequest(request)).await?
        else {
            return Err(CallError::NoResult);
        };
        for one in page.resources {
            all.lines.push(line(&one.uri, &one.name, one.description.as_deref()));
            all.uris.push(one.uri);
        }
        cursor = page.next_cursor;
        if cursor.is_none() || all.lines.len() >= MOST {
            break;
        }
    }
    all.is_cut = cursor.is_some();
    // A server that has no patterns may not know the question.
    let request = ListResourceTemplatesRequest::with_param(PaginatedRequestParams::default());
    match ask(ClientRequest::ListResourceTemplatesRequest(request)).await {
        Ok(ServerResult::ListResourceTemplatesResult(page)) => {
            for one in page.resource_templates {
                all.lines.push(line(&one.uri_template, &one.name, one.description.as_deref()));
                all.patterns.push(one.uri_template);
            }
        }
        Ok(_) | Err(CallError::Erred(_)) => {}
        Err(error) => return Err(error),
    }
    Ok(all)
}

fn line(uri: &str, name: &str, about: Option<&str>) -> String {
    let about = about.map(|about| format!(": {about}")).unwrap_or_default();
    untrusted::line(&format!("{uri} ({name}){about}"), LINE_CHARS)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use std::future::ready;

    use super::*;

    fn answer(json: Value) -> Result<ServerResult, CallError> {
        Ok(serde_json::from_value(json).unwrap())
    }

    fn text(result: &CallToolResult) -> String {
        let texts = result.content.iter().filter_map(|block| block.as_text());
        texts.map(|text| text.text.clone()).collect()
    }

    #[tokio::test]
    async fn a_list_has_all_pages_and_the_patterns_and_ends_where_a_server_does_not() {
        let listed = |request| match request {
            ClientRequest::ListResourcesRequest(request) => {
                let is_second = request.params.unwrap().cursor.is_some();
                answer(match is_second {
                    false => json!({ "resources": [{ "uri": "pond://a", "name": "a" }], "nextCursor": "2" }),
                    true => {
                        json!({ "resources": [{ "uri": "pond://b", "name": "b", "description": "deep" }] })
                    }
                })
            }
            _ => Err(CallError::Erred("no such method".into())),
        };
        let all = read(&Map::new(), &|request| ready(listed(request)).boxed()).await.unwrap();
        assert_eq!(text(&all), "pond://a (a)\npond://b (b): deep");
        let endless = |request| match request {
            ClientRequest::ListResourcesRequest(_) => {
                answer(json!({ "resources": [{ "uri": "pond://a", "name": "a" }], "nextCursor": "on" }))
            }
            _ => answer(json!({ "resourceTemplates": [{ "uriTemplate": "pond://{id}", "name": "any" }] })),
        };
        let some = text(&read(&Map::new(), &|request| ready(endless(request)).boxed()).await.unwrap());
        assert!(some.contains("pond://{id} (any)") && some.ends_with("not listed"), "{some}");
    }

    #[tokio::test]
    async fn one_that_is_listed_is_read_and_no_other_address_is_sent() {
        let asked = |request| match request {
            ClientRequest::ListResourcesRequest(_) => {
                answer(json!({ "resources": [{ "uri": "pond://a", "name": "a" }] }))
            }
            ClientRequest::ListResourceTemplatesRequest(_) => answer(json!({ "resourceTemplates": [
                { "uriTemplate": "pond://fish/{id}", "name": "fish" }, { "uriTemplate": "{+uri}", "name": "any" },
            ]})),
            ClientRequest::ReadResourceRequest(request) => answer(json!({ "contents": [
                { "uri": request.params.uri, "text": "deep" },
                { "uri": "pond://a", "mimeType": "image/png", "blob": "aGk=" },
            ]})),
            _ => Err(CallError::NoResult),
        };
        for (uri, is_read) in [
            ("pond://a", true),
            ("pond://fish/3", true),
            ("pond://fish/../../etc", false),
            ("file:///etc/passwd", false),
            ("http://169.254.169.254/", false),
        ] {
            let arguments = json!({ "uri": uri }).as_object().unwrap().clone();
            let read = read(&arguments, &|request| ready(asked(request)).boxed()).await.unwrap();
            assert_eq!(read.is_error == Some(true), !is_read, "{uri}");
            if is_read {
                assert!(read.content[0].as_resource().is_some() && read.content[1].as_image().is_some());
            }
        }
    }
}
