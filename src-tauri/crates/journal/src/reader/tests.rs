//! How it is read, where that is a matter of how long it takes.

use super::*;
use crate::SystemClock;

/// How SQLite goes about a query of these parameters.
fn plan(connection: &Connection, sql: &str, parameters: &[&dyn ToSql]) -> Vec<String> {
    let mut select = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let steps = select.query_map(parameters, |row| row.get("detail")).unwrap();
    steps.collect::<rusqlite::Result<_>>().unwrap()
}

#[test]
fn open_runs_are_read_by_their_own_events_whatever_else_the_journal_has() {
    let home = tempfile::tempdir().unwrap();
    let connection = open::open(&home.path().join(open::FILE_NAME), &SystemClock).unwrap();
    assert_eq!(plan(&connection, OPEN_RUNS, &[]), ["SCAN runs USING INDEX runs_open"]);
    let of_one = format!("SELECT {} FROM events {OF_OPEN_RUN}", rows::COLUMNS);
    let found = plan(&connection, &of_one, params!["r-1", 1]);
    assert_eq!(found, ["SEARCH events USING INDEX events_run (run=? AND seq>?)"]);
}
