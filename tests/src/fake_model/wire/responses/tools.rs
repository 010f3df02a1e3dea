//! Which tools a request by Responses offers: ours, and those of OpenAI's or xAI's own.

use serde_json::Value;

use super::{Responses, computer, unsupported};
use crate::fake_model::computer::Computer;
use crate::fake_model::wire::{Wrong, bad, items, text, unknown_field};

#[derive(Default)]
pub(super) struct Tools {
    /// Names of those of ours.
    pub functions: Vec<String>,
    pub searches: Vec<String>,
    pub computer: Option<Computer>,
}

const OF_FUNCTION: [&str; 5] = ["type", "name", "description", "parameters", "strict"];
const OF_OPENAIS_SEARCH: [&str; 4] = ["type", "filters", "search_context_size", "user_location"];
const OF_XAIS_SEARCH: [&str; 3] = ["type", "filters", "enable_image_understanding"];
const OF_X_SEARCH: [&str; 7] = [
    "type",
    "allowed_x_handles",
    "excluded_x_handles",
    "from_date",
    "to_date",
    "enable_image_understanding",
    "enable_video_understanding",
];

/// # Errors
/// Tools that there are not, or in another form.
pub(super) fn read(dialect: Responses, body: &Value) -> Result<Tools, Wrong> {
    let mut tools = Tools::default();
    for (at, tool) in items(body, "tools").iter().enumerate() {
        let declared = computer::declared(dialect, body, tool, at)?;
        if declared.is_some() {
            tools.computer = declared;
            continue;
        }
        let kind = text(tool, "type");
        let known: &[&str] = match (kind, dialect) {
            ("function", _) => &OF_FUNCTION,
            ("web_search", Responses::OpenAi) => &OF_OPENAIS_SEARCH,
            ("web_search", Responses::Xai) => &OF_XAIS_SEARCH,
            ("x_search", Responses::Xai) => &OF_X_SEARCH,
            _ => return unsupported(kind, &format!("tools[{at}].type")),
        };
        if let Some(field) = unknown_field(tool, known) {
            return bad(&format!("Unknown parameter: 'tools[{at}].{field}'."));
        }
        match kind {
            "function" if text(tool, "name").is_empty() => {
                return bad(&format!("Missing required parameter: 'tools[{at}].name'."));
            }
            "function" => tools.functions.push(text(tool, "name").to_owned()),
            _ => tools.searches.push(kind.to_owned()),
        }
    }
    Ok(tools)
}
