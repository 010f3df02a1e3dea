//! Which tools a request to Gemini offers: ours, and Google's own.

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

/// # Errors
/// Tools that there are not, in another form, or that do not go together so.
pub(super) fn read(body: &Value) -> Result<Tools, Wrong> {
    let mut tools = Tools::default();
    for (at, tool) in items(body, "tools").iter().enumerate() {
        if let Some(name) = unknown_field(tool, &["functionDeclarations", "googleSearch", "computerUse"]) {
            return unknown(name, &format!("tools[{at}]"));
        }
        let declared = items(tool, "functionDeclarations").iter();
        tools.functions.extend(declared.map(|tool| text(tool, "name").to_owned()));
        tools.computer = tools.computer.or(computer::declared(tool, at)?);
        let search = &tool["googleSearch"];
        if let Some(name) = unknown_field(search, &["timeRangeFilter", "searchTypes"]) {
            return unknown(name, &format!("tools[{at}].google_search"));
        }
        match search {
            Value::Null => {}
            Value::Object(_) => tools.searches.push("googleSearch".to_owned()),
            _ => {
                return bad(&format!(
                    "Invalid value at 'tools[{at}].google_search' (type.googleapis.com/google.ai.generativelanguage.v1.GoogleSearch), {search}"
                ));
            }
        }
    }
    let config = &body["toolConfig"];
    let is_told = config["includeServerSideToolInvocations"] == true;
    if !tools.searches.is_empty() && !tools.functions.is_empty() && !is_told {
        return bad(
            "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.",
        );
    }
    if is_told && config["functionCallingConfig"]["mode"] == "AUTO" {
        return bad("Function calling mode AUTO is not supported with include_server_side_tool_invocations.");
    }
    Ok(tools)
}

pub(super) fn unknown<T>(name: &str, place: &str) -> Result<T, Wrong> {
    bad(&format!("Invalid JSON payload received. Unknown name \"{name}\" at '{place}': Cannot find field."))
}
