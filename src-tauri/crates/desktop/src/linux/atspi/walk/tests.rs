//! Tests of `walk`.

use super::*;

#[test]
fn a_class_of_gtk_4_is_no_name() {
    assert!(is_class("GtkTextView") && is_class("AdwHeaderBar"));
    assert!(!is_class("Gtk") && !is_class("Gtk 4 tutorial") && !is_class("Gtkfish") && !is_class("Save"));
}
