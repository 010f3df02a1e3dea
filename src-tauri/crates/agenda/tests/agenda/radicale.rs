//! A Radicale of a test's own: a folder, a port on loopback, one user.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agenda::{CalDav, CalDavAccount};
use protocol::command::Secret;
use reqwest::{Client, Method, StatusCode};
use tempfile::TempDir;

pub const USER: &str = "anna";
pub const PASSWORD: &str = "canary-Pass-1";

/// Ends with its owner.
pub struct Radicale {
    process: Child,
    pub url: String,
    client: Client,
    _folder: TempDir,
}

/// The Python that set-up gives Radicale; `RADICALE_PYTHON` names another.
pub fn python() -> PathBuf {
    let tools = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools").join("radicale");
    let ours = tools.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let python = std::env::var_os("RADICALE_PYTHON").map_or(ours, PathBuf::from);
    assert!(python.is_file(), "Radicale is not in {}; run: cargo xtask setup", python.display());
    python
}

impl Radicale {
    /// With the calendars `work` (events), `home` (both) and `tasks` (reminders).
    pub async fn start() -> Self {
        let radicale = Self::bare().await;
        radicale.make_calendar("work", "Work", &["VEVENT"]).await;
        radicale.make_calendar("home", "Zuhause 家", &["VEVENT", "VTODO"]).await;
        radicale.make_calendar("tasks", "Tasks", &["VTODO"]).await;
        radicale
    }

    async fn bare() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("users"), format!("{USER}:{PASSWORD}\n")).unwrap();
        let client = Client::builder().no_proxy().build().unwrap();
        // Someone else may take the port before Radicale does: then it ends, and the next one is tried.
        for _ in 0..5 {
            let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let config = format!(
                "[server]\nhosts = 127.0.0.1:{port}\n[auth]\ntype = htpasswd\nhtpasswd_filename = {0}/users\n\
                 htpasswd_encryption = plain\ndelay = 0\n[storage]\nfilesystem_folder = {0}/collections\n\
                 [logging]\nlevel = error\n",
                folder.path().display()
            );
            let file = folder.path().join("config");
            std::fs::write(&file, config).unwrap();
            let mut process = Command::new(python())
                .args(["-m", "radicale", "--config"])
                .arg(&file)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let url = format!("http://127.0.0.1:{port}");
            let end = Instant::now() + Duration::from_secs(60);
            while process.try_wait().unwrap().is_none() {
                if client.get(&url).send().await.is_ok() {
                    return Self { process, url, client, _folder: folder };
                }
                assert!(Instant::now() < end, "Radicale did not answer in a minute");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        panic!("Radicale did not start");
    }

    pub fn account(&self) -> CalDavAccount {
        CalDavAccount { url: self.url.clone(), user: USER.into(), password: Secret(PASSWORD.into()) }
    }

    pub fn agenda(&self) -> CalDav {
        CalDav::new(&self.account()).unwrap()
    }

    /// As another program of the same person's.
    async fn ask(&self, method: &str, path: &str, body: String) -> (StatusCode, String) {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = self.client.request(method, format!("{}{path}", self.url));
        let request =
            request.basic_auth(USER, Some(PASSWORD)).header("content-type", "text/calendar; charset=utf-8");
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
        let (status, said) = self.ask("MKCALENDAR", &format!("/{USER}/{path}/"), body).await;
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

impl Drop for Radicale {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
