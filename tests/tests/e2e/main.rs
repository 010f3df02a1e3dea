//! The real app, a real editor, a fake model: from a goal to a file, and everything that may go wrong on the way.
//!
//! Needs `MIKI_BIN`, the built program. Each test has a desktop of its own.

mod task;

mod notes;
mod wires;

mod computers;
mod crossing;
mod searches;

mod custom;
mod proxied;
mod unknown;

mod approvals;
mod asking;
mod beyond;
mod commands;
mod conformance;
mod connected;
mod invoices;
mod own_hands;
mod planning;
mod rights;
mod sessions;
mod side_by_side;
mod small_tasks;
mod started;
mod stop;
mod tree;

mod durability;
mod killed;
mod storage;

mod keys;
mod recording;
mod secrets;
mod usage;
