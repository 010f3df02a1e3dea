//! Tests of `redaction`.

use protocol::command::Secret as Value;
use protocol::tool::{Change, Changed};

use super::*;
use crate::secrets::SecretScope;

fn secret(name: &str, value: &str) -> Secret {
    Secret { name: name.into(), place: SecretScope::App("Wallet".into()), value: Value(value.into()) }
}

fn all() -> [Secret; 2] {
    [secret("bank", "hunter2 {{pin}}"), secret("pin", "1234")]
}

#[test]
fn a_value_is_taken_out_of_all_that_comes_back_and_a_short_one_only_where_it_stands_alone() {
    let mut outcome = Outcome::looked(
        "typed 15 characters: hunter2 {{pin}}",
        serde_json::json!({ "note": ["xhunter2 {{pin}}x", { "ref": "e1234", "value": "PIN 1234." }], "count": 1234 }),
    );
    redact(&mut outcome, &all());
    assert_eq!(outcome.summary, "typed 15 characters: {{bank}}");
    assert_eq!(
        outcome.data,
        serde_json::json!({ "note": ["x{{bank}}x", { "ref": "e1234", "value": "PIN {{pin}}." }], "count": 1234 })
    );
    assert!(!format!("{:?}", all()).contains("hunter2"));
}

#[test]
fn a_value_is_taken_out_of_what_people_are_shown_of_a_command_and_of_a_changed_file() {
    let span = |text: &str, bold| Span { text: text.into(), style: Style { bold, ..Style::default() } };
    let printed = |text: &[&str]| Line {
        spans: text.iter().zip([false, true]).map(|(text, bold)| span(text, bold)).collect(),
        cut: 0,
    };
    let mut outcome = Outcome::looked("", Json::Null);
    outcome.output = vec![printed(&["it is hun", "ter2 {{pin}}."]), printed(&["plain ", "and bold"])];
    outcome.changes = vec![Change {
        of: Changed::File,
        name: "a.txt".into(),
        diff: Some("+ hunter2 {{pin}}".into()),
        data: Json::Null,
    }];
    redact(&mut outcome, &all());
    assert_eq!(outcome.output[0].spans, [span("it is {{bank}}.", false)], "whatever colours it had");
    assert_eq!(outcome.output[1], printed(&["plain ", "and bold"]));
    assert_eq!(outcome.changes[0].diff.as_deref(), Some("+ {{bank}}"));
    let mut lines = vec![printed(&["hunter2 ", "{{pin}}"])];
    redact_lines(&mut lines, &all());
    assert_eq!(lines[0].spans, [span("{{bank}}", false)], "while it runs, too");
}

#[test]
fn a_value_is_taken_out_as_it_is_written_in_addresses_pages_json_and_base64() {
    let secrets = [secret("long", "p&ss \"wörd\"/1"), secret("other", "p&ss \"wörd")];
    for written in [
        "https://a.test/?q=p%26ss%20%22w%C3%B6rd%22%2F1&b",
        "https://a.test/?q=p%26ss+%22w%c3%b6rd%22%2f1&b",
        r#"{"v":"p&ss \"wörd\"/1"}"#,
        "<b>p&amp;ss &quot;wörd&quot;/1</b>",
        "cCZzcyAid8O2cmQiLzE=",
        r#"the longer of two: p&ss "wörd"/1"#,
    ] {
        let clean = redacted(written, &secrets);
        assert!(clean.contains("{{long}}") && !clean.contains("ss"), "{written} -> {clean}");
    }
    let mut outcome = Outcome::looked("", serde_json::json!({ "p&ss \"wörd\"/1": 1 }));
    redact(&mut outcome, &secrets);
    assert_eq!(outcome.data, serde_json::json!({ "{{long}}": 1 }), "a field's name is text, too");
}

#[test]
fn a_value_is_taken_out_of_hex_and_of_base64_wherever_it_stands_there() {
    let secrets = [secret("bank", "correct horse battery")];
    for before in ["", "u", "us", "usr", "user=me&pass="] {
        for after in ["", "\n", "&x", "&and=more"] {
            let bytes = format!("{before}correct horse battery{after}");
            for written in [
                base64::engine::general_purpose::STANDARD.encode(&bytes),
                base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(&bytes),
                hex(bytes.as_bytes()),
                hex(bytes.as_bytes()).to_uppercase(),
            ] {
                let clean = redacted(&written, &secrets);
                assert!(clean.contains("{{bank}}"), "{bytes:?}: {clean}");
                // At its edges there may be bits of one byte of it.
                assert!(clean.len() <= written.len() - 26 + "{{bank}}".len(), "{bytes:?}: {clean}");
            }
        }
    }
    let short = [secret("pin", "1234")];
    assert_eq!(redacted("YTEyMzRi", &short), "YTEyMzRi", "too little of it to be meant");
}

#[test]
fn a_value_is_taken_out_of_what_checks_found() {
    let check = protocol::contract::Check::PageText { text: "Welcome".into() };
    let mut findings = [Finding { check, passed: false, found: "the title is hunter2 {{pin}}".into() }];
    redact_findings(&mut findings, &all());
    assert_eq!(findings[0].found, "the title is {{bank}}");
}

#[test]
fn a_value_that_was_cut_at_the_end_of_a_text_is_taken_out() {
    let secrets = [secret("bank", "correct horse battery")];
    assert_eq!(redacted("it reads correct horse ba…", &secrets), "it reads {{bank}}…");
    assert_eq!(redacted("…rse battery, it read", &secrets), "…{{bank}}, it read");
    assert_eq!(redacted("correct me", &secrets), "correct me", "too little of it to be meant");
}

#[test]
fn a_value_is_known_again_in_pixels_where_signs_are_taken_for_others() {
    let secrets = [secret("bank", "S0l1d-Brnze 815"), secret("pin", "4711"), secret("tiny", "a-b")];
    let redactor = Redactor::of(&secrets).unwrap();
    for read in ["key: SOIid-Bmze 8I5", "sold-Brnze815.", "xS0l1d Brnze 8l5x", "pin 47ll now", "it is a-b"] {
        assert!(redactor.may_read(read), "{read}");
    }
    let said =
        redactor.clean_quoting("clicked text \"key S0IId Brnze 815\" (m3); “47ll”, \"OK\" and \"S0l1d");
    assert_eq!(said, format!("clicked text \"{NOT_TOLD}\" (m3); “{NOT_TOLD}”, \"OK\" and \"S0l1d"));
    let clock = [secret("clock", "clock-4711")];
    for read in ["cIock-4711", "dock 4711", "c lock-47I1"] {
        assert!(Redactor::of(&clock).unwrap().may_read(read), "{read}");
    }
    for other in ["Solid advice on bronze", "471 and 12", "a bee", "", "0815 brnze"] {
        assert!(!redactor.may_read(other), "{other}");
    }
}
