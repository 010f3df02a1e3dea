//! Measures the hands on a screen of their own: `cargo run --release -p desktop --example hands -- corner 1000`, or
//! `-- acts 1000`. Prints one line of JSON, times in milliseconds.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    dead_code,
    reason = "measures with what the tests use, and ends where something is not as it must be"
)]

#[cfg(target_os = "linux")]
#[path = "../tests/x11/screen.rs"]
mod screen;
#[cfg(target_os = "linux")]
#[path = "../tests/x11/trials.rs"]
mod trials;
#[cfg(target_os = "linux")]
#[path = "../tests/x11/user.rs"]
mod user;

#[cfg(target_os = "linux")]
fn main() {
    use screen::{HEIGHT, Screen, Target, WIDTH};

    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    if what == "guard" {
        return desktop::stand_guard().unwrap();
    }
    let count = arguments.next().map_or(1000, |count| count.parse().unwrap());
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), 0x0020_b040);
    target.focus();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let told = match what.as_str() {
        "corner" => {
            let trials = runtime.block_on(trials::measure(&screen, count));
            let millis = |percent| trials.percentile(percent).as_secs_f64() * 1000.0;
            serde_json::json!({
                "trials": count,
                "corners": trials.corners,
                "p50": millis(50),
                "p99": millis(99),
                "max": millis(100),
            })
        }
        "acts" => runtime.block_on(acts(&screen, &target, count)),
        other => panic!("{other:?} is neither corner nor acts"),
    };
    println!("{told}");
}

/// Medians of single acts, beside that of a round trip to the server.
#[cfg(target_os = "linux")]
async fn acts(screen: &screen::Screen, target: &screen::Target, count: usize) -> serde_json::Value {
    use std::time::Instant;

    use desktop::{Action, Key, Options};
    use x11rb::protocol::xproto::ConnectionExt as _;

    let median = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let itself = std::env::current_exe().unwrap().into_os_string().into_string().unwrap();
    let bare = screen.desktop();
    let guarded = desktop::open(Options { guard: vec![itself, "guard".into()], ..screen.options() });
    let round_trip = (0..count).map(|_| {
        let begun = Instant::now();
        target.conn.get_input_focus().unwrap().reply().unwrap();
        begun.elapsed().as_secs_f64() * 1000.0
    });
    let mut told = serde_json::json!({ "round_trip": median(round_trip.collect()) });
    let deeds = [
        ("move", Action::Move { display: 0, to: screen::at(400.0, 300.0) }),
        ("click", screen::click(400.0, 300.0)),
        ("press", Action::Press { key: Key::Char('a'), times: 1 }),
        ("press_50", Action::Press { key: Key::Char('a'), times: 50 }),
    ];
    for (name, action) in deeds {
        for (kind, desktop) in [("", &bare), ("_guarded", &guarded)] {
            let mut all = Vec::new();
            for _ in 0..count {
                let begun = Instant::now();
                desktop.act(action.clone(), screen::token()).await.unwrap();
                all.push(begun.elapsed().as_secs_f64() * 1000.0);
            }
            told[format!("{name}{kind}")] = median(all).into();
        }
        target.events();
    }
    told
}

#[cfg(not(target_os = "linux"))]
fn main() {}
