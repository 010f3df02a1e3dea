//! Tests of `talk`.

use std::sync::Mutex;

use super::*;
use crate::apple::app::{SAFARI, named};

/// Answers with what it was given, and keeps what it was asked.
struct Scripted {
    answers: Mutex<Vec<&'static str>>,
    asked: Mutex<Vec<Value>>,
}

impl Osa for Scripted {
    fn run(&self, wish: String, _: Duration) -> Reply<'_, String> {
        self.asked.lock().unwrap().push(serde_json::from_str(&wish).unwrap());
        let answer = self.answers.lock().unwrap().remove(0);
        Box::pin(async move { Ok(answer.to_owned()) })
    }
}

fn talk(answers: &[&'static str]) -> (Talk, Arc<Scripted>) {
    let osa = Arc::new(Scripted { answers: Mutex::new(answers.to_vec()), asked: Mutex::default() });
    (Talk::new(Arc::clone(&osa) as Arc<dyn Osa>, "key".into()), osa)
}

fn spot() -> Spot {
    Spot { app: &SAFARI, window: "7".into(), id: None, place: 1 }
}

#[tokio::test]
async fn a_wish_is_data_alone_and_names_application_window_and_tab() {
    let (talk, osa) = talk(&[r#"{"value":null}"#, r#"{"value":{"value":{"text":"hello"}}}"#]);
    talk.go(&spot(), Way::To("https://example.org/\"'`${x}")).await.unwrap();
    let told: Value = talk.ask(&spot(), "read", json!({ "next": 1 })).await.unwrap();
    assert_eq!(told["text"], "hello");
    let asked = osa.asked.lock().unwrap();
    assert_eq!(
        asked[0],
        json!({
            "action": "go", "way": "to", "url": "https://example.org/\"'`${x}", "window": "7", "id": null,
            "place": 1, "bundle": "com.apple.Safari", "family": "safari",
        })
    );
    assert_eq!(asked[1]["function"], "read");
    assert_eq!(asked[1]["collector"], COLLECTOR);
}

#[tokio::test]
async fn windows_are_read_with_what_safari_does_not_know() {
    let (talk, _) = talk(&[r#"{"value":[{"id":"7","bounds":null,"current":-1,"tabs":[
            {"id":null,"url":"https://a.example/","title":"A"}]}]}"#]);
    let windows = talk.windows(&SAFARI).await.unwrap();
    assert_eq!(windows[0].tabs[0].title, "A");
    assert_eq!((windows[0].bounds, windows[0].current), (None, -1));
}

#[tokio::test]
async fn a_replaced_document_a_closed_one_and_a_broken_answer_are_told_apart() {
    let (talk, _) = talk(&[
        r#"{"value":{"absent":true}}"#,
        r#"{"value":{"mute":true}}"#,
        r#"{"value":{"failed":"TypeError: x\nat y"}}"#,
        "half an ans",
    ]);
    let spot = spot();
    let ask = || talk.ask_again::<Value>(&spot, "after", json!({}), EVENT);
    assert_eq!(ask().await, Ok(None));
    assert!(matches!(ask().await, Err(DesktopError::NotAvailable(_))));
    assert!(matches!(ask().await, Err(DesktopError::Failed(why)) if why.ends_with("TypeError: x")));
    assert!(matches!(ask().await, Err(DesktopError::Failed(why)) if why.contains("cannot be read")));
}

#[tokio::test]
async fn a_refusal_is_explained_for_the_application_that_refused() {
    let (talk, _) = talk(&[r#"{"error":{"number":-1743,"message":"Not authorized"}}"#]);
    let error = talk.windows(named("Vivaldi").unwrap()).await.unwrap_err();
    assert!(matches!(&error, DesktopError::Permission { what, .. } if what.contains("Vivaldi")), "{error}");
}

#[tokio::test]
async fn only_known_browsers_count_as_running() {
    let (talk, osa) = talk(&[r#"{"value":["com.apple.Safari","com.example.Other"]}"#]);
    assert_eq!(talk.running().await, Ok(vec![&SAFARI]));
    assert_eq!(osa.asked.lock().unwrap()[0]["bundles"][0], "com.apple.Safari");
}
