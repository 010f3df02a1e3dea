//! `miki session`, with the app and without it: what a run left is found, put in order, written to files, read from them.

use outside::fake_model::{FakeModel, MindTurn, ScriptMind};
use outside::miki::Miki;
use outside::stage::Stage;
use protocol::view::{Found, Imported, SessionView};
use serde::de::DeserializeOwned;
use serde_json::json;

/// What a command prints as JSON.
fn told<T: DeserializeOwned>(miki: &Miki, stage: &Stage, line: &[&str]) -> T {
    let arguments: Vec<&str> = ["session", "--json"].into_iter().chain(line.iter().copied()).collect();
    let done = miki.run(stage, &arguments).unwrap();
    assert_eq!(done.code(), 0, "{line:?}: {} {}", done.stdout, done.stderr);
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{line:?}: {error}: {}", done.stdout))
}

/// What a command that does not work says.
fn refused(miki: &Miki, stage: &Stage, line: &[&str]) -> String {
    let arguments: Vec<&str> = ["session"].into_iter().chain(line.iter().copied()).collect();
    let done = miki.run(stage, &arguments).unwrap();
    assert_eq!(done.code(), 1, "{line:?}: {}", done.stdout);
    done.stderr
}

fn ids(sessions: &[SessionView]) -> Vec<&str> {
    sessions.iter().map(|session| session.id.as_str()).collect()
}

#[test]
fn a_run_is_found_put_in_order_exported_and_imported_into_another_journal() {
    let stage = Stage::plain().unwrap();
    let turns = [MindTurn::call("I look for the heron", "screenshot", json!({}))];
    let model = FakeModel::start(ScriptMind::new(turns)).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let done = miki.run(&stage, &["run", "count the herons in the picture", "--mode", "plan"]).unwrap();
    assert_eq!(done.code(), 0, "{} {}", done.stdout, done.stderr);

    let [found] = &told::<Vec<Found>>(&miki, &stage, &["search", "HERONS", "count"])[..] else { panic!() };
    let id = found.session.id.as_str();
    assert_eq!(found.snippet, "count the herons in the picture");
    let end = &id[id.len() - 8..];

    let renamed: SessionView = told(&miki, &stage, &["rename", end, "Herons, 鷺"]);
    assert_eq!((renamed.title.as_str(), renamed.id.as_str()), ("Herons, 鷺", id));
    assert!(told::<SessionView>(&miki, &stage, &["pin", "last"]).shelf.pinned);
    told::<SessionView>(&miki, &stage, &["archive", id]);
    assert_eq!(told::<Vec<SessionView>>(&miki, &stage, &["list"]), []);
    assert_eq!(ids(&told::<Vec<SessionView>>(&miki, &stage, &["list", "--archived"])), [id]);
    told::<SessionView>(&miki, &stage, &["unarchive", id]);
    let branch: SessionView = told(&miki, &stage, &["branch", id]);
    assert_eq!(
        ids(&told::<Vec<SessionView>>(&miki, &stage, &["list"])),
        [id, branch.id.as_str()],
        "pinned first"
    );
    told::<SessionView>(&miki, &stage, &["delete", branch.id.as_str()]);
    assert_eq!(ids(&told::<Vec<SessionView>>(&miki, &stage, &["list"])), [id]);
    assert!(refused(&miki, &stage, &["rename", branch.id.as_str(), "x"]).contains("was deleted"));
    told::<SessionView>(&miki, &stage, &["restore", branch.id.as_str()]);
    assert_eq!(told::<Vec<SessionView>>(&miki, &stage, &["list"]).len(), 2);
    assert!(refused(&miki, &stage, &["show", "nobody"]).contains("miki session list"));

    let file = |name: &str| stage.path(name).to_str().unwrap().to_owned();
    let (lines, page, text) = (file("herons.jsonl"), file("herons.html"), file("herons.md"));
    for to in [&lines, &page, &text] {
        let exported: protocol::view::Exported = told(&miki, &stage, &["export", id, "-o", to]);
        assert_eq!((exported.missing, exported.bytes > 400), (0, true), "{exported:?}");
    }
    assert!(
        refused(&miki, &stage, &["export", id, "-o", &lines]).contains("cannot write"),
        "none is written over"
    );
    assert!(std::fs::read_to_string(&text).unwrap().contains("> count the herons in the picture"));
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("src=\"data:image/jpeg;base64,") && html.contains("Herons, 鷺"));

    let other = Miki::with_model(&stage, "other", &model.url(), json!({ "approval": "ask" })).unwrap();
    let imported: Imported = told(&other, &stage, &["import", &lines]);
    assert_eq!(imported.session.title, "Herons, 鷺");
    assert_ne!(imported.session.id.as_str(), id);
    assert_eq!(imported.session.approval, protocol::tool::ApprovalMode::Ask);
    assert!(imported.pictures > 0);
    let again: protocol::view::Exported =
        told(&other, &stage, &["export", "last", "-o", &file("again.html")]);
    assert_eq!((again.pictures, again.missing), (imported.pictures, 0));
    let broken = file("broken.jsonl");
    let whole = std::fs::read_to_string(&lines).unwrap();
    std::fs::write(&broken, &whole[..whole.len() - 20]).unwrap();
    let said = refused(&other, &stage, &["import", &broken]);
    let last = whole.lines().count();
    assert!(said.contains(&format!("line {last} cannot be read; nothing was imported")), "{said}");
    assert_eq!(told::<Vec<SessionView>>(&other, &stage, &["list"]).len(), 1);
}
