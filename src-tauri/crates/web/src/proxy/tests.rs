//! A way to one host, and all that is no way to others.

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
        let proxy = Proxy::open(
            guard(Arc::clone(&names)),
            &["Good.example.".to_owned()],
            Arc::new(Semaphore::new(4)),
        )
        .unwrap();
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

/// A server that says again what it is told; and how much it was told in all.
async fn echo() -> (u16, Arc<AtomicUsize>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let told = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&told);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut some = [0; 4096];
            while let Ok(read @ 1..) = client.read(&mut some).await {
                counts.fetch_add(read, Ordering::SeqCst);
                client.write_all(&some[..read]).await.unwrap();
            }
        }
    });
    (port, told)
}

const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// A tunnel to that port, and what comes back for what is said in it, at most as much as was said.
async fn tunnelled(stage: &Stage, port: u16, said: &[u8]) -> Vec<u8> {
    let mut tunnel = stage.connect().await;
    let connect = format!("CONNECT good.example:{port} HTTP/1.1\r\nHost: good.example\r\n\r\n");
    tunnel.write_all(connect.as_bytes()).await.unwrap();
    let mut answer = vec![0; ESTABLISHED.len()];
    tunnel.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, ESTABLISHED);
    // In two parts: what is sent may come in any.
    let (one, other) = said.split_at(said.len() / 2);
    tunnel.write_all(one).await.unwrap();
    tunnel.flush().await.unwrap();
    let _ = tunnel.write_all(other).await;
    let mut back = Vec::new();
    let _ = tunnel.take(said.len() as u64).read_to_end(&mut back).await;
    back
}

#[tokio::test]
async fn a_host_that_was_allowed_is_reached_by_tls_in_a_tunnel_and_by_plain_requests() {
    let stage = Stage::loose().await;
    let (server, _) = echo().await;
    let hello = hello::tests::hello_for("Good.example");
    assert_eq!(tunnelled(&stage, server, &hello).await, hello);
    let port = stage.port;

    let plain = format!(
        "POST http://GOOD.example:{port}/a?b=c HTTP/1.1\r\nHost: other.example\r\nContent-Length: 2\r\nProxy-Connection: keep-alive\r\n\r\nhi"
    );
    let answer = stage.ask(&plain).await;
    assert!(answer.ends_with(&format!("POST /a?b=c from good.example:{port}, 3 fields")), "{answer}");
    assert_eq!(stage.proxy.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn a_tunnel_is_for_tls_with_the_host_that_it_was_asked_for() {
    let stage = Stage::loose().await;
    let (server, told) = echo().await;
    for said in [
        hello::tests::hello_for("evil.example"),
        hello::tests::hello(&[]),
        b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n".to_vec(),
        b"SSH-2.0-OpenSSH_9\r\n".to_vec(),
    ] {
        assert_eq!(tunnelled(&stage, server, &said).await, b"", "{said:?}");
    }
    assert_eq!(told.load(Ordering::SeqCst), 0, "nothing came to the server");
    assert_eq!(stage.proxy.refused(), ["evil.example"]);
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
async fn those_who_say_nothing_keep_no_more_than_their_own_places() {
    let stage = Stage::loose().await;
    let idle = [stage.connect().await, stage.connect().await, stage.connect().await];
    let asked = format!("GET http://good.example:{}/ HTTP/1.1\r\n\r\n", stage.port);
    for _ in 0..10 {
        assert!(stage.ask(&asked).await.contains("200 OK"));
    }
    drop(idle);
}

#[tokio::test]
async fn it_ends_with_whoever_holds_it_and_all_that_goes_through_it() {
    let stage = Stage::loose().await;
    let (server, _) = echo().await;
    let mut tunnel = stage.connect().await;
    let connect = format!("CONNECT good.example:{server} HTTP/1.1\r\n\r\n");
    tunnel.write_all(connect.as_bytes()).await.unwrap();
    let hello = hello::tests::hello_for("good.example");
    tunnel.write_all(&hello).await.unwrap();
    let mut some = vec![0; ESTABLISHED.len() + hello.len()];
    tunnel.read_exact(&mut some).await.unwrap();
    drop(stage);
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(10), tunnel.read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "the tunnel is open still");
}
