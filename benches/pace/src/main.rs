//! The models' work beside its peers', by turns, for `cargo xtask bench models`: one line of JSON with every trial.
//!
//! Decoding alone; a large request built; a turn asked of a server of this machine that answers at once, beside a bare
//! HTTP client that does the same exchange; a stream read beside the vendors' own Python SDKs. `PEERS_PYTHON` runs
//! `PEERS`, their script. Judges nothing: what a figure should be is xtask's to know. Arguments are the only work to do,
//! the only provider and the only contender, for whoever looks into it with a profiler.

mod asked;
mod peer;
mod server;
mod streams;

use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt;
use futures::future::BoxFuture;
use models::{
    CONNECT, Decoder, Http, Model, Options, Provider, Remote, RemoteOptions, Request, TurnEvent, Wire,
};
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

type Work<'a> = Box<dyn Fn() -> BoxFuture<'a, Result<Trial, Failure>> + 'a>;

/// A way of doing the work, whose it is, and what its trials came to.
struct Contender<'a> {
    who: &'static str,
    work: Work<'a>,
    ms: Vec<f64>,
    count: u64,
}

impl<'a> Contender<'a> {
    fn new(who: &'static str, work: impl Fn() -> BoxFuture<'a, Result<Trial, Failure>> + 'a) -> Self {
        Self { who, work: Box::new(work), ms: Vec::new(), count: 0 }
    }
}

/// A provider with all that is asked of its model.
struct Subject<'a> {
    provider: &'a Provider,
    model: Remote,
    stream: Vec<u8>,
    large: Request,
    usual: Arc<Request>,
    small: Arc<Request>,
    /// `usual` as its wire has it, and where it is sent past us.
    body: String,
    address: String,
}

impl<'a> Subject<'a> {
    fn new(http: &Http, server: &Server, provider: &'a Provider) -> Result<Self, Failure> {
        let id = provider.id.as_str();
        let stream = streams::of(id)?;
        let model = remote(http, server, provider)?;
        let long = |tokens, pictures| asked::long(id, provider.wire, &stream, Size { tokens, pictures });
        // A run's conversation has ten pictures at most, and two after it was made shorter.
        let (large, usual) = (long(100_000, 20), Arc::new(long(40_000, 6)));
        let (body, address) = (model.body(&usual), format!("{}/{id}/bare", server.url));
        Ok(Self { provider, model, stream, large, usual, small: Arc::new(asked::small()), body, address })
    }

    fn id(&self) -> &'a str {
        &self.provider.id
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let load = load()?;
    let server = Server::start().await?;
    let peer = &tokio::sync::Mutex::new(Peer::start(&server.url)?);
    let http = Http::new(CONNECT)?;
    let bare = &reqwest::Client::builder().no_proxy().build()?;
    let known = Provider::known().iter().map(|provider| Subject::new(&http, &server, provider));
    let subjects: Vec<Subject<'_>> = known.collect::<Result<_, _>>()?;
    let mut races = Vec::new();

    let decoding = race("decode", 15, &subjects, |of| {
        let wire = of.provider.wire;
        let ours = Contender::new("ours", move || timed(async move { decode(wire, &of.stream) }));
        [ours, Contender::new("bare", || timed(async { parse(&of.stream) }))]
    });
    races.extend(decoding.await?);

    let building = race("build", 40, &subjects, |of| {
        let ours = Contender::new("ours", || timed(async { Ok(of.model.body(&of.large).len() as u64) }));
        [ours, Contender::new("bare", || timed(async { Ok(asked::bare(&of.large)?.len() as u64) }))]
    });
    races.extend(building.await?);

    let asking = race("turn", 60, &subjects, |of| {
        let ours = Contender::new("ours", || timed(ask(&of.model, &of.usual)));
        let exchanged = || {
            let body = of.body.clone();
            timed(exchange(bare, &of.address, body))
        };
        [ours, Contender::new("bare", exchanged)]
    });
    races.extend(asking.await?);

    let reading = race("read", 20, &subjects, |of| {
        let ours = Contender::new("ours", || timed(ask(&of.model, &of.small)));
        [ours, Contender::new("sdk", || Box::pin(async { peer.lock().await.ask(of.id()).await }))]
    });
    let read = reading.await?;
    let is_alike = |race: &Value| match race["contenders"].as_array().map(Vec::as_slice) {
        Some([ours, theirs]) => ours["count"] == theirs["count"],
        _ => true,
    };
    if let Some(other) = read.iter().find(|race| !is_alike(race)) {
        return Err(format!("an SDK reads another text than we do: {other}").into());
    }
    races.extend(read);
    println!("{}", json!({ "load": [load, self::load()?], "races": races, "memory": [] }));
    Ok(())
}

/// Each contender of each provider its trials, by turns: a busy moment is busy for all. The first of each, in which
/// connections are opened, does not count.
async fn race<'a>(
    work: &str,
    rounds: usize,
    subjects: &'a [Subject<'a>],
    contenders: impl Fn(&'a Subject<'a>) -> [Contender<'a>; 2],
) -> Result<Vec<Value>, Failure> {
    let only: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |at: usize, this: &str| only.get(at).is_none_or(|only| only == this);
    let subjects = subjects.iter().filter(|of| is_wanted(0, work) && is_wanted(1, of.id()));
    let mut races: Vec<(&str, Vec<Contender<'a>>)> = subjects
        .map(|of| {
            (of.id(), contenders(of).into_iter().filter(|contender| is_wanted(2, contender.who)).collect())
        })
        .collect();
    for round in 0..=rounds {
        for contender in races.iter_mut().flat_map(|(_, contenders)| contenders) {
            let Trial { ms, count } = (contender.work)().await?;
            contender.count = count;
            if round > 0 {
                contender.ms.push(ms);
            }
        }
    }
    eprintln!("    {work}");
    let told = |contender: Contender<'_>| json!({ "who": contender.who, "count": contender.count, "ms": contender.ms });
    let told = |(of, contenders): (&str, Vec<Contender<'_>>)| {
        let contenders: Vec<Value> = contenders.into_iter().map(told).collect();
        json!({ "work": format!("{work} {of}"), "contenders": contenders })
    };
    Ok(races.into_iter().map(told).collect())
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
    let provider = Provider { base_url, ..known.clone() };
    let options = Options { thinking: true, ..Options::default() };
    let options = RemoteOptions { options, ..RemoteOptions::new(provider, "some-model") };
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
