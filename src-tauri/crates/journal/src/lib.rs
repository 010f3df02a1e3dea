//! The append-only event log in SQLite, the content-addressed blobs beside it, and the sessions folded from them.
//!
//! Blocking; callers put it on a thread of their own. Knows nothing of what events mean beyond the fold into
//! [`protocol::view::SessionView`]. Never deletes or overwrites what it cannot read: a damaged or newer journal is
//! an error with a quarantined copy, not a fresh start.
