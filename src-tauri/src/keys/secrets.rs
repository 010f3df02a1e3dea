//! The user's secrets: values in the keychain, each with the only place it goes to; their names in a file.
//!
//! Names are no secret, and a keychain cannot be asked for all that it has. Where the file has no name, the keychain is
//! not asked: most people have no secrets, and a locked keychain would hold up every run.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use protocol::command::Secret as Value;
use protocol::view::SecretView;
use protocol::{ErrorCode, ErrorView};
use tools::{Secret, SecretScope, SecretSource};

use super::store::{KeyError, KeyStore};
use crate::atomic_file;
use crate::engine::blocking;

const NAME_CHARS: usize = 40;
/// A shorter value would be found in texts where it is not meant; a longer one may not fit into a keychain.
const VALUE_CHARS: std::ops::RangeInclusive<usize> = 4..=1_000;

/// All secrets. Blocking, but for [`SecretSource`].
#[derive(Clone)]
pub struct Secrets(Arc<Inner>);

struct Inner {
    file: PathBuf,
    store: Arc<dyn KeyStore>,
    /// `None` until they are read first, and after each change. Never held for long.
    read: Mutex<Option<Arc<[Secret]>>>,
    /// Held while the keychain is at work.
    work: Mutex<()>,
}

impl Secrets {
    pub fn new(file: PathBuf, store: Arc<dyn KeyStore>) -> Self {
        Self(Arc::new(Inner { file, store, read: Mutex::new(None), work: Mutex::new(()) }))
    }

    /// Keeps a value under a name, for one application or site; an earlier one of that name is replaced.
    ///
    /// # Errors
    /// `BadRequest` with what is wrong with name, place or value; `Keychain` if it was not kept; `Storage` if the names
    /// cannot be read or written.
    pub fn set(&self, name: &str, place: &str, value: &Value) -> Result<SecretView, ErrorView> {
        let bad = |why: String| ErrorView::new(ErrorCode::BadRequest, why);
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if name.is_empty() || name.len() > NAME_CHARS || !name.chars().all(is_name) {
            return Err(bad(format!("{name:?} is no name for a secret"))
                .with_hint(format!("use at most {NAME_CHARS} of a-z, 0-9, - and _")));
        }
        let place = SecretScope::parse(place).map_err(|why| {
            bad(why).with_hint(
                "for example --for https://bank.example or --for KeePassXC (miki do listApps tells names)",
            )
        })?;
        let value = value.0.trim_end_matches(['\n', '\r']);
        if !VALUE_CHARS.contains(&value.chars().count()) || value.chars().any(char::is_control) {
            return Err(bad(format!(
                "a secret has {} to {} characters on one line",
                VALUE_CHARS.start(),
                VALUE_CHARS.end()
            )));
        }
        let _work = locked(&self.0.work);
        let mut names = self.names()?;
        super::store_and_compare(self.0.store.as_ref(), &entry(name), &Value(format!("{value}\n{place}")))
            .map_err(|error| unkept(&error))?;
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
            self.write(&names)?;
        }
        self.forget_read();
        Ok(SecretView { name: name.to_owned(), place: Some(place.to_string()) })
    }

    /// Removes a secret.
    ///
    /// # Errors
    /// `NotFound` if there is none of that name; `Keychain`, `Storage` as for [`Self::set`].
    pub fn delete(&self, name: &str) -> Result<(), ErrorView> {
        let _work = locked(&self.0.work);
        let mut names = self.names()?;
        let before = names.len();
        names.retain(|known| known != name);
        if names.len() == before {
            return Err(ErrorView::new(ErrorCode::NotFound, format!("there is no secret {name:?}"))
                .with_hint("miki secret list tells them"));
        }
        self.0.store.delete(&entry(name)).map_err(|error| unkept(&error))?;
        self.write(&names)?;
        self.forget_read();
        Ok(())
    }

    /// Names and places, in the order in which they were set; without a place if the keychain does not tell.
    ///
    /// # Errors
    /// `Storage` if the names cannot be read.
    pub fn list(&self) -> Result<Vec<SecretView>, ErrorView> {
        let all = self.read();
        let place = |name: &str| all.iter().find(|one| one.name == name).map(|one| one.place.to_string());
        Ok(self.names()?.into_iter().map(|name| SecretView { place: place(&name), name }).collect())
    }

    /// Whether it is known which secrets there are: what is not known cannot be kept out of anything.
    ///
    /// # Errors
    /// `Storage` if the names cannot be read.
    pub fn check(&self) -> Result<(), ErrorView> {
        self.names().map(drop)
    }

    fn read(&self) -> Arc<[Secret]> {
        let _work = locked(&self.0.work);
        if let Some(read) = self.known() {
            return read;
        }
        let names = self.names().unwrap_or_else(|error| {
            tracing::warn!("no secrets: {}", error.message);
            Vec::new()
        });
        let (mut all, mut is_whole) = (Vec::new(), true);
        for name in names {
            match self.one(&name) {
                Ok(one) => all.extend(one),
                Err(error) => {
                    tracing::warn!("the secret {name} cannot be had: {error}");
                    is_whole = false;
                }
            }
        }
        let all: Arc<[Secret]> = all.into();
        // A keychain that was locked may be open the next time.
        if is_whole {
            *locked(&self.0.read) = Some(Arc::clone(&all));
        }
        all
    }

    /// `None` if the keychain has none of that name, or not as it was kept.
    fn one(&self, name: &str) -> Result<Option<Secret>, KeyError> {
        let kept = self.0.store.get(&entry(name))?;
        let parts = kept.as_ref().and_then(|kept| kept.0.split_once('\n'));
        Ok(parts.and_then(|(value, place)| {
            let place = SecretScope::parse(place).ok()?;
            Some(Secret { name: name.to_owned(), place, value: Value(value.to_owned()) })
        }))
    }

    fn forget_read(&self) {
        *locked(&self.0.read) = None;
    }

    fn known(&self) -> Option<Arc<[Secret]>> {
        locked(&self.0.read).clone()
    }

    fn names(&self) -> Result<Vec<String>, ErrorView> {
        let unread = |why: String| {
            ErrorView::new(ErrorCode::Storage, format!("{} cannot be read: {why}", self.0.file.display()))
                .with_hint("correct it (a list of names in JSON), or remove it and set the secrets again")
        };
        match std::fs::read(&self.0.file) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| unread(error.to_string())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(unread(error.to_string())),
        }
    }

    fn write(&self, names: &[String]) -> Result<(), ErrorView> {
        let bytes = serde_json::to_vec_pretty(names)
            .map_err(|error| ErrorView::new(ErrorCode::Internal, error.to_string()))?;
        atomic_file::replace(&self.0.file, &bytes).map_err(|error| {
            ErrorView::new(
                ErrorCode::Storage,
                format!("{} cannot be written: {error}", self.0.file.display()),
            )
        })
    }
}

impl SecretSource for Secrets {
    fn all(&self) -> BoxFuture<'_, Arc<[Secret]>> {
        Box::pin(async {
            if let Some(read) = self.known() {
                return read;
            }
            let secrets = self.clone();
            blocking(move || secrets.read()).await.unwrap_or_default()
        })
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn entry(name: &str) -> String {
    format!("secret {name}")
}

fn unkept(error: &KeyError) -> ErrorView {
    ErrorView::new(ErrorCode::Keychain, error.to_string()).with_hint(
        "secrets are kept in the system's keychain, and nowhere else; unlock or start it, then try again",
    )
}

#[cfg(test)]
mod tests {
    use super::super::fake::{FakeStore, Fault};
    use super::*;

    fn value(text: &str) -> Value {
        Value(text.into())
    }

    #[test]
    fn a_secret_is_there_with_its_place_until_it_is_deleted_and_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn KeyStore> = Arc::new(FakeStore::default());
        let open = || Secrets::new(folder.path().join("secrets.json"), Arc::clone(&store));
        let secrets = open();
        assert_eq!(secrets.list().unwrap(), []);
        secrets.set("bank", "https://bank.example/login", &value("hunter 2\n")).unwrap();
        secrets.set("vault", "KeePassXC", &value("canary7")).unwrap();
        secrets.set("bank", "https://bank.example", &value("hunter 3")).unwrap();
        let all = open().read();
        assert_eq!(all.len(), 2);
        assert_eq!(
            (all[0].value.0.as_str(), all[0].place.to_string()),
            ("hunter 3", "https://bank.example".into())
        );
        let file = std::fs::read_to_string(folder.path().join("secrets.json")).unwrap();
        assert!(file.contains("vault") && !file.contains("canary7") && !file.contains("KeePassXC"), "{file}");
        secrets.delete("bank").unwrap();
        assert_eq!(secrets.read().len(), 1);
        assert_eq!(secrets.delete("bank").unwrap_err().code, ErrorCode::NotFound);
        assert_eq!(
            open().list().unwrap(),
            [SecretView { name: "vault".into(), place: Some("KeePassXC".into()) }]
        );
    }

    #[test]
    fn what_cannot_be_a_secret_is_refused_and_never_said_again() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = Secrets::new(folder.path().join("secrets.json"), Arc::new(FakeStore::default()));
        for (name, place, text) in [
            ("Bank", "KeePassXC", "canary7"),
            ("", "KeePassXC", "canary7"),
            ("b}}", "KeePassXC", "canary7"),
            ("bank", "http://bank.example", "canary7"),
            ("bank", "chromium", "canary7"),
            ("bank", "KeePassXC", "can"),
            ("bank", "KeePassXC", "canary7\nhttps://evil.test"),
        ] {
            let error = secrets.set(name, place, &value(text)).unwrap_err();
            assert_eq!(error.code, ErrorCode::BadRequest, "{name} {place}");
            assert!(!format!("{error:?}").contains("canary"), "{error:?}");
        }
        assert_eq!(secrets.list().unwrap(), []);
    }

    #[test]
    fn without_a_keychain_nothing_is_kept_and_a_spoilt_file_is_named_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secrets.json");
        for fault in [Fault::Locked, Fault::Absent, Fault::Forgets, Fault::Garbles] {
            let secrets = Secrets::new(file.clone(), Arc::new(FakeStore::failing(fault)));
            let error = secrets.set("bank", "KeePassXC", &value("canary7")).unwrap_err();
            assert!(
                error.code == ErrorCode::Keychain && !format!("{error:?}").contains("canary7"),
                "{error:?}"
            );
            assert!(!file.exists());
        }
        std::fs::write(&file, "[\"bank\"").unwrap();
        let secrets = Secrets::new(file.clone(), Arc::new(FakeStore::default()));
        let error = secrets.set("bank", "KeePassXC", &value("canary7")).unwrap_err();
        assert!(error.message.contains("secrets.json") && secrets.list().is_err(), "{error:?}");
        let unknown = secrets.check().unwrap_err();
        assert!(unknown.message.contains("line 1") && unknown.hint.is_some(), "{unknown:?}");
        assert!(secrets.read().is_empty());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "[\"bank\"");
    }
}
