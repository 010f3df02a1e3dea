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
mod tests;
