//! The yardstick of a page: one evaluate call over a connection of its own, for what is in view and active by its
//! markup, with nothing but name, role, value and bounds.

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use crate::work::Failure;

const SCRIPT: &str = include_str!("plain.js");

pub struct Page {
    socket: WebSocketStream<TcpStream>,
    next: u64,
}

impl Page {
    /// The first page of the browser with this debugging port.
    pub async fn attach(port: u16) -> Result<Self, Failure> {
        let list: Value = serde_json::from_str(&get(port, "/json/list").await?)?;
        let pages = list.as_array().into_iter().flatten();
        let address = pages
            .filter(|target| target["type"] == "page")
            .find_map(|page| page["webSocketDebuggerUrl"].as_str())
            .ok_or("the browser has no page")?;
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        let (socket, _) = tokio_tungstenite::client_async(address, stream).await?;
        Ok(Self { socket, next: 0 })
    }

    /// How many elements it found.
    pub async fn evaluate(&mut self) -> Result<usize, Failure> {
        self.next += 1;
        let wish = json!({ "expression": SCRIPT, "returnByValue": true });
        let call = json!({ "id": self.next, "method": "Runtime.evaluate", "params": wish });
        self.socket.send(Message::text(call.to_string())).await?;
        while let Some(message) = self.socket.next().await {
            let Message::Text(text) = message? else { continue };
            let answer: Value = serde_json::from_str(&text)?;
            if answer["id"] == self.next {
                let told = answer["result"]["result"]["value"].as_str().ok_or_else(|| answer.to_string())?;
                return Ok(serde_json::from_str::<Vec<Value>>(told)?.len());
            }
        }
        Err("the browser has closed the connection".into())
    }
}

/// The body that a server on loopback answers.
async fn get(port: u16, path: &str) -> Result<String, Failure> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    let mut chunk = [0; 8192];
    loop {
        let count = stream.read(&mut chunk).await?;
        answer.push_str(&String::from_utf8_lossy(&chunk[..count]));
        let Some((head, body)) = answer.split_once("\r\n\r\n") else {
            if count == 0 {
                return Err("the browser's debugging port gives no list of pages".into());
            }
            continue;
        };
        let mut lengths = head.lines().filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        if count == 0 || lengths.next().is_some_and(|length| body.len() >= length) {
            return Ok(body.to_owned());
        }
    }
}
