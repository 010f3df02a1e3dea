//! What an agenda promises, held by the fake and by a real Radicale alike; what only a server can show, by Radicale.

mod events;
mod oracle;
mod radicale;
mod reminders;
mod series;
mod server;
mod world;
