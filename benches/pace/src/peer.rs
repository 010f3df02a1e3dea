//! The vendors' own Python SDKs, which ask the same server.

use std::process::Stdio;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::{Failure, Trial};

pub struct Peer {
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Done { ms: Vec<f64>, count: u64 },
    Failed { error: String },
}

impl Peer {
    pub fn start(server: &str) -> Result<Self, Failure> {
        let named = |name: &str| std::env::var_os(name).ok_or_else(|| format!("set {name}"));
        let mut child = Command::new(named("PEERS_PYTHON")?)
            .arg("-B")
            .arg(named("PEERS")?)
            .arg(server)
            .env("NO_PROXY", "127.0.0.1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdin = child.stdin.take().ok_or("no standard input")?;
        let lines = BufReader::new(child.stdout.take().ok_or("no standard output")?).lines();
        Ok(Self { stdin, lines, _child: child })
    }

    /// One turn of this provider's, by its own time.
    pub async fn ask(&mut self, provider: &str) -> Result<Trial, Failure> {
        self.stdin.write_all(format!("{provider}\n").as_bytes()).await?;
        let line = self.lines.next_line().await?.ok_or("the SDKs' program ended")?;
        match serde_json::from_str(&line)? {
            Answer::Done { ms, count } => Ok(Trial { ms: ms.into_iter().sum(), count }),
            Answer::Failed { error } => Err(error.into()),
        }
    }
}
