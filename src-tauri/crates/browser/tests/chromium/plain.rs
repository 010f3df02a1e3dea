//! Nothing is lost beside one plain evaluate call, which is also what `cargo xtask bench desktop` measures against.

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::stage::{Stage, query};

fn pages(_: &str) -> (u16, String) {
    let rows: String = (0..202)
        .map(|n| {
            format!(
                "<div class=row><span>Row {n}</span><p>some <b>words</b> of text</p><i>x</i><u>y</u>\
                 <a href='/{n}'>Link {n}</a><button>Do {n}</button><input aria-label='Field {n}' value={n}></div>"
            )
        })
        .collect();
    let style = "<style>.row{display:inline-block;width:150px;vertical-align:top}input{width:60px}</style>";
    (200, format!("<title>Many</title>{style}{rows}<button>Last</button>"))
}

const PLAIN: &str = include_str!("../../examples/measure_pages/plain.js");

/// How many elements a connection of the test's own to the first page finds.
async fn evaluate(port: u16) -> usize {
    let stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let list = crate::stage::get(port, "/json/list").await;
    let list: Value = serde_json::from_str(&list).unwrap();
    let page = list.as_array().unwrap().iter().find(|page| page["title"] == "Many").unwrap();
    let address = page["webSocketDebuggerUrl"].as_str().unwrap().to_owned();
    let (mut socket, _) = tokio_tungstenite::client_async(address, stream).await.unwrap();
    let wish = json!({"expression": PLAIN, "returnByValue": true});
    let call = json!({"id": 1, "method": "Runtime.evaluate", "params": wish});
    socket.send(Message::text(call.to_string())).await.unwrap();
    loop {
        let Message::Text(text) = socket.next().await.unwrap().unwrap() else { continue };
        let answer: Value = serde_json::from_str(&text).unwrap();
        if answer["id"] == 1 {
            let told = answer["result"]["result"]["value"].as_str().unwrap();
            return serde_json::from_str::<Vec<Value>>(told).unwrap().len();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_one_evaluate_call_sees_is_listed() {
    let stage = Stage::open(pages).await.with_port();
    stage.goto("/").await;
    let seen = stage.view(query()).await;
    assert!(seen.elements.len() > 50, "{}", seen.elements.len());
    assert_eq!(evaluate(stage.port()).await, seen.elements.len());
}
