//! What a server wants to know of its user.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use protocol::elicitation::Kind;
use serde_json::json;

use super::*;
use crate::calls::{self, Calls};

/// Answers in this order, and keeps what was asked.
struct User {
    answers: Mutex<VecDeque<&'static str>>,
    asked: Mutex<Vec<Elicitation>>,
}

#[async_trait]
impl Asker for User {
    async fn ask(&self, wanted: Elicitation) -> Option<String> {
        self.asked.lock().unwrap().push(wanted);
        self.answers.lock().unwrap().pop_front().map(str::to_owned)
    }
}

fn of(user: &Arc<User>) -> calls::User {
    calls::User { asker: Some(Arc::clone(user) as Arc<dyn Asker>), ..calls::User::default() }
}

/// It has a key of its server's.
fn heard() -> Heard {
    let heard = Heard::default();
    heard.hide(vec![protocol::command::Secret("canary-of-the-keychain".into())]);
    heard
}

async fn ask(schema: Value, answers: &[&'static str]) -> (Result<ElicitResult, String>, Vec<Elicitation>) {
    let answers = Mutex::new(answers.iter().copied().collect());
    let user = Arc::new(User { answers, asked: Mutex::default() });
    let request = json!({ "mode": "form", "message": "Where\nto?", "requestedSchema": schema });
    let request: ElicitRequestParams = serde_json::from_value(request).unwrap();
    let calls = Calls::default();
    let under_way = calls.begin(of(&user), Duration::MAX);
    let answer = calls.only().unwrap().asking.ask("weather", &request, &heard()).await;
    assert!(!under_way.call.asking.is_asking());
    drop(under_way);
    assert!(calls.only().is_err(), "no call is under way");
    let asked = user.asked.lock().unwrap().clone();
    (answer, asked)
}

#[tokio::test]
async fn each_field_is_asked_for_in_words_and_told_in_its_kind() {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": { "type": "string", "title": "City", "description": "Where you are", "minLength": 2 },
            "days": { "type": "integer", "minimum": 1, "maximum": 7 },
            "unit": { "type": "string", "oneOf": [{ "const": "c", "title": "Celsius" }, { "const": "f", "title": "Fahrenheit" }] },
            "wind": { "type": "boolean", "default": true },
            "note": { "type": "string" },
        },
        "required": ["city", "days", "unit"],
    });
    let (answer, asked) = ask(schema, &["x", "Rome", "8", "3", "celsius", ".", "."]).await;
    let answer = answer.unwrap();
    assert_eq!(answer.action, ElicitationAction::Accept);
    assert_eq!(answer.content, Some(json!({ "city": "Rome", "days": 3, "unit": "c", "wind": true })));
    let kinds = [&asked[4], &asked[5]].map(|wanted| (wanted.kind.clone(), wanted.usual.clone()));
    let units = ["Celsius", "Fahrenheit"].map(str::to_owned).to_vec();
    assert_eq!(kinds, [(Kind::OneOf { of: units }, None), (Kind::YesOrNo, Some("yes".to_owned()))]);
    assert_eq!((asked[0].server.as_str(), asked[0].message.as_str()), ("weather", "Where to?"));
    let asked: Vec<String> = asked.iter().map(Elicitation::to_string).collect();
    assert_eq!(asked[0], "the server weather asks: “Where to?” “City: Where you are”");
    assert!(
        asked[1].starts_with("That is too short: 2 characters at least. the server weather asks"),
        "{}",
        asked[1]
    );
    assert!(asked[2].ends_with("“days” (a whole number from 1 to 7)"), "{}", asked[2]);
    assert!(asked[4].ends_with("“unit” (one of: Celsius, Fahrenheit)"), "{}", asked[4]);
    assert!(asked[5].ends_with("“wind” (yes or no; . for yes)"), "{}", asked[5]);
    assert!(asked[6].ends_with("“note” (. to leave it out)"), "{}", asked[6]);
}

#[tokio::test]
async fn a_no_declines_all_and_so_do_three_answers_that_make_no_sense() {
    let schema = json!({ "type": "object", "properties": {
        "a": { "type": "string" }, "b": { "type": "integer" } }, "required": ["a", "b"] });
    for answers in [&["x"] as &[&str], &["x", "one", "two", "three", "4"]] {
        let (answer, _) = ask(schema.clone(), answers).await;
        let answer = answer.unwrap();
        assert_eq!((answer.action, answer.content), (ElicitationAction::Decline, None));
    }
}

#[tokio::test]
async fn nobody_is_asked_for_a_password_for_a_page_or_for_too_much() {
    for (name, field) in [
        ("password", json!({ "type": "string" })),
        ("p", json!({ "type": "string", "title": "Your API-Key" })),
        ("p", json!({ "type": "string", "description": "the access token of your account" })),
        ("p", json!({ "type": "string", "title": "pass\u{200b}word" })),
        ("p", json!({ "type": "string", "title": "ｐａｓｓ．ｗｏｒｄ" })),
        ("p", json!({ "type": "string", "title": "PIN" })),
        ("p", json!({ "type": "string", "title": "パスワード" })),
        ("p", json!({ "type": "string", "default": "canary-of-the-keychain" })),
    ] {
        let (answer, asked) = ask(json!({ "type": "object", "properties": { name: field } }), &["x"]).await;
        let why = answer.unwrap_err();
        assert!(why.contains("what Miki asks nobody for") || why.contains("one of its keys"), "{why}");
        assert!(asked.is_empty());
    }
    let many: Map<_, _> = (0..=FIELDS).map(|n| (format!("f{n}"), json!({ "type": "string" }))).collect();
    let (answer, asked) = ask(json!({ "type": "object", "properties": many }), &["x"]).await;
    assert!(answer.unwrap_err().contains("at once") && asked.is_empty());
}

#[tokio::test]
async fn of_two_calls_nobody_can_tell_who_is_asked() {
    let calls = Calls::default();
    let (_one, _two) =
        (calls.begin(Default::default(), Duration::MAX), calls.begin(Default::default(), Duration::MAX));
    assert!(calls.only().is_err_and(|why| why.contains("several calls")));
}

#[tokio::test]
async fn a_server_asks_no_more_after_a_no_and_only_so_often_within_a_call() {
    let request =
        json!({ "mode": "form", "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
    let request: ElicitRequestParams = serde_json::from_value(request).unwrap();
    for (answers, asked) in [(vec!["no"], 1), (vec!["yes"; 9], QUESTIONS)] {
        let user = Arc::new(User { answers: Mutex::new(answers.into()), asked: Mutex::default() });
        let calls = Calls::default();
        let under_way = calls.begin(of(&user), Duration::MAX);
        for _ in 0..8 {
            let _ = under_way.call.asking.ask("pond", &request, &heard()).await;
        }
        assert_eq!(user.asked.lock().unwrap().len(), asked);
    }
}
