//! Who asks for something, and which right it takes. The engine holds every command to it; see SECURITY.md.

use serde::{Deserialize, Serialize};

use crate::ids::RunId;

/// Through which surface somebody speaks. Journaled with answers and refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Surface {
    Dashboard,
    Chat,
    Overlay,
    Tray,
    /// The command line, and any other program on the local socket.
    Cli,
    /// Nobody: an answer that was not given in time.
    Deadline,
}

impl Surface {
    /// Whether it is one of Miki's own windows, or its tray.
    pub fn is_window(self) -> bool {
        match self {
            Self::Dashboard | Self::Chat | Self::Overlay | Self::Tray => true,
            Self::Cli | Self::Deadline => false,
        }
    }
}

/// What a command takes. One per command, in the list in [`crate::command`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Right {
    /// Looking at what there is.
    Read,
    /// Stopping is everybody's.
    Stop,
    Pause,
    /// Starting a run; looser than the settings takes [`Right::Loosen`] on top.
    Start,
    /// Speaking into a run, and going on with a paused one.
    Steer,
    Answer,
    /// Answering as anybody who knows the approver key.
    AnswerByKey,
    /// One call without a model; one that acts takes the desktop.
    CallTool,
    /// Changing a session's title, mode or search, or a setting.
    Edit,
    /// What gives an agent more than it has: approval, mode, fence, failsafe, addresses, headers.
    Loosen,
    Keys,
    /// The system's settings and our own windows.
    Windows,
    /// What is our windows' alone: what they remember, and to which address a key may go.
    OurWindows,
}

/// Who sends a command. Made by the surface itself, never read from a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Principal {
    pub surface: Surface,
    /// Runs that were started over this very connection.
    pub started: Vec<RunId>,
}

impl Principal {
    pub fn of(surface: Surface) -> Self {
        Self { surface, started: Vec::new() }
    }

    /// Whether it has `right` while agents are at work. `run` is the run that is meant, where one is.
    ///
    /// # Errors
    /// [`Missing`] says what it would take.
    pub fn may(&self, right: Right, run: Option<&RunId>, at_work: AtWork) -> Result<(), Missing> {
        let own = run.is_some_and(|run| self.started.contains(run));
        match self.surface {
            // What a window may send at all is in its capability file.
            Surface::Dashboard | Surface::Chat | Surface::Overlay | Surface::Tray => Ok(()),
            Surface::Deadline => Err(Missing::Window),
            Surface::Cli => match right {
                Right::Read | Right::Stop | Right::Pause | Right::Start | Right::Windows => Ok(()),
                Right::Edit | Right::AnswerByKey => Ok(()),
                Right::Steer | Right::Answer if own => Ok(()),
                Right::Answer => Err(Missing::Window),
                Right::OurWindows => Err(Missing::OurWindow),
                Right::Steer | Right::Loosen | Right::Keys | Right::CallTool => match at_work {
                    AtWork::No => Ok(()),
                    AtWork::Yes => Err(Missing::Rest),
                },
            },
        }
    }
}

/// Whether any agent is at work, or waits for an answer to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtWork {
    Yes,
    No,
}

/// What a right would take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// One of our windows, or the terminal that started the run.
    Window,
    /// One of our windows, and nothing else.
    OurWindow,
    /// One of our windows, or no agent at work.
    Rest,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the specification, row by row: right, for a window, for a client while no agent works, while one
    /// does, and for the connection that started the run.
    const TABLE: [(Right, bool, bool, bool, bool); 13] = [
        (Right::Read, true, true, true, true),
        (Right::Stop, true, true, true, true),
        (Right::Pause, true, true, true, true),
        (Right::Start, true, true, true, true),
        (Right::Steer, true, true, false, true),
        (Right::Answer, true, false, false, true),
        (Right::AnswerByKey, true, true, true, true),
        (Right::CallTool, true, true, false, false),
        (Right::Edit, true, true, true, true),
        (Right::Loosen, true, true, false, false),
        (Right::Keys, true, true, false, false),
        (Right::Windows, true, true, true, true),
        (Right::OurWindows, true, false, false, false),
    ];

    #[test]
    fn every_right_is_as_tabled() {
        let run = RunId::from_suffix("1");
        for (right, window, idle, at_work, own) in TABLE {
            for surface in [Surface::Dashboard, Surface::Chat, Surface::Overlay, Surface::Tray] {
                let may = Principal::of(surface).may(right, Some(&run), AtWork::Yes).is_ok();
                assert_eq!(may, window, "{right:?} {surface:?}");
            }
            let client = Principal::of(Surface::Cli);
            assert_eq!(client.may(right, Some(&run), AtWork::No).is_ok(), idle, "{right:?} idle");
            assert_eq!(client.may(right, Some(&run), AtWork::Yes).is_ok(), at_work, "{right:?} at work");
            let starter = Principal { surface: Surface::Cli, started: vec![run.clone()] };
            assert_eq!(starter.may(right, Some(&run), AtWork::Yes).is_ok(), own, "{right:?} own");
            let nobody = Principal::of(Surface::Deadline);
            assert!(nobody.may(right, Some(&run), AtWork::No).is_err(), "{right:?} nobody");
        }
    }

    #[test]
    fn a_run_of_its_own_gives_no_right_over_another_one() {
        let starter = Principal { surface: Surface::Cli, started: vec![RunId::from_suffix("1")] };
        let other = RunId::from_suffix("2");
        assert_eq!(starter.may(Right::Answer, Some(&other), AtWork::Yes), Err(Missing::Window));
        assert_eq!(starter.may(Right::Steer, Some(&other), AtWork::Yes), Err(Missing::Rest));
        assert_eq!(starter.may(Right::Answer, None, AtWork::No), Err(Missing::Window));
    }
}
