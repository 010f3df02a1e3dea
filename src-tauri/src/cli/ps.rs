//! `miki ps`: the runs that have not ended, and who has the desktop.

use clap::Args;
use protocol::ErrorView;
use protocol::budget::{Progress, thousands};
use protocol::command::GetOverview;
use protocol::event::Activity;
use protocol::ids::{RunId, SessionId};
use protocol::tool::Grant;
use protocol::view::{DesktopView, Overview, RunStatus};
use serde_json::json;

use super::text::plain;
use crate::exit::Exit;
use crate::home::Home;
use crate::link::Link;

/// What fits beside each other in a terminal.
const COLUMNS: usize = 80;
/// Characters of an id that are shown at the least; more where runs could be taken for each other.
const ID_CHARS: usize = 10;
/// Characters of a goal that are shown at the least: the session's id gives way.
const GOAL_CHARS: usize = 12;

/// List the runs that have not ended
#[derive(Debug, Args)]
pub struct Ps {
    /// Print them as JSON
    #[arg(long)]
    json: bool,
}

impl Ps {
    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        let overview = Link::attach_with(home, GetOverview {}).await?.map(|(_, overview)| overview);
        if self.json {
            let (runs, desktop) = overview.map_or_else(Default::default, |it| (it.runs, it.desktop));
            super::say(&json!({ "runs": runs, "desktop": desktop }).to_string());
        } else {
            match overview.filter(|overview| !overview.runs.is_empty()) {
                Some(overview) => super::say(&table(&overview)),
                None => super::say("nothing is running"),
            }
        }
        Ok(Exit::Done)
    }
}

/// The runs of an overview, a line each, below their headings.
pub(super) fn table(overview: &Overview) -> String {
    let short = |id: &str, ids: &[&str]| id.chars().take(telling(ids)).collect::<String>();
    let runs: Vec<&str> = overview.runs.iter().map(|run| run.run.as_str()).collect();
    let sessions: Vec<&str> = overview.runs.iter().map(|run| run.session.as_str()).collect();
    let headings = ["RUN", "STATE", "DESKTOP", "STEP", "SESSION"].map(str::to_owned);
    let mut rows = vec![(headings, "GOAL".to_owned())];
    for run in &overview.runs {
        let RunId(id) = &run.run;
        let SessionId(session) = &run.session;
        let cells = [
            short(id, &runs),
            state(run, overview).to_owned(),
            desktop(&run.run, &overview.desktop),
            format!("{}/{}", run.status.step, run.status.max_steps),
            short(session, &sessions),
        ];
        rows.push((cells, plain(&run.goal)));
    }
    let width = |rows: &[([String; 5], String)], column: usize| {
        rows.iter().map(|(cells, _)| cells[column].chars().count()).max().unwrap_or(0)
    };
    // Ids of runs that began in the same moment differ in their last character.
    let taken: usize = (0..4).map(|column| width(&rows, column) + 2).sum();
    for (cells, _) in &mut rows {
        cells[4] = cut(&cells[4], COLUMNS.saturating_sub(taken + 2 + GOAL_CHARS));
    }
    let widths = [0, 1, 2, 3, 4].map(|column| width(&rows, column));
    let left = COLUMNS.saturating_sub(widths.iter().map(|width| width + 2).sum());
    let line = |(cells, goal): &([String; 5], String)| {
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}  "));
        format!("{}{}", cells.collect::<String>(), cut(goal, left))
    };
    // The first row has no run.
    let below = |run: &RunStatus| allowed(run) + &used(run);
    let allowed = std::iter::once(String::new()).chain(overview.runs.iter().map(below));
    rows.iter().map(line).zip(allowed).map(|(line, allowed)| line + &allowed).collect::<Vec<_>>().join("\n")
}

/// What a run may do without asking again, on a line below it: it is taken back in the dashboard.
fn allowed(run: &RunStatus) -> String {
    let place = |app: &String| format!(" in {}", plain(app));
    let grants = run.status.grants.iter();
    let grants: Vec<String> = grants
        .map(|Grant { tool, app }| plain(tool) + &app.as_ref().map(place).unwrap_or_default())
        .collect();
    if grants.is_empty() { String::new() } else { format!("\n  allowed: {}", grants.join("; ")) }
}

/// What a run has used, what it may use and what it may come to, on a line below it.
fn used(run: &RunStatus) -> String {
    let Some(progress) = run.status.progress.as_deref().filter(|progress| progress.tokens > 0) else {
        return String::new();
    };
    let Progress { minutes, tokens, cost, most, forecast } = progress;
    let cost = cost.map(|cost| format!("${}, ", cost.brief())).unwrap_or_default();
    let bounds = [
        most.cost.map(|cost| format!("${cost}")),
        most.tokens.map(|tokens| format!("{} tokens", thousands(tokens))),
        most.minutes.map(|minutes| format!("{minutes} min")),
    ];
    let bounds = bounds.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let bounds = if bounds.is_empty() { bounds } else { format!("; at most {bounds}") };
    let forecast = forecast.map(|forecast| format!("; {forecast}")).unwrap_or_default();
    format!("\n  used: {cost}{} tokens, {minutes} min{bounds}{forecast}", thousands(*tokens))
}

/// So many characters tell each of these ids from the others.
fn telling(ids: &[&str]) -> usize {
    let longest = ids.iter().map(|id| id.chars().count()).max().unwrap_or(0);
    let differ = |length: usize| {
        let mut starts: Vec<String> = ids.iter().map(|id| id.chars().take(length).collect()).collect();
        starts.sort();
        starts.windows(2).all(|pair| pair[0] != pair[1])
    };
    (ID_CHARS..longest).find(|length| differ(*length)).unwrap_or(longest)
}

fn state(run: &RunStatus, overview: &Overview) -> &'static str {
    let asks = overview.questions.iter().any(|question| question.run == run.run);
    match run.status.activity {
        _ if asks => "asks",
        _ if run.status.paused => "paused",
        // Nothing is said of it yet.
        Activity::Idle => "begins",
        Activity::Working => "works",
        Activity::Waiting => "waits",
        Activity::Error => "failed",
    }
}

fn desktop(run: &RunId, desktop: &DesktopView) -> String {
    if desktop.owner.as_ref() == Some(run) {
        return "has it".into();
    }
    match desktop.waiting.iter().position(|waiting| waiting == run) {
        Some(place) => format!("waits {}", place + 1),
        None => "-".into(),
    }
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use protocol::budget::{Forecast, Most};
    use protocol::event::Status;
    use protocol::ids::Seq;
    use protocol::settings::Settings;
    use protocol::turn::Usd;
    use protocol::view::Platform;

    use super::*;

    fn run(id: &str, goal: &str, activity: Activity) -> RunStatus {
        RunStatus {
            session: SessionId(format!("s-{id}")),
            run: RunId(format!("r-{id}")),
            goal: goal.into(),
            status: Status { activity, step: 12, max_steps: 500, ..Status::default() },
        }
    }

    fn overview(runs: Vec<RunStatus>, desktop: DesktopView) -> Overview {
        Overview {
            seq: Seq(0),
            settings: Settings::default(),
            sessions: Vec::new(),
            questions: Vec::new(),
            runs,
            desktop,
            version: String::new(),
            platform: Platform::Linux,
        }
    }

    #[test]
    fn a_line_fits_a_terminal_and_tells_runs_from_each_other() {
        let goal = "write\na haiku about autumn into the editor and save it as haiku.txt";
        let runs = vec![
            run("0193f4c2a81b7c30bb3fd1e0a4a6f2d1", goal, Activity::Working),
            run("0193f4c2a8227c30bb3fd1e0a4a6f2d2", "look", Activity::Waiting),
        ];
        let desktop = DesktopView { owner: Some(runs[0].run.clone()), waiting: vec![runs[1].run.clone()] };
        let told = table(&overview(runs, desktop));
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines.len(), 3, "{told}");
        assert!(lines.iter().all(|line| line.chars().count() <= COLUMNS), "{told}");
        assert!(lines[0].starts_with("RUN ") && lines[0].ends_with("GOAL"), "{told}");
        assert!(
            lines[1].starts_with("r-0193f4c2a81  works  has it   12/500  s-0193f4c2a81  write a"),
            "{told}"
        );
        assert!(lines[2].starts_with("r-0193f4c2a82  waits  waits 1  12/500  "), "{told}");
    }

    #[test]
    fn runs_that_began_in_the_same_moment_are_told_apart_and_have_their_goals() {
        let runs = [("01a21a59b39b7375878dc252", "first"), ("01a21a59b39b7375878dc253", "second")];
        let runs = runs.map(|(id, goal)| run(id, goal, Activity::Working));
        let told = table(&overview(runs.into(), DesktopView::default()));
        assert!(told.lines().all(|line| line.chars().count() <= COLUMNS), "{told}");
        let of = |id: &str, goal: &str| {
            told.lines().any(|line| line.starts_with(&format!("r-{id} ")) && line.ends_with(goal))
        };
        assert!(of("01a21a59b39b7375878dc252", "  first"), "{told}");
        assert!(of("01a21a59b39b7375878dc253", "  second"), "{told}");
    }

    #[test]
    fn one_run_alone_is_told_by_few_characters_and_what_it_may_do_below_it() {
        let runs = vec![run("0193f4c2a81b7c30bb3fd1e0a4a6f2d1", "look", Activity::Working)];
        assert!(
            table(&overview(runs, DesktopView::default())).contains("\nr-0193f4c2  works  -        12/500")
        );
        let mut runs = vec![run("0193f4c2", "look", Activity::Working)];
        let grant = |app: Option<&str>| Grant { tool: "click".into(), app: app.map(str::to_owned) };
        runs[0].status.grants = vec![grant(None), grant(Some("Edit\u{202e}or"))];
        let told = table(&overview(runs.clone(), DesktopView::default()));
        assert!(told.ends_with("look\n  allowed: click; click in Edit\\u{202E}or"), "{told}");
        let cost = Usd::from_dollars(0.0123);
        let most = Most { steps: Some(500), cost: Usd::from_dollars(0.5), ..Most::default() };
        let forecast = Some(Forecast { runs: 8, steps: (12, 20), tokens: (1, 2), cost: None });
        let progress = Progress { minutes: 3, tokens: 41_200, cost, most, forecast };
        runs[0].status.progress = Some(Box::new(progress));
        let told = table(&overview(runs, DesktopView::default()));
        assert!(
            told.ends_with(
                "or\n  used: $0.0123, 41k tokens, 3 min; at most $0.5; about 1-2 tokens, 12-20 steps (from 8 runs)"
            ),
            "{told}"
        );
        assert_eq!(telling(&["r-1", "r-1"]), 3);
        assert_eq!(telling(&[]), 0);
    }
}
