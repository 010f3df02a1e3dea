//! What can go wrong, and what can be done about it. No key and no address with a key in it stands in any of them.

use std::time::Duration;

use crate::guard::Refusal;

/// Why a page was not fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebError {
    #[error("this is no address of a page")]
    NoAddress,
    #[error("addresses that begin with `{0}:` are not fetched; only http and https are")]
    Scheme(String),
    #[error(
        "an address with a user's name or password in it is not fetched; leave out what stands before the @"
    )]
    UserInfo,
    #[error("port {0} is not one that pages are served at; use http or https at their own ports")]
    Port(u16),
    #[error("port {0} is Miki's own and is not fetched from")]
    OwnPort(u16),
    #[error("{host} is not fetched: {why}")]
    Refused { host: String, why: Refusal },
    #[error("the page at {0} led from https to http, which is not followed")]
    Downgrade(String),
    #[error("the page at {from} leads to another site: {to}")]
    Elsewhere { from: String, to: String },
    #[error("more than {0} redirects were given; the page leads in a circle or too far")]
    Redirects(usize),
    #[error("the page redirects without a usable address")]
    Location,
    #[error("{host} was not found: {detail}")]
    Name { host: String, detail: String },
    #[error("no connection to {host}: {detail}")]
    Connect { host: String, detail: String },
    #[error("{host} broke the transfer off: {detail}")]
    Transfer { host: String, detail: String },
    #[error("the page was not there within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    #[error("{host} answered with status {status}")]
    Status { host: String, status: u16, retry_after: Option<Duration> },
    #[error("what is there is {0}, not text")]
    NotText(String),
    #[error("the page is packed as `{0}`, which was not asked for and is not read")]
    Packing(String),
    #[error("the fetch was cancelled")]
    Cancelled,
    #[error("the web's client could not be set up: {0}")]
    Setup(String),
}

impl WebError {
    pub(crate) fn refused(host: &str, why: Refusal) -> Self {
        Self::Refused { host: host.to_owned(), why }
    }

    /// What can be done about it, where something can.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Refused { .. } | Self::OwnPort(_) => {
                "pages of this machine and its network are seen with the browser, by the user's leave"
            }
            Self::Elsewhere { .. } => "fetch that address, if it is one to go to",
            Self::Connect { .. } => {
                "fetching goes to the page itself and uses no proxy, since behind one the address cannot be checked"
            }
            Self::NotText(_) => {
                "save it as a file and read it with the files tools, or open it in the browser"
            }
            Self::Status { status: 401 | 403 | 429, .. } => {
                "the site wants a person or a log-in: open it in the browser"
            }
            Self::TimedOut(_) => "try again later, or open it in the browser",
            Self::Name { .. } => "check how the name is written, and whether this machine is online",
            _ => return None,
        })
    }
}

/// Why a search has no results to show.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    #[error("no key is set for {engine}")]
    NoKey { engine: &'static str },
    #[error("no engine id is set for Google's search")]
    NoEngineId,
    #[error("no address is set for SearXNG, or one that is not http or https")]
    NoBase,
    #[error("nothing to search for was given")]
    NoQuery,
    #[error("{engine} does not go to page {page}; it ends at page {last}")]
    Page { engine: &'static str, page: u32, last: u32 },
    #[error("{engine} does not take the key: {detail}")]
    WrongKey { engine: &'static str, detail: String },
    #[error("{engine} refuses this search: {detail}")]
    Refused { engine: &'static str, detail: String },
    #[error("the key's searches at {engine} are used up: {detail}")]
    Quota { engine: &'static str, detail: String, retry_after: Option<Duration> },
    #[error("{engine} was asked too often{}", wait(*.retry_after))]
    TooOften { engine: &'static str, retry_after: Option<Duration> },
    #[error("this SearXNG gives no JSON")]
    NoJson,
    #[error("{engine} sent the search elsewhere, to {to}, which is not followed")]
    Moved { engine: &'static str, to: String },
    #[error("{engine} answered with status {status}: {detail}")]
    Status { engine: &'static str, status: u16, detail: String },
    #[error("{engine} gave an answer that cannot be read: {detail}")]
    Answer { engine: &'static str, detail: String },
    #[error("no connection to {engine}: {detail}")]
    Connect { engine: &'static str, detail: String },
    #[error("{engine} did not answer within {} s", .after.as_secs_f32())]
    TimedOut { engine: &'static str, after: Duration },
    #[error("the search was cancelled")]
    Cancelled,
    #[error("the web's client could not be set up: {0}")]
    Setup(String),
}

impl SearchError {
    /// What can be done about it, where something can.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoKey { engine: "Brave" } | Self::WrongKey { engine: "Brave", .. } => {
                "make a key at https://api-dashboard.search.brave.com and set it in Settings, Web search"
            }
            Self::NoKey { .. } | Self::WrongKey { .. } => {
                "make a key for the Custom Search API at https://console.cloud.google.com/apis/credentials and set it in \
                 Settings, Web search; Google gives no new ones and ends the API on 2027-01-01: Brave or SearXNG go on"
            }
            Self::NoEngineId => {
                "copy the search engine ID from https://programmablesearchengine.google.com and set it in Settings, Web \
                 search"
            }
            Self::NoBase => {
                "set the address of a SearXNG in Settings, Web search, such as http://localhost:8888"
            }
            Self::NoJson => {
                "switch it on there: `formats: [html, json]` under `search:` in its settings.yml, then restart it"
            }
            Self::Moved { .. } => {
                "set the address that it leads to in Settings, Web search, if it is the right one"
            }
            Self::Quota { .. } => "wait until the quota begins anew, buy more, or choose another engine",
            Self::TooOften { engine: "SearXNG", .. } => {
                "wait, or let this machine pass its limiter (`pass_ip` in its limiter.toml)"
            }
            Self::TooOften { .. } => "wait, or choose another engine",
            Self::Connect { .. } | Self::TimedOut { .. } => {
                "check that this machine is online and the engine runs"
            }
            _ => return None,
        })
    }
}

fn wait(after: Option<Duration>) -> String {
    after.map(|after| format!("; it asks to wait {} s", after.as_secs())).unwrap_or_default()
}
