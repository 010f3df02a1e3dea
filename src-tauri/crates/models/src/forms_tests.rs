//! Forms of a small reader: what fits one, what does not, and which are kept.

use serde_json::Value as Json;

use super::*;

/// `{"said": {"text": ..}, "n": ..}`, said by a reader that knows where they stand.
enum Small {}

#[derive(Debug, PartialEq)]
struct Read(String, Option<u64>);

impl Plain for Small {
    const NAMES: &'static [&'static str] = &["text", "n"];
    type Said<'a> = Read;
    type Same = ();

    fn read(data: &str) -> Option<Read> {
        let json: Json = serde_json::from_str(data).ok()?;
        json["odd"].is_null().then_some(())?;
        Some(Read(json["said"]["text"].as_str()?.to_owned(), json["n"].as_u64()))
    }

    fn same(_: &Read) -> Option<()> {
        Some(())
    }

    fn fill((): (), values: &mut Values<'_>) -> Option<Read> {
        let count = values.count(1);
        Some(Read(values.words(0)?.0.into_owned(), count))
    }
}

/// Forms that know `first`, and whether they do.
fn after(first: &str) -> (Forms<Small>, bool) {
    let mut forms = Forms::new();
    forms.read(first.as_bytes());
    let known = !forms.known.is_empty();
    (forms, known)
}

#[test]
fn an_event_with_other_values_is_read_by_them() {
    let (mut forms, known) = after(r#"{"said": {"text": "a", "k": "text"}, "n" : 7, "model": "m"}"#);
    assert!(known);
    for (text, says, number) in [
        (r#""""#, "", 0),
        (r#""b \"text\":\n\t\r\b\f\/ \"c""#, "b \"text\":\n\t\r\u{8}\u{c}/ \"c", 8),
        (r#""\\""#, "\\", 9_999_999_999_999_999_999),
        (r#""\u00e4\ud83d\udc4bö}""#, "ä👋ö}", 10),
    ] {
        let data = format!(r#"{{"said": {{"text": {text}, "k": "text"}}, "n" : {number}, "model": "m"}}"#);
        assert!(forms.fits(&data), "{data}");
        assert_eq!(forms.read(data.as_bytes()), Some(Read(says.into(), Some(number))));
        assert_eq!(Small::read(&data), forms.read(data.as_bytes()));
    }
}

#[test]
fn what_differs_elsewhere_or_is_no_such_value_is_another_form() {
    let (forms, _) = after(r#"{"said":{"text":"a"},"n":7,"model":"m"}"#);
    for data in [
        r#"{"said":{"text":"a"},"n":7,"model":"other"}"#,
        r#"{"said":{"text":"a"},"n":7,"model":"m"} "#,
        r#"{"said":{"text":"a"},"n":7,"model":"m""#,
        r#"{"said":{"text":"a"},"n":07,"model":"m"}"#,
        r#"{"said":{"text":"a"},"n":7.0,"model":"m"}"#,
        r#"{"said":{"text":"a"},"n":-7,"model":"m"}"#,
        r#"{"said":{"text":"a"},"n":,"model":"m"}"#,
        r#"{"said":{"text":"a"},"n":18446744073709551616,"model":"m"}"#,
        r#"{"said":{"text":null},"n":7,"model":"m"}"#,
        r#"{"said":{"text":"a""#,
        r#"{"said":{"text":"a\"#,
        r#"{"said":{"text":"\x"},"n":7,"model":"m"}"#,
        "{\"said\":{\"text\":\"a\tb\"},\"n\":7,\"model\":\"m\"}",
        "",
    ] {
        assert!(!forms.fits(data), "{data}");
    }
}

#[test]
fn a_value_that_is_no_text_is_none_whether_it_is_asked_for_or_not() {
    let (forms, _) = after(r#"{"said":{"text":"a"},"n":"x"}"#);
    for (text, other) in [
        (&b"b"[..], &b"\xff"[..]),
        (b"\xff", b"y"),
        (b"\\\xff", b"y"),
        (b"\\n\xff", b"y"),
        (b"b", b"\\n\xff"),
    ] {
        let data = [br#"{"said":{"text":""#, text, br#""},"n":""#, other, br#""}"#].concat();
        assert!(forms.known.iter().all(|form| form.fill::<Small>(&data).is_none()), "{text:?} {other:?}");
    }
    assert!(forms.fits(r#"{"said":{"text":"b"},"n":"y"}"#));
}

#[test]
fn a_value_that_the_reader_would_not_take_makes_no_form() {
    for data in [
        // Another field of that name.
        r#"{"said":{"text":"a"},"more":{"text":"b"}}"#,
        r#"{"said":{"text":"a"},"more":{"n":7}}"#,
        // None is found at all.
        r#"{"said":{"t\u0065xt":"a"},"n":7}"#,
    ] {
        assert!(!after(data).1, "{data}");
    }
    // What is no count stays as it is, and so does what is in words.
    let (mut forms, known) = after(r#"{"said":{"text":"a"},"n":7.5}"#);
    assert!(known);
    assert_eq!(forms.read(r#"{"said":{"text":"b"},"n":7.5}"#.as_bytes()), Some(Read("b".into(), None)));
    assert!(!forms.fits(r#"{"said":{"text":"b"},"n":8.5}"#));
}

#[test]
fn four_forms_are_kept_and_no_more_are_made_where_they_never_fit() {
    let event = |model: usize, text: &str| format!(r#"{{"said":{{"text":"{text}"}},"model":{model}}}"#);
    let mut forms = Forms::<Small>::new();
    for model in 0..4 {
        forms.read(event(model, "a").as_bytes());
    }
    assert!((0..4).all(|model| forms.fits(&event(model, "b"))));
    for model in 4..100 {
        assert_eq!(forms.read(event(model, "c").as_bytes()), Some(Read("c".into(), None)));
    }
    assert_eq!((forms.known.len(), forms.idle), (KEPT, MOST_IDLE));
    assert!(!forms.fits(&event(99, "d")));
    assert_eq!(forms.read(r#"{"said":{"text":"b"},"odd":1,"model":99}"#.as_bytes()), None);
}
