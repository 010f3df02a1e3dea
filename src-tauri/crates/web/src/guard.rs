//! What a fetch may connect to. The address is judged, never the name: where a name leads is asked once, the answer is
//! filtered, and the connection is made to what passed the filter, so an answer that changes afterwards changes nothing.
//!
//! Must not be loosened by a setting: the only other guard is [`Guard::reaching_loopback`], for tests.

mod address;
mod resolver;

use std::net::IpAddr;
use std::sync::Arc;

use reqwest::Url;

use crate::WebError;
pub use address::Refusal;
pub(crate) use resolver::Filtered;
pub use resolver::{Names, SystemNames};

/// Where pages are served. Others are mail, databases and the like, whose protocols a page's address could speak.
const PORTS: [u16; 8] = [80, 443, 8000, 8008, 8080, 8081, 8443, 8888];

/// Decides about addresses; cheap to clone.
#[derive(Clone)]
pub struct Guard {
    names: Arc<dyn Names>,
    /// Ports of ours: refused wherever they are, since a router may lead a public address back to this machine.
    own_ports: Arc<[u16]>,
    loopback: Loopback,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Loopback {
    Refused,
    /// And any port, since a test's server has the one that was free.
    Reached,
}

impl Guard {
    /// The guard of the product. `own_ports` are those that Miki listens on.
    pub fn strict(own_ports: &[u16]) -> Self {
        Self { names: Arc::new(SystemNames), own_ports: own_ports.into(), loopback: Loopback::Refused }
    }

    /// For tests with a server on this machine: 127.0.0.0/8 and ::1 are reached, at any port; nothing else is looser.
    pub fn reaching_loopback() -> Self {
        Self { loopback: Loopback::Reached, ..Self::strict(&[]) }
    }

    /// Asks `names` instead of the system where a name leads.
    #[must_use]
    pub fn asking(self, names: Arc<dyn Names>) -> Self {
        Self { names, ..self }
    }

    /// Judges what an address says before anything is asked or sent.
    pub(crate) fn check_url(&self, url: &Url) -> Result<(), WebError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(WebError::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(WebError::UserInfo);
        }
        let Some(host) = url.host_str() else { return Err(WebError::NoAddress) };
        let port = url.port_or_known_default().unwrap_or_default();
        if self.loopback == Loopback::Refused && !PORTS.contains(&port) {
            return Err(WebError::Port(port));
        }
        if self.own_ports.contains(&port) {
            return Err(WebError::OwnPort(port));
        }
        // The parser has brought every spelling of an IPv4 address (octal, hex, one number) to its four parts.
        match host.trim_start_matches('[').trim_end_matches(']').parse() {
            Ok(address) => self.check_address(address).map_err(|why| WebError::refused(host, why)),
            Err(_) => Ok(()),
        }
    }

    /// Whether TLS is spoken at a port; a test's server has the one that was free.
    pub(crate) fn takes_tls_at(&self, port: u16, usual: &[u16]) -> bool {
        self.loopback == Loopback::Reached || usual.contains(&port)
    }

    /// Judges one address, as a connection would use it.
    pub(crate) fn check_address(&self, address: IpAddr) -> Result<(), Refusal> {
        if self.loopback == Loopback::Reached && address::is_plain_loopback(address) {
            return Ok(());
        }
        address::check(address)?;
        if address::is_own(address) {
            return Err(Refusal::OwnAddress);
        }
        Ok(())
    }

    /// The addresses of a name that may be connected to.
    ///
    /// # Errors
    /// The name leads nowhere, or nowhere that is allowed.
    pub(crate) async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, WebError> {
        let answer = self
            .names
            .resolve(host)
            .await
            .map_err(|error| WebError::Name { host: host.to_owned(), detail: error.to_string() })?;
        let mut refusal = None;
        let mut allowed = Vec::new();
        for address in answer {
            match self.check_address(address) {
                Ok(()) => allowed.push(address),
                Err(why) => refusal = Some(why),
            }
        }
        match (allowed.is_empty(), refusal) {
            (false, _) => Ok(allowed),
            (true, Some(why)) => Err(WebError::refused(host, why)),
            (true, None) => {
                Err(WebError::Name { host: host.to_owned(), detail: "no addresses were answered".to_owned() })
            }
        }
    }
}

#[cfg(test)]
mod tests;
