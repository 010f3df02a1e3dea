//! What the app takes: time to its first answer, of a step beside the model, CPU and memory when idle. Prints one line of JSON, for `cargo xtask
//! bench` and `dist`. Measures the program that `MIKI_BIN` names, on a private desktop.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use outside::fake_model::{Asked, FakeModel, Manner, MindTurn};
use outside::miki::Miki;
use outside::stage::Stage;
use outside::{Process, wait_for};
use protocol::command::{AnyCommand, ShowWindow, Window, WindowAction};
use serde_json::{Value, json};

/// How often it is started anew.
const STARTS: usize = 5;
/// How often it is started as a server for other programs.
const MCP_STARTS: usize = 15;
/// How often the socket is asked.
const QUESTIONS: usize = 50;
/// Steps of a run with an instant model; as many as may be asked for by default are 30.
const STEPS: usize = 24;
/// How long idleness is measured: long beside the hundredths of a second in which it is counted.
const IDLE: Duration = Duration::from_secs(30);
/// So many quiet seconds in a row mean that start-up is over, and that the caret of the goal field blinks no more.
const QUIET: u32 = 10;
/// Linux counts processor time in hundredths of a second, whatever the kernel's own clock.
const TICKS_A_SECOND: f64 = 100.0;

fn main() -> Result<()> {
    let stage = Stage::full()?;
    let mut starts = Vec::new();
    for number in 0..STARTS {
        let miki = Miki::on(&stage, &format!("start-{number}"))?.env("MIKI_KEY_GEMINI", "unused");
        let start = Instant::now();
        let _app = miki.start(&stage, "start", &[])?;
        miki.connect(Duration::from_secs(60))?.overview()?;
        starts.push(milliseconds(start.elapsed()));
        eprintln!("start {}: {:.0} ms", number + 1, starts[number]);
    }

    let paces = pace(&stage)?;
    eprintln!("{} steps of an instant model", paces.len());

    let miki = Miki::on(&stage, "idle")?.env("MIKI_KEY_GEMINI", "unused");
    let app = miki.start(&stage, "idle", &[])?;
    let mut client = miki.connect(Duration::from_secs(60))?;
    let mut answers = Vec::new();
    for _ in 0..QUESTIONS {
        let start = Instant::now();
        client.overview()?;
        answers.push(milliseconds(start.elapsed()));
    }
    wait_for("the web processes", Duration::from_secs(60), || {
        tree(&app)
            .iter()
            .any(|pid| name_of(*pid).is_some_and(|name| name.starts_with("WebKitWeb")))
            .then_some(())
    })?;
    settle(&app)?;
    let open = idle(&app, "with the dashboard open");
    client.call(AnyCommand::ShowWindow(ShowWindow {
        window: Window::Dashboard,
        action: WindowAction::Hide,
        session: None,
    }))?;
    settle(&app)?;
    let in_tray = idle(&app, "in the tray");

    let processes: Vec<_> = tree(&app)
        .into_iter()
        .filter_map(|pid| {
            let (rss, pss) = memory(pid)?;
            Some(json!({ "name": name_of(pid)?, "rssKb": rss, "pssKb": pss }))
        })
        .collect();
    let is_page =
        |process: &Value| process["name"].as_str().is_some_and(|name| name.starts_with("WebKitWeb"));
    ensure!(processes.iter().any(is_page), "the app's web processes are not among its children");
    let (ours, peers) = mcp_starts(&stage)?;
    let vitals = json!({
        "mcpStartMs": ours,
        "peerStartMs": peers,
        "coldStartMs": starts,
        "overviewMs": answers,
        "stepMs": paces,
        "idleCpuPercent": in_tray,
        "openCpuPercent": open,
        "processes": processes,
    });
    println!("{vitals}");
    Ok(())
}

/// From the start of a server of the Model Context Protocol to its first answer, ours and the reference server, by turns, in
/// milliseconds.
fn mcp_starts(stage: &Stage) -> Result<(Vec<f64>, Vec<f64>)> {
    let miki = Miki::on(stage, "mcp")?;
    // Set-up puts it beside what is built.
    let target = miki.bin.parent().and_then(Path::parent).context("the app has no folder")?;
    let peer =
        target.join("tools/mcp-servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    ensure!(peer.is_file(), "{} is not there: cargo xtask setup", peer.display());
    let (mut ours, mut peers) = (Vec::new(), Vec::new());
    for _ in 0..MCP_STARTS {
        ours.push(first_answer(miki.command(stage, &["mcp", "desktop"]))?);
        let mut node = stage.command("node");
        node.arg(&peer).arg("stdio");
        peers.push(first_answer(node)?);
    }
    Ok((ours, peers))
}

fn first_answer(mut command: Command) -> Result<f64> {
    let start = Instant::now();
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let client = json!({ "name": "vitals", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let mut input = server.stdin.take().context("no input")?;
    writeln!(input, "{request}")?;
    let mut answer = String::new();
    BufReader::new(server.stdout.take().context("no output")?).read_line(&mut answer)?;
    let took = milliseconds(start.elapsed());
    ensure!(answer.contains("serverInfo"), "no answer to initialize: {answer}");
    drop(input);
    server.wait()?;
    Ok(took)
}

/// What the steps of a run take with a model that answers at once, from its answer to the next request, in milliseconds: a
/// picture and a file by turns. Neither waits for the screen to come to rest. What the fake model takes to read a request is
/// not ours.
fn pace(stage: &Stage) -> Result<Vec<f64>> {
    let answered = Arc::new(Mutex::new(Vec::new()));
    let times = Arc::clone(&answered);
    let mind = move |_: &Asked| {
        let mut times = times.lock().unwrap_or_else(PoisonError::into_inner);
        times.push(Instant::now());
        match times.len() {
            1 => MindTurn::call("", "useTools", json!({ "groups": ["files"] })),
            step if step > STEPS + 1 => MindTurn::done("done", true),
            step if step % 2 == 0 => MindTurn::call("", "screenshot", json!({})),
            step => {
                MindTurn::call("", "writeFile", json!({ "path": format!("{step}.txt"), "text": "a line\n" }))
            }
        }
    };
    // An answer in one piece: what is measured is not the time that it takes to come.
    let at_once = Manner { pieces: 1, pause: Duration::ZERO, ..Manner::default() };
    let model = FakeModel::with(mind, at_once)?;
    let miki = Miki::with_model(stage, "pace", &model.url(), json!({}))?;
    let done = miki.run(stage, &["run", "work", "--approval", "auto", "--json"])?;
    ensure!(done.code() == 0, "the run ended with {}: {}", done.code(), done.stderr);
    let asked: Vec<Instant> =
        model.requests().iter().filter(|one| one.asked.is_some()).map(|one| one.at).collect();
    let answered = answered.lock().unwrap_or_else(PoisonError::into_inner);
    // Without the first, which makes all ready.
    let steps = answered.iter().zip(asked.iter().skip(1)).skip(1);
    Ok(steps.map(|(answered, asked)| milliseconds(*asked - *answered)).collect())
}

/// The share of one core, in percent, that the app and its processes take while nothing is to be done.
fn idle(app: &Process, how: &str) -> f64 {
    eprintln!("idle {how}, for {} s", IDLE.as_secs());
    let (before, start) = (busy(app), Instant::now());
    std::thread::sleep(IDLE);
    100.0 * (busy(app) - before) / start.elapsed().as_secs_f64()
}

/// Waits until there is hardly any work for [`QUIET`] seconds.
fn settle(app: &Process) -> Result<()> {
    const HARDLY: f64 = 0.03;
    let (mut quiet, mut last, mut since) = (0, busy(app), Instant::now());
    wait_for("the app to settle", Duration::from_secs(120), || {
        if since.elapsed() >= Duration::from_secs(1) {
            let now = busy(app);
            quiet = if now - last < HARDLY { quiet + 1 } else { 0 };
            (last, since) = (now, Instant::now());
        }
        (quiet >= QUIET).then_some(())
    })
    .context("something keeps working although nothing is to be done")
}

/// The app and all its descendants.
fn tree(app: &Process) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid: u32| Some((pid, stat(pid)?.get(1)?.parse().ok()?)))
        .collect();
    let mut tree = vec![app.id()];
    let mut at = 0;
    while at < tree.len() {
        let parent = tree[at];
        tree.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    tree
}

/// Seconds of processor time that the tree has used so far.
fn busy(app: &Process) -> f64 {
    let ticks = |pid: u32| {
        let fields = stat(pid)?;
        Some(fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?)
    };
    tree(app).into_iter().filter_map(ticks).sum::<f64>() / TICKS_A_SECOND
}

/// The fields of `/proc/PID/stat` after the name, which may itself hold spaces: state, parent, ...
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(") ")?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

fn name_of(pid: u32) -> Option<String> {
    Some(fs::read_to_string(format!("/proc/{pid}/comm")).ok()?.trim().to_owned())
}

/// Resident and proportional memory, in kB.
fn memory(pid: u32) -> Option<(u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let field = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse::<u64>().ok())
    };
    Some((field("Rss:")?, field("Pss:")?))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
