//! What is kept of a sign-in, in the keychain alone: the tokens, and where they came from.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::command::Secret;
use protocol::mcp::McpServer;
use rmcp::transport::auth::{
    AuthError, AuthorizationMetadata, CredentialStore, OAuthClientConfig, StoredCredentials,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::client::Heard;
use crate::{Launch, Tokens};

/// Of an answer with tokens, all that is used; others (who the user is) are kept nowhere.
const USED: [&str; 5] = ["access_token", "refresh_token", "token_type", "expires_in", "scope"];

#[derive(Clone, Serialize, Deserialize)]
pub struct KeptSignIn {
    credentials: StoredCredentials,
    /// Of Miki as a client, where it was given one when it was registered.
    #[serde(default)]
    client_secret: Option<Secret>,
    /// Where the tokens came from: they are renewed there and nowhere else.
    token_endpoint: String,
}

impl KeptSignIn {
    pub fn new(
        credentials: StoredCredentials,
        client_secret: Option<Secret>,
        token_endpoint: String,
    ) -> Self {
        Self { credentials: bare(credentials), client_secret, token_endpoint }
    }

    /// `None` if it is not what was written.
    pub fn read(written: &Secret) -> Option<Self> {
        serde_json::from_str(&written.0).ok()
    }

    pub fn written(&self) -> Result<Secret, String> {
        serde_json::to_string(self).map(Secret).map_err(|_| "the tokens cannot be written".to_owned())
    }

    /// Whether a server's users still sign in where the tokens came from.
    pub fn is_from(&self, metadata: &AuthorizationMetadata) -> bool {
        self.token_endpoint == metadata.token_endpoint && self.credentials.issuer == metadata.issuer
    }

    /// Miki, as it is known there. Nobody is sent back anywhere any more.
    pub fn client(&self) -> OAuthClientConfig {
        let client = OAuthClientConfig::new(&*self.credentials.client_id, "http://127.0.0.1/");
        match &self.client_secret {
            Some(secret) => client.with_client_secret(&*secret.0),
            None => client,
        }
    }

    /// What nobody is to be told.
    pub fn secrets(&self) -> Vec<Secret> {
        let tokens = serde_json::to_value(&self.credentials.token_response).unwrap_or_default();
        let named = ["access_token", "refresh_token"].into_iter().filter_map(|name| tokens[name].as_str());
        named.map(|token| Secret(token.to_owned())).chain(self.client_secret.clone()).collect()
    }
}

/// Without what is not used.
fn bare(mut credentials: StoredCredentials) -> StoredCredentials {
    let mut tokens = serde_json::to_value(&credentials.token_response).unwrap_or_default();
    if let Value::Object(fields) = &mut tokens {
        fields.retain(|name, _| USED.contains(&name.as_str()));
    }
    credentials.token_response = serde_json::from_value(tokens).unwrap_or_default();
    credentials
}

/// Hands the tokens of one connection to the library, and keeps those that they are renewed by.
pub struct Keeper {
    name: String,
    server: McpServer,
    launcher: Arc<dyn Launch>,
    heard: Heard,
    /// As they are by now, and as they were written last: the keychain is asked once a connection.
    kept: Mutex<Option<(KeptSignIn, Secret)>>,
}

impl Keeper {
    pub fn new(
        name: &str,
        server: &McpServer,
        launcher: &Arc<dyn Launch>,
        heard: &Heard,
        kept: Option<(KeptSignIn, Secret)>,
    ) -> Self {
        heard.hide_also(kept.iter().flat_map(|(kept, _)| kept.secrets()));
        let (name, server, kept) = (name.to_owned(), server.clone(), Mutex::new(kept));
        Self { name, server, launcher: Arc::clone(launcher), heard: heard.clone(), kept }
    }
}

#[async_trait]
impl CredentialStore for Keeper {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        Ok(self.kept.lock().await.as_ref().map(|(kept, _)| kept.credentials.clone()))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let mut kept = self.kept.lock().await;
        let Some((kept, last)) = kept.as_mut() else { return Err(AuthError::AuthorizationRequired) };
        kept.credentials = bare(credentials);
        self.heard.hide_also(kept.secrets());
        let kept = match kept.written() {
            Ok(written) => {
                let renewed = Tokens::Renewed { from: last, to: &written };
                let kept = self.launcher.keep_sign_in(&self.name, &self.server, renewed).await;
                kept.map(|()| *last = written)
            }
            Err(why) => Err(why),
        };
        // They are good until this connection ends; then their user has to sign in again.
        if let Err(why) = kept {
            tracing::warn!("the new tokens for the server {} are not kept: {why}", self.name);
        }
        Ok(())
    }

    async fn clear(&self) -> Result<(), AuthError> {
        *self.kept.lock().await = None;
        let forgotten = self.launcher.keep_sign_in(&self.name, &self.server, Tokens::Gone).await;
        forgotten.map_err(AuthError::CredentialStoreError)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kept() -> KeptSignIn {
        let tokens = json!({
            "access_token": "canary-access", "refresh_token": "canary-refresh", "token_type": "bearer",
            "expires_in": 60, "scope": "read write", "id_token": "canary-id", "account": "canary-account",
        });
        let credentials =
            StoredCredentials::new("miki-1".into(), serde_json::from_value(tokens).unwrap(), vec![], Some(7));
        KeptSignIn::new(
            credentials.with_issuer(Some("https://as.example".into())),
            Some(Secret("canary-client".into())),
            "https://as.example/token".into(),
        )
    }

    #[test]
    fn what_is_kept_is_read_back_and_is_no_more_than_what_is_used() {
        let written = kept().written().unwrap();
        assert!(!written.0.contains("canary-id") && !written.0.contains("canary-account"), "{}", written.0);
        let read = KeptSignIn::read(&written).unwrap();
        let all: Vec<_> = read.secrets().into_iter().map(|secret| secret.0).collect();
        assert_eq!(all, ["canary-access", "canary-refresh", "canary-client"]);
        assert_eq!(read.written().unwrap(), written);
        assert!(KeptSignIn::read(&Secret(written.0[..written.0.len() / 2].into())).is_none());
    }

    #[test]
    fn tokens_are_renewed_only_where_they_came_from() {
        let metadata = |issuer: &str, token: &str| -> AuthorizationMetadata {
            serde_json::from_value(json!({
                "issuer": issuer, "authorization_endpoint": "https://as.example/authorize", "token_endpoint": token,
            }))
            .unwrap()
        };
        assert!(kept().is_from(&metadata("https://as.example", "https://as.example/token")));
        assert!(!kept().is_from(&metadata("https://as.example", "https://evil.example/token")));
        assert!(!kept().is_from(&metadata("https://evil.example", "https://as.example/token")));
    }
}
