use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use axum::extract::Request;
use axum::routing::any;
use axum::{Router, http::HeaderMap};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::{Names, fake};

/// Each name leads to this machine, and is counted.
struct Here(AtomicUsize);

#[async_trait]
impl Names for Here {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(vec![IpAddr::from([127, 0, 0, 1])])
    }
}

struct Stage {
    proxy: Proxy,
    port: u16,
    names: Arc<Here>,
}

impl Stage {
    /// A server on this machine, and a way to the host `good.example`, which leads to it.
    async fn new(guard: fn(Arc<Here>) -> Guard) -> Self {
        let told = |headers: HeaderMap, request: Request| async move {
            let host = headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or("-").to_owned();
            format!("{} {} from {host}, {} fields", request.method(), request.uri(), headers.len())
        };
        let port = fake::serve(Router::new().fallback(any(told))).await.port();
        let names = Arc::new(Here(AtomicUsize::new(0)));
        let proxy = Proxy::open(guard(Arc::clone(&names)), &["Good.example.".to_owned()]).unwrap();
        Self { proxy, port, names }
    }

    async fn loose() -> Self {
        Self::new(|names| Guard::reaching_loopback().asking(names)).await
    }

    #[cfg(target_os = "linux")]
    async fn connect(&self) -> impl AsyncRead + AsyncWrite + Unpin + use<> {
        tokio::net::UnixStream::connect(self.proxy.socket()).await.unwrap()
    }

    #[cfg(not(target_os = "linux"))]
    async fn connect(&self) -> impl AsyncRead + AsyncWrite + Unpin + use<> {
        TcpStream::connect(("127.0.0.1", self.proxy.port())).await.unwrap()
    }

    /// All that comes back for what is sent.
    async fn ask(&self, request: &str) -> String {
        let mut connection = self.connect().await;
        connection.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await.unwrap();
        answer
    }

    fn resolved(&self) -> usize {
        self.names.0.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn a_host_that_was_allowed_is_reached_by_a_tunnel_and_by_plain_requests() {
    let stage = Stage::loose().await;
    let port = stage.port;
    let mut tunnel = stage.connect().await;
    let connect = format!("CONNECT good.example:{port} HTTP/1.1\r\nHost: good.example\r\n\r\n");
    tunnel.write_all(connect.as_bytes()).await.unwrap();
    tunnel.write_all(b"GET /in HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    tunnel.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK"), "{answer}");
    assert!(answer.ends_with("GET /in from x, 2 fields"), "{answer}");

    let plain = format!(
        "POST http://GOOD.example:{port}/a?b=c HTTP/1.1\r\nHost: other.example\r\nContent-Length: 2\r\nProxy-Connection: keep-alive\r\n\r\nhi"
    );
    let answer = stage.ask(&plain).await;
    assert!(answer.ends_with(&format!("POST /a?b=c from good.example:{port}, 3 fields")), "{answer}");
    assert_eq!(stage.proxy.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn no_other_host_is_reached_or_even_looked_up_however_it_is_written() {
    let stage = Stage::loose().await;
    let port = stage.port;
    for request in [
        format!("CONNECT evil.example:{port} HTTP/1.1\r\nHost: good.example\r\n\r\n"),
        format!("CONNECT good.example.evil.example:{port} HTTP/1.1\r\n\r\n"),
        format!("CONNECT a.good.example:{port} HTTP/1.1\r\n\r\n"),
        format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n"),
        format!("CONNECT [::1]:{port} HTTP/1.1\r\n\r\n"),
        format!("CONNECT 2130706433:{port} HTTP/1.1\r\n\r\n"),
        format!("GET http://evil.example:{port}/ HTTP/1.1\r\nHost: good.example\r\n\r\n"),
        format!("GET http://good.example@evil.example:{port}/ HTTP/1.1\r\n\r\n"),
    ] {
        let answer = stage.ask(&request).await;
        assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{request}: {answer}");
    }
    for request in [
        format!("CONNECT good.example@evil.example:{port} HTTP/1.1\r\n\r\n"),
        format!("CONNECT good.example:{port}/ HTTP/1.1\r\n\r\n"),
        "GET / HTTP/1.1\r\nHost: good.example\r\n\r\n".to_owned(),
        "GET https://good.example/ HTTP/1.1\r\n\r\n".to_owned(),
        "GET ftp://good.example/ HTTP/1.1\r\n\r\n".to_owned(),
        "SSH-2.0-OpenSSH\r\n\r\n".to_owned(),
    ] {
        let answer = stage.ask(&request).await;
        assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer}");
    }
    // Nobody reads it to its end: the answer may be lost with it.
    let endless = format!("GET http://good.example:{port}/ HTTP/1.1\r\nA: {}\r\n\r\n", "x".repeat(40_000));
    let mut connection = stage.connect().await;
    connection.write_all(endless.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = connection.read_to_end(&mut answer).await;
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 400 Bad Request\r\n"));
    assert_eq!(stage.resolved(), 0, "nobody was asked where they lead");
    let refused = stage.proxy.refused();
    assert!(
        refused.contains(&"evil.example".to_owned()) && refused.contains(&"127.0.0.1".to_owned()),
        "{refused:?}"
    );
}

#[tokio::test]
async fn an_allowed_name_that_leads_to_this_machine_or_to_another_port_leads_nowhere() {
    let stage = Stage::new(|names| Guard::strict(&[8080]).asking(names)).await;
    let port = stage.port;
    for (request, status) in [
        ("CONNECT good.example:443 HTTP/1.1\r\n\r\n".to_owned(), "502"),
        ("GET http://good.example/ HTTP/1.1\r\n\r\n".to_owned(), "502"),
        (format!("CONNECT good.example:{port} HTTP/1.1\r\n\r\n"), "403"),
        ("CONNECT good.example:22 HTTP/1.1\r\n\r\n".to_owned(), "403"),
        ("CONNECT good.example:8080 HTTP/1.1\r\n\r\n".to_owned(), "403"),
    ] {
        let answer = stage.ask(&request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {answer}");
    }
}

#[tokio::test]
async fn it_ends_with_whoever_holds_it_and_all_that_goes_through_it() {
    let stage = Stage::loose().await;
    let mut tunnel = stage.connect().await;
    let connect = format!("CONNECT good.example:{} HTTP/1.1\r\n\r\n", stage.port);
    tunnel.write_all(connect.as_bytes()).await.unwrap();
    let mut some = [0; 12];
    tunnel.read_exact(&mut some).await.unwrap();
    drop(stage);
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(10), tunnel.read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "the tunnel is open still");
}
