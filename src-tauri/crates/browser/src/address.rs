//! Which addresses are opened. Pure.

use desktop::DesktopError;

/// Refuses what is not `http`, `https` or `about:blank`.
pub(crate) fn checked_url(url: &str) -> Result<&str, DesktopError> {
    let url = url.trim();
    let lower = url.to_ascii_lowercase();
    let web = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://"));
    let named =
        web.is_some_and(|rest| rest.chars().next().is_some_and(|c| !matches!(c, '/' | '?' | '#' | ':')));
    if (named || lower == "about:blank") && !url.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Ok(url);
    }
    let shown: String = url.chars().take(80).collect();
    Err(DesktopError::Forbidden(format!(
        "{shown:?} is no web address; only http://, https:// and about:blank are opened"
    )))
}

/// Refuses to look at what is no web page: files, and the browser's own pages, but for an empty or a failed one.
pub(crate) fn check_page(url: &str) -> Result<(), DesktopError> {
    let is_blank =
        ["about:blank", "about:srcdoc", "chrome-error:"].iter().any(|blank| url.starts_with(blank));
    if is_blank || url.is_empty() || checked_url(url).is_ok() {
        return Ok(());
    }
    let scheme = url.split(':').next().unwrap_or_default();
    Err(DesktopError::Forbidden(format!(
        "the tab in front shows no web page ({scheme}:); choose another with webTab, or open one with webNavigate"
    )))
}

#[cfg(test)]
mod tests;
