//! A body within bounds: as sent and as unpacked. Never holds more than the bound and one piece of the network's.

use std::io::Write;

use flate2::write::MultiGzDecoder;
use reqwest::Response;

use crate::WebError;
use crate::fetch::cause;

/// What came of a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    /// True if there was more than the bound.
    pub(crate) cut: bool,
}

/// How a body is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Plain,
    Gzip,
}

impl Packing {
    pub(crate) fn of(header: &str) -> Result<Self, WebError> {
        match header.to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Self::Plain),
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            other => Err(WebError::Packing(other.chars().take(40).collect())),
        }
    }
}

/// Reads until the end or the bound, then lets go of the connection.
pub(crate) async fn read(
    mut response: Response,
    packing: Packing,
    limit: usize,
    host: &str,
) -> Result<Body, WebError> {
    let broken = |detail: String| WebError::Transfer { host: host.to_owned(), detail };
    let mut unpacking = Unpacking::new(packing, limit);
    while let Some(piece) = response.chunk().await.map_err(|error| broken(cause(&error)))? {
        if unpacking.push(&piece).map_err(|error| broken(format!("its gzip is broken, {error}")))?
            == Room::Full
        {
            break;
        }
    }
    unpacking.finish().map_err(|error| broken(format!("its gzip is broken, {error}")))
}

#[derive(PartialEq, Eq)]
enum Room {
    Left,
    Full,
}

enum Unpacking {
    Plain(Bounded),
    Gzip { decoder: Box<MultiGzDecoder<Bounded>>, sent: usize, limit: usize },
}

impl Unpacking {
    fn new(packing: Packing, limit: usize) -> Self {
        let bounded = Bounded { bytes: Vec::new(), limit, cut: false };
        match packing {
            Packing::Plain => Self::Plain(bounded),
            Packing::Gzip => Self::Gzip { decoder: Box::new(MultiGzDecoder::new(bounded)), sent: 0, limit },
        }
    }

    fn push(&mut self, piece: &[u8]) -> std::io::Result<Room> {
        let full = match self {
            Self::Plain(bounded) => {
                bounded.take(piece);
                bounded.cut
            }
            Self::Gzip { decoder, sent, limit } => {
                *sent += piece.len();
                match decoder.write_all(piece) {
                    // The bound itself stops the decoder, by an error of its own.
                    Err(_) if decoder.get_ref().cut => {}
                    done => done?,
                }
                // Packed bytes that unpack to nothing (empty members) are endless, too.
                decoder.get_mut().cut |= *sent > *limit;
                decoder.get_ref().cut
            }
        };
        Ok(if full { Room::Full } else { Room::Left })
    }

    fn finish(self) -> std::io::Result<Body> {
        let bounded = match self {
            Self::Plain(bounded) => bounded,
            Self::Gzip { mut decoder, .. } => {
                if !decoder.get_ref().cut
                    && let Err(error) = decoder.try_finish()
                    && !decoder.get_ref().cut
                {
                    return Err(error);
                }
                let bounded = decoder.get_mut();
                Bounded { bytes: std::mem::take(&mut bounded.bytes), ..*bounded }
            }
        };
        Ok(Body { bytes: bounded.bytes, cut: bounded.cut })
    }
}

/// Takes bytes up to the limit.
struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
    cut: bool,
}

impl Bounded {
    fn take(&mut self, piece: &[u8]) -> usize {
        let taken = piece.len().min(self.limit - self.bytes.len());
        self.bytes.extend_from_slice(&piece[..taken]);
        self.cut |= taken < piece.len();
        taken
    }
}

impl Write for Bounded {
    fn write(&mut self, piece: &[u8]) -> std::io::Result<usize> {
        match self.take(piece) {
            0 if !piece.is_empty() => Err(std::io::Error::other("longer than the bound")),
            taken => Ok(taken),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
