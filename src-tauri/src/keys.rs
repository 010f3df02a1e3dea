//! Keys of the models' providers: where they are, setting and deleting them, and never showing them.
//!
//! The environment (`MIKI_KEY_<PROVIDER>`) goes before the keychain. There is no third place: where the keychain
//! fails, that is said, and no key is written anywhere else.
//!
//! A key belongs to one address, and goes to no other. In the keychain the address stands beside it, in the same entry,
//! on a second line. Until it does, and for one of the environment, that is the provider's own, or one of this machine:
//! whatever else the settings say may have been said by somebody else.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use models::Provider;
use protocol::command::Secret;
use protocol::settings::Settings;
use protocol::view::{Check, CheckState, CheckView, KeyState, KeyView};
use protocol::{ErrorCode, ErrorView, address};
use sha2::{Digest as _, Sha256};

use crate::model_source::{CUSTOM, FIRST};

mod dotenv;
mod keychain;
pub mod long;
mod secrets;
mod store;

pub use dotenv::{Migrated, migrate};
pub use keychain::Keychain;
pub use secrets::Secrets;
pub use store::{KeyError, KeyStore};

#[cfg(test)]
pub use store::fake;

/// Providers whose keys may be kept: all but those of this machine, which need none, and the server of the user's own.
pub fn takers() -> impl Iterator<Item = &'static str> {
    let vendors = Provider::known().iter().filter(|provider| provider.needs_key());
    vendors.map(|provider| provider.id.as_str()).chain([CUSTOM]).chain(SERVICES.map(|(name, _)| name))
}

/// What is no model: search engines, with the only address that their key goes to, and the user's own calendar, which is
/// where the settings say.
const SERVICES: [(&str, Option<&str>); 3] = [
    (GOOGLE_SEARCH, Some("https://customsearch.googleapis.com")),
    (BRAVE_SEARCH, Some("https://api.search.brave.com")),
    (CALENDAR, None),
];
pub const GOOGLE_SEARCH: &str = "google-search";
pub const BRAVE_SEARCH: &str = "brave-search";
pub const CALENDAR: &str = "caldav";

/// Where a service is by the settings; `None` for what is no service, or has an address of its own.
pub fn service_address(name: &str, settings: &Settings) -> Option<String> {
    Some(settings.calendar_url.clone()).filter(|url| name == CALENDAR && !url.is_empty())
}

/// Reads an environment variable; passed in, so that tests need not change the process's own.
pub type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The process's environment.
pub fn environment() -> Environment {
    Arc::new(|name| std::env::var(name).ok())
}

/// All keys, wherever they are. Blocking: the keychain may ask the user.
#[derive(Clone)]
pub struct Keys {
    store: Arc<dyn KeyStore>,
    environment: Environment,
    /// Held by whoever writes: else a key's first use, which adds its address, could bring back the key before it.
    writing: Arc<Mutex<()>>,
}

impl Keys {
    pub fn new(store: Arc<dyn KeyStore>, environment: Environment) -> Self {
        Self { store, environment, writing: Arc::default() }
    }

    fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The provider's key for this base URL; `None` if there is none.
    ///
    /// # Errors
    /// [`ErrorCode::Keychain`] with what to do, where the keychain cannot tell; [`ErrorCode::Forbidden`] where the key
    /// belongs to another address.
    pub fn get(&self, provider: &str, url: &str) -> Result<Option<Secret>, ErrorView> {
        check_known(provider)?;
        let now = address::shown(url);
        let refused = |address: &str, hint: String| {
            let message = format!("the key for {provider} goes to {address} only, and not to {now}");
            Err(ErrorView::new(ErrorCode::Forbidden, message).with_hint(hint))
        };
        let own = own_address(provider);
        let is_own = own.as_ref().is_some_and(|own| *own == now) || address::stays_here(url);
        let own = own.unwrap_or_else(|| "this machine".into());
        if let Some(key) = self.environments(provider) {
            if is_own {
                return Ok(Some(key));
            }
            let hint = format!("keep it in the keychain: miki key set {provider} --for {now}");
            return refused(&own, hint);
        }
        let Some(entry) = self.store.get(provider).map_err(|error| error.view(provider))? else {
            return Ok(None);
        };
        let (key, address) = parts(&entry);
        match address {
            Some(address) if address == now => {}
            None if is_own => {
                let _writing = self.writing();
                // Saved anew or deleted since it was read: then it is not this one that is kept.
                if self.store.get(provider).map_err(|error| error.view(provider))? == Some(entry) {
                    self.bind(provider, &key, &now)?;
                }
            }
            bound => {
                let hint = format!(
                    "let it go there in the settings, under Keys, or set it again: miki key set {provider} --for {now}"
                );
                return refused(&bound.unwrap_or(own), hint);
            }
        }
        Ok(Some(key))
    }

    /// The key of a search engine, for its own address.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub fn of_service(&self, name: &str) -> Result<Option<Secret>, ErrorView> {
        self.get(name, &own_address(name).unwrap_or_default())
    }

    /// Lets the key in the keychain go to this address, and to no other.
    ///
    /// # Errors
    /// [`ErrorCode::Keychain`].
    pub fn move_to(&self, provider: &str, url: &str) -> Result<KeyView, ErrorView> {
        check_known(provider)?;
        let writing = self.writing();
        if let Some(entry) = self.store.get(provider).map_err(|error| error.view(provider))? {
            self.bind(provider, &parts(&entry).0, &address::shown(url))?;
        }
        drop(writing);
        Ok(self.view(provider))
    }

    fn bind(&self, provider: &str, key: &Secret, address: &str) -> Result<(), ErrorView> {
        let entry = Secret(format!("{}\n{address}", key.0));
        store_and_compare(self.store.as_ref(), provider, &entry).map_err(|error| error.view(provider))
    }

    /// Puts a key into the keychain, for this address alone: whoever has the key may say where it goes.
    ///
    /// # Errors
    /// As [`Self::set`]; also where no key may go there.
    pub fn set_for(&self, provider: &str, key: &Secret, url: &str) -> Result<KeyView, ErrorView> {
        address::check(url).map_err(|unfit| {
            ErrorView::new(ErrorCode::BadRequest, format!("{} {unfit}", address::shown(url)))
                .with_hint(unfit.hint())
        })?;
        self.set(provider, key)?;
        self.move_to(provider, url)
    }

    /// Puts a key into the keychain and reads it back.
    ///
    /// # Errors
    /// [`ErrorCode::BadRequest`] where the key cannot be one, [`ErrorCode::Keychain`] where it was not kept.
    pub fn set(&self, provider: &str, key: &Secret) -> Result<KeyView, ErrorView> {
        check_known(provider)?;
        let key = Secret(key.0.trim().to_owned());
        if !could_be_a_key(&key.0) {
            return Err(ErrorView::new(
                ErrorCode::BadRequest,
                format!("key for {provider} is empty or has spaces in it"),
            )
            .with_hint("paste the key alone, as the provider shows it"));
        }
        let writing = self.writing();
        store_and_compare(self.store.as_ref(), provider, &key).map_err(|error| error.view(provider))?;
        drop(writing);
        Ok(self.view(provider))
    }

    /// Removes a key from the keychain; that there is none is no error.
    ///
    /// # Errors
    /// [`ErrorCode::Keychain`] where it could not be removed.
    pub fn delete(&self, provider: &str) -> Result<KeyView, ErrorView> {
        check_known(provider)?;
        let writing = self.writing();
        self.store.delete(provider).map_err(|error| error.view(provider))?;
        drop(writing);
        Ok(self.view(provider))
    }

    /// The default model's provider, and those others that have a key.
    pub fn status(&self) -> Vec<KeyView> {
        takers()
            .map(|provider| self.view(provider))
            .filter(|view| {
                view.provider == FIRST || matches!(view.state, KeyState::InKeychain | KeyState::InEnvironment)
            })
            .collect()
    }

    /// Whether an approver key was made.
    ///
    /// # Errors
    /// [`ErrorCode::Keychain`] where the keychain cannot tell.
    pub fn has_approver(&self) -> Result<bool, ErrorView> {
        Ok(self.store.get(APPROVER).map_err(|error| no_approver(&error))?.is_some())
    }

    /// Makes the approver key. Only its hash is kept, in the keychain.
    ///
    /// # Errors
    /// [`ErrorCode::Keychain`] where it was not kept.
    pub fn new_approver(&self) -> Result<Secret, ErrorView> {
        let half = || uuid::Uuid::now_v7().simple().to_string();
        let key = Secret(half() + &half());
        store_and_compare(self.store.as_ref(), APPROVER, &hash(&key)).map_err(|error| no_approver(&error))?;
        Ok(key)
    }

    /// # Errors
    /// [`ErrorCode::Keychain`] where it could not be removed.
    pub fn delete_approver(&self) -> Result<(), ErrorView> {
        self.store.delete(APPROVER).map_err(|error| no_approver(&error))
    }

    /// Whether this is the approver key.
    ///
    /// # Errors
    /// [`ErrorCode::Keychain`] where the keychain cannot tell.
    pub fn is_approver(&self, key: &Secret) -> Result<bool, ErrorView> {
        let kept = self.store.get(APPROVER).map_err(|error| no_approver(&error))?;
        Ok(kept == Some(hash(&Secret(key.0.trim().to_owned()))))
    }

    /// Where the provider's key is, and what to do where it is not.
    pub fn view(&self, provider: &str) -> KeyView {
        let mut address = None;
        let (state, hint) = if self.environments(provider).is_some() {
            (KeyState::InEnvironment, None)
        } else {
            match self.store.get(provider) {
                Ok(Some(entry)) => {
                    address = parts(&entry).1;
                    (KeyState::InKeychain, None)
                }
                Ok(None) => (KeyState::Missing, Some(format!("miki key set {provider}"))),
                Err(error) => {
                    let ErrorView { message, hint, .. } = error.view(provider);
                    let hint = hint.map_or(message.clone(), |hint| format!("{message}; {hint}"));
                    (KeyState::KeychainFails, Some(hint))
                }
            }
        };
        KeyView { provider: provider.to_owned(), state, address, hint }
    }

    /// Whether the keychain really keeps: written, read back, deleted.
    pub fn check(&self) -> CheckView {
        match self.store.probe() {
            Ok(()) => CheckView {
                check: Check::Keychain,
                state: CheckState::Well,
                detail: "a key was written, read back and deleted".into(),
                remedy: None,
            },
            Err(error) => {
                let view = error.view(FIRST);
                // With a key in the environment the program works without a keychain.
                let state = if takers().any(|provider| self.environments(provider).is_some()) {
                    CheckState::Limited
                } else {
                    CheckState::Missing
                };
                CheckView { check: Check::Keychain, state, detail: view.message, remedy: view.hint }
            }
        }
    }

    fn environments(&self, provider: &str) -> Option<Secret> {
        let name = variable(provider);
        (self.environment)(&name).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty()).map(Secret)
    }

    pub fn store(&self) -> &dyn KeyStore {
        self.store.as_ref()
    }
}

/// The environment variable that overrides a provider's key.
pub fn variable(provider: &str) -> String {
    format!("MIKI_KEY_{}", provider.to_uppercase().replace('-', "_"))
}

/// Where a provider is by the data that came with the program; `None` for the user's own server.
pub fn own_address(provider: &str) -> Option<String> {
    let service = SERVICES.iter().find(|(name, _)| *name == provider).and_then(|(_, address)| *address);
    service
        .map(address::shown)
        .or_else(|| Provider::named(provider).map(|known| address::shown(&known.base_url)))
}

/// The approver key's name in the keychain.
const APPROVER: &str = "approver";

fn hash(key: &Secret) -> Secret {
    let digest = Sha256::digest(key.0.as_bytes());
    Secret(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn no_approver(error: &KeyError) -> ErrorView {
    ErrorView::new(ErrorCode::Keychain, error.to_string())
        .with_hint("the approver key is kept in the system's keychain, and nowhere else")
}

/// The key of an entry, and the address it belongs to.
fn parts(entry: &Secret) -> (Secret, Option<String>) {
    match entry.0.split_once('\n') {
        Some((key, address)) => (Secret(key.to_owned()), Some(address.to_owned())),
        None => (entry.clone(), None),
    }
}

fn could_be_a_key(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(|c| c.is_control() || c.is_whitespace())
}

/// Stores, reads back and compares: only then is a key kept.
fn store_and_compare(store: &dyn KeyStore, provider: &str, key: &Secret) -> Result<(), KeyError> {
    store.set(provider, key)?;
    match store.get(provider)? {
        // Another Miki may have used it by now, and so have given it its address.
        Some(kept) if kept == *key || parts(&kept).0 == *key => Ok(()),
        _ => Err(KeyError::NotKept { provider: provider.to_owned() }),
    }
}

fn check_known(provider: &str) -> Result<(), ErrorView> {
    if takers().any(|taker| taker == provider) {
        return Ok(());
    }
    Err(ErrorView::new(ErrorCode::BadRequest, format!("there is no provider {provider:?}"))
        .with_hint(format!("providers are {}", takers().collect::<Vec<_>>().join(", "))))
}

#[cfg(test)]
mod tests;
