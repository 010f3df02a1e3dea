//! What a server writes, within bounds: a line that does not end and a flood of lines end its connection.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, ReadBuf};

/// Bytes of one message. Below the bound at which the protocol's library drops a line and waits for an answer for ever.
const LINE: usize = 16 * 1024 * 1024 - 1;
/// Lines within [`WINDOW`]; a server that works sends a few.
const LINES: u32 = 20_000;
const WINDOW: Duration = Duration::from_secs(10);

/// Why a connection ended, for people, as far as we ended it.
#[derive(Clone, Default)]
pub struct Why(Arc<Mutex<Option<String>>>);

impl Why {
    pub fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, why: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }
}

/// Reads from a server.
pub struct Tap<R> {
    inner: R,
    why: Why,
    line: usize,
    lines: u32,
    since: Instant,
}

impl<R> Tap<R> {
    pub fn new(inner: R, why: Why) -> Self {
        Self { inner, why, line: 0, lines: 0, since: Instant::now() }
    }

    /// `None` if it is within bounds.
    fn count(&mut self, bytes: &[u8]) -> Option<String> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line += part.len();
            if self.line > LINE {
                return Some(format!("it sent a message of more than {} MB", LINE >> 20));
            }
            if part.ends_with(b"\n") {
                self.line = 0;
                self.lines += 1;
            }
        }
        if self.since.elapsed() >= WINDOW {
            (self.since, self.lines) = (Instant::now(), 0);
        }
        (self.lines > LINES).then(|| format!("it sent more than {LINES} messages in {} s", WINDOW.as_secs()))
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Tap<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        std::task::ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        if let Some(why) = self.count(&buffer.filled()[before..]) {
            buffer.set_filled(before);
            self.why.set(why.clone());
            return Poll::Ready(Err(io::Error::other(why)));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    async fn read(bytes: Vec<u8>) -> (io::Result<usize>, Option<String>) {
        let why = Why::default();
        let mut tap = Tap::new(io::Cursor::new(bytes), why.clone());
        (tap.read_to_end(&mut Vec::new()).await, why.get())
    }

    #[tokio::test]
    async fn a_line_that_does_not_end_and_a_flood_end_the_connection_with_the_reason() {
        // bar: C53
        let (read_whole, why) = read(vec![b'a'; LINE]).await;
        assert_eq!((read_whole.unwrap(), why), (LINE, None));
        let (long, why) = read(vec![b'a'; LINE + 1]).await;
        assert!(long.is_err() && why.unwrap().contains("more than 15 MB"));
        let (many, why) = read(b"{}\n".repeat(LINES as usize)).await;
        assert!(many.is_ok() && why.is_none());
        let (flood, why) = read(b"{}\n".repeat(1_000_000)).await;
        assert!(flood.is_err() && why.unwrap().contains("20000 messages"));
    }
}
