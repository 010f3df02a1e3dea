//! One session over all providers: each is told what the others did, in words of its own wire and without what only they
//! can read; and back at a provider, its own turns come back byte for byte.

use std::collections::BTreeMap;

use outside::LONG;
use outside::fake_model::{Answer, Asked, FakeModel, Given, Mind, MindTurn, Said, Wire};
use outside::miki::{self, Client, Miki};
use outside::stage::Stage;
use protocol::EventBody;
use protocol::command::{AnyCommand, RunOverrides, StartRun};
use protocol::event::RunEnd;
use protocol::ids::{ModelId, SessionId};
use serde_json::json;

use crate::wires::{MODELS, turns_came_back, with_keys};

/// Says and does what tells its wire and its goal from all others.
struct Chronicler;

fn told(goal: &str, wire: Wire) -> [String; 4] {
    ["said", "done", "thought", "ended"].map(|what| format!("{what} — of {wire:?} for {goal}"))
}

impl Mind for Chronicler {
    fn turn(&mut self, asked: &Asked) -> MindTurn {
        let mut goals = asked.heard.messages.iter().filter_map(|said| match said {
            Said::User { texts, .. } => texts.first(),
            Said::Assistant(_) | Said::Results(_) => None,
        });
        let [said, done, thought, ended] = told(goals.next_back().unwrap(), asked.wire);
        if asked.new_goal().is_none() {
            return MindTurn::done(&ended, true).thinking(&thought);
        }
        let calls = [("think", json!({ "thought": done })), ("displays", json!({}))];
        let calls = calls.map(|(name, arguments)| (name.to_owned(), arguments)).into();
        MindTurn { text: said, calls, ..MindTurn::default() }.thinking(&thought)
    }
}

fn run(client: &mut Client, session: Option<SessionId>, goal: &str, model: &str) -> SessionId {
    let overrides = RunOverrides { model: Some(ModelId(model.to_owned())), ..RunOverrides::default() };
    let start = StartRun { goal: goal.to_owned(), session, overrides };
    client.call(AnyCommand::StartRun(start)).unwrap();
    let events = client.events_until(miki::is_end).unwrap();
    let end = miki::end(&events);
    assert!(matches!(end, Some(RunEnd::Completed { .. })), "{goal}: {end:?}");
    let started = events.iter().find(|event| matches!(event.body, EventBody::RunStarted { .. })).unwrap();
    started.scope.session.clone().unwrap()
}

/// The model's own turns, as its reader understood them.
fn answers(asked: &Asked) -> Vec<&Answer> {
    let all = asked.heard.messages.iter().filter_map(|said| match said {
        Said::Assistant(answer) => Some(answer),
        Said::User { .. } | Said::Results(_) => None,
    });
    all.collect()
}

#[test]
fn a_session_crosses_all_providers_and_each_gets_back_its_own_turns_alone() {
    let stage = Stage::full().unwrap();
    let model = FakeModel::start(Chronicler).unwrap();
    // So that all of it is told.
    let urls: BTreeMap<_, _> =
        MODELS.iter().map(|(wire, id)| (id.split('/').next().unwrap(), model.base_url(*wire))).collect();
    let settings = json!({ "historyMessages": 100, "baseUrls": urls });
    let miki = with_keys(Miki::with_model(&stage, "miki", &model.url(), settings).unwrap());
    let _app = miki.start(&stage, "app", &[]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    let mut session = None;
    let mut past: Vec<(Wire, String)> = Vec::new();
    let mut written: Vec<(Wire, Given)> = Vec::new();
    let [gemini, anthropic, openai, ..] = MODELS;
    let way = [anthropic, gemini, openai].into_iter().chain(MODELS.into_iter().skip(3));
    for (number, (wire, id)) in way.chain([anthropic, openai, gemini]).enumerate() {
        let (asked, given) = (model.turns().len(), model.given().len());
        let goal = format!("goal {number}");
        session = Some(run(&mut client, session.take(), &goal, id));
        let turns = model.turns().split_off(asked);
        assert_eq!(turns.len(), 2, "{wire:?}");
        let first = &turns[0];
        let text = std::str::from_utf8(&first.text).unwrap();
        let told_before = answers(first);
        assert_eq!(told_before.len(), 2 * past.len(), "{wire:?}: {told_before:?}");
        for (at, (other, goal)) in past.iter().enumerate() {
            let [said, done, thought, ended] = told(goal, *other);
            let (acted, closed) = (told_before[2 * at], told_before[2 * at + 1]);
            assert!(text.contains(&format!("\"{goal}\"")), "{wire:?} is not told {goal}");
            assert_eq!(acted.text, said, "{wire:?}");
            let names: Vec<&str> = acted.calls.iter().map(|call| call.name.as_str()).collect();
            assert_eq!(
                (names, &acted.calls[0].arguments["thought"]),
                (vec!["think", "displays"], &json!(done))
            );
            assert_eq!(closed.calls[0].arguments["summary"], ended.as_str(), "{wire:?}");
            // What came of it: the answer's own words.
            assert!(text.contains(&format!("thought: {done}")), "{wire:?} is not told what came of {done}");
            assert_eq!(text.contains(&thought), wire == *other && thinks_aloud(wire), "{wire:?}: {thought}");
        }
        for (other, given) in written.iter().filter(|(other, _)| *other != wire) {
            for sealed in &given.signatures {
                assert!(!text.contains(sealed), "{wire:?} is sent {sealed} of {other:?}");
            }
        }
        let own = written.iter().filter(|(other, _)| *other == wire).map(|(_, given)| given.clone());
        turns_came_back(wire, first, &own.collect::<Vec<_>>());
        written.extend(model.given().split_off(given).into_iter().map(|given| (wire, given)));
        past.push((wire, goal));
    }
    let refused: Vec<_> = model.requests().into_iter().filter(|request| request.status != 200).collect();
    assert!(refused.is_empty(), "{refused:?}");
}

/// Whose thoughts go back as the text that they were: the others' are sealed, or not told.
fn thinks_aloud(wire: Wire) -> bool {
    wire != Wire::Chat
}
