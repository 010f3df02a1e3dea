//! When the dashboard is kept below all other windows: while a run has the desktop, and on until that run ends, waits for its
//! user or is paused. For one with hands of its own only where it lies over what that acts on, and its user is not in it. Pure.

use protocol::event::Activity;
use protocol::ids::RunId;
use protocol::view::Overview;

#[derive(Debug, Default)]
pub struct Aside {
    /// The run that it stands aside for.
    run: Option<RunId>,
    /// That one has hands of its own.
    is_beside: bool,
    /// The user has gone to the dashboard meanwhile.
    wanted: bool,
    below: bool,
}

impl Aside {
    pub fn is_below(&self) -> bool {
        self.below
    }

    /// The run that it stands aside for, if that works with its user's mouse and keyboard.
    pub fn run(&self) -> Option<&RunId> {
        self.run.as_ref().filter(|_| !self.is_beside)
    }

    /// It stands aside for one with hands of its own.
    pub fn is_beside(&self) -> bool {
        self.is_beside && self.below
    }

    /// The user has gone to the dashboard. It comes up when the desktop is free, until a run takes it again: in the middle
    /// of a turn it would cover what is being worked on.
    pub fn wanted(&mut self) {
        self.wanted = self.run.is_some();
    }

    /// Whether it is to be below now. Not while any run asks: the question must be seen whole. `in_use`: the user is in it.
    pub fn update(&mut self, view: &Overview, in_use: bool) -> bool {
        let works = |run: &RunId| {
            view.runs.iter().any(|known| known.run == *run && known.status.activity == Activity::Working)
        };
        let beside = view.desktop.beside.iter().find(|beside| beside.wants_room && works(&beside.run));
        let has_room = self.is_beside && beside.is_none();
        let beside = beside.filter(|_| !in_use).map(|beside| &beside.run);
        if let Some(run) = view.desktop.owner.as_ref().or(beside) {
            (self.run, self.is_beside) = (Some(run.clone()), view.desktop.owner.is_none());
        } else if self.wanted || has_room || self.run.as_ref().is_some_and(|run| !works(run)) {
            (self.run, self.wanted) = (None, false);
        }
        // Another one that is paused asks nothing.
        let may_be = match self.is_beside {
            true => view.questions.is_empty(),
            false => fold::activity(view).0 == Activity::Working,
        };
        self.below = self.run.is_some() && may_be;
        self.below
    }
}

#[cfg(test)]
mod tests {
    use protocol::event::Status;
    use protocol::ids::{Seq, SessionId};
    use protocol::settings::Settings;
    use protocol::view::{BesideView, DesktopView, Platform, RunStatus};

    use super::*;

    fn run(activity: Activity) -> RunStatus {
        let status = Status {
            activity,
            detail: String::new(),
            step: 1,
            max_steps: 30,
            paused: false,
            wants_word: false,
            used_up: None,
            grants: Vec::new(),
            progress: None,
            asks_above: false,
        };
        RunStatus {
            session: SessionId("s-1".into()),
            run: RunId("r-1".into()),
            goal: "write".into(),
            status,
            parent: None,
        }
    }

    fn view(runs: Vec<RunStatus>, has_desktop: bool) -> Overview {
        let owner = has_desktop.then(|| RunId("r-1".into()));
        Overview {
            seq: Seq(0),
            settings: Settings::default(),
            sessions: Vec::new(),
            questions: Vec::new(),
            runs,
            desktop: DesktopView { owner, ..DesktopView::default() },
            version: "0.1.0".into(),
            platform: Platform::Linux,
        }
    }

    #[test]
    fn it_stays_where_it_is_until_a_run_has_the_desktop_and_steps_aside_until_that_one_ends() {
        let mut aside = Aside::default();
        assert!(
            !aside.update(&view(vec![run(Activity::Working)], false), false),
            "nothing is done on the desktop"
        );
        assert!(aside.update(&view(vec![run(Activity::Working)], true), false));
        assert!(aside.update(&view(vec![run(Activity::Working)], false), false), "between two turns");
        assert!(!aside.update(&view(vec![run(Activity::Waiting)], false), false), "it asks");
        assert!(!aside.update(&view(vec![run(Activity::Working)], false), false), "it has nothing yet");
        assert!(aside.update(&view(vec![run(Activity::Working)], true), false));
        assert!(!aside.update(&view(Vec::new(), false), false), "it has ended");
    }

    #[test]
    fn its_user_sees_it_between_two_turns_and_the_next_act_has_room() {
        let mut aside = Aside::default();
        let (acts, thinks) =
            (view(vec![run(Activity::Working)], true), view(vec![run(Activity::Working)], false));
        aside.wanted();
        assert!(aside.update(&acts, false), "that was before");
        aside.wanted();
        assert!(aside.update(&acts, false), "it would cover what is worked on");
        assert!(!aside.update(&thinks, false));
        assert!(!aside.update(&thinks, false));
        assert!(aside.update(&acts, false));
        assert!(aside.update(&thinks, false), "one wish counts once");
    }

    #[test]
    fn for_hands_of_their_own_it_makes_room_where_it_is_in_the_way_and_its_user_is_elsewhere() {
        let beside = |wants_room| {
            let one =
                BesideView { run: RunId("r-1".into()), window: None, pointer: None, wants_room, color: 0 };
            let view = view(vec![run(Activity::Working)], false);
            Overview { desktop: DesktopView { beside: vec![one], ..DesktopView::default() }, ..view }
        };
        let mut aside = Aside::default();
        assert!(!aside.update(&beside(false), false), "it is in nobody's way");
        assert!(!aside.update(&beside(true), true), "its user is in it");
        assert!(aside.update(&beside(true), false));
        aside.wanted();
        assert!(!aside.update(&beside(true), true), "its user has come to it");
        assert!(aside.update(&beside(true), false), "and has left it");
        assert!(aside.is_beside() && aside.run().is_none(), "no keyboard is owed for it");
        let paused = RunStatus { run: RunId("r-2".into()), ..run(Activity::Waiting) };
        let with_paused = Overview { runs: vec![run(Activity::Working), paused], ..beside(true) };
        assert!(aside.update(&with_paused, false), "another one that its user has taken over asks nothing");
        assert!(!aside.update(&beside(false), false), "it acts elsewhere");
        assert!(aside.update(&beside(true), false));
        assert!(!aside.update(&view(Vec::new(), false), false), "it has ended");
    }
}
