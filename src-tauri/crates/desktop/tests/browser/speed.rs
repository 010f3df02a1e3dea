//! The figure: the visible interactive elements of a page of 1,822 elements, against one evaluate call for the same.

use std::time::{Duration, Instant};

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

/// What a program would send that needs nothing but name, role and bounds of what is in view.
const PLAIN: &str = r#"JSON.stringify([...document.querySelectorAll('a[href],button,input,select,textarea,summary,[role],[tabindex],[onclick],[contenteditable]')]
.filter(e=>{const b=e.getBoundingClientRect();return b.width&&b.height&&b.bottom>0&&b.right>0&&b.top<innerHeight&&b.left<innerWidth&&e.checkVisibility({visibilityProperty:true})})
.map((e,i)=>{const b=e.getBoundingClientRect();return{i,role:e.getAttribute('role')||e.localName,name:(e.getAttribute('aria-label')||e.innerText||e.value||'').trim().slice(0,200),value:e.value||'',href:e.href||'',disabled:!!e.disabled,checked:!!e.checked,focused:e===document.activeElement,x:b.x,y:b.y,width:b.width,height:b.height}}))"#;

/// A connection of the test's own to the first page.
async fn evaluate(port: u16, times: usize) -> (Duration, usize) {
    let stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let list = crate::stage::get(port, "/json/list").await;
    let list: Value = serde_json::from_str(&list).unwrap();
    let page = list.as_array().unwrap().iter().find(|page| page["title"] == "Many").unwrap();
    let address = page["webSocketDebuggerUrl"].as_str().unwrap().to_owned();
    let (mut socket, _) = tokio_tungstenite::client_async(address, stream).await.unwrap();
    let mut taken = Vec::new();
    let mut count = 0;
    for id in 1..=times {
        let started = Instant::now();
        let call = json!({"id": id, "method": "Runtime.evaluate", "params": {"expression": PLAIN, "returnByValue": true}});
        socket.send(Message::text(call.to_string())).await.unwrap();
        let answer = loop {
            let Message::Text(text) = socket.next().await.unwrap().unwrap() else { continue };
            let answer: Value = serde_json::from_str(&text).unwrap();
            if answer["id"] == id {
                break answer;
            }
        };
        let elements: Value =
            serde_json::from_str(answer["result"]["result"]["value"].as_str().unwrap()).unwrap();
        taken.push(started.elapsed());
        count = elements.as_array().unwrap().len();
    }
    taken.sort();
    (taken[times / 2], count)
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_one_evaluate_call_sees_is_listed_and_what_it_costs_is_printed() {
    let stage = Stage::open(pages).await;
    stage.goto("/").await;
    let seen = stage.view(query()).await;
    assert!(seen.elements.len() > 50, "{}", seen.elements.len());
    let file = std::fs::read_to_string(stage.profile().join("DevToolsActivePort")).unwrap();
    let port: u16 = file.lines().next().unwrap().parse().unwrap();
    // Measured in turns, for the reader: a figure is no test.
    for _ in 0..2 {
        let (plain, count) = evaluate(port, 15).await;
        let mut taken = Vec::new();
        for _ in 0..15 {
            let started = Instant::now();
            let view = stage.view(query()).await;
            taken.push(started.elapsed());
            assert_eq!(view.elements.len(), count);
        }
        taken.sort();
        let ratio = taken[7].as_secs_f64() / plain.as_secs_f64();
        println!("{count} elements: ours {:?}, one evaluate {plain:?}, ratio {ratio:.2}", taken[7]);
    }
}
