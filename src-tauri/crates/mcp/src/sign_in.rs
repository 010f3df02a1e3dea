//! Signing in at a server at an address (OAuth 2.1): the user says yes in their browser, and the tokens that come of it go into
//! the keychain, and to that server alone.
//!
//! The library speaks the protocol. What it leaves open is held here: which addresses a code or a token may go to, that what is
//! said of a place to sign in comes from that place, and that tokens are renewed nowhere but where they came from.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::command::Secret;
use protocol::mcp::McpServer;
use protocol::{ErrorCode, ErrorView, address::shown};
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, CredentialStore as _, InMemoryCredentialStore,
    OAuthClientConfig, OAuthHttpClient,
};
use tokio::time::{Instant, timeout, timeout_at};
use tools::untrusted;

use self::http::{Http, fit};
use self::kept::{Keeper, KeptSignIn};
use self::redirect::Redirect;
use crate::address;
use crate::client::Heard;
use crate::servers::{Server, Servers};
use crate::{Launch, Tokens};

mod http;
mod kept;
mod redirect;

/// How long the user may take in the browser.
const PATIENCE: Duration = Duration::from_secs(5 * 60);
/// How long finding out where they sign in may take.
const BEGIN: Duration = Duration::from_secs(60);
/// As Miki is called where its user is asked about it.
const CLIENT: &str = "Miki";
const MESSAGE_CHARS: usize = 300;

/// Where the users of one server sign in, as it was read last: it is asked again only where its user's tokens came from
/// elsewhere, so that no connection waits for it.
#[derive(Default)]
pub struct SignsInAt(Mutex<Option<AuthorizationMetadata>>);

impl SignsInAt {
    fn known(&self) -> MutexGuard<'_, Option<AuthorizationMetadata>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a connection is its user's by; without a sign-in, nobody's. It is not asked about where the server has a key as
/// `Authorization`.
///
/// # Errors
/// The keychain fails, or the tokens are of no use any more: for people.
pub async fn of_user(
    name: &str,
    server: &McpServer,
    launcher: &Arc<dyn Launch>,
    heard: &Heard,
    at: &SignsInAt,
) -> Result<AuthorizationManager, String> {
    let written =
        if server.authorization().is_some() { None } else { launcher.sign_in(name, server).await? };
    let kept = written.and_then(|written| Some((KeptSignIn::read(&written)?, written)));
    let http = Arc::new(Http::new(&server.url)?);
    let mut speaker = speaker(&server.url, Arc::clone(&http)).await?;
    if let Some((kept, _)) = &kept {
        let known = at.known().clone().filter(|known| kept.is_from(known));
        let metadata = match known {
            Some(known) => known,
            None => discovered(&speaker, &http, &server.url).await?,
        };
        if !kept.is_from(&metadata) {
            return Err(format!("its users sign in elsewhere now; sign in again: miki mcp login {name}"));
        }
        *at.known() = Some(metadata.clone());
        speaker.set_metadata(metadata);
        speaker.configure_client(kept.client()).map_err(|error| told(&error))?;
    }
    speaker.set_credential_store(Keeper::new(name, server, launcher, heard, kept));
    Ok(speaker)
}

/// A sign-in that has begun: the user is in their browser.
pub struct SignIn {
    speaker: AuthorizationManager,
    tokens: InMemoryCredentialStore,
    redirect: Redirect,
    /// Known to whoever was asked, and to nobody else.
    state: String,
    client_secret: Option<Secret>,
    token_endpoint: String,
    until: Instant,
}

impl SignIn {
    /// Finds out where the server's users sign in, and makes Miki known there: by `client`, where its user has registered one,
    /// else by itself. `more` is asked for beside what the server asks for. Also the address to be opened in a browser.
    ///
    /// # Errors
    /// Why nobody can sign in, for people.
    async fn begin(server: &str, client: Option<&str>, more: &[String]) -> Result<(Self, String), String> {
        let http = Arc::new(Http::new(server)?);
        let mut speaker = speaker(server, Arc::clone(&http)).await?;
        let tokens = InMemoryCredentialStore::new();
        speaker.set_credential_store(tokens.clone());
        let metadata = discovered(&speaker, &http, server).await?;
        let token_endpoint = metadata.token_endpoint.clone();
        speaker.set_metadata(metadata);
        let redirect = Redirect::listen()
            .await
            .map_err(|error| format!("nothing can be listened to on this machine: {error}"))?;
        let mut scopes = speaker.select_initial_scopes(&[]).await;
        let is_more = |scope: &&String| !scopes.contains(scope);
        scopes.extend(more.iter().filter(is_more).cloned().collect::<Vec<_>>());
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let back = redirect.address();
        let client_secret = match client {
            Some(id) => {
                let client = OAuthClientConfig::new(id, back);
                speaker.configure_client(client).map_err(|error| told(&error))?;
                None
            }
            None => {
                let client = speaker.register_client(CLIENT, &back, &scopes).await;
                client.map_err(|error| told(&error))?.client_secret.map(Secret)
            }
        };
        let open = speaker.get_authorization_url(&scopes).await.map_err(|error| told(&error))?;
        let url = Url::parse(&open).ok();
        let state = url.and_then(|url| {
            url.query_pairs().find(|(name, _)| name == "state").map(|(_, state)| state.into_owned())
        });
        let state = state.ok_or("there is no state in the address to sign in at")?;
        let until = Instant::now() + PATIENCE;
        Ok((Self { speaker, tokens, redirect, state, client_secret, token_endpoint, until }, open))
    }

    /// Waits for the user, and takes the tokens. Dropped, it listens no more.
    ///
    /// # Errors
    /// Why there are none, for people.
    async fn finish(self) -> Result<KeptSignIn, String> {
        let answer = timeout_at(self.until, self.redirect.answer(&self.state)).await;
        let late = || Err(format!("nobody signed in within {} minutes", PATIENCE.as_secs() / 60));
        let answer = answer.unwrap_or_else(|_| late())?;
        // The library tells the state by its own record of it, and who gave the code by what the place says of itself.
        let exchanged = self
            .speaker
            .exchange_code_for_token_with_issuer(&answer.code, &self.state, answer.issuer.as_deref())
            .await;
        exchanged.map_err(|error| told(&error).replace(&answer.code, "(the code)"))?;
        let credentials = self.tokens.load().await.map_err(|error| told(&error))?;
        let credentials = credentials.ok_or("no tokens were given")?;
        Ok(KeptSignIn::new(credentials, self.client_secret, self.token_endpoint))
    }
}

/// Speaks the protocol for one server.
async fn speaker(server: &str, http: Arc<Http>) -> Result<AuthorizationManager, String> {
    let http: Arc<dyn OAuthHttpClient> = http;
    AuthorizationManager::new_with_oauth_http_client(server, http).await.map_err(|error| told(&error))
}

/// Where a server's users sign in, by its own word (RFC 9728, else RFC 8414).
async fn discovered(
    speaker: &AuthorizationManager,
    http: &Http,
    server: &str,
) -> Result<AuthorizationMetadata, String> {
    let challenge = http.challenge().await;
    let found = speaker.resolve_metadata_from_challenge(challenge.as_deref()).await;
    let found = found.map_err(|error| told(&error))?;
    if !found.source.is_discovered() {
        return Err("it does not say where its users sign in".into());
    }
    check(&found.metadata, http.last().as_ref(), server)?;
    Ok(found.metadata)
}

/// Whether a place to sign in may be used: what is said of it came from itself, and no code or token of it goes astray.
fn check(metadata: &AuthorizationMetadata, from: Option<&Url>, server: &str) -> Result<(), String> {
    let issuer = metadata.issuer.as_deref().unwrap_or_default();
    let is_its_own =
        Url::parse(issuer).is_ok_and(|issuer| from.is_some_and(|from| from.origin() == issuer.origin()));
    if !is_its_own {
        return Err(format!(
            "where its users sign in is not certain: {} speaks for another",
            from.map_or_else(String::new, |from| shown(from.as_str()))
        ));
    }
    let endpoints = [
        ("authorization", Some(&metadata.authorization_endpoint)),
        ("token", Some(&metadata.token_endpoint)),
        ("registration", metadata.registration_endpoint.as_ref()),
    ];
    for (what, address) in endpoints {
        if let Some(address) = address {
            fit(address, server)
                .map_err(|why| format!("nobody can sign in safely: its {what} endpoint {why}"))?;
        }
    }
    if metadata.code_challenge_methods_supported.is_none() {
        return Err(told(&AuthError::PkceUnsupported));
    }
    Ok(())
}

/// Why it failed, for people, cleaned. No word of an answer that may have a token in it.
fn told(error: &AuthError) -> String {
    let said = match error {
        AuthError::DiscoveryRequestFailed { url, source } => {
            let why = crate::address::innermost(source.as_ref());
            format!("{} cannot be asked where its users sign in: {why}", shown(url.as_str()))
        }
        AuthError::PkceUnsupported => {
            "nobody can sign in safely: where its users sign in, a stolen code could be used (no PKCE with S256)".into()
        }
        AuthError::RegistrationFailed(why) if why.contains("not supported") => {
            "Miki has to be registered there by its user: do so, then give --client-id".into()
        }
        AuthError::TokenExchangeFailed(why) | AuthError::TokenRefreshFailed(why) => {
            // An answer that cannot be read may be a token, and the library quotes it.
            let refused = why.strip_prefix("Server returned error response: ");
            format!("no token was given: {}", refused.unwrap_or("the answer cannot be had or read"))
        }
        other => other.to_string(),
    };
    untrusted::line(&said, MESSAGE_CHARS)
}

impl Servers {
    /// Begins to sign the user in at a server; another sign-in that was begun at it is given up. Answers the address that they
    /// open in their browser, HTTPS or of this machine.
    ///
    /// # Errors
    /// `NotFound`; `BadRequest` where nobody signs in at it; `Unavailable` with the reason where it cannot be begun.
    pub async fn begin_sign_in(
        &self,
        name: &str,
        client: Option<&str>,
        scopes: &[String],
    ) -> Result<String, ErrorView> {
        let server = self.find(name)?;
        let config = server.connection().config();
        let bad = |message: String| ErrorView::new(ErrorCode::BadRequest, message);
        if config.url.is_empty() {
            return Err(bad(format!("the server {name:?} is a program: nobody signs in at it"))
                .with_hint("give it a key: miki mcp add --key, miki mcp key"));
        }
        if config.authorization().is_some() {
            return Err(bad(format!(
                "the server {name:?} has a key as Authorization: nobody signs in beside it"
            ))
            .with_hint("connect it without that key: miki mcp remove, then add"));
        }
        if let Some(unfit) = scopes.iter().find(|scope| !address::is_scope(scope)) {
            return Err(bad(format!("{unfit:?} is no scope")));
        }
        let begun = timeout(BEGIN, SignIn::begin(&config.url, client, scopes)).await;
        let late = || Err(format!("no answer within {} s", BEGIN.as_secs()));
        let (begun, open) = begun.unwrap_or_else(|_| late()).map_err(|why| failed(name, &why))?;
        *server.begun() = Some(begun);
        // Nobody may ever wait for it.
        let forgetful = Arc::downgrade(&server);
        tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            if let Some(server) = forgetful.upgrade() {
                server.begun().take_if(|begun| begun.until <= Instant::now());
            }
        });
        Ok(open)
    }

    /// Waits until the user has signed in, and keeps the tokens. Dropped, the sign-in is given up.
    ///
    /// # Errors
    /// `NotFound`; `BadRequest` where none was begun; `Unavailable` with the reason where it failed; `Keychain`.
    pub async fn finish_sign_in(&self, name: &str) -> Result<(), ErrorView> {
        let server = self.find(name)?;
        let begun = server.begun().take().ok_or_else(|| {
            ErrorView::new(ErrorCode::BadRequest, format!("no sign-in was begun at the server {name:?}"))
                .with_hint(format!("begin one: miki mcp login {name}"))
        })?;
        let kept = begun.finish().await.map_err(|why| failed(name, &why))?;
        let written = kept.written().map_err(|why| failed(name, &why))?;
        let is_there = || self.find(name).is_ok_and(|now| Arc::ptr_eq(&now, &server));
        if is_there() {
            self.keep_sign_in(&server, Tokens::New(&written)).await?;
        }
        // Removed meanwhile: nothing of it is kept. What is kept of one is forgotten once it is gone from here: looked at
        // afterwards, nothing comes after that.
        if is_there() {
            return Ok(());
        }
        self.keep_sign_in(&server, Tokens::Gone).await?;
        Err(failed(name, "it was changed or removed meanwhile"))
    }

    /// Forgets the tokens of a server; that there are none is no error.
    ///
    /// # Errors
    /// `NotFound`, `Keychain`.
    pub async fn sign_out(&self, name: &str) -> Result<(), ErrorView> {
        let server = self.find(name)?;
        server.begun().take();
        self.keep_sign_in(&server, Tokens::Gone).await
    }

    /// And ends its connection, which would go on as before.
    async fn keep_sign_in(&self, server: &Server, tokens: Tokens<'_>) -> Result<(), ErrorView> {
        let connection = server.connection();
        let done = self.launcher().keep_sign_in(server.name(), connection.config(), tokens).await;
        connection.close().await;
        done.map_err(|why| {
            ErrorView::new(ErrorCode::Keychain, why)
                .with_hint("unlock or start the system's keychain, then try again")
        })
    }
}

fn failed(name: &str, why: &str) -> ErrorView {
    ErrorView::new(ErrorCode::Unavailable, format!("nobody is signed in at the server {name:?}: {why}"))
}

/// The sign-in that was begun at one server, where there is one.
#[derive(Default)]
pub struct Begun(Mutex<Option<SignIn>>);

impl Begun {
    pub fn get(&self) -> MutexGuard<'_, Option<SignIn>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SERVER: &str = "https://mcp.example/mcp";

    fn metadata(change: &serde_json::Value) -> AuthorizationMetadata {
        let mut all = json!({
            "issuer": "https://as.example/tenant",
            "authorization_endpoint": "https://login.example/authorize",
            "token_endpoint": "https://as.example/token",
            "registration_endpoint": "https://as.example/register",
            "code_challenge_methods_supported": ["S256"],
        });
        for (name, value) in change.as_object().unwrap() {
            all[name] = value.clone();
        }
        serde_json::from_value(all).unwrap()
    }

    fn checked(change: &serde_json::Value, from: &str) -> Result<(), String> {
        check(&metadata(change), Url::parse(from).ok().as_ref(), SERVER)
    }

    #[test]
    fn where_users_sign_in_speaks_for_itself_and_takes_codes_and_tokens_safely() {
        let own = "https://as.example/.well-known/oauth-authorization-server/tenant";
        assert_eq!(checked(&json!({}), own), Ok(()));
        let evil = "https://evil.example/.well-known/of-another";
        assert!(checked(&json!({}), evil).unwrap_err().contains("speaks for another"));
        assert!(checked(&json!({ "issuer": null }), own).is_err());
        for name in ["authorization_endpoint", "token_endpoint", "registration_endpoint"] {
            for bad in
                ["http://as.example/x", "http://127.0.0.1:1/x", "file:///etc/passwd", "javascript:alert(1)"]
            {
                let why = checked(&json!({ name: bad }), own).unwrap_err();
                assert!(why.contains("endpoint"), "{name} {bad}: {why}");
            }
        }
        let unsafe_code = checked(&json!({ "code_challenge_methods_supported": null }), own).unwrap_err();
        assert!(unsafe_code.contains("PKCE"), "{unsafe_code}");
    }

    #[test]
    fn an_answer_that_cannot_be_read_is_not_told_since_it_may_be_a_token() {
        let quoted = "invalid type: string \"canary-token\", expected struct";
        for error in
            [AuthError::TokenExchangeFailed(quoted.into()), AuthError::TokenRefreshFailed(quoted.into())]
        {
            let why = told(&error);
            assert!(!why.contains("canary") && why.contains("cannot be had or read"), "{why}");
        }
        let refused = AuthError::TokenExchangeFailed(
            "Server returned error response: invalid_grant: no\u{202e}".into(),
        );
        assert_eq!(told(&refused), "no token was given: invalid_grant: no");
    }
}
