//! `miki key`: sets, shows and deletes keys in the keychain. A key is never an argument: those can be seen by all.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use protocol::command::{DeleteKey, GetOverview, Secret, SetKey};
use protocol::view::{KeyState, KeyView};
use protocol::{ErrorCode, ErrorView};

use crate::engine::blocking;
use crate::exit::Exit;
use crate::home::Home;
use crate::keys::{Keychain, Keys, Migrated, environment, migrate, own_address, takers, variable};
use crate::link::Link;

/// Set, show or delete a provider's key in the system's keychain
#[derive(Debug, Args)]
pub struct Key {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Read a key from the terminal (unseen) or from stdin, and keep it
    Set {
        #[arg(value_parser = PossibleValuesParser::new(takers()))]
        provider: String,
        /// The only address that it goes to, where that is not the provider's own
        #[arg(long = "for", value_name = "URL")]
        address: Option<String>,
    },
    /// Say where keys are, never what they are
    Status {
        #[arg(value_parser = PossibleValuesParser::new(takers()))]
        provider: Option<String>,
    },
    /// Move the keys of an old .env file into the keychain, and their lines out of the file
    ///
    /// A key is read back from the keychain before its line goes. What is unclear stays in the file, and is said.
    Migrate {
        #[arg(value_name = "FILE", default_value = ".env")]
        file: PathBuf,
    },
    /// Remove a key from the keychain
    Delete {
        #[arg(value_parser = PossibleValuesParser::new(takers()))]
        provider: String,
    },
}

/// No key is longer; what is has been piped in by mistake.
const MAX_BYTES: u64 = 64 * 1024;

impl Key {
    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        let keys = Keys::new(Arc::new(Keychain), environment());
        match self.what {
            What::Set { provider, address } => {
                let link = running(home).await?;
                let key = read(&format!("key for {provider}"))?;
                let name = provider.clone();
                let view = match (link, address) {
                    (Some(link), address) => link.call(SetKey { provider: name, key, address }).await?,
                    (None, Some(to)) => blocking(move || keys.set_for(&name, &key, &to)).await??,
                    (None, None) => blocking(move || keys.set(&name, &key)).await??,
                };
                super::tell(&line(&view));
                if view.state == KeyState::InEnvironment {
                    super::tell(&format!(
                        "kept; but {} in the environment goes before it",
                        variable(&provider)
                    ));
                }
                Ok(Exit::Done)
            }
            What::Migrate { file } => {
                if let Some(link) = running(home).await? {
                    check_rest(&link).await?;
                }
                blocking(move || migrate_from(&file, &keys)).await?
            }
            What::Delete { provider } => {
                let view = match running(home).await? {
                    Some(link) => link.call(DeleteKey { provider }).await?,
                    None => blocking(move || keys.delete(&provider)).await??,
                };
                super::tell(&line(&view));
                Ok(Exit::Done)
            }
            What::Status { provider } => {
                let look = move || match provider {
                    Some(provider) => vec![keys.view(&provider)],
                    None => keys.status(),
                };
                let views = blocking(look).await?;
                for view in &views {
                    super::tell(&line(view));
                }
                let there =
                    |view: &KeyView| matches!(view.state, KeyState::InKeychain | KeyState::InEnvironment);
                Ok(if views.iter().all(there) { Exit::Done } else { Exit::Failed })
            }
        }
    }
}

/// The engine, where there is one: it holds changes of keys to the table of rights.
async fn running(home: &Home) -> Result<Option<Link>, ErrorView> {
    let link = Link::attach(home).await?;
    link.as_ref().map_or(Ok(()), Link::check_is_miki)?;
    Ok(link)
}

/// Keys of a file are none of the engine's commands.
async fn check_rest(link: &Link) -> Result<(), ErrorView> {
    let runs = link.call(GetOverview {}).await?.runs;
    let Some(first) = runs.first() else { return Ok(()) };
    let message = format!("moving keys is refused while an agent is at work: {}", first.run);
    Err(ErrorView::new(ErrorCode::Forbidden, message)
        .with_hint(format!("stop it (miki stop {}), or wait for its end (miki ps)", first.run)))
}

/// Whoever names a file is told what came of it, also where there was nothing in it.
fn migrate_from(file: &Path, keys: &Keys) -> Result<Exit, ErrorView> {
    if !std::fs::symlink_metadata(file).is_ok_and(|found| found.is_file()) {
        return Err(ErrorView::new(ErrorCode::NotFound, format!("{} is no file", file.display()))
            .with_hint("name the file with the keys: miki key migrate FILE"));
    }
    let done = migrate(file, keys.store());
    if done.is_empty() {
        super::tell(&format!("{} has no key that this version can use", file.display()));
    }
    for one in &done {
        super::tell(&match one {
            Migrated::Moved { name, provider, file } => {
                format!("{provider}: moved to the keychain ({name} of {})", file.display())
            }
            Migrated::Left { name, file, reason } => {
                format!("{name} was left in {}: {reason}", file.display())
            }
        });
    }
    let all = done.iter().all(|one| matches!(one, Migrated::Moved { .. }));
    Ok(if all { Exit::Done } else { Exit::Failed })
}

/// What is named, typed unseen at a terminal, else from stdin.
pub(super) fn read(what: &str) -> Result<Secret, ErrorView> {
    let unread = |error: std::io::Error| {
        ErrorView::new(ErrorCode::BadRequest, format!("{what} cannot be read: {error}"))
    };
    if std::io::stdin().is_terminal() {
        return rpassword::prompt_password(format!("{what} (not shown): ")).map(Secret).map_err(unread);
    }
    let mut text = String::new();
    std::io::stdin().take(MAX_BYTES).read_to_string(&mut text).map_err(unread)?;
    Ok(Secret(text))
}

fn line(view: &KeyView) -> String {
    let provider = &view.provider;
    let hint = view.hint.as_deref().unwrap_or_default();
    match view.state {
        KeyState::InKeychain => match &view.address {
            // That it was used at its provider's own address is nothing to tell.
            Some(address) if own_address(provider).as_ref() != Some(address) => {
                format!("{provider}: in the keychain, for {address} only")
            }
            _ => format!("{provider}: in the keychain"),
        },
        KeyState::InEnvironment => format!("{provider}: in the environment ({})", variable(provider)),
        KeyState::Missing => format!("{provider}: none; set it with: {hint}"),
        KeyState::KeychainFails => format!("{provider}: unknown; {hint}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_key_names_the_command_that_sets_it() {
        let view = KeyView {
            provider: "gemini".into(),
            state: KeyState::Missing,
            address: None,
            hint: Some("miki key set gemini".into()),
        };
        assert_eq!(line(&view), "gemini: none; set it with: miki key set gemini");
    }

    #[test]
    fn the_address_of_a_key_is_named_where_it_is_not_its_providers_own() {
        let view = |address: &str| KeyView {
            provider: "gemini".into(),
            state: KeyState::InKeychain,
            address: Some(address.to_owned()),
            hint: None,
        };
        assert_eq!(line(&view("https://generativelanguage.googleapis.com")), "gemini: in the keychain");
        let there = line(&view("https://there.example"));
        assert_eq!(there, "gemini: in the keychain, for https://there.example only");
    }

    #[test]
    fn a_key_in_the_environment_is_named_by_its_variable() {
        let view =
            KeyView { provider: "gemini".into(), state: KeyState::InEnvironment, address: None, hint: None };
        assert_eq!(line(&view), "gemini: in the environment (MIKI_KEY_GEMINI)");
    }
}
