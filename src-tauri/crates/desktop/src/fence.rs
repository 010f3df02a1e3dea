//! The rule of the fence, for all platforms and for the browser: which displays and applications may be acted on.

use crate::{DesktopError, Fence};

/// Whether a display may be acted on.
///
/// # Errors
/// [`DesktopError::Forbidden`] names the displays that may.
pub fn check_display(fence: &Fence, index: u32) -> Result<(), DesktopError> {
    if fence.displays.is_empty() || fence.displays.contains(&index) {
        return Ok(());
    }
    let allowed: Vec<String> = fence.displays.iter().map(ToString::to_string).collect();
    Err(DesktopError::Forbidden(format!(
        "display {index} is outside the user's fence; act on display {}",
        allowed.join(" or ")
    )))
}

/// Whether an application by one of these names may be acted on.
///
/// # Errors
/// [`DesktopError::Forbidden`] names the applications that may.
pub fn check_app(fence: &Fence, names: &[&str]) -> Result<(), DesktopError> {
    let is_part = |name: &str, app: &String| name.to_lowercase().contains(&app.to_lowercase());
    if let Some(never) = fence.never.iter().find(|app| names.iter().any(|name| is_part(name, app))) {
        let message = format!("the user never lets {never} be acted on; do without it, or ask them in words");
        return Err(DesktopError::Forbidden(message));
    }
    let within = |name: &str| fence.apps.iter().any(|app| is_part(name, app));
    if fence.apps.is_empty() || names.iter().any(|name| within(name)) {
        return Ok(());
    }
    let shown = names.iter().find(|name| !name.is_empty()).copied().unwrap_or("what is there");
    Err(DesktopError::Forbidden(format!(
        "{shown} is outside the user's fence; act only on {}",
        fence.apps.join(" or ")
    )))
}
