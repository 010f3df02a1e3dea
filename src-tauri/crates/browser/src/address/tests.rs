//! Tests of `address`.

use super::*;

#[test]
fn only_web_addresses_are_opened() {
    for good in ["https://example.org/a?b#c", "HTTP://127.0.0.1:8080/", "about:blank", " http://[::1]/ "] {
        assert_eq!(checked_url(good), Ok(good.trim()));
    }
    for bad in [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x",
        "chrome://settings",
        "example.org",
        "view-source:https://example.org",
        "about:config",
        "http://",
        "https:///etc",
        "http://a b",
        "https://a\nb",
        "",
    ] {
        assert!(matches!(checked_url(bad), Err(DesktopError::Forbidden(_))), "{bad}");
    }
}

#[test]
fn files_and_the_browsers_own_pages_are_not_looked_at() {
    for page in ["https://example.org/a", "about:blank", "chrome-error://chromewebdata/", ""] {
        assert_eq!(check_page(page), Ok(()), "{page}");
    }
    for other in [
        "file:///etc/passwd",
        "chrome://settings/passwords",
        "devtools://x",
        "view-source:https://a.b",
        "about:config",
    ] {
        assert!(matches!(check_page(other), Err(DesktopError::Forbidden(_))), "{other}");
    }
}
