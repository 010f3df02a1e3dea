//! What a server's answer is to the model: cleaned, bounded, and believed no further than it can be.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use protocol::mcp::ToolDoes;
use protocol::tool::{Effect, ToolError, ToolErrorKind};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};
use tools::{Limits, Outcome, TakenPicture, untrusted};

/// Characters of the line for people.
const SUMMARY_CHARS: usize = 300;
/// Answers may be as long as this many texts in the history.
const TEXTS: usize = 4;
/// Bytes of a picture that is unpacked.
const PICTURE_BYTES: usize = 12 * 1024 * 1024;

/// Blocking: a picture is unpacked.
pub fn of(server: &str, tool: &str, does: ToolDoes, result: CallToolResult, limits: &Limits) -> Outcome {
    let most = limits.data_chars.saturating_mul(TEXTS);
    let mut texts = Vec::new();
    let mut picture = None;
    for block in result.content {
        match block {
            ContentBlock::Text(text) => texts.push(text.text),
            ContentBlock::Image(image) if picture.is_none() => match unpacked(&image.data, limits) {
                Ok(taken) => picture = Some(taken),
                Err(why) => texts.push(format!("[a picture that cannot be shown: {why}]")),
            },
            ContentBlock::Image(_) => texts.push("[a further picture, not shown]".into()),
            ContentBlock::Audio(audio) => texts.push(format!("[sound ({}), not heard]", audio.mime_type)),
            ContentBlock::ResourceLink(link) => texts.push(format!("[{}: {}]", link.name, link.uri)),
            ContentBlock::Resource(resource) => texts.push(match resource.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => format!("[{uri}]\n{text}"),
                ResourceContents::BlobResourceContents { uri, .. } => format!("[{uri}: no text]"),
                _ => "[something that is not known here]".into(),
            }),
            _ => texts.push("[something that is not known here]".into()),
        }
    }
    let (text, _) = untrusted::clean(&texts.join("\n"));
    if result.is_error == Some(true) {
        let said = untrusted::line(&text, SUMMARY_CHARS);
        let message = format!("the server {server} says that it failed: {said}");
        // How far it came, only the server knows.
        let error = ToolError { kind: ToolErrorKind::Failed, message };
        let mut outcome = Outcome::failed(tool, Effect::Unknown, error);
        outcome.data = json!({ "text": untrusted::cut(&text, most) });
        return outcome;
    }
    let mut data = json!({});
    // Servers that have both write the same into both.
    match result.structured_content {
        Some(structured) => data["result"] = structured_within(structured, most),
        None if !text.is_empty() => data["text"] = untrusted::cut(&text, most).into(),
        None => {}
    }
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("done, it says");
    let summary = format!("{server}: {}", untrusted::line(first, SUMMARY_CHARS));
    let mut outcome = Outcome::looked(summary, data);
    outcome.picture = picture;
    if does != ToolDoes::Looks {
        // Its word is all there is.
        outcome.effect = Effect::Unverified;
    }
    outcome
}

/// JSON as it is; as a text that is cut where it is too long.
fn structured_within(value: Value, most: usize) -> Value {
    let mut value = value;
    untrusted::clean_json(&mut value);
    let written = value.to_string();
    if written.chars().count() <= most { value } else { untrusted::cut(&written, most).into() }
}

fn unpacked(data: &str, limits: &Limits) -> Result<TakenPicture, String> {
    if data.len() > PICTURE_BYTES {
        return Err(format!("it is larger than {} MB", PICTURE_BYTES >> 20));
    }
    let bytes = BASE64_STANDARD.decode(data).map_err(|error| error.to_string())?;
    TakenPicture::of_file(&bytes, limits).map_err(|error| untrusted::line(&error, 100))
}
