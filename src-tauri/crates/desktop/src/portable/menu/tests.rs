//! Tests of `menu`.

use super::*;

#[test]
fn dots_access_keys_and_shortcuts_do_not_count_and_a_missing_item_names_the_others() {
    let names: Vec<String> =
        ["", "&Save\tCtrl+S", "Save &As…", "Quit Editor"].into_iter().map(str::to_owned).collect();
    assert_eq!(pick(&names, "save", "File"), Ok(1));
    assert_eq!(pick(&names, "Save As...", "File"), Ok(2));
    assert_eq!(pick(&names, "quit", "File"), Ok(3));
    let error = pick(&names, "Print", "File").unwrap_err().to_string();
    assert!(error.starts_with("not found: no \"Print\" in File; there are: &Save"), "{error}");
    assert!(matches!(pick(&names, " ... ", "File"), Err(DesktopError::BadInput(_))));
}
