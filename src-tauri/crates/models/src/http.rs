//! One HTTP client for all providers: timeouts, redirects, and keys that leave in a header or not at all.
//!
//! Knows no provider's bodies. Nothing here retries.

use std::collections::BTreeSet;
use std::error::Error as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use protocol::address;
use protocol::command::Secret;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Request, Response, StatusCode, Url};

use crate::error::{ModelError, ModelErrorKind};

/// How long a provider may be silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From the request to the answer's head. Models may think before they say anything.
    pub first_byte: Duration,
    /// Between two pieces of an answer.
    pub idle: Duration,
}

/// How long a connection may take.
pub const CONNECT: Duration = Duration::from_secs(10);

impl Default for Timeouts {
    fn default() -> Self {
        Self { first_byte: Duration::from_secs(120), idle: Duration::from_secs(120) }
    }
}

/// The most bytes of one answer. A turn has some hundred kilobytes at most; this keeps a broken server from filling our
/// memory.
const MAX_ANSWER: usize = 64 * 1024 * 1024;
/// The most bytes that are read of an error's body.
pub(crate) const MAX_ERROR: usize = 64 * 1024;
const MAX_REDIRECTS: usize = 3;

/// An address to which a key may go: https, or http on this machine.
///
/// # Errors
/// [`ModelErrorKind::BadRequest`] for every other address.
pub(crate) fn base_url(text: &str) -> Result<Url, ModelError> {
    let bad = |why: &dyn std::fmt::Display, hint: &str| {
        let message = format!("the base URL {} {why}", address::shown(text));
        ModelError::new(ModelErrorKind::BadRequest, message).with_hint(hint)
    };
    let fit = |text: &str| address::check(text).map_err(|why| bad(&why, why.hint()));
    fit(text)?;
    let url = Url::parse(text).map_err(|error| {
        bad(&format_args!("cannot be read: {error}"), "give an address like https://example.org/v1")
    })?;
    // Parsing is lenient and may yield another address: check the one that is connected to.
    fit(url.as_str())?;
    Ok(url)
}

fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(address::is_this_machine)
}

/// The HTTP client of all models: connections are kept and used again, whoever asks.
#[derive(Clone, Debug)]
pub struct Http {
    /// With the system's proxy settings.
    proxied: Client,
    /// For servers on this machine, which a proxy would look for on its own machine.
    direct: Client,
    refused: RefusedVersions,
}

/// API versions that refused a request which a later one took, by base URL: not tried again with the same client.
#[derive(Clone, Debug, Default)]
pub(crate) struct RefusedVersions(Arc<Mutex<BTreeSet<(String, String)>>>);

impl RefusedVersions {
    pub(crate) fn has(&self, base: &Url, version: &str) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.contains(&(base.to_string(), version.to_owned()))
    }

    pub(crate) fn add(&self, base: &Url, version: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert((base.to_string(), version.to_owned()));
    }
}

impl Http {
    /// # Errors
    /// If the system's TLS cannot be used.
    pub fn new(connect: Duration) -> Result<Self, ModelError> {
        let client = |proxy: bool| {
            let builder = Client::builder()
                .user_agent(concat!("miki/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(connect)
                .redirect(Policy::none());
            let builder = if proxy { builder } else { builder.no_proxy() };
            builder.build().map_err(|error| {
                let message = format!("there is no HTTP client: {error}");
                ModelError::new(ModelErrorKind::Network, message)
            })
        };
        Ok(Self { proxied: client(true)?, direct: client(false)?, refused: RefusedVersions::default() })
    }

    pub(crate) fn refused(&self) -> RefusedVersions {
        self.refused.clone()
    }

    fn to(&self, url: &Url) -> &Client {
        if is_loopback(url) { &self.direct } else { &self.proxied }
    }
}

/// An answer's body as it comes.
pub(crate) type ByteStream = BoxStream<'static, Result<Vec<u8>, ModelError>>;

/// A request's body. Cheap to clone.
pub(crate) type Json = bytes::Bytes;

/// A request without its headers, which belong to the transport.
#[derive(Clone, Debug)]
pub(crate) struct HttpRequest {
    pub url: Url,
    /// The body of a POST. `None` for a GET.
    pub json: Option<Json>,
}

pub(crate) struct HttpAnswer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: ByteStream,
}

/// Sends requests: over HTTP, or to a script of a test.
pub(crate) trait Transport: Send + Sync {
    /// Sends, and returns when the answer's head is there, whatever its status. Only connecting has a timeout.
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpAnswer, ModelError>>;
}

/// A provider's address with the headers that belong to it, the key above all.
#[derive(Debug)]
pub(crate) struct HttpTransport {
    client: Client,
    base: Url,
    headers: HeaderMap,
}

impl HttpTransport {
    /// # Errors
    /// If a key cannot be sent in a header.
    pub(crate) fn new(http: &Http, base: Url, headers: &[(String, Secret)]) -> Result<Self, ModelError> {
        let mut map = HeaderMap::new();
        for (name, secret) in headers {
            map.insert(header_name(name)?, header_value(secret)?);
        }
        Ok(Self { client: http.to(&base).clone(), base, headers: map })
    }
}

impl HttpTransport {
    /// Sends and follows redirects: only to the same origin, since the key is sent with each request, and a POST only
    /// after a 307 or 308, since other statuses turn it into a GET.
    async fn follow(&self, mut request: Request) -> Result<Response, ModelError> {
        for _ in 0..=MAX_REDIRECTS {
            let again = request.try_clone();
            let response = self.client.execute(request).await;
            let response = response.map_err(|error| network(&self.base, &error))?;
            let status = response.status();
            if !status.is_redirection() {
                return Ok(response);
            }
            let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let target = target.and_then(|target| response.url().join(target).ok());
            let (Some(target), Some(next)) = (target, again) else {
                return Err(redirected(&self.base, "elsewhere"));
            };
            if target.origin() != self.base.origin() {
                return Err(redirected(&self.base, &format!("{}, where the key is not sent", host(&target))));
            }
            let keeps = [StatusCode::TEMPORARY_REDIRECT, StatusCode::PERMANENT_REDIRECT].contains(&status);
            if next.method() == Method::POST && !keeps {
                let why = format!("another address of {} in a way that loses the request", host(&target));
                return Err(redirected(&self.base, &why));
            }
            request = next;
            *request.url_mut() = target;
        }
        Err(redirected(&self.base, "one address after another"))
    }
}

fn header_name(name: &str) -> Result<HeaderName, ModelError> {
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
        ModelError::new(ModelErrorKind::BadRequest, format!("{name:?} cannot be the name of a header"))
    })
}

fn header_value(secret: &Secret) -> Result<HeaderValue, ModelError> {
    let value = HeaderValue::from_str(&secret.0).ok().filter(|value| !value.is_empty());
    let mut value = value.ok_or_else(|| {
        ModelError::new(ModelErrorKind::Auth, "the key is empty or holds characters no key has")
            .with_hint("set the key again")
    })?;
    value.set_sensitive(true);
    Ok(value)
}

impl Transport for HttpTransport {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpAnswer, ModelError>> {
        Box::pin(async move {
            let request = match request.json {
                Some(json) => {
                    self.client.post(request.url).header("content-type", "application/json").body(json)
                }
                None => self.client.get(request.url),
            };
            let request = request.headers(self.headers.clone()).build();
            let response = self.follow(request.map_err(|error| network(&self.base, &error))?).await?;
            let base = self.base.clone();
            let mut read = 0;
            let (status, headers) = (response.status(), response.headers().clone());
            let body = response.bytes_stream().map(move |chunk| {
                let chunk = chunk.map_err(|error| network(&base, &error))?;
                read += chunk.len();
                if read > MAX_ANSWER {
                    return Err(protocol("the model's answer is longer than 64 MiB"));
                }
                Ok(chunk.to_vec())
            });
            Ok(HttpAnswer { status, headers, body: body.boxed() })
        })
    }
}

/// `base` with these path segments, each escaped.
pub(crate) fn joined(base: &Url, segments: &[&str]) -> Url {
    let mut url = base.clone();
    url.set_query(None);
    url.set_fragment(None);
    // `http` and `https` addresses always have path segments.
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(segments);
    }
    url
}

/// A body up to a bound. Ends early if the connection fails or is idle.
pub(crate) async fn whole(mut body: ByteStream, most: usize, idle: Duration) -> Vec<u8> {
    let mut all = Vec::new();
    while all.len() < most {
        match tokio::time::timeout(idle, body.next()).await {
            Ok(Some(Ok(chunk))) => all.extend_from_slice(&chunk),
            _ => break,
        }
    }
    all
}

/// The error of a server that said nothing for so long.
pub(crate) fn silent(base: &Url, time: Duration) -> ModelError {
    let message = format!("{} was silent for {} s", host(base), time.as_secs_f32());
    ModelError::new(ModelErrorKind::Network, message)
}

fn protocol(message: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, message)
}

/// With the innermost cause, which says most: "connection refused", a bad certificate. Holds the host only, not the
/// whole address.
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

fn redirected(base: &Url, whereto: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Redirect, format!("{} leads to {whereto}", host(base)))
        .with_hint("check the base URL in the settings")
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
    fn an_address_no_key_may_go_to_is_refused_and_shown_without_what_is_in_it() {
        for good in ["https://example.org", "http://127.0.0.1:8080", "http://localhost", "http://[::1]:9"] {
            base_url(good).unwrap();
        }
        for bad in [
            "http://example.org/canary",
            "http://127.0.0.1.evil.org",
            "https://user:canary@evil.org/v1?key=canary",
            "https://exa mple.org/canary",
            "http:\t//evil.org",
            "ftp://localhost",
            "canary",
        ] {
            let error = base_url(bad).unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::BadRequest, "{bad}");
            assert!(!format!("{error:?}").contains("canary"), "{error:?}");
        }
        let error = base_url("https://user:canary@evil.org:99/v1").unwrap_err();
        assert_eq!(error.message, "the base URL https://evil.org:99 holds a user name or password");
    }

    #[test]
    fn a_models_name_cannot_climb_out_of_its_path() {
        let base = base_url("https://h/base/").unwrap();
        assert_eq!(joined(&base, &["v1", "a/../b?c:go"]).as_str(), "https://h/base/v1/a%2F..%2Fb%3Fc:go");
    }

    #[test]
    fn a_key_with_a_line_break_is_refused_without_being_shown() {
        let (http, base) = (Http::new(CONNECT).unwrap(), base_url("https://h").unwrap());
        for key in ["canary\r\nx: y", ""] {
            let headers = [("x-key".to_owned(), Secret(key.into()))];
            let error = HttpTransport::new(&http, base.clone(), &headers).unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::Auth);
            assert!(!format!("{error:?}").contains("canary"));
        }
    }
}
