//! Asks the engine that the user chose, and gives its hits as plain words.
//!
//! An engine's address is the user's choice or a constant here, never a model's or a page's: the guard of fetching does not
//! apply, and a SearXNG may be on loopback. Redirects are followed within the same origin only, and only for SearXNG: a key
//! goes to nobody else. No key is in an error.

mod brave;
mod google;
mod searxng;

use std::collections::HashSet;
use std::time::Duration;

use protocol::command::Secret;
use reqwest::header::LOCATION;
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use crate::fetch::{cause, retry_after};
use crate::{SearchError, html, text};

const TIME: Duration = Duration::from_secs(20);
const ANSWER_BYTES: usize = 2 << 20;
const REDIRECTS: usize = 3;

const QUERY_CHARS: usize = 400;
const HITS: u32 = 20;
const TITLE_CHARS: usize = 200;
const SNIPPET_CHARS: usize = 500;
const URL_BYTES: usize = 2_000;

/// Whom to ask, and by which key.
#[derive(Clone, Debug)]
pub enum Engine {
    /// Google Programmable Search: a key for the Custom Search API, and the id of an engine (`cx`).
    Google {
        key: Secret,
        engine_id: String,
    },
    Brave {
        key: Secret,
    },
    /// A SearXNG at an address, such as `http://localhost:8888`; a path is kept.
    SearXng {
        url: String,
    },
}

impl Engine {
    /// Where what is asked goes.
    pub fn address(&self) -> String {
        match self {
            Self::Google { .. } => Bases::default().google,
            Self::Brave { .. } => Bases::default().brave,
            Self::SearXng { url } => url.clone(),
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Google { .. } => google::NAME,
            Self::Brave { .. } => brave::NAME,
            Self::SearXng { .. } => searxng::NAME,
        }
    }
}

/// A page that was found. Everything in it is untrusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    pub title: String,
    /// `http` or `https`.
    pub url: String,
    /// May be empty.
    pub snippet: String,
}

/// Where the engines with one address for all are reached.
#[derive(Clone, Debug)]
pub struct Bases {
    pub google: String,
    pub brave: String,
}

impl Default for Bases {
    fn default() -> Self {
        Self { google: google::BASE.to_owned(), brave: brave::BASE.to_owned() }
    }
}

/// Searches the web. Cheap to clone.
#[derive(Clone)]
pub struct Searcher {
    client: Client,
    bases: Bases,
    time: Duration,
}

/// What is asked for, made fit.
struct Ask<'q> {
    query: &'q str,
    count: u32,
    page: u32,
}

impl Searcher {
    /// `version` is Miki's, for the User-Agent.
    ///
    /// # Errors
    /// The system's TLS cannot be set up.
    pub fn new(version: &str) -> Result<Self, SearchError> {
        Self::at(version, Bases::default(), TIME)
    }

    /// With the engines elsewhere, and other patience; for tests.
    ///
    /// # Errors
    /// As [`Searcher::new`].
    pub fn at(version: &str, bases: Bases, time: Duration) -> Result<Self, SearchError> {
        let client = Client::builder()
            .user_agent(format!("Miki/{version}"))
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .build()
            .map_err(|error| SearchError::Setup(cause(&error)))?;
        Ok(Self { client, bases, time })
    }

    /// Searches; `page` begins with 1, `count` is at most 20 (Google: 10). An empty list means that nothing was found.
    ///
    /// # Errors
    /// A setting is missing, the engine refuses, or it gives nothing that can be read; see [`SearchError::hint`].
    pub async fn search(
        &self,
        engine: &Engine,
        query: &str,
        count: u32,
        page: u32,
        cancel: CancellationToken,
    ) -> Result<Vec<Hit>, SearchError> {
        let query: String = query.split_whitespace().collect::<Vec<_>>().join(" ");
        let query: String = query.chars().take(QUERY_CHARS).collect();
        if query.is_empty() {
            return Err(SearchError::NoQuery);
        }
        let ask = Ask { query: &query, count: count.clamp(1, HITS), page: page.max(1) };
        let work = async {
            match engine {
                Engine::Google { key, engine_id } => google::search(self, key, engine_id, &ask).await,
                Engine::Brave { key } => brave::search(self, key, &ask).await,
                Engine::SearXng { url } => searxng::search(self, url, &ask).await,
            }
        };
        let engine = engine.name();
        let hits = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(SearchError::Cancelled),
            done = tokio::time::timeout(self.time, work) => {
                done.map_err(|_| SearchError::TimedOut { engine, after: self.time })??
            }
        };
        Ok(fit(hits, ask.count))
    }

    /// Sends one request and reads its answer within the bound.
    async fn answer(&self, engine: &'static str, request: RequestBuilder) -> Result<Answer, SearchError> {
        let broken = |error: reqwest::Error| SearchError::Connect { engine, detail: cause(&error) };
        let mut response = request.send().await.map_err(broken)?;
        let headers = response.headers();
        let header = |name: &str| {
            headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().trim().to_owned()
        };
        let mut answer = Answer {
            engine,
            status: response.status(),
            location: header(LOCATION.as_str()),
            kind: header("content-type"),
            retry_after: retry_after(headers),
            reset: header("x-ratelimit-reset"),
            remaining: header("x-ratelimit-remaining"),
            body: Vec::new(),
        };
        while let Some(piece) = response.chunk().await.map_err(broken)? {
            if answer.body.len() + piece.len() > ANSWER_BYTES {
                let detail = format!("it is longer than {} MB", ANSWER_BYTES >> 20);
                return Err(SearchError::Answer { engine, detail });
            }
            answer.body.extend_from_slice(&piece);
        }
        Ok(answer)
    }
}

/// What an engine answered, whole.
struct Answer {
    engine: &'static str,
    status: StatusCode,
    location: String,
    kind: String,
    retry_after: Option<Duration>,
    reset: String,
    remaining: String,
    body: Vec<u8>,
}

impl Answer {
    fn read<T: DeserializeOwned>(&self) -> Result<T, SearchError> {
        serde_json::from_slice(&self.body)
            .map_err(|error| SearchError::Answer { engine: self.engine, detail: error.to_string() })
    }

    /// The body as far as it is an error of the shape `T`; a page of a proxy in between is none.
    fn error<T: DeserializeOwned + Default>(&self) -> T {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The error for all that an engine has no shape of its own for.
    fn status_error(&self, detail: &str, secret: &str) -> SearchError {
        let engine = self.engine;
        if self.status.is_redirection() {
            // Without its query, which may repeat the key.
            let to = self.location.split(['?', '#']).next().unwrap_or_default();
            return SearchError::Moved { engine, to: shown(to, secret) };
        }
        let detail = match detail.trim() {
            "" => self.status.canonical_reason().unwrap_or("no reason given").to_lowercase(),
            detail => shown(detail, secret),
        };
        SearchError::Status { engine, status: self.status.as_u16(), detail }
    }
}

/// What an engine says, bounded, in one line, without the key: some repeat it.
fn shown(detail: &str, secret: &str) -> String {
    let detail = if secret.len() >= 8 { detail.replace(secret, "[key]") } else { detail.to_owned() };
    line(&detail, 200)
}

/// One line of plain words.
fn line(text: &str, chars: usize) -> String {
    let text = text::cleaned(text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn base(url: &str) -> Option<Url> {
    let url = Url::parse(url.trim()).ok()?;
    matches!(url.scheme(), "http" | "https").then_some(url)
}

/// What is kept of the hits: pages of the web, each once, in bounds.
fn fit(hits: Vec<Hit>, count: u32) -> Vec<Hit> {
    let mut known = HashSet::new();
    hits.into_iter()
        .filter_map(|hit| {
            let url = String::from(base(&hit.url)?);
            let title = line(&hit.title, TITLE_CHARS);
            let title = if title.is_empty() { url.clone() } else { title };
            let fits = url.len() <= URL_BYTES && known.insert(url.clone());
            fits.then(|| Hit { title, url, snippet: line(&hit.snippet, SNIPPET_CHARS) })
        })
        .take(count as usize)
        .collect()
}

/// A hit whose words are HTML.
fn html_hit(title: &str, url: String, snippet: &str) -> Hit {
    Hit { title: html::words(title), url, snippet: html::words(snippet) }
}

#[cfg(test)]
mod tests;
