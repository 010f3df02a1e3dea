//! A page in Firefox, whose own events say what was done.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use desktop::{Button, Desktop, ElementAction, Evidence, Inside};

use super::stage::{Stage, by, elements, eventually, find_in, operate};

const CLICK: ElementAction = ElementAction::Click { button: Button::Left, count: 1 };
const PAGE: &str = r#"<!doctype html><meta charset=utf-8><title>Form</title>
<label>Name <input id=name></label><br>
<label>Secret <input type=password id=secret></label><br>
<label><input type=checkbox id=agree> Agree</label><br>
<label><input type=radio name=colour id=red> Red</label><br>
<label>Fruit <select id=fruit><option>Apple<option>Banana<option>Cherry</select></label><br>
<label>Many <select id=many multiple size=3><option>one<option>two<option>three</select></label><br>
<label>Amount <input type=number id=amount min=0 max=9 value=1></label><br>
<label>Volume <input type=range id=volume min=0 max=100></label><br>
<label>Notes <textarea id=notes></textarea></label><br>
<button id=go>Go</button>
<script>
const log = (...words) => fetch('/', { method: 'POST', body: words.join(' ') });
for (const one of document.querySelectorAll('input, select, textarea, button'))
  for (const type of one.localName === 'button' ? ['click'] : ['change'])
    one.addEventListener(type, () => log(type, one.id,
      /checkbox|radio/.test(one.type) ? one.checked : [...one.selectedOptions ?? [one]].map((it) => it.value).join()));
</script>"#;
const PREFERENCES: &str = r#"user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.aboutwelcome.enabled", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("app.update.enabled", false);
"#;

/// Serves the page; what it posts is kept.
fn serve() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&log);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let (mut first, mut length) = (String::new(), 0);
            let _read = reader.read_line(&mut first);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) <= 2 {
                    break;
                }
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap_or(0);
                }
            }
            let mut body = vec![0; length];
            let _read = reader.read_exact(&mut body);
            if first.starts_with("POST") {
                kept.lock().unwrap().push(String::from_utf8_lossy(&body).into_owned());
            }
            let page = if first.starts_with("GET / ") { PAGE } else { "" };
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length";
            let _sent = write!(reader.get_mut(), "{head}: {}\r\n\r\n{page}", page.len());
        }
    });
    (address, log)
}

async fn opened() -> (Stage, Arc<dyn Desktop>, Arc<Mutex<Vec<String>>>) {
    let (stage, desktop, log, _) = opened_at().await;
    (stage, desktop, log)
}

/// The same with the page's address.
async fn opened_at() -> (Stage, Arc<dyn Desktop>, Arc<Mutex<Vec<String>>>, String) {
    let (address, log) = serve();
    let mut stage = Stage::open();
    let preferences = stage.write("profile/user.js", PREFERENCES);
    let profile = preferences.strip_suffix("/user.js").unwrap();
    stage.start("firefox-esr", &["--no-remote", "--profile", profile, &address]);
    let desktop = stage.desktop();
    elements(&desktop, "firefox", |seen| find_in(seen, "button", "Go").is_some()).await;
    (stage, desktop, log, address)
}

async fn hears(log: &Arc<Mutex<Vec<String>>>, line: &str) {
    eventually(line, || async { log.lock().unwrap().clone() }, |log| log.iter().any(|one| one == line)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_hears_of_every_value_that_is_set() {
    let (_stage, desktop, log) = opened().await;
    for (role, name, value, line) in [
        ("check box", "Agree", "on", "change agree true"),
        ("radio button", "Red", "on", "change red true"),
        ("combo box", "Fruit", "Cherry", "change fruit Cherry"),
        ("spin button", "Amount", "7", "change amount 7"),
        ("slider", "Volume", "72", ""),
        ("entry", "Name", "plop 🐸", ""),
        ("entry", "Notes", "a\n🐸b", ""),
    ] {
        let done = operate(&desktop, by("firefox", role, name), ElementAction::SetValue(value.into())).await;
        let done = done.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
        if !line.is_empty() {
            hears(&log, line).await;
        }
    }
    let secret = ElementAction::SetValue("geheim".into());
    let done = operate(&desktop, by("firefox", "password text", "Secret"), secret).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "its length: {done:?}");
    // A field tells of its change when it is left.
    operate(&desktop, by("firefox", "button", "Go"), CLICK).await.unwrap();
    for line in [
        "click go ",
        "change volume 72",
        "change name plop 🐸",
        "change notes a\n🐸b",
        "change secret geheim",
    ] {
        hears(&log, line).await;
    }
    operate(&desktop, by("firefox", "list item", "two"), CLICK).await.unwrap();
    hears(&log, "change many two").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn actions_have_names() {
    let (_stage, desktop, _log) = opened().await;
    let seen = elements(&desktop, "firefox", |_| true).await;
    let odd = |name: &String| name.contains(';');
    assert!(seen.iter().all(|one| !one.actions.iter().any(odd)), "{seen:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_a_page_is_told_with_its_address_and_what_is_around_it_as_no_pages() {
    let (_stage, desktop, _log, address) = opened_at().await;
    let seen = elements(&desktop, "firefox", |seen| find_in(seen, "entry", "Name").is_some()).await;
    for (role, name) in [("entry", "Name"), ("button", "Go"), ("password text", "Secret")] {
        let reference = find_in(&seen, role, name).unwrap().reference.clone();
        assert_eq!(desktop.inside(reference).await, Inside::Page(address.clone()), "{name}");
    }
    let around = seen.iter().find(|one| one.name.contains("Back") || one.name.contains("Reload")).unwrap();
    assert_eq!(desktop.inside(around.reference.clone()).await, Inside::Around, "{around:?}");
    assert_eq!(desktop.inside("e9999".into()).await, Inside::Untold);
    operate(&desktop, by("firefox", "entry", "Name"), ElementAction::Focus).await.unwrap();
    let field = || async { desktop.field().await.map(|field| field.inside) };
    eventually("the field", field, |inside| *inside == Some(Inside::Page(address.clone()))).await;
}
