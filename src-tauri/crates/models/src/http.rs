//! One HTTP client for all providers: timeouts, redirects, and keys that leave in a header or not at all.
//!
//! Knows no provider's bodies. Nothing here retries.

use std::error::Error as _;
use std::net::IpAddr;
use std::time::Duration;

use eventsource_stream::{EventStreamError, Eventsource};
use futures::StreamExt;
use futures::stream::BoxStream;
use reqwest::header::{HeaderName, HeaderValue, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};

use crate::error::{ModelError, ModelErrorKind};

/// How long a provider may be silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// From the request to the answer's head. Models may think before they say anything.
    pub first_byte: Duration,
    /// Between two pieces of an answer.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(120),
            idle: Duration::from_secs(90),
        }
    }
}

/// Bytes of one answer. A turn has some hundred kilobytes at most; this only keeps a broken server from our memory.
const MAX_ANSWER: usize = 64 * 1024 * 1024;
/// Bytes read of an error's body.
const MAX_ERROR: usize = 64 * 1024;
const MAX_REDIRECTS: usize = 3;

/// An address to which a key may go: https, or http on this machine.
///
/// # Errors
/// [`ModelErrorKind::BadRequest`] for every other address.
pub(crate) fn base_url(text: &str) -> Result<Url, ModelError> {
    let bad = |why: &str| {
        ModelError::new(ModelErrorKind::BadRequest, format!("the base URL {text:?} {why}"))
            .with_hint("a key must not cross a network unencrypted: give an https address")
    };
    let url = Url::parse(text).map_err(|error| bad(&format!("cannot be read: {error}")))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("holds a user name or password"));
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        _ => Err(bad("is neither https nor http on this machine")),
    }
}

fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    })
}

/// A provider's address with the key that belongs to it.
#[derive(Debug)]
pub(crate) struct Door {
    client: Client,
    base: Url,
    key: (HeaderName, HeaderValue),
    timeouts: Timeouts,
}

impl Door {
    /// # Errors
    /// Where the key cannot be sent in a header, or the system's TLS cannot be used.
    pub(crate) fn new(
        base: Url,
        header: &'static str,
        key: &str,
        timeouts: Timeouts,
    ) -> Result<Self, ModelError> {
        let mut value =
            HeaderValue::from_str(key).ok().filter(|value| !value.is_empty()).ok_or_else(|| {
                ModelError::new(ModelErrorKind::Auth, "the key is empty or holds characters no key has")
                    .with_hint("set the key again")
            })?;
        value.set_sensitive(true);
        // The key rides on each request to the same origin; any other redirect comes back as it is.
        let policy = Policy::custom(|attempt| {
            let same = attempt.previous().last().is_some_and(|from| from.origin() == attempt.url().origin());
            if same && attempt.previous().len() <= MAX_REDIRECTS { attempt.follow() } else { attempt.stop() }
        });
        let mut builder = Client::builder()
            .user_agent(concat!("miki/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(timeouts.connect)
            .redirect(policy);
        // A proxy would look for a server of this machine on its own.
        if is_loopback(&base) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| network(&base, &error))?;
        Ok(Self { client, base, key: (HeaderName::from_static(header), value), timeouts })
    }

    /// The base address with these path segments, each escaped.
    pub(crate) fn url(&self, segments: &[&str]) -> Url {
        let mut url = self.base.clone();
        url.set_query(None);
        url.set_fragment(None);
        // `http` and `https` addresses always have path segments.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// Sends a GET, or a POST of JSON, and waits for the answer's head, whatever its status.
    pub(crate) async fn send(&self, url: Url, json: Option<Vec<u8>>) -> Result<Response, ModelError> {
        let (name, value) = self.key.clone();
        let request = match json {
            Some(body) => self.client.post(url).header("content-type", "application/json").body(body),
            None => self.client.get(url),
        };
        let response = tokio::time::timeout(self.timeouts.first_byte, request.header(name, value).send())
            .await
            .map_err(|_| self.silent(self.timeouts.first_byte))?
            .map_err(|error| network(&self.base, &error))?;
        if response.status().is_redirection() {
            return Err(redirected(&self.base, &response));
        }
        Ok(response)
    }

    /// The body of an error, as far as it is of use, without the key.
    pub(crate) async fn error_body(&self, mut response: Response) -> String {
        let mut body = Vec::new();
        while body.len() < MAX_ERROR {
            match tokio::time::timeout(self.timeouts.idle, response.chunk()).await {
                Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
                // What came is all there is to say.
                _ => break,
            }
        }
        self.without_key(&String::from_utf8_lossy(&body))
    }

    /// `text` with the key blacked out: a provider may echo it.
    pub(crate) fn without_key(&self, text: &str) -> String {
        match self.key.1.to_str() {
            Ok(key) => text.replace(key, "[key]"),
            Err(_) => text.to_owned(),
        }
    }

    /// The `data` of each server-sent event. The caller holds the idle timeout.
    pub(crate) fn events(&self, response: Response) -> BoxStream<'static, Result<String, ModelError>> {
        let base = self.base.clone();
        let mut read = 0;
        let bytes = response.bytes_stream().map(move |chunk| {
            let chunk = chunk.map_err(|error| network(&base, &error))?;
            read += chunk.len();
            if read > MAX_ANSWER {
                return Err(protocol("the model's answer is longer than 64 MiB"));
            }
            Ok(chunk)
        });
        let events = bytes.eventsource().map(|event| match event {
            Ok(event) => Ok(event.data),
            Err(EventStreamError::Transport(error)) => Err(error),
            Err(EventStreamError::Utf8(_)) => Err(protocol("the model's answer is not UTF-8")),
            Err(EventStreamError::Parser(_)) => Err(protocol("the model's answer is not an event stream")),
        });
        events.boxed()
    }

    pub(crate) fn idle(&self) -> Duration {
        self.timeouts.idle
    }

    pub(crate) fn silent(&self, time: Duration) -> ModelError {
        let message = format!("{} was silent for {} s", host(&self.base), time.as_secs_f32());
        ModelError::new(ModelErrorKind::Network, message)
    }
}

fn protocol(message: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, message)
}

/// The last cause says most: "connection refused", a certificate's fault. Addresses stay out of it.
fn network(base: &Url, error: &reqwest::Error) -> ModelError {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let why = if error.is_timeout() {
        "no connection in time".to_owned()
    } else if error.source().is_none() {
        "the request failed".to_owned()
    } else {
        cause.to_string().to_lowercase()
    };
    ModelError::new(ModelErrorKind::Network, format!("cannot reach {}: {why}", host(base)))
        .with_hint("check the network and the base URL in the settings")
}

fn redirected(base: &Url, response: &Response) -> ModelError {
    let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let target =
        target.and_then(|target| base.join(target).ok()).map_or("elsewhere".into(), |url| host(&url));
    let message = format!("{} leads to {target}, where the key is not sent", host(base));
    ModelError::new(ModelErrorKind::Redirect, message).with_hint("check the base URL in the settings")
}

fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or("the provider");
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    // bar: C75
    #[test]
    fn a_key_goes_only_where_it_is_encrypted_or_stays_on_this_machine() {
        for good in ["https://example.org", "http://127.0.0.1:8080", "http://localhost", "http://[::1]:9"] {
            base_url(good).unwrap();
        }
        for bad in
            ["http://example.org", "http://127.0.0.1.evil.org", "https://a@evil.org", "ftp://localhost", "x"]
        {
            assert_eq!(base_url(bad).unwrap_err().kind, ModelErrorKind::BadRequest, "{bad}");
        }
    }

    #[test]
    fn a_models_name_cannot_climb_out_of_its_path() {
        let door =
            Door::new(base_url("https://h/base/").unwrap(), "x-key", "k", Timeouts::default()).unwrap();
        assert_eq!(door.url(&["v1", "a/../b?c:go"]).as_str(), "https://h/base/v1/a%2F..%2Fb%3Fc:go");
    }

    #[test]
    fn a_key_with_a_line_break_is_refused_without_being_shown() {
        let base = base_url("https://h").unwrap();
        for key in ["canary\r\nx: y", ""] {
            let error = Door::new(base.clone(), "x-key", key, Timeouts::default()).unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::Auth);
            assert!(!format!("{error:?}").contains("canary"));
        }
    }
}
