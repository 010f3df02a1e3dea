//! A private X server with a window manager and a desktop, a small web server, and a Chromium that the crate starts.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use browser::{Arrived, Attach, Browser, Fill, Journey, Kind, PageQuery, PageView, Scope, Then};
use browser::{WebActed, WebClick, WebElement, WebText};
use desktop::{Button, Desktop, DesktopError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// One Chromium at a time: two cores are few.
static ONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

pub struct Stage {
    pub desktop: Arc<dyn Desktop>,
    pub browser: Arc<dyn Browser>,
    _home: tempfile::TempDir,
    pub options: browser::Options,
    /// `http://127.0.0.1:PORT`
    pub here: String,
    /// `:1`
    pub display: String,
    running: Vec<Child>,
    _one: tokio::sync::MutexGuard<'static, ()>,
}

/// What the web server sends.
pub struct Answer {
    pub status: u16,
    /// With its charset, for text.
    pub kind: &'static str,
    pub body: Vec<u8>,
}

/// Of the screen and the browser's window on it, in pixels.
pub struct Size {
    pub screen: (u16, u16),
    pub at: (u16, u16),
    pub window: (u16, u16),
}

impl Stage {
    /// `pages` gives status and HTML of a path. `THERE` in it becomes the other site.
    pub async fn open(pages: fn(&str) -> (u16, String)) -> Self {
        Self::serving(move |path, port| {
            let (status, html) = pages(path);
            let html = html.replace("THERE", &format!("http://localhost:{port}"));
            Answer { status, kind: "text/html; charset=utf-8", body: html.into_bytes() }
        })
        .await
    }

    /// `site` gives what is at a path; it is told its own port.
    pub async fn serving(site: impl Fn(&str, u16) -> Answer + Send + Sync + 'static) -> Self {
        Self::sized(Size { screen: (1280, 900), at: (137, 91), window: (1000, 700) }, site).await
    }

    pub async fn sized(size: Size, site: impl Fn(&str, u16) -> Answer + Send + Sync + 'static) -> Self {
        let one = ONE.lock().await;
        let home = tempfile::tempdir().unwrap();
        let mut x = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", &format!("{}x{}x24", size.screen.0, size.screen.1)])
            .args(["-nolisten", "tcp", "-noreset"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("start Xvfb");
        let mut number = String::new();
        BufReader::new(x.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let display = format!(":{}", number.trim());
        let openbox = Command::new("openbox")
            .env("DISPLAY", &display)
            .env("HOME", home.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("start openbox");
        let desktop = desktop::open(desktop::Options {
            failsafe: false,
            display: Some(display.clone()),
            ..desktop::Options::default()
        });
        let arguments = [
            &format!("--window-position={},{}", size.at.0, size.at.1),
            &format!("--window-size={},{}", size.window.0, size.window.1),
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-default-apps",
        ];
        let options = browser::Options {
            data: home.path().join("data"),
            arguments: arguments.map(str::to_owned).to_vec(),
            attach: Attach::Own,
            display: Some(display.clone()),
            ..browser::Options::default()
        };
        let port = serve(Arc::new(site)).await;
        Self {
            browser: browser::open(options.clone(), Arc::clone(&desktop)),
            desktop,
            _home: home,
            options,
            here: format!("http://127.0.0.1:{port}"),
            display,
            running: vec![openbox, x],
            _one: one,
        }
    }

    /// The browser that is started has a port besides its pipe, for connections of the test's own.
    pub fn with_port(mut self) -> Self {
        self.options.arguments.push("--remote-debugging-port=0".into());
        self.browser = browser::open(self.options.clone(), Arc::clone(&self.desktop));
        self
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        let file = std::fs::read_to_string(self.profile().join("DevToolsActivePort")).unwrap();
        file.lines().next().unwrap().parse().unwrap()
    }

    /// Another program on the same display.
    pub fn start(&mut self, program: &str) {
        let child = Command::new(program)
            .env("DISPLAY", &self.display)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("start a program");
        self.running.insert(0, child);
    }

    /// The window that gets the keys.
    pub fn focus(&self) -> u32 {
        use x11rb::protocol::xproto::ConnectionExt as _;
        let (conn, _) = x11rb::connect(Some(&self.display)).unwrap();
        conn.get_input_focus().unwrap().reply().unwrap().focus
    }

    /// Opens a tab as its user would, by a connection of the test's own; it is in front then.
    pub async fn open_elsewhere(&self, url: &str) {
        let port = self.port();
        ask(port, "PUT", &format!("/json/new?{url}")).await;
        let end = Instant::now() + Duration::from_secs(20);
        while !get(port, "/json/list").await.contains(&format!("\"url\": \"{url}")) {
            assert!(Instant::now() < end, "{url} is not there");
        }
    }

    pub async fn goto(&self, path: &str) -> Arrived {
        let to = Journey::To(format!("{}{path}", self.here));
        self.browser.navigate(to, CancellationToken::new()).await.unwrap()
    }

    pub async fn view(&self, query: PageQuery) -> PageView {
        self.browser.elements(query).await.unwrap()
    }

    /// Looks until the page has this element; answers it.
    pub async fn find(&self, role: &str, name: &str) -> WebElement {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let view = self.view(query()).await;
            if let Some(found) = view.elements.iter().find(|one| one.role == role && one.name == name) {
                return found.clone();
            }
            assert!(Instant::now() < end, "no {role} {name:?} in {view:#?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    pub async fn find_named(&self, name: &str) -> WebElement {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let view = self.view(query()).await;
            if let Some(found) = view.elements.iter().find(|one| one.name == name) {
                return found.clone();
            }
            assert!(Instant::now() < end, "no {name:?} in {view:#?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    pub async fn try_click(&self, reference: &str) -> Result<WebActed, DesktopError> {
        let reference = reference.to_owned();
        let click = WebClick { reference, button: Button::Left, count: 1, held: Vec::new(), display: 0 };
        self.browser.click(click, CancellationToken::new()).await
    }

    pub async fn click(&self, role: &str, name: &str) -> WebActed {
        let found = self.find(role, name).await;
        self.try_click(&found.reference).await.unwrap()
    }

    pub async fn try_type(&self, reference: &str, text: &str) -> Result<WebActed, DesktopError> {
        let wish = WebText {
            reference: reference.into(),
            text: text.into(),
            how: Fill::Replace,
            then: Then::Nothing,
        };
        self.browser.type_text(wish, CancellationToken::new()).await
    }

    /// Reads the page until its text has this.
    pub async fn says(&self, wanted: &str) {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let text = self.text().await;
            if text.contains(wanted) {
                return;
            }
            assert!(Instant::now() < end, "no {wanted:?} in {text:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    pub async fn text(&self) -> String {
        let query = browser::TextQuery { offset: 0, limit: 100_000, links: browser::Links::Left };
        self.browser.read(query).await.unwrap().text
    }

    pub fn profile(&self) -> PathBuf {
        self.options.data.join("browser")
    }

    /// Every process of the browser, known by its profile.
    pub fn browser_pids(&self) -> Vec<u32> {
        let profile = self.profile().to_string_lossy().into_owned();
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Ok(line) = std::fs::read(entry.path().join("cmdline")) else { continue };
            if String::from_utf8_lossy(&line).contains(&profile)
                && let Ok(pid) = entry.file_name().to_string_lossy().parse()
            {
                found.push(pid);
            }
        }
        found
    }

    pub fn kill_browser(&self) {
        let end = Instant::now() + Duration::from_secs(20);
        while let pids @ [_, ..] = self.browser_pids().as_slice() {
            for pid in pids {
                let _gone =
                    Command::new("kill").args(["-KILL", &pid.to_string()]).stderr(Stdio::null()).status();
            }
            assert!(Instant::now() < end, "the browser does not end");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.kill_browser();
        for child in &mut self.running {
            let _gone = child.kill();
            let _reaped = child.wait();
        }
    }
}

pub fn query() -> PageQuery {
    PageQuery { query: None, scope: Scope::View, kind: Kind::Interactive, limit: 500, display: 0 }
}

type Site = Arc<dyn Fn(&str, u16) -> Answer + Send + Sync>;

/// Serves until the test's runtime ends.
async fn serve(site: Site) -> u16 {
    // Both names lead to it.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    if let Ok(six) = TcpListener::bind(("::1", port)).await {
        tokio::spawn(answer_all(six, Arc::clone(&site), port));
    }
    tokio::spawn(answer_all(listener, site, port));
    port
}

async fn answer_all(listener: TcpListener, site: Site, port: u16) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let site = Arc::clone(&site);
        tokio::spawn(async move {
            let mut request = Vec::new();
            let mut chunk = [0; 4096];
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut chunk).await {
                    Ok(count @ 1..) => request.extend_from_slice(&chunk[..count]),
                    _ => return,
                }
            }
            let text = String::from_utf8_lossy(&request).into_owned();
            let path = text.split_whitespace().nth(1).unwrap_or("/").to_owned();
            let Answer { status, kind, body } = site(&path, port);
            let head = format!(
                "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _sent = stream.write_all(&[head.as_bytes(), &body].concat()).await;
        });
    }
}

/// The body that a server on loopback answers.
pub async fn get(port: u16, path: &str) -> String {
    ask(port, "GET", path).await
}

async fn ask(port: u16, method: &str, path: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let request = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let mut chunk = [0; 8192];
    loop {
        let count = stream.read(&mut chunk).await.unwrap();
        answer.push_str(&String::from_utf8_lossy(&chunk[..count]));
        let Some((head, body)) = answer.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            line.to_lowercase().strip_prefix("content-length:").map(|n| n.trim().parse::<usize>().unwrap())
        });
        if count == 0 || length.is_some_and(|length| body.len() >= length) {
            return body.to_owned();
        }
    }
}
