//! The engine's endpoint for other processes of this user: JSON lines over a local socket in the data folder.

use std::io;

use interprocess::local_socket::Name;
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

use crate::home::Home;

mod client;
mod server;

pub use client::{Client, Received};
pub use server::{Endpoint, Served, Stream, serve};

/// The socket's file.
#[cfg(unix)]
fn name(home: &Home) -> io::Result<Name<'static>> {
    use interprocess::local_socket::{GenericFilePath, ToFsName};

    home.socket().to_fs_name::<GenericFilePath>()
}

/// A pipe named by a hash of the folder (FNV-1a: the same in every build).
#[cfg(windows)]
fn name(home: &Home) -> io::Result<Name<'static>> {
    use interprocess::local_socket::{GenericNamespaced, ToNsName};

    let hash = home
        .socket()
        .to_string_lossy()
        .to_lowercase()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("miki-{hash:016x}").to_ns_name::<GenericNamespaced>()
}

/// Reads one line without its end into `line`; `None` at the end of the stream.
///
/// # Errors
/// `InvalidData` where the line is longer than `limit` bytes; no more than that is ever kept.
async fn read_line(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    limit: usize,
) -> io::Result<Option<()>> {
    line.clear();
    loop {
        let bytes = input.fill_buf().await?;
        if bytes.is_empty() {
            // A line without an end was cut off: it is not acted on.
            return Ok(None);
        }
        let (part, used, whole) = match bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) => (&bytes[..end], end + 1, true),
            None => (bytes, bytes.len(), false),
        };
        if line.len() + part.len() > limit {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("line is longer than {limit} bytes"),
            ));
        }
        line.extend_from_slice(part);
        input.consume(used);
        if whole {
            return Ok(Some(()));
        }
    }
}

#[cfg(test)]
mod tests;
