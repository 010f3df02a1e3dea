//! Addresses of providers: to which a key may go, and what of one may be shown.
//!
//! Only what decides that is read here; whoever connects reads the rest.

use std::net::IpAddr;

/// Why no key may go to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("holds a user name or password")]
    UserInfo,
    #[error("is neither https nor http on this machine")]
    Unencrypted,
}

impl Unfit {
    /// What can be done about it.
    pub fn hint(self) -> &'static str {
        match self {
            Self::UserInfo => "leave out what stands before the @, and set a key as one",
            Self::Unencrypted => "a key must not cross a network unencrypted: give an https address",
        }
    }
}

/// Whether a key may go there: by https, or by http to this machine, and with nothing secret in the address itself.
///
/// # Errors
/// Why not.
pub fn check(url: &str) -> Result<(), Unfit> {
    let (scheme, authority) = parts(url).ok_or(Unfit::Unencrypted)?;
    if authority.contains('@') {
        return Err(Unfit::UserInfo);
    }
    match scheme {
        "https" => Ok(()),
        "http" if is_this_machine(host(authority)) => Ok(()),
        _ => Err(Unfit::Unencrypted),
    }
}

/// Whether a host, as an address has it, is the machine we run on.
pub fn is_this_machine(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Whether what is sent to an address stays on the machine we run on.
pub fn stays_here(url: &str) -> bool {
    parts(url).is_some_and(|(_, authority)| is_this_machine(host(authority)))
}

/// Scheme, host and port: the rest of an address may hold what is nobody's to see.
pub fn shown(url: &str) -> String {
    match parts(url) {
        Some((scheme, authority)) => {
            let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
            format!("{scheme}://{place}")
        }
        None => "what is no address".to_owned(),
    }
}

/// The scheme, and all up to the path.
fn parts(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    // A backslash is a slash to those who connect.
    Some((scheme, rest.split(['/', '\\', '?', '#']).next().unwrap_or_default()))
}

/// The host, an IPv6 one in its brackets.
fn host(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => host,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // bar: C75
    #[test]
    fn a_key_goes_only_where_it_is_encrypted_or_stays_on_this_machine() {
        for good in [
            "http://127.0.0.1:8080",
            "http://127.9.9.9/v1",
            "http://localhost",
            "http://[::1]:9",
            "https://example.org",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "http://example.org",
            "http://127.0.0.1.evil.org",
            "http://[::1].evil.org",
            "ftp://localhost",
            "x",
            "",
        ] {
            assert_eq!(check(bad), Err(Unfit::Unencrypted), "{bad}");
        }
        for bad in [
            "https://user:canary@example.org",
            "https://canary@example.org",
            "http://localhost@evil.org",
            "http://canary@localhost",
            "https://@example.org/x@y",
        ] {
            assert_eq!(check(bad), Err(Unfit::UserInfo), "{bad}");
        }
        assert_eq!(check("https://example.org/@mine"), Ok(()));
    }

    #[test]
    fn only_scheme_host_and_port_are_shown() {
        for (url, expected) in [
            ("https://user:canary@example.org:8443/canary?key=canary#canary", "https://example.org:8443"),
            ("https://user:can@ary@example.org", "https://example.org"),
            ("http://[::1]:9/v1", "http://[::1]:9"),
            ("canary", "what is no address"),
        ] {
            assert_eq!(shown(url), expected);
        }
    }
}
