//! Tests of `secrets`.

use super::*;

fn secret(name: &str, place: &str, value: &str) -> Secret {
    Secret { name: name.into(), place: SecretScope::parse(place).unwrap(), value: Value(value.into()) }
}

fn all() -> [Secret; 2] {
    [secret("bank", "https://Bank.example/login", "hunter2 {{pin}}"), secret("pin", "Wallet", "1234")]
}

#[test]
fn a_value_goes_where_it_is_for_and_nowhere_else() {
    let page = |url: &str| Landing::Page(url.to_owned());
    let app = |name: &str, program: Option<&str>| Landing::App {
        name: name.into(),
        program: program.map(str::to_owned),
    };
    let fill = |text: &str, landing: &Landing| fill(text, &all(), landing).map_err(|error| error.message);
    assert_eq!(fill("a {{bank}}!", &page("https://bank.example:443/x")).unwrap(), "a hunter2 {{pin}}!");
    assert_eq!(fill("{{{pin}}}", &app("wallet", None)).unwrap(), "{1234}");
    for elsewhere in [
        page("http://bank.example"),
        page("https://bank.example.evil.test"),
        page("https://bank.example@evil.test"),
        page("https://bank.example:8443"),
    ] {
        let error = fill("{{bank}}", &elsewhere).unwrap_err();
        assert!(error.contains("https://bank.example only") && !error.contains("hunter2"), "{error}");
    }
    let open = fill("{{bank}}", &Landing::Open).unwrap_err();
    assert!(open.contains("password fields only"), "{open}");
    let error = fill("{{bank}}", &app("Firefox", None)).unwrap_err();
    assert!(error.contains("webType"), "{error}");
    let error = fill("{{pin}}", &app("Wallet Evil", None)).unwrap_err();
    assert!(error.contains("Wallet only, and this is Wallet Evil"), "{error}");
    // Whatever it calls itself: only what interprets scripts tells nothing.
    for program in ["wallet", "python3.11"] {
        assert_eq!(fill("{{pin}}", &app("Wallet", Some(program))).unwrap(), "1234", "{program}");
    }
    for program in ["evil", "wallet-evil", "?", "xterm"] {
        let error = fill("{{pin}}", &app("Wallet", Some(program))).unwrap_err();
        assert!(error.contains(&format!("Wallet, whose program is {program}")), "{error}");
    }
    // A template's own braces are no secret's.
    assert_eq!(fill("{{ pin }} {{other}} {{", &Landing::Open).unwrap(), "{{ pin }} {{other}} {{");
}

#[test]
fn a_place_is_one_site_or_one_application() {
    assert_eq!(
        SecretScope::parse("https://bank.example/a?b").unwrap(),
        SecretScope::Origin("https://bank.example".into())
    );
    assert_eq!(
        SecretScope::parse("HTTP://localhost:80").unwrap(),
        SecretScope::Origin("http://localhost".into())
    );
    assert_eq!(SecretScope::parse(" KeePassXC ").unwrap(), SecretScope::App("KeePassXC".into()));
    for (bad, why) in [
        ("http://bank.example", "https"),
        ("https://me:pass@bank.example", "password"),
        ("firefox", "browser"),
        ("Google Chrome", "browser"),
        (" ", "none is named"),
    ] {
        let error = SecretScope::parse(bad).unwrap_err();
        assert!(error.contains(why), "{bad}: {error}");
    }
}
