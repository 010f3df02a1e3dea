//! Where the browser comes back to: one answer, on this machine alone, to whoever knows what was asked.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use reqwest::Url;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tools::untrusted;

const PATH: &str = "/signed-in";
/// Bytes of a request that are read; a code and a state are some hundred.
const REQUEST: usize = 16 * 1024;
/// Connections at once: browsers open some that they never use.
const CONNECTIONS: usize = 16;
const READ: Duration = Duration::from_secs(20);
/// After a connection that could not be taken.
const AGAIN: Duration = Duration::from_millis(100);
const MESSAGE_CHARS: usize = 200;

/// Listens on a free port, from when it is made until it is dropped.
pub struct Redirect {
    listener: TcpListener,
    port: u16,
}

/// What the browser brought.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// To be exchanged, once. A secret until then.
    pub code: String,
    /// Who says to have given it, where they say so.
    pub issuer: Option<String>,
}

impl Redirect {
    pub async fn listen() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// The one answer. Whatever else is asked for here is not found: any page may ask for it, and ends nothing by that.
    ///
    /// # Errors
    /// Why there is no code in it, for people.
    pub async fn answer(&self, state: &str) -> Result<Answer, String> {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if connections.len() < CONNECTIONS => {
                    let Ok((stream, _)) = accepted else {
                        // It was gone before it was taken, or there are too many open files just now.
                        tokio::time::sleep(AGAIN).await;
                        continue;
                    };
                    let state = state.to_owned();
                    connections.spawn(async move { timeout(READ, converse(stream, &state)).await });
                }
                Some(done) = connections.join_next() => {
                    if let Ok(Ok(Some(answer))) = done {
                        return answer;
                    }
                }
            }
        }
    }
}

/// One request, and a plain page; `None` if it was not what is waited for.
async fn converse(mut stream: TcpStream, state: &str) -> Option<Result<Answer, String>> {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let room = REQUEST - request.len();
        if room == 0 || (&mut stream).take(room as u64).read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
    }
    let judged = judged(&String::from_utf8_lossy(&request), state);
    let (status, page) = match &judged {
        None => ("404 Not Found", "There is nothing here."),
        Some(Ok(_)) => ("200 OK", "Miki has the answer. You can close this page."),
        Some(Err(_)) => ("400 Bad Request", "You are not signed in. Miki says why, where you began."),
    };
    let length = page.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {length}\r\n\
         x-content-type-options: nosniff\r\nreferrer-policy: no-referrer\r\ncache-control: no-store\r\n\
         connection: close\r\n\r\n{page}"
    );
    // That it cannot be told changes nothing of what it brought.
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
    judged
}

fn judged(request: &str, state: &str) -> Option<Result<Answer, String>> {
    let mut words = request.lines().next()?.split(' ');
    let target = words.next().filter(|method| *method == "GET").and_then(|_| words.next())?;
    let url = Url::parse(&format!("http://127.0.0.1{target}")).ok().filter(|url| url.path() == PATH)?;
    let find =
        |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    if find("state").as_deref() != Some(state) {
        return None;
    }
    if let Some(error) = find("error") {
        let said = find("error_description").unwrap_or_default();
        return Some(Err(match error.as_str() {
            "access_denied" => "it was refused in the browser".into(),
            other => format!(
                "it was refused in the browser: {}",
                untrusted::line(&format!("{other} {said}"), MESSAGE_CHARS)
            ),
        }));
    }
    let answer = find("code").map(|code| Answer { code, issuer: find("iss") });
    Some(answer.ok_or_else(|| "the browser brought no code".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<Result<Answer, String>> {
        judged(&format!("{line} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"), "right")
    }

    #[test]
    fn only_the_answer_to_what_was_asked_is_taken() {
        let answer = of("GET /signed-in?code=a%20b&state=right&iss=https://as.example").unwrap().unwrap();
        assert_eq!(answer, Answer { code: "a b".into(), issuer: Some("https://as.example".into()) });
        for line in [
            "GET /",
            "GET /favicon.ico",
            "GET /signed-in/../x?code=a&state=right",
            "POST /signed-in?code=a&state=right",
            "GET http://evil.example/signed-in?code=a&state=right",
            "GET @evil.example/signed-in/x?code=a&state=right",
            "GET /signed-in?code=a&state=wrong",
            "GET /signed-in?code=a",
            "GET /signed-in?error=access_denied&state=wrong",
            "GET",
            "",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
        for (line, why) in [
            ("GET /signed-in?error=access_denied&state=right", "refused in the browser"),
            ("GET /signed-in?error=x&error_description=no%20room%1b%5B2J&state=right", "x no room[2J"),
            ("GET /signed-in?state=right", "no code"),
        ] {
            let told = of(line).unwrap().unwrap_err();
            assert!(told.contains(why), "{line}: {told}");
        }
    }

    #[tokio::test]
    async fn what_is_too_long_or_something_else_is_passed_over_and_the_answer_still_heard() {
        let redirect = Redirect::listen().await.unwrap();
        let ask = async {
            let place = ("127.0.0.1", redirect.port);
            // Opened and never used.
            let _silent = TcpStream::connect(place).await.unwrap();
            let mut flood = TcpStream::connect(place).await.unwrap();
            let _ = flood.write_all(&vec![b'a'; REQUEST * 2]).await;
            let client = crate::address::client("http://127.0.0.1").unwrap();
            let get = |path: &str| client.get(format!("http://127.0.0.1:{}{path}", redirect.port)).send();
            assert_eq!(get("/favicon.ico").await.unwrap().status(), 404);
            let not_ours = get("/signed-in?error=access_denied&state=wrong").await.unwrap();
            assert_eq!(not_ours.status(), 404, "a page that guesses ends nothing");
            let page = get("/signed-in?code=c&state=right").await.unwrap();
            assert_eq!(page.status(), 200);
            let page = page.text().await.unwrap();
            assert!(page.contains("close this page") && !page.contains("code"), "{page}");
        };
        let (answer, ()) = tokio::join!(redirect.answer("right"), ask);
        assert_eq!(answer.unwrap().code, "c");
    }
}
