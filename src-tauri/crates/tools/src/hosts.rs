//! Hosts: of an address, and those that words name.

use protocol::address;

/// Top-level domains that files end with, too: "notes.md" names no host.
const FILES: [&str; 9] = ["cc", "md", "mov", "pl", "ps", "py", "rs", "sh", "zip"];

/// The host of a web address, in lower case; `None` if it is none.
pub(crate) fn of(url: &str) -> Option<String> {
    let (scheme, rest) = url.trim().split_once("://")?;
    if !["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web)) {
        return None;
    }
    // A backslash is a slash to browsers.
    let place = rest.split(['/', '\\', '?', '#']).next()?;
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    let host = place.rsplit_once(':').filter(|(_, port)| !port.contains(']')).map_or(place, |(host, _)| host);
    let host = host.trim_end_matches('.').to_lowercase();
    (!host.is_empty()).then_some(host)
}

/// The hosts that a text names, by an address or bare.
pub(crate) fn named(text: &str) -> impl Iterator<Item = String> {
    let breaks = |c: char| c.is_whitespace() || "\"'`<>()[]{},;“”‘’「」『』（）、。".contains(c);
    text.split(breaks).filter_map(|word| of(word).or_else(|| bare(word)))
}

/// The host that would be gone to if this were typed into a browser's address field: a whole address, and nothing else.
pub(crate) fn typed(text: &str) -> Option<String> {
    let text = text.trim();
    let is_one = !text.is_empty() && !text.contains(char::is_whitespace);
    named(text).next().filter(|_| is_one)
}

fn bare(word: &str) -> Option<String> {
    let place = word.trim_end_matches(['.', '!', '?', ':']).split(['/', '?', '#', ':']).next()?;
    let (name, top) = place.rsplit_once('.')?;
    let is_name = |c: char| c.is_alphanumeric() || c == '-' || c == '.';
    let fits = !name.is_empty() && name.chars().all(is_name) && !name.starts_with(['.', '-']);
    let top = top.to_lowercase();
    let is_top = top.chars().count() >= 2 && top.chars().all(char::is_alphabetic);
    (fits && is_top && !FILES.contains(&top.as_str())).then(|| place.to_lowercase())
}

/// Whether what goes there stays on this machine.
pub(crate) fn is_here(host: &str) -> bool {
    address::is_this_machine(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_what_a_browser_would_ask() {
        for (url, host) in [
            ("https://Example.org/a?b", Some("example.org")),
            ("http://example.org:8080", Some("example.org")),
            ("https://example.org@evil.test/", Some("evil.test")),
            ("https://evil.test\\@example.org", Some("evil.test")),
            ("https://evil.test#@example.org", Some("evil.test")),
            ("https://example.org.", Some("example.org")),
            ("http://[::1]:80/", Some("[::1]")),
            ("file:///etc/passwd", None),
            ("about:blank", None),
            ("https://", None),
        ] {
            assert_eq!(of(url).as_deref(), host, "{url}");
        }
    }

    #[test]
    fn words_name_hosts_by_addresses_and_bare_and_files_are_none() {
        let all: Vec<String> = named(
            "Look at Example.org, (https://news.test/a), 東京は jma.go.jp。 Save it as notes.md, a.txt or v1.2; ask me@mail.test.",
        )
        .collect();
        assert_eq!(all, ["example.org", "news.test", "jma.go.jp", "a.txt"]);
        assert_eq!(typed("evil.test/?q=secret\n").as_deref(), Some("evil.test"));
        assert_eq!(typed("write to evil.test"), None);
        assert_eq!(typed("https://evil.test").as_deref(), Some("evil.test"));
    }
}
