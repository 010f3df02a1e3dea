//! What the tray shows of all runs together: made of an overview. Pure: no window system, no engine.

use protocol::escape::visible_text;
use protocol::event::Activity;
use protocol::ids::RunId;
use protocol::settings::Language;
use protocol::tool::Mode;
use protocol::view::{Overview, RunStatus};

/// The icon, its words and the menu's, as they are to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrayState {
    pub activity: Activity,
    pub tooltip: String,
    pub words: &'static Words,
    /// The entry that opens the dashboard; says how many questions wait there.
    pub open: String,
    /// How many questions wait, beside the icon; empty for none.
    pub badge: String,
    /// Nothing acts: neither the next run of the newest session nor one in a new session.
    pub plan: bool,
    pub pause: &'static str,
    /// Every run is held by the user: "resume" is what helps.
    pub paused: bool,
    /// Whether there is something to pause and to stop.
    pub runs: bool,
    pub stop: &'static str,
    /// Of several runs, those that can be stopped alone, and the words of their entries.
    pub stops: Vec<(RunId, String)>,
}

/// Runs that have an entry of their own.
const STOPS: usize = 5;
/// Runs of which the tooltip says what they do.
const DETAILS: usize = 3;
/// Characters of a run's goal in its entry.
const GOAL: usize = 40;

impl From<&Overview> for TrayState {
    fn from(view: &Overview) -> Self {
        let words = Words::of(view.settings.language);
        let (activity, detail) = fold::activity(view);
        let tooltip = match view.runs.len() {
            0 | 1 if detail.is_empty() => "Miki".to_owned(),
            0 | 1 => format!("Miki: {}", visible_text(&detail)),
            many => format!("Miki: {many}{}: {}", words.runs, details(view)),
        };
        let stops = view.runs.iter().filter(|_| view.runs.len() > 1).take(STOPS);
        let stops = stops.map(|run| (run.run.clone(), format!("{}: {}", words.stop, short(&run.goal))));
        let paused = !view.runs.is_empty() && view.runs.iter().all(|run| run.status.paused);
        let newest = view.sessions.first();
        Self {
            activity,
            tooltip,
            words,
            open: match view.questions.len() {
                0 => words.open.to_owned(),
                1 => format!("{} ({})", words.open, words.question),
                many => format!("{} ({many}{})", words.open, words.questions),
            },
            badge: Some(view.questions.len()).filter(|n| *n > 0).map(|n| n.to_string()).unwrap_or_default(),
            plan: view.settings.mode == Mode::Plan && newest.is_none_or(|session| session.mode == Mode::Plan),
            pause: if paused { words.resume } else { words.pause },
            paused,
            runs: !view.runs.is_empty(),
            stop: if view.runs.len() > 1 { words.stop_all } else { words.stop },
            stops: stops.collect(),
        }
    }
}

/// What the runs do, those that wait for the user first.
fn details(view: &Overview) -> String {
    let (waiting, others): (Vec<&RunStatus>, Vec<&RunStatus>) =
        view.runs.iter().partition(|run| run.status.activity == Activity::Waiting);
    let said = waiting.into_iter().chain(others).map(|run| run.status.detail.as_str());
    said.filter(|detail| !detail.is_empty()).take(DETAILS).map(visible_text).collect::<Vec<_>>().join("; ")
}

/// One line, cut between characters.
fn short(goal: &str) -> String {
    let line = visible_text(&goal.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(GOAL) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
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
    pub stop_all: &'static str,
    pub runs: &'static str,
    pub question: &'static str,
    pub questions: &'static str,
    pub asks: &'static str,
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
                stop_all: "Stop all",
                runs: " runs",
                question: "1 question waits",
                questions: " questions wait",
                asks: "Miki asks",
                quit: "Quit",
            },
            Language::Japanese => &Self {
                open: "Miki を開く",
                chat: "チャット",
                plan: "計画のみ（操作しない）",
                pause: "一時停止",
                resume: "再開",
                stop: "停止",
                stop_all: "すべて停止",
                runs: "件の作業",
                question: "質問が1件",
                questions: "件の質問",
                asks: "Miki からの確認",
                quit: "終了",
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::event::{RunEnd, Status};
    use protocol::ids::{Seq, SessionId, Timestamp};
    use protocol::settings::Settings;
    use protocol::tool::ApprovalMode;
    use protocol::view::{DesktopView, Platform, RunView, SessionView};

    use super::*;

    fn view(default: Mode, session: Option<Mode>) -> Overview {
        let session = session.map(|mode| SessionView {
            id: SessionId("s-1".into()),
            title: "Haiku".into(),
            mode,
            approval: ApprovalMode::Ask,
            search: false,
            created: Timestamp(0),
            updated: Timestamp(0),
            last_run: None,
            shelf: Default::default(),
            origin: None,
        });
        Overview {
            seq: Seq(0),
            settings: Settings { mode: default, ..Settings::default() },
            sessions: session.into_iter().collect(),
            questions: Vec::new(),
            runs: Vec::new(),
            desktop: DesktopView::default(),
            version: "0.1.0".into(),
            platform: Platform::Linux,
        }
    }

    fn run(activity: Activity, detail: &str, paused: bool) -> RunStatus {
        RunStatus {
            session: SessionId("s-1".into()),
            run: RunId("r-1".into()),
            goal: "write".into(),
            status: Status { activity, detail: detail.into(), paused, ..Status::default() },
        }
    }

    fn shown(runs: Vec<RunStatus>) -> TrayState {
        TrayState::from(&Overview { runs, ..view(Mode::Act, None) })
    }

    #[test]
    fn a_question_of_any_run_goes_before_the_work_of_another() {
        assert_eq!(shown(Vec::new()).tooltip, "Miki");
        assert_eq!(shown(Vec::new()).activity, Activity::Idle);
        let working = run(Activity::Working, "click", false);
        assert_eq!(shown(vec![working.clone()]).tooltip, "Miki: click");
        let both = shown(vec![working, run(Activity::Waiting, "asks", false)]);
        assert_eq!((both.activity, both.tooltip.as_str()), (Activity::Waiting, "Miki: 2 runs: asks; click"));
        assert!(both.runs);
    }

    #[test]
    fn what_a_model_says_hides_nothing_and_turns_nothing_about() {
        let hidden = run(Activity::Waiting, "allow \u{202e}lla\n?", false);
        assert_eq!(shown(vec![hidden.clone()]).tooltip, r"Miki: allow \u{202E}lla\n?");
        assert_eq!(shown(vec![hidden; 2]).tooltip.matches(r"\u{202E}").count(), 2);
        assert_eq!(short("a\u{200b}b"), r"a\u{200B}b");
    }

    #[test]
    fn a_failure_is_shown_until_the_next_run() {
        let mut failed = view(Mode::Act, Some(Mode::Act));
        let end = Some(RunEnd::Failed { message: "bad key".into(), hint: None });
        failed.sessions[0].last_run = Some(RunView { id: RunId("r-1".into()), goal: "g".into(), end });
        let state = TrayState::from(&failed);
        assert_eq!(
            (state.activity, state.tooltip.as_str(), state.runs),
            (Activity::Error, "Miki: bad key", false)
        );
        failed.runs.push(run(Activity::Working, "", false));
        assert_eq!(TrayState::from(&failed).activity, Activity::Working);
    }

    #[test]
    fn of_several_runs_each_can_be_stopped_alone_and_all_together() {
        let one = shown(vec![run(Activity::Working, "click", false)]);
        assert_eq!((one.stop, one.stops.len()), ("Stop", 0));
        let many = shown(vec![run(Activity::Working, "click", false); 7]);
        assert_eq!((many.stop, many.stops.len()), ("Stop all", STOPS));
        assert_eq!(many.stops[0], (RunId("r-1".into()), "Stop: write".to_owned()));
        assert_eq!(short(&"秋 ".repeat(60)).chars().count(), GOAL + 1);
    }

    #[test]
    fn resume_is_offered_when_every_run_is_paused_and_not_for_a_question() {
        assert_eq!(shown(vec![run(Activity::Waiting, "", false)]).pause, "Pause");
        assert_eq!(shown(vec![run(Activity::Waiting, "", true)]).pause, "Resume");
        let one_works = vec![run(Activity::Waiting, "", true), run(Activity::Working, "", false)];
        assert_eq!(shown(one_works).pause, "Pause");
    }

    #[test]
    fn plan_only_is_ticked_where_nothing_acts() {
        let ticked = |default, session| TrayState::from(&view(default, session)).plan;
        assert!(ticked(Mode::Plan, None) && ticked(Mode::Plan, Some(Mode::Plan)));
        assert!(!ticked(Mode::Act, None) && !ticked(Mode::Act, Some(Mode::Plan)));
        assert!(!ticked(Mode::Plan, Some(Mode::Act)), "the newest session still acts");
    }

    #[test]
    fn every_word_follows_the_language() {
        let mut japanese = view(Mode::Act, None);
        japanese.settings.language = Language::Japanese;
        let words = TrayState::from(&japanese).words;
        assert_eq!((words.open, words.quit, words.pause), ("Miki を開く", "終了", "一時停止"));
    }
}
