//! Whether the screen is locked, as the session's lockers say: the screen saver's interface on the session bus, and
//! logind. What X itself knows of its saver is seen where pictures are taken.
//!
//! Asked at most once a second, and never waited for long: where nobody knows, it is not locked; where somebody told it and
//! is silent now, it is as it was told last, and after some seconds it counts as locked. logind tells of the session whose
//! display is ours alone, so that a private display does not depend on the user's.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;
use zbus::Connection;
use zbus::connection::Builder;
use zbus::zvariant::OwnedValue;

use crate::{DesktopError, locked};

/// An answer counts for so long.
const FRESH: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_millis(400);
/// Of one locker among several: another one may know.
const OF_ONE: Duration = Duration::from_millis(300);
/// So long a locker may be silent that has said that nothing is locked.
const SILENT: Duration = Duration::from_secs(10);
/// A bus that is not there is looked for again after this, and one that let us wait sooner.
const AGAIN: Duration = Duration::from_secs(60);
const SOONER: Duration = Duration::from_secs(5);
/// Who answers `GetActive`: name, which is also the interface, and path.
const SAVERS: [(&str, &str); 5] = [
    ("org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"),
    ("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"),
    ("org.cinnamon.ScreenSaver", "/org/cinnamon/ScreenSaver"),
    ("org.mate.ScreenSaver", "/org/mate/ScreenSaver"),
    ("org.xfce.ScreenSaver", "/org/xfce/ScreenSaver"),
];
const LOGIND: &str = "org.freedesktop.login1";
const SESSION: &str = "org.freedesktop.login1.Session";

pub(super) struct Locks {
    /// Ours, `:0`.
    display: Option<String>,
    /// The session bus: named, the environment's, or none, where the display was named and it was not.
    session: Option<Option<String>>,
    known: Mutex<KnownLock>,
}

#[derive(Default)]
struct KnownLock {
    session: Line,
    system: Line,
    asked: Option<Instant>,
    is_locked: bool,
}

/// What a bus tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Locked(bool),
    /// Nobody there knows.
    Nobody,
    /// It is not there, or not any more.
    NoBus,
    /// Nothing in time.
    Late,
}

#[derive(Default)]
struct Line {
    open: Option<Connection>,
    /// Not looked for before.
    rests: Option<Instant>,
    last: Last,
}

/// What was told last, and when.
#[derive(Clone, Copy, Default)]
struct Last {
    is_locked: bool,
    at: Option<Instant>,
}

impl Last {
    /// Whether it counts as locked now.
    fn hears(&mut self, told: Told, now: Instant) -> bool {
        match told {
            Told::Locked(is_locked) => *self = Self { is_locked, at: Some(now) },
            Told::Nobody => *self = Self::default(),
            Told::NoBus => self.at = None,
            Told::Late => {}
        }
        let is_silent = self.at.is_some_and(|at| now.duration_since(at) > SILENT);
        self.is_locked || is_silent
    }
}

impl Line {
    async fn get(&mut self, builder: zbus::Result<Builder<'_>>) -> Option<&Connection> {
        if self.open.is_none() && self.rests.is_none_or(|until| Instant::now() >= until) {
            // The caller's patience may cut this short.
            self.rests = Some(Instant::now() + SOONER);
            match async { builder?.build().await }.await {
                Ok(connection) => self.open = Some(connection),
                Err(error) => {
                    tracing::debug!(%error, "nobody on this bus tells whether the screen is locked");
                    self.lose();
                }
            }
        }
        self.open.as_ref()
    }

    fn lose(&mut self) {
        (self.open, self.rests) = (None, Some(Instant::now() + AGAIN));
    }
}

impl Locks {
    pub(super) fn new(display: Option<String>, session_bus: Option<String>) -> Self {
        let session = match (&display, session_bus) {
            (_, Some(address)) => Some(Some(address)),
            (None, None) => Some(None),
            (Some(_), None) => None,
        };
        let display = display.or_else(|| std::env::var("DISPLAY").ok());
        Self { display, session, known: Mutex::default() }
    }

    /// # Errors
    /// `NotAvailable` while the screen is locked.
    pub(super) async fn refuse(&self) -> Result<(), DesktopError> {
        let mut known = self.known.lock().await;
        if known.asked.is_none_or(|asked| asked.elapsed() > FRESH) {
            let KnownLock { session, system, .. } = &mut *known;
            let (savers, logind) = tokio::join!(
                tokio::time::timeout(PATIENCE, self.ask_savers(session)),
                tokio::time::timeout(PATIENCE, self.ask_logind(system)),
            );
            let now = Instant::now();
            let savers = session.last.hears(savers.unwrap_or(Told::Late), now);
            let logind = system.last.hears(logind.unwrap_or(Told::Late), now);
            known.is_locked = savers || logind;
            known.asked = Some(now);
        }
        if known.is_locked { Err(locked()) } else { Ok(()) }
    }

    async fn ask_savers(&self, line: &mut Line) -> Told {
        let Some(address) = &self.session else { return Told::Nobody };
        let builder = address.as_deref().map_or_else(Builder::session, Builder::address);
        let Some(bus) = line.get(builder).await else { return Told::NoBus };
        let names = call::<Vec<String>>(bus, ("org.freedesktop.DBus", "/org/freedesktop/DBus"), "ListNames");
        let names = match names.await {
            Ok(names) => names,
            Err(error) => {
                tracing::debug!(%error, "the session bus is gone");
                line.lose();
                return Told::NoBus;
            }
        };
        let there = SAVERS.into_iter().filter(|(name, _)| names.iter().any(|one| one == name));
        // Some take the name and answer nothing: nothing is known of those.
        let answers = there.map(|saver| tokio::time::timeout(OF_ONE, call::<bool>(bus, saver, "GetActive")));
        let answers = futures::future::join_all(answers).await;
        let said: Vec<bool> =
            answers.iter().filter_map(|one| one.as_ref().ok()?.as_ref().ok().copied()).collect();
        if !said.is_empty() {
            Told::Locked(said.contains(&true))
        } else if answers.iter().any(Result::is_err) {
            Told::Late
        } else {
            Told::Nobody
        }
    }

    async fn ask_logind(&self, line: &mut Line) -> Told {
        let Some(display) = &self.display else { return Told::Nobody };
        let Some(bus) = line.get(Builder::system()).await else { return Told::NoBus };
        let path = "/org/freedesktop/login1/session/auto";
        let asked = bus
            .call_method(Some(LOGIND), path, Some("org.freedesktop.DBus.Properties"), "GetAll", &(SESSION,))
            .await;
        match asked.and_then(|reply| reply.body().deserialize::<HashMap<String, OwnedValue>>()) {
            Ok(properties) => Told::Locked(says_locked(&properties, display)),
            Err(error) => {
                // No logind, or no session of ours: nothing that changes soon.
                tracing::debug!(%error, "logind tells nothing of a session of ours");
                line.lose();
                Told::Nobody
            }
        }
    }
}

async fn call<T>(bus: &Connection, (name, path): (&str, &str), method: &str) -> zbus::Result<T>
where
    T: serde::de::DeserializeOwned + zbus::zvariant::Type,
{
    bus.call_method(Some(name), path, Some(name), method, &()).await?.body().deserialize()
}

/// A session on our display whose locker has said so.
fn says_locked(properties: &HashMap<String, OwnedValue>, display: &str) -> bool {
    let plain = |display: &str| display.trim_end_matches(".0").to_owned();
    let text = |name: &str| properties.get(name).and_then(|value| <&str>::try_from(value).ok());
    let is_ours = text("Display").is_some_and(|theirs| !theirs.is_empty() && plain(theirs) == plain(display));
    let hint = properties.get("LockedHint").and_then(|value| bool::try_from(value).ok());
    is_ours && hint == Some(true)
}

#[cfg(test)]
mod tests;
