//! Selections of X11: reading what is there, offering ours, and putting the earlier content back.
//!
//! The clipboard lives in whoever offers it, so an offer has a connection and a thread of its own, which end when
//! someone else copies something. Our text is marked as not for clipboard histories.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask, PropMode, Property,
    SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, Window, WindowClass,
};
use x11rb::wrapper::ConnectionExt as _;

use super::atspi::is_look;
use super::session::Session;
use crate::DesktopError;

mod bytes;

/// Bounds on keeping the earlier content: bytes, and time.
const MOST_BYTES: usize = 16 << 20;
const READ_TIME: Duration = Duration::from_millis(700);

/// What a selection holds, by target.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Content {
    pub(super) targets: Vec<Target>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Target {
    pub(super) name: Atom,
    pub(super) kind: Atom,
    pub(super) format: u8,
    pub(super) bytes: Vec<u8>,
}

impl Content {
    /// Text as a user copies it.
    pub(super) fn copied(session: &Session, text: &str) -> Self {
        let atoms = &session.atoms;
        let target =
            |name: Atom, kind: Atom| Target { name, kind, format: 8, bytes: text.as_bytes().to_vec() };
        let targets = vec![
            target(atoms.UTF8_STRING, atoms.UTF8_STRING),
            target(atoms.TEXT_PLAIN_UTF8, atoms.TEXT_PLAIN_UTF8),
            target(atoms.TEXT_PLAIN, atoms.TEXT_PLAIN),
            target(atoms.TEXT, atoms.UTF8_STRING),
        ];
        Self { targets }
    }

    /// Text for one paste, marked as not for clipboard histories.
    pub(super) fn text(session: &Session, text: &str) -> Self {
        let mut content = Self::copied(session, text);
        let hint = session.atoms.PASSWORD_HINT;
        content.targets.push(Target { name: hint, kind: hint, format: 8, bytes: b"secret".to_vec() });
        content
    }

    /// Whether it was marked as not for clipboard histories, as password managers do.
    pub(super) fn is_secret(&self, session: &Session) -> bool {
        self.targets
            .iter()
            .any(|target| target.name == session.atoms.PASSWORD_HINT && target.bytes == b"secret")
    }

    /// Its text; `None` if it has none.
    pub(super) fn as_text(&self, session: &Session) -> Option<String> {
        let atoms = &session.atoms;
        let forms = [atoms.UTF8_STRING, atoms.TEXT_PLAIN_UTF8, atoms.TEXT_PLAIN, AtomEnum::STRING.into()];
        let found = forms.iter().find_map(|form| self.targets.iter().find(|target| target.name == *form))?;
        if found.name == u32::from(AtomEnum::STRING) {
            // Latin-1, by ICCCM.
            return Some(found.bytes.iter().map(|&byte| char::from(byte)).collect());
        }
        Some(String::from_utf8_lossy(&found.bytes).into_owned())
    }
}

/// What the selection holds now, in the forms that people copy; nothing in it where nobody offers anything.
/// `None` where its owner does not answer in time or it is too large.
pub(super) fn earlier_content(session: &Session, selection: Atom) -> Result<Option<Content>, DesktopError> {
    if session.conn.get_selection_owner(selection)?.reply()?.owner == x11rb::NONE {
        return Ok(Some(Content::default()));
    }
    let window = own_window(session)?;
    let read = Reader { session, window, selection, end: Instant::now() + READ_TIME }.read_all();
    session.conn.destroy_window(window)?;
    read
}

fn own_window(session: &Session) -> Result<Window, DesktopError> {
    let window = session.conn.generate_id()?;
    let values = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE).override_redirect(1);
    session.conn.create_window(
        0,
        window,
        session.root,
        0,
        0,
        1,
        1,
        0,
        WindowClass::INPUT_ONLY,
        0,
        &values,
    )?;
    Ok(window)
}

struct Reader<'a> {
    session: &'a Session,
    window: Window,
    selection: Atom,
    end: Instant,
}

impl Reader<'_> {
    fn read_all(&self) -> Result<Option<Content>, DesktopError> {
        let atoms = &self.session.atoms;
        let Some(list) = self.read(atoms.TARGETS)? else { return Ok(None) };
        let offered: Vec<Atom> =
            list.bytes.as_chunks::<4>().0.iter().map(|b| Atom::from_ne_bytes(*b)).collect();
        let wanted = [
            atoms.UTF8_STRING,
            atoms.TEXT_PLAIN_UTF8,
            atoms.TEXT_PLAIN,
            AtomEnum::STRING.into(),
            atoms.TEXT_HTML,
            atoms.TEXT_RTF,
            atoms.TEXT_URI_LIST,
            atoms.COPIED_FILES,
            atoms.IMAGE_PNG,
            atoms.PASSWORD_HINT,
        ];
        let mut content = Content::default();
        let mut size = 0;
        for target in wanted.into_iter().filter(|target| offered.contains(target)) {
            let Some(read) = self.read(target)? else { return Ok(None) };
            size += read.bytes.len();
            if size > MOST_BYTES {
                return Ok(None);
            }
            content.targets.push(read);
        }
        // Something is there, but in no form that we know.
        Ok((!content.targets.is_empty()).then_some(content))
    }

    fn read(&self, target: Atom) -> Result<Option<Target>, DesktopError> {
        let conn = &self.session.conn;
        let property = self.session.atoms.MIKI_TRANSFER;
        conn.delete_property(self.window, property)?;
        conn.convert_selection(self.window, self.selection, target, property, x11rb::CURRENT_TIME)?;
        conn.flush()?;
        let notified = self.wait(|event| match event {
            Event::SelectionNotify(event) if event.target == target => Some(event.property),
            _ => None,
        })?;
        if notified.is_none_or(|property| property == x11rb::NONE) {
            return Ok(None);
        }
        let first = self.take(property)?;
        if first.kind != self.session.atoms.INCR {
            return Ok(Some(Target { name: target, ..first }));
        }
        let mut whole = Target { name: target, kind: 0, format: 8, bytes: Vec::new() };
        loop {
            let arrived = self.wait(|event| match event {
                Event::PropertyNotify(event)
                    if event.atom == property && event.state == Property::NEW_VALUE =>
                {
                    Some(())
                }
                _ => None,
            })?;
            if arrived.is_none() || whole.bytes.len() > MOST_BYTES {
                return Ok(None);
            }
            let part = self.take(property)?;
            if part.bytes.is_empty() {
                return Ok(Some(whole));
            }
            whole.kind = part.kind;
            whole.format = part.format;
            whole.bytes.extend(part.bytes);
        }
    }

    /// Reads the property and deletes it, which asks for the next part where there is one.
    fn take(&self, property: Atom) -> Result<Target, DesktopError> {
        let most = (MOST_BYTES / 4) as u32;
        let reply =
            self.session.conn.get_property(true, self.window, property, AtomEnum::ANY, 0, most)?.reply()?;
        self.session.conn.flush()?;
        Ok(Target { name: 0, kind: reply.type_, format: reply.format, bytes: reply.value })
    }

    fn wait<T>(&self, mut wanted: impl FnMut(Event) -> Option<T>) -> Result<Option<T>, DesktopError> {
        while Instant::now() < self.end {
            match self.session.conn.poll_for_event()? {
                Some(event) => {
                    if let Some(found) = wanted(event) {
                        return Ok(Some(found));
                    }
                }
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        }
        Ok(None)
    }
}

/// Content that we offer, served by a thread until someone else offers something.
pub(super) struct Offer {
    shared: Arc<Shared>,
}

struct Shared {
    session: Session,
    window: Window,
    selection: Atom,
    state: Mutex<State>,
}

struct State {
    content: Content,
    /// What each client has asked for, by the base of its resource ids.
    asks: HashMap<u32, Asks>,
    /// When anyone asked last.
    asked: Instant,
    lost: bool,
}

#[derive(Default)]
struct Asks {
    /// How often for what there is, since it read the content last.
    targets: u32,
    read: Option<Read>,
}

/// What one that read it did: some look before they take ([`is_look`]).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Read {
    Look,
    Taken,
}

/// Who has read an offer.
pub(super) struct Readers {
    /// The client of the focused window took it.
    pub(super) focused: bool,
    /// Another client took it.
    pub(super) others: bool,
    /// Someone looked at it, at the least.
    pub(super) any: bool,
    pub(super) asked: Instant,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn client(&self, window: Window) -> u32 {
        window & !self.session.conn.setup().resource_id_mask
    }
}

impl Offer {
    pub(super) fn make(
        display: Option<&str>,
        selection: Atom,
        content: Content,
    ) -> Result<Self, DesktopError> {
        Self::make_with(display, selection, content, || {})
    }

    /// The same; `lost` is called when someone else has taken the selection, or nobody offers anything any more.
    pub(super) fn make_with(
        display: Option<&str>,
        selection: Atom,
        content: Content,
        lost: impl FnOnce() + Send + 'static,
    ) -> Result<Self, DesktopError> {
        let shared = Arc::new(take(display, selection, content)?);
        let served = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("desktop-clipboard".into())
            .spawn(move || {
                if let Err(error) = serve(&served) {
                    tracing::debug!(%error, "the clipboard's thread ended");
                }
                served.state().lost = true;
                lost();
            })
            .map_err(|error| DesktopError::Failed(format!("start the clipboard thread: {error}")))?;
        Ok(Self { shared })
    }

    pub(super) fn readers(&self, focused: Option<Window>) -> Readers {
        let focused = focused.map(|window| self.shared.client(window));
        let state = self.shared.state();
        let taken_by = |is_meant: &dyn Fn(u32) -> bool| {
            state.asks.iter().any(|(client, asks)| asks.read == Some(Read::Taken) && is_meant(*client))
        };
        Readers {
            focused: taken_by(&|client| Some(client) == focused),
            others: taken_by(&|client| Some(client) != focused),
            any: state.asks.values().any(|asks| asks.read.is_some()),
            asked: state.asked,
        }
    }

    /// Offers this in place of what is offered; its readers are counted anew. `false` if another has the selection now.
    pub(super) fn show(&self, content: Content) -> Result<bool, DesktopError> {
        let Shared { session, window, selection, .. } = &*self.shared;
        {
            let mut state = self.shared.state();
            if state.lost {
                return Ok(false);
            }
            state.content = content;
            state.asks.clear();
        }
        if session.conn.get_selection_owner(*selection)?.reply()?.owner != *window {
            return Ok(false);
        }
        // Taken anew, so that those who keep what they have read once see the change.
        session.conn.set_selection_owner(*window, *selection, x11rb::CURRENT_TIME)?;
        session.sync()?;
        Ok(true)
    }

    /// Offers the earlier content instead, or nothing where there was none or it is not known. What the user has
    /// copied meanwhile stays.
    pub(super) fn give_back(self, earlier: Option<Content>) -> Result<(), DesktopError> {
        let Shared { session, window, selection, .. } = &*self.shared;
        let earlier = earlier.unwrap_or_default();
        {
            let mut state = self.shared.state();
            if state.lost {
                return Ok(());
            }
            state.content = earlier.clone();
        }
        if session.conn.get_selection_owner(*selection)?.reply()?.owner != *window {
            return Ok(());
        }
        if earlier.targets.is_empty() {
            session.conn.set_selection_owner(x11rb::NONE, *selection, x11rb::CURRENT_TIME)?;
            self.end()
        } else {
            // Taken anew, so that those who watch the clipboard see the change.
            session.conn.set_selection_owner(*window, *selection, x11rb::CURRENT_TIME)?;
            session.sync()
        }
    }

    fn end(&self) -> Result<(), DesktopError> {
        let Shared { session, window, .. } = &*self.shared;
        let message = ClientMessageEvent::new(32, *window, session.atoms.MIKI_TRANSFER, [0; 5]);
        session.conn.send_event(false, *window, EventMask::NO_EVENT, message)?;
        session.sync()
    }
}

/// Takes the selection.
fn take(display: Option<&str>, selection: Atom, content: Content) -> Result<Shared, DesktopError> {
    let session = Session::connect(display)?;
    let window = own_window(&session)?;
    session.conn.set_selection_owner(window, selection, x11rb::CURRENT_TIME)?;
    if session.conn.get_selection_owner(selection)?.reply()?.owner != window {
        return Err(DesktopError::Failed("the X server did not give us the clipboard".into()));
    }
    let state = Mutex::new(State { content, asks: HashMap::new(), asked: Instant::now(), lost: false });
    Ok(Shared { session, window, selection, state })
}

/// Offers content on this thread, until someone else takes the selection or the server ends.
pub(super) fn offer_until_taken(selection: Atom, content: Content) -> Result<(), DesktopError> {
    serve(&take(None, selection, content)?)
}

fn serve(shared: &Shared) -> Result<(), DesktopError> {
    loop {
        match shared.session.conn.wait_for_event()? {
            Event::SelectionRequest(request) => answer(shared, &request)?,
            // Taking the selection anew tells its old owner, us, nothing: this means that another has it.
            Event::SelectionClear(cleared) if cleared.selection == shared.selection => return Ok(()),
            Event::ClientMessage(message) if message.type_ == shared.session.atoms.MIKI_TRANSFER => {
                return Ok(());
            }
            _ => {}
        }
    }
}

fn answer(shared: &Shared, request: &SelectionRequestEvent) -> Result<(), DesktopError> {
    let Session { conn, atoms, .. } = &shared.session;
    // Clients from before ICCCM name no property; the target stands for it.
    let property = if request.property == x11rb::NONE { request.target } else { request.property };
    let content = shared.state().content.clone();
    let to = request.requestor;
    let found = content.targets.iter().find(|target| target.name == request.target);
    let given = if request.target == atoms.TARGETS {
        let names: Vec<Atom> =
            std::iter::once(atoms.TARGETS).chain(content.targets.iter().map(|target| target.name)).collect();
        conn.change_property32(PropMode::REPLACE, to, property, AtomEnum::ATOM, &names)?;
        true
    } else if let Some(Target { kind, format, bytes, .. }) = found
        && bytes.len() + 64 <= conn.maximum_request_bytes()
    {
        let units = bytes.len() / usize::from(format / 8).max(1);
        conn.change_property(PropMode::REPLACE, to, property, *kind, *format, units as u32, bytes)?;
        true
    } else {
        false
    };
    let notify = SelectionNotifyEvent {
        response_type: SELECTION_NOTIFY_EVENT,
        sequence: 0,
        time: request.time,
        requestor: to,
        selection: request.selection,
        target: request.target,
        property: if given { property } else { x11rb::NONE },
    };
    conn.send_event(false, to, EventMask::NO_EVENT, notify)?;
    conn.flush()?;
    let is_read = given && request.target != atoms.TARGETS && request.target != atoms.PASSWORD_HINT;
    let asker = if is_read {
        // The window may be gone by now.
        let name = conn.get_property(false, to, AtomEnum::WM_NAME, AtomEnum::ANY, 0, 16)?.reply();
        name.map(|name| name.value).unwrap_or_default()
    } else {
        Vec::new()
    };
    let mut state = shared.state();
    state.asked = Instant::now();
    let asks = state.asks.entry(shared.client(to)).or_default();
    if request.target == atoms.TARGETS {
        asks.targets += 1;
    } else if is_read {
        let looked = is_look(&asker, asks.targets);
        asks.read = asks.read.max(Some(if looked { Read::Look } else { Read::Taken }));
        asks.targets = 0;
    }
    Ok(())
}
