//! Commands that may reach some hosts: through the proxy that leads to these, from a network with nothing else in it.

use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use space::terminal::{CommandSpec, Exit, Network, ProxyAt, Sandbox, Setup, Terminal, TerminalError};
use tokio_util::sync::CancellationToken;
use web::{Fetcher, Guard, Names};

use crate::stage::{here, within};

/// Each name leads to this machine.
struct Here;

#[async_trait]
impl Names for Here {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        Ok(vec![IpAddr::from([127, 0, 0, 1])])
    }
}

/// Answers each connection with what was asked; until the tests end.
fn serve() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let read = client.read(&mut request).unwrap_or(0);
            let line = String::from_utf8_lossy(&request[..read]).lines().next().unwrap_or("").to_owned();
            let _ = write!(
                client,
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{line}",
                line.len()
            );
        }
    });
    port
}

fn leading_to(host: &str) -> Network {
    let fetcher = Fetcher::new("test", Guard::reaching_loopback().asking(Arc::new(Here))).unwrap();
    let hosts = vec![host.to_owned()];
    let proxy = fetcher.proxy(&hosts).unwrap();
    Network { hosts, proxy: ProxyAt::Socket(proxy.socket()), held: Arc::new(proxy) }
}

fn with_network(command: &str) -> CommandSpec {
    CommandSpec { network: Some(leading_to("good.example")), ..CommandSpec::new(command) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_reaches_its_hosts_by_the_proxy_and_nothing_else_in_any_way() {
    let (here, port) = (here(), serve());
    let reached = here.run_spec(with_network(&format!("curl -sS -m 30 http://good.example:{port}/a"))).await;
    assert_eq!((reached.text.as_str(), reached.exit), ("GET /a HTTP/1.1", Exit::Code(0)));
    let tunnel = format!("curl -sS -m 30 --proxytunnel http://good.example:{port}/b");
    assert_eq!(here.run_spec(with_network(&tunnel)).await.text, "GET /b HTTP/1.1");
    for (way, says) in [
        // By the proxy, to another host, by its name or address.
        (format!("curl -s -m 30 -w '%{{http_code}}' -o /dev/null http://evil.example:{port}/"), "403"),
        (
            format!("curl -s -m 30 -w '%{{http_code}}' -o /dev/null http://127.0.0.1:{port}/ --noproxy ''"),
            "403",
        ),
        // The proxy's socket itself, which stands inside, too.
        (
            format!(
                "curl -s -m 30 -w '%{{http_code}}' -o /dev/null --noproxy '*' --unix-socket /run/proxy \
                 --request-target http://evil.example:{port}/ http://good.example/"
            ),
            "403",
        ),
        // Past it: this machine's ports and names are not those of the sandbox.
        (format!("curl -s -m 5 --noproxy '*' http://127.0.0.1:{port}/ || echo none"), "none"),
        (format!("curl -s -m 5 --noproxy '*' http://good.example:{port}/ || echo none"), "none"),
        ("getent hosts good.example || echo none".to_owned(), "none"),
    ] {
        let said = here.run_spec(with_network(&way)).await.text;
        assert!(said.ends_with(says), "{way}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_without_hosts_has_no_way_out_while_another_has_one() {
    let (here, port) = (here(), serve());
    let job = here.terminal.start(with_network("echo up; sleep 60"), |_| {}).unwrap();
    within(Duration::from_secs(20), "the other runs", || job.read(0).text.contains("up"));
    let said = here.says("ls /run; env | grep -ic proxy; curl -s -m 5 http://127.0.0.1/ || echo none").await;
    assert!(!said.contains("proxy") && said.ends_with("0\nnone"), "{said}");
    let past = format!("curl -s -m 5 --unix-socket /run/proxy http://good.example:{port}/ || echo none");
    assert_eq!(here.says(&past).await, "none");
    assert_eq!(job.hosts(), ["good.example"]);
    job.stop(space::terminal::Stopped::Cancelled);
    job.wait().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_leads_out_neither_keeps_a_command_from_ending_nor_ends_with_its_group() {
    let (here, port) = (here(), serve());
    let began = Instant::now();
    let ended = here.run_spec(with_network("exit 7")).await;
    assert_eq!(ended.exit, Exit::Code(7));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let line = format!("trap '' TERM; kill 0; curl -sS -m 30 http://good.example:{port}/after");
    let ended = here.run_spec(with_network(&line)).await;
    assert!(ended.text.ends_with("GET /after HTTP/1.1"), "{ended:?}");
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
