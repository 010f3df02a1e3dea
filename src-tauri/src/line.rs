//! What the engine's process and that of its windows say to each other: a JSON value a line, over a pair of sockets that
//! nobody else can open.
//!
//! Both are of one build: the windows are not started a second time where their program is another by then.

use std::path::PathBuf;
use std::time::Duration;

use protocol::command::{AnyCommand, ShowWindow, Subscribe};
use protocol::principal::Surface;
use protocol::settings::Language;
use protocol::socket::{Outcome, Reply};
use protocol::tool::Mode;
use protocol::{ErrorView, Event};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

/// The program of the windows, beside the engine's.
pub const PROGRAM: &str = if cfg!(windows) { "miki-gui.exe" } else { "miki-gui" };

/// Argument of the windows that are opened in place of others which have ended by themselves.
pub const AGAIN: &str = "--again";

/// What the windows say. Numbers are their own, and each is answered with that number.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromGui {
    /// All windows are made.
    Ready,
    /// None can be made. Answered, for the windows' process ends with it.
    Failed {
        number: u64,
        error: ErrorView,
    },
    Call {
        number: u64,
        surface: Surface,
        command: AnyCommand,
    },
    /// Answered with where the events begin.
    Subscribe {
        number: u64,
        command: Subscribe,
    },
    /// No more events of the subscription of this number.
    Unsubscribe {
        number: u64,
    },
    /// Answered with [`HandsView`].
    Hands {
        number: u64,
    },
    /// The mode of all that comes.
    SetMode {
        number: u64,
        mode: Mode,
    },
    /// Something does not work here, and nothing is stopped by it.
    Note {
        message: String,
        hint: String,
    },
    /// The answer to a question of the engine's.
    Answer {
        number: u64,
        outcome: Outcome,
    },
}

/// What the engine says.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToGui {
    Reply(Reply),
    Event {
        subscription: u64,
        event: Box<Event>,
    },
    /// No more come, and why.
    Unsubscribed {
        subscription: u64,
        error: ErrorView,
    },
    Asks(Asks),
}

/// What the engine asks of the windows. The number is its own.
#[derive(Debug, Serialize, Deserialize)]
pub struct Asks {
    pub number: u64,
    pub what: Request,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// Answered with nothing.
    Show(ShowWindow),
    /// Answered with a path, or `null` where none is chosen.
    ChooseFolder(AskFolder),
}

/// What a folder is asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AskFolder {
    /// Where the dialog begins.
    pub from: Option<PathBuf>,
    pub language: Language,
}

/// Whose the pointer and the keyboard are.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct HandsView {
    /// How long ago a run had them: no time while one has, `None` before any had.
    pub last_taken: Option<Duration>,
    /// How often the user has pressed a key or a button outside our windows, counted while a run works.
    pub presses: u64,
}

/// The next thing that the other side says; `None` at its end.
///
/// # Errors
/// `InvalidData` where it is nothing that is said here.
pub async fn read<T: DeserializeOwned>(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
) -> std::io::Result<Option<T>> {
    line.clear();
    input.read_until(b'\n', line).await?;
    // A line without an end was cut off.
    if line.pop() != Some(b'\n') {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(line)?))
}

/// Writes whatever is to be said, until nobody says anything or the other side takes nothing.
pub async fn write<T: Serialize>(mut output: impl AsyncWrite + Unpin, mut said: mpsc::Receiver<T>) {
    while let Some(one) = said.recv().await {
        let mut line = match serde_json::to_vec(&one) {
            Ok(line) => line,
            Err(error) => {
                tracing::error!("something cannot be said: {error}");
                continue;
            }
        };
        line.push(b'\n');
        if output.write_all(&line).await.is_err() {
            return;
        }
    }
}
