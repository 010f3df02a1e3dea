//! What goes for good: sessions that were deleted long ago, and pictures by their age and size.
//!
//! Rows first, files then: a blob on its way out is written down before its file goes, so that a kill in between leaves
//! nothing that is not known. A blob is named by its content: before its file goes, nothing may name it any more, and
//! nobody may have written the same one a moment ago.

use std::path::Path;

use protocol::ids::{SessionId, StreamId, Timestamp};
use rusqlite::{Connection, params};

use crate::{Blobs, JournalError};

/// Sessions that go in one transaction, and pictures.
const SESSIONS: usize = 20;
const PICTURES: i64 = 1_000;
/// Texts that leave the search in one transaction: each may take a millisecond, and others wait to write.
const TEXTS: usize = 32;

/// A blob whose file is there, as far as is known.
pub(crate) const KEPT: i64 = 0;
/// Its file is to go, or is going.
const GOES: i64 = 1;
/// Events name it, and its file is gone.
const GONE: i64 = 2;

/// What may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tidy {
    /// Sessions that were deleted before this.
    pub deleted_before: Option<Timestamp>,
    /// Pictures whose last event is older than this.
    pub pictures_before: Option<Timestamp>,
    /// The oldest pictures beyond so many bytes.
    pub picture_bytes: Option<u64>,
}

/// What went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tidied {
    pub sessions: Vec<SessionId>,
    /// Files, and their bytes.
    pub files: u64,
    pub bytes: u64,
    /// There may be more: it is to be asked for again.
    pub more: bool,
}

/// Sessions that are to go now, the longest deleted first.
pub(crate) fn due(connection: &Connection, before: Timestamp) -> rusqlite::Result<Vec<SessionId>> {
    let due: rusqlite::Result<Vec<String>> = connection
        .prepare_cached(
            "SELECT id FROM sessions WHERE deleted < ?1 AND NOT EXISTS \
             (SELECT 1 FROM events JOIN runs ON events.seq = runs.started \
              WHERE events.stream = sessions.id AND runs.ended IS NULL) ORDER BY deleted LIMIT ?2",
        )?
        .query_map(params![before.0, SESSIONS as i64], |row| row.get(0))?
        .collect();
    Ok(due?.into_iter().map(SessionId).collect())
}

/// Takes texts of a session out of the search; `false` if there may be more of them than go in one transaction.
pub(crate) fn forget_texts(connection: &Connection, session: &SessionId) -> rusqlite::Result<bool> {
    connection.pragma_update(None, "secure_delete", true)?;
    let gone = crate::search::remove(connection, session, TEXTS)?;
    connection.pragma_update(None, "secure_delete", "FAST")?;
    Ok(gone < TEXTS)
}

/// Removes all rows of a session whose texts are gone; what its numbers were stays known.
pub(crate) fn purge(connection: &Connection, session: &SessionId) -> rusqlite::Result<()> {
    let stream = StreamId::of_session(session);
    // What was deleted is not to be found in the file.
    connection.pragma_update(None, "secure_delete", true)?;
    for sql in [
        "INSERT INTO gaps (seq) SELECT seq FROM events WHERE stream = ?1",
        "DELETE FROM approvals WHERE asked IN (SELECT seq FROM events WHERE stream = ?1)",
        "DELETE FROM past_runs WHERE ended IN (SELECT seq FROM events WHERE stream = ?1)",
        "DELETE FROM runs WHERE started IN (SELECT seq FROM events WHERE stream = ?1)",
        // Those that nobody names any more.
        "UPDATE blobs SET state = 1 WHERE sha256 IN \
         (SELECT uses.sha256 FROM blob_uses AS uses JOIN events ON events.seq = uses.seq WHERE events.stream = ?1) \
         AND NOT EXISTS (SELECT 1 FROM blob_uses AS others JOIN events ON events.seq = others.seq \
         WHERE others.sha256 = blobs.sha256 AND events.stream <> ?1)",
        "DELETE FROM blob_uses WHERE seq IN (SELECT seq FROM events WHERE stream = ?1)",
        "DELETE FROM sessions WHERE id = ?1",
        "DELETE FROM streams WHERE id = ?1",
        "DELETE FROM events WHERE stream = ?1",
    ] {
        connection.prepare_cached(sql)?.execute([stream.as_str()])?;
    }
    connection.pragma_update(None, "secure_delete", "FAST")
}

/// Marks pictures that are too old or too many; whether there may be more. Never one that an open run has.
pub(crate) fn mark_pictures(connection: &Connection, tidy: Tidy) -> rusqlite::Result<bool> {
    const MAY_GO: &str = "picture = 1 AND state = 0 AND NOT EXISTS \
        (SELECT 1 FROM blob_uses JOIN events ON events.seq = blob_uses.seq JOIN runs ON runs.id = events.run \
         WHERE blob_uses.sha256 = blobs.sha256 AND runs.ended IS NULL)";
    let mut marked = 0;
    if let Some(before) = tidy.pictures_before {
        marked += connection
            .prepare_cached(&format!(
                "UPDATE blobs SET state = 1 WHERE sha256 IN \
             (SELECT sha256 FROM blobs WHERE used < ?1 AND {MAY_GO} ORDER BY used LIMIT ?2)"
            ))?
            .execute(params![before.0, PICTURES])?;
    }
    if let Some(most) = tidy.picture_bytes {
        let kept: u64 = connection.query_row(
            "SELECT COALESCE(SUM(bytes), 0) FROM blobs WHERE picture = 1 AND state = 0",
            [],
            |row| row.get(0),
        )?;
        let mut too_many = kept.saturating_sub(most);
        let oldest: Vec<(String, u64)> = connection
            .prepare_cached(&format!(
                "SELECT sha256, bytes FROM blobs WHERE {MAY_GO} ORDER BY used LIMIT ?1"
            ))?
            .query_map([PICTURES], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        for (sha256, bytes) in oldest {
            if too_many == 0 {
                break;
            }
            too_many = too_many.saturating_sub(bytes);
            marked += connection
                .prepare_cached("UPDATE blobs SET state = 1 WHERE sha256 = ?1")?
                .execute([sha256])?;
        }
    }
    Ok(marked >= PICTURES as usize)
}

/// Removes the files that are marked, and says so.
pub(crate) fn remove_files(
    connection: &mut Connection,
    path: &Path,
    blobs: &Blobs,
    tidied: &mut Tidied,
) -> Result<(), JournalError> {
    let sqlite = |e| JournalError::sqlite(path, e);
    let marked: Vec<(String, u64)> = connection
        .prepare_cached("SELECT sha256, bytes FROM blobs WHERE state = ?1")
        .and_then(|mut select| select.query_map([GOES], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())
        .map_err(sqlite)?;
    let mut gone = Vec::new();
    for (sha256, bytes) in marked {
        // One that was written again a moment ago stays until the next time: an event may be about to name it.
        if blobs.remove(&sha256)? {
            tidied.files += 1;
            tidied.bytes += bytes;
            gone.push(sha256);
        }
    }
    let transaction = connection.transaction().map_err(sqlite)?;
    for sha256 in gone {
        for sql in [
            "UPDATE blobs SET state = ?2 WHERE sha256 = ?1 AND state = 1",
            "DELETE FROM blobs WHERE sha256 = ?1 AND state = ?2 \
             AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob_uses.sha256 = ?1)",
        ] {
            transaction
                .prepare_cached(sql)
                .and_then(|mut change| change.execute(params![sha256, GONE]))
                .map_err(sqlite)?;
        }
    }
    transaction.commit().map_err(sqlite)
}

#[cfg(test)]
mod tests;
