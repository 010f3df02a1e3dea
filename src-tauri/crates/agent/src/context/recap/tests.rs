//! A line says what was called, on what, what came of it and what was in it; nothing goes without a count.

use super::*;

fn exchange(call: ProposedCall, response: Value) -> [Message; 2] {
    let answer = ToolAnswer { id: None, name: call.name.clone(), response, image: None };
    let turn = Turn { calls: vec![call], ..Turn::default() };
    [Message::Assistant(turn), Message::ToolResults(vec![answer])]
}

fn call(name: &str, arguments: Value) -> ProposedCall {
    ProposedCall::new(None, name, arguments)
}

fn lines(messages: &[Message]) -> Vec<String> {
    let mut recap = Recap::default();
    add(&mut recap, messages, Of::ThisRun);
    recap.lines
}

#[test]
fn a_line_has_tool_target_effect_size_and_title() {
    let of = |call, response| lines(&exchange(call, response)).pop().unwrap();
    let listed = of(
        call("elementsJson", json!({ "app": "Editor" })),
        json!({ "effect": "confirmed", "summary": "found 3 elements in Editor",
                "data": { "window": "letter.txt", "elements": "x".repeat(3_000) } }),
    );
    assert_eq!(
        listed,
        r#"elementsJson {"app":"Editor"}: confirmed, found 3 elements in Editor [window letter.txt; 3037 characters of data]"#
    );
    let clicked = of(
        call("click", json!({ "x": 500, "y": 20, "reason": "save it" })),
        json!({ "effect": "unverified", "summary": "clicked at 500,20", "picture": "left out here" }),
    );
    assert_eq!(clicked, r#"click {"x":500,"y":20}: unverified, clicked at 500,20 [a picture]"#);
    let failed = of(
        call("readFile", json!({ "path": "a.txt" })),
        json!({ "effect": "refused", "summary": "readFile not done: there is no a.txt", "error": { "kind": "not_found" } }),
    );
    assert_eq!(failed, r#"readFile {"path":"a.txt"}: refused, readFile not done: there is no a.txt"#);
}

#[test]
fn what_the_model_said_stays_in_a_line_and_what_the_user_said_stays_the_users() {
    let mut recap = Recap { goal: "write the letter".into(), ..Recap::default() };
    let turn = Turn { text: "I look\nfirst.".into(), ..Turn::default() };
    let user = |text: &str| Message::User(vec![Part::Text(text.into())]);
    add(&mut recap, &[Message::Assistant(turn), user("never press Send")], Of::ThisRun);
    assert_eq!(recap.lines, ["you said: “I look first.”"]);
    let told = messages(&recap);
    assert_eq!(told[..2], [user("write the letter"), user("never press Send")]);
    assert!(matches!(&told[2], Message::Assistant(turn) if turn.calls[0].name == NOTES));
    let Message::ToolResults(answers) = &told[3] else { panic!("{told:?}") };
    assert_eq!(answers[0].response["done"], json!(["you said: “I look first.”"]));
    // The next goal makes of the last one what was done before it.
    begin(&mut recap, "post it".into());
    assert_eq!(
        recap.lines[1..],
        ["all before this was for: “write the letter”", "the user had said: “never press Send”"]
    );
    assert_eq!(messages(&recap)[0], user("post it"));
    assert!(recap.earlier && messages(&recap).len() == 3);
}

#[test]
fn a_recap_is_bounded_and_says_how_much_went() {
    let mut recap = Recap::default();
    for n in 0..500 {
        let long = "y".repeat(5_000);
        let exchange = exchange(
            call("type", json!({ "text": long })),
            json!({ "effect": "confirmed", "summary": format!("typed {n} {long}") }),
        );
        add(&mut recap, &exchange, Of::ThisRun);
        let words = Message::User(vec![Part::Text(format!("{n} {long}"))]);
        add(&mut recap, &[words], Of::ThisRun);
        assert!(recap.lines.iter().map(|line| line.chars().count()).sum::<usize>() <= LINES_CHARS);
        assert!(recap.said.len() <= MOST_SAID);
    }
    assert!(
        recap.lines.last().unwrap().contains("the user said")
            || recap.lines.last().unwrap().contains("typed 499")
    );
    // Each exchange has a line, and each word of the user's but those that stay.
    assert_eq!(recap.left_out + recap.lines.len() as u64, 500 + 500 - MOST_SAID as u64);
    let Some(Message::ToolResults(answers)) = messages(&recap).pop() else { panic!("no answer") };
    assert!(answers[0].response["leftOut"].as_str().unwrap().ends_with("older lines"));
}

#[test]
fn notes_say_what_was_read_before_them_and_stand_in_no_line_twice() {
    let mut notes = Notes::default();
    note(&mut notes, &json!({ "add": "total 42" }), &[Source::Page { host: Some("shop.test".into()) }]);
    note(&mut notes, &json!({}), &[Source::Terminal]);
    assert_eq!((notes.text.as_str(), notes.read.len()), ("total 42", 1), "reading them adds nothing");
    let recap = Recap { goal: "go".into(), notes, ..Recap::default() };
    let Some(Message::ToolResults(answers)) = messages(&recap).pop() else { panic!("no answer") };
    assert_eq!(answers[0].response["notes"], "total 42");
    assert_eq!(answers[0].response["notedAfterReading"], json!(["a page of shop.test"]));
    let told =
        exchange(call(NOTES, json!({ "add": "x" })), json!({ "effect": "confirmed", "summary": "noted" }));
    assert_eq!(lines(&told), [""; 0]);
}
