//! Bodies as Gemini takes them.

use std::sync::Arc;

use super::*;
use crate::{Message, Options, Turn};

fn ask(request: &Request, thinking: bool) -> Value {
    let options = Options { thinking, ..Options::default() };
    let target = Target { provider: "gemini", model: "m", options: &options };
    serde_json::from_str(&body(request, target)).unwrap()
}

/// The one content that a message becomes.
fn told(message: Message) -> String {
    let request = Request { messages: vec![message], ..Request::default() };
    let all = entries(&request, "gemini");
    content(&all[0], of("m", &Options::default()))
}

fn of<'a>(model: &'a str, options: &'a Options) -> Target<'a> {
    Target { provider: "gemini", model, options }
}

fn fixture() -> Value {
    serde_json::from_str(include_str!(
        "../../../../../../tests/fixtures/gemini/request_tools_image_result.json"
    ))
    .unwrap()
}

fn decoded(text: &str) -> Arc<[u8]> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).unwrap().into()
}

fn turn(provider: &str, raw: Value) -> Turn {
    let call = ProposedCall::new(Some("a1".into()), "click", json!({"y": 2, "x": 1}));
    Turn { text: "ok".into(), calls: vec![call.clone(), call], provider: provider.into(), raw }
}

#[test]
fn a_request_with_tools_and_a_picture_has_the_documented_shape() {
    let mut expected = fixture();
    let declared = &expected["tools"][0]["functionDeclarations"];
    let tools = declared.as_array().unwrap().iter().map(|tool| ToolSpec {
        name: tool["name"].as_str().unwrap().into(),
        description: tool["description"].as_str().unwrap().into(),
        schema: tool["parametersJsonSchema"].clone(),
    });
    let png =
        expected["contents"][2]["parts"][0]["functionResponse"]["parts"][0]["inlineData"]["data"].clone();
    let image = Image {
        media_type: "image/png".into(),
        bytes: decoded(png.as_str().unwrap()),
        detail: crate::Detail::Whole,
    };
    let request = Request {
        system: "You operate a desktop.".into(),
        tools: tools.collect(),
        messages: vec![
            Message::User(vec![Part::Text("Open settings.".into())]),
            Message::Assistant(Turn {
                text: String::new(),
                calls: Vec::new(),
                provider: "gemini".into(),
                raw: expected["contents"][1].clone(),
            }),
            Message::ToolResults(vec![ToolAnswer {
                id: Some("a1b2c3d4".into()),
                name: "screenshot".into(),
                response: json!({"size": "1280x800"}),
                image: Some(image),
            }]),
        ],
        later: vec![],
        display: None,
        max_output: None,
    };
    // Ours: the provider's default length and thinking level, and the answer's own keys without `output`.
    expected["generationConfig"] = json!({"thinkingConfig": {"includeThoughts": true}});
    let output = json!({"size": "1280x800", "image": {"$ref": "screen.png"}});
    expected["contents"][2]["parts"][0]["functionResponse"]["response"] = output;
    assert_eq!(ask(&request, true), expected);
}

#[test]
fn a_field_of_an_answer_stands_in_it_once() {
    let answer = ToolAnswer {
        response: json!({ "safety_acknowledgement": "no", "image": "i", "summary": "s", ACKNOWLEDGED: [] }),
        image: Some(Image {
            media_type: "image/png".into(),
            bytes: vec![1].into(),
            detail: crate::Detail::Whole,
        }),
        id: None,
        name: "click".into(),
    };
    let told = super::answer(&answer, of("m", &Options::default()));
    let response = r#"{"summary":"s","safety_acknowledgement":"true","image":{"$ref":"screen.png"}}"#;
    assert!(told.contains(&format!(r#""response":{response}"#)), "{told}");
}

#[test]
fn a_turn_of_geminis_own_goes_back_byte_for_byte() {
    let raw = r#"{"parts":[{"text":"z","thought":true},{"functionCall":{"name":"b","args":{"y":1.50,"x":2E1}},"thoughtSignature":"Sg=="},{"new":{}}],"role":"model"}"#;
    let turn = turn("gemini", raw.into());
    assert_eq!(told(Message::Assistant(turn)), raw);
}

#[test]
fn a_turn_that_was_kept_before_turns_were_text_goes_back_as_well() {
    let raw = r#"{"parts":[{"text":"z"}],"role":"model"}"#;
    let turn = turn("gemini", serde_json::from_str(raw).unwrap());
    assert_eq!(told(Message::Assistant(turn)), raw);
}

#[test]
fn a_turn_of_another_provider_is_told_in_neutral_form_with_its_first_call_signed() {
    let content = told(Message::Assistant(turn("anthropic", json!({"parts": [{"x": 1}]}))));
    let call = json!({"id": "a1", "name": "click", "args": {"y": 2, "x": 1}});
    let expected = json!({"role": "model", "parts": [
        {"text": "ok"},
        {"functionCall": call, "thoughtSignature": "skip_thought_signature_validator"},
        {"functionCall": call},
    ]});
    assert_eq!(content, expected.to_string());
}

#[test]
fn an_empty_turn_is_left_out_and_an_empty_request_has_no_empty_fields() {
    let request = Request { messages: vec![Message::Assistant(Turn::default())], ..Request::default() };
    assert_eq!(ask(&request, false), json!({"contents": []}));
}

#[test]
fn a_picture_of_the_users_goes_beside_the_text() {
    let image =
        Image { media_type: "image/jpeg".into(), bytes: vec![1, 2, 3].into(), detail: crate::Detail::Whole };
    let message = Message::User(vec![Part::Text("look".into()), Part::Image(image)]);
    let inline = json!({"inlineData": {"mimeType": "image/jpeg", "data": "AQID"}});
    let expected = json!({"role": "user", "parts": [{"text": "look"}, inline]});
    assert_eq!(told(message), expected.to_string());
}

#[test]
fn a_part_of_the_screen_is_read_at_less_by_models_that_know_that_of_one_picture_unless_the_user_chose() {
    let answer = |detail| ToolAnswer {
        id: None,
        name: "click".into(),
        response: json!({}),
        image: Some(Image { media_type: "image/jpeg".into(), bytes: vec![1].into(), detail }),
    };
    let level = |model: &str, options: &Options, detail| -> Value {
        let told: Value = serde_json::from_str(&super::answer(&answer(detail), of(model, options))).unwrap();
        told["functionResponse"]["parts"][0]["mediaResolution"]["level"].clone()
    };
    let (usual, chosen) =
        (Options::default(), Options { media_resolution: Some(MediaResolution::High), ..Options::default() });
    let new = "gemini-3-flash-preview";
    assert_eq!(level(new, &usual, crate::Detail::Quarter), "MEDIA_RESOLUTION_LOW");
    assert_eq!(level(new, &usual, crate::Detail::Half), "MEDIA_RESOLUTION_MEDIUM");
    assert_eq!(level(new, &usual, crate::Detail::Whole), Value::Null);
    assert_eq!(level(new, &chosen, crate::Detail::Quarter), Value::Null);
    assert_eq!(level("gemini-2.5-flash", &usual, crate::Detail::Quarter), Value::Null);
}
