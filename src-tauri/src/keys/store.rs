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
    #[error("the keychain is locked, or its password was not given")]
    Locked,
    #[error("this session has no keychain")]
    Absent,
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
        let remedy = match self {
            Self::Locked | Self::Silent { .. } => {
                "unlock it (log in to the desktop again, or open the system's passwords program)"
            }
            Self::Absent => "start one (on Linux gnome-keyring or KWallet, in a session with D-Bus)",
            Self::Failed(_) | Self::NotKept { .. } => {
                "look at the entries named miki in the system's passwords program"
            }
        };
        // A window and a command line both say this.
        let hint = format!("{remedy} and try again, or set {} in the environment", super::variable(provider));
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
                Fault::Locked => Err(KeyError::Locked),
                Fault::Absent => Err(KeyError::Absent),
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
