//! `miki ps`: the runs that have not ended, and who has the desktop.

use clap::Args;
use protocol::ErrorView;
use protocol::budget::{Progress, thousands};
use protocol::command::ListGuests;
use protocol::event::Activity;
use protocol::ids::{RunId, SessionId};
use protocol::mcp::GuestView;
use protocol::tool::Grant;
use protocol::view::{DesktopView, Overview, RunStatus, RunView};
use serde_json::json;

use super::ids::short;
use super::interrupt;
use super::text::plain;
use super::width::{self, cut};
use crate::exit::Exit;
use crate::home::Home;

/// Characters of the application that a run works in.
const APP: usize = 14;

/// List the runs that have not ended
///
/// Those that wait for an answer are among them, also where no Miki runs.
#[derive(Debug, Args)]
pub struct Ps {
    /// Print them as JSON
    #[arg(long)]
    json: bool,
}

impl Ps {
    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        let (mut overview, mut guests) = (None, Vec::new());
        if let Some((link, found)) = super::looked_at(home).await? {
            // A Miki of another version that runs may not know this.
            guests = link.call(ListGuests {}).await.unwrap_or_default();
            link.leave(&mut interrupt::listen()?).await;
            overview = Some(found);
        }
        if self.json {
            let (runs, desktop) = overview.map_or_else(Default::default, |it| (it.runs, it.desktop));
            super::say(&json!({ "runs": runs, "desktop": desktop, "guests": guests }).to_string());
        } else {
            let waiting: Vec<String> =
                overview.iter().flat_map(to_carry_on).map(|goal| plain(&goal)).collect();
            match overview.filter(|overview| !overview.runs.is_empty()) {
                Some(mut overview) => {
                    name_guests(&mut overview, &guests);
                    super::tell(&table(&overview, width::of_stdout().unwrap_or(width::USUAL)));
                }
                None => super::tell("nothing is running"),
            }
            for goal in waiting {
                super::tell(&format!("interrupted, and goes on by itself when Miki is started: {goal}"));
            }
        }
        Ok(Exit::Done)
    }
}

/// The goals of runs that have no end though nothing works at them: they go on once the app is started.
fn to_carry_on(overview: &Overview) -> impl Iterator<Item = String> {
    let last = overview.sessions.iter().filter_map(|session| session.last_run.as_ref());
    let is_open = |run: &&RunView| !overview.runs.iter().any(|open| open.run == run.id);
    last.filter(|run| run.end.is_none()).filter(is_open).map(|run| run.goal.clone())
}

/// The goal of a run of another program's is not its own: it is told by that program's name.
fn name_guests(overview: &mut Overview, guests: &[GuestView]) {
    for guest in guests {
        let does = if guest.conducts { "gives goals to agents" } else { "works at the desktop" };
        if let Some(run) = overview.runs.iter_mut().find(|run| run.run == guest.run) {
            run.goal = format!("{} (MCP) {does}", guest.client);
        }
    }
}

/// The runs of an overview, a line each in so many columns, below their headings.
pub(super) fn table(overview: &Overview, columns: usize) -> String {
    let runs: Vec<&str> = overview.runs.iter().map(|run| run.run.as_str()).collect();
    let sessions: Vec<&str> = overview.runs.iter().map(|run| run.session.as_str()).collect();
    let headings = ["RUN", "STATE", "DESKTOP", "STEP", "SESSION"].map(str::to_owned);
    let mut rows = vec![(headings, "GOAL".to_owned())];
    let tree = fold::tree(overview);
    for (depth, run) in &tree {
        let RunId(id) = &run.run;
        let SessionId(session) = &run.session;
        let cells = [
            short(id, &runs),
            state(run, overview).to_owned(),
            desktop(&run.run, &overview.desktop),
            format!("{}/{}", run.status.step, run.status.max_steps),
            short(session, &sessions),
        ];
        // Below the run that it works for.
        let branch = if *depth == 0 { String::new() } else { format!("{}└ ", "  ".repeat(depth - 1)) };
        let goal = plain(&run.goal);
        rows.push((cells, branch + goal.lines().next().unwrap_or_default()));
    }
    let width = |rows: &[([String; 5], String)], column: usize| {
        rows.iter().map(|(cells, _)| cells[column].chars().count()).max().unwrap_or(0)
    };
    let widths = [0, 1, 2, 3, 4].map(|column| width(&rows, column));
    let left = columns.saturating_sub(widths.iter().map(|width| width + 2).sum());
    let line = |(cells, goal): &([String; 5], String)| {
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}  "));
        format!("{}{}", cells.collect::<String>(), cut(goal, left))
    };
    // The first row has no run.
    let below = |run: &RunStatus| allowed(run) + &used(run);
    let allowed = std::iter::once(String::new()).chain(tree.iter().map(|(_, run)| below(run)));
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

fn state(run: &RunStatus, overview: &Overview) -> &'static str {
    let asks = overview.questions.iter().any(|question| question.run == run.run);
    match run.status.activity {
        // Its answer is kept until it may go on.
        _ if asks && run.status.paused => "asks, paused",
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
    if let Some(beside) = desktop.beside.iter().find(|beside| beside.run == *run) {
        return match &beside.window {
            Some(window) => format!("in {}", cut(&plain(&window.app), APP)),
            None => "beside you".into(),
        };
    }
    match desktop.waiting.iter().position(|waiting| waiting == run) {
        Some(place) => format!("waits {}", place + 1),
        None => "-".into(),
    }
}

#[cfg(test)]
mod tests;
