//! A program that does pieces of work when it is asked to: a line in, a line of JSON out. It takes the times itself, so
//! that asking costs nobody anything.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use outside::Process;
use outside::stage::Stage;
use serde::Deserialize;

/// The longest work, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(600);

pub struct Contestant {
    pub process: Process,
    name: String,
    input: ChildStdin,
    lines: Receiver<String>,
    /// Its last words.
    log: PathBuf,
}

/// What it says of one piece of work.
#[derive(Deserialize)]
pub struct Answer {
    #[serde(default)]
    pub ms: Vec<f64>,
    #[serde(default)]
    pub count: usize,
    error: Option<String>,
}

impl Contestant {
    /// # Errors
    /// Where it cannot be started.
    pub fn start(stage: &Stage, name: &str, mut command: Command) -> Result<Self> {
        let log = stage.path("logs").join(format!("{name}.log"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(std::fs::File::create(&log)?);
        let mut process = Process::spawn(name, "that cargo xtask bench desktop installs", command)?;
        let input = process.child().stdin.take().context("its input is not piped")?;
        let output = process.child().stdout.take().context("its output is not piped")?;
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let name = name.to_owned();
        Ok(Self { process, name, input, lines, log })
    }

    /// # Errors
    /// Where it could not do it, does not answer, or has ended; with its own words.
    pub fn ask(&mut self, request: &str) -> Result<Answer> {
        let (name, log) = (&self.name, &self.log);
        let ended = || {
            let words = std::fs::read_to_string(log).unwrap_or_default();
            anyhow!("{name} ended at {request:?}; it said: {}", words.trim())
        };
        writeln!(self.input, "{request}").map_err(|_| ended())?;
        self.input.flush().map_err(|_| ended())?;
        let line = match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => return Err(ended()),
            Err(RecvTimeoutError::Timeout) => bail!("{name} does not answer {request:?}"),
        };
        let answer: Answer =
            serde_json::from_str(&line).with_context(|| format!("{name} answered {request:?} by {line}"))?;
        match answer.error {
            Some(error) => bail!("{name}: {error}"),
            None => Ok(answer),
        }
    }
}
