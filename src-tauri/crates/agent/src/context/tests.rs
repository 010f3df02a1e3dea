//! The conversation stays within its bounds, and says nothing of pictures that is not true.

use super::*;

const BOUNDS: Bounds =
    Bounds { messages: 24, text_chars: 1_000, data_chars: 50, pictures: MOST_PICTURES, picture_bytes: 1_000 };

fn exchange(context: &mut Context, n: usize) {
    context.push_turn(Turn { text: format!("turn {n}"), ..Turn::default() });
    look(context, n as u64);
}

/// An answer with a picture of the screen as it is at `hash`.
fn look(context: &mut Context, hash: u64) {
    let response = json!({ "data": "x".repeat(100) });
    let answer = ToolAnswer { id: None, name: "click".into(), response, image: None };
    let sight = Some(Sight { jpeg: vec![1].into(), hash });
    context.push_results(vec![Answered { answer, sight, must_show: false, goes_on: false }]);
}

/// Of each result in the request: whether it has a picture, and what it says of one.
fn pictures(context: &mut Context) -> Vec<(bool, Option<String>)> {
    let of = |answer: &ToolAnswer| {
        let words = answer.response.get("picture").and_then(Value::as_str).map(str::to_owned);
        (answer.image.is_some(), words)
    };
    context.request();
    context.answers().map(|answer| of(answer)).collect()
}

fn as_before() -> (bool, Option<String>) {
    (false, Some(AS_BEFORE.into()))
}

#[test]
fn an_unchanged_screen_is_said_and_not_sent_again() {
    let mut context = context();
    for hash in [7, 7, 8, 8, 7] {
        context.push_turn(Turn::default());
        look(&mut context, hash);
    }
    let sent = (true, None);
    assert_eq!(pictures(&mut context), [sent.clone(), as_before(), sent.clone(), as_before(), sent]);
}

#[test]
fn whatever_was_trimmed_a_model_that_is_told_of_the_last_picture_has_it() {
    for changes in [1, 2, 3, 5, 9, 100] {
        let mut context = context();
        for n in 0..80_u64 {
            context.push_turn(Turn::default());
            look(&mut context, n / changes);
            let pictures = pictures(&mut context);
            let (image, words) = pictures.last().unwrap();
            assert!(*image || words.as_deref() == Some(AS_BEFORE), "{changes}: {pictures:?}");
            let mut has_picture = false;
            for (image, words) in &pictures {
                has_picture |= image;
                assert!(has_picture || words.as_deref() != Some(AS_BEFORE), "{changes}: {pictures:?}");
            }
        }
    }
}

#[test]
fn a_picture_that_no_answer_speaks_of_any_more_is_sent_again() {
    let mut context = context();
    context.push_turn(Turn::default());
    look(&mut context, 7);
    for _ in 0..40 {
        context.push_turn(Turn::default());
        context.push_user("go on".into());
    }
    context.request();
    context.push_turn(Turn::default());
    look(&mut context, 7);
    assert_eq!(pictures(&mut context), [(true, None)]);
}

fn context() -> Context {
    Context::new("system".into(), vec![], vec![], "goal", BOUNDS)
}

#[test]
fn a_conversation_is_not_copied_for_a_turn_but_for_one_that_is_still_under_way() {
    let mut context = context();
    let first = Arc::as_ptr(&context.request());
    exchange(&mut context, 1);
    assert_eq!(Arc::as_ptr(&context.request()), first);
    let asked = context.request();
    let said = asked.messages.len();
    exchange(&mut context, 2);
    assert_eq!((asked.messages.len(), context.messages().len()), (said, said + 2));
}

#[test]
fn a_request_is_the_last_one_with_more_at_its_end_except_where_a_bound_was_passed() {
    let mut context = context();
    let (mut before, mut compactions) = (context.request().messages.clone(), 0);
    for n in 0..60 {
        exchange(&mut context, n);
        let is_over = context.messages().len() > BOUNDS.messages || context.pictures() > BOUNDS.pictures;
        let now = context.request().messages.clone();
        assert_eq!(now.starts_with(&before), !is_over, "at step {n}");
        compactions += usize::from(is_over);
        before = now;
    }
    // A compaction leaves half of the messages and two pictures of ten: six steps until the next at least.
    assert!((1..=10).contains(&compactions), "{compactions} compactions in 60 steps");
}

#[test]
fn it_stays_within_its_bounds_and_never_loses_the_goal_or_a_results_call() {
    let mut context = context();
    for n in 0..100 {
        exchange(&mut context, n);
        let request = context.request();
        assert!(request.messages.len() <= BOUNDS.messages);
        assert_eq!(request.messages[0], Message::User(vec![Part::Text("goal".into())]));
        for pair in request.messages.windows(2) {
            if matches!(pair[1], Message::ToolResults(_)) {
                assert!(matches!(pair[0], Message::Assistant(_)));
            }
        }
        assert!(context.pictures() <= MOST_PICTURES);
    }
}

#[test]
fn an_old_result_says_that_it_was_cut_and_the_newest_stays_whole() {
    let mut context = context();
    for n in 0..=MOST_PICTURES {
        exchange(&mut context, n);
    }
    let request = context.request();
    let Message::ToolResults(oldest) = &request.messages[2] else { panic!("no result") };
    assert!(oldest[0].image.is_none());
    assert!(oldest[0].response["data"].as_str().unwrap().ends_with("[cut: 50 of 102 characters]"));
    let Some(Message::ToolResults(newest)) = request.messages.last() else { panic!("no result") };
    assert!(newest[0].image.is_some());
}

#[test]
fn a_goal_in_a_long_session_survives_the_first_compaction() {
    let mut earlier = context();
    for n in 0..40 {
        earlier.push_turn(Turn { text: format!("{n}"), ..Turn::default() });
        earlier.push_results(vec![]);
    }
    let mut next = Context::new("system".into(), vec![], earlier.messages().to_vec(), "second goal", BOUNDS);
    assert_eq!(next.request().messages, [Message::User(vec![Part::Text("second goal".into())])]);
}

#[test]
fn where_a_vendor_wants_a_picture_and_nothing_was_done_the_last_one_is_sent_again() {
    let mut context = context();
    let answer = || ToolAnswer { id: None, name: "click".into(), response: json!({}), image: None };
    let refused = |must_show| Answered { answer: answer(), sight: None, must_show, goes_on: false };
    context.push_turn(Turn::default());
    context.push_results(vec![refused(true)]);
    context.push_turn(Turn::default());
    look(&mut context, 1);
    context.push_turn(Turn::default());
    context.push_results(vec![refused(true), refused(false)]);
    let none = (false, None);
    let sent = (true, None);
    assert_eq!(pictures(&mut context), [none.clone(), sent.clone(), sent, none]);
}

#[test]
fn a_picture_with_more_bytes_than_the_model_takes_is_not_sent() {
    let mut context = context();
    context.push_turn(Turn::default());
    let answer = ToolAnswer { id: None, name: "click".into(), response: json!({}), image: None };
    let sight = Some(Sight { jpeg: vec![1; 1_001].into(), hash: 1 });
    context.push_results(vec![Answered { answer, sight, must_show: false, goes_on: false }]);
    assert_eq!(pictures(&mut context), [(false, Some(TOO_LARGE.into()))]);
    // The next one is not taken for the same.
    look(&mut context, 1);
    assert_eq!(pictures(&mut context).last(), Some(&(true, None)));
}

#[test]
fn a_model_that_takes_few_pictures_is_sent_no_more() {
    let bounds = Bounds { pictures: 3, ..BOUNDS };
    let mut context = Context::new("system".into(), vec![], vec![], "goal", bounds);
    for n in 0..40 {
        exchange(&mut context, n);
        context.request();
        assert!(context.pictures() <= 3);
    }
}

#[test]
fn a_paused_turn_and_what_goes_on_from_it_are_never_parted() {
    let mut context = context();
    for n in 0..60 {
        context.push_turn(Turn { text: format!("paused {n}"), ..Turn::default() });
        exchange(&mut context, n);
        let messages = context.request().messages.clone();
        let turns: Vec<&str> = messages
            .iter()
            .filter_map(|message| match message {
                Message::Assistant(turn) => Some(turn.text.as_str()),
                Message::User(_) | Message::ToolResults(_) => None,
            })
            .collect();
        assert_eq!(turns.len() % 2, 0, "{turns:?}");
        assert!(turns[0].starts_with("paused"), "{turns:?}");
    }
}

#[test]
fn a_word_of_the_users_ends_a_paused_turn_and_no_other() {
    let raw = |context: &mut Context| match &context.request().messages[1] {
        Message::Assistant(turn) => turn.raw.clone(),
        other => panic!("{other:?}"),
    };
    let turn = || Turn { text: "looking".into(), raw: json!("[]"), ..Turn::default() };
    let mut context = self::context();
    context.push_paused(turn());
    assert_eq!(raw(&mut context), json!("[]"));
    context.push_user("stay on the first page".into());
    assert_eq!(raw(&mut context), Value::Null);
    let mut context = self::context();
    context.push_turn(turn());
    context.push_user("go on".into());
    assert_eq!(raw(&mut context), json!("[]"));
}

#[test]
fn the_newest_picture_of_a_calls_parts_is_shown_with_the_last_of_them() {
    let mut context = context();
    let sight = |hash| Some(Sight { jpeg: vec![1].into(), hash });
    let answer = || ToolAnswer { id: None, name: "click".into(), response: json!({}), image: None };
    let part = |sight, goes_on| Answered { answer: answer(), sight, must_show: false, goes_on };
    context.push_turn(Turn::default());
    context.push_results(vec![part(sight(1), true), part(sight(2), true), part(None, false)]);
    context.push_turn(Turn::default());
    context.push_results(vec![part(sight(1), true), part(sight(2), false), part(None, false)]);
    let (none, sent) = ((false, None), (true, None));
    assert_eq!(pictures(&mut context), [none.clone(), none.clone(), sent, none.clone(), as_before(), none]);
}
