//! One Radicale for all tests: a folder, a port on loopback, a user for each test.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use agenda::{CalDav, CalDavAccount};
use protocol::command::Secret;
use reqwest::{Client, Method, StatusCode};

pub const PASSWORD: &str = "canary-Pass-1";
const USERS: usize = 200;

/// Ends itself and clears its folder when its input does: with the tests, however they end.
const WATCHED: &str = r#"
import os, shutil, sys, threading
folder = sys.argv.pop(1)
def watch():
    sys.stdin.read()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)
threading.Thread(target=watch, daemon=True).start()
from radicale.__main__ import run
run()
"#;

/// A test's own user on a server.
pub struct Radicale {
    pub url: String,
    pub user: String,
    client: Client,
}

/// A running server; it ends with its input.
pub struct Server {
    process: Child,
    _input: ChildStdin,
    url: String,
}

/// The Python that set-up gives Radicale; `RADICALE_PYTHON` names another.
pub fn python() -> PathBuf {
    let tools = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools").join("radicale");
    let ours = tools.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let python = std::env::var_os("RADICALE_PYTHON").map_or(ours, PathBuf::from);
    assert!(python.is_file(), "Radicale is not in {}; run: cargo xtask setup", python.display());
    python
}

impl Server {
    pub fn start() -> Self {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("radicale-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut users = std::fs::File::create(folder.join("users")).unwrap();
        for user in 0..USERS {
            writeln!(users, "user{user}:{PASSWORD}").unwrap();
        }
        // Someone else may take the port before Radicale does: then it ends, and the next one is tried.
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let config = format!(
                "[server]\nhosts = 127.0.0.1:{port}\nmax_connections = 100\n[auth]\ntype = htpasswd\n\
                 htpasswd_filename = {0}/users\nhtpasswd_encryption = plain\ndelay = 0\n[storage]\n\
                 filesystem_folder = {0}/collections\n[logging]\nlevel = error\n",
                folder.display()
            );
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("config"), config).unwrap();
            let mut process = Command::new(python())
                .args(["-c", WATCHED])
                .arg(&folder)
                .arg("--config")
                .arg(folder.join("config"))
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let input = process.stdin.take().unwrap();
            let end = Instant::now() + Duration::from_secs(60);
            while process.try_wait().unwrap().is_none() {
                if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    return Self { process, _input: input, url: format!("http://127.0.0.1:{port}") };
                }
                assert!(Instant::now() < end, "Radicale did not answer in a minute");
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        panic!("Radicale did not start");
    }

    /// The next user, with the calendars `office` (events), `home` (both) and `tasks` (reminders).
    pub async fn user(&self) -> Radicale {
        static USED: AtomicUsize = AtomicUsize::new(0);
        let user = format!("user{}", USED.fetch_add(1, Ordering::Relaxed));
        let client = Client::builder().no_proxy().build().unwrap();
        let radicale = Radicale { url: self.url.clone(), user, client };
        radicale.make_calendar("office", "Work", &["VEVENT"]).await;
        radicale.make_calendar("home", "Zuhause 家", &["VEVENT", "VTODO"]).await;
        radicale.make_calendar("tasks", "Tasks", &["VTODO"]).await;
        radicale
    }

    pub fn end(mut self) {
        drop(self._input);
        self.process.wait().unwrap();
    }
}

impl Radicale {
    pub async fn start() -> Self {
        static SHARED: OnceLock<Server> = OnceLock::new();
        SHARED.get_or_init(Server::start).user().await
    }

    pub fn account(&self) -> CalDavAccount {
        CalDavAccount { url: self.url.clone(), user: self.user.clone(), password: Secret(PASSWORD.into()) }
    }

    pub fn agenda(&self) -> CalDav {
        CalDav::new(&self.account()).unwrap()
    }

    /// As another program of the same person's.
    async fn ask(&self, method: &str, path: &str, body: String) -> (StatusCode, String) {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = self.client.request(method, format!("{}{path}", self.url));
        let request = request
            .basic_auth(&self.user, Some(PASSWORD))
            .header("content-type", "text/calendar; charset=utf-8");
        let answer = request.body(body).send().await.unwrap();
        (answer.status(), answer.text().await.unwrap())
    }

    pub async fn make_calendar(&self, path: &str, name: &str, holds: &[&str]) {
        let comps: String = holds.iter().map(|name| format!(r#"<C:comp name="{name}"/>"#)).collect();
        let body = format!(
            r##"<C:mkcalendar xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:A="http://apple.com/ns/ical/">
<set><prop><displayname>{name}</displayname><A:calendar-color>#FF8800FF</A:calendar-color>
<C:supported-calendar-component-set>{comps}</C:supported-calendar-component-set></prop></set></C:mkcalendar>"##
        );
        let (status, said) = self.ask("MKCALENDAR", &format!("/{}/{path}/", self.user), body).await;
        assert_eq!(status, StatusCode::CREATED, "{said}");
    }

    pub async fn put(&self, path: &str, text: &str) {
        let (status, said) = self.ask("PUT", path, text.into()).await;
        assert!(status.is_success(), "{status} {said}");
    }

    pub async fn delete(&self, path: &str) {
        assert!(self.ask("DELETE", path, String::new()).await.0.is_success());
    }

    pub async fn get(&self, path: &str) -> Option<String> {
        let (status, text) = self.ask("GET", path, String::new()).await;
        status.is_success().then_some(text)
    }
}
