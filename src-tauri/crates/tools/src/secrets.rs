//! The user's secrets in calls: the model writes `{{name}}`; the value is put into a password field of what it was kept
//! for, and taken out of everything that comes back (`redaction.rs`).
//!
//! A text that only looks like a placeholder, as in a template, is written as it stands.

use std::sync::Arc;

use browser::WebTarget;
use desktop::ListedElement;
use futures::future::BoxFuture;
use protocol::address;
use protocol::command::Secret as Value;
use protocol::tool::{ToolError, ToolErrorKind};

use crate::applications::{self, Class};
use crate::contract;
use crate::reach::Reach;
use crate::target;
use crate::tool::{Context, tool_error};

/// The role of fields that hide what is in them.
pub(crate) const PASSWORD: &str = "password text";

/// Where the user's secrets are.
pub trait SecretSource: Send + Sync {
    /// All of them. Asked before every call, so it has to be quick.
    fn all(&self) -> BoxFuture<'_, Arc<[Secret]>>;
}

/// A secret with the only place that it goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    pub name: String,
    pub place: SecretScope,
    pub value: Value,
}

impl Secret {
    pub(crate) fn placeholder(&self) -> String {
        format!("{{{{{}}}}}", self.name)
    }
}

/// Where a secret may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretScope {
    /// Pages of an origin: scheme, host and port.
    Origin(String),
    /// An application, by the whole name that `listApps` tells.
    App(String),
}

impl SecretScope {
    /// From a web address or an application's name.
    ///
    /// # Errors
    /// What is wrong with it, for people.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Some((scheme, rest)) = text.split_once("://") {
            let text = format!("{}://{rest}", scheme.to_lowercase());
            return match address::check(&text) {
                Ok(()) => Ok(Self::Origin(origin(&text))),
                Err(unfit) => Err(format!("{text} {unfit}")),
            };
        }
        if text.is_empty() || text.chars().any(char::is_control) {
            return Err("it is for an application or a web address, and none is named".into());
        }
        if applications::class_of([text]) == Some(Class::Browser) {
            return Err(format!(
                "{text} is a browser, in which any site may ask for it: name the site's address"
            ));
        }
        Ok(Self::App(text.to_owned()))
    }

    fn takes(&self, landing: &Landing) -> bool {
        match (self, landing) {
            (Self::Origin(mine), Landing::Page(url)) => *mine == origin(url),
            // A window may call itself anything.
            (Self::App(mine), Landing::App { program: Some(program), .. })
                if !contract::is_interpreter(program) =>
            {
                contract::is_same(mine, program)
            }
            (Self::App(mine), Landing::App { name, .. }) => mine.to_lowercase() == name.to_lowercase(),
            _ => false,
        }
    }
}

impl std::fmt::Display for SecretScope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Origin(place) | Self::App(place) => f.write_str(place),
        }
    }
}

fn origin(url: &str) -> String {
    let origin = address::shown(url).to_lowercase();
    let default = if origin.starts_with("https:") { ":443" } else { ":80" };
    origin.strip_suffix(default).map(str::to_owned).unwrap_or(origin)
}

/// Where a text would be written now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Landing {
    /// A password field of an application, with what its process runs where that is known.
    App { name: String, program: Option<String> },
    /// A password field of a page, by the page's address; its form leads to the same origin.
    Page(String),
    /// Something that shows what is written, or may be anything by the time it is.
    Open,
}

impl Landing {
    /// Of a page's element.
    pub(crate) fn in_page(WebTarget { url, leads_to, hides, .. }: WebTarget) -> Self {
        let stays = leads_to.is_none_or(|place| origin(&place) == origin(&url));
        if hides && stays { Self::Page(url) } else { Self::Open }
    }

    /// Of an application's element.
    pub(crate) fn in_app(ListedElement { app, role, .. }: ListedElement, program: Option<String>) -> Self {
        if role == PASSWORD { Self::App { name: app, program } } else { Self::Open }
    }
}

impl std::fmt::Display for Landing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::App { name, program: Some(program) } if !contract::is_same(name, program) => {
                write!(f, "{name}, whose program is {program}")
            }
            Self::App { name, .. } => f.write_str(name),
            Self::Page(url) => f.write_str(&origin(url)),
            Self::Open => f.write_str("no password field"),
        }
    }
}

/// None at all.
pub(crate) struct NoSecrets;

impl SecretSource for NoSecrets {
    fn all(&self) -> BoxFuture<'_, Arc<[Secret]>> {
        Box::pin(async { Arc::default() })
    }
}

impl Context {
    /// The text with values in the places of secrets' names.
    ///
    /// # Errors
    /// `Forbidden` where a secret is not for what the text would be written to now.
    pub(crate) async fn fill(&self, text: &str, reach: &Reach) -> Result<String, ToolError> {
        if !self.secrets.iter().any(|secret| text.contains(&secret.placeholder())) {
            return Ok(text.to_owned());
        }
        let landing = target::landing(&*self.desktop, &*self.browser, reach).await;
        fill(text, &self.secrets, &landing)
    }
}

/// Whether a text for a password field is more than a secret's name.
pub(crate) fn tells(text: &str) -> bool {
    let name = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    !text.is_empty() && name.is_none_or(|name| name.contains(['{', '}']))
}

fn fill(text: &str, secrets: &[Secret], landing: &Landing) -> Result<String, ToolError> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    // From left to right and once: a value that looks like a placeholder is none.
    while let Some(at) = rest.find("{{") {
        let (before, from) = rest.split_at(at);
        filled.push_str(before);
        match secrets.iter().find(|secret| from.starts_with(&secret.placeholder())) {
            Some(secret) if secret.place.takes(landing) => {
                filled.push_str(&secret.value.0);
                rest = &from[secret.placeholder().len()..];
            }
            Some(secret) => return Err(elsewhere(secret, landing)),
            None => {
                filled.push('{');
                rest = &from[1..];
            }
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

fn elsewhere(secret: &Secret, landing: &Landing) -> ToolError {
    let (name, place) = (secret.placeholder(), &secret.place);
    let message = match (place, landing) {
        (SecretScope::Origin(_), Landing::App { .. }) => {
            format!("{name} is for {place}: write it with webType, which knows the page")
        }
        (_, Landing::Open) => format!(
            "{name} goes into password fields only: of an application by setValue with the field's ref, of a page (and of no frame in it) by webType"
        ),
        _ => format!("{name} is for {place} only, and this is {landing}"),
    };
    tool_error(ToolErrorKind::Forbidden, message)
}

#[cfg(test)]
mod tests;
