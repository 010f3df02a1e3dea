//! Keys and tokens of servers, and where they go.

use journal::{Journal, SystemClock};

use super::*;
use crate::home::Home;
use crate::keys::Keys;
use crate::keys::fake::FakeStore;

#[test]
fn a_key_is_for_what_its_server_ran_when_it_was_kept_and_goes_with_it() {
    let keys = ["TOKEN".to_owned()].into();
    let server = McpServer { command: "pond".into(), keys, ..McpServer::default() };
    let (store, value) = (FakeStore::default(), Secret("canary".into()));
    keep(&store, ("pond", &server), "TOKEN", &value).unwrap();
    let kept = |server: &McpServer| store.get(&entry("pond", "TOKEN", server)).unwrap();
    assert_eq!(kept(&server), Some(value));
    let agreed = McpServer { off: true, ..server.clone() };
    assert!(kept(&agreed).is_some());
    for other in [
        McpServer { command: "evil".into(), ..server.clone() },
        McpServer { unconfined: true, ..server.clone() },
        McpServer { hosts: vec!["evil.example".into()], ..server.clone() },
    ] {
        assert_eq!(kept(&other), None, "{other:?}");
    }
    let old = BTreeMap::from([("pond".to_owned(), server.clone())]);
    let folder = tempfile::tempdir().unwrap();
    forget(&store, folder.path(), &old, &BTreeMap::from([("pond".to_owned(), agreed)]));
    assert!(kept(&server).is_some());
    forget(&store, folder.path(), &old, &BTreeMap::new());
    assert!(store.kept.lock().unwrap().is_empty());
}

#[test]
fn tokens_are_for_the_address_that_their_user_signed_in_at_and_go_with_it() {
    let server = McpServer { url: "https://a.example".into(), ..McpServer::default() };
    let (store, folder) = (FakeStore::default(), tempfile::tempdir().unwrap());
    let tokens = Secret("canary".repeat(1_000));
    let kept = |server: &McpServer| signed_in(&store, folder.path(), ("pond", server)).unwrap();
    assert_eq!(kept(&server), None);
    keep_sign_in(&store, folder.path(), ("pond", &server), Some(&tokens)).unwrap();
    assert_eq!(kept(&server), Some(tokens.clone()));
    let elsewhere = McpServer { url: "https://evil.example".into(), ..server.clone() };
    assert_eq!(kept(&elsewhere), None);
    let marks =
        std::fs::read_dir(folder.path()).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap());
    assert_eq!(marks.collect::<Vec<_>>(), [b""]);
    let old = BTreeMap::from([("pond".to_owned(), server.clone())]);
    forget(&store, folder.path(), &old, &old);
    assert!(kept(&server).is_some());
    forget(&store, folder.path(), &old, &BTreeMap::from([("pond".to_owned(), elsewhere)]));
    assert!(kept(&server).is_none() && store.kept.lock().unwrap().is_empty());
}

#[test]
fn a_header_that_cannot_be_sent_is_not_kept_and_told_to_nobody() {
    let keys = ["Authorization".to_owned()].into();
    let server = McpServer { url: "https://a.example".into(), keys, ..McpServer::default() };
    let store = FakeStore::default();
    let keep = |value: &str| keep(&store, ("pond", &server), "Authorization", &Secret(value.into()));
    for bad in ["", "\n", "canary\r\nHost: evil", "canary\u{e9}", "canary\0"] {
        let error = keep(bad).unwrap_err();
        assert!(error.code == ErrorCode::BadRequest && !format!("{error:?}").contains("canary"), "{error:?}");
    }
    keep("Bearer canary\r\n").unwrap();
    let kept = store.get(&entry("pond", "Authorization", &server)).unwrap();
    assert_eq!(kept, Some(Secret("Bearer canary".into())));
}

#[tokio::test]
async fn a_sign_out_is_not_undone_by_a_renewal_that_began_before_it() {
    let (folder, store) = (tempfile::tempdir().unwrap(), Arc::<FakeStore>::default());
    let home = Home::at(folder.path()).unwrap();
    let journal = Journal::open(folder.path(), Arc::new(SystemClock)).unwrap();
    let keys = Keys::new(store.clone(), Arc::new(|_| None));
    let workplaces = Arc::new(Workplaces::new(&home, journal.blobs().clone(), keys));
    let launcher = Launcher::new(home.servers(), workplaces, store.clone());
    let server = McpServer { url: "https://a.example".into(), ..McpServer::default() };
    let [first, renewed, another] = ["first", "renewed", "another"].map(|token| Secret(token.into()));
    let keep = |tokens| launcher.keep_sign_in("pond", &server, tokens);
    let kept = || launcher.sign_in("pond", &server);
    keep(Tokens::New(&first)).await.unwrap();
    let renewal = || keep(Tokens::Renewed { from: &first, to: &renewed });
    let late = renewal();
    keep(Tokens::Gone).await.unwrap();
    late.await.unwrap();
    assert_eq!(kept().await, Ok(None));
    // Nor does it take the place of what its user has signed in to since.
    keep(Tokens::New(&another)).await.unwrap();
    renewal().await.unwrap();
    assert_eq!(kept().await, Ok(Some(another.clone())));
    keep(Tokens::New(&first)).await.unwrap();
    renewal().await.unwrap();
    assert_eq!(kept().await, Ok(Some(renewed.clone())));
    // Gone with its server: nothing of it comes back.
    let old = BTreeMap::from([("pond".to_owned(), server.clone())]);
    let late = renewal();
    launcher.forget(&old, &BTreeMap::new());
    late.await.unwrap();
    assert_eq!(kept().await, Ok(None));
    assert!(store.kept.lock().unwrap().is_empty());
}
