//! Agents as a client's calls start, wait for and stop them, before a run that is played.

use std::sync::{Mutex, MutexGuard};

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::super::AtWork;
use super::*;

/// A run whose turns take no time. Each agent that it starts works until it is told to end.
#[derive(Default)]
struct Played {
    calls: Mutex<Vec<(String, Value)>>,
    agents: Mutex<Vec<(String, &'static str)>>,
    /// Its user holds it: no turn ends.
    is_held: Mutex<bool>,
    /// Looks at who is at work that still have as asking who was answered.
    late: Mutex<u32>,
}

impl Played {
    fn agents(&self) -> MutexGuard<'_, Vec<(String, &'static str)>> {
        self.agents.lock().unwrap()
    }

    fn ends(&self, agent: &str, how: &'static str) {
        self.agents().iter_mut().find(|(id, _)| id == agent).unwrap().1 = how;
    }

    fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().iter().map(|(tool, _)| tool.clone()).collect()
    }

    fn answer(&self, tool: &str, arguments: &Value) -> Value {
        self.calls.lock().unwrap().push((tool.to_owned(), arguments.clone()));
        match tool {
            "spawn" => {
                let id = format!("run-{}", self.agents().len());
                self.agents().push((id.clone(), "works"));
                json!({ "data": { "agent": id } })
            }
            "kill" => {
                self.ends(arguments["agent"].as_str().unwrap(), "stopped");
                json!({})
            }
            "waitFor" => {
                assert_eq!(arguments["minutes"], 0, "it waits within a turn");
                let is_named =
                    |id: &String| arguments["agents"].as_array().is_none_or(|all| all.contains(&json!(id)));
                let states: Vec<Value> = self
                    .agents()
                    .iter()
                    .filter(|(id, _)| is_named(id))
                    .map(|(id, state)| match *state {
                        "asks you" => {
                            json!({ "agent": id, "state": state, "question": "Which pond?", "number": 7 })
                        }
                        _ => json!({ "agent": id, "state": state }),
                    })
                    .collect();
                json!({ "data": { "agents": states } })
            }
            "answerAgent" => {
                self.ends(arguments["agent"].as_str().unwrap(), "works");
                json!({})
            }
            other => unreachable!("{other}"),
        }
    }
}

impl Relay for Played {
    fn call<'a>(
        &'a self,
        _: &'a str,
        tool: &'a str,
        arguments: Value,
    ) -> BoxFuture<'a, Result<GuestAnswer, String>> {
        async move {
            while *self.is_held.lock().unwrap() {
                sleep(SLICE).await;
            }
            Ok(GuestAnswer { answer: self.answer(tool, &arguments), said: vec![tool.into()], picture: None })
        }
        .boxed()
    }

    fn at_work(&self) -> BoxFuture<'_, Vec<AtWork>> {
        let at_work = {
            let agents = self.agents();
            let is_there = |(_, state): &&(String, &str)| matches!(*state, "works" | "asks you");
            let mut late = self.late.lock().unwrap();
            let is_late = *late > 0;
            *late = late.saturating_sub(1);
            let view = |(id, state): &(String, &str)| AtWork {
                agent: id.clone(),
                asks: is_late || *state == "asks you",
            };
            agents.iter().filter(is_there).map(view).collect()
        };
        async move { at_work }.boxed()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        async {}.boxed()
    }
}

type Calling = tokio::task::JoinHandle<Result<GuestAnswer, String>>;

fn giver(played: &Arc<Played>) -> GoalGiver {
    GoalGiver { relay: played.clone(), name: "pond".into(), until: Instant::now() + PATIENCE }
}

fn begin(played: &Arc<Played>, tool: &str, arguments: Value) -> Calling {
    let (giver, tool) = (giver(played), tool.to_owned());
    tokio::spawn(async move {
        let mut came = giver.call(&tool, arguments).await?;
        came.asks.iter_mut().for_each(Asking::keep);
        Ok(came.answer)
    })
}

/// As a client does whose user is asked: the question, once it comes.
async fn asked(played: &Arc<Played>) -> Asking {
    let giver = giver(played);
    let calling = tokio::spawn(async move { giver.call("run", json!({ "goal": "a" })).await });
    until(|| played.agents().len() == 1).await;
    played.ends("run-0", "asks you");
    calling.await.unwrap().unwrap().asks.unwrap()
}

async fn done(calling: Calling) -> Value {
    calling.await.unwrap().unwrap().answer
}

async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        sleep(SLICE).await;
    }
}

#[tokio::test(start_paused = true)]
async fn others_of_its_calls_get_through_while_a_run_waits_and_it_takes_two_turns() {
    let played = Arc::<Played>::default();
    let run = begin(&played, "run", json!({ "goal": "a" }));
    until(|| played.agents().len() == 1).await;
    sleep(SLICE * 20).await;
    assert!(!run.is_finished());
    let status = done(begin(&played, "status", json!({}))).await;
    assert_eq!(status["data"]["agents"], json!([{ "agent": "run-0", "state": "works" }]));
    done(begin(&played, "spawn", json!({ "goal": "b" }))).await;
    done(begin(&played, "kill", json!({ "agent": "run-0" }))).await;
    let answer = run.await.unwrap().unwrap();
    assert_eq!(answer.answer, json!({ "data": { "agents": [{ "agent": "run-0", "state": "stopped" }] } }));
    assert_eq!(answer.said, ["spawn", "waitFor"], "what its user said is lost");
    assert_eq!(played.calls(), ["spawn", "waitFor", "spawn", "kill", "waitFor"]);
}

#[tokio::test(start_paused = true)]
async fn a_run_answers_before_clients_give_up_with_the_agent_that_works_on() {
    let played = Arc::<Played>::default();
    let begun = tokio::time::Instant::now();
    let answer = done(begin(&played, "run", json!({ "goal": "a" }))).await;
    assert!(begun.elapsed() < Duration::from_secs(55), "{:?}", begun.elapsed());
    assert_eq!(answer["data"]["agents"], json!([{ "agent": "run-0", "state": "works" }]));
    assert_eq!(answer["next"], NEXT);
    // It was told of: it is not stopped.
    sleep(PATIENCE).await;
    assert_eq!(played.calls(), ["spawn", "waitFor"]);
    let waits = begin(&played, "waitFor", json!({ "agents": ["run-0"] }));
    sleep(SLICE * 4).await;
    played.ends("run-0", "completed");
    assert_eq!(
        done(waits).await,
        json!({ "data": { "agents": [{ "agent": "run-0", "state": "completed" }] } })
    );
    assert!(begun.elapsed() < PATIENCE * 3);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_given_up_stops_its_own_agent_alone_and_a_wait_stops_nobody() {
    let played = Arc::<Played>::default();
    done(begin(&played, "spawn", json!({ "goal": "a" }))).await;
    let run = begin(&played, "run", json!({ "goal": "b" }));
    let waits = begin(&played, "waitFor", json!({ "any": true }));
    until(|| played.agents().len() == 2).await;
    waits.abort();
    run.abort();
    until(|| played.calls().contains(&"kill".to_owned())).await;
    sleep(PATIENCE).await;
    assert_eq!(*played.agents(), [("run-0".to_owned(), "works"), ("run-1".to_owned(), "stopped")]);
    // Given up before it was known: it is stopped once it has begun.
    *played.is_held.lock().unwrap() = true;
    for tool in ["run", "spawn"] {
        let begun = begin(&played, tool, json!({ "goal": "c" }));
        sleep(SLICE * 4).await;
        begun.abort();
    }
    *played.is_held.lock().unwrap() = false;
    until(|| played.agents().iter().filter(|(_, state)| *state == "stopped").count() == 3).await;
    assert_eq!(played.agents()[0].1, "works");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_its_user_holds_keeps_no_client_waiting() {
    let played = Arc::<Played>::default();
    let run = begin(&played, "run", json!({ "goal": "a" }));
    until(|| played.agents().len() == 1).await;
    *played.is_held.lock().unwrap() = true;
    let why = run.await.unwrap().unwrap_err();
    assert!(why.contains("run-0 was started") && why.contains("its user holds this work"), "{why}");
}

#[tokio::test(start_paused = true)]
async fn what_an_agent_asks_its_clients_user_answers_in_the_middle_of_the_call() {
    let played = Arc::<Played>::default();
    let mut asking = asked(&played).await;
    assert_eq!(asking.question, "Which pond?");
    // The protocol's newest way: through the client's hands. What it began is not stopped by that.
    let state = serde_json::to_string(&asking).unwrap();
    asking.keep();
    drop(asking);
    let asking = serde_json::from_str(&state).unwrap();
    let giver = giver(&played);
    let going_on = tokio::spawn(async move { giver.answered(asking, Some("the old one")).await });
    until(|| played.calls().contains(&"answerAgent".to_owned())).await;
    played.ends("run-0", "completed");
    let Came { answer, asks } = going_on.await.unwrap().unwrap();
    assert!(asks.is_none(), "it is asked again");
    assert_eq!(answer.answer, json!({ "data": { "agents": [{ "agent": "run-0", "state": "completed" }] } }));
    assert_eq!(answer.said, ["spawn", "waitFor", "waitFor"], "what its user said is lost");
    assert_eq!(played.calls(), ["spawn", "waitFor", "answerAgent", "waitFor"]);
    let calls = played.calls.lock().unwrap();
    assert_eq!(calls[2].1, json!({ "agent": "run-0", "answer": "the old one", "number": 7 }));
    assert_eq!(calls[3].1, json!({ "agents": ["run-0"], "minutes": 0 }), "another agent is begun");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_goes_back_and_an_answer_that_is_too_long_is_cut() {
    let long = "x".repeat(10_000_000);
    for (said, told) in [(Some(" "), NO_ANSWER), (None, NO_ANSWER), (Some(&*long), &long[..ANSWER_CHARS])] {
        let played = Arc::<Played>::default();
        let asking = asked(&played).await;
        let giver = giver(&played);
        let said = said.map(str::to_owned);
        let going_on = tokio::spawn(async move { giver.answered(asking, said.as_deref()).await });
        until(|| played.calls().contains(&"answerAgent".to_owned())).await;
        played.ends("run-0", "failed");
        going_on.await.unwrap().unwrap();
        let calls = played.calls.lock().unwrap();
        let said = calls.iter().find(|(tool, _)| tool == "answerAgent").unwrap();
        assert_eq!(said.1["answer"], told);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_whose_user_is_not_asked_has_the_question_in_its_answer() {
    let played = Arc::<Played>::default();
    done(begin(&played, "spawn", json!({ "goal": "a" }))).await;
    played.ends("run-0", "asks you");
    let told = done(begin(&played, "waitFor", json!({}))).await;
    let agent = &told["data"]["agents"][0];
    assert_eq!(
        (told["next"].as_str(), &agent["question"], &agent["number"]),
        (Some(NEXT_ASKED), &json!("Which pond?"), &json!(7))
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_given_up_while_its_client_is_asked_stops_its_agent() {
    let played = Arc::<Played>::default();
    drop(asked(&played).await);
    until(|| played.calls().contains(&"kill".to_owned())).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_its_user_holds_while_its_client_is_asked_keeps_nobody_waiting_and_its_agent_at_work() {
    let played = Arc::<Played>::default();
    let asking = asked(&played).await;
    *played.is_held.lock().unwrap() = true;
    let begun = Instant::now();
    let Err(why) = giver(&played).answered(asking, Some("the old one")).await else { panic!("it is told") };
    assert!(why.contains("run-0 was started") && why.contains("its user holds this work"), "{why}");
    assert!(begun.elapsed() <= PATIENCE + LOOK * 2);
    *played.is_held.lock().unwrap() = false;
    until(|| played.calls().contains(&"answerAgent".to_owned())).await;
    sleep(PATIENCE).await;
    assert!(!played.calls().contains(&"kill".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_was_just_answered_is_waited_for_and_not_told_as_at_work() {
    let played = Arc::<Played>::default();
    let asking = asked(&played).await;
    *played.late.lock().unwrap() = 3;
    let giver = giver(&played);
    let going_on = tokio::spawn(async move { giver.answered(asking, Some("the old one")).await });
    until(|| *played.late.lock().unwrap() == 0).await;
    sleep(SLICE * 4).await;
    assert!(!going_on.is_finished());
    played.ends("run-0", "completed");
    let answer = going_on.await.unwrap().unwrap().answer.answer;
    assert_eq!(answer["data"]["agents"][0]["state"], "completed");
}
