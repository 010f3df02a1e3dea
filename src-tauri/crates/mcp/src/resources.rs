//! What a server has to read beside its tools (resources), as one more tool of it: without an address it lists them, with one it
//! reads. Its user agrees to it as to any other.

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
    peer.list_resources(first.clone()).await.is_ok_and(|page| !page.resources.is_empty())
        || peer.list_resource_templates(first).await.is_ok_and(|page| !page.resource_templates.is_empty())
}

/// Reads one, or lists all, by requests of the protocol that `ask` carries.
///
/// # Errors
/// Those of `ask`.
pub async fn read(arguments: &Map<String, Value>, ask: &Ask<'_>) -> Result<CallToolResult, CallError> {
    match arguments.get("uri").and_then(Value::as_str).filter(|uri| !uri.is_empty()) {
        Some(uri) => read_one(uri, ask).await,
        None => list(ask).await,
    }
}

async fn read_one(uri: &str, ask: &Ask<'_>) -> Result<CallToolResult, CallError> {
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

async fn list(ask: &Ask<'_>) -> Result<CallToolResult, CallError> {
    let mut lines: Vec<String> = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES {
        let request = ListResourcesRequest::with_param(PaginatedRequestParams::default().with_cursor(cursor));
        let ServerResult::ListResourcesResult(page) =
            ask(ClientRequest::ListResourcesRequest(request)).await?
        else {
            return Err(CallError::NoResult);
        };
        lines.extend(page.resources.iter().map(|one| line(&one.uri, &one.name, one.description.as_deref())));
        cursor = page.next_cursor;
        if cursor.is_none() || lines.len() >= MOST {
            break;
        }
    }
    // A server that has no patterns may not know the question.
    let request = ListResourceTemplatesRequest::with_param(PaginatedRequestParams::default());
    match ask(ClientRequest::ListResourceTemplatesRequest(request)).await {
        Ok(ServerResult::ListResourceTemplatesResult(page)) => {
            let line = |one: &rmcp::model::ResourceTemplate| {
                line(&one.uri_template, &one.name, one.description.as_deref())
            };
            lines.extend(page.resource_templates.iter().map(line));
        }
        Ok(_) | Err(CallError::Erred(_)) => {}
        Err(error) => return Err(error),
    }
    let more = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    if more > 0 || cursor.is_some() {
        lines.push("and more, which are not listed".into());
    }
    if lines.is_empty() {
        lines.push("it has none".into());
    }
    Ok(CallToolResult::success(vec![ContentBlock::text(lines.join("\n"))]))
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
    async fn one_is_read_by_its_address_and_a_picture_is_one() {
        let arguments = json!({ "uri": "pond://a" }).as_object().unwrap().clone();
        let contents = json!({ "contents": [
            { "uri": "pond://a", "text": "deep" },
            { "uri": "pond://a", "mimeType": "image/png", "blob": "aGk=" },
        ]});
        let read = read(&arguments, &|_| ready(answer(contents.clone())).boxed()).await.unwrap();
        assert!(read.content[0].as_resource().is_some() && read.content[1].as_image().is_some());
    }
}
