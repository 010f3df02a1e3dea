//! How a stream leaves: torn at awkward bytes, with pauses, and with what goes wrong by script.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Bytes;
use futures::stream::{self, BoxStream, Stream, StreamExt};

use super::{Fault, Manner};

pub(super) type Pieces = BoxStream<'static, Result<Bytes, Broken>>;

/// The error that makes the server break the connection.
#[derive(Debug)]
pub(super) struct Broken;

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the connection breaks, as it was told to")
    }
}

impl std::error::Error for Broken {}

pub(super) fn pace(manner: &Manner, mut events: Vec<String>, fault: Option<Fault>) -> Pieces {
    if let Some(Fault::Twice(at)) = fault {
        let twice = events.get(at).cloned();
        twice.into_iter().for_each(|event| events.insert(at, event));
    }
    let first = |most: usize| {
        let whole = events.concat().into_bytes();
        vec![Bytes::copy_from_slice(&whole[..most.min(whole.len())])]
    };
    let pause = manner.pause;
    let paced = move |pieces: Vec<Bytes>| {
        stream::iter(pieces).then(move |piece| async move {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            Ok::<_, Infallible>(piece)
        })
    };
    match fault {
        Some(Fault::Cut(most)) => fallible(paced(first(most))).chain(breaking()).boxed(),
        Some(Fault::Stall(most)) => fallible(paced(first(most))).chain(stream::pending()).boxed(),
        Some(Fault::End(most)) => fallible(paced(first(most))).boxed(),
        Some(Fault::Refusal { .. } | Fault::Twice(_)) | None => {
            let pieces = events.iter().flat_map(|event| torn(event.as_bytes(), manner.pieces)).collect();
            fallible(paced(pieces)).boxed()
        }
    }
}

/// So many pieces of about one length, cut where it hurts wherever there is such a place nearby: inside a character,
/// inside an escape, between the bytes of a line's end.
fn torn(event: &[u8], pieces: usize) -> Vec<Bytes> {
    let pieces = pieces.clamp(1, event.len().max(1));
    let length = event.len() / pieces;
    let hurts = |at: &usize| {
        let (before, after) = (event[at - 1], event[*at]);
        let in_character = (0x80..0xc0).contains(&after);
        let in_line_end = matches!((before, after), (b'\r' | b'\n', b'\n' | b'\r'));
        in_character || in_line_end || before == b'\\'
    };
    let mut cuts = vec![0];
    for piece in 1..pieces {
        let aim = piece * length;
        let near = aim.saturating_sub(length / 2).max(1)..(aim + length / 2).min(event.len());
        cuts.push(near.filter(hurts).min_by_key(|at| at.abs_diff(aim)).unwrap_or(aim));
    }
    cuts.push(event.len());
    cuts.dedup();
    cuts.windows(2).map(|cut| Bytes::copy_from_slice(&event[cut[0]..cut[1]])).collect()
}

/// Breaks after the bytes before it have left: hyper throws away what it still holds.
fn breaking() -> impl Stream<Item = Result<Bytes, Broken>> + Send {
    stream::once(async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        Err(Broken)
    })
}

fn fallible(
    pieces: impl Stream<Item = Result<Bytes, Infallible>> + Send,
) -> impl Stream<Item = Result<Bytes, Broken>> + Send {
    pieces.map(|piece| piece.map_err(|never| match never {}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_event_is_whole_and_cut_where_it_hurts() {
        let event = "data: {\"text\":\"a — b\\n\"}\r\n\r\n".as_bytes();
        for pieces in 1..=40 {
            let torn = torn(event, pieces);
            assert_eq!(torn.concat(), event, "{pieces}");
            assert!(torn.iter().all(|piece| !piece.is_empty()), "{pieces}");
        }
        let cut: Vec<Bytes> = torn(event, 3);
        assert!(cut.iter().any(|piece| std::str::from_utf8(piece).is_err()), "{cut:?}");
    }
}
