//! What `miki ps` shows in 80 columns.

use protocol::budget::{Forecast, Most};
use protocol::event::Status;
use protocol::ids::{Seq, Timestamp};
use protocol::mcp::GuestWay;
use protocol::settings::Settings;
use protocol::tool::FrontWindow;
use protocol::turn::Usd;
use protocol::view::{BesideView, Platform};

use super::width::USUAL;
use super::*;

fn run(id: &str, goal: &str, activity: Activity) -> RunStatus {
    RunStatus {
        session: SessionId(format!("s-{id}")),
        run: RunId(format!("r-{id}")),
        goal: goal.into(),
        status: Status { activity, step: 12, max_steps: 500, ..Status::default() },
        parent: None,
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
    let (owner, waiting) = (Some(runs[0].run.clone()), vec![runs[1].run.clone()]);
    let told = table(&overview(runs, DesktopView { owner, waiting, beside: Vec::new() }), USUAL);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 3, "{told}");
    assert!(lines.iter().all(|line| line.chars().count() <= USUAL), "{told}");
    assert!(lines[0].starts_with("RUN ") && lines[0].ends_with("GOAL"), "{told}");
    assert!(lines[1].starts_with("a4a6f2d1  works  has it   12/500  a4a6f2d1  write a haiku"), "{told}");
    assert!(lines[2].starts_with("a4a6f2d2  waits  waits 1  12/500  a4a6f2d2  look"), "{told}");
}

#[test]
fn a_run_with_hands_of_its_own_works_in_an_application() {
    let runs = vec![run("0193f4c2a8227c30bb3fd1e0a4a6f2d2", "look", Activity::Working)];
    let at = |app: &str| {
        let window = FrontWindow { id: 1, app: app.into(), title: "notes".into(), pid: None };
        let (run, window) = (runs[0].run.clone(), Some(window));
        let beside = vec![BesideView { run, window, pointer: None, wants_room: false, color: 0 }];
        table(&overview(runs.clone(), DesktopView { beside, ..DesktopView::default() }), USUAL)
    };
    assert!(at("Mousepad").contains("  works  in Mousepad  12/500  "), "{}", at("Mousepad"));
    let told = at(&"Very\u{202e}long".repeat(20));
    assert!(told.lines().all(|line| line.chars().count() <= USUAL), "{told}");
    assert!(!told.contains('\u{202e}'), "{told}");
}

#[test]
fn runs_that_began_in_the_same_moment_are_told_apart_and_have_their_goals() {
    let runs = [("01a21a59b39b7375878dc252", "first"), ("01a21a59b39c7375878dc252", "second")];
    let runs = runs.map(|(id, goal)| run(id, goal, Activity::Working));
    let told = table(&overview(runs.into(), DesktopView::default()), USUAL);
    assert!(told.lines().all(|line| line.chars().count() <= USUAL), "{told}");
    let of = |id: &str, goal: &str| {
        told.lines().any(|line| line.starts_with(&format!("{id} ")) && line.ends_with(goal))
    };
    assert!(of("b7375878dc252", "  first"), "{told}");
    assert!(of("c7375878dc252", "  second"), "{told}");
}

#[test]
fn one_run_alone_is_told_by_few_characters_and_what_it_may_do_below_it() {
    let runs = vec![run("0193f4c2a81b7c30bb3fd1e0a4a6f2d1", "look", Activity::Working)];
    assert!(
        table(&overview(runs, DesktopView::default()), USUAL).contains("\na4a6f2d1  works  -        12/500")
    );
    let mut runs = vec![run("0193f4c2", "look", Activity::Working)];
    let grant = |app: Option<&str>| Grant { tool: "click".into(), app: app.map(str::to_owned) };
    runs[0].status.grants = vec![grant(None), grant(Some("Edit\u{202e}or"))];
    let told = table(&overview(runs.clone(), DesktopView::default()), USUAL);
    assert!(told.ends_with("look\n  allowed: click; click in Edit\\u{202E}or"), "{told}");
    let cost = Usd::from_dollars(0.0123);
    let most = Most { steps: Some(500), cost: Usd::from_dollars(0.5), ..Most::default() };
    let forecast = Some(Forecast { runs: 8, steps: (12, 20), tokens: (1, 2), cost: None });
    let progress = Progress { minutes: 3, tokens: 41_200, cost, most, forecast };
    runs[0].status.progress = Some(Box::new(progress));
    let told = table(&overview(runs, DesktopView::default()), USUAL);
    assert!(
        told.ends_with(
            "or\n  used: $0.0123, 41k tokens, 3 min; at most $0.5; about 1-2 tokens, 12-20 steps (from 8 runs)"
        ),
        "{told}"
    );
}

#[test]
fn a_run_of_another_programs_agent_is_told_by_that_programs_name() {
    let run =
        run("0193f4c2a81b7c30bb3fd1e0a4a6f2d1", "Work at the desktop for claude-desktop", Activity::Working);
    let guest = GuestView {
        session: run.session.clone(),
        run: run.run.clone(),
        client: "Claude Desktop".into(),
        conducts: false,
        way: GuestWay::Stdio,
        since: Timestamp(0),
    };
    let mut overview = overview(vec![run], DesktopView::default());
    name_guests(&mut overview, &[guest]);
    let told = table(&overview, 120);
    assert!(told.ends_with("Claude Desktop (MCP) works at the desktop"), "{told}");
}
