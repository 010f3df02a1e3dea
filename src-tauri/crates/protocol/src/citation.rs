//! What an answer rests on, where a provider searched by itself.

use serde::{Deserialize, Serialize};

/// A page that an answer rests on, found by the provider's own search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Citation {
    /// `https` or `http`, and nothing else.
    pub url: String,
    /// As the page or the provider has it; may be empty.
    pub title: String,
}

impl Citation {
    /// Characters of an address and of a title.
    const URL_CHARS: usize = 2_000;
    const TITLE_CHARS: usize = 300;

    /// `None` for an address that leads to no page, or is too long to be one. A long title is cut.
    pub fn new(url: &str, title: &str) -> Option<Self> {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let citation =
            Self { url: url.trim().to_owned(), title: title.chars().take(Self::TITLE_CHARS).collect() };
        let plain = !citation.url.chars().any(|c| c.is_whitespace() || c.is_control());
        (plain && citation.url.len() <= Self::URL_CHARS && citation.host().is_some()).then_some(citation)
    }

    /// Whose page it is: the host of its address, without a port.
    pub fn host(&self) -> Option<&str> {
        let (scheme, rest) = self.url.split_once("://")?;
        if !["https", "http"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return None;
        }
        let authority = rest.split(['/', '?', '#', '\\']).next()?;
        // What stands before an `@` only looks like the host.
        let host = authority.rsplit('@').next()?;
        let host = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((v6, _)) => v6,
            None => host.split(':').next()?,
        };
        (!host.is_empty()).then_some(host)
    }

    /// The title, or the host where there is none.
    pub fn name(&self) -> &str {
        if self.title.is_empty() { self.host().unwrap_or(&self.url) } else { &self.title }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_page_can_be_cited_and_its_host_is_the_one_it_leads_to() {
        let host = |url: &str| Citation::new(url, "t").and_then(|one| one.host().map(str::to_owned));
        for (url, expected) in [
            ("https://example.org/a?b#c", Some("example.org")),
            ("HTTP://example.org:8080", Some("example.org")),
            ("https://trusted.org@evil.org/x", Some("evil.org")),
            ("https://evil.org\\@trusted.org", Some("evil.org")),
            ("https://[::1]:9/x", Some("::1")),
            ("javascript:alert(1)", None),
            ("file:///etc/passwd", None),
            ("https://", None),
            ("https://a b.org", None),
        ] {
            assert_eq!(host(url).as_deref(), expected, "{url}");
        }
        assert_eq!(Citation::new(&format!("https://a.org/{}", "x".repeat(2_000)), "t"), None);
    }

    #[test]
    fn a_citation_without_a_title_is_called_by_its_host() {
        assert_eq!(Citation::new("https://a.org/x", " \n ").unwrap().name(), "a.org");
        assert_eq!(Citation::new("https://a.org/x", "A\npage").unwrap().name(), "A page");
    }
}
