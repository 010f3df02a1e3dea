//! Providers as data: where each one is, which wire it speaks, how it is shown a key.
//!
//! The known ones are in `data/providers.json`; any other is made of a base URL, a wire and headers. A base URL comes
//! from the user's own settings or command line only: a file of a workspace must not say where a key goes.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use protocol::command::Secret;
use serde::Deserialize;

use crate::Wire;

/// Anthropic's header that names the beta features to use.
const BETA: &str = "anthropic-beta";

/// A service that serves models.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Provider {
    /// The first part of a model's id.
    pub id: String,
    /// For people.
    pub name: String,
    pub wire: Wire,
    /// The address that all others begin with.
    pub base_url: String,
    /// The API version to try first. `None` for wires without versions in their addresses.
    #[serde(default)]
    pub api_version: Option<String>,
    pub auth: Auth,
    /// Sent with each request. Not for keys: keys are hidden wherever they turn up, these values are not.
    #[serde(default)]
    pub headers: BTreeMap<String, Secret>,
    /// Environment variables in which the provider's own tools look for a key.
    #[serde(default)]
    pub key_variables: Vec<String>,
    /// The name of the model to suggest last if the provider does not know the one asked for. `None` for local and
    /// custom servers, whose models only they know.
    #[serde(default)]
    pub fallback: Option<String>,
}

/// How a key is sent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Auth {
    /// No key is needed. One that is given is sent as with `Bearer`.
    None,
    /// `authorization: Bearer KEY`.
    Bearer,
    /// The bare key in the header of this name.
    Header(String),
}

static KNOWN: LazyLock<Vec<Provider>> = LazyLock::new(read);

#[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
fn read() -> Vec<Provider> {
    serde_json::from_str(include_str!("../data/providers.json")).expect("data/providers.json is providers")
}

impl Provider {
    /// The providers of `data/providers.json`.
    pub fn known() -> &'static [Self] {
        &KNOWN
    }

    /// The known one of that id.
    pub fn named(id: &str) -> Option<&'static Self> {
        KNOWN.iter().find(|provider| provider.id == id)
    }

    /// Any other server that speaks one of the wires: it gets the headers that the wire's vendor gets, and these as
    /// well.
    pub fn custom(id: &str, base_url: &str, wire: Wire, headers: BTreeMap<String, Secret>) -> Self {
        let vendor = KNOWN.iter().find(|provider| provider.wire == wire);
        // A key is sent as that vendor wants it. Where that is `Bearer` it stays optional: many servers need none.
        let auth = vendor.map(|vendor| vendor.auth.clone()).filter(|auth| *auth != Auth::Bearer);
        let custom = Self {
            id: id.to_owned(),
            name: id.to_owned(),
            wire,
            base_url: base_url.to_owned(),
            api_version: (wire == Wire::Gemini).then(|| "v1beta".into()),
            auth: auth.unwrap_or(Auth::None),
            headers: vendor.map(|vendor| vendor.headers.clone()).unwrap_or_default(),
            key_variables: Vec::new(),
            fallback: None,
        };
        headers.into_iter().fold(custom, Self::with_header)
    }

    /// The same with the bare key in the header of this name. Unchanged if the name is empty.
    #[must_use]
    pub fn with_key_header(mut self, name: &str) -> Self {
        if !name.is_empty() {
            self.auth = Auth::Header(name.to_owned());
        }
        self
    }

    /// Adds a header, in place of the vendor's own if it has one. Betas are added to the vendor's.
    fn with_header(mut self, (name, value): (String, Secret)) -> Self {
        let name = name.to_ascii_lowercase();
        if name == BETA {
            return self.with_beta(Some(&value.0));
        }
        self.headers.insert(name, value);
        self
    }

    /// The same with one more of Anthropic's betas.
    #[must_use]
    pub(crate) fn with_beta(mut self, beta: Option<&str>) -> Self {
        if let Some(beta) = beta {
            let asked = self.headers.entry(BETA.into()).or_insert_with(|| Secret(String::new()));
            let comma = if asked.0.is_empty() { "" } else { "," };
            asked.0 = format!("{}{comma}{beta}", asked.0);
        }
        self
    }

    /// The name that its turns are kept under ([`crate::Turn::provider`]). That of a custom server has the wire in it:
    /// the user may set another wire later, on which the old turns cannot go back.
    pub(crate) fn author(&self) -> String {
        match Self::named(&self.id) {
            Some(known) if known.wire == self.wire => self.id.clone(),
            _ => format!("{}/{}", self.id, self.wire),
        }
    }

    pub fn needs_key(&self) -> bool {
        self.auth != Auth::None
    }

    /// All headers of a request, with the key where there is one.
    pub(crate) fn headers_with(&self, key: Option<&Secret>) -> Vec<(String, Secret)> {
        let mut headers: Vec<(String, Secret)> =
            self.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        if let Some(key) = key {
            headers.push(match &self.auth {
                Auth::Header(name) => (name.clone(), key.clone()),
                Auth::Bearer | Auth::None => {
                    // An empty key stays an empty value, which is refused.
                    let value = if key.0.is_empty() { String::new() } else { format!("Bearer {}", key.0) };
                    ("authorization".into(), Secret(value))
                }
            });
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::catalogue;
    use crate::http::base_url;

    #[test]
    fn the_known_providers_are_as_their_file_has_them() {
        let ids: Vec<&str> = Provider::known().iter().map(|provider| provider.id.as_str()).collect();
        assert_eq!(ids, ["gemini", "anthropic", "openai", "openrouter", "xai", "ollama", "lmstudio"]);
        for provider in Provider::known() {
            base_url(&provider.base_url).unwrap();
            let local = provider.base_url.starts_with("http://127.0.0.1");
            assert_eq!(provider.needs_key(), !local, "{}", provider.id);
            assert_eq!(provider.key_variables.is_empty(), local, "{}", provider.id);
            let known = |name: &String| catalogue().of(&provider.id).iter().any(|model| model.id == *name);
            assert_eq!(provider.fallback.as_ref().map(known), (!local).then_some(true), "{}", provider.id);
        }
    }

    #[test]
    fn a_key_goes_in_the_header_that_its_provider_reads() {
        let sent = |id: &str| {
            let provider = Provider::named(id).unwrap();
            provider.headers_with(Some(&Secret("k".into()))).pop().map(|(name, value)| (name, value.0))
        };
        let header = |name: &str, value: &str| Some((name.to_owned(), value.to_owned()));
        assert_eq!(sent("gemini"), header("x-goog-api-key", "k"));
        assert_eq!(sent("anthropic"), header("x-api-key", "k"));
        assert_eq!(sent("openai"), header("authorization", "Bearer k"));
        assert_eq!(Provider::named("ollama").unwrap().headers_with(None), []);
    }

    #[test]
    fn a_server_of_ones_own_is_sent_what_the_vendor_of_its_wire_is() {
        for wire in Wire::ALL {
            let vendor = KNOWN.iter().find(|provider| provider.wire == wire).unwrap();
            let own = Provider::custom("mine", "https://example.org", wire, BTreeMap::new());
            assert_eq!(own.headers, vendor.headers, "{wire}");
            let key = |provider: &Provider| provider.headers_with(Some(&Secret("k".into()))).pop();
            assert_eq!(key(&own), key(vendor), "{wire}");
        }
        let headers = [("Anthropic-Version", "2023-06-01"), ("anthropic-beta", "mine"), ("x-org", "o")];
        let headers = headers.map(|(name, value)| (name.to_owned(), Secret(value.into())));
        let own = Provider::custom("mine", "https://example.org", Wire::Anthropic, headers.into());
        let sent: Vec<(&str, &str)> =
            own.headers.iter().map(|(name, value)| (name.as_str(), value.0.as_str())).collect();
        let betas = "thinking-binding-controls-2026-08-01,mine";
        assert_eq!(sent, [("anthropic-beta", betas), ("anthropic-version", "2023-06-01"), ("x-org", "o")]);
        let sent = own.with_key_header("api-key").headers_with(Some(&Secret("k".into()))).pop();
        assert_eq!(sent, Some(("api-key".to_owned(), Secret("k".into()))));
    }

    #[test]
    fn what_a_custom_provider_is_sent_is_not_shown() {
        let headers = BTreeMap::from([("x-org".to_owned(), Secret("canary".into()))]);
        let provider = Provider::custom("mine", "https://example.org", Wire::OpenAiChat, headers);
        assert!(!format!("{provider:?}").contains("canary"));
    }
}
