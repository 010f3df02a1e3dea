//! Tests of `quirks`.

use super::*;

#[test]
fn a_toolkit_is_known_by_its_name_in_any_case_and_the_start_of_its_version() {
    assert_eq!(Quirks::of("any", "GTK", "4.8.3").reading, Way::Walk);
    assert!(Quirks::of("any", "gtk", "4.8.3").places_in_window);
    assert_eq!(Quirks::of("any", "gtk", "3.24.38").reading, Way::Cache);
    assert_eq!(Quirks::of("any", "Qt", "5.15.8").reading, Way::Walk);
    assert_eq!(Quirks::of("any", "Chromium", "130").more_actions, MoreActions::Nobody);
    assert!(!Quirks::of("soffice", "gtk", "3.24.38").bears_matches);
    assert_eq!(Quirks::of("any", "no such toolkit", ""), PLAIN);
}

#[test]
fn libreoffice_is_known_by_what_frames_it_and_is_never_asked_what_makes_it_hang() {
    assert_eq!(Quirks::of("soffice", "gtk", "3.24.38"), OFFICE);
    for (toolkit, version) in [("gtk", "4.8.3"), ("Qt", "5.15.8"), ("", "")] {
        let quirks = Quirks::of("soffice", toolkit, version);
        assert!(quirks != OFFICE && !quirks.bears_matches && quirks.reading == Way::Walk, "{toolkit}");
    }
}

#[test]
fn a_date_or_a_time_of_qt_is_typed_by_its_parts_and_a_number_is_not() {
    let qt = Quirks::of("any", "Qt", "5.15.8");
    for text in ["2026-01-01", "09:00", "1.2.2026"] {
        assert!(qt.has_sections(number::SPIN_BUTTON, text) && !PLAIN.has_sections(number::SPIN_BUTTON, text));
    }
    assert!(!qt.has_sections(number::SPIN_BUTTON, "-1.5") && !qt.has_sections(number::ENTRY, "09:00"));
}

#[test]
fn a_class_of_gtk_4_is_no_name() {
    assert!(is_class("GtkTextView") && is_class("AdwHeaderBar"));
    assert!(!is_class("Gtk") && !is_class("Gtk 4 tutorial") && !is_class("Gtkfish") && !is_class("Save"));
    assert_eq!(Quirks::of("any", "gtk", "4.8.3").own_name("GtkEntry".into()), "");
    assert_eq!(PLAIN.own_name("GtkEntry".into()), "GtkEntry");
}

#[test]
fn a_text_that_is_set_in_a_combo_box_of_libreoffice_is_not_taken_for_what_it_shows() {
    assert!(Quirks::of("soffice", "gtk", "3.24.38").hides_combo_texts);
    assert!(!Quirks::of("any", "gtk", "3.24.38").hides_combo_texts);
}

#[test]
fn a_label_that_a_button_of_gtk_4_has_twice_is_told_once() {
    let quirks = Quirks::of("any", "gtk", "4.8.3");
    for (told, name) in [("_Close Close", "Close"), ("Save _As Save As", "Save As"), ("Bye Bye", "Bye Bye")] {
        assert_eq!(quirks.own_name(told.into()), name);
    }
}

#[test]
fn a_panel_of_libreoffice_that_says_that_it_is_gone_is_looked_at_and_nothing_else_that_says_so() {
    let office = Quirks::of("soffice", "gtk", "3.24.38");
    let is = |quirks: Quirks, role, states| quirks.is_called_defunct(role, states);
    assert!(is(office, number::PANEL, States::DEFUNCT));
    assert!(!is(office, number::PANEL, States::SHOWING) && !is(office, number::TEXT, States::DEFUNCT));
    assert!(!is(Quirks::of("any", "gtk", "3.24.38"), number::PANEL, States::DEFUNCT));
}
