//! What an agenda promises, held by the fake and by a real Radicale alike; what only a server can show, by Radicale.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's way to say that it failed")]

mod events;
mod oracle;
mod radicale;
mod reminders;
mod series;
mod server;
mod world;
