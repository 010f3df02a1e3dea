//! What applications tell of themselves without being asked: where the keyboard focus went. Listens only.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use zbus::MessageStream;

use super::super::windows::Own;
use super::acting::called;
use super::bus::{Bus, Object};
use super::role::States;
use super::{Accessibility, lock};

/// For the focused element to say what it is; an application that is busy is not waited for.
const ANSWER: Duration = Duration::from_millis(40);
/// For the first connection.
const CONNECT: Duration = Duration::from_millis(400);
/// Until a bus that could not be had is tried again.
const AGAIN: Duration = Duration::from_secs(30);

/// What was heard so far.
#[derive(Default)]
pub(super) struct Heard {
    events: AtomicU64,
    listening: AtomicBool,
    /// The program and the path of the object that told last that it has the focus.
    focused: Mutex<Option<(String, String)>>,
    /// When the bus could not be had.
    missing: Mutex<Option<Instant>>,
}

impl Accessibility {
    /// The element with the keyboard focus, where one has told of it since the first call; and how many events there
    /// were.
    pub(in super::super) async fn focus_now(&self) -> (Option<String>, u64) {
        let heard = &self.inner.heard;
        let count = || heard.events.load(Ordering::Relaxed);
        if lock(&heard.missing).is_some_and(|since| since.elapsed() < AGAIN) {
            return (None, count());
        }
        let bus = match tokio::time::timeout(CONNECT, self.bus()).await {
            Ok(Ok(bus)) => bus,
            Ok(Err(_)) | Err(_) => {
                *lock(&heard.missing) = Some(Instant::now());
                return (None, count());
            }
        };
        if !heard.listening.swap(true, Ordering::SeqCst) {
            match bus.hear_focus().await {
                Ok(stream) => drop(tokio::spawn(listen(stream, Arc::clone(heard)))),
                Err(error) => {
                    heard.listening.store(false, Ordering::SeqCst);
                    tracing::debug!(%error, "the focus cannot be followed");
                }
            }
        }
        let focused = lock(&heard.focused).clone();
        let Some((program, path)) = focused else { return (None, count()) };
        let described = tokio::time::timeout(ANSWER, self.describe(&bus, &program, &path)).await;
        (described.ok().flatten(), count())
    }

    /// The object that told last that it has the focus, if it is of this application.
    pub(super) async fn heard_focused(&self, bus_name: &str) -> Option<Object> {
        let (program, path) =
            lock(&self.inner.heard.focused).clone().filter(|(program, _)| program == bus_name)?;
        Some(Object::new(&self.bus().await.ok()?.program(&program), &path))
    }

    /// `None` if it has lost the focus, or is ours.
    async fn describe(&self, bus: &Bus, program: &str, path: &str) -> Option<String> {
        let object = Object::new(&bus.program(program), path);
        let (role, name, states, pid) =
            tokio::join!(object.role(), object.name(), object.states(), bus.pid(program));
        let ours = pid.is_ok_and(|pid| is_ours(pid, &self.inner.own));
        let focused = states.is_ok_and(|states| states.has(States::FOCUSED));
        (focused && !ours).then(|| called(role.unwrap_or_default(), &name.unwrap_or_default()))
    }
}

/// Whether a process is ours, or is one that shows the pages of our windows, which speak for themselves.
fn is_ours(pid: u32, own: &Own) -> bool {
    let shows_our_pages = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
        let parent: u32 = rest.split_whitespace().nth(1)?.parse().ok()?;
        Some(name.starts_with("WebKit") && own.is(parent))
    };
    own.is(pid) || shows_our_pages().unwrap_or(false)
}

/// Until the connection ends.
async fn listen(mut stream: MessageStream, heard: Arc<Heard>) {
    while let Some(Ok(message)) = stream.next().await {
        heard.events.fetch_add(1, Ordering::Relaxed);
        let header = message.header();
        let (Some(sender), Some(path)) = (header.sender(), header.path()) else { continue };
        // The event's name, then 1 for gained and 0 for lost.
        let body = message.body();
        let gained = body
            .deserialize::<zbus::zvariant::Structure<'_>>()
            .ok()
            .and_then(|event| event.fields().get(1)?.downcast_ref::<i32>().ok());
        if gained == Some(1) {
            *lock(&heard.focused) = Some((sender.to_string(), path.to_string()));
        }
    }
    heard.listening.store(false, Ordering::SeqCst);
}
