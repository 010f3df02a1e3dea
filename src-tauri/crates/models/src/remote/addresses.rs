//! The addresses of each wire's requests, below a provider's base URL. Pure.

use reqwest::Url;
use serde_json::json;

use super::Verb;
use crate::http::{Json, joined};
use crate::{Provider, Wire};

/// The address and the body. `json` is the body of a turn; other requests have their own, or none.
pub(super) fn of(
    provider: &Provider,
    base: &Url,
    version: Option<&str>,
    verb: Verb,
    model: &str,
    json: Option<Json>,
) -> (Url, Option<Json>) {
    match provider.wire {
        Wire::Gemini => (gemini(base, version.unwrap_or("v1beta"), verb, model), json),
        Wire::Anthropic => match verb {
            Verb::Turn => (joined(base, &["messages"]), json),
            Verb::Probe => (joined(base, &["models", model]), None),
            Verb::List => (with_query(joined(base, &["models"]), "limit=1000"), None),
        },
        Wire::OpenAiResponses | Wire::Xai => match verb {
            Verb::Turn => (joined(base, &["responses"]), json),
            Verb::Probe => (joined(base, &["models", model]), None),
            Verb::List => (joined(base, &["models"]), None),
        },
        // Names of models may hold slashes here, and many servers have no address for one model.
        Wire::OpenAiChat => match verb {
            Verb::Turn => (joined(base, &["chat", "completions"]), json),
            Verb::Probe | Verb::List => (joined(base, &["models"]), None),
        },
        // The list is public; only `key` checks the key.
        Wire::OpenRouter => match verb {
            Verb::Turn => (joined(base, &["chat", "completions"]), json),
            Verb::Probe => (joined(base, &["key"]), None),
            Verb::List => (joined(base, &["models"]), None),
        },
        Wire::Ollama => match verb {
            Verb::Turn => (joined(base, &["api", "chat"]), json),
            Verb::Probe => {
                (joined(base, &["api", "show"]), Some(json!({ "model": model }).to_string().into()))
            }
            Verb::List => (joined(base, &["api", "tags"]), None),
        },
    }
}

fn gemini(base: &Url, version: &str, verb: Verb, model: &str) -> Url {
    match verb {
        Verb::Turn => {
            let call = format!("{model}:streamGenerateContent");
            with_query(joined(base, &[version, "models", &call]), "alt=sse")
        }
        Verb::Probe => joined(base, &[version, "models", model]),
        Verb::List => with_query(joined(base, &[version, "models"]), "pageSize=1000"),
    }
}

fn with_query(mut url: Url, query: &str) -> Url {
    url.set_query(Some(query));
    url
}
