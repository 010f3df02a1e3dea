//! Every transition of the turn machine, and what holds on any path through it.

use proptest::prelude::*;
use protocol::ids::CallId;
use protocol::tool::Risk;
use serde_json::json;

use super::*;

const RULES: Rules =
    Rules { max_steps: 3, model_tries: 3, repairs: 3, end_on_approval: false, is_child: false };

fn call(name: &str) -> ToolCall {
    ToolCall { id: CallId(format!("c-{name}")), tool: name.into(), arguments: json!({}) }
}

fn turn(calls: &[&str]) -> Input {
    let stop = if calls.is_empty() { StopReason::End } else { StopReason::ToolCalls };
    Input::TurnFinished { text: "text".into(), calls: calls.iter().map(|name| call(name)).collect(), stop }
}

fn ask() -> Verdict {
    Verdict::Ask { approval: ApprovalId("q-1".into()), risk: Risk::Edit, reason: "edits".into() }
}

fn answer(answer: Answer) -> Input {
    Input::Answered { approval: ApprovalId("q-1".into()), answer, by: Surface::Chat }
}

fn bad_arguments() -> Input {
    Input::Assessed(Verdict::Forbid(ToolError { kind: ToolErrorKind::BadArguments, message: "x".into() }))
}

/// The effects of the last input.
fn last(rules: Rules, inputs: Vec<Input>) -> (Machine, Vec<Effect>) {
    let mut machine = Machine::new(rules);
    let mut effects = Vec::new();
    for input in inputs {
        effects = machine.step(input);
    }
    (machine, effects)
}

#[test]
fn words_of_the_user_that_no_request_had_put_off_the_end_by_one_turn() {
    let end = || Input::TurnFinished { text: "done".into(), calls: vec![], stop: StopReason::End };
    let (mut machine, effects) = last(RULES, vec![Input::Start, Input::Steered, end()]);
    assert_eq!(effects, [Effect::AskModel { turn: 2 }]);
    assert!(matches!(machine.step(end())[..], [Effect::End(RunEnd::Completed { .. })]));
    // Not beyond the steps there are: what is done stays done.
    let rules = Rules { max_steps: 1, ..RULES };
    let (_, effects) = last(rules, vec![Input::Start, Input::Steered, end()]);
    assert!(matches!(effects[..], [Effect::End(RunEnd::Completed { .. })]));
}

#[test]
fn a_goal_goes_to_the_model_its_call_to_policy_then_to_the_desktop_then_back() {
    let mut machine = Machine::new(RULES);
    assert_eq!(machine.step(Input::Start), [Effect::AskModel { turn: 1 }]);
    assert_eq!(machine.step(turn(&["click"])), [Effect::Assess(call("click"))]);
    assert_eq!(
        machine.step(Input::Assessed(Verdict::Run)),
        [Effect::Execute { call: call("click"), approved: false }]
    );
    assert_eq!(machine.step(Input::ToolFinished { finished: None }), [Effect::DelayStep]);
    assert_eq!(machine.step(Input::Continue), [Effect::AskModel { turn: 2 }]);
    let done = Finished { summary: "did it".into(), success: true };
    let _ = machine.step(turn(&["done"]));
    let _ = machine.step(Input::Assessed(Verdict::Run));
    assert_eq!(
        machine.step(Input::ToolFinished { finished: Some(done) }),
        [Effect::End(RunEnd::Completed { summary: "did it".into() })]
    );
    assert_eq!(machine.state, State::Completed);
}

#[test]
fn unapproved_click_is_never_sent() {
    let start = vec![Input::Start, turn(&["click"]), Input::Assessed(ask())];
    let (machine, effects) = last(RULES, start.clone());
    assert!(matches!(effects[..], [Effect::RequestApproval { .. }]));
    assert!(matches!(machine.state, State::AwaitingApproval { .. }));
    for input in [
        Input::Continue,
        Input::Resume,
        Input::ToolFinished { finished: None },
        Input::Assessed(Verdict::Run),
    ] {
        let (_, effects) = last(RULES, [start.clone(), vec![input]].concat());
        assert_eq!(effects, []);
    }
    let (_, effects) = last(RULES, [start.clone(), vec![answer(Answer::Deny)]].concat());
    assert!(
        matches!(&effects[..], [Effect::Refuse { error, .. }, Effect::DelayStep] if error.kind == ToolErrorKind::Denied)
    );
    let (_, effects) = last(RULES, [start, vec![answer(Answer::Once)]].concat());
    assert_eq!(effects, [Effect::Execute { call: call("click"), approved: true }]);
}

#[test]
fn a_question_that_nobody_answered_is_not_told_as_a_no() {
    let start = vec![Input::Start, turn(&["click"]), Input::Assessed(ask())];
    let (approval, answer) = (ApprovalId("q-1".into()), Answer::Deny);
    let lapsed = Input::Answered { approval, answer, by: Surface::Deadline };
    let (_, effects) = last(RULES, [start, vec![lapsed]].concat());
    let [Effect::Refuse { error, .. }, Effect::DelayStep] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(error.kind, ToolErrorKind::Timeout);
    assert!(error.message.contains("nobody answered") && !error.message.contains("said no"), "{error:?}");
}

#[test]
fn a_run_that_was_paused_when_it_asked_goes_no_further_than_its_answer() {
    let calls = Calls::left(call("click"), VecDeque::from([call("type")]));
    let pause = Some("by the user".to_owned());
    let mut machine = Machine::waiting(RULES, 1, calls, ApprovalId("q-1".into()), pause);
    assert!(matches!(machine.step(answer(Answer::Deny))[..], [Effect::Refuse { .. }]));
    assert_eq!(machine.step(Input::Continue), []);
    assert_eq!(machine.step(Input::Resume), [Effect::NoteResumed, Effect::Assess(call("type"))]);
}

#[test]
fn an_answer_to_another_question_changes_nothing() {
    let approval = ApprovalId("q-2".into());
    let other = Input::Answered { approval, answer: Answer::Once, by: Surface::Chat };
    let (machine, effects) = last(RULES, vec![Input::Start, turn(&["click"]), Input::Assessed(ask()), other]);
    assert_eq!(effects, []);
    assert!(matches!(machine.state, State::AwaitingApproval { .. }));
}

#[test]
fn where_nobody_can_answer_the_run_ends_saying_so() {
    let rules = Rules { end_on_approval: true, ..RULES };
    let (_, effects) = last(rules, vec![Input::Start, turn(&["click"]), Input::Assessed(ask())]);
    assert!(matches!(
        &effects[..],
        [Effect::RequestApproval { .. }, Effect::End(RunEnd::NeedsApproval { .. })]
    ));
}

#[test]
fn a_model_that_never_stops_is_asked_about_at_max_steps_and_gets_as_many_again() {
    let mut machine = Machine::new(RULES);
    let mut effects = machine.step(Input::Start);
    for asked_for in [3, 6] {
        for turn in asked_for - 2..=asked_for {
            assert_eq!(effects.last(), Some(&Effect::AskModel { turn }));
            effects = work(&mut machine);
        }
        let [Effect::NoteUsedUp { bound }, Effect::NotePaused { reason }] = &effects[..] else {
            panic!("{effects:?}")
        };
        assert_eq!(bound.to_string(), format!("{asked_for} of {asked_for} steps"));
        assert!(reason.ends_with("go on with as much again, or stop"), "{reason}");
        assert_eq!(machine.step(Input::Continue), [], "it waits for its user alone");
        effects = machine.step(Input::Resume);
    }
    assert_eq!(effects, [Effect::NoteResumed, Effect::AskModel { turn: 7 }]);
}

#[test]
fn where_nobody_can_be_asked_for_more_the_run_ends_saying_so() {
    let mut machine = Machine::new(Rules { end_on_approval: true, ..RULES });
    let mut effects = machine.step(Input::Start);
    while !machine.is_over() {
        effects = work(&mut machine);
    }
    let [Effect::NoteUsedUp { .. }, Effect::End(RunEnd::Failed { message, hint: Some(hint) })] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!(
        message,
        "the run's budget is used up: 3 of 3 steps; nobody can be asked whether it may go on"
    );
    assert!(hint.contains("--max-steps"), "{hint}");
}

fn dollars() -> Bound {
    let (of, measure, next) = (BudgetOf::Run, Measure::Dollars, Some("0.02".into()));
    Bound { of, measure, used: "0.04".into(), most: "0.05".into(), next }
}

#[test]
fn a_turn_that_does_not_fit_into_the_budget_is_asked_for_again_by_the_same_number() {
    let does_not_fit = || Input::OutOfBudget { bound: dollars() };
    let (mut machine, effects) = last(RULES, vec![Input::Start, does_not_fit()]);
    assert!(matches!(&effects[..], [Effect::NoteUsedUp { .. }, Effect::NotePaused { .. }]));
    assert_eq!((machine.turn, machine.step(Input::Continue)), (0, Vec::new()));
    assert_eq!(machine.step(Input::Resume), [Effect::NoteResumed, Effect::AskModel { turn: 1 }]);
    assert_eq!(machine.most_steps(), 3, "dollars give no steps");
    // In a run that its user holds, it is looked at anew when they let it go on: that is no yes to more.
    let paused = Input::Pause { reason: "user".into() };
    let (mut machine, effects) = last(RULES, vec![Input::Start, paused, does_not_fit()]);
    assert_eq!(effects, []);
    assert_eq!(machine.step(Input::Resume), [Effect::NoteResumed, Effect::AskModel { turn: 1 }]);
}

#[test]
fn a_run_that_waited_for_more_in_another_task_goes_on_with_its_next_turn() {
    let mut machine = Machine::held(RULES, 2, dollars().used_up(), Some(dollars()));
    assert!(machine.is_paused());
    assert_eq!(machine.step(Input::Resume), [Effect::NoteResumed, Effect::AskModel { turn: 3 }]);
    let (of, measure, used, most) = (BudgetOf::Run, Measure::Steps, "6".to_owned(), "6".to_owned());
    let steps = Bound { of, measure, used, most, next: None };
    let mut machine = Machine::held(RULES, 6, steps.used_up(), Some(steps)).with_steps(6);
    assert_eq!(machine.step(Input::Resume), [Effect::NoteResumed, Effect::AskModel { turn: 7 }]);
    assert_eq!(machine.most_steps(), 9);
}

/// A turn with a call that is done.
fn work(machine: &mut Machine) -> Vec<Effect> {
    let _ = machine.step(turn(&["click"]));
    let _ = machine.step(Input::Assessed(Verdict::Run));
    let _ = machine.step(Input::ToolFinished { finished: None });
    machine.step(Input::Continue)
}

#[test]
fn an_error_result_goes_back_for_a_bad_call_and_the_run_goes_on_up_to_three_repairs() {
    let rules = Rules { max_steps: 30, ..RULES };
    let mut machine = Machine::new(rules);
    let _ = machine.step(Input::Start);
    for _ in 0..3 {
        let _ = machine.step(turn(&["nonsense"]));
        let effects = machine.step(bad_arguments());
        assert!(matches!(effects[..], [Effect::Refuse { .. }, Effect::DelayStep]));
        let _ = machine.step(Input::Continue);
    }
    let _ = machine.step(turn(&["nonsense"]));
    assert!(matches!(
        machine.step(bad_arguments())[..],
        [Effect::Refuse { .. }, Effect::End(RunEnd::Failed { .. })]
    ));
}

#[test]
fn parallel_calls_run_one_after_the_other_and_all_are_answered() {
    let mut machine = Machine::new(RULES);
    let _ = machine.step(Input::Start);
    assert_eq!(machine.step(turn(&["a", "b"])), [Effect::Assess(call("a"))]);
    assert!(
        matches!(machine.step(bad_arguments())[..], [Effect::Refuse { .. }, Effect::Assess(ref b)] if *b == call("b"))
    );
    let _ = machine.step(Input::Assessed(Verdict::Run));
    assert_eq!(machine.step(Input::ToolFinished { finished: None }), [Effect::DelayStep]);
}

// bar: C65
#[test]
fn every_way_a_turn_can_end_has_a_defined_state() {
    let stops = [
        (StopReason::MaxTokens, State::Failed),
        (StopReason::ContextFull, State::Failed),
        (StopReason::Refused { category: "x".into() }, State::Failed),
        (StopReason::Blocked { reason: "x".into() }, State::Failed),
        (StopReason::Paused, State::AwaitingModel { try_number: 1 }),
        (StopReason::End, State::Completed),
        (StopReason::ToolCalls, State::Completed),
    ];
    for (stop, state) in stops {
        let finished = Input::TurnFinished { text: "text".into(), calls: vec![], stop: stop.clone() };
        assert_eq!(last(RULES, vec![Input::Start, finished]).0.state, state, "{stop:?}");
    }
    // No tool of a cut turn runs, whatever it holds.
    let cut =
        Input::TurnFinished { text: String::new(), calls: vec![call("click")], stop: StopReason::MaxTokens };
    assert!(matches!(last(RULES, vec![Input::Start, cut]).1[..], [Effect::End(RunEnd::Failed { .. })]));
}

#[test]
fn a_pause_holds_the_next_step_and_a_resume_goes_on_with_it() {
    let pause = Input::Pause { reason: "user".into() };
    let (mut machine, effects) = last(RULES, vec![Input::Start, pause, turn(&["click"]), Input::Continue]);
    assert_eq!(effects, []);
    assert_eq!(machine.step(Input::Resume), [Effect::NoteResumed, Effect::Assess(call("click"))]);
}

#[test]
fn an_approval_given_while_paused_still_runs_the_one_call_it_was_given_for() {
    let pause = Input::Pause { reason: "user".into() };
    let (_, effects) = last(
        RULES,
        vec![Input::Start, turn(&["click"]), Input::Assessed(ask()), pause, answer(Answer::Once)],
    );
    assert_eq!(effects, [Effect::Execute { call: call("click"), approved: true }]);
}

#[test]
fn a_call_that_was_not_looked_at_to_the_end_is_looked_at_anew_once_it_may_go_on() {
    let looks_again = [Effect::Assess(call("click"))];
    let given_up = [Input::Assessed(Verdict::Later)].into_iter();
    let asked_for_nothing = [Input::Assessed(ask()), Input::NotAsked].into_iter();
    for given_up in [given_up.collect::<Vec<_>>(), asked_for_nothing.collect()] {
        let begun = || [Input::Start, turn(&["click"])].into_iter().chain(given_up.clone());
        let (_, effects) = last(RULES, begun().chain([Input::Continue]).collect());
        assert_eq!(effects, looks_again, "nothing came of what was heard");
        let pause = Input::Pause { reason: "user".into() };
        let (mut machine, _) = last(RULES, begun().chain([pause]).collect());
        assert_eq!(machine.step(Input::Continue), [], "it is paused");
        assert_eq!(machine.step(Input::Resume).split_off(1), looks_again);
    }
}

fn any_input() -> impl Strategy<Value = Input> {
    let verdict = prop_oneof![
        Just(Verdict::Run),
        Just(ask()),
        Just(Verdict::Later),
        Just(Verdict::Forbid(ToolError { kind: ToolErrorKind::UnknownTool, message: "x".into() })),
    ];
    prop_oneof![
        Just(Input::Start),
        prop::collection::vec(prop_oneof![Just("a"), Just("b"), Just("c")], 0..4)
            .prop_map(|calls| turn(&calls)),
        any::<bool>().prop_map(|may_retry| Input::TurnFailed { message: "x".into(), hint: None, may_retry }),
        verdict.prop_map(Input::Assessed),
        Just(Input::NotAsked),
        prop_oneof![Just(Answer::Deny), Just(Answer::Once), Just(Answer::Thread)].prop_map(answer),
        Just(Input::ToolFinished { finished: None }),
        Just(Input::Continue),
        Just(Input::Pause { reason: "x".into() }),
        Just(Input::Resume),
        Just(Input::OutOfBudget { bound: dollars() }),
        Just(Input::Steered),
    ]
}

proptest! {
    #[test]
    fn any_path_stays_within_the_steps_it_was_given_and_nothing_follows_the_end(inputs in prop::collection::vec(any_input(), 0..200)) {
        let mut machine = Machine::new(RULES);
        let mut ended = false;
        let mut asked_for_more = false;
        for input in inputs {
            let granted = matches!(input, Input::Assessed(Verdict::Run) | Input::Answered { answer: Answer::Once | Answer::Thread, .. });
            let (before, resumes) = (machine.most_steps(), input == Input::Resume);
            let effects = machine.step(input);
            prop_assert!(!ended || effects.is_empty());
            let more = machine.most_steps() - before;
            prop_assert!(more == 0 || (resumes && asked_for_more && more == RULES.max_steps), "more without a yes");
            asked_for_more &= !resumes;
            for effect in effects {
                match effect {
                    Effect::Execute { .. } => prop_assert!(granted, "a call ran without a word for it"),
                    Effect::End(_) => ended = true,
                    Effect::NoteUsedUp { .. } => asked_for_more = true,
                    Effect::AskModel { turn } => prop_assert!(turn <= machine.most_steps()),
                    _ => {}
                }
            }
            prop_assert_eq!(ended, machine.is_over());
        }
    }

    #[test]
    fn stop_ends_a_run_from_any_state(inputs in prop::collection::vec(any_input(), 0..60)) {
        let mut machine = Machine::new(RULES);
        for input in inputs {
            let _ = machine.step(input);
        }
        if !machine.is_over() {
            let effects = machine.step(Input::Stop { reason: "user".into() });
            prop_assert_eq!(effects, vec![Effect::End(RunEnd::Stopped { reason: "user".into() })]);
        }
        prop_assert!(machine.is_over());
    }
}
