//! Tests of `act`.

use super::*;

fn ready(kind: &str) -> Ready {
    Ready {
        called: "button \"Save\"".into(),
        kind: kind.into(),
        x: Some(1.0),
        y: Some(2.0),
        ..Ready::default()
    }
}

#[test]
fn what_cannot_be_clicked_says_why() {
    let why = |ready: &Ready| may_be_clicked(ready, "w7").unwrap_err().to_string();
    assert_eq!(may_be_clicked(&ready("other"), "w7"), Ok((1.0, 2.0)));
    assert_eq!(why(&Ready { disabled: true, ..ready("other") }), "button \"Save\" (w7) is disabled");
    assert!(why(&ready("file")).contains("chosen by the user"));
    let select = Ready { options: vec!["Red".into(), "Blue".into()], ..ready("select") };
    assert!(why(&select).contains("webType") && why(&select).contains("Red; Blue"));
    let covered = Ready { x: None, cover: Some("dialog \"Cookies\"".into()), ..ready("other") };
    assert!(why(&covered).contains("covered by dialog \"Cookies\""));
    assert!(why(&Ready { empty: true, ..ready("other") }).contains("not shown"));
}

#[test]
fn held_keys_have_their_bits() {
    let key = |name: &str| name.parse::<Key>().unwrap();
    assert_eq!(modifiers(&[key("shift"), key("ctrl")]), 10);
    assert_eq!(modifiers(&[key("alt")]), 1);
    assert_eq!(modifiers(&[key("cmd")]), 4);
}
