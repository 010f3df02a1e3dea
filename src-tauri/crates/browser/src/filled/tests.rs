//! Tests of `filled`.

use super::*;

#[test]
fn what_takes_no_text_says_what_to_do_instead() {
    let why = |kind: &str| {
        let ready = Ready { called: "it".into(), kind: kind.into(), ..Ready::default() };
        may_be_filled(&ready, "w1").map_err(|error| error.to_string())
    };
    assert_eq!(why("text"), Ok(()));
    assert!(why("checkbox").unwrap_err().contains("webClick"));
    assert!(why("file").unwrap_err().contains("the user"));
    assert!(why("other").unwrap_err().contains("takes no text"));
}

#[test]
fn what_a_secret_field_holds_is_not_told() {
    let held = FieldContent { secret: true, length: 4, ..FieldContent::default() };
    assert_eq!(typed(&held, "abc").note, "the field holds something else, 4 characters long");
}
