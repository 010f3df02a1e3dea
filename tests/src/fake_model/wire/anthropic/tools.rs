//! Which tools a request to Anthropic offers: ours, and the vendor's own.

use axum::http::HeaderMap;
use serde_json::Value;

use super::computer;
use crate::fake_model::computer::Computer;
use crate::fake_model::wire::{Wrong, bad, items, text, unknown_field};

#[derive(Default)]
pub(super) struct Tools {
    /// Names of those of ours.
    pub functions: Vec<String>,
    pub searches: Vec<String>,
    pub computer: Option<Computer>,
}

const OF_FUNCTION: [&str; 6] = ["type", "name", "description", "input_schema", "cache_control", "strict"];
const OF_SEARCH: [&str; 7] =
    ["type", "name", "max_uses", "allowed_domains", "blocked_domains", "user_location", "cache_control"];

/// # Errors
/// Tools that there are not, or in another form.
pub(super) fn read(headers: &HeaderMap, body: &Value) -> Result<Tools, Wrong> {
    let mut tools = Tools::default();
    let mut names = Vec::new();
    for (at, tool) in items(body, "tools").iter().enumerate() {
        let kind = text(tool, "type");
        let name = text(tool, "name");
        let place = format!("tools.{at}.{}", if kind.is_empty() { "custom" } else { kind });
        match kind {
            "" | "custom" => {
                only(tool, &OF_FUNCTION, &place)?;
                if name.is_empty() || !tool["input_schema"].is_object() {
                    return bad(&format!("{place}.input_schema: Field required"));
                }
                tools.functions.push(name.to_owned());
            }
            "web_search_20250305" => {
                only(tool, &OF_SEARCH, &place)?;
                if name != "web_search" {
                    return bad(&format!("{place}.name: Input should be 'web_search'"));
                }
                if !tool["max_uses"].is_null() && tool["max_uses"].as_u64().is_none_or(|most| most == 0) {
                    return bad(&format!("{place}.max_uses: Input should be greater than 0"));
                }
                tools.searches.push(name.to_owned());
            }
            _ => {
                let declared = computer::declared(headers, text(body, "model"), tool, &place)?;
                if declared.is_some() {
                    tools.computer = declared;
                    continue;
                }
                return bad(&format!(
                    "tools.{at}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
                ));
            }
        }
        if names.contains(&name) {
            return bad("tools: Tool names must be unique.");
        }
        names.push(name);
    }
    Ok(tools)
}

pub(super) fn only(tool: &Value, known: &[&str], place: &str) -> Result<(), Wrong> {
    match unknown_field(tool, known) {
        Some(field) => bad(&format!("{place}.{field}: Extra inputs are not permitted")),
        None => Ok(()),
    }
}
