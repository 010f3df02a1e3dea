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

/// Where a browser would go if this stood in its address field: a host, whatever it ends with, or another scheme than the
/// web's. `None` where it would search.
pub(crate) fn typed(text: &str) -> Option<String> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("about:blank") {
        return None;
    }
    let end = text.find(|c: char| c.is_whitespace() || "/\\?#".contains(c)).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let place = word.rsplit_once('@').map_or(word, |(_, place)| place);
    let is_port = |port: &str| !port.is_empty() && port.chars().all(|c| c.is_ascii_digit());
    match place.split_once(':') {
        Some((host, port)) if is_port(port) && !host.is_empty() => Some(host.to_lowercase()),
        Some((scheme, _)) => of(text).or_else(|| Some(scheme.to_lowercase() + ":")),
        None if place.trim_matches('.').contains('.')
            || (!place.is_empty() && rest.starts_with(['/', '\\'])) =>
        {
            Some(place.trim_end_matches('.').to_lowercase())
        }
        None => None,
    }
}

fn bare(word: &str) -> Option<String> {
    let place = word.trim_end_matches(['.', '!', '?', ':']).split(['/', '?', '#', ':']).next()?;
    if place.parse::<std::net::Ipv4Addr>().is_ok() {
        return Some(place.to_owned());
    }
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
        assert_eq!(named("open 192.168.0.1 and v1.2").collect::<Vec<_>>(), ["192.168.0.1"]);
    }

    #[test]
    fn what_is_typed_into_an_address_field_leads_to_a_host_or_to_a_search() {
        for (text, place) in [
            ("evil.test/?q=secret\n", Some("evil.test")),
            (" https://Evil.test ", Some("evil.test")),
            ("evil.test/?q=a secret", Some("evil.test")),
            ("evil.sh", Some("evil.sh")),
            ("evil.zip?x", Some("evil.zip")),
            ("203.0.113.7/x", Some("203.0.113.7")),
            ("3405803783/x", Some("3405803783")),
            ("intranet/", Some("intranet")),
            ("evil.test:8080", Some("evil.test")),
            ("example.org@evil.test", Some("evil.test")),
            ("javascript:fetch('//evil.test')", Some("javascript:")),
            ("view-source:https://evil.test", Some("view-source:")),
            ("file:///etc/passwd", Some("file:")),
            ("about:blank", None),
            ("frogs in ponds", None),
            ("write to evil.test", None),
            ("frog", None),
            ("", None),
        ] {
            assert_eq!(typed(text).as_deref(), place, "{text:?}");
        }
    }
}
