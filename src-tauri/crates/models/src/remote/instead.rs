//! What to take in place of a model that its provider does not know: asked of the provider's own list, or, where no list
//! comes, told from the dated table.

use std::time::Duration;

use futures::{StreamExt, stream};
use protocol::ids::ModelId;
use tokio::time::{Instant, timeout_at};

use super::{DESCRIBED_AT_ONCE, FALLBACK_VERSION, ListedModel, Remote, Verb};
use crate::catalogue::catalogue;
use crate::http::{Answer, Json};
use crate::near::near;
use crate::{ModelError, ModelErrorKind, Provider, Wire};

/// How long the list may take, with all that is asked about it: the failure waits for it.
const LISTING: Duration = Duration::from_secs(3);
/// Models of a list that are looked at; OpenRouter has some hundreds.
const LISTED: usize = 5_000;
/// No vendor's names are as long.
const LONGEST_NAME: usize = 200;

impl Remote {
    /// Sends; where the provider does not know the model, the error says what to take in its place. A wrong address is
    /// answered in the same way as a wrong name, and has no list either.
    pub(super) async fn ask(&self, verb: Verb, json: Option<Json>) -> Result<Answer, ModelError> {
        match self.send(verb, json).await {
            Err(error) if self.may_be_the_name(&error) => {
                let listed = self.listed_soon().await;
                if error.kind != ModelErrorKind::NotFound
                    && listed.as_deref().is_none_or(|listed| has(listed, self.model.name()))
                {
                    return Err(error);
                }
                let instead = instead(&self.provider, self.model.name(), listed.as_deref());
                let hint = hint(&self.provider, listed.is_some(), &instead);
                Err(ModelError { kind: ModelErrorKind::NotFound, instead, ..error }.with_hint(hint))
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

    /// The provider's own list, where it comes in time. Its failure is nobody's error.
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
fn instead(provider: &Provider, wished: &str, listed: Option<&[ListedModel]>) -> Vec<ModelId> {
    let names: Vec<&str> = match listed {
        Some(listed) => {
            let able = listed.iter().filter(|model| model.abilities.tools != Some(false));
            able.map(|model| model.id.as_str()).collect()
        }
        None => catalogue().of(&provider.id).iter().map(|model| model.id.as_str()).collect(),
    };
    let mut offered = near(wished, names.iter().copied());
    let fallback = match &provider.fallback {
        Some(name) => Some(name.as_str()).filter(|name| listed.is_none() || names.contains(name)),
        None => names.iter().copied().find(|name| *name != wished),
    };
    offered.extend(fallback.filter(|name| *name != wished && !offered.contains(name)));
    offered.into_iter().map(|name| ModelId(format!("{}/{name}", provider.id))).collect()
}

fn hint(provider: &Provider, is_listed: bool, instead: &[ModelId]) -> String {
    let Provider { id, .. } = provider;
    let names: Vec<&str> = instead.iter().map(|model| model.0.as_str()).collect();
    let names = names.join(", ");
    match (is_listed, instead.is_empty()) {
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
