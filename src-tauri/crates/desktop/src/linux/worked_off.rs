//! Whether an application has worked off the keys that it was sent: asked as a window manager asks whether it answers
//! still. Many do what Enter does only once nothing more waits for them, and what is typed behind it comes before that:
//! two lines at once would be one. A person does not type that fast.

use std::cell::Cell;
use std::time::{Duration, Instant};

use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask, Window,
};

use super::pressed::Stop;
use super::session::Session;
use crate::DesktopError;

/// For an answer; after one that did not come no other is waited for.
const ANSWER: Duration = Duration::from_secs(1);
const A_LOOK: Duration = Duration::from_millis(2);
/// Where a window offers no answer.
const UNASKED: Duration = Duration::from_millis(60);
/// The first is answered among the keys, the second after what was put off until there were none.
const QUESTIONS: u32 = 2;

pub(super) struct WorkedOff {
    /// A connection of its own, since the answers come as events of the root window.
    session: Option<(Session, Window)>,
    asked: Cell<u32>,
}

impl WorkedOff {
    /// Of the application whose window has the keyboard.
    pub(super) fn new(display: Option<&str>, here: &Session) -> Result<Self, DesktopError> {
        let ping = here.atoms._NET_WM_PING;
        let offers = |window| {
            let protocols =
                here.conn.get_property(false, window, here.atoms.WM_PROTOCOLS, AtomEnum::ATOM, 0, 64)?;
            let offered = protocols
                .reply()
                .ok()
                .is_some_and(|told| told.value32().is_some_and(|mut all| all.any(|one| one == ping)));
            Ok(offered.then_some(window))
        };
        let session = match here.upwards_from_focus(offers)? {
            Some(window) => {
                let session = Session::connect(display)?;
                // Qt answers to those who asked for the one, others to those who asked for the other.
                let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::STRUCTURE_NOTIFY;
                let listen = ChangeWindowAttributesAux::new().event_mask(mask);
                session.conn.change_window_attributes(session.root, &listen)?;
                Some((session, window))
            }
            None => None,
        };
        Ok(Self { session, asked: Cell::new(0) })
    }

    /// Waits until it has, or as long as it may take.
    pub(super) fn rest(&self, stop: &Stop) -> Result<(), DesktopError> {
        let Some((session, window)) = &self.session else { return stop.pause(UNASKED) };
        for _ in 0..QUESTIONS {
            if self.asked.get() == u32::MAX {
                return stop.pause(UNASKED);
            }
            self.asked.set(self.asked.get() + 1);
            if !self.is_answered(session, *window, stop)? {
                self.asked.set(u32::MAX);
            }
        }
        Ok(())
    }

    fn is_answered(&self, session: &Session, window: Window, stop: &Stop) -> Result<bool, DesktopError> {
        let ping = session.atoms._NET_WM_PING;
        // In place of a time: it comes back with the answer.
        let number = self.asked.get();
        let data = [ping, number, window, 0, 0];
        let question = ClientMessageEvent::new(32, window, session.atoms.WM_PROTOCOLS, data);
        session.conn.send_event(false, window, EventMask::NO_EVENT, question)?;
        session.conn.flush()?;
        let end = Instant::now() + ANSWER;
        while Instant::now() < end {
            while let Some(event) = session.conn.poll_for_event()? {
                if let Event::ClientMessage(told) = event
                    && told.window == session.root
                    && told.data.as_data32()[..3] == [ping, number, window]
                {
                    return Ok(true);
                }
            }
            stop.pause(A_LOOK)?;
        }
        Ok(false)
    }
}
