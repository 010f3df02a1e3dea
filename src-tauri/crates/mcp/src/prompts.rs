//! Prompts of a server: texts with blanks, for its users to begin a goal with. They are listed with what it offers; one is filled
//! in when its user has chosen it, and is theirs to read and to change before anything is done with it.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::mcp::{PromptField, PromptView};
use rmcp::model::{
    ContentBlock, GetPromptRequestParams, PaginatedRequestParams, Prompt, ResourceContents, Role,
};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::Value;
use tools::untrusted;

/// Longest wait for the list, or for one of them.
const WAIT: Duration = Duration::from_secs(10);
const PAGES: usize = 5;
const MOST: usize = 100;
const NAME_CHARS: usize = 128;
const ABOUT_CHARS: usize = 300;
const TEXT_CHARS: usize = 8_000;

/// Those that a server has; empty if it does not list them in time.
pub async fn list(peer: &Peer<RoleClient>) -> Vec<PromptView> {
    if peer.peer_info().is_none_or(|info| info.capabilities.prompts.is_none()) {
        return Vec::new();
    }
    let (mut all, mut cursor) = (Vec::new(), None);
    let pages = async {
        for _ in 0..PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor.take());
            let Ok(page) = peer.list_prompts(Some(params)).await else { return };
            all.extend(page.prompts.iter().filter_map(view));
            cursor = page.next_cursor;
            if cursor.is_none() {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(WAIT, pages).await;
    all.truncate(MOST);
    all
}

/// `None` for one whose name, or that of a blank, cannot be shown as it is.
fn view(prompt: &Prompt) -> Option<PromptView> {
    let is_plain = |name: &str| untrusted::line(name, NAME_CHARS) == name && !name.is_empty();
    let about = |title: &Option<String>, description: &Option<String>| {
        let about = description.as_ref().or(title.as_ref());
        about.map(|about| untrusted::line(about, ABOUT_CHARS)).unwrap_or_default()
    };
    let fields = prompt.arguments.iter().flatten();
    let fields: Vec<_> = fields
        .map(|field| PromptField {
            name: field.name.clone(),
            about: about(&field.title, &field.description),
            is_required: field.required.unwrap_or(false),
        })
        .collect();
    let is_shown = is_plain(&prompt.name) && fields.iter().all(|field| is_plain(&field.name));
    is_shown.then(|| PromptView {
        name: prompt.name.clone(),
        about: about(&prompt.title, &prompt.description),
        fields,
    })
}

/// One that is filled in: what its messages say, cleaned, and cut where it is too long.
///
/// # Errors
/// Those of the connection; `None` if it does not answer in time.
pub async fn fill(
    peer: &Peer<RoleClient>,
    name: &str,
    fields: BTreeMap<String, String>,
) -> Result<Option<String>, ServiceError> {
    let fields = fields.into_iter().map(|(name, value)| (name, Value::String(value))).collect();
    let asked = peer.get_prompt(GetPromptRequestParams::new(name).with_arguments(fields));
    let Ok(filled) = tokio::time::timeout(WAIT, asked).await else { return Ok(None) };
    let texts = filled?.messages.into_iter().map(|message| match message.role {
        Role::Assistant => format!("(The answer to that is to begin so: {})", text(message.content)),
        _ => text(message.content),
    });
    let (text, _) = untrusted::clean(texts.collect::<Vec<_>>().join("\n\n").trim());
    Ok(Some(untrusted::cut(&text, TEXT_CHARS)))
}

fn text(block: ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text,
        ContentBlock::ResourceLink(link) => format!("[{}: {}]", link.name, link.uri),
        ContentBlock::Resource(resource) => match resource.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("[{uri}]\n{text}"),
            _ => "[something that is no text]".into(),
        },
        _ => "[something that is no text]".into(),
    }
}
