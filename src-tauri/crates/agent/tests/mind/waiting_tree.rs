//! Trees in which an agent waits for its user while Miki ends: they wait on, and go on with the answer.

use models::scripted::Step;
use protocol::command::{PauseRun, ResumeRun, RunOverrides, StartedRun, StopRun};
use protocol::event::{Activity, RunEnd};
use protocol::ids::RunId;
use protocol::principal::Surface;
use protocol::tool::{Answer, Approval, ApprovalMode};
use protocol::view::{Overview, Question};
use protocol::{Event, EventBody};
use serde_json::json;

use crate::asking::crashed;
use crate::bench::{click, done, history, settings};
use crate::tree::{Tree, spawn, told, wait_for_all};

/// How Miki ends.
#[derive(Clone, Copy, PartialEq)]
enum Ends {
    InACrash,
    InOrder,
}

fn asks() -> RunOverrides {
    RunOverrides { approval: Some(ApprovalMode::Ask), ..RunOverrides::default() }
}

/// One that starts an agent and waits for it.
fn conducts(goal: &str) -> Vec<Step> {
    vec![Step::calls(vec![spawn(goal)]), wait_for_all(), Step::silence()]
}

/// The questions, once so many wait for their agents and so many ask, in whatever order they come to it.
async fn at_rest(tree: &mut Tree, waiting: usize, asking: usize) -> Vec<Approval> {
    let (mut begun, mut asked) = (0, Vec::new());
    while begun < waiting || asked.len() < asking {
        let is_it = |body: &EventBody| is_begun(body) || matches!(body, EventBody::ApprovalRequested { .. });
        match tree.bench.until(is_it).await.body {
            EventBody::ApprovalRequested { approval } => asked.push(approval),
            _ => begun += 1,
        }
    }
    asked
}

/// Started again once so many wait for their agents and one asks, with these minds in the order in which runs are woken.
async fn again(mut tree: Tree, waiting: usize, ends: Ends, minds: Vec<Vec<Step>>) -> (Tree, Overview) {
    at_rest(&mut tree, waiting, 1).await;
    start_again(tree, ends, minds).await
}

async fn start_again(tree: Tree, ends: Ends, minds: Vec<Vec<Step>>) -> (Tree, Overview) {
    let crash = crashed(&tree.bench);
    tree.bench.handle.shutdown().await;
    let home = match ends {
        Ends::InACrash => crash,
        Ends::InOrder => crashed(&tree.bench),
    };
    let tree = Tree::at(home, minds, settings(), |router| router).await;
    let overview = tree.bench.handle.overview().await.unwrap();
    (tree, overview)
}

async fn say(tree: &Tree, question: &Question, answer: Answer) {
    let answer = crate::asking::answer(&question.approval, answer);
    tree.bench.handle.answer_approval(answer, Surface::Dashboard).await.unwrap();
}

/// How often a session tells of what is wanted.
async fn count(tree: &Tree, started: &StartedRun, wanted: fn(&EventBody) -> bool) -> usize {
    let events: Vec<Event> = history(&tree.bench.handle, &started.session).await;
    events.iter().filter(|event| wanted(&event.body)).count()
}

fn is_begun(body: &EventBody) -> bool {
    matches!(body, EventBody::ToolStarted { call, .. } if call.tool == "waitFor")
}

#[tokio::test]
async fn what_an_agent_asks_is_open_after_a_crash_and_a_quit_and_its_tree_goes_on_with_the_answer() {
    for ends in [Ends::InACrash, Ends::InOrder] {
        let minds = vec![conducts("see to the button"), conducts("press the button"), vec![click()]];
        let tree = Tree::new(minds).await;
        let started = tree.start("see to it", asks()).await;
        let last = |words: &str| vec![Step::call("done", json!({ "summary": words }))];
        let minds = vec![last("all is done"), last("it was seen to"), last("pressed")];
        let (mut tree, overview) = again(tree, 2, ends, minds).await;
        assert_eq!((overview.questions.len(), overview.runs.len()), (1, 3), "{overview:?}");
        let activities: Vec<_> = overview.runs.iter().map(|run| run.status.activity).collect();
        assert_eq!(activities, [Activity::Waiting; 3]);
        assert_eq!(overview.runs[0].status.detail, "waits for an agent that waits for you");
        let tokens = |at: usize| overview.runs[at].status.progress.as_ref().unwrap().tokens;
        assert!(tokens(0) > tokens(1) && tokens(1) > tokens(2), "each with what those below it used");
        let asked: usize = tree.models.iter().map(|model| model.requests().len()).sum();
        assert_eq!(asked, 0, "nothing is asked of a model before its user has answered");

        say(&tree, &overview.questions[0], Answer::Once).await;
        let end = tree.end_of(&started.run).await;
        assert_eq!(end, RunEnd::Completed { summary: "all is done".into() });
        assert_eq!(tree.bench.clicks(), 1);
        let waited = tree.results(&started, "waitFor").await;
        assert_eq!(waited[0].data["agents"][0]["state"], "completed", "{waited:?}");
        let turns: Vec<_> = tree.models.iter().map(|model| model.requests().len()).collect();
        assert_eq!(turns, [1, 1, 1], "each goes on where it was");
        assert_eq!(count(&tree, &started, is_begun).await, 1);
        assert_eq!(count(&tree, &started, |body| matches!(body, EventBody::RunStarted(_))).await, 1);
    }
}

#[tokio::test]
async fn those_at_work_beside_one_that_asks_are_interrupted_and_who_waits_for_them_is_told() {
    let root = vec![Step::calls(vec![spawn("read a page"), spawn("press the button")]), wait_for_all()];
    let tree = Tree::new(vec![root, vec![Step::silence()], vec![click()]]).await;
    let started = tree.start("see to it", asks()).await;
    let minds = vec![vec![done()], vec![done()]];
    let (mut tree, overview) = again(tree, 1, Ends::InACrash, minds).await;
    assert_eq!((overview.questions.len(), overview.runs.len()), (1, 2), "{overview:?}");
    say(&tree, &overview.questions[0], Answer::Deny).await;
    assert!(matches!(tree.end_of(&started.run).await, RunEnd::Completed { .. }));
    assert_eq!(tree.bench.clicks(), 0);
    let waited = tree.results(&started, "waitFor").await;
    let states: Vec<_> = (0..2).map(|at| waited[0].data["agents"][at]["state"].clone()).collect();
    // Whatever its model says.
    assert_eq!(states, ["failed", "ended, nothing done"], "{waited:?}");
    let told = told(tree.models[0].requests().last().unwrap());
    assert!(told.contains("miki ended in the middle of it"), "{told}");
}

#[tokio::test]
async fn miki_may_end_where_all_that_goes_on_waits_for_its_user() {
    let both = || Step::calls(vec![spawn("read a page"), spawn("press the button")]);
    let minds = vec![vec![both(), wait_for_all()], vec![click()], vec![click()]];
    let mut tree = Tree::new(minds).await;
    assert!(tree.bench.handle.only_waits().await, "nothing goes on at all");
    tree.start("see to it", asks()).await;
    at_rest(&mut tree, 1, 2).await;
    assert!(tree.bench.handle.only_waits().await);
    tree.bench.handle.shutdown().await;

    let minds = vec![vec![both(), wait_for_all()], vec![Step::silence()], vec![click()]];
    let mut tree = Tree::new(minds).await;
    tree.start("see to it", asks()).await;
    at_rest(&mut tree, 1, 1).await;
    assert!(!tree.bench.handle.only_waits().await, "one asks, but one is at work");
    tree.bench.handle.pause_run(PauseRun { run: None }, Surface::Dashboard).await.unwrap();
    assert!(tree.bench.handle.only_waits().await, "it asks, or is paused");
    tree.bench.handle.shutdown().await;
}

#[tokio::test]
async fn an_agent_that_is_stopped_instead_of_answered_is_told_to_the_one_that_waits() {
    let tree = Tree::new(vec![conducts("press the button"), vec![click()]]).await;
    let started = tree.start("see to it", asks()).await;
    let (mut tree, overview) = again(tree, 1, Ends::InACrash, vec![vec![done()]]).await;
    let stop = StopRun { run: Some(overview.questions[0].run.clone()) };
    tree.bench.handle.stop_run(stop, Surface::Dashboard).await.unwrap();
    assert!(matches!(tree.end_of(&started.run).await, RunEnd::Completed { .. }));
    let waited = tree.results(&started, "waitFor").await;
    assert_eq!(waited[0].data["agents"][0]["state"], "stopped", "{waited:?}");
}

#[tokio::test]
async fn a_stop_of_the_one_above_ends_a_tree_that_waits_without_a_task() {
    let tree = Tree::new(vec![conducts("press the button"), vec![click()]]).await;
    let started = tree.start("see to it", asks()).await;
    let (mut tree, _) = again(tree, 1, Ends::InOrder, Vec::new()).await;
    tree.stop(&started).await;
    assert!(matches!(tree.end_of(&started.run).await, RunEnd::Stopped { .. }));
    let overview = tree.bench.handle.overview().await.unwrap();
    assert_eq!((overview.questions.len(), overview.runs.len()), (0, 0), "{overview:?}");
}

#[tokio::test]
async fn a_question_goes_with_the_one_above_where_that_was_in_the_middle_of_its_own_work() {
    for ends in [Ends::InACrash, Ends::InOrder] {
        let root = vec![Step::calls(vec![spawn("press the button")]), Step::silence()];
        let tree = Tree::new(vec![root, vec![click()]]).await;
        let started = tree.start("see to it", asks()).await;
        let (tree, overview) = again(tree, 0, ends, Vec::new()).await;
        assert_eq!((overview.questions.len(), overview.runs.len()), (0, 0), "{overview:?}");
        let interrupted =
            |body: &EventBody| matches!(body, EventBody::RunEnded { end: RunEnd::Interrupted { .. } });
        assert_eq!(count(&tree, &started, interrupted).await, 1);
        let used = |body: &EventBody| matches!(body, EventBody::AgentsUsed(did) if did.tokens > 0);
        assert_eq!(count(&tree, &started, used).await, 1, "what its agent used is told");
    }
}

#[tokio::test]
async fn one_that_its_user_had_paused_waits_for_its_agents_only_when_it_may_go_on() {
    let mut tree = Tree::new(vec![conducts("press the button"), vec![click()]]).await;
    let started = tree.start("see to it", asks()).await;
    let agent = loop {
        let begun = tree.bench.until(|body| matches!(body, EventBody::RunStarted(_))).await;
        if begun.scope.run.as_ref() != Some(&started.run) {
            break begun.scope.run.unwrap();
        }
    };
    let (mut tree, overview) = again(tree, 1, Ends::InACrash, vec![vec![done()], vec![done()]]).await;
    let run = Some(started.run.clone());
    tree.bench.handle.pause_run(PauseRun { run: run.clone() }, Surface::Dashboard).await.unwrap();
    let resume_agent = ResumeRun { run: Some(agent.clone()) };
    tree.bench.handle.resume_run(resume_agent).await.unwrap();
    say(&tree, &overview.questions[0], Answer::Once).await;
    assert!(matches!(tree.end_of(&agent).await, RunEnd::Completed { .. }));
    assert_eq!(tree.models[0].requests().len(), 0);
    let is_open = async |tree: &Tree| -> Vec<RunId> {
        tree.bench.handle.list_runs().await.unwrap().into_iter().map(|run| run.run).collect()
    };
    assert_eq!(is_open(&tree).await, std::slice::from_ref(&started.run));
    tree.bench.handle.resume_run(ResumeRun { run }).await.unwrap();
    assert!(matches!(tree.end_of(&started.run).await, RunEnd::Completed { .. }));
}

#[tokio::test]
async fn where_the_one_above_cannot_go_on_its_agent_does_nothing_though_it_was_answered() {
    let tree = Tree::new(vec![conducts("press the button"), vec![click()]]).await;
    let started = tree.start("see to it", asks()).await;
    let (mut tree, overview) = again(tree, 1, Ends::InACrash, Vec::new()).await;
    say(&tree, &overview.questions[0], Answer::Once).await;
    let RunEnd::Interrupted { reason } = tree.end_of(&started.run).await else { panic!("it went on") };
    assert!(reason.unwrap().contains("no model"));
    tree.end_of(&overview.questions[0].run).await;
    assert_eq!(tree.bench.clicks(), 0);
    assert!(tree.bench.handle.list_runs().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_second_end_of_miki_keeps_the_questions_of_a_tree_whose_wait_was_put_aside() {
    let root = vec![Step::calls(vec![spawn("press the button"), spawn("press it again")]), wait_for_all()];
    let mut tree = Tree::new(vec![root, vec![click()], vec![click()]]).await;
    let started = tree.start("see to it", asks()).await;
    at_rest(&mut tree, 1, 2).await;
    let minds = vec![Vec::new(), vec![done()]];
    let (mut tree, overview) = start_again(tree, Ends::InACrash, minds).await;
    assert_eq!(overview.questions.len(), 2, "{overview:?}");
    let pause = PauseRun { run: Some(started.run.clone()) };
    tree.bench.handle.pause_run(pause, Surface::Dashboard).await.unwrap();
    for question in &overview.questions {
        tree.bench.handle.resume_run(ResumeRun { run: Some(question.run.clone()) }).await.unwrap();
    }
    say(&tree, &overview.questions[0], Answer::Once).await;
    assert!(matches!(tree.end_of(&overview.questions[0].run).await, RunEnd::Completed { .. }));
    tree.bench.handle.shutdown().await;
    let minds = vec![vec![done()], vec![done()]];
    let mut tree = Tree::at(crashed(&tree.bench), minds, settings(), |router| router).await;
    let overview = tree.bench.handle.overview().await.unwrap();
    assert_eq!(overview.questions.len(), 1, "{overview:?}");
    tree.bench.handle.resume_run(ResumeRun { run: Some(started.run.clone()) }).await.unwrap();
    say(&tree, &overview.questions[0], Answer::Once).await;
    assert!(matches!(tree.end_of(&started.run).await, RunEnd::Completed { .. }));
    let waited = tree.results(&started, "waitFor").await;
    let states: Vec<_> = (0..2).map(|at| waited[0].data["agents"][at]["state"].clone()).collect();
    assert_eq!(states, ["completed", "completed"], "{waited:?}");
}

#[tokio::test]
async fn a_tree_that_goes_on_by_itself_does_not_where_it_was_stopped_while_it_waited() {
    let wanted = RunOverrides { carry_on: Some(true), ..asks() };
    let tree = Tree::new(vec![conducts("press the button"), vec![click()]]).await;
    let started = tree.start("see to it", wanted).await;
    let (tree, _) = again(tree, 1, Ends::InACrash, Vec::new()).await;
    tree.stop(&started).await;
    let events = history(&tree.bench.handle, &started.session).await;
    let last: Vec<_> = events.iter().rev().take(4).map(|event| &event.body).collect();
    let paused = last.iter().position(|body| matches!(body, EventBody::RunPaused { .. }));
    assert!(paused.is_some_and(|at| at > 0), "said before anything of its end: {last:?}");
}

#[tokio::test]
async fn an_agent_that_was_answered_while_it_was_paused_is_there_after_a_quit() {
    let mut tree = Tree::new(vec![conducts("press the button"), vec![click()]]).await;
    let started = tree.start("see to it", asks()).await;
    let question = at_rest(&mut tree, 1, 1).await.remove(0);
    let pause = PauseRun { run: Some(started.run.clone()) };
    tree.bench.handle.pause_run(pause, Surface::Dashboard).await.unwrap();
    let answer = crate::asking::answer(&question, Answer::Once);
    tree.bench.handle.answer_approval(answer, Surface::Dashboard).await.unwrap();
    tree.bench.until(|body| matches!(body, EventBody::ApprovalAnswered { .. })).await;
    tree.bench.handle.shutdown().await;
    assert_eq!(tree.bench.clicks(), 0, "it is paused");
    let minds = vec![vec![done()], vec![done()]];
    let mut tree = Tree::at(crashed(&tree.bench), minds, settings(), |router| router).await;
    let runs = tree.bench.handle.list_runs().await.unwrap();
    assert!(runs.len() == 2 && runs.iter().all(|run| run.status.paused), "{runs:?}");
    tree.bench.handle.resume_run(ResumeRun { run: Some(started.run.clone()) }).await.unwrap();
    assert!(matches!(tree.end_of(&started.run).await, RunEnd::Completed { .. }));
    let waited = tree.results(&started, "waitFor").await;
    assert_eq!(waited[0].data["agents"][0]["state"], "completed", "{waited:?}");
}

#[tokio::test]
async fn what_is_stopped_in_the_moment_of_a_quit_is_stopped() {
    let mut tree = Tree::new(vec![conducts("press the button"), vec![click()]]).await;
    let started = tree.start("see to it", asks()).await;
    tree.bench.question().await;
    let handle = tree.bench.handle.clone();
    // Its turn comes after the stop, and before that of whoever hears of it.
    let quit = async {
        tokio::spawn(async move { handle.shutdown().await }).await.unwrap();
        // The process ends here, whether the stop was answered or not.
        crashed(&tree.bench)
    };
    let ((), home) = tokio::join!(tree.stop(&started), quit);
    let tree = Tree::at(home, Vec::new(), settings(), |router| router).await;
    let overview = tree.bench.handle.overview().await.unwrap();
    assert!(overview.questions.is_empty() && overview.runs.is_empty(), "{overview:?}");
    let events = history(&tree.bench.handle, &started.session).await;
    let ends = events.iter().filter_map(|event| match &event.body {
        EventBody::RunEnded { end } => Some(end),
        _ => None,
    });
    let ends: Vec<_> = ends.collect();
    assert!(matches!(ends[..], [RunEnd::Stopped { .. }]), "{ends:?}");
}
