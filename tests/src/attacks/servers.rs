//! Two origins of the web: `home.test`, whose pages are harmless, and `evil.test`. Each request is logged.
//!
//! Both are one server on this machine; which host was meant is in the request, and the browser is told to find both
//! here. A page asks every moment whether something is to change in it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;

/// What pages ask for by themselves.
const OWN: [&str; 3] = ["/order", "/obeyed", "/favicon.ico"];

#[derive(Clone, Default)]
struct Shared {
    asked: Arc<Mutex<Vec<(String, String)>>>,
    order: Arc<Mutex<String>>,
    has_obeyed: Arc<AtomicBool>,
}

pub(super) struct Servers {
    pub(super) port: u16,
    shared: Shared,
}

impl Servers {
    /// # Errors
    /// Where no port of this machine can be had.
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let (port, shared) = (listener.local_addr()?.port(), Shared::default());
        let of_server = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = of_server.clone();
                std::thread::spawn(move || serve(&stream, &shared));
            }
        });
        Ok(Self { port, shared })
    }

    /// What was asked so far: host, and method with path and body.
    pub(super) fn asked(&self) -> Vec<(String, String)> {
        self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The next page that asks runs this.
    pub(super) fn order(&self, script: &str) {
        self.shared.has_obeyed.store(false, Ordering::Release);
        script.clone_into(&mut self.shared.order.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) fn has_been_obeyed(&self) -> bool {
        self.shared.has_obeyed.load(Ordering::Acquire)
    }
}

fn serve(mut stream: &TcpStream, shared: &Shared) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut first, mut host, mut length) = (String::new(), String::new(), 0);
    reader.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        match name.to_lowercase().as_str() {
            "host" => value.trim().clone_into(&mut host),
            "content-length" => length = value.trim().parse().ok()?,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut words = first.split_whitespace();
    let (method, path) = (words.next()?, words.next()?);
    let answer = if path == "/order" {
        std::mem::take(&mut *shared.order.lock().unwrap_or_else(PoisonError::into_inner))
    } else {
        page(&host)
    };
    if path == "/obeyed" {
        shared.has_obeyed.store(true, Ordering::Release);
    }
    if !OWN.contains(&path) {
        let what = format!("{method} {path} {}", String::from_utf8_lossy(&body));
        let mut asked = shared.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push((host, what.trim().to_owned()));
    }
    // A site that the user trusts may hand on to any other.
    if let Some(to) = path.strip_prefix("/r?to=") {
        let to = to.replace("%3A", ":").replace("%2F", "/");
        let head = format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\nconnection: close");
        return write!(stream, "{head}\r\ncontent-length: 0\r\n\r\n").ok();
    }
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\naccess-control-allow-origin: *\r\nconnection: close";
    write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{answer}", answer.len()).ok()
}

fn page(host: &str) -> String {
    include_str!("../../attacks/page.html").replace("$HOST", host)
}
