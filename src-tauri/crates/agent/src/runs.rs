//! The runs that have not ended, and the tree by which a stop goes down: a run, and all that its agents asked for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::ids::{RunId, SessionId};
use protocol::run::RunSpec;
use protocol::settings::Settings;
use protocol::{ErrorCode, ErrorView};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::cancellation::StopSignal;
use crate::run::Message;

/// All runs that have not ended.
pub struct Runs {
    entries: Mutex<Entries>,
    counts: watch::Sender<Counts>,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    /// All that have not ended.
    open: usize,
    /// Of these, the ones with a task.
    live: usize,
}

/// What somebody has seen of the runs.
pub struct RunsSeen(watch::Receiver<Counts>);

impl RunsSeen {
    /// Completes at once if a run came, ended or was put aside since this was made, else when one does.
    pub async fn changed(&mut self) {
        // Closed only when nobody waits for anything any more.
        let _ = self.0.changed().await;
    }
}

#[derive(Default)]
struct Entries {
    all: BTreeMap<RunId, Entry>,
    /// Nothing new begins any more.
    closed: bool,
}

#[derive(Clone)]
pub struct Entry {
    pub session: SessionId,
    pub spec: Arc<RunSpec>,
    pub task: Task,
}

/// How many agents there may be that others started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLimits {
    /// Above each other, the one at the top counted.
    pub depth: u32,
    /// At work for one.
    pub children: u32,
    /// At work in all.
    pub all: u32,
}

impl From<&Settings> for TreeLimits {
    fn from(settings: &Settings) -> Self {
        Self { depth: settings.agent_depth, children: settings.agent_children, all: settings.agents }
    }
}

/// Where a run that has not ended is.
#[derive(Clone)]
pub enum Task {
    Live(Live),
    /// It waits for an answer and has no task: all there is of it is in the journal.
    Parked,
}

/// The ways to a run's task.
#[derive(Clone)]
pub struct Live {
    pub stop: StopSignal,
    pub mailbox: mpsc::Sender<Message>,
    /// Cancelled when the task has ended.
    pub over: CancellationToken,
}

impl Entry {
    pub fn is_parked(&self) -> bool {
        matches!(self.task, Task::Parked)
    }

    /// Its end is written or about to be; its task takes nothing any more.
    fn is_ending(&self) -> bool {
        matches!(&self.task, Task::Live(live) if live.mailbox.is_closed())
    }
}

impl Default for Runs {
    fn default() -> Self {
        Self { entries: Mutex::default(), counts: watch::channel(Counts::default()).0 }
    }
}

impl Runs {
    /// Adds a run.
    ///
    /// # Errors
    /// `Busy` if its session has one that has not ended, or if it is one more than there may be below its parent.
    pub fn insert(&self, run: RunId, entry: Entry, limits: Option<TreeLimits>) -> Result<(), ErrorView> {
        let mut entries = self.entries();
        if entries.closed {
            return Err(closed());
        }
        if let (Some(parent), Some(limits)) = (&entry.spec.parent, limits) {
            entries.has_room(parent, limits)?;
        }
        if let Some(error) = busy(&entries.all, &entry.session) {
            return Err(error);
        }
        entries.all.insert(run, entry);
        self.count(&entries);
        Ok(())
    }

    /// From now on no run begins or goes on.
    pub fn close(&self) {
        self.entries().closed = true;
    }

    /// Whether a session can have a new run; waits for one that is ending.
    ///
    /// # Errors
    /// `Busy` if it has one that has not ended.
    pub async fn free(&self, session: &SessionId) -> Result<(), ErrorView> {
        let ending = {
            let entries = self.entries();
            let of_session = entries.all.values().find(|entry| entry.session == *session);
            of_session.filter(|entry| entry.is_ending()).cloned()
        };
        if let Some(Entry { task: Task::Live(live), .. }) = ending {
            live.over.cancelled().await;
        }
        busy(&self.entries().all, session).map_or(Ok(()), Err)
    }

    /// Whether a run is over; waits for one that is ending.
    pub async fn is_over(&self, run: &RunId) -> bool {
        if let Some(Entry { task: Task::Live(live), .. }) = self.get(run).filter(Entry::is_ending) {
            live.over.cancelled().await;
        }
        self.get(run).is_none()
    }

    /// Whether a run's agent may start another one now.
    ///
    /// # Errors
    /// `Busy` with the limit that it would pass; `NotFound` if the run has ended.
    pub fn has_room(&self, parent: &RunId, limits: TreeLimits) -> Result<(), ErrorView> {
        self.entries().has_room(parent, limits)
    }

    /// Runs from the one at the top of the tree down to this one; 1 for that one.
    pub fn depth(&self, run: &RunId) -> u32 {
        self.entries().depth(run)
    }

    /// This run and those that it works for, up to the one at the top of its tree.
    pub fn line(&self, run: &RunId) -> Vec<RunId> {
        let entries = self.entries();
        let mut line = vec![run.clone()];
        let parent = |run: &RunId| entries.all.get(run).and_then(|entry| entry.spec.parent.clone());
        while let Some(parent) = line.last().and_then(parent) {
            line.push(parent);
        }
        line
    }

    /// From here on [`RunsSeen::changed`] tells of what comes.
    pub fn seen(&self) -> RunsSeen {
        RunsSeen(self.counts.subscribe())
    }

    pub fn get(&self, run: &RunId) -> Option<Entry> {
        self.entries().all.get(run).cloned()
    }

    /// The run of a session that has not ended; one whose end is being written is no run any more.
    pub fn of_session(&self, session: &SessionId) -> Option<RunId> {
        let entries = self.entries();
        let of_it = entries.all.iter().find(|(_, entry)| entry.session == *session && !entry.is_ending());
        of_it.map(|(run, _)| run.clone())
    }

    /// The newest first.
    pub fn newest(&self) -> Option<(RunId, Entry)> {
        self.entries().all.iter().next_back().map(|(run, entry)| (run.clone(), entry.clone()))
    }

    /// Whether every run has ended.
    pub fn is_empty(&self) -> bool {
        self.entries().all.values().all(Entry::is_ending)
    }

    /// The runs that have not ended, the oldest first, and whether each waits without a task.
    pub fn open(&self) -> Vec<(RunId, bool)> {
        let entries = self.entries();
        let open = entries.all.iter().filter(|(_, entry)| !entry.is_ending());
        open.map(|(run, entry)| (run.clone(), entry.is_parked())).collect()
    }

    /// From a run with a task to one without.
    pub fn park(&self, run: &RunId) {
        let mut entries = self.entries();
        if let Some(entry) = entries.all.get_mut(run) {
            entry.task = Task::Parked;
        }
        self.count(&entries);
    }

    /// From a run without a task to one with: from here on a stop reaches it. `false` if it has ended meanwhile, has a task,
    /// or if nothing goes on any more.
    pub fn unpark(&self, run: &RunId, live: Live) -> bool {
        let mut entries = self.entries();
        match entries.all.get_mut(run) {
            Some(entry) if entry.is_parked() => entry.task = Task::Live(live),
            Some(_) | None => return false,
        }
        if entries.closed {
            if let Some(entry) = entries.all.get_mut(run) {
                entry.task = Task::Parked;
            }
            return false;
        }
        self.count(&entries);
        true
    }

    pub fn remove(&self, run: &RunId) {
        let mut entries = self.entries();
        entries.all.remove(run);
        self.count(&entries);
    }

    /// Takes a run out that has no task; `false` if it has one, or has ended. Whoever gets a `true` writes its end.
    pub fn remove_parked(&self, run: &RunId) -> bool {
        let mut entries = self.entries();
        let is_parked = entries.all.get(run).is_some_and(Entry::is_parked);
        if is_parked {
            entries.all.remove(run);
            self.count(&entries);
        }
        is_parked
    }

    /// `run` and all below it; every run if none is named.
    pub fn tree(&self, run: Option<&RunId>) -> Vec<(RunId, Entry)> {
        let entries = &self.entries().all;
        let is_below = |one: &RunId| {
            let Some(top) = run else { return true };
            // A parent that has ended cuts nothing off: its runs were stopped with it.
            let mut at = Some(one.clone());
            while let Some(here) = at {
                if here == *top {
                    return true;
                }
                at = entries.get(&here).and_then(|entry| entry.spec.parent.clone());
            }
            false
        };
        entries.iter().filter(|(id, _)| is_below(id)).map(|(id, entry)| (id.clone(), entry.clone())).collect()
    }

    /// Completes when there is a run, with a task or without.
    pub async fn some_open(&self) {
        // The sender lives as long as this.
        let _ = self.counts.subscribe().wait_for(|counts| counts.open > 0).await;
    }

    /// Completes when every run has ended.
    pub async fn none_open(&self) {
        let _ = self.counts.subscribe().wait_for(|counts| counts.open == 0).await;
    }

    /// Completes when no run has a task.
    pub async fn none_live(&self) {
        let _ = self.counts.subscribe().wait_for(|counts| counts.live == 0).await;
    }

    fn count(&self, entries: &Entries) {
        let live = entries.all.values().filter(|entry| matches!(entry.task, Task::Live(_))).count();
        self.counts.send_replace(Counts { open: entries.all.len(), live });
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn depth(&self, run: &RunId) -> u32 {
        let (mut depth, mut at) = (1, run);
        while let Some(parent) = self.all.get(at).and_then(|entry| entry.spec.parent.as_ref()) {
            (depth, at) = (depth + 1, parent);
        }
        depth
    }

    fn has_room(&self, parent: &RunId, limits: TreeLimits) -> Result<(), ErrorView> {
        if self.all.get(parent).is_none_or(Entry::is_ending) {
            return Err(not_under_way(parent));
        }
        let of_agents = || self.all.values().filter(|entry| !entry.is_ending());
        let children = of_agents().filter(|entry| entry.spec.parent.as_ref() == Some(parent)).count();
        let all = of_agents().filter(|entry| entry.spec.parent.is_some()).count();
        let full = |what: String, hint: &str| Err(ErrorView::new(ErrorCode::Busy, what).with_hint(hint));
        if self.depth(parent) >= limits.depth {
            let what = format!("agents stand at most {} deep", limits.depth);
            return full(what, "do it yourself");
        }
        if children >= limits.children as usize {
            let what = format!("{children} agents work for you, and no more may");
            return full(what, "wait for one of them, or stop one");
        }
        if all >= limits.all as usize {
            let what = format!("{all} agents are at work in all, and no more may be");
            return full(what, "wait for one of them, or do it yourself");
        }
        Ok(())
    }
}

fn busy(entries: &BTreeMap<RunId, Entry>, session: &SessionId) -> Option<ErrorView> {
    let (run, entry) = entries.iter().find(|(_, entry)| entry.session == *session)?;
    let what = match entry.task {
        Task::Live(_) => format!("run {run} is under way in this session"),
        Task::Parked => format!("run {run} of this session waits for your answer"),
    };
    Some(
        ErrorView::new(ErrorCode::Busy, what)
            .with_hint("answer or stop it, or start the new run in a session of its own"),
    )
}

pub fn closed() -> ErrorView {
    ErrorView::new(ErrorCode::Leaving, "the engine is ending").with_hint("start miki again")
}

pub fn not_under_way(run: &RunId) -> ErrorView {
    ErrorView::new(ErrorCode::NotFound, format!("run {run} is not under way"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(session: &str, parent: Option<&str>) -> Entry {
        let mut spec = serde_json::json!({
            "goal": "go", "model": "test/one", "mode": "act", "approval": "ask", "maxSteps": 3,
        });
        if let Some(parent) = parent {
            spec["parent"] = parent.into();
        }
        let spec = serde_json::from_value(spec).unwrap();
        Entry { session: SessionId(session.into()), spec: Arc::new(spec), task: Task::Parked }
    }

    // bar: C67
    #[test]
    fn no_more_agents_than_there_may_be_however_many_ask_at_once() {
        let limits = TreeLimits { depth: 3, children: 5, all: 20 };
        let runs = Runs::default();
        let id = |run: usize| RunId(format!("r-{run}"));
        runs.insert(id(0), entry("s-0", None), Some(limits)).unwrap();
        let parents = Mutex::new(vec![0]);
        std::thread::scope(|scope| {
            for asks in 0..50 {
                let (runs, parents) = (&runs, &parents);
                scope.spawn(move || {
                    for one in 0..20 {
                        let number = 1 + asks * 20 + one;
                        let parent = {
                            let parents = parents.lock().unwrap();
                            parents[(asks + one) % parents.len()]
                        };
                        let spawned = entry(&format!("s-{number}"), Some(&format!("r-{parent}")));
                        if runs.insert(id(number), spawned, Some(limits)).is_ok() {
                            parents.lock().unwrap().push(number);
                        }
                    }
                });
            }
        });
        let all = runs.tree(None);
        assert_eq!(all.len(), 21, "20 and the one that the user started");
        for (run, _) in &all {
            assert!(runs.depth(run) <= 3, "{run}");
            let children = all.iter().filter(|(_, one)| one.spec.parent.as_ref() == Some(run)).count();
            assert!(children <= 5, "{run}: {children}");
        }
    }

    #[test]
    fn a_stop_goes_down_the_tree_and_nowhere_else() {
        let runs = Runs::default();
        for (run, parent) in [("r-1", None), ("r-2", Some("r-1")), ("r-3", Some("r-2")), ("r-4", None)] {
            runs.insert(RunId(run.into()), entry(&format!("s-{run}"), parent), None).unwrap();
        }
        let tree = |run: Option<&str>| -> Vec<String> {
            let run = run.map(|run| RunId(run.into()));
            runs.tree(run.as_ref()).into_iter().map(|(id, _)| id.0).collect()
        };
        assert_eq!(tree(Some("r-1")), ["r-1", "r-2", "r-3"]);
        assert_eq!(tree(Some("r-2")), ["r-2", "r-3"]);
        assert_eq!(tree(Some("r-4")), ["r-4"]);
        assert_eq!(tree(None).len(), 4);
        assert!(tree(Some("r-9")).is_empty());
    }

    #[test]
    fn a_session_has_one_run_at_a_time() {
        let runs = Runs::default();
        runs.insert(RunId("r-1".into()), entry("s-1", None), None).unwrap();
        let error = runs.insert(RunId("r-2".into()), entry("s-1", None), None).unwrap_err();
        assert_eq!(error.code, ErrorCode::Busy);
        assert!(error.message.contains("r-1"), "{error}");
        runs.insert(RunId("r-2".into()), entry("s-2", None), None).unwrap();
    }
}
