//! Pointer acts on the stage, the round trip to its X server, and stops by the corner on a screen of their own.

use std::sync::Arc;

use desktop::{Action, Button, Desktop};
use protocol::geometry::NormPoint;
use tokio_util::sync::CancellationToken;
use x11rb::protocol::xproto::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

use crate::screen::{HEIGHT, Screen, Target, WIDTH};
use crate::trials;
use crate::work::{Done, Failure};

/// Over the bare desktop: below the stage's windows.
const PLACES: [(f64, f64); 2] = [(100.0, 930.0), (300.0, 960.0)];

pub struct Acts {
    desktop: Arc<dyn Desktop>,
    conn: RustConnection,
    moves: usize,
}

impl Acts {
    pub fn open(desktop: Arc<dyn Desktop>) -> Result<Self, Failure> {
        let (conn, _) = x11rb::connect(None)?;
        Ok(Self { desktop, conn, moves: 0 })
    }

    /// A request that is answered at once: how far away the server is.
    pub fn round_trip(&self) -> Result<usize, Failure> {
        self.conn.get_input_focus()?.reply()?;
        Ok(1)
    }

    /// To the other of two places each time.
    pub async fn move_pointer(&mut self) -> Result<usize, Failure> {
        let to = self.next_place()?;
        self.desktop.act(Action::Move { display: 0, to }, CancellationToken::new()).await?;
        Ok(1)
    }

    /// Moves and clicks.
    pub async fn click(&mut self) -> Result<usize, Failure> {
        let at = self.next_place()?;
        let click = Action::Click { display: 0, at, button: Button::Left, count: 1, held: Vec::new() };
        self.desktop.act(click, CancellationToken::new()).await?;
        Ok(1)
    }

    fn next_place(&mut self) -> Result<NormPoint, Failure> {
        self.moves += 1;
        let (x, y) = PLACES[self.moves % PLACES.len()];
        Ok(NormPoint::new(x, y)?)
    }
}

/// From the user's hand in the corner to the last event that ours sent, so many times.
pub async fn corner(count: usize) -> Result<Done, Failure> {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), 0x0020_b040);
    target.focus();
    let trials = trials::measure(&screen, count).await;
    Ok(Done { ms: trials.late.iter().map(|late| late.as_secs_f64() * 1e3).collect(), count: trials.corners })
}
