//! The operating system's keychain: Keychain Services, Credential Manager, Secret Service.
//!
//! Each call has a thread of its own and a bound: the Secret Service's client blocks on a runtime inside (which
//! panics on a runtime's thread) and waits for as long as a prompt stands open.

use std::sync::mpsc;
use std::time::Duration;

use keyring::{Entry, Error};
use protocol::command::Secret;

use super::store::{KeyError, KeyStore};

/// The name all our entries stand under.
const SERVICE: &str = "miki";
/// Long enough to type a password into a prompt.
const BOUND: Duration = Duration::from_secs(60);

/// The keychain of this user's session.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keychain;

impl KeyStore for Keychain {
    fn get(&self, provider: &str) -> Result<Option<Secret>, KeyError> {
        let provider = provider.to_owned();
        bounded(move || read(&provider))
    }

    fn set(&self, provider: &str, key: &Secret) -> Result<(), KeyError> {
        let (provider, key) = (provider.to_owned(), key.clone());
        bounded(move || Entry::new(SERVICE, &provider)?.set_password(&key.0))
    }

    fn delete(&self, provider: &str) -> Result<(), KeyError> {
        let provider = provider.to_owned();
        bounded(move || remove(&provider))
    }

    fn probe(&self) -> Result<(), KeyError> {
        // A name of this process's own: two probes at once must not read each other's value.
        let name = format!("probe-{}", std::process::id());
        let value = Secret(format!("probe {name}"));
        let written = value.clone();
        let read_back = bounded(move || {
            Entry::new(SERVICE, &name)?.set_password(&written.0)?;
            let read_back = read(&name);
            remove(&name)?;
            read_back
        })?;
        if read_back == Some(value) {
            Ok(())
        } else {
            Err(KeyError::NotKept { provider: "the probe".into() })
        }
    }
}

fn read(name: &str) -> Result<Option<Secret>, Error> {
    match Entry::new(SERVICE, name)?.get_password() {
        Ok(key) => Ok(Some(Secret(key))),
        Err(Error::NoEntry) => Ok(None),
        Err(error) => Err(error),
    }
}

fn remove(name: &str) -> Result<(), Error> {
    match Entry::new(SERVICE, name)?.delete_credential() {
        Ok(()) | Err(Error::NoEntry) => Ok(()),
        Err(error) => Err(error),
    }
}

fn bounded<T: Send + 'static>(call: impl Fn() -> Result<T, Error> + Send + 'static) -> Result<T, KeyError> {
    let (answer, answered) = mpsc::sync_channel(1);
    std::thread::Builder::new()
        .name("keychain".into())
        .spawn(move || {
            // Nobody waits any more after the bound; then the answer goes nowhere.
            let _ = answer.send(call().or_else(|error| if renewed(&error) { call() } else { Err(error) }));
        })
        .map_err(|error| KeyError::Failed(format!("no thread: {error}")))?;
    match answered.recv_timeout(BOUND) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(told_apart(&error)),
        Err(mpsc::RecvTimeoutError::Timeout) => Err(KeyError::Silent { seconds: BOUND.as_secs() }),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(KeyError::Failed("its client broke down".into())),
    }
}

/// Whether the Secret Service was asked in a session that it does not know any more, since it was started again, and has
/// a new one now.
#[cfg(target_os = "linux")]
fn renewed(error: &Error) -> bool {
    let is_stale =
        matches!(error, Error::PlatformFailure(reason) if reason.to_string().contains("NoSession"));
    is_stale
        && match zbus_secret_service_keyring_store::Store::new() {
            Ok(store) => {
                keyring_core::set_default_store(store);
                true
            }
            Err(error) => {
                tracing::warn!("the keychain was started again, and cannot be opened: {error}");
                false
            }
        }
}

#[cfg(not(target_os = "linux"))]
fn renewed(_: &Error) -> bool {
    false
}

/// By variant; the texts of `BadEncoding` and `BadDataFormat` are left out, since they may hold what was kept.
fn told_apart(error: &Error) -> KeyError {
    match error {
        Error::NoStorageAccess(reason) => {
            tracing::info!("the keychain: {reason}");
            KeyError::Locked
        }
        Error::NoDefaultStore => {
            tracing::info!("the keychain: {:?}", Entry::store_status());
            KeyError::Absent
        }
        Error::BadEncoding(_) | Error::BadDataFormat(..) => {
            KeyError::Failed("the entry is not a text".into())
        }
        Error::Ambiguous(entries) => {
            KeyError::Failed(format!("{} entries have the same name", entries.len()))
        }
        // "SS" is the Secret Service.
        Error::PlatformFailure(reason) => {
            KeyError::Failed(reason.to_string().trim_start_matches("SS error: ").to_owned())
        }
        other => KeyError::Failed(other.to_string()),
    }
}
