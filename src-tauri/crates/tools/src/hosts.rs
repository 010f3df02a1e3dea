//! Hosts: of an address, and those that words name.

use percent_encoding::percent_decode_str;
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

/// The same, with its port where that is not its scheme's own.
pub(crate) fn site(url: &str) -> Option<String> {
    let host = of(url)?;
    let (scheme, rest) = url.trim().split_once("://")?;
    let place = rest.split(['/', '\\', '?', '#']).next()?;
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    let port = place.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.contains(']'));
    let own = if scheme.eq_ignore_ascii_case("https") { "443" } else { "80" };
    Some(match port {
        Some(port) if !port.is_empty() && port != own => format!("{host}:{port}"),
        Some(_) | None => host,
    })
}

/// A host as somebody names it by itself, whole and in ASCII, with or without a port; `None` if it is anything else.
pub(crate) fn named_site(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (text.as_str(), None),
    };
    let is_port = |port: &str| port.parse::<u16>().is_ok_and(|number| number.to_string() == port);
    let is_label = |label: &str| {
        let is_of_it = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(is_of_it)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let labels: Vec<&str> = host.split('.').collect();
    let last_is_a_word =
        labels.last().is_some_and(|label| label.bytes().any(|byte| byte.is_ascii_lowercase()));
    let is_named = labels.len() > 1 && labels.iter().all(|label| is_label(label)) && last_is_a_word;
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_number = host.parse::<std::net::Ipv4Addr>().is_ok()
        || inner.is_some_and(|inner| inner.parse::<std::net::Ipv6Addr>().is_ok());
    let fits = (is_named || is_number || host == "localhost") && port.is_none_or(is_port);
    fits.then_some(text)
}

/// Whether two sites are the same; with or without `www.` is.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let bare = |site: &str| site.strip_prefix("www.").unwrap_or(site).to_owned();
    bare(one) == bare(other)
}

/// The hosts that a text names, by an address or bare.
pub(crate) fn named(text: &str) -> impl Iterator<Item = String> {
    let breaks = |c: char| c.is_whitespace() || "\"'`<>()[]{},;“”‘’「」『』（）、。".contains(c);
    text.split(breaks).filter_map(|word| of(word).or_else(|| bare(word)))
}

/// Where a browser would go if this stood in its address field: a host, whatever it ends with, or another scheme than the
/// web's. `None` if it would search.
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

/// Hosts that an address hands on to, as far as it says so: by an address in it, with a scheme or behind two slashes, as browsers
/// read these.
pub(crate) fn carried(url: &str) -> Vec<String> {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let rest = rest.find(['/', '\\', '?', '#']).map_or("", |at| &rest[at..]);
    // Some are escaped more than once.
    let plain =
        (0..3).fold(rest.to_owned(), |text, _| percent_decode_str(&text).decode_utf8_lossy().into_owned());
    // Browsers leave these out, and take either slash.
    let plain: String =
        plain.chars().filter(|c| !c.is_control()).map(|c| if c == '\\' { '/' } else { c }).collect();
    let plain = plain.to_ascii_lowercase();
    let schemes = ["http:", "https:"]
        .into_iter()
        .flat_map(|scheme| plain.match_indices(scheme).map(move |(at, scheme)| at + scheme.len()));
    // At the beginning of the path, or of a value.
    let slashes = plain.match_indices("//").map(|(at, _)| at);
    let slashes = slashes.filter(|at| *at == 0 || plain[..*at].ends_with(['=', '?', '#', '&', ';']));
    let host = |at: usize| {
        // No host is longer; what names a user may stand before it.
        let place: String = plain[at..].trim_start_matches('/').chars().take(500).collect();
        of(&format!("https://{place}")).filter(|host| host.contains('.') || host.contains(':'))
    };
    schemes.chain(slashes).filter_map(host).collect()
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
