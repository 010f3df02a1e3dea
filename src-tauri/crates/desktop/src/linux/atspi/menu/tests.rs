//! Tests of `menu`.

use super::*;

#[test]
fn shortcuts_read_as_people_write_them() {
    assert_eq!(readable("s;<Alt>f:s;<Primary>s").as_deref(), Some("Ctrl+S"));
    assert_eq!(readable("a;;<Primary><Shift>s").as_deref(), Some("Ctrl+Shift+S"));
    assert_eq!(readable("Ctrl+Shift+S").as_deref(), Some("Ctrl+Shift+S"));
    assert_eq!(readable("F5").as_deref(), Some("F5"));
    assert_eq!(readable("o;<Alt>f:o;"), None);
    assert_eq!(readable(""), None);
}

#[test]
fn marks_and_dots_do_not_count_in_a_menus_name() {
    assert_eq!(plain("Save _As..."), plain("save as…"));
    assert_ne!(plain("Save"), plain("Save As"));
}
