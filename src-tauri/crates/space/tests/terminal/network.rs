//! Commands that may reach some hosts: their network has nothing but the way to their proxy in it. What that lets through, the
//! proxy's own tests hold.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use space::terminal::{CommandSpec, Exit, Network, ProxyAt, Sandbox, Setup, Terminal, TerminalError};
use tokio_util::sync::CancellationToken;

use crate::stage::{here, within};

/// Stands for a proxy: answers each connection with the first line of what was asked, and keeps that.
fn proxy() -> (Network, Arc<Mutex<Vec<String>>>) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("proxy");
    let listener = UnixListener::bind(&socket).unwrap();
    let (asked, kept) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let keeps = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let read = client.read(&mut request).unwrap_or(0);
            let line = String::from_utf8_lossy(&request[..read]).lines().next().unwrap_or("").to_owned();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close", line.len());
            let _ = write!(client, "{head}\r\n\r\n{line}");
            keeps.lock().unwrap().push(line);
        }
    });
    let hosts = vec!["good.example".to_owned()];
    kept.lock().unwrap().push(folder);
    (Network { hosts, proxy: ProxyAt::Socket(socket), held: kept }, asked)
}

fn with_network(command: &str) -> CommandSpec {
    CommandSpec { network: Some(proxy().0), ..CommandSpec::new(command) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_with_a_network_reaches_its_proxy_and_nothing_else_in_any_way() {
    let here = here();
    let reached = here.run_spec(with_network("curl -sS -m 30 http://good.example/a")).await;
    assert_eq!((reached.text.as_str(), reached.exit), ("GET http://good.example/a HTTP/1.1", Exit::Code(0)));
    let (network, asked) = proxy();
    let secure =
        CommandSpec { network: Some(network), ..CommandSpec::new("curl -s -m 30 https://good.example/") };
    here.run_spec(secure).await;
    assert_eq!(*asked.lock().unwrap(), ["CONNECT good.example:443 HTTP/1.1"]);
    // This machine's ports and names are not those of the sandbox.
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    for past in [
        format!("curl -s -m 5 --noproxy '*' http://127.0.0.1:{port}/ || echo none"),
        "curl -s -m 5 --noproxy '*' http://good.example/ || echo none".to_owned(),
        "getent hosts good.example || echo none".to_owned(),
        "getent hosts localhost.example || echo none".to_owned(),
    ] {
        assert_eq!(here.run_spec(with_network(&past)).await.text, "none", "{past}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_without_hosts_has_no_way_out_while_another_has_one() {
    let here = here();
    let job = here.terminal.start(with_network("echo up; sleep 60"), |_| {}).unwrap();
    within(Duration::from_secs(20), "the other runs", || job.read(0).text.contains("up"));
    let said = here.says("ls /run; env | grep -ic proxy; curl -s -m 5 http://127.0.0.1/ || echo none").await;
    assert!(!said.contains("proxy") && said.ends_with("0\nnone"), "{said}");
    let past = "curl -s -m 5 --unix-socket /run/proxy http://good.example/ || echo none";
    assert_eq!(here.says(past).await, "none");
    assert_eq!(job.hosts(), ["good.example"]);
    job.stop(space::terminal::Stopped::Cancelled);
    job.wait().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_leads_out_neither_keeps_a_command_from_ending_nor_ends_with_its_group() {
    let here = here();
    let began = Instant::now();
    let ended = here.run_spec(with_network("exit 7")).await;
    assert_eq!(ended.exit, Exit::Code(7));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let line = "trap '' TERM; kill 0; curl -sS -m 30 http://good.example/after";
    let ended = here.run_spec(with_network(line)).await;
    assert!(ended.text.ends_with("GET http://good.example/after HTTP/1.1"), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nothing_leads_out_the_command_is_refused_and_says_why() {
    let space = tempfile::tempdir().unwrap();
    let terminal = Terminal::open(Setup::new(space.path()), Arc::new(Sandbox::probe(None))).unwrap();
    let refused = terminal.run(with_network("touch ran"), |_| {}, CancellationToken::new()).await;
    let error = refused.unwrap_err();
    assert!(matches!(error, TerminalError::NoNetwork { .. }), "{error}");
    assert!(error.to_string().contains("miki-confine"), "{error}");
    assert!(!space.path().join("ran").exists());
}
