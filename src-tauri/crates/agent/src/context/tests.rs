//! The conversation stays within its bounds, and says nothing of pictures that is not true.

use protocol::ids::{CallId, ModelId};
use protocol::tool::Millis;
use tools::NOTES;

use super::*;
use crate::context::bounds::MOST_PICTURES;

fn bounds() -> Bounds {
    Bounds {
        messages: 24,
        text_chars: 1_000,
        data_chars: 50,
        pictures: MOST_PICTURES,
        picture_bytes: 1_000,
        tokens: 1_000_000,
        left: None,
        family: models::pictures::family(&ModelId("anthropic/claude-opus-5-5".into())),
        // What is read again costs nothing: other bounds are looked at.
        reread: 0.0,
    }
}

fn context() -> Context {
    within(bounds())
}

fn within(bounds: Bounds) -> Context {
    Context::new("system".into(), vec![], vec![], "goal", bounds)
}

fn user(text: &str) -> Message {
    Message::User(vec![Part::Text(text.into())])
}

fn seen(hash: u64) -> Option<Sight> {
    Some(Sight { jpeg: vec![1].into(), hash, look: None, dot: None })
}

fn exchange(context: &mut Context, n: usize) {
    context.push_turn(Turn { text: format!("turn {n}"), ..Turn::default() });
    look(context, n as u64);
}

/// An answer with a picture of the screen as it is at `hash`.
fn look(context: &mut Context, hash: u64) {
    let response = json!({ "data": "x".repeat(100) });
    let answer = ToolAnswer { id: None, name: "click".into(), response, image: None };
    context.push_results(vec![Answered { answer, sight: seen(hash), must_show: false, goes_on: false }]);
}

/// What came of a call that tells of itself alone.
fn result(effect: Effect) -> ExecResult {
    ExecResult {
        effect,
        summary: String::new(),
        data: Value::Null,
        error: None,
        picture: None,
        read: vec![],
        changes: vec![],
        output: vec![],
        took: Millis(1),
    }
}

/// The answers after what stands for the messages before.
fn answers(context: &Context) -> impl Iterator<Item = &ToolAnswer> {
    context.messages()[context.head..].iter().flat_map(|message| match message {
        Message::ToolResults(answers) => answers.as_slice(),
        Message::User(_) | Message::Assistant(_) => &[],
    })
}

/// Of each result in the request: whether it has a picture, and what it says of one.
fn pictures(context: &mut Context) -> Vec<(bool, Option<String>)> {
    let of = |answer: &ToolAnswer| {
        let words = answer.response.get("picture").and_then(Value::as_str).map(str::to_owned);
        (answer.image.is_some(), words)
    };
    context.request();
    answers(context).map(of).collect()
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
fn whatever_was_left_out_a_model_that_is_told_of_the_last_picture_has_it() {
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
        let bounds = bounds();
        let is_over =
            context.messages().len() - context.head > bounds.messages || context.pictures() > bounds.pictures;
        let now = context.request().messages.clone();
        assert_eq!(now.starts_with(&before), !is_over, "at step {n}");
        assert_eq!(context.take_compacted().is_some(), is_over);
        compactions += usize::from(is_over);
        before = now;
    }
    // A compaction leaves a sixth of the messages and one picture of ten: nine steps until the next.
    assert!((1..=7).contains(&compactions), "{compactions} compactions in 60 steps");
}

#[test]
fn it_stays_within_its_bounds_and_never_loses_the_goal_or_a_results_call() {
    let mut context = context();
    for n in 0..100 {
        exchange(&mut context, n);
        let request = context.request();
        assert!(request.messages.len() - context.head <= bounds().messages);
        assert_eq!(request.messages[0], user("goal"));
        for pair in request.messages.windows(2) {
            if matches!(pair[1], Message::ToolResults(_)) {
                assert!(matches!(pair[0], Message::Assistant(_)));
            }
        }
        assert!(context.pictures() <= MOST_PICTURES);
    }
}

#[test]
fn what_is_left_out_has_a_line_each_and_the_newest_stay_whole() {
    let mut context = context();
    for n in 0..=MOST_PICTURES {
        exchange(&mut context, n);
    }
    let request = context.request();
    let Message::ToolResults(recap) = &request.messages[2] else { panic!("no recap") };
    let lines: Vec<&str> =
        recap[0].response["done"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    // Two of eleven exchanges stay.
    assert_eq!(lines.len(), 2 * 9);
    assert_eq!(lines[..2], ["you said: “turn 0”", "click: ,  [102 characters of data; a picture]"]);
    let Message::ToolResults(oldest) = &request.messages[4] else { panic!("no result") };
    assert!(oldest[0].image.is_none());
    let Some(Message::ToolResults(newest)) = request.messages.last() else { panic!("no result") };
    assert!(newest[0].image.is_some());
    assert_eq!(newest[0].response["data"].as_str().unwrap().len(), 100);
}

#[test]
fn a_model_that_continues_has_its_goal_its_users_words_and_what_it_wrote_down_alone() {
    let mut context = context();
    (0..3).for_each(|n| exchange(&mut context, n));
    context.push_user("blue ones, please".into());
    exchange(&mut context, 5);
    // What was said long ago has become a line, and stays.
    for n in 0..9 {
        context.push_user(format!("word {n}"));
    }
    let arguments = json!({ "state": "found 3 of 5 carps" });
    let call = ToolCall { id: CallId("c9".into()), tool: CONTINUE.into(), arguments: arguments.clone() };
    let calls = vec![models::ProposedCall::new(None, CONTINUE, arguments)];
    context.push_turn(Turn { calls, ..Turn::default() });
    let told = ToolAnswer { id: None, name: CONTINUE.into(), response: json!({}), image: None };
    context.push_results(vec![told.into()]);
    context.note_call(&call, &result(Effect::Refused), &[]);
    let before = context.request().messages.len();
    assert!(context.take_compacted().is_none(), "it was refused");
    context.note_call(&call, &result(Effect::Confirmed), &[Source::Terminal]);
    let request = context.request();
    assert!(request.messages.len() < before);
    let all = format!("{:?}", request.messages);
    for kept in ["goal", "blue ones, please", "word 8", "found 3 of 5 carps", "the terminal"] {
        assert!(all.contains(kept), "{kept}: {all}");
    }
    assert!(!all.contains("turn 2") && !all.contains("click"), "{all}");
    // What is journaled of it is what the model has, also after a restart.
    let recap = context.take_compacted().unwrap();
    assert_eq!((recap.notes.text.as_str(), recap.turns, recap.lines.len()), ("found 3 of 5 carps", 1, 2));
    exchange(&mut context, 6);
    assert!(context.request().messages.len() > request.messages.len(), "once");
}

#[test]
fn a_goal_in_a_long_session_survives_the_first_compaction_and_what_was_before_is_told() {
    let mut earlier = context();
    for n in 0..40 {
        earlier.push_turn(Turn { text: format!("{n}"), ..Turn::default() });
        earlier.push_results(vec![]);
    }
    let mut next =
        Context::new("system".into(), vec![], earlier.messages().to_vec(), "second goal", bounds());
    let request = next.request();
    assert_eq!(request.messages[0], user("second goal"));
    let Message::ToolResults(recap) = &request.messages[2] else { panic!("no recap") };
    assert_eq!(recap[0].response["done"][0], "the user asked: “goal”");
    assert_eq!(request.messages.len(), 3);
    assert!(next.has_earlier() && next.has_read());
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
    let sight = seen(1).map(|sight| Sight { jpeg: vec![1; 1_001].into(), ..sight });
    context.push_results(vec![Answered { answer, sight, must_show: false, goes_on: false }]);
    assert_eq!(pictures(&mut context), [(false, Some(TOO_LARGE.into()))]);
    // The next one is not taken for the same.
    look(&mut context, 1);
    assert_eq!(pictures(&mut context).last(), Some(&(true, None)));
}

#[test]
fn a_model_that_takes_few_pictures_is_sent_no_more() {
    let mut context = within(Bounds { pictures: 3, ..bounds() });
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
        context.request();
        let turns: Vec<&str> = context.messages()[context.head..]
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
    let answer = || ToolAnswer { id: None, name: "click".into(), response: json!({}), image: None };
    let part = |sight, goes_on| Answered { answer: answer(), sight, must_show: false, goes_on };
    context.push_turn(Turn::default());
    context.push_results(vec![part(seen(1), true), part(seen(2), true), part(None, false)]);
    context.push_turn(Turn::default());
    context.push_results(vec![part(seen(1), true), part(seen(2), false), part(None, false)]);
    let (none, sent) = ((false, None), (true, None));
    assert_eq!(pictures(&mut context), [none.clone(), none.clone(), sent, none.clone(), as_before(), none]);
}

#[test]
fn a_conversation_over_four_fifths_of_the_window_or_of_the_budget_is_compacted() {
    let heavy = |context: &mut Context| {
        let response = json!({ "data": "word ".repeat(2_000) });
        let answer = ToolAnswer { id: None, name: "readFile".into(), response, image: None };
        context.push_turn(Turn::default());
        context.push_results(vec![answer.into()]);
    };
    let peaks = |bounds: Bounds| {
        let mut context = within(bounds);
        let sizes = (0..20).map(|_| {
            heavy(&mut context);
            let request = context.request();
            tokens::of_request(&request, bounds.family)
        });
        sizes.max().unwrap()
    };
    let one = 3_000;
    assert!(peaks(bounds()) > 8 * one);
    let small = peaks(Bounds { tokens: 20_000, ..bounds() });
    assert!((2 * one..=16_000).contains(&small), "{small}");
    let small = peaks(Bounds { left: Some(20_000), ..bounds() });
    assert!((2 * one..=16_000).contains(&small), "{small}");
}

#[test]
fn the_dearer_it_is_to_read_again_the_sooner_it_is_compacted_and_never_at_each_step() {
    let compactions = |reread: f64| {
        let mut context = within(Bounds { reread, pictures: 1_000, ..bounds() });
        let at: Vec<usize> = (0..120)
            .filter(|n| {
                exchange(&mut context, *n);
                context.request();
                context.take_compacted().is_some()
            })
            .collect();
        let apart = at.windows(2).map(|two| two[1] - two[0]).min().unwrap_or(usize::MAX);
        assert!(apart >= LEAST_LEFT_OUT / 2, "{reread}: {at:?}");
        at.len()
    };
    let [free, cheap, dear] = [0.0, 0.1, 0.5].map(compactions);
    assert!(free > 0 && cheap >= free && dear > cheap, "{free}, {cheap}, {dear}");
}

#[test]
fn the_estimate_is_corrected_by_what_the_provider_counts() {
    let mut context = within(Bounds { tokens: 10_000, ..bounds() });
    let text = "word ".repeat(2_000);
    context.push_turn(Turn { text: text.clone(), ..Turn::default() });
    let asked = tokens::of_request(&context.request(), bounds().family);
    assert_eq!(context.head, 0, "{asked} of 8,000");
    // It counts three times as many as we thought, or nonsense.
    for (counted, is_compacted) in [(asked * 50, false), (0, false), (asked * 3, true)] {
        context.note_usage(&Usage { input: counted, ..Usage::default() });
        context.push_turn(Turn { text: "on".into(), ..Turn::default() });
        context.push_results(vec![]);
        context.push_turn(Turn { text: "on".into(), ..Turn::default() });
        context.push_results(vec![]);
        context.request();
        assert_eq!(context.head > 0, is_compacted, "{counted} for {asked}");
    }
}

#[test]
fn a_request_that_is_asked_for_twice_is_the_same_and_costs_what_it_costs_once() {
    let (mut once, mut twice) = (within(bounds()), within(bounds()));
    for n in 0..40 {
        exchange(&mut once, n);
        exchange(&mut twice, n);
        let asked = once.request().messages.clone();
        twice.request();
        assert_eq!(twice.request().messages, asked, "at step {n}");
        assert_eq!(twice.reread.to_bits(), once.reread.to_bits(), "at step {n}");
    }
}

#[test]
fn what_the_user_said_stays_theirs_and_notes_stay_with_where_they_are_from() {
    let mut context = context();
    context.push_turn(Turn::default());
    context.push_user("never press Send".into());
    let call =
        ToolCall { id: CallId("c".into()), tool: NOTES.into(), arguments: json!({ "add": "total: 42" }) };
    let page = Source::Page { host: Some("shop.test".into()) };
    context.note_call(&call, &result(Effect::Refused), &[]);
    assert!(context.recalled().notes.is_empty(), "what was refused is not kept");
    context.note_call(&call, &result(Effect::Confirmed), std::slice::from_ref(&page));
    assert_eq!(&*context.recalled().notes, "total: 42");
    for n in 0..60 {
        exchange(&mut context, n);
        context.request();
    }
    let recap = context.take_compacted().unwrap();
    assert_eq!(recap.notes, Notes { text: "total: 42".into(), read: vec![page] });
    assert_eq!(context.messages()[..2], [user("goal"), user("never press Send")]);
    let Message::ToolResults(told) = &context.messages()[3] else { panic!("no recap") };
    assert_eq!(told[0].response["notes"], "total: 42");
    assert_eq!(told[0].response["notedAfterReading"], json!(["a page of shop.test"]));
    assert!(context.has_read(), "what is told in a recap was read");
    assert!(context.take_compacted().is_none());
}
