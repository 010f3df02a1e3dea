//! Tests of `origin`.

use super::*;

fn window(title: &str, active: bool, corner: Corner, size: (i32, i32)) -> Managed {
    Managed { title: title.into(), active, corner, size }
}

#[test]
fn of_two_windows_with_one_title_the_one_of_its_size_is_meant_or_the_active_one() {
    let origins = Origins {
        managed: vec![
            window("Orchard", false, (0, 0), (400, 300)),
            window("Orchard", true, (500, 0), (400, 300)),
            window("Orchard", false, (0, 400), (200, 100)),
        ],
        popups: Vec::new(),
    };
    let of = |active, size| origins.of_window(&ReportedWindow { title: "Orchard", active, size });
    assert_eq!(of(true, (400, 300)), Some((500, 0)));
    assert_eq!(of(false, (400, 300)), Some((0, 0)));
    assert_eq!(of(false, (200, 100)), Some((0, 400)));
    assert_eq!(origins.of_window(&ReportedWindow { title: "Garden", active: true, size: (1, 1) }), None);
}

#[test]
fn which_of_two_equal_windows_is_meant_cannot_be_told() {
    let origins = Origins {
        managed: vec![
            window("Orchard", false, (0, 0), (400, 300)),
            window("Orchard", false, (500, 0), (400, 300)),
        ],
        popups: Vec::new(),
    };
    assert_eq!(
        origins.of_window(&ReportedWindow { title: "Orchard", active: false, size: (400, 300) }),
        None
    );
}

// As GTK 4.8 tells a menu that hangs from a button at 0,230: places in it start at its button's.
#[test]
fn places_in_a_popover_start_at_its_own_window_and_count_from_what_it_hangs_from() {
    let origins =
        Origins { managed: Vec::new(), popups: vec![((427, 159), (426, 190)), ((577, 389), (127, 180))] };
    let menu = Popover { own: (0, 230, 127, 180), anchor: (0, 230, 420, 34) };
    assert_eq!(origins.of_popover(menu), Some((577, 389 - 230)));
    let list = Popover { own: (0, 6, 426, 184), anchor: (0, 0, 420, 34) };
    assert_eq!(origins.of_popover(list), Some((427, 159)));
    assert_eq!(origins.of_popover(Popover { own: (0, 0, 1, 1), anchor: (0, 0, 1, 1) }), None);
}
