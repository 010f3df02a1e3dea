//! Tests of marks: what keeps its ref, what is met again, what is refused.

use pictures::{Frame, Order};

use super::*;

fn rect(x: i32, y: i32, width: u32, height: u32) -> PhysicalRect {
    PhysicalRect { x, y, width, height }
}

fn seen(text: &str, x: i32, y: i32) -> FoundMark {
    FoundMark { what: What::Text(text.into()), at: rect(x, y, 40, 12) }
}

/// A small box with a square of so many pixels in it, as it is seen in a window of 200 x 60.
fn ticked(x: i32, inner: i32) -> Vec<FoundMark> {
    let colour = |at: i32| {
        let (dx, dy) = ((at % 200 - x - 10).abs(), (at / 200 - 30).abs());
        let is_border = dx.max(dy) == 10;
        if is_border || dx.max(dy) < inner { [0; 4] } else { [240; 4] }
    };
    let pixels = (0..200 * 60).flat_map(colour).collect();
    let frame = Frame { width: 200, height: 60, order: Order::Bgrx, pixels };
    let label = rect(x + 26, 24, 50, 12);
    let shapes = pictures::shapes(&frame, &rect(0, 0, 200, 60), &[label]).all;
    together(vec![("Delete".into(), label)], shapes)
}

#[test]
fn a_mark_keeps_its_ref_and_is_met_where_its_text_is_now() {
    let mut table = MarkTable::default();
    let first = table.enter(7, "xcalc", vec![seen("OK", 10, 10), seen("No", 90, 10)]);
    let again = table.enter(7, "xcalc", vec![seen("No", 91, 10), seen("OK", 10, 200)]);
    let refs = |marks: &[KnownMark]| marks.iter().map(KnownMark::reference).collect::<Vec<_>>();
    assert_eq!(
        (refs(&first), refs(&again)),
        (vec!["m1".into(), "m2".into()], vec!["m2".into(), "m3".into()])
    );
    assert_ne!(table.enter(8, "other", vec![seen("No", 90, 10)]), again[..1]);
    let ok = table.find(" m1 ").unwrap();
    assert_eq!(find_again(ok, &[seen("OK", 12, 11), seen("OK", 10, 300)]), Ok(&seen("OK", 12, 11)));
    assert_eq!(find_again(ok, &[seen("OK", 10, 300)]), Ok(&seen("OK", 10, 300)), "it was scrolled");
}

#[test]
fn a_mark_whose_text_changed_or_stands_at_several_other_places_is_refused() {
    let mut table = MarkTable::default();
    let ok = table.enter(7, "xcalc", vec![seen("OK", 10, 10)]).remove(0);
    let relabelled = find_again(&ok, &[seen("Delete all", 10, 10)]).unwrap_err().to_string();
    assert!(relabelled.contains("\"Delete all\" is read there now"), "{relabelled}");
    assert!(find_again(&ok, &[seen("OK", 10, 90), seen("OK", 10, 300)]).is_err());
    assert!(table.find("e1").is_none() && table.find("m2").is_none() && !is_mark("e1"));
}

#[test]
fn a_shape_is_known_by_its_place_and_its_look_and_named_by_the_text_beside_it() {
    let mut table = MarkTable::default();
    let [label, small] = table.enter(7, "form", ticked(20, 0)).try_into().unwrap();
    assert_eq!(
        (label.called(), small.called()),
        ("text \"Delete\" (m1)".into(), "small box beside \"Delete\" (m2)".into())
    );
    assert_eq!(small.seen.named(), ("small box beside".into(), "Delete"));
    assert_eq!(table.enter(7, "form", ticked(22, 0))[1], small, "it keeps its ref");
    assert_eq!(find_again(&small, &ticked(22, 0)), Ok(&ticked(22, 0)[1]));
    let changed = find_again(&small, &ticked(20, 6)).unwrap_err().to_string();
    assert!(changed.contains("it looks different now; nothing was done"), "{changed}");
    // Another one looks the same.
    assert!(find_again(&small, &ticked(80, 0)).is_err());
    assert_eq!(table.enter(7, "form", ticked(20, 6))[1].reference(), "m3");
}

#[test]
fn a_box_around_a_text_is_one_mark_and_a_shape_is_beside_the_text_that_labels_it() {
    let look = |kind, at| Shape { kind, at, look: Appearance::default() };
    let texts =
        [("Name", rect(10, 10, 40, 12)), ("Send", rect(20, 80, 40, 12)), ("○ Large", rect(126, 46, 64, 20))];
    let texts = texts.into_iter().map(|(text, at)| (text.to_owned(), at)).collect();
    let shapes = vec![
        look(Kind::Field, rect(60, 6, 200, 20)),
        look(Kind::Circle, rect(130, 49, 14, 14)),
        look(Kind::Around(1), rect(10, 74, 60, 24)),
        look(Kind::Icon, rect(300, 200, 20, 20)),
    ];
    let seen = together(texts, shapes);
    let called: Vec<String> = seen.iter().map(FoundMark::called).collect();
    let expected = [
        "text \"Name\"",
        "text \"Send\"",
        "text \"Large\"",
        "empty field beside \"Name\"",
        "circle beside \"Large\"",
        "icon",
    ];
    assert_eq!(called, expected);
    assert_eq!((seen[1].at, seen[2].at), (rect(10, 74, 60, 24), rect(144, 46, 46, 20)));
}
