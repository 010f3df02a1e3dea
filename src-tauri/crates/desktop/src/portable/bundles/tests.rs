//! Tests of `bundles`.

use super::*;

#[test]
fn applications_are_found_in_folders_and_not_within_each_other() {
    let folder = tempfile::tempdir().unwrap();
    for path in ["Mail.app/Contents/Inner.app", "Utilities/Terminal.app", "readme.txt"] {
        std::fs::create_dir_all(folder.path().join(path)).unwrap();
    }
    let missing = folder.path().join("none");
    let found = find(&[folder.path().to_path_buf(), missing], "app");
    assert_eq!(found.keys().collect::<Vec<_>>(), ["Mail", "Terminal"]);
    assert_eq!(found["Terminal"], folder.path().join("Utilities/Terminal.app"));
}

#[test]
fn a_name_is_meant_whole_first_and_an_unknown_one_names_the_nearest() {
    let names = ["TextEdit", "Text", "Google Chrome", "Notes"];
    let meant = |wanted| meant(names.into_iter(), wanted);
    assert_eq!(meant("text"), Ok("Text"));
    assert_eq!(meant("TextEdit.app"), Ok("TextEdit"));
    assert_eq!(meant("chrome"), Ok("Google Chrome"));
    let error = meant("Notse").unwrap_err().to_string();
    assert_eq!(error, "not found: no application named \"Notse\"; the nearest: Notes");
    assert!(meant("").is_err());
}
