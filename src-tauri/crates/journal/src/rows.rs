//! An event as a row, and back.

use std::path::Path;

use protocol::event::{Event, EventBody, Position, Scope};
use protocol::ids::{AgentId, RunId, Seq, SessionId, StreamId, Timestamp};
use rusqlite::{Connection, Row, params};

use crate::JournalError;

/// JSON of more levels is refused. `serde_json` reads 127; a page in an answer on a socket adds some of its own.
const DEEPEST: usize = 100;

/// An event's body on its way to the disk.
pub(crate) struct Encoded {
    /// The event's `type` on the wire.
    pub kind: String,
    pub text: String,
}

/// The text of a body. What could not be read again is refused here: once acknowledged, it would make its whole
/// stream unreadable. That is a matter of nesting alone: the bodies' own numbers are finite by their types, and a
/// JSON value holds no other; a test holds each kind of event to it.
pub(crate) fn encode(body: &EventBody) -> Result<Encoded, JournalError> {
    let text = serde_json::to_string(body).map_err(|source| JournalError::unwritable("an event", source))?;
    let kind = kind(&text).to_owned();
    if !body.is_durable() {
        return Err(JournalError::Passing { kind });
    }
    if depth(&text) > DEEPEST {
        return Err(JournalError::TooDeep { kind, most: DEEPEST });
    }
    Ok(Encoded { kind, text })
}

/// The type of an event from its text, which begins with it.
fn kind(text: &str) -> &str {
    text.strip_prefix(r#"{"type":""#).and_then(|rest| rest.split_once('"')).map_or("", |(kind, _)| kind)
}

/// How many arrays and objects of a JSON text stand within each other at most.
fn depth(text: &str) -> usize {
    let (mut now, mut most, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                now += 1;
                most = most.max(now);
            }
            b']' | b'}' if !in_string => now = now.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// Writes an event at the end of its stream.
pub(crate) fn insert(
    connection: &Connection,
    path: &Path,
    event: NewEvent,
    encoded: &Encoded,
) -> Result<Event, JournalError> {
    let NewEvent { seq, time, scope, body } = event;
    let stream = scope.stream();
    let write = || {
        let n: u64 = connection
            .prepare_cached(
                "INSERT INTO streams (id, last) VALUES (?1, 1) \
                 ON CONFLICT (id) DO UPDATE SET last = last + 1 RETURNING last",
            )?
            .query_row([stream.as_str()], |row| row.get(0))?;
        connection
            .prepare_cached(
                "INSERT INTO events (seq, stream, n, time, session, run, agent, type, body) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                seq.0,
                stream.as_str(),
                n,
                time.0,
                scope.session.as_ref().map(SessionId::as_str),
                scope.run.as_ref().map(RunId::as_str),
                scope.agent.as_ref().map(AgentId::as_str),
                encoded.kind,
                encoded.text,
            ])?;
        Ok(n)
    };
    let n = write().map_err(|e| JournalError::sqlite(path, e))?;
    Ok(Event { position: Some(Position { seq, n }), stream, time, scope, body })
}

/// An event that has no place in its stream yet.
pub(crate) struct NewEvent {
    pub seq: Seq,
    pub time: Timestamp,
    pub scope: Scope,
    pub body: EventBody,
}

/// What [`decode`] reads, in its order.
pub(crate) const COLUMNS: &str =
    "events.seq, events.stream, events.n, events.time, events.session, events.run, events.agent, events.body";

/// An event from its row, and the length of its body's text.
pub(crate) fn decode(row: &Row<'_>, path: &Path) -> Result<(Event, usize), JournalError> {
    let columns = || {
        let position = Position { seq: Seq(row.get(0)?), n: row.get(2)? };
        let scope = Scope {
            session: row.get::<_, Option<String>>(4)?.map(SessionId),
            run: row.get::<_, Option<String>>(5)?.map(RunId),
            agent: row.get::<_, Option<String>>(6)?.map(AgentId),
        };
        let text = row.get_ref(7)?.as_str()?;
        Ok((position, StreamId(row.get(1)?), Timestamp(row.get(3)?), scope, text))
    };
    let (position, stream, time, scope, text) = columns().map_err(|e| JournalError::sqlite(path, e))?;
    let body = body(path, position.seq, text)?;
    Ok((Event { position: Some(position), stream, time, scope, body }, text.len()))
}

/// The body of the event `seq` from its text.
pub(crate) fn body(path: &Path, seq: Seq, text: &str) -> Result<EventBody, JournalError> {
    serde_json::from_str(text)
        .map_err(|source| JournalError::unreadable(path, format!("event {}", seq.0), source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_depth_counts_brackets_outside_of_strings() {
        for (text, expected) in [
            ("1", 0),
            (r#"{"a":1}"#, 1),
            (r#"{"a":[1,[2]],"b":{}}"#, 3),
            (r#"{"a":"[[[{"}"#, 1),
            (r#"{"a":"\"[[","b":[]}"#, 2),
            (r#"["\\",[]]"#, 2),
        ] {
            assert_eq!(depth(text), expected, "{text}");
        }
    }
}
