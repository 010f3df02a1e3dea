//! The corpus of addresses that must not be reached, as they can be written; and names, as they can be answered.

use std::io;
use std::sync::Mutex;

use async_trait::async_trait;

use super::*;

/// One spelling a line. All of them mean this machine, its network, or no server at all.
const REFUSED: &str = include_str!("tests/refused.txt");

fn strict() -> Guard {
    Guard::strict(&[])
}

/// What the guard says before a name is asked for; an address that does not parse goes nowhere either.
fn check(guard: &Guard, url: &str) -> Result<(), WebError> {
    guard.check_url(&Url::parse(url).map_err(|_| WebError::NoAddress)?)
}

#[test]
fn no_spelling_of_an_inner_address_is_let_through() {
    // bar: C76
    let spellings: Vec<_> =
        REFUSED.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert!(spellings.len() >= 120, "{}", spellings.len());
    let through: Vec<_> = spellings.into_iter().filter(|url| check(&strict(), url).is_ok()).collect();
    assert_eq!(through, Vec::<&str>::new());
}

/// Before the first address and behind the last one of each block that is refused.
#[test]
fn public_addresses_beside_the_refused_blocks_are_let_through() {
    for url in [
        "http://1.1.1.1/",
        "https://9.255.255.255/",
        "http://11.0.0.0/",
        "http://100.63.255.255/",
        "http://100.128.0.0/",
        "http://126.255.255.255/",
        "http://128.0.0.1/",
        "http://169.253.255.255/",
        "http://169.255.0.0/",
        "http://172.15.255.255/",
        "http://172.32.0.0/",
        "http://192.167.255.255/",
        "http://192.169.0.0/",
        "http://198.17.255.255/",
        "http://198.20.0.0/",
        "http://223.255.255.255/",
        "http://0x08080808/",
        "http://[2606:4700:4700::1111]/",
        "http://[::ffff:8.8.8.8]/",
        "http://[64:ff9b::808:808]/",
        "http://[2002:808:808::1]/",
        "http://[2001:200::1]/",
        "http://example.com:8080/a?b#c",
        "https://example.com:8443/",
        "https://xn--wgv71a119e.jp/",
    ] {
        assert_eq!(check(&strict(), url), Ok(()), "{url}");
    }
}

#[test]
fn a_refusal_says_what_is_wrong() {
    let refused = |host: &str, why| Err(WebError::refused(host, why));
    for (url, expected) in [
        ("http://169.254.169.254/latest/meta-data/", refused("169.254.169.254", Refusal::LinkLocal)),
        ("http://0177.1/", refused("127.0.0.1", Refusal::Loopback)),
        ("http://[::ffff:a00:1]/", refused("[::ffff:a00:1]", Refusal::Private)),
        ("http://user@example.com/", Err(WebError::UserInfo)),
        ("http://example.com:6379/", Err(WebError::Port(6379))),
        ("ftp://example.com/", Err(WebError::Scheme("ftp".into()))),
    ] {
        assert_eq!(check(&strict(), url), expected, "{url}");
    }
}

#[test]
fn our_own_ports_are_refused_wherever_they_are() {
    let guard = Guard::strict(&[8080]);
    assert_eq!(check(&guard, "http://example.com:8080/"), Err(WebError::OwnPort(8080)));
    assert_eq!(check(&guard, "http://example.com/"), Ok(()));
}

#[test]
fn the_guard_for_tests_reaches_loopback_and_nothing_else_of_the_inside() {
    let guard = Guard::reaching_loopback();
    assert_eq!(check(&guard, "http://127.0.0.1:4321/"), Ok(()));
    assert_eq!(check(&guard, "http://[::1]:4321/"), Ok(()));
    for url in
        ["http://10.0.0.1/", "http://169.254.169.254/", "http://0.0.0.0/", "http://u@127.0.0.1/", "file:///x"]
    {
        assert!(check(&guard, url).is_err(), "{url}");
    }
}

#[test]
fn an_address_of_this_machine_is_known_as_its_own_without_sending_anything() {
    assert!(address::is_own("127.0.0.1".parse().unwrap()));
    assert!(!address::is_own("203.0.113.9".parse().unwrap()));
}

/// Answers one after the other; the last one stays.
struct Answers(Mutex<Vec<Vec<&'static str>>>);

#[async_trait]
impl Names for Answers {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        let mut answers = self.0.lock().unwrap();
        let answer = if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() };
        Ok(answer.iter().map(|address| address.parse().unwrap()).collect())
    }
}

async fn resolved(answer: &[&'static str]) -> Result<Vec<String>, WebError> {
    let guard = strict().asking(Arc::new(Answers(Mutex::new(vec![answer.to_vec()]))));
    let addresses = guard.resolve("name.test").await?;
    Ok(addresses.into_iter().map(|address| address.to_string()).collect())
}

#[tokio::test]
async fn of_a_names_answers_only_the_public_ones_are_connected_to() {
    // bar: C76
    assert_eq!(resolved(&["10.0.0.1", "1.1.1.1"]).await.unwrap(), ["1.1.1.1"]);
    assert_eq!(
        resolved(&["1.1.1.1", "127.0.0.1", "::1", "2606:4700:4700::1111"]).await.unwrap(),
        ["1.1.1.1", "2606:4700:4700::1111"]
    );
    let refused = |why| Err(WebError::refused("name.test", why));
    assert_eq!(resolved(&["127.0.0.1"]).await, refused(Refusal::Loopback));
    assert_eq!(resolved(&["::ffff:192.168.1.1", "fd00::1"]).await, refused(Refusal::Private));
    assert_eq!(resolved(&["169.254.169.254"]).await, refused(Refusal::LinkLocal));
    assert!(matches!(resolved(&[]).await, Err(WebError::Name { .. })));
}

#[tokio::test]
async fn the_systems_names_for_this_machine_lead_nowhere() {
    for host in ["localhost", "127.0.0.1.", "0", "0x7f.1"] {
        let answer = strict().resolve(host).await;
        assert!(answer.is_err(), "{host} led to {answer:?}");
    }
}
