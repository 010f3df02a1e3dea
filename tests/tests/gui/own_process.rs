//! The windows' own process: what becomes of a run without it, and who may speak in its name.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use outside::fake_model::{Asked, FakeModel, MindTurn};
use outside::miki::Miki;
use outside::stage::Stage;
use outside::{LONG, Process, wait_for};
use protocol::event::EventBody;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// The process of the app's windows; `None` if it has none now.
fn gui(app: &Process) -> Option<u32> {
    let all = fs::read_dir("/proc").ok()?.flatten();
    let mut all = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    all.find(|pid| {
        let of = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
        of("comm").trim() == "miki-gui"
            && of("status").lines().any(|line| line == format!("PPid:\t{}", app.id()))
    })
}

fn kill(pid: u32) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_run_outlives_its_windows_which_are_opened_again() {
    let stage = Stage::full().unwrap();
    let goes_on = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&goes_on);
    let waits = move |_: &Asked| {
        // Until the windows are there again.
        let _ = wait_for("the word to go on", LONG, || seen.load(Ordering::SeqCst).then_some(()));
        MindTurn::done("done without them", true)
    };
    let model = FakeModel::start(waits).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let miki = miki.env("AWS_SECRET_ACCESS_KEY", "the user's");
    let app = miki.start(&stage, "app", &[]).unwrap();
    let screen = stage.screen().unwrap();
    screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    let dashboard =
        screen.windows().unwrap().into_iter().find(|one| one.shown && one.title == "Miki").unwrap();
    screen.place(&dashboard, 302, 90, 900, 700).unwrap();
    let is_written =
        || fs::read_to_string(miki.home.join("windows.json")).ok()?.contains("900").then_some(());
    wait_for("the place on disk", LONG, is_written).unwrap();
    let placed = screen.windows().unwrap().into_iter().find(|one| one.shown && one.title == "Miki").unwrap();
    let mut client = miki.connect(LONG).unwrap();
    let mut run = miki.start(&stage, "run", &["run", "wait for me"]).unwrap();
    wait_for("the run", LONG, || client.overview().ok().filter(|view| view.runs.len() == 1)).unwrap();

    client.subscribe().unwrap();
    let first = wait_for("the windows' process", LONG, || gui(&app)).unwrap();
    // Its pages' processes have the same.
    let environment = fs::read_to_string(format!("/proc/{first}/environ")).unwrap();
    let is_secret = |line: &str| line.starts_with("MIKI_KEY_") || line.starts_with("AWS_");
    assert!(environment.split('\0').all(|line| !is_secret(line)), "{environment}");
    assert!(environment.contains("MIKI_HOME=") && environment.contains("DISPLAY="), "{environment}");
    kill(first);
    let second = wait_for("another one", LONG, || gui(&app).filter(|pid| *pid != first)).unwrap();
    wait_for("its dashboard where it was", LONG, || {
        let there = screen.windows().ok()?.into_iter().find(|one| one.shown && one.title == "Miki")?;
        ((there.x, there.y) == (placed.x, placed.y)).then_some(())
    })
    .unwrap();
    let is_said = |body: &EventBody| matches!(body, EventBody::Noted { message, .. } if message.contains("opened again"));
    client.events_until(is_said).unwrap();
    let view = client.overview().unwrap();
    assert_eq!(view.runs.len(), 1, "the run ended with the windows");
    // They are its windows again: what is asked of them is done.
    assert_eq!(miki.run(&stage, &[]).unwrap().code(), 0);
    goes_on.store(true, Ordering::SeqCst);
    let status = run.wait(LONG).unwrap();
    assert!(status.success(), "{}", stage.log("run"));

    // What ends again and again rests, and Miki goes on without; whoever wants to see it has it opened again.
    kill(second);
    let third = wait_for("a third one", LONG, || gui(&app).filter(|pid| *pid != second)).unwrap();
    wait_for("its dashboard", LONG, || {
        screen.windows().ok()?.into_iter().find(|window| window.shown && window.title == "Miki")
    })
    .unwrap();
    kill(third);
    let rests = |body: &EventBody| matches!(body, EventBody::Noted { message, .. } if message.contains("goes on without them"));
    client.events_until(rests).unwrap();
    assert_eq!(gui(&app), None);
    let run = miki.run(&stage, &["run", "go on without windows"]).unwrap();
    assert_eq!(run.code(), 0, "{}", run.stderr);
    assert_eq!(miki.run(&stage, &[]).unwrap().code(), 0);
    let fourth = wait_for("a fourth one", LONG, || gui(&app)).unwrap();
    assert_ne!(fourth, third);
    screen.wait_for_window("its dashboard", LONG, |title| title == "Miki").unwrap();
}

/// Their words go over a pair of sockets. A pipe would be open to every program of this user, by its name below `/proc`, and
/// could be written to: whoever writes there answers every question.
#[test]
fn no_other_program_can_speak_as_the_windows() {
    let stage = Stage::full().unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    let app = miki.start(&stage, "app", &[]).unwrap();
    stage.screen().unwrap().wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    let gui = wait_for("the windows' process", LONG, || gui(&app)).unwrap();
    let open_files = |pid: u32| -> Vec<(PathBuf, String)> {
        let all = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
        let told = |path: PathBuf| Some((path.clone(), fs::read_link(&path).ok()?.to_str()?.to_owned()));
        all.filter_map(|entry| told(entry.path())).collect()
    };
    let (of_app, of_gui) = (open_files(app.id()), open_files(gui));
    let pipes = |files: &[(PathBuf, String)]| -> BTreeSet<String> {
        files.iter().map(|(_, name)| name.clone()).filter(|name| name.starts_with("pipe:")).collect()
    };
    // What whoever started the app has handed down, such as cargo's own pipe, is nobody's line.
    let mut inherited = pipes(&open_files(std::process::id()));
    inherited.extend([1, 2].iter().filter_map(|fd| {
        Some(fs::read_link(format!("/proc/{}/fd/{fd}", app.id())).ok()?.to_str()?.to_owned())
    }));
    let shared: Vec<String> = pipes(&of_app).intersection(&pipes(&of_gui)).cloned().collect();
    assert!(shared.iter().all(|pipe| inherited.contains(pipe)), "they speak over {shared:?}");
    let sockets: Vec<&(PathBuf, String)> =
        of_app.iter().chain(&of_gui).filter(|(_, name)| name.starts_with("socket:")).collect();
    assert!(!sockets.is_empty());
    for (path, name) in sockets {
        let opened = fs::OpenOptions::new().read(true).write(true).open(path);
        assert!(opened.is_err(), "{name} of {} can be opened", path.display());
    }
    // What the windows start does not have it either: it is no longer their input.
    assert_eq!(fs::read_link(format!("/proc/{gui}/fd/0")).unwrap().to_str(), Some("/dev/null"));
}

/// Windows answer questions: what somebody puts in their program's place, also while they rest, no user has started.
#[test]
fn a_program_that_was_put_in_the_place_of_the_windows_is_not_started() {
    let stage = Stage::full().unwrap();
    let mut miki = Miki::on(&stage, "miki").unwrap();
    let installed = stage.path("installed");
    fs::create_dir_all(&installed).unwrap();
    for program in ["miki", "miki-gui"] {
        fs::copy(miki.bin.with_file_name(program), installed.join(program)).unwrap();
    }
    miki.bin = installed.join("miki");
    let mut app = miki.start(&stage, "app", &[]).unwrap();
    let screen = stage.screen().unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    let mut last = 0;
    for _ in 0..3 {
        let now = wait_for("the windows' process", LONG, || gui(&app).filter(|pid| *pid != last)).unwrap();
        wait_for("its dashboard", LONG, || {
            screen.windows().ok()?.into_iter().find(|window| window.shown && window.title == "Miki")
        })
        .unwrap();
        kill(now);
        last = now;
    }
    let rests = |body: &EventBody| matches!(body, EventBody::Noted { message, .. } if message.contains("goes on without them"));
    client.events_until(rests).unwrap();
    let (ran, other) = (stage.path("ran"), installed.join("other"));
    fs::write(&other, format!("#!/bin/sh\ntouch {}\n", ran.display())).unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(&other, installed.join("miki-gui")).unwrap();
    assert_eq!(miki.run(&stage, &[]).unwrap().code(), 0);
    assert!(!app.wait(LONG).unwrap().success());
    let log = stage.log("app");
    assert!(log.contains("their program is another by now"), "{log}");
    assert!(!ran.exists(), "it was started");
}

#[test]
fn the_program_of_the_windows_is_nobodys_without_miki() {
    let stage = Stage::full().unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    let mut alone = stage.command(miki.bin.with_file_name("miki-gui"));
    alone.env("MIKI_HOME", &miki.home);
    let done = stage.run("miki-gui", alone, Duration::from_secs(30)).unwrap();
    assert_eq!(done.code(), 2);
    assert!(done.stderr.contains("start: miki"), "{}", done.stderr);
}
