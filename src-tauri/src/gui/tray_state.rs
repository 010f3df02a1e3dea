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

/// What the runs do, those that wait for the user first; of those with hands of their own, where.
fn details(view: &Overview) -> String {
    let (waiting, others): (Vec<&RunStatus>, Vec<&RunStatus>) =
        view.runs.iter().partition(|run| run.status.activity == Activity::Waiting);
    let said = waiting.into_iter().chain(others).filter(|run| !run.status.detail.is_empty()).map(|run| {
        let window = fold::beside(view, &run.run).and_then(|beside| beside.window.as_ref());
        let place = window.map(|window| format!(" ({})", short(&window.app))).unwrap_or_default();
        format!("{}{place}", visible_text(&run.status.detail))
    });
    said.take(DETAILS).collect::<Vec<_>>().join("; ")
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
mod tests;
