//! What is asked, as a row of the list, and what an answer on the command line means.

use protocol::event::Status;
use protocol::ids::{RunId, Seq, SessionId};
use protocol::settings::Settings;
use protocol::view::{DesktopView, Platform, RunStatus};

use super::*;

#[test]
fn a_reason_goes_with_no_and_arguments_go_with_yes() {
    let changed = arguments(r#"{"text":"less"}"#).unwrap();
    assert!(arguments("[1]").is_err() && arguments("{").is_err());
    let edited = answer_of(Word::Yes, false, Some(changed.clone())).unwrap();
    assert_eq!(edited, Answer::Edit { arguments: json!({ "text": "less" }) });
    assert_eq!(answer_of(Word::No, true, None).unwrap(), Answer::Deny);
    assert_eq!(answer_of(Word::Run, false, None).unwrap(), Answer::Until { until: Until::Run });
    assert_eq!(answer_of(Word::Session, false, None).unwrap(), Answer::Thread);
    for (word, has_why, changes) in [
        (Word::Yes, true, false),
        (Word::Run, true, false),
        (Word::No, false, true),
        (Word::Session, false, true),
    ] {
        answer_of(word, has_why, changes.then(|| changed.clone())).unwrap_err();
    }
}

#[test]
fn a_question_is_listed_with_what_it_asks_how_grave_that_is_for_what_and_until_when() {
    let (session, run) = (SessionId("s-1".into()), RunId("r-1".into()));
    let approval = json!({
        "id": "q-1", "call": { "id": "c-1", "tool": "press", "arguments": { "key": "a" } }, "risk": "consequential",
        "reason": "it asks", "digest": "d", "deadline": 600_000, "goesTo": ["Editor"],
    });
    let approval: Approval = serde_json::from_value(approval).unwrap();
    let question = Question { session: session.clone(), run: run.clone(), approval };
    let goal = "press\u{1b}[2J it".to_owned();
    let mut overview = Overview {
        seq: Seq(0),
        settings: Settings::default(),
        sessions: Vec::new(),
        questions: Vec::new(),
        runs: vec![RunStatus { session, run, goal, status: Status::default(), parent: None }],
        desktop: DesktopView::default(),
        version: String::new(),
        platform: Platform::Linux,
    };
    let said = "q-1  8 min left\n  press a → Editor (cannot be undone)\n  for: press\\u{001B}[2J it";
    assert_eq!(row(&question, Some(&overview), Timestamp(61_000)), said);
    let root = RunStatus { run: RunId("r-0".into()), goal: "see to it".into(), ..overview.runs[0].clone() };
    overview.runs[0].parent = Some(root.run.clone());
    overview.runs.push(root);
    let of_an_agent = format!("{said} (of “see to it”)");
    assert_eq!(row(&question, Some(&overview), Timestamp(61_000)), of_an_agent);
    assert_eq!(left(Timestamp(5), Timestamp(9)), "less than a minute left");
    assert_eq!(left(Timestamp(5 * 3_600_000), Timestamp(0)), "5 hours left");
}

#[test]
fn a_models_own_question_is_told_as_its_own_whoever_it_says_that_it_asks_for() {
    let approval: Approval = serde_json::from_value(json!({
        "id": "q-1", "call": { "id": "c-1", "tool": ASK_HUMAN, "arguments": { "question": "the server bank asks: your name?" } },
        "risk": "consequential", "reason": "the server bank asks: your name?", "digest": "d", "deadline": 600_000,
    }))
    .unwrap();
    let whole = shown_whole(&approval);
    let question = Question { session: SessionId("s-1".into()), run: RunId("r-1".into()), approval };
    let asks = "the agent asks: “the server bank asks: your name?”";
    assert_eq!(row(&question, None, Timestamp(61_000)), format!("q-1  8 min left\n  {asks}\n  for: r-1"));
    assert_eq!(whole.trim(), format!("? {asks}"));
}

#[test]
fn whether_an_approver_key_was_made_is_said_with_what_that_means() {
    assert!(of_approver(&Ok(true)).contains("miki approvals answer ID yes"));
    assert!(of_approver(&Ok(false)).contains("miki approvals key new"));
    let locked = ErrorView::new(ErrorCode::Keychain, "the keychain is locked");
    assert_eq!(of_approver(&Err(locked)), "approver key: not known; the keychain is locked");
}

#[test]
fn a_question_in_words_is_answered_in_words_and_no_other_one_is() {
    let asked = |tool: &str| -> Approval {
        let approval = json!({
            "id": "q-1", "call": { "id": "c-1", "tool": tool, "arguments": { "question": "which?" } },
            "risk": "consequential", "reason": "which?", "digest": "d", "deadline": 1,
        });
        serde_json::from_value(approval).unwrap()
    };
    let answer = in_words(Answer::Once, Some(" the old one ".into()), &asked(ASK_HUMAN)).unwrap();
    let arguments = json!({ "question": "which?", "answer": "the old one" });
    assert_eq!(answer, Answer::Edit { arguments });
    let yes = in_words(Answer::Once, None, &asked(ASK_HUMAN)).unwrap_err();
    assert!(yes.hint.unwrap().ends_with("answer q-1 yes --text WORDS"));
    assert_eq!(in_words(Answer::Deny, None, &asked(ASK_HUMAN)).unwrap(), Answer::Deny);
    assert_eq!(in_words(Answer::Once, None, &asked("press")).unwrap(), Answer::Once);
    assert!(in_words(Answer::Once, Some("x".into()), &asked("press")).is_err());
    assert!(in_words(Answer::Deny, Some("x".into()), &asked(ASK_HUMAN)).is_err());
}
