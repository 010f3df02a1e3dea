//! What the windows remember from one start to the next. Theirs alone: no setting, nothing that a run is decided by, and
//! nothing that the command line or the socket may read or change.

use serde::{Deserialize, Serialize};

use crate::ids::SessionId;
use crate::socket::Frame;

/// Goals that are remembered.
pub const MOST_GOALS: usize = 100;
/// In characters. A longer goal is not remembered: cut short, it would be another one.
pub const LONGEST_GOAL: usize = 10_000;
/// In bytes; ours are shorter.
const LONGEST_SESSION_ID: usize = 100;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Remembered {
    pub theme: Theme,
    /// What was said in the goal fields, oldest first.
    pub goals: Vec<String>,
    pub room: Room,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

/// What the dashboard shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Room {
    pub tab: Tab,
    /// `None` for one that begins with the next goal.
    pub session: Option<SessionId>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Tab {
    #[default]
    Work,
    Settings,
}

/// One thing that a window wants remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    Theme(Theme),
    Goal(String),
    Room(Room),
}

/// What a window hears through its channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Heard {
    Engine(Frame),
    /// All of it, at the beginning and after a change by any window. Where the dashboard is, is not told anew.
    Remembered(Box<Remembered>),
    /// The session that another window wants it to show.
    Open(SessionId),
}

impl Remembered {
    pub fn take(&mut self, change: Change) {
        match change {
            Change::Theme(theme) => self.theme = theme,
            Change::Goal(goal) => self.goals.push(goal),
            Change::Room(room) => self.room = room,
        }
        self.keep_within_bounds();
    }

    /// Drops what no window of ours would have said: files and pages are not trusted.
    pub fn keep_within_bounds(&mut self) {
        self.goals.retain(|goal| !goal.trim().is_empty() && goal.chars().count() <= LONGEST_GOAL);
        self.goals.dedup();
        let over = self.goals.len().saturating_sub(MOST_GOALS);
        self.goals.drain(..over);
        self.room.session.take_if(|session| session.0.len() > LONGEST_SESSION_ID);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(goals: impl IntoIterator<Item = String>) -> Vec<String> {
        let mut remembered = Remembered::default();
        goals.into_iter().for_each(|goal| remembered.take(Change::Goal(goal)));
        remembered.goals
    }

    #[test]
    fn a_goal_twice_in_a_row_is_remembered_once_and_an_empty_one_not_at_all() {
        assert_eq!(after(["a", "a", " ", "b", "", "b", "a"].map(str::to_owned)), ["a", "b", "a"]);
    }

    #[test]
    fn the_newest_hundred_goals_are_remembered() {
        let goals = after((0..250).map(|n| n.to_string()));
        assert_eq!(goals.len(), MOST_GOALS);
        assert_eq!((goals[0].as_str(), goals[99].as_str()), ("150", "249"));
    }

    #[test]
    fn a_goal_is_remembered_whole_or_not_at_all() {
        let longest = "字".repeat(LONGEST_GOAL);
        assert_eq!(after([longest.clone(), format!("{longest}!")]), [longest]);
    }

    #[test]
    fn a_session_of_no_sensible_name_is_forgotten() {
        let mut remembered = Remembered::default();
        let named = |name: String| Change::Room(Room { tab: Tab::Settings, session: Some(SessionId(name)) });
        remembered.take(named("s-1".into()));
        assert_eq!(remembered.room.session, Some(SessionId("s-1".into())));
        remembered.take(named("s".repeat(1_000_000)));
        assert_eq!(remembered.room, Room { tab: Tab::Settings, session: None });
    }
}
