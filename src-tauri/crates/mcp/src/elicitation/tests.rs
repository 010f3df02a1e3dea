//! What a server wants to know of its user.

use std::collections::VecDeque;

use async_trait::async_trait;
use serde_json::json;

use super::*;

/// Answers in this order, and keeps what was asked.
struct User {
    answers: Mutex<VecDeque<&'static str>>,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl Asker for User {
    async fn ask(&self, question: String) -> Option<String> {
        self.asked.lock().unwrap().push(question);
        self.answers.lock().unwrap().pop_front().map(str::to_owned)
    }
}

async fn ask(schema: Value, answers: &[&'static str]) -> (Result<ElicitResult, String>, Vec<String>) {
    let answers = Mutex::new(answers.iter().copied().collect());
    let user = Arc::new(User { answers, asked: Mutex::default() });
    let request = json!({ "mode": "form", "message": "Where\nto?", "requestedSchema": schema });
    let request: ElicitRequestParams = serde_json::from_value(request).unwrap();
    let askers = Askers::default();
    let call = askers.begin(Some(Arc::clone(&user) as Arc<dyn Asker>));
    let answer = askers.ask_of_the_one("weather", &request).await;
    assert!(!askers.is_asking());
    drop(call);
    assert!(askers.ask_of_the_one("weather", &request).await.is_err(), "no call is under way");
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
    let (answer, asked) = ask(schema, &["x", "Rome", "8", "3", "celsius", "-", "-"]).await;
    let answer = answer.unwrap();
    assert_eq!(answer.action, ElicitationAction::Accept);
    assert_eq!(answer.content, Some(json!({ "city": "Rome", "days": 3, "unit": "c", "wind": true })));
    assert_eq!(asked[0], "weather asks: Where to?\n\nCity: Where you are");
    assert!(
        asked[1].starts_with("That is too short: 2 characters at least.\n\nweather asks"),
        "{}",
        asked[1]
    );
    assert!(asked[2].ends_with("days (a whole number from 1 to 7)"), "{}", asked[2]);
    assert!(asked[4].ends_with("unit (one of: Celsius, Fahrenheit)"), "{}", asked[4]);
    assert!(asked[5].ends_with("wind (yes or no; - for yes)"), "{}", asked[5]);
    assert!(asked[6].ends_with("note (- to leave it out)"), "{}", asked[6]);
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
    ] {
        let (answer, asked) = ask(json!({ "type": "object", "properties": { name: field } }), &["x"]).await;
        assert!(answer.unwrap_err().contains("which Miki asks nobody for"));
        assert!(asked.is_empty());
    }
    let many: Map<_, _> = (0..11).map(|n| (format!("f{n}"), json!({ "type": "string" }))).collect();
    let (answer, asked) = ask(json!({ "type": "object", "properties": many }), &["x"]).await;
    assert!(answer.unwrap_err().contains("at once") && asked.is_empty());
}

#[tokio::test]
async fn of_two_calls_nobody_can_tell_who_is_asked() {
    let user = || {
        let (answers, asked) = (Mutex::default(), Mutex::default());
        Some(Arc::new(User { answers, asked }) as Arc<dyn Asker>)
    };
    let askers = Askers::default();
    let (_one, _two) = (askers.begin(user()), askers.begin(user()));
    let request =
        json!({ "mode": "form", "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
    let request: ElicitRequestParams = serde_json::from_value(request).unwrap();
    assert!(askers.ask_of_the_one("weather", &request).await.unwrap_err().contains("several calls"));
}
