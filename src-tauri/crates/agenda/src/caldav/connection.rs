//! One server and the password for it: where the password goes, how long an answer may take and how large it may be.

use std::error::Error as _;
use std::time::Duration;

use futures::StreamExt as _;
use protocol::address;
use protocol::command::Secret;
use reqwest::header::{CONTENT_TYPE, ETAG, HeaderValue, IF_MATCH, IF_NONE_MATCH, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url};

use super::{CalDavAccount, is_missing};
use crate::Error;
use crate::objects::Expected;

const CONNECT: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 5;
/// The most of one answer: a calendar of ten thousand events has some ten megabytes.
const MAX_ANSWER: usize = 32 * 1024 * 1024;
/// The most characters of a server's own words in an error.
const MAX_SAID: usize = 300;

pub(super) struct Connection {
    client: Client,
    base: Url,
    user: String,
    password: Secret,
    timeout: Duration,
}

pub(super) struct Request {
    pub method: Method,
    pub url: Url,
    pub depth: Option<&'static str>,
    /// With its media type.
    pub body: Option<(String, &'static str)>,
    pub expected: Option<Expected>,
}

impl Request {
    pub(super) fn new(method: Method, url: Url) -> Self {
        Self { method, url, depth: None, body: None, expected: None }
    }

    pub(super) fn propfind(url: Url, depth: &'static str, body: &str) -> Self {
        let method = Method::from_bytes(b"PROPFIND").unwrap_or(Method::POST);
        Self { depth: Some(depth), body: Some((body.into(), "application/xml")), ..Self::new(method, url) }
    }
}

#[derive(Debug)]
pub(super) struct Answer {
    /// Of what answered, after redirects.
    pub url: Url,
    pub text: String,
    /// The ETag.
    pub version: Option<String>,
}

/// Whether a request may have changed something by the time that it failed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Read,
    Change,
}

impl Connection {
    pub(super) fn new(account: &CalDavAccount, timeout: Duration) -> Result<Self, Error> {
        let bad = |why: String, hint: &str| Error::Address {
            address: address::shown(&account.url),
            why,
            hint: hint.to_owned(),
        };
        let fit = |text: &str| address::check(text).map_err(|why| bad(format!("it {why}"), why.hint()));
        fit(&account.url)?;
        let base = Url::parse(&account.url)
            .map_err(|error| bad(error.to_string(), "give an address like https://caldav.icloud.com"))?;
        // Parsing is lenient and may yield another address: check the one that is connected to.
        fit(base.as_str())?;
        let builder = Client::builder()
            .user_agent(concat!("miki/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .timeout(timeout)
            .redirect(Policy::none());
        // A proxy would look for this machine on its own.
        let here = base.host_str().is_some_and(address::is_this_machine);
        let builder = if here { builder.no_proxy() } else { builder };
        let client =
            builder.build().map_err(|error| bad(error.to_string(), "check the system's certificates"))?;
        Ok(Self { client, base, user: account.user.clone(), password: account.password.clone(), timeout })
    }

    pub(super) fn base(&self) -> &Url {
        &self.base
    }

    /// What only looks.
    pub(super) async fn read(&self, request: Request) -> Result<Answer, Error> {
        self.ask(request, Purpose::Read).await
    }

    /// What changes something: where no answer comes, it may have been done.
    pub(super) async fn change(&self, request: Request) -> Result<Answer, Error> {
        self.ask(request, Purpose::Change).await
    }

    /// Whether the password may go there: to the host that was set, by the same scheme and port, or from iCloud's front
    /// door to the one of its servers that has the account.
    pub(super) fn may_go(&self, url: &Url) -> bool {
        let open = url.username().is_empty() && url.password().is_none();
        open && (url.origin() == self.base.origin() || (is_icloud(&self.base) && is_icloud(url)))
    }

    /// # Errors
    /// [`Error::Elsewhere`] where the password may not go.
    pub(super) fn check(&self, url: &Url) -> Result<(), Error> {
        if self.may_go(url) {
            return Ok(());
        }
        Err(Error::Elsewhere { from: address::shown(self.base.as_str()), to: address::shown(url.as_str()) })
    }

    async fn ask(&self, mut request: Request, purpose: Purpose) -> Result<Answer, Error> {
        for _ in 0..=MAX_REDIRECTS {
            self.check(&request.url)?;
            let response = self.built(&request).send().await;
            let response = response.map_err(|error| self.failed(&request.url, &error, purpose))?;
            if !response.status().is_redirection() {
                return self.answer(&request, response, purpose).await;
            }
            let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            request.url =
                target.and_then(|target| request.url.join(target).ok()).ok_or_else(|| Error::Unreadable {
                    what: format!("the redirect of {}", host(&request.url)),
                    why: "it says not where to".into(),
                })?;
        }
        Err(Error::Unreadable {
            what: format!("the address {}", host(&self.base)),
            why: "it leads from one address to another without an end".into(),
        })
    }

    fn built(&self, request: &Request) -> RequestBuilder {
        let mut builder = self
            .client
            .request(request.method.clone(), request.url.clone())
            .basic_auth(&self.user, Some(&self.password.0));
        if let Some(depth) = request.depth {
            builder = builder.header("depth", depth);
        }
        if let Some((body, media)) = &request.body {
            builder = builder.header(CONTENT_TYPE, *media).body(body.clone());
        }
        match &request.expected {
            None => builder,
            Some(Expected::Nothing) => builder.header(IF_NONE_MATCH, "*"),
            Some(Expected::Version(version)) => match HeaderValue::from_str(version) {
                Ok(version) => builder.header(IF_MATCH, version),
                // Matches nothing.
                Err(_) => builder.header(IF_MATCH, "\"\""),
            },
        }
    }

    async fn answer(&self, request: &Request, response: Response, purpose: Purpose) -> Result<Answer, Error> {
        let status = response.status();
        let version = response.headers().get(ETAG).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let url = request.url.clone();
        let mut bytes = Vec::new();
        let mut body = response.bytes_stream();
        while let Some(chunk) = body.next().await {
            match chunk {
                Ok(chunk) if bytes.len() + chunk.len() <= MAX_ANSWER => bytes.extend_from_slice(&chunk),
                Ok(_) => return Err(Error::TooLarge { host: host(&url), megabytes: MAX_ANSWER >> 20 }),
                // The head has said how a change went.
                Err(_) if purpose == Purpose::Change => break,
                Err(error) => return Err(self.failed(&url, &error, purpose)),
            }
        }
        let text = decoded(bytes);
        if status.is_success() {
            return Ok(Answer { url, text, version });
        }
        Err(self.refused(request, status, &text))
    }

    fn refused(&self, request: &Request, status: StatusCode, text: &str) -> Error {
        let what = request.url.path().to_owned();
        match status {
            StatusCode::UNAUTHORIZED => Error::SignIn { host: host(&request.url) },
            StatusCode::PRECONDITION_FAILED => Error::Conflict { what },
            status if is_missing(status) => Error::NotFound { what },
            StatusCode::FORBIDDEN => Error::Denied { what, why: self.said(text) },
            status => {
                let what = format!("{} {what}", request.method);
                Error::Refused {
                    host: host(&request.url),
                    what,
                    status: status.as_u16(),
                    why: self.said(text),
                }
            }
        }
    }

    /// A server's words without its markup; should it echo the password, that is hidden.
    fn said(&self, text: &str) -> String {
        let mut inside = false;
        let plain = text.chars().take(20 * MAX_SAID).filter_map(|char| {
            match char {
                '<' => inside = true,
                '>' => {
                    inside = false;
                    return Some(' ');
                }
                _ => {}
            }
            (!inside).then_some(if char.is_control() { ' ' } else { char })
        });
        let plain: String = plain.collect();
        let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
        let hidden =
            if self.password.0.is_empty() { plain } else { plain.replace(&self.password.0, "[password]") };
        let short: String = hidden.chars().take(MAX_SAID).collect();
        if short.is_empty() { "it gave no reason".into() } else { short }
    }

    fn failed(&self, url: &Url, error: &reqwest::Error, purpose: Purpose) -> Error {
        let host = host(url);
        // Nothing was sent where no connection was made.
        if purpose == Purpose::Change && !error.is_connect() {
            let why = if error.is_timeout() { "no answer came in time".to_owned() } else { cause(error) };
            return Error::UnknownOutcome { what: url.path().to_owned(), why };
        }
        if error.is_timeout() {
            return Error::TimedOut { host, seconds: self.timeout.as_secs().max(1) };
        }
        Error::Unreachable { host, why: cause(error) }
    }
}

/// iCloud's door and the servers behind it.
fn is_icloud(url: &Url) -> bool {
    let Some(name) = url.host_str().and_then(|host| host.strip_suffix("caldav.icloud.com")) else {
        return false;
    };
    let partition = name.strip_prefix('p').and_then(|name| name.strip_suffix('-'));
    let partition =
        partition.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
    url.scheme() == "https" && url.port_or_known_default() == Some(443) && (name.is_empty() || partition)
}

/// The innermost cause, which says most, without the address.
fn cause(error: &reqwest::Error) -> String {
    let Some(mut cause) = error.source() else { return "the request failed".into() };
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string().to_lowercase()
}

fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or("the server");
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// A line may be folded within a character: it is unfolded first where the text could not be read otherwise.
fn decoded(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let mut joined = Vec::with_capacity(error.as_bytes().len());
        let mut rest = error.as_bytes();
        while let Some(byte) = rest.first() {
            match rest {
                [b'\r', b'\n', b' ' | b'\t', more @ ..] | [b'\n', b' ' | b'\t', more @ ..] => rest = more,
                _ => {
                    joined.push(*byte);
                    rest = &rest[1..];
                }
            }
        }
        String::from_utf8_lossy(&joined).into_owned()
    })
}
