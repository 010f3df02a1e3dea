//! A window comes back where it was, and is never out of reach.

use serde_json::json;

use super::*;

const LEAST: (f64, f64) = (760.0, 520.0);

fn rect(x: i32, y: i32, width: u32, height: u32) -> PhysicalRect {
    PhysicalRect { x, y, width, height }
}

fn display(name: &str, bounds: PhysicalRect, scale: f64) -> Display {
    Display { name: name.into(), bounds, free: bounds, scale }
}

/// A laptop with a screen at its right.
fn both() -> Vec<Display> {
    vec![display("laptop", rect(0, 0, 1920, 1080), 1.0), display("desk", rect(1920, -200, 2560, 1440), 1.0)]
}

fn laptop() -> Vec<Display> {
    both()[..1].to_vec()
}

fn normal(x: i32, y: i32, width: u32, height: u32) -> WindowBounds {
    WindowBounds { at: rect(x, y, width, height), maximised: false }
}

fn noted(seen: WindowBounds, displays: &[Display]) -> Places {
    let mut places = Places::default();
    assert!(places.note(seen, displays));
    places
}

/// A place as a file may have it.
fn written(x: i64, y: i64, width: u64, height: u64) -> Places {
    let place = json!({ "displays": ["laptop"], "display": "laptop", "x": x, "y": y, "width": width,
        "height": height, "maximised": false });
    Places::of(json!([place]))
}

#[test]
fn a_window_comes_back_where_it_was() {
    for seen in [normal(100, 50, 900, 700), normal(2100, -150, 1180, 800), normal(1500, 300, 900, 700)] {
        let places = noted(seen, &both());
        assert_eq!(places.find(&both(), LEAST), Some(seen));
    }
    assert_eq!(Places::default().find(&both(), LEAST), None);
}

#[test]
fn what_is_written_is_read_again() {
    let places = noted(normal(100, 50, 900, 700), &both());
    assert_eq!(Places::of(serde_json::to_value(&places).unwrap()), places);
}

#[test]
fn a_window_is_as_large_as_before_where_the_displays_scale_has_changed() {
    let coarse = [display("laptop", rect(0, 0, 2880, 1800), 1.0)];
    let fine = [display("laptop", rect(0, 0, 2880, 1800), 2.0)];
    let places = noted(normal(200, 100, 1000, 600), &coarse);
    assert_eq!(places.find(&fine, LEAST), Some(normal(400, 200, 2000, 1200)));
}

#[test]
fn each_arrangement_of_displays_has_its_own_place() {
    let mut places = noted(normal(2100, 0, 1180, 800), &both());
    assert_eq!(places.find(&laptop(), LEAST), None, "the display is gone: as if for the first time");
    assert!(places.note(normal(10, 20, 900, 700), &laptop()));
    assert_eq!(places.find(&laptop(), LEAST), Some(normal(10, 20, 900, 700)));
    let turned: Vec<Display> = both().into_iter().rev().collect();
    assert_eq!(places.find(&turned, LEAST), Some(normal(2100, 0, 1180, 800)), "it is back at the desk");
}

#[test]
fn a_window_stays_on_its_display_where_another_one_is_gone_or_new() {
    let places = noted(normal(10, 20, 900, 700), &both());
    assert_eq!(places.find(&laptop(), LEAST), Some(normal(10, 20, 900, 700)));
    let mut moved = both();
    moved[0].bounds.x = -1920;
    moved[0].free.x = -1920;
    moved.push(display("third", rect(5000, 0, 800, 600), 1.0));
    assert_eq!(places.find(&moved, LEAST), Some(normal(-1910, 20, 900, 700)));
}

#[test]
fn a_maximised_window_remembers_where_it_was_before() {
    let mut places = noted(normal(100, 50, 900, 700), &both());
    assert!(places.note(WindowBounds { at: rect(1920, -200, 2560, 1440), maximised: true }, &both()));
    let found = places.find(&both(), LEAST).unwrap();
    assert_eq!(
        found,
        WindowBounds { at: rect(2020, -150, 900, 700), maximised: true },
        "on the display it fills"
    );
    assert!(places.note(normal(100, 50, 900, 700), &both()));
    assert_eq!(places.find(&both(), LEAST), Some(normal(100, 50, 900, 700)));
}

#[test]
fn a_window_without_a_place_goes_to_the_middle() {
    assert_eq!(laptop()[0].middle(1180, 800), normal(370, 140, 1180, 800));
    assert_eq!(both()[1].middle(3000, 440), normal(1920, 300, 2560, 440));
}

#[test]
fn what_is_known_already_is_no_news() {
    let mut places = noted(normal(100, 50, 900, 700), &both());
    assert!(!places.note(normal(100, 50, 900, 700), &both()));
    assert!(!places.note(normal(9_000, 9_000, 900, 700), &both()), "it is on no display");
    assert!(places.note(normal(101, 50, 900, 700), &both()));
}

#[test]
fn a_window_that_hangs_over_an_edge_stays_so_where_it_can_be_taken_hold_of() {
    for at in [normal(1700, 400, 900, 700), normal(-700, 400, 900, 700), normal(500, 1050, 900, 700)] {
        assert_eq!(noted(at, &laptop()).find(&laptop(), LEAST), Some(at));
    }
}

#[test]
fn a_window_out_of_reach_is_brought_in_whole() {
    for (x, y, there) in [
        (1900, 200, (1020, 200)),
        (-850, 200, (0, 200)),
        (500, -30, (500, 0)),
        (500, 1070, (500, 380)),
        (i32::MAX.into(), i32::MIN.into(), (1020, 0)),
    ] {
        let found = written(x, y, 900, 700).find(&laptop(), LEAST);
        assert_eq!(found, Some(normal(there.0, there.1, 900, 700)), "{x}, {y}");
    }
    let mut with_bar = laptop();
    with_bar[0].free = rect(0, 30, 1920, 1050);
    assert_eq!(written(5, 0, 900, 700).find(&with_bar, LEAST), Some(normal(5, 30, 900, 700)));
}

#[test]
fn a_window_is_no_larger_than_its_display_and_no_smaller_than_it_may_be() {
    let huge = u64::from(u32::MAX);
    assert_eq!(written(0, 0, huge, huge).find(&laptop(), LEAST), Some(normal(0, 0, 1920, 1080)));
    assert_eq!(written(300, 300, huge, 700).find(&laptop(), LEAST), Some(normal(0, 300, 1920, 700)));
    assert_eq!(written(30, 30, 0, 1).find(&laptop(), LEAST), Some(normal(30, 30, 760, 520)));
    let tiny = [display("laptop", rect(0, 0, 640, 480), 1.0)];
    assert_eq!(written(0, 0, 900, 700).find(&tiny, LEAST), Some(normal(0, 0, 640, 480)));
}

#[test]
fn what_makes_no_sense_in_a_file_is_left_out() {
    let good = serde_json::to_value(noted(normal(1, 2, 900, 700), &laptop())).unwrap()[0].clone();
    let bad = ["x", "width", "display", "maximised", "displays"].map(|name| {
        let mut place = good.clone();
        place[name] = json!(1e300);
        place
    });
    let all: Vec<_> = bad.into_iter().chain([json!(null), json!("a"), good]).collect();
    assert_eq!(Places::of(json!(all)), noted(normal(1, 2, 900, 700), &laptop()));
    assert_eq!(Places::of(json!({ "a": 1 })), Places::default());
}

#[test]
fn only_so_many_arrangements_are_remembered() {
    let mut places = Places::default();
    for n in 0..100 {
        let display = [display(&n.to_string(), rect(0, 0, 1920, 1080), 1.0)];
        assert!(places.note(normal(n, 0, 900, 700), &display));
    }
    assert_eq!(places.0.len(), MOST);
    assert!(places.find(&[display("99", rect(0, 0, 1920, 1080), 1.0)], LEAST).is_some());
}
