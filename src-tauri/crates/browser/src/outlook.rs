//! Which tab each run works on: its own, so that what one run does between two steps of another changes nothing that the
//! other reads.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of the next run's owner.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Who works with the browser. A run's tabs are its own for as long as its owner lives; and for the runs that were there
/// beside it they stay another's after that.
pub(crate) struct Owner {
    number: u64,
    end: Arc<End>,
}

/// The first number that was not given out when a run ended; 0 before that.
#[derive(Default)]
struct End(AtomicU64);

impl End {
    /// Whether the run is there, or was beside this one.
    fn is_beside(&self, number: u64) -> bool {
        match self.0.load(Ordering::Relaxed) {
            0 => true,
            end => number != 0 && number < end,
        }
    }

    fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.end.0.store(NEXT.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

impl Owner {
    /// Whoever is no run: it keeps no tab from anybody.
    pub(crate) fn anybody() -> Self {
        Self { number: 0, end: Arc::default() }
    }

    pub(crate) fn of_a_run() -> Self {
        Self { number: NEXT.fetch_add(1, Ordering::Relaxed), end: Arc::default() }
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
    end: Arc<End>,
    mine: Outlook,
    others: HashMap<u64, (Arc<End>, Outlook)>,
}

impl Outlooks {
    /// From now on it is this one's turn.
    pub(crate) fn turn_to(&mut self, owner: &Owner) {
        if self.now != owner.number {
            let next = self.others.remove(&owner.number).map(|(_, outlook)| outlook).unwrap_or_default();
            let before = (mem::take(&mut self.end), mem::replace(&mut self.mine, next));
            self.others.insert(self.now, before);
        }
        (self.now, self.end) = (owner.number, Arc::clone(&owner.end));
        let there = self.others.iter().filter(|(_, (end, _))| end.is_there()).map(|(number, _)| *number);
        let there: Vec<u64> = there.chain([self.now]).collect();
        self.others.retain(|number, (end, _)| *number == 0 || there.iter().any(|one| end.is_beside(*one)));
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
        let is_a_runs = |(number, (end, outlook)): (&u64, &(Arc<End>, Outlook))| {
            *number != 0 && end.is_beside(self.now) && has_it(outlook)
        };
        !has_it(&self.mine) && self.others.iter().any(is_a_runs)
    }

    /// Whether any other run has a tab.
    pub(crate) fn is_shared(&self) -> bool {
        let has_one = |(number, (end, outlook)): (&u64, &(Arc<End>, Outlook))| {
            *number != 0 && end.is_beside(self.now) && outlook.current.is_some()
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
