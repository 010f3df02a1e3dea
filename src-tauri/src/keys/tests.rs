//! Where a key is found, and to which address it goes.

use super::fake::{FakeStore, Fault};
use super::*;

const HERE: &str = "https://generativelanguage.googleapis.com/v1beta";

fn keys(store: FakeStore, variables: &'static [(&str, &str)]) -> Keys {
    Keys::new(
        Arc::new(store),
        Arc::new(move |name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        }),
    )
}

#[test]
fn a_key_that_was_set_is_there_until_deleted() {
    let keys = keys(FakeStore::default(), &[]);
    assert_eq!(keys.get("gemini", HERE).unwrap(), None);
    assert_eq!(keys.set("gemini", &Secret("  abc \n".into())).unwrap().state, KeyState::InKeychain);
    assert_eq!(keys.get("gemini", HERE).unwrap(), Some(Secret("abc".into())));
    assert_eq!(keys.delete("gemini").unwrap().state, KeyState::Missing);
    assert_eq!(keys.delete("gemini").unwrap().state, KeyState::Missing);
}

#[test]
fn a_key_goes_to_its_providers_address_until_a_window_lets_it_go_elsewhere() {
    let own = "https://generativelanguage.googleapis.com";
    let evils = [
        "https://evil.test".to_owned(),
        format!("{own}:8443/v1"),
        "http://generativelanguage.googleapis.com".to_owned(),
        format!("{own}@evil.test"),
    ];
    let refuses = |keys: &Keys, provider: &str, url: &str, goes_to: &str| {
        let error = keys.get(provider, url).unwrap_err();
        assert_eq!(error.code, ErrorCode::Forbidden, "{url}");
        assert!(error.message.contains(goes_to) && !format!("{error:?}").contains("abc"), "{error:?}");
    };
    let key = || Some(Secret("abc".into()));
    let kept = keys(FakeStore::default(), &[]);
    kept.set("gemini", &Secret("abc".into())).unwrap();
    // Whoever set the address before the key was first used.
    evils.iter().for_each(|evil| refuses(&kept, "gemini", evil, own));
    assert_eq!(kept.view("gemini").address, None);
    assert_eq!(kept.get("gemini", HERE).unwrap(), key());
    assert_eq!(kept.view("gemini").address.as_deref(), Some(own));
    evils.iter().for_each(|evil| refuses(&kept, "gemini", evil, own));
    refuses(&kept, "gemini", "http://127.0.0.1:1", own);
    assert_eq!(kept.get("gemini", &format!("{own}/v2")).unwrap(), key());
    let moved = kept.move_to("gemini", "https://there.test/v1").unwrap();
    assert_eq!(moved.address.as_deref(), Some("https://there.test"));
    assert_eq!(kept.get("gemini", "https://there.test").unwrap(), key());
    refuses(&kept, "gemini", HERE, "https://there.test");
    assert_eq!(kept.move_to("openai", HERE).unwrap().state, KeyState::Missing);
    // Whoever has the key says where it goes.
    let set = kept.set_for("custom", &Secret("abc".into()), "https://mine.test/v1").unwrap();
    assert_eq!(set.address.as_deref(), Some("https://mine.test"));
    assert_eq!(kept.get("custom", "https://mine.test/v2").unwrap(), key());
    refuses(&kept, "custom", "https://evil.test", "https://mine.test");
    assert!(kept.set_for("custom", &Secret("abc".into()), "http://mine.test").is_err());

    // One of the environment, too; and a server of the user's own is no provider's.
    let given = keys(FakeStore::default(), &[("MIKI_KEY_GEMINI", "abc"), ("MIKI_KEY_CUSTOM", "abc")]);
    evils.iter().for_each(|evil| refuses(&given, "gemini", evil, own));
    refuses(&given, "custom", "https://evil.test", "this machine");
    assert_eq!(given.get("gemini", HERE).unwrap(), key());
    assert_eq!(given.get("custom", "http://127.0.0.1:8080/v1").unwrap(), key());
}

/// A keychain in which something happens once, right after an entry was read or written.
struct Meanwhile {
    kept: FakeStore,
    after: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Meanwhile {
    fn happens(&self) {
        let after = self.after.lock().unwrap().take();
        after.into_iter().for_each(|after| after());
    }
}

impl KeyStore for Meanwhile {
    fn get(&self, provider: &str) -> Result<Option<Secret>, KeyError> {
        let entry = self.kept.get(provider);
        self.happens();
        entry
    }

    fn set(&self, provider: &str, key: &Secret) -> Result<(), KeyError> {
        self.kept.set(provider, key)?;
        self.happens();
        Ok(())
    }

    fn delete(&self, provider: &str) -> Result<(), KeyError> {
        self.kept.delete(provider)
    }

    fn probe(&self) -> Result<(), KeyError> {
        self.kept.probe()
    }
}

/// Keys of a keychain, and what to do with them once it is next used, on another thread. That the other one waits for
/// us is fine, so it has 0.2 s.
fn raced(other: impl FnOnce(&Keys) + Send + 'static) -> (Keys, impl FnOnce()) {
    let store = Arc::new(Meanwhile { kept: FakeStore::default(), after: Mutex::default() });
    let keys = Keys::new(store.clone(), Arc::new(|_| None));
    let theirs = keys.clone();
    let arm = move || {
        *store.after.lock().unwrap() = Some(Box::new(move || {
            let (done, is_done) = std::sync::mpsc::channel();
            std::thread::spawn(move || {
                other(&theirs);
                let _ = done.send(());
            });
            let _ = is_done.recv_timeout(std::time::Duration::from_millis(200));
        }));
    };
    (keys, arm)
}

#[test]
fn a_key_that_is_used_while_it_is_saved_is_kept() {
    let (keys, arm) = raced(|keys| assert!(keys.get("gemini", HERE).unwrap().is_some()));
    arm();
    assert_eq!(keys.set("gemini", &Secret("abc".into())).unwrap().state, KeyState::InKeychain);
    // By another Miki, which waits for nobody here.
    let store = Arc::new(Meanwhile { kept: FakeStore::default(), after: Mutex::default() });
    let other = Keys::new(store.clone(), Arc::new(|_| None));
    *store.after.lock().unwrap() = Some(Box::new(move || {
        other.get("gemini", HERE).unwrap();
    }));
    let keys = Keys::new(store, Arc::new(|_| None));
    assert_eq!(keys.set("gemini", &Secret("abc".into())).unwrap().state, KeyState::InKeychain);
}

#[test]
fn the_first_use_of_a_key_brings_back_none_that_was_replaced_meanwhile() {
    let (keys, arm) = raced(|keys| drop(keys.set("gemini", &Secret("new".into())).unwrap()));
    keys.set("gemini", &Secret("old".into())).unwrap();
    arm();
    keys.get("gemini", HERE).unwrap();
    assert_eq!(keys.get("gemini", HERE).unwrap(), Some(Secret("new".into())));
    let (keys, arm) = raced(|keys| drop(keys.delete("gemini").unwrap()));
    keys.set("gemini", &Secret("old".into())).unwrap();
    arm();
    keys.get("gemini", HERE).unwrap();
    assert_eq!(keys.get("gemini", HERE).unwrap(), None);
}

#[test]
fn the_approver_key_is_known_by_its_hash_and_void_once_there_is_another() {
    let keys = keys(FakeStore::default(), &[("MIKI_KEY_APPROVER", "mine")]);
    for wrong in ["", "mine"] {
        assert!(!keys.is_approver(&Secret(wrong.into())).unwrap(), "{wrong:?}");
    }
    assert!(!keys.has_approver().unwrap());
    let first = keys.new_approver().unwrap();
    assert!(keys.has_approver().unwrap());
    assert!(first.0.len() == 64 && keys.is_approver(&Secret(format!("{}\n", first.0))).unwrap());
    let kept = keys.store().get(APPROVER).unwrap().unwrap();
    assert!(kept != first && !keys.is_approver(&kept).unwrap(), "the hash is no key");
    let second = keys.new_approver().unwrap();
    assert!(!keys.is_approver(&first).unwrap() && keys.is_approver(&second).unwrap());
    keys.delete_approver().unwrap();
    assert!(!keys.has_approver().unwrap());
    assert!(!keys.is_approver(&second).unwrap());
}

#[test]
fn the_environment_goes_before_the_keychain() {
    let keys = keys(FakeStore::default(), &[("MIKI_KEY_GEMINI", "from-env")]);
    keys.set("gemini", &Secret("kept".into())).unwrap();
    assert_eq!(keys.get("gemini", HERE).unwrap(), Some(Secret("from-env".into())));
    assert_eq!(keys.status()[0].state, KeyState::InEnvironment);
}

#[test]
fn the_environment_serves_even_with_the_keychain_locked() {
    let keys = keys(FakeStore::failing(Fault::Locked), &[("MIKI_KEY_GEMINI", "from-env")]);
    assert_eq!(keys.get("gemini", HERE).unwrap(), Some(Secret("from-env".into())));
    assert_eq!(keys.check().state, CheckState::Limited);
}

#[test]
fn a_locked_keychain_is_said_with_how_to_unlock_it() {
    let keys = keys(FakeStore::failing(Fault::Locked), &[]);
    let error = keys.set("gemini", &Secret("abc".into())).unwrap_err();
    assert_eq!(error.code, ErrorCode::Keychain);
    let hint = error.hint.unwrap();
    assert!(hint.contains("unlock") && hint.contains("try again"), "{hint}");
    assert_eq!(keys.status()[0].state, KeyState::KeychainFails);
    assert_eq!(keys.check().state, CheckState::Missing);
}

#[test]
fn without_a_keychain_the_variable_of_that_provider_is_named() {
    for fault in [Fault::Absent, Fault::Forgets] {
        let error = keys(FakeStore::failing(fault), &[]).set("gemini", &Secret("abc".into())).unwrap_err();
        let hint = error.hint.unwrap();
        assert!(hint.contains("MIKI_KEY_GEMINI") && hint.contains("try again"), "{hint}");
    }
}

#[test]
fn a_keychain_that_forgets_at_once_is_found_out() {
    let error =
        keys(FakeStore::failing(Fault::Forgets), &[]).set("gemini", &Secret("abc".into())).unwrap_err();
    assert_eq!(error.code, ErrorCode::Keychain);
}

#[test]
fn no_error_and_no_view_holds_the_key() {
    // bar: C75
    for fault in [Fault::None, Fault::Locked, Fault::Absent, Fault::Forgets] {
        let keys = keys(FakeStore::failing(fault), &[]);
        let said = format!(
            "{:?} {:?} {:?}",
            keys.set("gemini", &Secret("canary7".into())),
            keys.status(),
            keys.check()
        );
        assert!(!said.contains("canary7"), "{said}");
    }
    let said = format!("{:?}", keys(FakeStore::default(), &[]).set("gemini", &Secret("canary 7".into())));
    assert!(!said.contains("canary"), "{said}");
}

#[test]
fn an_unknown_provider_is_named_with_those_there_are() {
    let error = keys(FakeStore::default(), &[]).get("gemnii", HERE).unwrap_err();
    assert!(error.message.contains("gemnii") && error.hint.unwrap().contains("gemini"));
}
