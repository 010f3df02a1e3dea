//! `webElements`: the elements of the browser's page. Part of the whitelist; no browser is attached in this version.

use desktop::Abilities;
use protocol::tool::{Risk, ToolError, ToolErrorKind};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Catalog, Plan, Tool, tool_error};

const MISSING: &str = "the browser is not attached yet (it comes with a later version)";

pub(super) struct WebElements;

/// Lists the elements of the page in the browser's front tab.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {}

impl Tool for WebElements {
    const NAME: &'static str = "webElements";
    const RISK: Risk = Risk::Observe;
    type Input = Input;

    fn missing(_: &Abilities) -> Option<&'static str> {
        Some(MISSING)
    }

    fn plan(_: Input, _: &Catalog<'_>) -> Result<Plan, ToolError> {
        Err(tool_error(ToolErrorKind::NotAvailable, format!("not available here: {MISSING}")))
    }
}
