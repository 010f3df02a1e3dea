//! Other programs' agents as models of runs.

use models::ToolAnswer;
use protocol::ids::SessionId;

use super::*;

fn told(id: &str, user: &str) -> Arc<Request> {
    let answer = ToolAnswer {
        id: Some(id.into()),
        name: "click".into(),
        response: json!({ "effect": "confirmed" }),
        image: None,
    };
    let messages = vec![
        Message::User(vec![Part::Text("goal".into())]),
        Message::ToolResults(vec![answer]),
        Message::User(vec![Part::Text(user.into())]),
    ];
    Arc::new(Request { messages, ..Request::default() })
}

fn comes(client: &str, conducts: bool) -> Comes {
    Comes { client: client.into(), conducts, way: GuestWay::Stdio, at: Timestamp(7) }
}

async fn turn(model: &SharedModel, request: Arc<Request>) -> ProposedCall {
    let mut events = model.stream(request).await.unwrap();
    let Some(Ok(TurnEvent::Finished { mut turn, .. })) = events.next().await else { panic!("no turn") };
    turn.calls.remove(0)
}

#[tokio::test]
async fn a_guests_calls_are_its_runs_turns_and_their_answers_go_back_to_it() {
    let guests = Arc::new(Guests::default());
    let (id, ticket) = guests.open(comes("Claude Desktop", false)).unwrap();
    assert_eq!(id.0, "mcp/claude-desktop");
    let model = guests.take(&id).unwrap();
    assert!(guests.take(&id).is_err(), "one run is its, and no other");
    let calls = {
        let (guests, ticket) = (Arc::clone(&guests), ticket.clone());
        tokio::spawn(async move {
            let call = |tool: &str| GuestCall {
                ticket: ticket.clone(),
                tool: tool.into(),
                arguments: json!({ "x": 1 }),
            };
            guests.call(call("click")).await
        })
    };
    let first = turn(&model, Arc::default()).await;
    assert_eq!((first.name.as_str(), &first.arguments), ("click", &json!({ "x": 1 })));
    // Its next turn is asked for with what came of the first, and given up while nobody calls.
    let waiting = turn(&model, told(first.id.as_deref().unwrap(), "mind the gap"));
    assert!(waiting.now_or_never().is_none());
    let answer = calls.await.unwrap().unwrap();
    assert_eq!((answer.answer, answer.said), (json!({ "effect": "confirmed" }), vec!["mind the gap".into()]));
    guests.leave(&ticket);
    let last = turn(&model, Arc::default()).await;
    assert_eq!(last.name, "done");
}

#[tokio::test]
async fn without_its_ticket_or_after_its_runs_end_a_call_goes_nowhere() {
    let guests = Guests::default();
    let (id, ticket) = guests.open(comes("x", false)).unwrap();
    let call = |ticket: &str| GuestCall { ticket: ticket.into(), tool: "click".into(), arguments: json!({}) };
    assert_eq!(guests.call(call("guessed")).await.unwrap_err().code, ErrorCode::NotFound);
    // Two of one name are told apart.
    assert_eq!(guests.open(comes("x", true)).unwrap().0.0, "mcp/x-2");
    drop(guests.take(&id).unwrap());
    assert_eq!(guests.call(call(&ticket)).await.unwrap_err().code, ErrorCode::NotFound);
}

#[test]
fn a_clients_name_is_no_address_and_no_words() {
    for (given, plain) in [
        ("https://evil.example/?q=1", "https-evil-example-q-1"),
        ("Claude Desktop", "claude-desktop"),
        ("", "client"),
        ("\u{202e}../..", "client"),
    ] {
        assert_eq!(super::plain(given), plain);
    }
}

#[test]
fn who_is_there_is_told_by_the_name_it_gives_itself_until_its_run_has_ended() {
    let guests = Guests::default();
    let (id, ticket) =
        guests.open(Comes { way: GuestWay::Http, ..comes("Pond\n\u{202e}Desktop", true) }).unwrap();
    assert_eq!(guests.list(), [], "its run has not begun");
    let run = StartedRun { session: SessionId("s-1".into()), run: RunId("r-1".into()) };
    guests.note_run(&ticket, &run);
    let StartedRun { session, run } = run;
    let (client, since) = ("Pond Desktop".to_owned(), Timestamp(7));
    let view = GuestView { session, run, client, conducts: true, way: GuestWay::Http, since };
    assert_eq!(guests.list(), [view]);
    drop(guests.take(&id).unwrap());
    assert_eq!(guests.list(), []);
}
