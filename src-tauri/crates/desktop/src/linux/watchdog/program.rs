//! The watchdog's far side: the program that waits beside Miki, and lets go of what it held should it be killed.
//!
//! Hears on standard input what goes down and up (`watchdog.rs`); the end of it is the end of Miki. Does nothing before
//! that, and ends soon after: only where Miki was killed while the user's clipboard was in its hands, it stays to
//! offer that, as any program does from which something was copied, until someone else copies something.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::FileType;
use x11rb::protocol::xproto::ConnectionExt as _;

use super::super::clipboard::{self, Content};
use super::super::device_pair;
use super::super::pressed::{Down, release_each};
use super::super::session::Session;
use super::Message;
use crate::DesktopError;

/// The longest content that is kept.
pub(in crate::linux) const MOST_KEPT: usize = 4 << 20;
/// A press may still lie in the dead process's socket when its end is heard: released again after this.
const AGAIN: Duration = Duration::from_millis(20);
/// How often at least, and at most where something still shows as down (the user may hold the same key).
const ROUNDS: std::ops::Range<u32> = 2..6;
/// How long the server may take to notice that the clipboard's owner has died.
const ORPHANED: Duration = Duration::from_millis(800);

/// What was heard.
#[derive(Default)]
struct Heard {
    down: BTreeSet<Down>,
    pairs: BTreeSet<String>,
    kept: Option<Vec<u8>>,
    ended: bool,
}

pub(crate) fn run_watchdog() -> Result<(), DesktopError> {
    let input = std::io::stdin();
    if rustix::fs::fstat(&input).is_ok_and(|told| FileType::from_raw_mode(told.st_mode) == FileType::Socket) {
        // As a keeper (`atspi/apart.rs`) it holds that, and nothing else, until the other end closes.
        let closed = poll(&mut [PollFd::new(&input, PollFlags::empty())], None);
        return closed.map(drop).map_err(|error| DesktopError::Failed(format!("hold a socket: {error}")));
    }
    let Heard { down, pairs, kept, ended } = listen();
    if down.is_empty() && pairs.is_empty() && (ended || kept.is_none()) {
        return Ok(());
    }
    let session = Session::connect(None)?;
    if !pairs.is_empty() {
        // What made them may still lie in the dead process's socket.
        for _ in 0..ROUNDS.start {
            pairs.iter().try_for_each(|name| device_pair::remove_named(&session, name))?;
            std::thread::sleep(AGAIN);
        }
    }
    if !down.is_empty() {
        let_go(&session, &down)?;
    }
    match kept.as_deref().and_then(Content::decode) {
        Some((selection, content)) if !ended && is_orphaned(&session, selection)? => {
            drop(session);
            clipboard::offer_until_taken(selection, content)
        }
        _ => Ok(()),
    }
}

/// Until the end of the other program, whichever way it comes. What cannot be read ends it too.
fn listen() -> Heard {
    let mut heard = Heard::default();
    let mut input = BufReader::new(std::io::stdin().lock());
    loop {
        let mut line = String::new();
        match input.read_line(&mut line) {
            Ok(0) | Err(_) => return heard,
            Ok(_) => {}
        }
        match Message::read(&line) {
            Some(Message::Down(what)) => {
                heard.down.insert(what);
            }
            Some(Message::Up(what)) => {
                heard.down.remove(&what);
            }
            Some(Message::Pair(name)) => {
                heard.pairs.insert(name);
            }
            Some(Message::Keep(length)) if length <= MOST_KEPT => {
                let mut bytes = vec![0; length];
                if input.read_exact(&mut bytes).is_err() {
                    return heard;
                }
                heard.kept = Some(bytes);
            }
            Some(Message::Forget) => heard.kept = None,
            Some(Message::End) => heard.ended = true,
            Some(Message::Keep(_)) | None => return heard,
        }
    }
}

fn let_go(session: &Session, down: &BTreeSet<Down>) -> Result<(), DesktopError> {
    for round in 1..ROUNDS.end {
        release_each(session, down)?;
        session.sync()?;
        if round >= ROUNDS.start && !is_any_down(session, down)? {
            break;
        }
        std::thread::sleep(AGAIN);
    }
    Ok(())
}

fn is_any_down(session: &Session, down: &BTreeSet<Down>) -> Result<bool, DesktopError> {
    let keys = session.conn.query_keymap()?.reply()?.keys;
    let mask = u16::from(session.conn.query_pointer(session.root)?.reply()?.mask);
    Ok(down.iter().any(|what| match what {
        Down::Key(code) => keys[usize::from(code / 8)] & (1 << (code % 8)) != 0,
        // The mask knows the first five, from bit 8 on.
        Down::Button(number @ 1..=5) => mask & (1 << (7 + number)) != 0,
        Down::Button(_) => false,
    }))
}

/// Whether nobody offers anything any more; somebody does where the user has copied something else.
fn is_orphaned(session: &Session, selection: u32) -> Result<bool, DesktopError> {
    let end = Instant::now() + ORPHANED;
    loop {
        if session.conn.get_selection_owner(selection)?.reply()?.owner == x11rb::NONE {
            return Ok(true);
        }
        if Instant::now() > end {
            return Ok(false);
        }
        std::thread::sleep(AGAIN);
    }
}
