//! What a keychain must do, and how it fails.

use protocol::command::Secret;
use protocol::{ErrorCode, ErrorView};

/// One keychain. Blocking.
pub trait KeyStore: Send + Sync {
    fn get(&self, provider: &str) -> Result<Option<Secret>, KeyError>;
    fn set(&self, provider: &str, key: &Secret) -> Result<(), KeyError>;
    /// That there was none is no error.
    fn delete(&self, provider: &str) -> Result<(), KeyError>;
    /// Writes, reads back and deletes an entry of its own: a keychain that opens may still keep nothing.
    fn probe(&self) -> Result<(), KeyError>;
}

/// Why the keychain did not do it. No variant can hold a key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("the keychain is locked or refuses: {0}")]
    Locked(String),
    #[error("there is no keychain: {0}")]
    Absent(String),
    #[error("the keychain failed: {0}")]
    Failed(String),
    #[error("the keychain gave no answer within {seconds} s")]
    Silent { seconds: u64 },
    #[error("the keychain did not keep the key for {provider}: what was read back differs")]
    NotKept { provider: String },
}

impl KeyError {
    /// For people, with what to do about `provider`'s key.
    pub fn view(&self, provider: &str) -> ErrorView {
        let (set, variable) = (format!("miki key set {provider}"), super::variable(provider));
        let hint = match self {
            Self::Locked(_) | Self::Silent { .. } => format!(
                "unlock the keychain (log in to the desktop, or open its passwords program), then: {set}; or set {variable} in the environment"
            ),
            Self::Absent(_) => format!(
                "start a keychain (on Linux gnome-keyring or KWallet in a session with D-Bus), then: {set}; or set {variable} in the environment"
            ),
            Self::Failed(_) | Self::NotKept { .. } => format!(
                "look at the entries named miki in the system's passwords program, then: {set}; or set {variable} in the environment"
            ),
        };
        ErrorView::new(ErrorCode::Keychain, self.to_string()).with_hint(hint)
    }
}

/// A keychain in memory, which fails as it is told.
#[cfg(test)]
pub mod fake {
    use std::collections::HashMap;
    use std::sync::Mutex;

    use super::{KeyError, KeyStore, Secret};

    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Fault {
        #[default]
        None,
        Locked,
        Absent,
        /// Says yes and keeps nothing.
        Forgets,
        /// Says yes and keeps something else.
        Garbles,
    }

    #[derive(Default)]
    pub struct FakeStore {
        pub kept: Mutex<HashMap<String, Secret>>,
        fault: Fault,
    }

    impl FakeStore {
        pub fn failing(fault: Fault) -> Self {
            Self { fault, ..Self::default() }
        }

        fn fail(&self) -> Result<(), KeyError> {
            match self.fault {
                Fault::None | Fault::Forgets | Fault::Garbles => Ok(()),
                Fault::Locked => Err(KeyError::Locked("prompt dismissed".into())),
                Fault::Absent => Err(KeyError::Absent("no session bus".into())),
            }
        }
    }

    impl KeyStore for FakeStore {
        fn get(&self, provider: &str) -> Result<Option<Secret>, KeyError> {
            self.fail()?;
            Ok(self.kept.lock().unwrap().get(provider).cloned())
        }

        fn set(&self, provider: &str, key: &Secret) -> Result<(), KeyError> {
            self.fail()?;
            let key = match self.fault {
                Fault::Forgets => return Ok(()),
                Fault::Garbles => Secret(key.0.to_uppercase()),
                _ => key.clone(),
            };
            self.kept.lock().unwrap().insert(provider.to_owned(), key);
            Ok(())
        }

        fn delete(&self, provider: &str) -> Result<(), KeyError> {
            self.fail()?;
            self.kept.lock().unwrap().remove(provider);
            Ok(())
        }

        fn probe(&self) -> Result<(), KeyError> {
            self.fail()?;
            if self.fault == Fault::None {
                Ok(())
            } else {
                Err(KeyError::NotKept { provider: "probe".into() })
            }
        }
    }
}
