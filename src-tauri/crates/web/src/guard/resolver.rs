//! Between the HTTP client and the system's resolver: what the client hears is what it may connect to.

use std::io;
use std::net::{IpAddr, SocketAddr};

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::Guard;

/// Who knows where a name leads.
#[async_trait]
pub trait Names: Send + Sync {
    /// All addresses of a name, in the order of preference.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's resolver, with its hosts file and search domains.
pub struct SystemNames;

#[async_trait]
impl Names for SystemNames {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// The client's resolver: a guard's answers. Its error is a [`crate::WebError`], found again in the client's error.
pub(crate) struct Filtered(pub(crate) Guard);

impl Resolve for Filtered {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.0.clone();
        Box::pin(async move {
            let allowed = guard.resolve(name.as_str()).await?;
            // Port 0: the client puts the address's own in.
            Ok(Box::new(allowed.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}
