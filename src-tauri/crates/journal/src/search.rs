//! The texts of sessions that are found by a search, and the search.
//!
//! SQLite's trigram index finds three characters and more, in any script; shorter words are looked for in the newest texts,
//! one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use protocol::event::Event;
use protocol::ids::{SessionId, StreamId};
use protocol::view::{Found, Place};
use rusqlite::{Connection, OptionalExtension, params};

use crate::{JournalError, Reader, rows};

/// Texts that are looked at for one word: the newest ones that have it, or where the index does not know it, the newest.
const LOOKED_AT: i64 = 20_000;
/// Words of one query; further ones are not looked for.
const WORDS: usize = 8;
/// Characters of a word that the index knows.
const INDEXED: usize = 3;
/// Characters of a snippet, and of these before the first word in it.
const SNIPPET: usize = 160;
const BEFORE: usize = 40;
/// No event has more texts.
const TEXTS_OF_AN_EVENT: u64 = 4;

/// Takes the texts of an event into the index.
pub(crate) fn add(connection: &Connection, event: &Event) -> rusqlite::Result<()> {
    let (Some(session), Some(position)) = (&event.scope.session, event.position) else { return Ok(()) };
    let texts = fold::searchable(&event.body);
    if texts.iter().any(|(place, _)| *place == Place::Title) {
        remove_where(connection, "session = ?1 AND place = 0", session)?;
    }
    for (number, (place, text)) in (0..TEXTS_OF_AN_EVENT).zip(texts) {
        // In the order of the events, also where they are taken in later.
        let id = position.seq.0 * TEXTS_OF_AN_EVENT + number;
        connection
            .prepare_cached("INSERT INTO texts (id, session, n, place, text) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![id, session.as_str(), position.n, number_of(place), text])?;
        connection
            .prepare_cached("INSERT INTO texts_index (rowid, text) VALUES (?1, ?2)")?
            .execute(params![id, text])?;
    }
    Ok(())
}

/// Takes texts of a session out of the index, `most` at once, since each costs; how many went.
pub(crate) fn remove(connection: &Connection, session: &SessionId, most: usize) -> rusqlite::Result<usize> {
    let some = format!("id IN (SELECT id FROM texts WHERE session = ?1 ORDER BY id LIMIT {most})");
    remove_where(connection, &some, session)
}

/// Whether texts of a session are in the index.
pub(crate) fn has_texts(connection: &Connection, session: &SessionId) -> rusqlite::Result<bool> {
    let mut select = connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM texts WHERE session = ?1)")?;
    select.query_row([session.as_str()], |row| row.get(0))
}

fn remove_where(connection: &Connection, clause: &str, session: &SessionId) -> rusqlite::Result<usize> {
    connection
        .prepare_cached(&format!(
            "INSERT INTO texts_index (texts_index, rowid, text) \
             SELECT 'delete', id, text FROM texts WHERE {clause}"
        ))?
        .execute([session.as_str()])?;
    connection.prepare_cached(&format!("DELETE FROM texts WHERE {clause}"))?.execute([session.as_str()])
}

/// Takes a session in that is not there, from its events.
pub(crate) fn refill(connection: &Connection, path: &Path, session: &SessionId) -> Result<(), JournalError> {
    let sqlite = |e| JournalError::sqlite(path, e);
    let mut select = connection
        .prepare_cached(&format!("SELECT {} FROM events WHERE stream = ?1 ORDER BY n", rows::COLUMNS))
        .map_err(sqlite)?;
    let mut found = select.query([StreamId::of_session(session).as_str()]).map_err(sqlite)?;
    while let Some(row) = found.next().map_err(sqlite)? {
        add(connection, &rows::decode(row, path)?.0).map_err(sqlite)?;
    }
    Ok(())
}

fn number_of(place: Place) -> i64 {
    match place {
        Place::Title => 0,
        Place::Goal => 1,
        Place::User => 2,
        Place::Model => 3,
        Place::Result => 4,
    }
}

fn place_of(number: i64) -> Place {
    match number {
        0 => Place::Title,
        1 => Place::Goal,
        2 => Place::User,
        3 => Place::Model,
        _ => Place::Result,
    }
}

/// A word of a query, ready to be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Word(Vec<char>);

impl Word {
    fn is_indexed(&self) -> bool {
        self.0.len() >= INDEXED
    }

    /// For SQLite's `LIKE`, where that finds the same: it knows no case but ASCII's. Everything else is found by us alone.
    fn pattern(&self) -> String {
        let is_plain = |c: &char| match c.is_ascii() {
            true => !matches!(c, '%' | '_'),
            false => c.to_lowercase().eq([*c]) && c.to_uppercase().eq([*c]),
        };
        let text: String = self.0.iter().collect();
        // The Kelvin sign is a k to us.
        let is_known = self.0.iter().all(is_plain) && !text.contains('k');
        if is_known { format!("%{text}%") } else { "%".into() }
    }

    /// As the index is asked for it.
    fn quoted(&self) -> String {
        let text: String = self.0.iter().collect();
        format!("\"{}\"", text.replace('"', "\"\""))
    }

    /// Where it stands, first and one past the last, in characters.
    fn places<'a>(&'a self, text: &'a [char]) -> impl Iterator<Item = (usize, usize)> + 'a {
        let length = self.0.len();
        (0..(text.len() + 1).saturating_sub(length))
            .filter(move |at| text[*at..at + length] == self.0[..])
            .map(move |at| (at, at + length))
    }

    fn is_in(&self, text: &[char]) -> bool {
        text.windows(self.0.len()).any(|part| part == self.0)
    }
}

/// In lower case, character by character, so that places stay the same.
fn folded(text: &str) -> Vec<char> {
    text.chars().map(|c| c.to_lowercase().next().unwrap_or(c)).collect()
}

/// The words of a query; what stands in quotes is one.
fn words(query: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for (number, part) in query.split('"').enumerate() {
        let whole = || vec![part.trim()];
        let parts = if number % 2 == 1 { whole() } else { part.split_whitespace().collect() };
        for word in parts {
            let word = Word(folded(word).into_iter().filter(|c| !c.is_control()).collect());
            if !word.0.is_empty() && !words.contains(&word) && words.len() < WORDS {
                words.push(word);
            }
        }
    }
    words
}

/// A text in which something was found.
struct Text {
    session: String,
    n: u64,
    place: Place,
    text: String,
}

impl Reader<'_> {
    /// Sessions that have all words of the query: by their titles first, then in one text, the newest first, then in
    /// several. At most `limit`, each once; none for a query without a word.
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<Found>, JournalError> {
        let words = words(query);
        if words.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let mut found = self.texts_with(&words, limit).map_err(|e| self.sqlite(e))?;
        if found.len() < limit && words.len() > 1 {
            let more = self.spread(&words, &found, limit).map_err(|e| self.sqlite(e))?;
            found.extend(more);
        }
        let mut hits = Vec::with_capacity(found.len());
        for text in found {
            let Some(session) = self.session(&SessionId(text.session))? else { continue };
            let (snippet, marks) = snippet(&text.text, &words);
            hits.push(Found { session, event: text.n, place: text.place, snippet, marks });
        }
        Ok(hits)
    }

    /// A text of each session that has all words in it.
    fn texts_with(&self, words: &[Word], limit: usize) -> rusqlite::Result<Vec<Text>> {
        let (mut found, mut sessions) = (Vec::new(), self.deleted()?);
        // There are few titles, and whoever looks for one means it.
        let mut select =
            self.connection.prepare_cached("SELECT id FROM texts WHERE place = 0 ORDER BY id DESC")?;
        let titles = select.query_map([], |row| row.get::<_, u64>(0))?;
        self.take(titles, words, limit, &mut sessions, &mut found)?;
        let indexed: Vec<String> = words.iter().filter(|word| word.is_indexed()).map(Word::quoted).collect();
        if indexed.is_empty() {
            let pattern = words.first().map(Word::pattern).unwrap_or_default();
            let mut select = self.connection.prepare_cached(
                "SELECT id FROM (SELECT id, text FROM texts ORDER BY id DESC LIMIT ?1) WHERE text LIKE ?2",
            )?;
            let texts = select.query_map(params![LOOKED_AT, pattern], |row| row.get::<_, u64>(0))?;
            self.take(texts, words, limit, &mut sessions, &mut found)?;
        } else {
            let mut select = self.connection.prepare_cached(
                "SELECT rowid FROM texts_index WHERE texts_index MATCH ?1 ORDER BY rowid DESC LIMIT ?2",
            )?;
            let asked = indexed.join(" AND ");
            let texts = select.query_map(params![asked, LOOKED_AT], |row| row.get::<_, u64>(0))?;
            self.take(texts, words, limit, &mut sessions, &mut found)?;
        }
        Ok(found)
    }

    /// What was deleted stays in the index until it goes for good.
    fn deleted(&self) -> rusqlite::Result<BTreeSet<String>> {
        let mut select =
            self.connection.prepare_cached("SELECT id FROM sessions WHERE deleted IS NOT NULL")?;
        select.query_map([], |row| row.get(0))?.collect()
    }

    fn take(
        &self,
        ids: impl Iterator<Item = rusqlite::Result<u64>>,
        words: &[Word],
        limit: usize,
        sessions: &mut BTreeSet<String>,
        found: &mut Vec<Text>,
    ) -> rusqlite::Result<()> {
        let mut select =
            self.connection.prepare_cached("SELECT session, n, place, text FROM texts WHERE id = ?1")?;
        for id in ids {
            if found.len() >= limit {
                return Ok(());
            }
            let id = id?;
            let text = select
                .query_row([id], |row| {
                    let session = row.get_ref(0)?.as_str()?;
                    if sessions.contains(session) {
                        return Ok(None);
                    }
                    let (session, place) = (session.to_owned(), place_of(row.get(2)?));
                    Ok(Some(Text { session, n: row.get(1)?, place, text: row.get(3)? }))
                })
                .optional()?
                .flatten();
            let Some(text) = text else { continue };
            let characters = folded(&text.text);
            if words.iter().all(|word| word.is_in(&characters)) {
                sessions.insert(text.session.clone());
                found.push(text);
            }
        }
        Ok(())
    }

    /// Sessions that have each word somewhere, with the newest text that has one.
    fn spread(&self, words: &[Word], found: &[Text], limit: usize) -> rusqlite::Result<Vec<Text>> {
        let mut of_all: Option<BTreeMap<String, u64>> = None;
        // Those that the index knows first: where one is nowhere, no text is looked at.
        let (indexed, short): (Vec<&Word>, Vec<&Word>) = words.iter().partition(|word| word.is_indexed());
        for word in indexed.into_iter().chain(short) {
            if of_all.as_ref().is_some_and(BTreeMap::is_empty) {
                break;
            }
            let with = self.sessions_with(word)?;
            of_all = Some(match of_all {
                None => with,
                Some(before) => before
                    .into_iter()
                    .filter_map(|(session, id)| {
                        let other = *with.get(&session)?;
                        Some((session, id.max(other)))
                    })
                    .collect(),
            });
        }
        let mut known = self.deleted()?;
        known.extend(found.iter().map(|text| text.session.clone()));
        let mut ids: Vec<u64> = of_all
            .unwrap_or_default()
            .into_iter()
            .filter(|(session, _)| !known.contains(session))
            .map(|(_, id)| id)
            .collect();
        ids.sort_unstable_by(|a, b| b.cmp(a));
        ids.truncate(limit - found.len());
        let mut select =
            self.connection.prepare_cached("SELECT session, n, place, text FROM texts WHERE id = ?1")?;
        let text = |id: u64| {
            select.query_row([id], |row| {
                let (session, n, place) = (row.get(0)?, row.get(1)?, place_of(row.get(2)?));
                Ok(Text { session, n, place, text: row.get(3)? })
            })
        };
        ids.into_iter().map(text).collect()
    }

    /// With the newest text of each that has the word.
    fn sessions_with(&self, word: &Word) -> rusqlite::Result<BTreeMap<String, u64>> {
        let mut sessions = BTreeMap::new();
        if word.is_indexed() {
            let mut select = self.connection.prepare_cached(
                "SELECT texts.session, texts.id FROM texts_index JOIN texts ON texts.id = texts_index.rowid \
                 WHERE texts_index MATCH ?1 ORDER BY texts_index.rowid DESC LIMIT ?2",
            )?;
            let mut rows = select.query(params![word.quoted(), LOOKED_AT])?;
            while let Some(row) = rows.next()? {
                sessions.entry(row.get(0)?).or_insert(row.get(1)?);
            }
        } else {
            let mut select = self.connection.prepare_cached(
                "SELECT session, id, text FROM (SELECT * FROM texts ORDER BY id DESC LIMIT ?1) WHERE text LIKE ?2",
            )?;
            let mut rows = select.query(params![LOOKED_AT, word.pattern()])?;
            while let Some(row) = rows.next()? {
                if word.is_in(&folded(row.get_ref(2)?.as_str()?)) {
                    sessions.entry(row.get(0)?).or_insert(row.get(1)?);
                }
            }
        }
        Ok(sessions)
    }
}

/// A part of the text around the first of the words, on one line, and where they stand in it.
fn snippet(text: &str, words: &[Word]) -> (String, Vec<(u32, u32)>) {
    let whole = folded(text);
    let first = words.iter().filter_map(|word| word.places(&whole).next()).map(|(at, _)| at).min();
    let from = first.unwrap_or(0).saturating_sub(BEFORE);
    let from = if from < BEFORE / 2 { 0 } else { from };
    let to = whole.len().min(from + SNIPPET);
    let line = |c: char| if c.is_whitespace() || c.is_control() { ' ' } else { c };
    let mut snippet: String = if from > 0 { "…".into() } else { String::new() };
    snippet.extend(text.chars().skip(from).take(to - from).map(line));
    if to < whole.len() {
        snippet.push('…');
    }
    let shown = &whole[from..to];
    let shift = usize::from(from > 0);
    let mut marks: Vec<(usize, usize)> = words.iter().flat_map(|word| word.places(shown)).collect();
    marks.sort_unstable();
    let mut joined: Vec<(usize, usize)> = Vec::new();
    for (begin, end) in marks {
        match joined.last_mut() {
            Some((_, last)) if begin <= *last => *last = end.max(*last),
            _ => joined.push((begin, end)),
        }
    }
    let place = |at: usize| u32::try_from(at + shift).unwrap_or(u32::MAX);
    (snippet, joined.into_iter().map(|(begin, end)| (place(begin), place(end))).collect())
}

#[cfg(test)]
mod tests;
