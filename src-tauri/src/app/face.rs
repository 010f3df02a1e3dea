//! What the tray shows of the engine: folded from its events. Pure: no window system, no engine.

use protocol::EventBody;
use protocol::event::{Activity, Status};
use protocol::settings::{Language, Settings};
use protocol::tool::Mode;
use protocol::view::SnapshotView;

/// All that the tray's icon and menu depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Face {
    status: Status,
    /// The run under way is held by the user: "resume" is what helps, and not where a question is open.
    pub paused: bool,
    /// Nothing acts: neither the next run of the current session nor one in a new session.
    pub plan: bool,
    session: Option<Mode>,
    language: Language,
}

/// Whether an event can be folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Wants {
    Nothing,
    /// It concerns which session is the current one: look at it anew.
    Snapshot,
}

/// The icon, its words and the menu's, as they are to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub activity: Activity,
    pub tooltip: String,
    pub words: &'static Words,
    pub plan: bool,
    pub pause: &'static str,
    /// Whether there is something to pause and to stop.
    pub runs: bool,
}

impl From<&SnapshotView> for Face {
    fn from(view: &SnapshotView) -> Self {
        let current = view.current.as_ref();
        let session = current.and_then(|id| view.sessions.iter().find(|session| session.id == *id));
        let mut face = Self {
            status: view.status.clone(),
            paused: false,
            plan: false,
            session: session.map(|session| session.mode),
            language: view.settings.language,
        };
        for event in &view.events {
            face.fold_pause(&event.body);
        }
        face.settle(&view.settings);
        face
    }
}

impl Face {
    pub fn fold(&mut self, event: &EventBody) -> Wants {
        self.fold_pause(event);
        match event {
            EventBody::StatusChanged { status } => status.clone_into(&mut self.status),
            EventBody::SettingsChanged { settings } => self.settle(settings),
            EventBody::SessionCreated { .. }
            | EventBody::SessionEdited { .. }
            | EventBody::RunStarted { .. } => return Wants::Snapshot,
            EventBody::RunSteered { .. }
            | EventBody::RunPaused { .. }
            | EventBody::RunResumed
            | EventBody::TurnFinished { .. }
            | EventBody::TurnFailed { .. }
            | EventBody::TurnDropped { .. }
            | EventBody::ApprovalRequested { .. }
            | EventBody::ApprovalAnswered { .. }
            | EventBody::ToolStarted { .. }
            | EventBody::ToolFinished { .. }
            | EventBody::RunEnded { .. }
            | EventBody::Noted { .. }
            | EventBody::TextDelta { .. }
            | EventBody::ThinkingDelta { .. }
            | EventBody::JournalFailed { .. } => {}
        }
        Wants::Nothing
    }

    pub fn shown(&self) -> Shown {
        let words = Words::of(self.language);
        let detail = &self.status.detail;
        Shown {
            activity: self.status.activity,
            tooltip: if detail.is_empty() { "Miki".into() } else { format!("Miki: {detail}") },
            words,
            plan: self.plan,
            pause: if self.paused { words.resume } else { words.pause },
            runs: matches!(self.status.activity, Activity::Working | Activity::Waiting),
        }
    }

    fn fold_pause(&mut self, event: &EventBody) {
        match event {
            EventBody::RunPaused { .. } => self.paused = true,
            EventBody::RunResumed | EventBody::RunStarted { .. } | EventBody::RunEnded { .. } => {
                self.paused = false;
            }
            _ => {}
        }
    }

    fn settle(&mut self, settings: &Settings) {
        self.language = settings.language;
        self.plan = settings.mode == Mode::Plan && self.session.is_none_or(|mode| mode == Mode::Plan);
    }
}

/// The menu's words in the user's language.
#[derive(Debug, PartialEq, Eq)]
pub struct Words {
    pub open: &'static str,
    pub chat: &'static str,
    pub plan: &'static str,
    pub pause: &'static str,
    pub resume: &'static str,
    pub stop: &'static str,
    pub quit: &'static str,
}

impl Words {
    pub fn of(language: Language) -> &'static Self {
        match language {
            Language::English => &Self {
                open: "Open Miki",
                chat: "Chat",
                plan: "Plan only (look, don't act)",
                pause: "Pause",
                resume: "Resume",
                stop: "Stop",
                quit: "Quit",
            },
            Language::Japanese => &Self {
                open: "Miki を開く",
                chat: "チャット",
                plan: "計画のみ（操作しない）",
                pause: "一時停止",
                resume: "再開",
                stop: "停止",
                quit: "終了",
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::ids::{ApprovalId, Seq, SessionId, Timestamp};
    use protocol::tool::ApprovalMode;
    use protocol::view::{Platform, SessionView};

    use super::*;

    fn view(default: Mode, session: Option<Mode>) -> SnapshotView {
        let id = SessionId("s-1".into());
        let session = session.map(|mode| SessionView {
            id: id.clone(),
            title: "Haiku".into(),
            mode,
            approval: ApprovalMode::Ask,
            search: false,
            created: Timestamp(0),
            updated: Timestamp(0),
            last_run: None,
        });
        SnapshotView {
            seq: Seq(0),
            settings: Settings { mode: default, ..Settings::default() },
            status: Status::default(),
            current: session.as_ref().map(|_| id),
            sessions: session.into_iter().collect(),
            events: Vec::new(),
            approvals: Vec::new(),
            version: "0.1.0".into(),
            platform: Platform::Linux,
        }
    }

    fn face() -> Face {
        Face::from(&view(Mode::Act, None))
    }

    fn status(activity: Activity, detail: &str) -> EventBody {
        EventBody::StatusChanged { status: Status { activity, detail: detail.into(), ..Status::default() } }
    }

    fn folded(events: &[EventBody]) -> Shown {
        let mut face = face();
        for event in events {
            let _ = face.fold(event);
        }
        face.shown()
    }

    #[test]
    fn the_icon_shows_idle_working_waiting_and_error_with_the_reason() {
        assert_eq!(face().shown().tooltip, "Miki");
        for activity in [Activity::Idle, Activity::Working, Activity::Waiting, Activity::Error] {
            let shown = folded(&[status(activity, "bad key")]);
            assert_eq!((shown.activity, shown.tooltip.as_str()), (activity, "Miki: bad key"));
            assert_eq!(shown.runs, matches!(activity, Activity::Working | Activity::Waiting));
        }
    }

    #[test]
    fn resume_is_offered_for_a_pause_and_not_for_a_question() {
        let paused = EventBody::RunPaused { reason: "user".into() };
        let waiting = status(Activity::Waiting, "");
        assert_eq!(folded(std::slice::from_ref(&waiting)).pause, "Pause");
        assert_eq!(folded(&[paused.clone(), waiting.clone()]).pause, "Resume");
        assert_eq!(folded(&[paused.clone(), waiting, EventBody::RunResumed]).pause, "Pause");
        let end = protocol::event::RunEnd::NeedsApproval { approval: ApprovalId("q-1".into()) };
        assert_eq!(folded(&[paused.clone(), EventBody::RunEnded { end }]).pause, "Pause");
        let mut view = view(Mode::Act, Some(Mode::Act));
        view.events.push(protocol::Event {
            seq: Seq(1),
            time: Timestamp(0),
            scope: protocol::event::Scope::default(),
            body: paused,
        });
        assert_eq!(Face::from(&view).shown().pause, "Resume");
    }

    #[test]
    fn plan_only_is_ticked_where_nothing_acts() {
        let ticked = |default, session| Face::from(&view(default, session)).shown().plan;
        assert!(ticked(Mode::Plan, None) && ticked(Mode::Plan, Some(Mode::Plan)));
        assert!(!ticked(Mode::Act, None) && !ticked(Mode::Act, Some(Mode::Plan)));
        assert!(!ticked(Mode::Plan, Some(Mode::Act)), "the current session still acts");
        let edited =
            EventBody::SessionEdited { title: None, mode: Some(Mode::Act), approval: None, search: None };
        assert_eq!(face().fold(&edited), Wants::Snapshot);
    }

    #[test]
    fn every_word_follows_the_language() {
        let settings = Settings { language: Language::Japanese, ..Settings::default() };
        let shown = folded(&[EventBody::SettingsChanged { settings: Box::new(settings) }]);
        assert_eq!((shown.words.open, shown.words.quit, shown.pause), ("Miki を開く", "終了", "一時停止"));
    }
}
