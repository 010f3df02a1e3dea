//! Prompts of a server: texts with blanks, for its users to begin a goal with. They are listed with what it offers; one is filled
//! in when its user has chosen it, and is theirs to read and to change before anything is done with it.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::mcp::{PromptField, PromptView};
use rmcp::model::{
    ContentBlock, GetPromptRequestParams, PaginatedRequestParams, Prompt, PromptArgument, ResourceContents,
    Role,
};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::Value;
use tools::untrusted;

use crate::client::Heard;

/// Longest wait for the list, or for one of them.
const WAIT: Duration = Duration::from_secs(10);
const PAGES: usize = 5;
const MOST: usize = 100;
/// Blanks of one.
const FIELDS: usize = 20;
const NAME_CHARS: usize = 128;
const ABOUT_CHARS: usize = 300;
const TEXT_CHARS: usize = 8_000;

/// Those that a server has, and why some of them, or all, are not told.
pub async fn list(peer: &Peer<RoleClient>, heard: &Heard) -> (Vec<PromptView>, Option<String>) {
    if peer.peer_info().is_none_or(|info| info.capabilities.prompts.is_none()) {
        return (Vec::new(), None);
    }
    let (mut all, mut left_out) = (Vec::new(), 0);
    let pages = async {
        let mut cursor = None;
        for _ in 0..PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let page = peer.list_prompts(Some(params)).await.map_err(|error| error.to_string())?;
            for prompt in &page.prompts {
                match view(prompt, heard) {
                    Some(view) if all.len() < MOST => all.push(view),
                    _ => left_out += 1,
                }
            }
            cursor = page.next_cursor;
            if cursor.is_none() || all.len() >= MOST {
                break;
            }
        }
        Ok(())
    };
    let listed =
        tokio::time::timeout(WAIT, pages).await.unwrap_or_else(|_| Err("no answer in time".to_owned()));
    let why = match listed {
        Err(why) => Some(format!("it does not list its prompts: {}", heard.line(&why, ABOUT_CHARS))),
        Ok(()) if left_out > 0 => Some(format!(
            "{left_out} of its prompts are left out: {MOST} are the most, with {FIELDS} blanks each, and names as they are shown"
        )),
        Ok(()) => None,
    };
    (all, why)
}

/// `None` for one that cannot be shown as it is, or that has a key in its name or that of a blank: it could not be asked for.
fn view(prompt: &Prompt, heard: &Heard) -> Option<PromptView> {
    let is_plain =
        |name: &str| untrusted::line(name, NAME_CHARS) == name && !name.is_empty() && !heard.has_key(name);
    let about = |title: &Option<String>, description: &Option<String>| {
        let about = description.as_ref().or(title.as_ref());
        about.map(|about| heard.line(about, ABOUT_CHARS)).unwrap_or_default()
    };
    let fields = prompt.arguments.as_deref().unwrap_or_default();
    let is_shown =
        is_plain(&prompt.name) && fields.len() <= FIELDS && fields.iter().all(|field| is_plain(&field.name));
    let field = |field: &PromptArgument| PromptField {
        name: field.name.clone(),
        about: about(&field.title, &field.description),
        is_required: field.required.unwrap_or(false),
    };
    is_shown.then(|| PromptView {
        name: prompt.name.clone(),
        about: about(&prompt.title, &prompt.description),
        fields: fields.iter().map(field).collect(),
    })
}

/// One that is filled in: what its messages say, cleaned, without keys, and cut where it is too long. `None` if it does not
/// answer in time.
///
/// # Errors
/// Those of the connection.
pub async fn fill(
    peer: &Peer<RoleClient>,
    name: &str,
    fields: BTreeMap<String, String>,
    heard: &Heard,
) -> Result<Option<String>, ServiceError> {
    let fields = fields.into_iter().map(|(name, value)| (name, Value::String(value))).collect();
    let asked = peer.get_prompt(GetPromptRequestParams::new(name).with_arguments(fields));
    let Ok(filled) = tokio::time::timeout(WAIT, asked).await else { return Ok(None) };
    let texts = filled?.messages.into_iter().map(|message| match message.role {
        Role::Assistant => format!("(The answer to that is to begin so: {})", text(message.content)),
        _ => text(message.content),
    });
    let (text, _) = untrusted::clean(&texts.collect::<Vec<_>>().join("\n\n"));
    let text = heard.without_keys(&in_view(&text));
    // Cut last: no part of a key stays.
    Ok(Some(untrusted::cut(text.trim(), TEXT_CHARS)))
}

/// Without lines on lines that are empty: what stands after them is not to be out of sight.
fn in_view(text: &str) -> String {
    let mut shown = String::new();
    let mut empty = 0;
    for line in text.lines().map(str::trim_end) {
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            shown.push_str(line);
            shown.push('\n');
        }
    }
    shown
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
