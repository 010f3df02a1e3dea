//! The stage itself: without it being right, nothing that is tested on it means anything.

use std::time::Duration;

use outside::stage::Stage;
use outside::{LONG, wait_for};

#[test]
fn a_user_types_into_a_real_editor_and_saves_a_file() {
    let stage = Stage::plain().unwrap();
    let editor = stage.open_editor(None).unwrap();
    let (screen, user) = (stage.screen().unwrap(), stage.user().unwrap());
    let witness = stage.witness().unwrap();
    screen.activate(&editor.window).unwrap();
    user.click(editor.window.x + 300, 400).unwrap();
    user.type_text("Hello, World!").unwrap();
    user.chord(&["ctrl", "s"]).unwrap();
    screen.wait_for_window("the save dialog", LONG, |title| title == "Save As").unwrap();
    user.type_text("greeting.txt").unwrap();
    let file = stage.work().join("greeting.txt");
    wait_for("the saved file", LONG, || {
        // The first Enter may only take what the dialog's completion offers.
        user.chord(&["enter"]).ok()?;
        wait_for("it", Duration::from_millis(500), || file.exists().then_some(())).ok()
    })
    .unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "Hello, World!");
    assert!(witness.count() >= 25, "the witness saw {} keys", witness.count());
    assert_eq!(screen.held_keys().unwrap(), Vec::<u8>::new());
    assert!(screen.png().unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn a_full_stage_has_a_keyring_that_keeps_a_secret() {
    let stage = Stage::full().unwrap();
    let collections = stage.gdbus(
        "org.freedesktop.secrets",
        "/org/freedesktop/secrets",
        "org.freedesktop.Secret.Service.ReadAlias",
        &["default"],
    );
    let default = collections.unwrap();
    assert!(default.contains("/org/freedesktop/secrets/collection/"), "{default}");
    let path = default.split('\'').nth(1).unwrap();
    let locked = stage.gdbus(
        "org.freedesktop.secrets",
        path,
        "org.freedesktop.DBus.Properties.Get",
        &["org.freedesktop.Secret.Collection", "Locked"],
    );
    assert!(locked.unwrap().contains("false"));
}

#[test]
fn a_stage_leaves_no_process_behind() {
    let stage = Stage::plain().unwrap();
    let editor = stage.open_editor(None).unwrap();
    let (pid, runtime) = (editor.process.id(), stage.path("run").display().to_string());
    drop(editor);
    drop(stage);
    wait_for("the end of all that was started", LONG, || {
        let living = processes_with(&format!("XDG_RUNTIME_DIR={runtime}"));
        (living == 0 && !std::path::Path::new(&format!("/proc/{pid}")).exists()).then_some(())
    })
    .unwrap();
}

/// How many processes have `variable` in their environment.
fn processes_with(variable: &str) -> usize {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let has = |environ: Vec<u8>| environ.split(|b| *b == 0).any(|v| v == variable.as_bytes());
    all.filter_map(|entry| std::fs::read(entry.path().join("environ")).ok())
        .filter(|e| has(e.clone()))
        .count()
}
