//! What a turned model says is text in the windows: it is shown whole, stands for nothing else, and fetches nothing.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use outside::fake_model::{FakeModel, MindTurn, ScriptMind};
use outside::miki::Miki;
use outside::stage::Stage;
use outside::{LONG, wait_for};
use serde_json::json;

use crate::browser::Browser;

const BREAKS: usize = 10_000;

/// The first lines of all requests.
type Requests = Arc<Mutex<Vec<String>>>;

fn server() -> (String, Requests) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let requests = Requests::default();
    let asked = requests.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut line = String::new();
            let _broken = BufReader::new(stream).read_line(&mut line);
            asked.lock().unwrap().push(line);
        }
    });
    (url, requests)
}

/// As pages and Markdown fetch something from elsewhere.
fn fetching(url: &str) -> String {
    format!(
        "<img src={url}/img onerror=window.__ran=1><script>window.__ran=1</script><script src={url}/js></script>\
         <iframe src={url}/frame></iframe><style>@import url({url}/css);body{{background:url({url}/bg)}}</style>\
         <link rel=stylesheet href={url}/link><link rel=prefetch href={url}/next>\
         <svg><image href={url}/svg /><use href={url}/use#a /></svg><video src={url}/video poster={url}/poster></video>\
         <object data={url}/object></object><embed src={url}/embed><a href={url}/preview>{url}/preview</a> \
         ![picture]({url}/md.png) [link]({url}/md)"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_model_says_is_shown_as_text_whole_and_nothing_is_fetched_for_it() {
    // bar: C30, C36
    let stage = Stage::full().unwrap();
    let editor = stage.open_editor(None).unwrap();
    let (url, requests) = server();
    let fetching = fetching(&url);
    let hidden = "safe \u{202e}txt.exe\u{2066}\u{200b}\u{1b}[2J\u{1b}]52;c;cm0=\u{7}\u{e0041}";
    let text = format!("{hidden}{fetching}{}rm -rf pond", "\n".repeat(BREAKS));
    let typing = MindTurn::call(&fetching, "type", json!({ "text": text, "reason": fetching }));
    let model = FakeModel::start(ScriptMind::new([typing.thinking(&fetching)])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "ask" })).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let screen = stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 100, 80, 760, 520).unwrap();
    browser.window("dashboard").await.unwrap();
    browser.find("textarea#goal").await.unwrap();
    let say = "
        const field = document.querySelector('textarea#goal');
        field.value = arguments[0];
        field.dispatchEvent(new Event('input', { bubbles: true }));";
    browser.client.execute(say, vec![json!(fetching)]).await.unwrap();
    screen.activate(&editor.window).unwrap();
    browser.find("button#run:not([disabled])").await.unwrap();
    browser.script("document.querySelector('button#run').click()").await.unwrap();

    // All of it, in the smallest window; the answers are in view, and a no has the keyboard.
    browser.find(".approval button.deny").await.unwrap();
    let whole = "
        const [cards, title, answers] = ['.approvals', '.approval h3', '.approval footer']
            .map((part) => document.querySelector(part).getBoundingClientRect());
        return innerHeight === 520 && cards.top <= title.top && answers.bottom <= cards.bottom + 1
            && answers.bottom <= innerHeight && document.activeElement.className === 'deny'";
    browser.until("the whole card, and the focus on Deny", whole).await.unwrap();
    let told = "
        const text = document.querySelector('.approval pre.arguments').textContent;
        return [text, text.split('\\\\n').length - 1, text.split('\\n').length]";
    let told = browser.script(told).await.unwrap();
    let shown = told[0].as_str().unwrap();
    for part in [
        r"safe \u{202E}txt.exe\u{2066}\u{200B}",
        "[2J",
        r"\u{E0041}",
        "<script>window.__ran=1",
        "rm -rf pond",
    ] {
        assert!(shown.contains(part), "{part} is not in {}", shown.replace(r"\n", ""));
    }
    for character in hidden.chars().filter(|c| !(' '..='~').contains(c)) {
        assert!(!shown.contains(character), "{character:?} is on the card");
    }
    assert_eq!(
        (&told[1], told[2].as_u64().unwrap() < 10),
        (&json!(BREAKS), true),
        "breaks that are spelled, lines"
    );

    // In the card, in what the model said and thought, and in the goal, in both windows.
    for window in ["dashboard", "chat"] {
        browser.window(window).await.unwrap();
        let there = "return document.querySelector('.approval') !== null && document.body.textContent.includes('<iframe src=')";
        browser.until("what was said", there).await.unwrap();
        let made = "
            const all = 'script:not([type=module]), iframe, object, embed, video, style, a[href], image, img[src^=http], use[href^=http], link[href^=http]';
            return [[...document.querySelectorAll(`.approval :is(${all}), #steps :is(${all})`)].map((el) => el.outerHTML), window.__ran ?? 0]";
        assert_eq!(browser.script(made).await.unwrap(), json!([[], 0]), "{window}");
    }

    // Even where it came to stand there as a page's own parts, it is not fetched.
    browser.window("dashboard").await.unwrap();
    let put = "
        const [url, done] = arguments, refused = new Set();
        const wanted = ['img-src', 'frame-src', 'style-src-elem', 'media-src', 'script-src-elem', 'connect-src'];
        document.addEventListener('securitypolicyviolation', (event) => {
            refused.add(event.effectiveDirective);
            if (wanted.every((one) => refused.has(one))) done([...refused]);
        });
        const put = (tag, fields) => document.body.append(Object.assign(document.createElement(tag), fields));
        put('img', { src: url + '/img' });
        put('iframe', { src: url + '/frame' });
        put('link', { rel: 'stylesheet', href: url + '/css' });
        put('video', { src: url + '/video' });
        put('script', { src: url + '/js' });
        document.body.style.background = `url(${url}/bg)`;
        fetch(url + '/fetch').catch(() => {});";
    let refused = browser.script_async(put, vec![json!(url)]).await.unwrap();
    assert!(refused.as_array().is_some_and(|all| all.len() >= 6), "{refused}");
    assert_eq!(*requests.lock().unwrap(), Vec::<String>::new());
    // It would have been heard of.
    let mut control = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    control.write_all(b"GET /here HTTP/1.1\n").unwrap();
    wait_for("the test's own request", LONG, || (requests.lock().unwrap().len() == 1).then_some(())).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_model_says_over_everything_hides_nothing_and_turns_nothing_about() {
    let stage = Stage::full().unwrap();
    let _editor = stage.open_editor(None).unwrap();
    let reason = "safe \u{202e}txt.exe\u{2066}\u{200b} <b>now</b>";
    let hold = || MindTurn::call("", "hold", json!({ "keys": ["shift"], "seconds": 10, "reason": reason }));
    let model = FakeModel::start(ScriptMind::new([hold(), hold(), hold()])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "auto" })).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let _run = miki.start(&stage, "run", &["run", "wait", "--json"]).unwrap();
    browser.window("overlay").await.unwrap();
    // Its goal is there before its call.
    let is_there = "return document.body.textContent.includes('txt.exe')";
    browser.until("the call over everything", is_there).await.unwrap();
    let shown = browser.script("return document.body.textContent").await.unwrap();
    let shown = shown.as_str().unwrap();
    assert!(shown.contains(r"safe \u{202E}txt.exe\u{2066}\u{200B} <b>now</b>"), "{shown}");
    assert!(!shown.contains(['\u{202e}', '\u{2066}', '\u{200b}']), "{shown}");
}
