//! Models to suggest in place of one that its provider does not know: the nearest names of the provider's own list, or
//! of the dated table if no list comes.

use std::time::Duration;

use futures::{StreamExt, stream};
use protocol::ids::ModelId;
use tokio::time::{Instant, timeout_at};

use super::{DESCRIBED_AT_ONCE, FALLBACK_VERSION, ListedModel, Remote, Verb};
use crate::catalogue::catalogue;
use crate::http::{HttpAnswer, Json};
use crate::{ModelError, ModelErrorKind, Provider, Wire};

/// How long the list may take, with all that is asked about it: the failure waits for it.
const LISTING: Duration = Duration::from_secs(3);
/// Models of a list that are looked at; OpenRouter has some hundreds.
const LISTED: usize = 5_000;
/// No vendor's names are as long.
const LONGEST_NAME: usize = 200;
/// Names that are suggested for being near.
const MOST: usize = 3;
/// How alike two names must be, of 1.
const ALIKE: f64 = 0.75;

impl Remote {
    /// Sends. If the provider does not know the model, the error has suggestions. A wrong address is answered in the
    /// same way as a wrong name, and has no list either.
    pub(super) async fn ask(&self, verb: Verb, json: Option<Json>) -> Result<HttpAnswer, ModelError> {
        match self.send(verb, json).await {
            Err(error) if self.may_be_the_name(&error) => {
                let listed = self.listed_soon().await;
                if error.kind != ModelErrorKind::NotFound
                    && listed.as_deref().is_none_or(|listed| has(listed, self.model.name()))
                {
                    return Err(error);
                }
                let suggestions = suggestions(&self.provider, self.model.name(), listed.as_deref());
                let hint = hint(&self.provider, listed.is_some(), &suggestions);
                Err(ModelError { kind: ModelErrorKind::NotFound, suggestions, ..error }.with_hint(hint))
            }
            settled => settled,
        }
    }

    /// OpenRouter says 400 to a name that it does not know, without a word that tells it from other 400s
    /// (OpenRouterTeam/openrouter-examples, issue 74): its list decides.
    fn may_be_the_name(&self, error: &ModelError) -> bool {
        let is_vague = self.provider.wire == Wire::OpenRouter && error.kind == ModelErrorKind::BadRequest;
        is_vague || error.kind == ModelErrorKind::NotFound
    }

    /// The provider's own list. `None` if it does not come in time; why is of no matter.
    async fn listed_soon(&self) -> Option<Vec<ListedModel>> {
        let until = Instant::now() + LISTING;
        let asked = async {
            // The version that knows all models, since a turn may go to it as well.
            let answer = match self.provider.api_version {
                Some(_) => self.send_to(Some(FALLBACK_VERSION), Verb::List, None).await?,
                None => self.send(Verb::List, None).await?,
            };
            self.read_list(answer).await
        };
        let mut listed = timeout_at(until, asked).await.ok()?.ok()?;
        listed.truncate(LISTED);
        listed.retain(|model| is_plain(&model.id) && self.secrets.hide(&model.id) == model.id);
        if self.provider.wire != Wire::Ollama {
            return Some(listed);
        }
        let described = listed.into_iter().map(async |model| {
            let bare = model.clone();
            timeout_at(until, self.described(model)).await.unwrap_or(bare)
        });
        Some(stream::iter(described).buffered(DESCRIBED_AT_ONCE).collect().await)
    }
}

/// Whether the name is listed, be it with a word behind it that only says how to serve it (`NAME:nitro`).
fn has(listed: &[ListedModel], name: &str) -> bool {
    let bare = name.split_once(':').map_or(name, |(bare, _)| bare);
    listed.iter().any(|model| model.id == name || model.id == bare)
}

/// A name that can be shown, and copied to a command line, as nothing but a name.
fn is_plain(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._:/@+~-".contains(c);
    !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(fits)
}

/// The nearest names, and last the provider's fallback. What is known to lack tools can do nothing here.
fn suggestions(provider: &Provider, wished: &str, listed: Option<&[ListedModel]>) -> Vec<ModelId> {
    let names: Vec<&str> = match listed {
        Some(listed) => {
            let able = listed.iter().filter(|model| model.abilities.tools != Some(false));
            able.map(|model| model.id.as_str()).collect()
        }
        None => catalogue().of(&provider.id).iter().map(|model| model.id.as_str()).collect(),
    };
    let mut suggested = nearest(wished, &names);
    let fallback = match &provider.fallback {
        Some(name) => Some(name.as_str()).filter(|name| listed.is_none() || names.contains(name)),
        None => names.iter().copied().find(|name| *name != wished),
    };
    suggested.extend(fallback.filter(|name| *name != wished && !suggested.contains(name)));
    suggested.into_iter().map(|name| ModelId(format!("{}/{name}", provider.id))).collect()
}

/// Those of `names` that are most like `wished`, the likest first; never `wished` itself.
fn nearest<'a>(wished: &str, names: &[&'a str]) -> Vec<&'a str> {
    let mut alike: Vec<(f64, &str)> = names
        .iter()
        .filter(|name| **name != wished)
        .map(|name| (likeness(name, wished), *name))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    alike.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| other.1.cmp(one.1)));
    alike.into_iter().take(MOST).map(|(_, name)| name).collect()
}

fn likeness(name: &str, wished: &str) -> f64 {
    let (name, wished) = (name.to_lowercase(), wished.to_lowercase());
    // Many servers say whose a model is before its name, and people leave that out.
    let name = match name.rsplit_once('/') {
        Some((_, bare)) if !wished.contains('/') => bare,
        _ => &name,
    };
    // What is behind a name, a date or how finished it is, is often left out. The whole name goes before its beginning.
    let length = wished.chars().count().max(1);
    let beginning: String = name.chars().take(length).collect();
    let [whole, beginning] = [name, &beginning].map(|name| strsim::jaro_winkler(name, &wished));
    whole.max(beginning - 0.001)
}

fn hint(provider: &Provider, is_listed: bool, suggestions: &[ModelId]) -> String {
    let Provider { id, .. } = provider;
    let names: Vec<&str> = suggestions.iter().map(|model| model.0.as_str()).collect();
    let names = names.join(", ");
    match (is_listed, suggestions.is_empty()) {
        (true, false) => format!("choose another model in the settings, for example {names}"),
        (true, true) => format!("{id} lists no other model that could do: choose another provider's"),
        (false, false) => format!(
            "check the model's name and the base URL: {id} gave no list of its models; on {} it had {names}",
            catalogue().date
        ),
        (false, true) => {
            format!("check the model's name and the base URL: {id} gave no list of its models")
        }
    }
}

#[cfg(test)]
mod tests;
