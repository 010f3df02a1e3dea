//! Fetches one page as text, within bounds. Redirects are followed here, one by one, so that each hop meets the guard.
//!
//! No proxy is used, not even the system's: behind one the connected address is the proxy's, and the guard is blind. No
//! cookie is kept, no Referer is sent, no connection is reused. PDF, office documents and pictures are left to the files
//! tools: the error says so.

mod content;
mod recent;

use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{Client, Response, Url};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::body::Packing;
use crate::guard::{Filtered, Guard};
use crate::{WebError, body, text};
use content::ContentKind;
use recent::{Recent, WantedPart};

const REDIRECTS: usize = 5;
/// A page's own address is never longer in practice; servers refuse more than 8 kB.
const URL_CHARS: usize = 8_000;

/// How much of a page, and how long for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchBounds {
    /// Bytes of the body, as sent and as unpacked. What is beyond is not read, and [`Page::cut`] says so.
    pub bytes: usize,
    /// For all of it: names, redirects, body and turning it into text.
    pub time: Duration,
    /// For one hop until its headers are there.
    pub header_time: Duration,
    /// Characters of text in one [`Page`].
    pub chars: usize,
    /// The first character wanted: 0, or the `next` of the page before.
    pub offset: usize,
    pub links: Links,
    pub extent: Extent,
    /// false: a redirect to another host is an error that names it, and not followed.
    pub other_hosts: bool,
}

impl Default for FetchBounds {
    fn default() -> Self {
        Self {
            bytes: 5 << 20,
            time: Duration::from_secs(30),
            header_time: Duration::from_secs(15),
            chars: 20_000,
            offset: 0,
            links: Links::Kept,
            extent: Extent::Main,
            other_hosts: true,
        }
    }
}

/// Whether the addresses of a page's links stand in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    Kept,
    TextOnly,
}

/// How much of an HTML page is text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The `main` part or the one article, where a page has it; without navigation, header, footer and asides.
    Main,
    /// All that is shown, menus too.
    Whole,
}

/// What a page's text was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// The text is Markdown.
    Html,
    /// The text is laid out; numbers are as they were sent.
    Json,
    Text,
}

/// A part of a page. Everything in it is untrusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Where it came from in the end, after redirects; without a fragment.
    pub url: String,
    pub title: Option<String>,
    pub kind: PageKind,
    pub text: String,
    /// Where `text` begins in the whole, in characters.
    pub offset: usize,
    /// The offset to read on at; `None` at the end.
    pub next: Option<usize>,
    /// Characters of the whole.
    pub total: usize,
    /// True if the page was longer than the bounds, so that the whole is not the page's end.
    pub cut: bool,
}

/// A page as text, whole.
#[derive(Clone, Debug)]
struct Document {
    url: String,
    title: Option<String>,
    kind: PageKind,
    text: String,
    cut: bool,
}

/// Fetches pages. Cheap to clone.
#[derive(Clone)]
pub struct Fetcher {
    client: Client,
    guard: Guard,
    recent: Arc<Recent>,
    /// For the connections of all its proxies.
    ways: Arc<Semaphore>,
}

impl Fetcher {
    /// `version` is Miki's, for the User-Agent.
    ///
    /// # Errors
    /// The system's TLS cannot be set up.
    pub fn new(version: &str, guard: Guard) -> Result<Self, WebError> {
        let client = Client::builder()
            .user_agent(format!("Miki/{version}"))
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .pool_max_idle_per_host(0)
            .dns_resolver(Filtered(guard.clone()))
            .build()
            .map_err(|error| WebError::Setup(cause(&error)))?;
        let ways = Arc::new(Semaphore::new(crate::proxy::CONNECTIONS));
        Ok(Self { client, guard, recent: Arc::default(), ways })
    }

    /// A way to these hosts alone, under the guard of this, for a command.
    ///
    /// # Errors
    /// Nothing can be listened on.
    pub fn proxy(&self, hosts: &[String]) -> std::io::Result<crate::Proxy> {
        crate::Proxy::open(self.guard.clone(), hosts, Arc::clone(&self.ways))
    }

    /// Gets one page as text.
    ///
    /// Reading on (`offset` > 0) takes the text that was fetched before, if that was within the last ten minutes, and
    /// asks the site again otherwise.
    ///
    /// # Errors
    /// The address is not allowed, nothing came in time, or what came is no text.
    pub async fn fetch(
        &self,
        url: &str,
        bounds: FetchBounds,
        cancel: CancellationToken,
    ) -> Result<Page, WebError> {
        let url = parse(url)?;
        self.guard.check_url(&url)?;
        let wanted = WantedPart::new(&url, &bounds);
        if bounds.offset > 0
            && let Some(document) = self.recent.get(&wanted, Instant::now())
        {
            return Ok(part(&document, &bounds));
        }
        let limit = bounds.time;
        let (offset, chars) = (bounds.offset, bounds.chars);
        let work = tokio::time::timeout(limit, self.document(url, bounds.clone(), cancel.clone()));
        let document = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(WebError::Cancelled),
            done = work => Arc::new(done.map_err(|_| WebError::TimedOut(limit))??),
        };
        let page = part(&document, &FetchBounds { offset, chars, ..bounds });
        if page.next.is_some() || offset > 0 {
            self.recent.put(wanted, document, Instant::now());
        }
        Ok(page)
    }

    async fn document(
        &self,
        url: Url,
        bounds: FetchBounds,
        cancel: CancellationToken,
    ) -> Result<Document, WebError> {
        let deadline = Instant::now() + bounds.time;
        let (url, response) = self.follow(url, &bounds).await?;
        let host = host(&url);
        let status = response.status();
        if !status.is_success() {
            let retry_after = retry_after(response.headers());
            return Err(WebError::Status { host, status: status.as_u16(), retry_after });
        }
        let kind = ContentKind::of(response.headers())?;
        let packing = Packing::of(header(response.headers(), CONTENT_ENCODING.as_str()))?;
        let body = body::read(response, packing, bounds.bytes, &host).await?;
        // Parsing is work for a thread that nobody waits on; it looks at the deadline and the token by itself.
        let made = tokio::task::spawn_blocking(move || {
            kind.document(&url, &body.bytes, body.cut, &bounds, &|| {
                cancel.is_cancelled() || Instant::now() >= deadline
            })
        });
        made.await.map_err(|error| WebError::Transfer { host, detail: error.to_string() })?
    }

    /// Asks for a page and goes where it leads, until there is one that leads nowhere else.
    async fn follow(&self, mut url: Url, bounds: &FetchBounds) -> Result<(Url, Response), WebError> {
        for _ in 0..=REDIRECTS {
            self.guard.check_url(&url)?;
            let response = tokio::time::timeout(bounds.header_time, self.ask(&url))
                .await
                .map_err(|_| WebError::TimedOut(bounds.header_time))??;
            if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return Ok((url, response));
            }
            let location = response.headers().get(LOCATION).map(|value| value.as_bytes());
            let to = next_hop(&url, location)?;
            if !bounds.other_hosts && bare(&to) != bare(&url) {
                return Err(WebError::Elsewhere { from: host(&url), to: to.into() });
            }
            url = to;
        }
        Err(WebError::Redirects(REDIRECTS))
    }

    async fn ask(&self, url: &Url) -> Result<Response, WebError> {
        let response = self
            .client
            .get(url.clone())
            .header(
                ACCEPT,
                "text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5",
            )
            .header(ACCEPT_ENCODING, "gzip")
            .send()
            .await
            .map_err(|error| refusal_in(&error).unwrap_or_else(|| broken(&error, &host(url))))?;
        // The resolver has judged already; this holds should a client ever connect without asking it.
        match response.remote_addr().map(|address| self.guard.check_address(address.ip())) {
            Some(Err(why)) => Err(WebError::refused(&host(url), why)),
            Some(Ok(())) => Ok(response),
            None => Err(WebError::Connect {
                host: host(url),
                detail: "it is not known which address was connected to".to_owned(),
            }),
        }
    }
}

/// An address as a person or a model writes it.
fn parse(url: &str) -> Result<Url, WebError> {
    if url.len() > URL_CHARS {
        return Err(WebError::NoAddress);
    }
    let mut url = Url::parse(url.trim()).map_err(|_| WebError::NoAddress)?;
    url.set_fragment(None);
    Ok(url)
}

/// A host's name; `www.` in front of it is the same site.
fn bare(url: &Url) -> &str {
    let name = url.host_str().unwrap_or_default();
    name.strip_prefix("www.").unwrap_or(name)
}

/// Where a redirect leads. Judged by the guard afterwards, like any address.
fn next_hop(from: &Url, location: Option<&[u8]>) -> Result<Url, WebError> {
    let location = location.and_then(|bytes| std::str::from_utf8(bytes).ok()).ok_or(WebError::Location)?;
    let mut to = from.join(location).map_err(|_| WebError::Location)?;
    if from.scheme() == "https" && to.scheme() == "http" {
        return Err(WebError::Downgrade(host(from)));
    }
    to.set_fragment(None);
    Ok(to)
}

/// A refusal of our resolver, which the client wraps in errors of its own.
fn refusal_in(error: &reqwest::Error) -> Option<WebError> {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = source {
        if let Some(refusal) = error.downcast_ref::<WebError>() {
            return Some(refusal.clone());
        }
        source = error.source();
    }
    None
}

fn broken(error: &reqwest::Error, host: &str) -> WebError {
    let (host, detail) = (host.to_owned(), cause(error));
    if error.is_connect() { WebError::Connect { host, detail } } else { WebError::Transfer { host, detail } }
}

/// The innermost cause: the outer ones repeat the address and say less.
pub(crate) fn cause(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let text = if innermost.is::<reqwest::Error>() {
        "the request failed".to_owned()
    } else {
        innermost.to_string()
    };
    text.chars().take(200).collect()
}

fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().trim()
}

/// How long a site asks to wait: seconds or a date.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = header(headers, RETRY_AFTER.as_str());
    match text.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => {
            let until = httpdate::parse_http_date(text).ok()?;
            Some(until.duration_since(std::time::SystemTime::now()).unwrap_or_default())
        }
    }
}

fn part(document: &Document, bounds: &FetchBounds) -> Page {
    let part = text::part(&document.text, bounds.offset, bounds.chars);
    Page {
        url: document.url.clone(),
        title: document.title.clone(),
        kind: document.kind,
        text: part.text.to_owned(),
        offset: part.offset,
        next: part.next,
        total: part.total,
        cut: document.cut,
    }
}

#[cfg(test)]
mod tests;
