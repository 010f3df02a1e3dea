//! What is asked of those who sign users in: only over addresses that are fit for it, without being led elsewhere.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use protocol::address::{check, shown};
use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest};
use serde_json::json;

use crate::address;

/// Bytes of an answer.
const ANSWER: usize = 512 * 1024;
const WITHIN: Duration = Duration::from_secs(30);

/// Asks on behalf of one server.
pub struct Http {
    client: reqwest::Client,
    server: String,
    last: Mutex<Option<Url>>,
}

impl Http {
    /// # Errors
    /// TLS cannot be spoken here: for people.
    pub fn new(server: &str) -> Result<Self, String> {
        Ok(Self { client: address::client(server)?, server: server.to_owned(), last: Mutex::default() })
    }

    /// Who answered last.
    pub fn last(&self) -> Option<Url> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the server says to somebody who has not signed in; `None` if it lets them in or says nothing of it.
    pub async fn challenge(&self) -> Option<String> {
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        let request = self.client.post(&self.server).timeout(WITHIN).json(&ping);
        let request = request.header(ACCEPT, "application/json, text/event-stream");
        let answer = request.send().await.ok().filter(|answer| answer.status() == 401)?;
        let said = answer.headers().get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let said: Vec<&str> = said.collect();
        let pointing = said.iter().find(|one| one.contains("resource_metadata"));
        pointing.or(said.first()).map(|one| (*one).to_owned())
    }

    async fn ask(&self, request: OAuthHttpRequest) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let mut request = reqwest::Request::try_from(request.request)?;
        fit(request.url().as_str(), &self.server)?;
        *request.timeout_mut() = Some(WITHIN);
        let url = request.url().clone();
        // In an address there may be what is nobody's to see.
        let mut answer = self.client.execute(request).await.map_err(reqwest::Error::without_url)?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(url);
        // A stream of events does not end, and is no answer to a question of ours.
        let is_stream = answer
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let mut body = Vec::new();
        while !is_stream && let Some(piece) = answer.chunk().await.map_err(reqwest::Error::without_url)? {
            if body.len() + piece.len() > ANSWER {
                return Err(format!("its answer has more than {ANSWER} bytes").into());
            }
            body.extend_from_slice(&piece);
        }
        Ok(http::Response::<reqwest::Body>::from(answer).map(|_| body))
    }
}

impl OAuthHttpClient for Http {
    // A redirect is never followed, whatever is asked for: what is sent along are codes and tokens.
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(self.ask(request))
    }
}

/// Whether codes and tokens may be sent there for a server: by HTTPS, or on this machine where the server is on it, too.
///
/// # Errors
/// Why not, for people.
pub fn fit(address: &str, server: &str) -> Result<(), String> {
    let url = Url::parse(address).map_err(|error| format!("is no address: {error}"))?;
    check(url.as_str()).map_err(|unfit| format!("{} {unfit}", shown(url.as_str())))?;
    let of_server = Url::parse(server).map_or(Whereabouts::Anywhere, |server| Whereabouts::of(&server));
    let place = Whereabouts::of(&url);
    if place >= of_server {
        return Ok(());
    }
    let place = if place == Whereabouts::Machine { "this machine" } else { "in a private network" };
    Err(format!("{} is {place}, and the server is elsewhere", shown(url.as_str())))
}

/// Where an address leads, as far as it says so itself: what a name is resolved to is not asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Whereabouts {
    Machine,
    Network,
    Anywhere,
}

impl Whereabouts {
    fn of(url: &Url) -> Self {
        let host = url.host_str().unwrap_or_default();
        match host.trim_start_matches('[').trim_end_matches(']').parse() {
            Ok(IpAddr::V4(ip)) => Self::of_v4(ip),
            Ok(IpAddr::V6(ip)) => match ip.to_ipv4_mapped() {
                Some(ip) => Self::of_v4(ip),
                None if ip.is_loopback() || ip.is_unspecified() => Self::Machine,
                None if ip.is_unique_local() || ip.is_unicast_link_local() => Self::Network,
                None => Self::Anywhere,
            },
            Err(_) => {
                // A name with a dot at its end is the same name.
                let name = host.strip_suffix('.').unwrap_or(host);
                let is_here = name == "localhost" || name.ends_with(".localhost");
                if is_here { Self::Machine } else { Self::Anywhere }
            }
        }
    }

    fn of_v4(ip: Ipv4Addr) -> Self {
        // All of 0.0.0.0/8 is this machine to some systems; 100.64.0.0/10 is a provider's own network.
        let [first, second, ..] = ip.octets();
        let is_shared = first == 100 && (64..128).contains(&second);
        match ip.is_loopback() || first == 0 {
            true => Self::Machine,
            false if ip.is_private() || ip.is_link_local() || is_shared => Self::Network,
            false => Self::Anywhere,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_go_by_https_or_stay_on_the_machine_of_their_server() {
        let (there, here) = ("https://mcp.example/mcp", "http://127.0.0.1:9/mcp");
        assert_eq!(fit("https://as.example/token", there), Ok(()));
        assert_eq!(fit("https://as.example/token", here), Ok(()));
        assert_eq!(fit("http://localhost:7/token", here), Ok(()));
        for (bad, server) in [
            ("http://as.example/token", there),
            ("http://as.example/token", here),
            ("http://127.0.0.1:7/token", there),
            ("https://127.0.0.1:7/token", there),
            ("https://LOCALHOST/token", there),
            ("https://user:canary@as.example/token", there),
            ("file:///etc/passwd", here),
            ("/token", there),
        ] {
            let why = fit(bad, server).unwrap_err();
            assert!(!why.contains("canary"), "{why}");
        }
    }

    #[test]
    fn a_server_elsewhere_leads_no_sign_in_to_this_machine_or_a_private_network() {
        let (there, near, here) =
            ("https://mcp.example/mcp", "https://10.1.2.3/mcp", "http://127.0.0.1:9/mcp");
        let of_machine = [
            "localhost.",
            "LOCALHOST.",
            "as.localhost",
            "as.localhost.",
            "127.1",
            "0.0.0.0",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "2130706433",
        ];
        let of_network = [
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "[fd00::1]",
            "[fe80::1]",
            "[::ffff:10.0.0.1]",
        ];
        let fit = |host: &str, server: &str| fit(&format!("https://{host}:8443/token"), server);
        for host in of_machine {
            for server in [there, near] {
                let why = fit(host, server).unwrap_err();
                assert!(why.ends_with("is this machine, and the server is elsewhere"), "{host}: {why}");
            }
            assert_eq!(fit(host, here), Ok(()), "{host}");
        }
        for host in of_network {
            let why = fit(host, there).unwrap_err();
            assert!(why.ends_with("is in a private network, and the server is elsewhere"), "{host}: {why}");
            assert_eq!((fit(host, near), fit(host, here)), (Ok(()), Ok(())), "{host}");
        }
        for host in
            ["as.example", "as.example.", "localhost.example", "8.8.8.8", "100.128.0.1", "[2001:db8::1]"]
        {
            assert_eq!(fit(host, there), Ok(()), "{host}");
        }
    }
}
