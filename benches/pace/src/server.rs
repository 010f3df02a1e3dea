//! A server that takes any request and answers at once with the whole stream of the provider that its path begins with.

use std::collections::HashMap;
use std::sync::Arc;

use models::Provider;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::{Failure, streams};

pub struct Server {
    pub url: String,
}

impl Server {
    pub async fn start() -> Result<Self, Failure> {
        let mut answers = HashMap::new();
        for provider in Provider::known() {
            let stream = streams::of(&provider.id)?;
            let kind = if provider.id == "ollama" { "application/x-ndjson" } else { "text/event-stream" };
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
                stream.len()
            );
            answers.insert(provider.id.clone(), [head.into_bytes(), stream].concat());
        }
        let answers = Arc::new(answers);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let answers = Arc::clone(&answers);
                tokio::spawn(async move {
                    if let Err(error) = serve(socket, &answers).await {
                        eprintln!("the server: {error}");
                    }
                });
            }
        });
        Ok(Self { url })
    }
}

async fn serve(mut socket: TcpStream, answers: &HashMap<String, Vec<u8>>) -> Result<(), Failure> {
    socket.set_nodelay(true)?;
    let mut read = vec![0; 256 * 1024];
    let mut head = Vec::new();
    loop {
        let end = loop {
            if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            match socket.read(&mut read).await? {
                0 => return Ok(()),
                count => head.extend_from_slice(&read[..count]),
            }
        };
        let text = String::from_utf8_lossy(&head[..end]).to_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut missing = length.ok_or("a request without its length")?.trim().parse::<usize>()?;
        missing = missing.checked_sub(head.len() - end).ok_or("two requests at once")?;
        head.clear();
        while missing > 0 {
            match socket.read(&mut read).await? {
                0 => return Err("a request without its end".into()),
                count => missing = missing.checked_sub(count).ok_or("two requests at once")?,
            }
        }
        let provider = text.split('/').nth(1).unwrap_or_default();
        socket.write_all(answers.get(provider).ok_or("nobody is there")?).await?;
    }
}
