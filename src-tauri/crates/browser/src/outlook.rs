//! Which tab each run works on: its own, so that what one run does between two steps of another changes nothing that the
//! other reads.

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// Who works with the browser. A run's tabs are its own for as long as its owner lives.
pub(crate) struct Owner {
    number: u64,
    alive: Arc<()>,
}

impl Owner {
    /// Whoever is no run: it keeps no tab from anybody.
    pub(crate) fn anybody() -> Self {
        Self { number: 0, alive: Arc::new(()) }
    }

    pub(crate) fn of_a_run() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { number: NEXT.fetch_add(1, Ordering::Relaxed), alive: Arc::new(()) }
    }
}

/// What one of them has before it.
#[derive(Default)]
struct Outlook {
    /// The tab last worked on.
    current: Option<String>,
    /// Tabs that its acts opened.
    opened: Vec<String>,
    /// The number of the dialog that was told of last; 0 if none was open then.
    dialog: AtomicU64,
}

/// The outlook of whoever has the browser now, and those of all others.
#[derive(Default)]
pub(crate) struct Outlooks {
    now: u64,
    alive: Weak<()>,
    mine: Outlook,
    others: HashMap<u64, (Weak<()>, Outlook)>,
}

impl Outlooks {
    /// From now on it is this one's turn.
    pub(crate) fn turn_to(&mut self, owner: &Owner) {
        if self.now != owner.number {
            let next = self.others.remove(&owner.number).map(|(_, outlook)| outlook).unwrap_or_default();
            let before = (mem::take(&mut self.alive), mem::replace(&mut self.mine, next));
            self.others.insert(self.now, before);
        }
        (self.now, self.alive) = (owner.number, Arc::downgrade(&owner.alive));
        self.others.retain(|number, (alive, _)| *number == 0 || alive.strong_count() > 0);
    }

    pub(crate) fn current(&self) -> Option<&String> {
        self.mine.current.as_ref()
    }

    /// Works on this tab, whoever else does.
    pub(crate) fn take(&mut self, target: &str) {
        self.mine.current = Some(target.to_owned());
    }

    /// Works on this tab, if it is no other run's.
    pub(crate) fn come_to(&mut self, target: &str) {
        if !self.is_anothers(target) {
            self.take(target);
        }
    }

    /// It was only looked at another one.
    pub(crate) fn go_back_to(&mut self, before: Option<String>) {
        self.mine.current = before;
    }

    pub(crate) fn opened(&mut self, target: &str) {
        self.mine.opened.push(target.to_owned());
    }

    /// A tab that is closed.
    pub(crate) fn forget(&mut self, target: &str) {
        let others = self.others.values_mut().map(|(_, outlook)| outlook);
        for outlook in others.chain([&mut self.mine]) {
            outlook.opened.retain(|opened| opened != target);
            outlook.current.take_if(|current| current == target);
        }
    }

    /// Whether another run works on this tab and this one does not.
    pub(crate) fn is_anothers(&self, target: &str) -> bool {
        let has_it = |outlook: &Outlook| {
            outlook.current.as_deref() == Some(target) || outlook.opened.iter().any(|opened| opened == target)
        };
        let is_a_runs = |(number, (alive, outlook)): (&u64, &(Weak<()>, Outlook))| {
            *number != 0 && alive.strong_count() > 0 && has_it(outlook)
        };
        !has_it(&self.mine) && self.others.iter().any(is_a_runs)
    }

    /// Whether any other run has a tab.
    pub(crate) fn is_shared(&self) -> bool {
        let has_one = |(number, (alive, outlook)): (&u64, &(Weak<()>, Outlook))| {
            *number != 0 && alive.strong_count() > 0 && outlook.current.is_some()
        };
        self.others.iter().any(has_one)
    }

    /// The dialog that was told of last.
    pub(crate) fn dialog(&self) -> u64 {
        self.mine.dialog.load(Ordering::Relaxed)
    }

    pub(crate) fn tell_dialog(&self, number: u64) {
        self.mine.dialog.store(number, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
