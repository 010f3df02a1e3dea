//! The models' work beside its peers', by turns, for `cargo xtask bench models`: one line of JSON with every trial.
//!
//! Decoding alone; a large request built; a turn asked of a server of this machine that answers at once, beside a bare
//! HTTP client that does the same exchange; a stream read beside the vendors' own Python SDKs. `PEERS_PYTHON` runs
//! `PEERS`, their script. Judges nothing: what a figure should be is xtask's to know. Arguments are the only work to do,
//! the only provider and the only lane, for whoever looks into it with a profiler.

mod asked;
mod peer;
mod server;
mod streams;

use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt;
use futures::future::BoxFuture;
use models::{
    CONNECT, Decoder, Http, Model, Options, Provider, Remote, RemoteOptions, Request, Timeouts, TurnEvent,
    Wire,
};
use protocol::ids::ModelId;
use serde_json::{Value, json};

use asked::Size;
use peer::Peer;
use server::Server;

pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Of streams, in a trial of decoding.
const DECODED: usize = 8_000_000;
/// As a socket gives them.
const PIECE: usize = 16 * 1024;

/// What a trial took, and what was found in it.
pub struct Trial {
    ms: f64,
    count: u64,
}

type Lane<'a> = (&'static str, Box<dyn Fn() -> BoxFuture<'a, Result<Trial, Failure>> + 'a>);

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let load = load()?;
    let server = Server::start().await?;
    let peer = tokio::sync::Mutex::new(Peer::start(&server.url)?);
    let http = Http::new(CONNECT)?;
    let bare = reqwest::Client::builder().no_proxy().build()?;
    let mut races = Vec::new();
    for provider in Provider::known() {
        let id = provider.id.as_str();
        let stream = streams::of(id)?;
        let model = remote(&http, &server, provider)?;
        let long = |tokens, pictures| asked::long(id, provider.wire, &stream, Size { tokens, pictures });
        // A run's conversation has ten pictures at most, and two after it was made shorter.
        let (large, usual) = (long(100_000, 20), Arc::new(long(40_000, 6)));
        let small = Arc::new(asked::small());
        let body = model.body(&usual);
        let address = format!("{}/{id}/bare", server.url);

        let lanes: Vec<Lane<'_>> = vec![
            ("ours", Box::new(|| timed(async { decode(provider.wire, &stream) }))),
            ("bare", Box::new(|| timed(async { parse(&stream) }))),
        ];
        races.push(race("decode", id, 15, &lanes).await?);

        let lanes: Vec<Lane<'_>> = vec![
            ("ours", Box::new(|| timed(async { Ok(model.body(&large).len() as u64) }))),
            ("bare", Box::new(|| timed(async { Ok(asked::bare(&large)?.len() as u64) }))),
        ];
        races.push(race("build", id, 40, &lanes).await?);

        let lanes: Vec<Lane<'_>> = vec![
            ("ours", Box::new(|| timed(ask(&model, &usual)))),
            (
                "bare",
                Box::new(|| {
                    let body = body.clone();
                    timed(exchange(&bare, &address, body))
                }),
            ),
        ];
        races.push(race("turn", id, 60, &lanes).await?);

        let lanes: Vec<Lane<'_>> = vec![
            ("ours", Box::new(|| timed(ask(&model, &small)))),
            ("sdk", Box::new(|| Box::pin(async { peer.lock().await.ask(id).await }))),
        ];
        let read = race("read", id, 20, &lanes).await?;
        if read["lanes"][0]["count"] != read["lanes"][1]["count"] {
            return Err(format!("{id}: its SDK reads another text than we do: {read}").into());
        }
        races.push(read);
    }
    println!("{}", json!({ "load": [load, self::load()?], "races": races, "memory": [] }));
    Ok(())
}

/// Each lane its trials, by turns: a busy moment is busy for all. The first of each, in which connections are opened,
/// does not count.
async fn race(work: &str, of: &str, rounds: usize, lanes: &[Lane<'_>]) -> Result<Value, Failure> {
    let only: Vec<String> = std::env::args().skip(1).collect();
    if only.iter().zip([work, of]).any(|(only, this)| only != this) {
        return Ok(json!({ "work": format!("{work} {of}"), "lanes": [] }));
    }
    let mut times = vec![Vec::with_capacity(rounds); lanes.len()];
    let mut counts = vec![0; lanes.len()];
    for round in 0..=rounds {
        for (at, (who, lane)) in lanes.iter().enumerate() {
            if only.get(2).is_some_and(|only| only != who) {
                continue;
            }
            let Trial { ms, count } = lane().await?;
            counts[at] = count;
            if round > 0 {
                times[at].push(ms);
            }
        }
    }
    eprintln!("    {work} {of}");
    let lanes: Vec<Value> = lanes
        .iter()
        .zip(times.iter().zip(&counts))
        .map(|((who, _), (ms, count))| json!({ "who": who, "count": count, "ms": ms }))
        .collect();
    Ok(json!({ "work": format!("{work} {of}"), "lanes": lanes }))
}

fn timed<'a>(
    work: impl Future<Output = Result<u64, Failure>> + Send + 'a,
) -> BoxFuture<'a, Result<Trial, Failure>> {
    Box::pin(async {
        let began = Instant::now();
        let count = work.await?;
        Ok(Trial { ms: began.elapsed().as_secs_f64() * 1_000.0, count })
    })
}

fn remote(http: &Http, server: &Server, known: &Provider) -> Result<Remote, Failure> {
    let base_url = format!("{}/{}", server.url, known.id);
    let options = RemoteOptions {
        provider: Provider { base_url, ..known.clone() },
        model: ModelId(format!("{}/some-model", known.id)),
        key: None,
        options: Options { thinking: true, ..Options::default() },
        timeouts: Timeouts::default(),
    };
    Ok(Remote::new(http, options)?)
}

/// Megabytes, turn by turn, in pieces as a socket gives them.
fn decode(wire: Wire, stream: &[u8]) -> Result<u64, Failure> {
    let mut read = 0;
    let mut events = Vec::new();
    while read < DECODED {
        let mut decoder = Decoder::new(wire, wire.name());
        for piece in stream.chunks(PIECE) {
            decoder.push(piece, &mut events)?;
            events.clear();
        }
        std::hint::black_box(decoder.end(&mut events)?);
        read += stream.len();
    }
    Ok((read / 1_000_000) as u64)
}

/// The same as a tree each event and no more: all in memory, nothing cut, nothing understood.
fn parse(stream: &[u8]) -> Result<u64, Failure> {
    let mut read = 0;
    while read < DECODED {
        for line in std::str::from_utf8(stream)?.lines() {
            let data = line.strip_prefix("data: ").unwrap_or(line);
            if data.starts_with('{') {
                std::hint::black_box(serde_json::from_str::<Value>(data)?);
            }
        }
        read += stream.len();
    }
    Ok((read / 1_000_000) as u64)
}

/// A turn from the request to its end; tells the characters of its text.
async fn ask(model: &Remote, request: &Arc<Request>) -> Result<u64, Failure> {
    let mut stream = model.stream(Arc::clone(request)).await?;
    let (mut told, mut ended) = (0, false);
    while let Some(event) = stream.next().await {
        match event? {
            TurnEvent::Text(text) => told += text.chars().count() as u64,
            TurnEvent::Finished { .. } => ended = true,
            _ => {}
        }
    }
    if ended { Ok(told) } else { Err("a turn ended without its end".into()) }
}

/// The same bytes there and back, by a client that looks at none of them.
async fn exchange(client: &reqwest::Client, address: &str, body: String) -> Result<u64, Failure> {
    let request = client.post(address).header("content-type", "application/json").body(body);
    let mut answer = request.send().await?.bytes_stream();
    let mut read = 0;
    while let Some(piece) = answer.next().await {
        read += piece?.len() as u64;
    }
    Ok(read)
}

fn load() -> Result<f64, Failure> {
    // Linux alone tells it here.
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_else(|_| "nan".into());
    Ok(text.split_whitespace().next().unwrap_or("nan").parse().unwrap_or(0.0))
}
