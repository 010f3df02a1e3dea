//! `kill -9` at random moments: what was acknowledged is there at the next start, and the run is shown as it ended.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use outside::fake_model::{Asked, FakeModel, MindTurn};
use outside::miki::{self, Client, Miki};
use outside::stage::Stage;
use outside::{LONG, wait_for};
use protocol::Event;
use protocol::EventBody;
use protocol::event::RunEnd;
use protocol::ids::SessionId;
use serde_json::json;

const KILLS: usize = 20;

/// All sorts of calls, without an end.
fn busy() -> impl FnMut(&Asked) -> MindTurn + Send {
    let mut turn = 0;
    move |_| {
        turn += 1;
        match turn % 4 {
            0 => MindTurn::call("I think.", "think", json!({ "thought": format!("thought {turn}") })),
            1 => MindTurn::call("I look.", "screenshot", json!({})),
            2 => MindTurn::call("I type.", "type", json!({ "text": "abc ", "reason": "to be busy" })),
            _ => MindTurn::call("I look closely.", "elementsJson", json!({ "app": "Mousepad" })),
        }
    }
}

/// Small and good enough to spread twenty moments; its seed is printed, so that a failure can be had again.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// What a subscriber was sent until the connection broke.
pub fn collect(mut client: Client, seen: Arc<Mutex<Vec<Event>>>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        while let Ok(event) = client.event() {
            if event.body.is_durable() {
                seen.lock().unwrap().push(event);
            }
        }
    })
}

fn check(client: &mut Client, session: &SessionId, acknowledged: &[Event]) {
    let history = client.history(session).unwrap();
    for event in acknowledged {
        assert!(history.contains(event), "acknowledged and lost: {event:?}");
    }
    assert_eq!(miki::end(&history), Some(RunEnd::Interrupted { reason: None }));
    let count = |wanted: fn(&EventBody) -> bool| history.iter().filter(|e| wanted(&e.body)).count();
    let started = count(|body| matches!(body, EventBody::ToolStarted { .. }));
    let finished = count(|body| matches!(body, EventBody::ToolFinished { .. }));
    assert_eq!(started, finished, "an intent without an outcome was left open");
}

#[test]
fn twenty_kills_in_the_middle_of_a_run_lose_nothing_that_was_acknowledged() {
    // bar: C68
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64 | 1;
    println!("seed {seed}");
    let mut dice = Dice(seed);
    let stage = Stage::plain().unwrap();
    let editor = stage.open_editor(None).unwrap();
    stage.screen().unwrap().activate(&editor.window).unwrap();
    let model = FakeModel::start(busy()).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "maxSteps": 500 })).unwrap();
    let mut last: Option<(SessionId, Vec<Event>)> = None;
    let mut total = 0;
    for kill in 0..=KILLS {
        let mut run = miki.start(&stage, "run", &["run", "be busy", "--json"]).unwrap();
        let mut client = miki.connect(LONG).unwrap();
        if let Some((session, acknowledged)) = last.take() {
            check(&mut client, &session, &acknowledged);
            total += acknowledged.len();
        }
        if kill == KILLS {
            break;
        }
        client.subscribe().unwrap();
        // The run of this start, which is the newest session.
        let session = wait_for("the run", LONG, || {
            let overview = client.overview().ok()?;
            let newest = overview.sessions.first()?;
            newest.last_run.as_ref()?.end.is_none().then(|| newest.id.clone())
        })
        .unwrap();
        let seen = Arc::new(Mutex::new(client.history(&session).unwrap()));
        let collector = collect(client, seen.clone());
        // The random moment itself: no condition could stand for it.
        std::thread::sleep(Duration::from_millis(dice.below(1_200)));
        run.kill();
        collector.join().unwrap();
        let mut acknowledged = std::mem::take(&mut *seen.lock().unwrap());
        acknowledged.retain(|event| event.scope.session.as_ref() == Some(&session));
        last = Some((session, acknowledged));
    }
    println!("{KILLS} kills, {total} acknowledged events, 0 lost");
    assert!(total > KILLS * 2, "hardly anything was going on: {total} events");
}
