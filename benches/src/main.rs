//! The desktop's work beside its peers', by turns, on one private desktop with a real browser and a real GTK
//! application. Prints one line of JSON with every trial, for `cargo xtask bench desktop`.
//!
//! `MEASURE` and `MEASURE_PAGES` name our measuring programs, `PEERS` the folder of the peers' programs and `PEERS_PYTHON` what runs them.
//! Judges nothing.

mod contestant;
mod growth;
mod scene;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use outside::stage::Stage;
use serde_json::{Value, json};

use contestant::Contestant;
use scene::{BROWSER, GTK, Scene};

/// Everybody who takes part.
struct Team {
    ours: Contestant,
    /// Our looks at a page.
    ours_on_pages: Contestant,
    /// What our questions look up.
    our_questions: Contestant,
    /// Pictures and pointer, from Python and from the shell.
    screen: Contestant,
    /// The accessibility tree, from Python.
    tree: Contestant,
    /// The browser, from Python.
    page: Contestant,
}

#[derive(Clone, Copy)]
enum Of {
    Ours,
    OursOnPages,
    OurQuestions,
    Screen,
    Tree,
    Page,
}

/// One of those that do the same work by turns: what it is called in the result, what it is asked, and how often.
struct Contender(&'static str, Of, String, usize);

impl Team {
    fn member(&mut self, of: Of) -> &mut Contestant {
        match of {
            Of::Ours => &mut self.ours,
            Of::OursOnPages => &mut self.ours_on_pages,
            Of::OurQuestions => &mut self.our_questions,
            Of::Screen => &mut self.screen,
            Of::Tree => &mut self.tree,
            Of::Page => &mut self.page,
        }
    }

    /// Each contender its trials, spread over the time of the one with the most: a busy moment is busy for all. The first
    /// trial of each, in which things are opened, does not count. Each turn has an order of its own, the same in each
    /// run: who comes after a heavy peer finds its caches cold, and that must not be the same one each time.
    fn race(&mut self, work: &str, contenders: &[Contender]) -> Result<Value> {
        let began = Instant::now();
        let mut times = vec![Vec::new(); contenders.len()];
        let mut counts = Vec::new();
        for Contender(_, of, request, _) in contenders {
            counts.push(self.member(*of).ask(request)?.count);
        }
        let most = contenders.iter().map(|contender| contender.3).max().unwrap_or(0);
        for turn in 0..most {
            let mut order: Vec<usize> = (0..contenders.len()).collect();
            order.sort_by_cached_key(|at| shuffled(turn, *at));
            for at in order {
                let Contender(_, of, request, rounds) = &contenders[at];
                if turn * rounds / most != (turn + 1) * rounds / most {
                    let answer = self.member(*of).ask(request)?;
                    counts[at] = answer.count;
                    times[at].extend(answer.ms);
                }
            }
        }
        eprintln!("    {work}: {:.0} s", began.elapsed().as_secs_f32());
        let contenders: Vec<Value> = contenders
            .iter()
            .zip(times.iter().zip(&counts))
            .map(|(contender, (ms, count))| json!({ "who": contender.0, "count": count, "ms": ms }))
            .collect();
        Ok(json!({ "work": work, "contenders": contenders }))
    }
}

/// A number for each contender of each turn, without any sense in it.
fn shuffled(turn: usize, contender: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    (turn, contender).hash(&mut hasher);
    hasher.finish()
}

fn main() -> Result<()> {
    let path = |name: &str| std::env::var_os(name).map(PathBuf::from).with_context(|| format!("set {name}"));
    let (measure, measure_pages) = (path("MEASURE")?, path("MEASURE_PAGES")?);
    let measure_questions = path("MEASURE_QUESTIONS")?;
    let (peers, python) = (path("PEERS")?, path("PEERS_PYTHON")?);
    let load = load()?;
    let stage = Stage::plain()?;
    let scene = Scene::open(&stage)?;
    let port = scene.port.to_string();
    // Python's X library wants one, be it empty.
    let authority = stage.path("xauthority");
    std::fs::write(&authority, "")?;
    let python = |script: &str, argument: &str| {
        let mut command = stage.command(&python);
        command.arg("-B").arg(peers.join(script)).arg(argument).env("XAUTHORITY", &authority);
        Contestant::start(&stage, script, command)
    };
    let mut pages = stage.command(measure_pages);
    pages.arg(&port);
    let mut team = Team {
        ours: Contestant::start(&stage, "measure", stage.command(measure))?,
        ours_on_pages: Contestant::start(&stage, "measure_pages", pages)?,
        our_questions: Contestant::start(&stage, "measure_questions", stage.command(measure_questions))?,
        screen: python("screen.py", "")?,
        tree: python("tree.py", "")?,
        page: python("page.py", &port)?,
    };
    scene.settle(&mut team.ours)?;
    let races = races(&mut team)?;
    let memory = growth::measure(&mut team.ours)?;
    println!("{}", json!({ "load": [load, self::load()?], "races": races, "memory": memory }));
    Ok(())
}

fn races(team: &mut Team) -> Result<Vec<Value>> {
    use Of::{OurQuestions, Ours, OursOnPages, Page, Screen, Tree};
    let mut done = Vec::new();
    done.push(team.race(
        "capture",
        &[
            Contender("ours", Ours, "capture".into(), 80),
            Contender("bare", Ours, "capture-bare".into(), 80),
            Contender("mss", Screen, "mss".into(), 40),
            Contender("pyautogui", Screen, "pyautogui".into(), 40),
            Contender("scrot", Screen, "scrot".into(), 10),
        ],
    )?);
    // The browser's tree is ten times as large: fewer trials of those who walk it.
    for (app, work, many, few) in [(GTK, "gtk", 30, 15), (BROWSER, "chromium", 15, 4)] {
        let elements = |scope: &str| format!("elements {app} {scope}");
        done.push(team.race(
            work,
            &[
                Contender("interactive", Ours, elements("interactive"), 30),
                Contender("visible", Ours, elements("visible"), 30),
                Contender("all", Ours, elements("all"), many),
                Contender("pyatspi", Tree, format!("walk {app}"), few + 1),
                Contender("one by one", Ours, format!("proxies-one-by-one {app}"), few),
                Contender("joined", Ours, format!("proxies-joined {app}"), few + 1),
            ],
        )?);
    }
    done.push(team.race(
        "page",
        &[
            Contender("ours", OursOnPages, "page".into(), 60),
            Contender("bare", OursOnPages, "page-bare".into(), 60),
            Contender("playwright", Page, "snapshot".into(), 15),
        ],
    )?);
    let question = |what: &'static str| Contender(what, OurQuestions, format!("{what} {GTK}"), 40);
    done.push(team.race("question", &["element", "point", "picture", "whole"].map(question))?);
    for (work, many) in [("move", 300), ("click", 300)] {
        done.push(team.race(
            work,
            &[
                Contender("ours", Ours, work.into(), many),
                Contender("bare", Ours, "round-trip".into(), many),
                Contender("pyautogui", Screen, format!("pyautogui-{work}"), 10),
                Contender("xdotool", Screen, format!("xdotool-{work}"), 10),
            ],
        )?);
    }
    let began = Instant::now();
    let corner = team.ours.ask("corner 1000")?;
    eprintln!("    corner: {:.0} s", began.elapsed().as_secs_f32());
    let contender = json!({ "who": "ours", "count": corner.count, "ms": corner.ms });
    done.push(json!({ "work": "corner", "contenders": [contender] }));
    Ok(done)
}

/// How many programs wanted a processor, over the last minute.
fn load() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/loadavg")?;
    text.split(' ').next().and_then(|load| load.parse().ok()).context("the load is not told")
}
