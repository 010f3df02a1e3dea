//! Where tabs go, what is refused, and how a browser is found, lost and found again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use browser::{
    Attach, Browser, DialogAnswer, DialogKind, Journey, Links, Loaded, Options, TabChange, TextQuery,
    WebClick,
};
use desktop::{Button, DesktopError, Fence};
use tokio_util::sync::CancellationToken;

use crate::stage::{Stage, query};

fn pages(path: &str) -> (u16, String) {
    match path {
        "/one" => (200, "<title>One</title><a href='#part'>Part</a><a href='/two' target=_blank>Elsewhere</a><button onclick=\"history.pushState(0,'','/state')\">State</button>".into()),
        "/two" => (200, "<title>Two</title>".into()),
        "/stay" => (200, "<title>Stay</title><button>Touch</button><script>addEventListener('beforeunload',event=>{event.preventDefault();event.returnValue='x'})</script>".into()),
        "/state" => (200, "<title>State</title>".into()),
        _ => (404, "<title>Nothing</title>not here".into()),
    }
}

async fn go(stage: &Stage, journey: Journey) -> Result<browser::Arrived, DesktopError> {
    stage.browser.navigate(journey, CancellationToken::new()).await
}

/// A fence that no browser is in.
fn elsewhere() -> Fence {
    Fence { apps: vec!["mousepad".into()], ..Fence::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journey_ends_with_address_title_and_status() {
    let stage = Stage::open(pages).await;
    let one = stage.goto("/one").await;
    assert_eq!((one.title.as_str(), one.status, one.loaded), ("One", Some(200), Loaded::Wholly));
    assert_eq!(one.url, format!("{}/one", stage.here));
    assert_eq!(stage.goto("/nowhere").await.status, Some(404));
    assert_eq!(stage.goto("/two").await.title, "Two");
    let back = go(&stage, Journey::Back).await.unwrap();
    assert_eq!(back.title, "Nothing");
    assert_eq!(go(&stage, Journey::Back).await.unwrap().title, "One");
    assert_eq!(go(&stage, Journey::Forward).await.unwrap().title, "Nothing");
    assert_eq!(go(&stage, Journey::Reload).await.unwrap().status, Some(404));
    stage.goto("/one").await;
    assert!(stage.goto("/one#part").await.url.ends_with("#part"));
    stage.click("button", "State").await;
    assert!(go(&stage, Journey::Back).await.unwrap().url.ends_with("/one#part"));

    for refused in ["file:///etc/passwd", "javascript:alert(1)", "chrome://settings", "data:text/html,x"] {
        let error = go(&stage, Journey::To(refused.into())).await.unwrap_err();
        assert!(matches!(error, DesktopError::Forbidden(_)), "{refused}: {error:?}");
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = format!("http://127.0.0.1:{}/", listener.local_addr().unwrap().port());
    drop(listener);
    let error = go(&stage, Journey::To(closed)).await.unwrap_err();
    assert!(error.to_string().contains("ERR_CONNECTION_REFUSED"), "{error}");
    while go(&stage, Journey::Back).await.is_ok() {}
    let error = go(&stage, Journey::Back).await.unwrap_err();
    assert!(error.to_string().contains("no page to go back to"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_looks_or_is_outside_the_fence_starts_no_browser() {
    let stage = Stage::open(pages).await;
    let tabs = stage.browser.tabs().await;
    assert!(matches!(tabs, Err(DesktopError::NotFound(_))), "{tabs:?}");
    let seen = stage.browser.elements(query()).await;
    assert!(matches!(seen, Err(DesktopError::NotFound(_))), "{seen:?}");
    let read = stage.browser.read(TextQuery { offset: 0, limit: 100, links: Links::Left }).await;
    assert!(matches!(read, Err(DesktopError::NotFound(_))), "{read:?}");
    stage.desktop.fence(elsewhere());
    let error = go(&stage, Journey::To("about:blank".into())).await.unwrap_err();
    assert!(matches!(error, DesktopError::Forbidden(_)), "{error:?}");
    assert!(!stage.options.data.join("browser").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_asks_whether_it_may_be_left_is_told() {
    let stage = Stage::open(pages).await;
    stage.goto("/stay").await;
    // Only a page that was touched may ask.
    stage.click("button", "Touch").await;
    let asked = stage.goto("/two").await;
    assert_eq!(asked.dialog.map(|dialog| dialog.kind), Some(DialogKind::Leave));
    stage.browser.answer(DialogAnswer::Dismiss, CancellationToken::new()).await.unwrap();
    assert_eq!(stage.view(query()).await.title, "Stay");
    stage.goto("/two").await;
    stage.browser.answer(DialogAnswer::Accept(None), CancellationToken::new()).await.unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    while stage.view(query()).await.title != "Two" {
        assert!(Instant::now() < end, "the page was not left");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tabs_are_listed_opened_brought_to_the_front_and_closed() {
    let stage = Stage::open(pages).await;
    stage.goto("/one").await;
    let change = async |change| stage.browser.change_tab(change, CancellationToken::new()).await;
    let tabs = change(TabChange::Open(format!("{}/two", stage.here))).await.unwrap();
    let titles: Vec<_> = tabs.iter().map(|tab| (tab.title.as_str(), tab.front)).collect();
    assert_eq!(titles, [("One", false), ("Two", true)]);
    assert_eq!(stage.view(query()).await.title, "Two");
    change(TabChange::Activate(tabs[0].reference.clone())).await.unwrap();
    assert_eq!(stage.view(query()).await.title, "One");
    let left = change(TabChange::Close(tabs[0].reference.clone())).await.unwrap();
    assert_eq!(left.iter().map(|tab| tab.title.as_str()).collect::<Vec<_>>(), ["Two"]);
    assert_eq!(stage.view(query()).await.title, "Two");
    let error = change(TabChange::Activate("t99".into())).await.unwrap_err();
    assert!(matches!(&error, DesktopError::NotFound(said) if said.contains("Two")), "{error:?}");
    let error = change(TabChange::Open("file:///etc/passwd".into())).await.unwrap_err();
    assert!(matches!(error, DesktopError::Forbidden(_)), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_reads_the_page_it_went_to_whatever_another_run_opens_between_two_of_its_steps() {
    let stage = Stage::open(pages).await;
    let (one, other) = (stage.browser.of_run().unwrap(), stage.browser.of_run().unwrap());
    let go = async |run: &Arc<dyn Browser>, journey| run.navigate(journey, CancellationToken::new()).await;
    let to = |path: &str| Journey::To(format!("{}{path}", stage.here));
    let read = async |run: &Arc<dyn Browser>| {
        let text = TextQuery { offset: 0, limit: 1_000, links: Links::Left };
        (run.elements(query()).await.unwrap().title, run.read(text).await.unwrap().title)
    };
    let both = |title: &str| (title.to_owned(), title.to_owned());
    go(&one, to("/one")).await.unwrap();
    assert_eq!(read(&other).await, both("One"), "who has no page yet reads the one in front");
    let back = go(&other, Journey::Back).await;
    assert!(matches!(&back, Err(DesktopError::NotFound(said)) if said.contains("webNavigate")), "{back:?}");
    go(&other, to("/two")).await.unwrap();
    assert_eq!(read(&one).await, both("One"));
    assert_eq!(read(&other).await, both("Two"));
    go(&one, to("/state")).await.unwrap();
    go(&other, Journey::Reload).await.unwrap();
    assert_eq!(read(&other).await, both("Two"));
    assert_eq!(go(&one, Journey::Back).await.unwrap().title, "One");
    // At the same time, which the one lock puts in some order.
    for _ in 0..3 {
        let (this, that) = tokio::join!(go(&one, to("/state")), go(&other, to("/one")));
        assert_eq!((this.unwrap().title.as_str(), that.unwrap().title.as_str()), ("State", "One"));
        let (this, that) = tokio::join!(read(&one), read(&other));
        assert_eq!((this, that), (both("State"), both("One")));
    }
    let tabs = one.tabs().await.unwrap();
    let titles: Vec<_> = tabs.iter().map(|tab| (tab.title.as_str(), tab.front)).collect();
    assert_eq!(titles, [("State", true), ("One", false)]);
    // What a click opens is the run's that clicked.
    let link = other.elements(query()).await.unwrap().elements;
    let link = link.iter().find(|found| found.name == "Elsewhere").unwrap().reference.clone();
    let click = WebClick { reference: link, button: Button::Left, count: 1, held: Vec::new(), display: 0 };
    let acted = other.click(click, CancellationToken::new()).await.unwrap();
    assert!(acted.opened.is_some(), "{acted:?}");
    let end = Instant::now() + Duration::from_secs(20);
    while read(&other).await != both("Two") {
        assert!(Instant::now() < end, "it is not at the tab that its click opened");
    }
    assert_eq!(read(&one).await, both("State"));

    // A tab is anybody's once its run has ended: the next one goes on in what is in front.
    drop((one, other));
    let next = stage.browser.of_run().unwrap();
    go(&next, to("/one")).await.unwrap();
    assert_eq!(next.tabs().await.unwrap().len(), 3, "it opened another one");
}

/// The browser's own pages and files are its user's business: not listed, not looked at, not acted on.
#[tokio::test(flavor = "multi_thread")]
async fn tabs_that_show_no_page_of_the_web_are_nobodys_business() {
    let stage = Stage::open(pages).await.with_port();
    stage.goto("/one").await;
    let button = stage.find("button", "State").await;
    let change = async |change| stage.browser.change_tab(change, CancellationToken::new()).await;
    for (number, theirs) in (2..).zip(["chrome://version/", "file:///etc/"]) {
        stage.open_elsewhere(theirs).await;
        let tabs = stage.browser.tabs().await.unwrap();
        assert_eq!(tabs.iter().map(|tab| tab.title.as_str()).collect::<Vec<_>>(), ["One"], "{theirs}");
        let activated = change(TabChange::Activate(format!("t{number}"))).await.unwrap_err();
        let closed = change(TabChange::Close(format!("t{number}"))).await.unwrap_err();
        assert!(matches!((&activated, &closed), (DesktopError::NotFound(_), DesktopError::NotFound(_))));
        // What is in front now is not a page of the web.
        let looked = stage.browser.elements(query()).await.map(|_| ());
        let read = browser::TextQuery { offset: 0, limit: 100, links: browser::Links::Left };
        let read = stage.browser.read(read).await.map(|_| ());
        for refused in [looked, read] {
            assert!(matches!(refused, Err(DesktopError::Forbidden(_))), "{theirs}: {refused:?}");
        }
    }
    change(TabChange::Activate("t1".into())).await.unwrap();
    stage.try_click(&button.reference).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_outside_the_fence_is_looked_at_and_not_touched() {
    let stage = Stage::open(pages).await;
    stage.desktop.fence(Fence { apps: vec!["chrom".into()], displays: vec![0], never: vec![] });
    stage.goto("/one").await;
    let button = stage.find("button", "State").await;
    for fence in [elsewhere(), Fence { displays: vec![1], ..Fence::default() }] {
        stage.desktop.fence(fence);
        let stop = CancellationToken::new;
        let browser = &stage.browser;
        let gone = go(&stage, Journey::To("about:blank".into())).await.map(|_| ());
        let tab = browser.change_tab(TabChange::Open("about:blank".into()), stop()).await.map(|_| ());
        let text = stage.try_type(&button.reference, "x").await.map(|_| ());
        let press = stage.try_click(&button.reference).await.map(|_| ());
        let answer = browser.answer(DialogAnswer::Dismiss, stop()).await.map(|_| ());
        for refused in [gone, tab, text, press, answer] {
            assert!(matches!(refused, Err(DesktopError::Forbidden(_))), "{refused:?}");
        }
        assert_eq!(stage.view(query()).await.title, "One");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_was_started_has_no_port_is_started_again_and_ends_with_whoever_started_it() {
    let mut stage = Stage::open(pages).await;
    assert_eq!(stage.browser.missing(), None);
    stage.goto("/one").await;
    let pids = stage.browser_pids();
    assert!(!pids.is_empty() && !stage.profile().join("DevToolsActivePort").exists());
    let heard = std::process::Command::new("ss").args(["-Hltnp"]).output().unwrap();
    let heard = String::from_utf8_lossy(&heard.stdout).into_owned();
    for pid in pids {
        assert!(!heard.contains(&format!("pid={pid},")), "{heard}");
    }

    stage.kill_browser();
    stage.goto("/two").await;
    assert_eq!(stage.view(query()).await.title, "Two");
    stage.browser = browser::absent();
    let end = Instant::now() + Duration::from_secs(20);
    while !stage.browser_pids().is_empty() {
        assert!(Instant::now() < end, "it goes on: {:?}", stage.browser_pids());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_runs_is_attached_to_by_its_port() {
    let stage = Stage::open(pages).await.with_port();
    stage.goto("/one").await;
    let before = stage.browser_pids().len();
    let same = browser::open(stage.options.clone(), stage.desktop.clone());
    assert_eq!(same.elements(query()).await.unwrap().title, "One");
    let by_port = Options { port: Some(stage.port()), attach: Attach::Own, ..Options::default() };
    let by_port = browser::open(by_port, stage.desktop.clone());
    assert_eq!(by_port.elements(query()).await.unwrap().title, "One");
    assert!(stage.browser_pids().len() <= before + 1, "none was started");
    stage.kill_browser();
    assert!(by_port.elements(query()).await.is_err(), "its port is gone");
}

/// The port of a browser that has gone may be another program's now.
#[tokio::test]
async fn a_program_that_listens_where_a_browser_did_is_not_spoken_to() {
    let home = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let profile = home.path().join("browser");
    std::fs::create_dir(&profile).unwrap();
    std::fs::write(profile.join("DevToolsActivePort"), format!("{port}\n/devtools/browser/1\n")).unwrap();
    let options = Options { data: home.path().into(), attach: Attach::Own, ..Options::default() };
    let browser = browser::open(options, desktop::fake::FakeDesktop::new());
    let mut stranger = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    for lock in [None, Some(format!("host-{}", stranger.id())), Some("host-../self".into())] {
        let path = profile.join("SingletonLock");
        let _none = std::fs::remove_file(&path);
        if let Some(lock) = lock {
            std::os::unix::fs::symlink(lock, path).unwrap();
        }
        let tabs = browser.tabs().await;
        assert!(matches!(tabs, Err(DesktopError::NotFound(_))), "{tabs:?}");
    }
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    let spoken_to = listener.accept();
    assert!(spoken_to.is_err(), "{spoken_to:?}");
}

#[tokio::test]
async fn a_program_that_is_no_browser_is_named() {
    let home = tempfile::tempdir().unwrap();
    let options = Options {
        data: home.path().into(),
        program: Some("/bin/false".into()),
        attach: Attach::Own,
        display: Some(":0".into()),
        ..Options::default()
    };
    let browser = browser::open(options, desktop::fake::FakeDesktop::new());
    let journey = Journey::To("http://127.0.0.1:1/".into());
    let error = browser.navigate(journey, CancellationToken::new()).await.unwrap_err();
    assert!(
        matches!(&error, DesktopError::NotAvailable(said) if said.contains("/bin/false ended")),
        "{error:?}"
    );
}
