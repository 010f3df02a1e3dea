//! A server at an address (streamable HTTP): what is sent to it, and to nobody else.

use std::sync::Arc;
use std::time::Duration;

use protocol::command::Secret;
use protocol::mcp::McpServer;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::auth::AuthClient;
use rmcp::transport::streamable_http_client::{
    InsufficientScopeError, StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
    StreamableHttpError,
};
use tools::untrusted;

use crate::Launch;
use crate::client::Heard;
use crate::sign_in::{self, SignsInAt};

const CONNECT: Duration = Duration::from_secs(10);
/// Scopes that are told of, and characters of them.
const SCOPES: usize = 8;
const SCOPE_CHARS: usize = 200;
/// How the library tells of an answer that names no way to sign in.
const UNAUTHORIZED: &str = "HTTP 401";

/// The way to a server at an address: with its headers, and as its user where they have signed in.
///
/// # Errors
/// What is missing for it, for people.
pub async fn transport(
    name: &str,
    server: &McpServer,
    launcher: &Arc<dyn Launch>,
    heard: &Heard,
    at: &SignsInAt,
) -> Result<StreamableHttpClientTransport<AuthClient<reqwest::Client>>, String> {
    let headers = launcher.headers(name, server).await?;
    heard.hide(headers.iter().flat_map(|(_, value)| parts(value)).collect());
    let headers = headers.iter().map(|(header, value)| sent(name, header, value));
    let config = StreamableHttpClientTransportConfig::with_uri(server.url.as_str())
        .custom_headers(headers.collect::<Result<_, _>>()?);
    let signed_in = sign_in::of_user(name, server, launcher, heard, at).await?;
    let client = AuthClient::new(client(&server.url)?, signed_in);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// Speaks HTTP with one address. Nobody is led elsewhere: a redirect may be to a place that only we can reach, and keys would
/// go along.
///
/// # Errors
/// TLS cannot be spoken here: for people.
pub fn client(url: &str) -> Result<reqwest::Client, String> {
    let builder = reqwest::Client::builder()
        .user_agent(concat!("miki/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT);
    // What stays on this machine is told to no proxy.
    let builder = if protocol::address::stays_here(url) { builder.no_proxy() } else { builder };
    builder.build().map_err(|error| format!("HTTP cannot be spoken here: {error}"))
}

/// What its user can do where it does not let them in, by the error that the library has for it; `None` if that is not why.
pub fn not_let_in(name: &str, server: &McpServer, is_asked: bool, error: &str) -> Option<String> {
    if server.url.is_empty() || !(is_asked || error.contains(UNAUTHORIZED)) {
        return None;
    }
    Some(match server.authorization() {
        Some(header) => {
            format!("it does not accept the key that is kept for it: miki mcp key {name} {header}")
        }
        None => format!("it wants its user to sign in: miki mcp login {name}"),
    })
}

/// What its user can do where it lets them in, but for less than it wants now; `None` if that is not why.
pub fn wants_more(
    name: &str,
    server: &McpServer,
    error: &(dyn std::error::Error + Send + Sync + 'static),
) -> Option<String> {
    let first: &(dyn std::error::Error + 'static) = error;
    let mut all = std::iter::successors(Some(first), |error| error.source());
    let lacks = all.find_map(|error| error.downcast_ref::<InsufficientScopeError>())?;
    let named = lacks.get_required_scope().unwrap_or_default();
    let scopes: Vec<&str> = named.split_whitespace().take(SCOPES).collect();
    let wants = match scopes.as_slice() {
        [] => "it wants more than its user may do there, and does not say what".to_owned(),
        scopes => {
            let scopes = untrusted::line(&scopes.join(" "), SCOPE_CHARS);
            format!("it wants more than its user has agreed to there: {scopes}")
        }
    };
    if let Some(header) = server.authorization() {
        return Some(format!("{wants}; keep a key that may do that: miki mcp key {name} {header}"));
    }
    // Only what is no more than a word in a shell.
    let fits = !scopes.is_empty() && scopes.iter().all(|scope| is_scope(scope));
    let asked = scopes.iter().filter(|_| fits).map(|scope| format!(" --scope {scope}")).collect::<String>();
    Some(format!("{wants}; sign in again: miki mcp login {name}{asked}"))
}

/// Whether it may be the name of what a server lets its user do: no more than a word, for a shell too.
pub fn is_scope(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._:/+@-".contains(c);
    (1..=SCOPE_CHARS).contains(&text.len()) && text.chars().all(is_plain) && !text.starts_with('-')
}

/// Why an address did not answer as a server, for people: what the library says of it has names of its own types around it.
pub fn unreached(error: &(dyn std::error::Error + Send + Sync + 'static)) -> String {
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) => format!("it cannot be reached: {}", innermost(error)),
        Some(other) => format!("it does not answer as a server of the protocol does: {other}"),
        None => format!("it cannot be reached: {error}"),
    }
}

/// What went wrong in the end: "Connection refused" says more than that a request could not be sent.
pub fn innermost<'a>(error: &'a (dyn std::error::Error + 'static)) -> &'a (dyn std::error::Error + 'static) {
    std::iter::successors(Some(error), |error| error.source()).last().unwrap_or(error)
}

/// A header as it is sent.
fn sent(name: &str, header: &str, value: &Secret) -> Result<(HeaderName, HeaderValue), String> {
    let unfit =
        || format!("{header} cannot be sent as it is kept; keep it again: miki mcp key {name} {header}");
    let named = HeaderName::from_bytes(header.as_bytes()).map_err(|_| unfit())?;
    let mut value = HeaderValue::from_str(&value.0).map_err(|_| unfit())?;
    // Otherwise a `Debug` would show it.
    value.set_sensitive(true);
    Ok((named, value))
}

/// What of a header's value is a key: all of it, and what follows a scheme (`Bearer ...`).
fn parts(value: &Secret) -> impl Iterator<Item = Secret> {
    let bare = value.0.split_once(' ').map(|(_, bare)| Secret(bare.trim().to_owned()));
    std::iter::once(value.clone()).chain(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_where_nobody_listens_is_told_by_what_went_wrong_and_no_name_of_a_type() {
        let nobody = reqwest::Client::new().get("http://127.0.0.1:1/mcp").send().await.unwrap_err();
        let told = unreached(&StreamableHttpError::Client(nobody));
        assert!(told.starts_with("it cannot be reached: ") && told.contains("refused"), "{told}");
        let other = unreached(&StreamableHttpError::<reqwest::Error>::UnexpectedEndOfStream);
        assert_eq!(other, "it does not answer as a server of the protocol does: unexpected end of stream");
    }

    fn secret(text: &str) -> Secret {
        Secret(text.into())
    }

    #[test]
    fn a_header_is_sent_as_it_was_kept_or_not_at_all_and_shows_its_value_to_nobody() {
        let (name, value) = sent("pond", "X-Api-Key", &secret("canary-1")).unwrap();
        assert_eq!((name.as_str(), value.to_str().unwrap()), ("x-api-key", "canary-1"));
        assert!(!format!("{value:?}").contains("canary"));
        for bad in ["canary\r\nHost: evil", "canary\0"] {
            let why = sent("pond", "X-Api-Key", &secret(bad)).unwrap_err();
            assert!(why.contains("miki mcp key pond X-Api-Key") && !why.contains("canary"), "{why}");
        }
    }

    #[test]
    fn a_key_is_known_again_without_its_scheme() {
        let heard = Heard::default();
        heard.hide(parts(&secret("Bearer canary-1")).collect());
        assert_eq!(heard.without_keys("invalid token canary-1"), "invalid token (a key)");
        assert_eq!(heard.without_keys("Bearer canary-1"), "(a key)");
        assert_eq!(heard.without_keys("Bearer is no scheme here"), "Bearer is no scheme here");
    }

    #[test]
    fn who_may_do_too_little_is_told_what_it_wants_and_never_how_to_run_something_else() {
        let open = McpServer { url: "https://a.example".into(), ..McpServer::default() };
        let told = |server: &McpServer, scope: Option<&str>| {
            let lacks = InsufficientScopeError::new("Bearer".into(), scope.map(str::to_owned));
            let error = StreamableHttpError::<reqwest::Error>::InsufficientScope(lacks);
            wants_more("pond", server, &error).unwrap()
        };
        assert_eq!(
            told(&open, Some("files:read files:write")),
            "it wants more than its user has agreed to there: files:read files:write; sign in again: miki mcp login pond \
             --scope files:read --scope files:write"
        );
        assert!(told(&open, None).ends_with("does not say what; sign in again: miki mcp login pond"));
        for evil in ["a;rm", "$(rm)", "--client-id=x", "a`b`", "a\u{202e}b"] {
            let told = told(&open, Some(evil));
            assert!(told.ends_with("miki mcp login pond") && !told.contains('\u{202e}'), "{told}");
        }
        let keyed = McpServer { keys: ["authorization".to_owned()].into(), ..open.clone() };
        assert!(
            told(&keyed, Some("deep"))
                .ends_with("deep; keep a key that may do that: miki mcp key pond authorization")
        );
        let other = std::io::Error::other("HTTP 403");
        assert_eq!(wants_more("pond", &open, &other), None);
    }

    #[test]
    fn who_is_not_let_in_is_told_what_to_do() {
        let open = McpServer { url: "https://a.example".into(), ..McpServer::default() };
        let told = |server: &McpServer| not_let_in("pond", server, false, "HTTP 401 Unauthorized: ").unwrap();
        assert!(told(&open).ends_with("miki mcp login pond"));
        let keyed = McpServer { keys: ["authorization".to_owned()].into(), ..open.clone() };
        assert!(told(&keyed).ends_with("miki mcp key pond authorization"));
        assert!(not_let_in("pond", &open, true, "").is_some());
        assert_eq!(not_let_in("pond", &open, false, "HTTP 500"), None);
        let program = McpServer { command: "pond".into(), ..McpServer::default() };
        assert_eq!(not_let_in("pond", &program, false, "HTTP 401"), None);
    }
}
