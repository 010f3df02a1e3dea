//! Fetching from a real server, with names that lead where a test wants.

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response as Served;
use bytes::Bytes;
use futures::{StreamExt, stream};

use super::*;
use crate::fake::serve;
use crate::{Names, Refusal};

/// Names of a test; counts how often each was asked for.
#[derive(Default)]
struct FakeNames {
    answers: HashMap<&'static str, Vec<Vec<&'static str>>>,
    asked: Mutex<HashMap<String, usize>>,
}

impl FakeNames {
    fn of(answers: &[(&'static str, &[&[&'static str]])]) -> Arc<Self> {
        let list = |answers: &[&[&'static str]]| answers.iter().map(|answer| answer.to_vec()).collect();
        let answers = answers.iter().map(|(name, answers)| (*name, list(answers))).collect();
        Arc::new(Self { answers, asked: Mutex::default() })
    }

    fn asked(&self, name: &str) -> usize {
        self.asked.lock().unwrap().get(name).copied().unwrap_or_default()
    }
}

#[async_trait]
impl Names for FakeNames {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let mut asked = self.asked.lock().unwrap();
        let times = asked.entry(host.to_owned()).or_default();
        let answers = self.answers.get(host).ok_or_else(|| io::Error::other("no such name"))?;
        let answer = &answers[(*times).min(answers.len() - 1)];
        *times += 1;
        Ok(answer.iter().map(|address| address.parse().unwrap()).collect())
    }
}

fn bounds() -> FetchBounds {
    FetchBounds { time: Duration::from_secs(10), ..FetchBounds::default() }
}

/// Made once: a client reads the system's certificates, which takes a tenth of a second in a debug build.
fn fetcher() -> Fetcher {
    static FETCHER: LazyLock<Fetcher> =
        LazyLock::new(|| Fetcher::new("1.2.3", Guard::reaching_loopback()).unwrap());
    FETCHER.clone()
}

async fn fetch(url: &str, bounds: FetchBounds) -> Result<Page, WebError> {
    fetcher().fetch(url, bounds, CancellationToken::new()).await
}

fn answer(status: u16, headers: &[(&str, &str)], body: impl Into<Body>) -> Served {
    let mut answer = Served::builder().status(status);
    for (name, value) in headers {
        answer = answer.header(*name, *value);
    }
    answer.body(body.into()).unwrap()
}

fn endless(piece: &'static [u8], sent: Arc<AtomicUsize>) -> Body {
    Body::from_stream(stream::repeat_with(move || {
        sent.fetch_add(piece.len(), Ordering::Relaxed);
        Ok::<_, io::Error>(Bytes::from_static(piece))
    }))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const HTML: (&str, &str) = ("content-type", "text/html; charset=utf-8");

/// One path a case.
async fn site() -> (SocketAddr, Arc<AtomicUsize>) {
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&sent);
    let handler = move |request: Request| {
        let sent = Arc::clone(&counter);
        async move { served(&request.into_parts().0, sent).await }
    };
    (serve(Router::new().fallback(handler)).await, sent)
}

async fn served(request: &axum::http::request::Parts, sent: Arc<AtomicUsize>) -> Served {
    let path = request.uri.path();
    if let Some(hop) = path.strip_prefix("/hop/") {
        let to = match hop.parse::<usize>().unwrap() {
            0 => "/page".to_owned(),
            hop => format!("/hop/{}", hop - 1),
        };
        return answer(302, &[("location", &to)], "");
    }
    if path == "/to" {
        return answer(307, &[("location", request.uri.query().unwrap())], "");
    }
    let drip = |piece: &'static str| {
        let drops = stream::repeat(piece).then(async |piece| {
            tokio::time::sleep(Duration::from_millis(20)).await;
            Ok::<_, io::Error>(Bytes::from_static(piece.as_bytes()))
        });
        Body::from_stream(drops)
    };
    match path {
        "/page" => {
            answer(200, &[HTML, ("set-cookie", "a=b")], "<title>T</title><p>Hello <a href=/x>there</a>")
        }
        "/headers" => {
            let line = |(name, value): (&_, &axum::http::HeaderValue)| {
                format!("{name}: {}\n", value.to_str().unwrap())
            };
            let lines: String = request.headers.iter().map(line).collect();
            answer(200, &[("content-type", "text/plain")], lines)
        }
        "/json" => answer(200, &[("content-type", "application/ld+json")], r#"{"a":[1.10]}"#),
        "/unnamed" => answer(200, &[], "<!DOCTYPE html><h1>Hi"),
        "/pdf" => answer(200, &[("content-type", "application/pdf")], "%PDF-1.7"),
        "/unnamed-pdf" => answer(200, &[], "%PDF-1.7 \0"),
        "/picture" => answer(200, &[("content-type", "image/png")], "x"),
        "/sjis" => {
            answer(200, &[("content-type", "text/plain; charset=\"Shift_JIS\"")], &b"\x93\xfa\x96\x7b"[..])
        }
        "/lines" => {
            let lines: String = (0..1000).map(|line| format!("line {line} 日本\n")).collect();
            answer(
                200,
                &[("content-type", "text/plain; charset=utf-8")],
                lines + &sent.load(Ordering::Relaxed).to_string(),
            )
        }
        "/endless" => answer(200, &[("content-type", "text/plain")], endless(&[b'a'; 4096], sent)),
        "/gzip" => answer(200, &[HTML, ("content-encoding", "gzip")], gzip("<p>packed ü".as_bytes())),
        "/bomb" => answer(
            200,
            &[("content-type", "text/plain"), ("content-encoding", "gzip")],
            gzip(&vec![b' '; 8 << 20]),
        ),
        "/empty-members" => {
            let piece: &'static [u8] = Box::leak(gzip(b"").repeat(200).into_boxed_slice());
            answer(200, &[("content-type", "text/plain"), ("content-encoding", "gzip")], endless(piece, sent))
        }
        "/broken-gzip" => answer(200, &[HTML, ("content-encoding", "gzip")], "no gzip at all"),
        "/br" => answer(200, &[HTML, ("content-encoding", "br")], "x"),
        "/drip" => answer(200, &[HTML], drip("<p>")),
        "/silent" => std::future::pending().await,
        "/busy" => answer(429, &[("retry-after", "7")], "x"),
        "/circle" => answer(303, &[("location", "?again")], ""),
        "/no-location" => answer(301, &[], ""),
        _ => answer(404, &[], "x"),
    }
}

#[tokio::test]
async fn a_page_comes_as_markdown_with_its_title_and_address() {
    let (at, _) = site().await;
    let page = fetch(&format!("http://{at}/hop/4#part"), bounds()).await.unwrap();
    let expected = Page {
        url: format!("http://{at}/page"),
        title: Some("T".into()),
        kind: PageKind::Html,
        text: format!("Hello [there](http://{at}/x)"),
        offset: 0,
        next: None,
        total: 0,
        cut: false,
    };
    assert_eq!(Page { total: 0, ..page }, expected);
    let page = fetch(&format!("http://{at}/page"), FetchBounds { links: Links::TextOnly, ..bounds() }).await;
    assert_eq!(page.unwrap().text, "Hello there");
}

#[tokio::test]
async fn json_is_laid_out_text_is_decoded_and_what_nobody_named_is_looked_at() {
    let (at, _) = site().await;
    let text = async |path: &str| {
        let page = fetch(&format!("http://{at}{path}"), bounds()).await.unwrap();
        (page.kind, page.text)
    };
    assert_eq!(text("/json").await, (PageKind::Json, "{\n  \"a\": [\n    1.10\n  ]\n}".into()));
    assert_eq!(text("/sjis").await, (PageKind::Text, "日本".into()));
    assert_eq!(text("/unnamed").await, (PageKind::Html, "# Hi".into()));
    assert_eq!(text("/gzip").await, (PageKind::Html, "packed ü".into()));
}

#[tokio::test]
async fn what_is_no_text_is_left_to_the_files_tools_and_says_so() {
    let (at, _) = site().await;
    for (path, kind) in
        [("/pdf", "application/pdf"), ("/unnamed-pdf", "application/pdf"), ("/picture", "image/png")]
    {
        let error = fetch(&format!("http://{at}{path}"), bounds()).await.unwrap_err();
        assert_eq!(error, WebError::NotText(kind.into()));
        assert!(error.hint().unwrap().contains("files"));
    }
}

#[tokio::test]
async fn a_refusal_of_the_site_is_told_with_its_status_and_wait() {
    let (at, _) = site().await;
    let status = |status, seconds: Option<u64>| WebError::Status {
        host: "127.0.0.1".into(),
        status,
        retry_after: seconds.map(Duration::from_secs),
    };
    assert_eq!(fetch(&format!("http://{at}/nothing"), bounds()).await, Err(status(404, None)));
    assert_eq!(fetch(&format!("http://{at}/busy"), bounds()).await, Err(status(429, Some(7))));
    assert_eq!(fetch(&format!("http://{at}/br"), bounds()).await, Err(WebError::Packing("br".into())));
    assert!(matches!(
        fetch(&format!("http://{at}/broken-gzip"), bounds()).await,
        Err(WebError::Transfer { .. })
    ));
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(matches!(fetch(&format!("http://{closed}/"), bounds()).await, Err(WebError::Connect { .. })));
}

#[tokio::test]
async fn a_long_page_is_read_on_without_asking_the_site_again() {
    let (at, _) = site().await;
    let fetcher = fetcher();
    let url = format!("http://{at}/lines");
    let (mut offset, mut whole, mut parts) = (0, String::new(), 0);
    loop {
        let bounds = FetchBounds { chars: 3_000, offset, ..bounds() };
        let page = fetcher.fetch(&url, bounds, CancellationToken::new()).await.unwrap();
        whole.push_str(&page.text);
        parts += 1;
        match page.next {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert!(parts > 3, "{parts}");
    let lines: String = (0..1000).map(|line| format!("line {line} 日本\n")).collect();
    assert_eq!(whole, lines + "0");
}

#[tokio::test]
async fn an_endless_body_a_bomb_and_endless_nothing_end_at_the_bound() {
    let (at, sent) = site().await;
    let small = FetchBounds { bytes: 64 << 10, chars: 1 << 20, ..bounds() };
    let page = fetch(&format!("http://{at}/endless"), small.clone()).await.unwrap();
    assert_eq!((page.total, page.cut), (64 << 10, true));
    let page = fetch(&format!("http://{at}/bomb"), small.clone()).await.unwrap();
    assert_eq!((page.total, page.cut), (64 << 10, true));
    let page = fetch(&format!("http://{at}/empty-members"), small).await.unwrap();
    assert_eq!((page.total, page.cut), (0, true));
    // What the sockets hold beside what was read.
    assert!(sent.load(Ordering::Relaxed) < 32 << 20, "{sent:?}");
}

#[tokio::test]
async fn a_slow_site_ends_at_its_time_and_a_cancelled_fetch_at_once() {
    let (at, _) = site().await;
    let short = Duration::from_millis(150);
    let header_time = FetchBounds { header_time: short, ..bounds() };
    assert_eq!(fetch(&format!("http://{at}/silent"), header_time).await, Err(WebError::TimedOut(short)));
    let time = FetchBounds { time: short, ..bounds() };
    assert_eq!(fetch(&format!("http://{at}/drip"), time).await, Err(WebError::TimedOut(short)));

    let fetcher = fetcher();
    let cancel = CancellationToken::new();
    let url = format!("http://{at}/drip");
    let fetching = fetcher.fetch(&url, bounds(), cancel.clone());
    let (fetched, ()) = tokio::join!(fetching, async { cancel.cancel() });
    assert_eq!(fetched, Err(WebError::Cancelled));
}

#[tokio::test]
async fn a_redirect_meets_the_guard_like_any_address() {
    // bar: C76
    let (at, _) = site().await;
    let refused = |host: &str, why| WebError::refused(host, why);
    for (to, expected) in [
        ("http://10.0.0.1/", refused("10.0.0.1", Refusal::Private)),
        ("http://169.254.169.254/latest/", refused("169.254.169.254", Refusal::LinkLocal)),
        ("//0xa000001/", refused("10.0.0.1", Refusal::Private)),
        ("http://[::ffff:192.168.0.1]/", refused("[::ffff:c0a8:1]", Refusal::Private)),
        ("http://user:word@127.0.0.1/", WebError::UserInfo),
        ("file:///etc/passwd", WebError::Scheme("file".into())),
        ("javascript:alert(1)", WebError::Scheme("javascript".into())),
        ("http://[", WebError::Location),
    ] {
        assert_eq!(fetch(&format!("http://{at}/to?{to}"), bounds()).await, Err(expected), "{to}");
    }
    assert_eq!(fetch(&format!("http://{at}/no-location"), bounds()).await, Err(WebError::Location));
    assert_eq!(fetch(&format!("http://{at}/to?/to?/x"), bounds()).await.unwrap_err().to_string(), {
        "127.0.0.1 answered with status 404"
    });
}

#[tokio::test]
async fn a_redirect_to_another_site_is_told_and_not_followed_where_only_one_was_asked_about() {
    let (at, _) = site().await;
    let one_site = || FetchBounds { other_hosts: false, ..bounds() };
    let to = "http://other.example/?d=secret";
    let elsewhere = WebError::Elsewhere { from: "127.0.0.1".into(), to: to.into() };
    assert_eq!(fetch(&format!("http://{at}/to?{to}"), one_site()).await, Err(elsewhere));
    assert!(fetch(&format!("http://{at}/to?/page"), one_site()).await.is_ok());
    let bare_of = |url: &str| bare(&url.parse().unwrap()).to_owned();
    assert_eq!(bare_of("https://www.site.example/a"), bare_of("http://site.example/"));
    assert_ne!(bare_of("https://site.example.evil.test/"), bare_of("https://site.example/"));
}

#[tokio::test]
async fn five_redirects_are_followed_and_a_circle_ends() {
    let (at, _) = site().await;
    assert!(fetch(&format!("http://{at}/hop/4"), bounds()).await.is_ok());
    assert_eq!(fetch(&format!("http://{at}/hop/5"), bounds()).await, Err(WebError::Redirects(5)));
    assert_eq!(fetch(&format!("http://{at}/circle"), bounds()).await, Err(WebError::Redirects(5)));
}

#[test]
fn a_redirect_from_https_to_http_is_refused_and_the_other_way_followed() {
    let hop = |from: &str, to: &str| next_hop(&Url::parse(from).unwrap(), Some(to.as_bytes()));
    assert_eq!(hop("https://a.example/x", "http://a.example/"), Err(WebError::Downgrade("a.example".into())));
    assert_eq!(hop("https://a.example/x", "//b.example/#f").unwrap().as_str(), "https://b.example/");
    assert_eq!(hop("http://a.example/x/y", "../z").unwrap().as_str(), "http://a.example/z");
    assert_eq!(hop("http://a.example/", "https://a.example/").unwrap().as_str(), "https://a.example/");
    assert_eq!(next_hop(&Url::parse("http://a.example/").unwrap(), Some(b"\xff")), Err(WebError::Location));
}

#[tokio::test]
async fn of_two_answers_the_allowed_one_is_connected_to_and_a_name_of_private_ones_is_refused() {
    // bar: C76
    let (at, _) = site().await;
    let names = FakeNames::of(&[
        ("two.test", &[&["10.255.255.1", "169.254.169.254", "127.0.0.1"]]),
        ("private.test", &[&["10.255.255.1", "fd00::1"]]),
    ]);
    let fetcher = Fetcher::new("1", Guard::reaching_loopback().asking(names.clone())).unwrap();
    let get = async |url: String| fetcher.fetch(&url, bounds(), CancellationToken::new()).await;
    assert!(get(format!("http://two.test:{}/page", at.port())).await.is_ok());
    let refused = Err(WebError::refused("private.test", Refusal::Private));
    assert_eq!(get(format!("http://private.test:{}/page", at.port())).await, refused);
    // A page that leads there does not get further.
    assert_eq!(get(format!("http://two.test:{0}/to?http://private.test:{0}/", at.port())).await, refused);
    assert!(matches!(get("http://unknown.test/".into()).await, Err(WebError::Name { .. })));
}

#[tokio::test]
async fn a_name_that_turns_private_after_the_check_is_not_followed_there() {
    // bar: C76
    // The connection is made to the very answer that was checked, and each hop asks anew
    let (at, _) = site().await;
    let names = FakeNames::of(&[("turning.test", &[&["127.0.0.1"], &["10.255.255.1"]])]);
    let fetcher = Fetcher::new("1", Guard::reaching_loopback().asking(names.clone())).unwrap();
    let url = format!("http://turning.test:{}/page", at.port());
    assert!(fetcher.fetch(&url, bounds(), CancellationToken::new()).await.is_ok());
    assert_eq!(names.asked("turning.test"), 1);
    let again = fetcher.fetch(&url, bounds(), CancellationToken::new()).await;
    assert_eq!(again, Err(WebError::refused("turning.test", Refusal::Private)));

    let names = FakeNames::of(&[("turning.test", &[&["127.0.0.1"], &["10.255.255.1"]])]);
    let fetcher = Fetcher::new("1", Guard::reaching_loopback().asking(names.clone())).unwrap();
    let url = format!("http://turning.test:{}/hop/0", at.port());
    let led = fetcher.fetch(&url, bounds(), CancellationToken::new()).await;
    assert_eq!(led, Err(WebError::refused("turning.test", Refusal::Private)));
}

#[tokio::test]
async fn the_strict_guard_never_connects_to_this_machine() {
    // bar: C76
    let mut bound = None;
    for port in [8888, 8008, 8081, 8000, 8443, 8080] {
        bound = bound.or(std::net::TcpListener::bind(("127.0.0.1", port)).ok());
    }
    let listener = bound.expect("one of the ports that pages are served at is free");
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let names = FakeNames::of(&[("here.test", &[&["127.0.0.1"]]), ("mapped.test", &[&["::ffff:127.0.0.1"]])]);
    let real = Fetcher::new("1", Guard::strict(&[])).unwrap();
    let faked = Fetcher::new("1", Guard::strict(&[]).asking(names)).unwrap();
    for host in
        ["127.0.0.1", "localhost", "0", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "here.test", "mapped.test"]
    {
        let fetcher = if host.ends_with(".test") { &faked } else { &real };
        let fetched =
            fetcher.fetch(&format!("http://{host}:{port}/"), bounds(), CancellationToken::new()).await;
        assert!(fetched.is_err(), "{host}");
        assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock, "{host}");
    }
    let fetched = faked.fetch(&format!("http://here.test:{port}/"), bounds(), CancellationToken::new()).await;
    assert_eq!(fetched, Err(WebError::refused("here.test", Refusal::Loopback)));
}

#[tokio::test]
async fn a_request_says_who_asks_and_nothing_of_the_user() {
    let (at, _) = site().await;
    let fetcher = fetcher();
    let get = async |path: &str| {
        fetcher.fetch(&format!("http://{at}{path}"), bounds(), CancellationToken::new()).await.unwrap().text
    };
    get("/page").await; // sets a cookie
    let headers = get("/to?/headers").await;
    let names: Vec<_> =
        headers.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name).collect();
    assert_eq!(names, ["accept", "accept-encoding", "user-agent", "host"]);
    assert!(headers.contains("user-agent: Miki/1.2.3\n"), "{headers}");
}

/// A child with a proxy in its environment passes the first test of this file, though nothing listens at the proxy.
#[test]
fn a_proxy_of_the_system_is_not_used() {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        child.env(name, "http://127.0.0.1:9");
    }
    child.env_remove("no_proxy").env_remove("NO_PROXY");
    child.args(["--exact", "fetch::tests::a_page_comes_as_markdown_with_its_title_and_address"]);
    let done = child.output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
}
