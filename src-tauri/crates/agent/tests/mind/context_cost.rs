//! What the conversation of a run costs: thirty steps on screens as an office has them, with real pictures, counted by each
//! provider's own formula and prices. Beside it what the same run would have cost in two other ways, computed here.

mod office;
mod others;

use std::sync::Arc;

use models::pictures::{Family, family};
use models::{Request, tokens};
use protocol::EventBody;
use protocol::command::RunOverrides;
use protocol::ids::ModelId;
use protocol::tool::ApprovalMode;
use protocol::turn::{Cost, Usage};

use crate::bench::{Bench, history};
use office::Office;
use others::{Exchange, Old};

/// One of each vendor whose prices are known.
const MODELS: [&str; 5] = [
    "gemini/gemini-3-flash-preview",
    "gemini/gemini-2.5-flash",
    "anthropic/claude-opus-5-5",
    "openai/gpt-6.1-terra",
    "xai/grok-4.7",
];

/// In 10^-12 dollars, and how it came about.
#[derive(Default)]
struct Bill {
    tokens: u64,
    cached: u64,
    price: u64,
}

impl Bill {
    fn add(&mut self, model: &ModelId, input: u64, cached: u64) {
        // Anthropic charges for writing its cache, too; others have no price for that.
        let written = if model.provider() == Some("anthropic") { input - cached } else { 0 };
        let usage = Usage { input, cached, cache_write: written, ..Usage::default() };
        let Cost::Priced { usd } = models::cost::cost(model, &usage, None) else {
            panic!("{model} has no price")
        };
        self.tokens += input;
        self.cached += cached;
        self.price += usd.0;
    }
}

/// What a request has in common with the one before it: all of that was read before.
fn common(before: Option<&Request>, now: &Request, family: &Family) -> u64 {
    let Some(before) = before.filter(|before| before.system == now.system && before.tools == now.tools)
    else {
        return 0;
    };
    let same = before.messages.iter().zip(&now.messages).take_while(|(one, other)| one == other).count();
    let begins = Request { messages: now.messages[..same].to_vec(), ..now.clone() };
    tokens::of_request(&begins, family)
}

fn bill(model: &ModelId, requests: &[Arc<Request>]) -> Bill {
    let family = family(model);
    let mut bill = Bill::default();
    let mut before = None;
    for request in requests {
        let now = &**request;
        bill.add(model, tokens::of_request(now, family), common(before, now, family));
        before = Some(now);
    }
    bill
}

/// The requests of the run, and its turns with their answers as they were before any was left out.
async fn run(model: &ModelId) -> (Vec<Arc<Request>>, Vec<Exchange>) {
    let office = Office::new();
    let mut bench = Bench::with(crate::bench::home(), office.steps(), |setup| {
        setup.settings.model = model.clone();
    })
    .await;
    office.open(&bench.desktop);
    let overrides =
        RunOverrides { approval: Some(ApprovalMode::Auto), max_steps: Some(100), ..RunOverrides::default() };
    let session = bench.start_with(None, overrides).await;
    bench.end().await;
    let requests = bench.model.requests();
    assert_eq!(requests.len(), office.steps().len());
    let mut exchanges: Vec<Exchange> = Vec::new();
    for event in history(&bench.handle, &session).await {
        match event.body {
            EventBody::TurnFinished { text, calls, .. } => exchanges.push(Exchange::of(text, calls)),
            EventBody::ToolFinished { result, .. } => {
                let at = exchanges.len() - 1;
                let whole = office.whole_list(at);
                exchanges[at].answer(result, whole);
            }
            _ => {}
        }
    }
    (requests, exchanges)
}

/// What each request has, for who looks where it goes.
fn steps(model: &ModelId, requests: &[Arc<Request>]) {
    let family = family(model);
    let mut before = None;
    for (at, request) in requests.iter().enumerate() {
        let now = &**request;
        let last = now.messages.last().unwrap();
        let picture = match last {
            models::Message::ToolResults(answers) => {
                answers.iter().filter_map(|one| one.image.as_ref()).map(|image| family.tokens_of(image)).sum()
            }
            models::Message::User(_) | models::Message::Assistant(_) => 0,
        };
        println!(
            "  {at:>2}: {:>6} tokens, {:>6} cached, {:>3} messages; the last has {:>5} and {picture:>5} of its picture",
            tokens::of_request(now, family),
            common(before, now, family),
            now.messages.len(),
            tokens::of_message(last, family) - picture,
        );
        before = Some(now);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thirty_steps_cost_a_quarter_of_all_pictures_uncached_and_three_fifths_of_ten_whole_ones() {
    println!(
        "\n{:<32} {:>9} {:>9}  {:>10} {:>10} {:>10} {:>10}  {:>7} {:>7}",
        "30 steps, in dollars",
        "tokens",
        "cached",
        "ours",
        "before",
        "12 pict.",
        "24 pict.",
        "of bef.",
        "of 12"
    );
    let mut dearer: Vec<ModelId> = Vec::new();
    for model in MODELS.map(|model| ModelId(model.into())) {
        let (requests, exchanges) = run(&model).await;
        let ours = bill(&model, &requests);
        // Told what each request has.
        if std::env::var_os("STEPS").is_some() {
            steps(&model, &requests);
        }
        let old = Old::new(&requests[0], family(&model)).requests(&exchanges);
        let before = bill(&model, &old);
        let mut pictures_in = [0, 1].map(|more| {
            let mut bill = Bill::default();
            for request in others::uncached(&requests[0], &exchanges, more == 1) {
                bill.add(&model, tokens::of_request(&request, family(&model)), 0);
            }
            bill
        });
        // Nothing is written to a cache that nobody reads.
        if model.provider() == Some("anthropic") {
            for bill in &mut pictures_in {
                bill.price = bill.price * 4 / 5;
            }
        }
        let [twelve, all] = pictures_in;
        let dollars = |bill: &Bill| format!("{:.4}", bill.price as f64 / 1e12);
        let percent = |of: &Bill| ours.price * 100 / of.price;
        println!(
            "{:<32} {:>9} {:>9}  {:>10} {:>10} {:>10} {:>10}  {:>5} % {:>5} %",
            model.0,
            ours.tokens,
            ours.cached,
            dollars(&ours),
            dollars(&before),
            dollars(&twelve),
            dollars(&all),
            percent(&before),
            percent(&twelve)
        );
        // A group that is asked for changes what each request begins with, but where tools are deferred.
        let middle = &requests[requests.len() / 2];
        let (mut missed, mut read) = (Bill::default(), Bill::default());
        let (input, cached) = (
            tokens::of_request(middle, family(&model)),
            common(Some(&requests[requests.len() / 2 - 1]), middle, family(&model)),
        );
        let vendor = models::Provider::named(model.provider().unwrap_or_default()).unwrap();
        let defers = models::deferral::defers(vendor, model.name());
        missed.add(&model, input, if defers { cached } else { 0 });
        read.add(&model, input, cached);
        println!(
            "{:<32} `useTools` in the middle: {} tokens are read once more, {} dollars",
            "",
            if defers { 0 } else { cached },
            dollars(&Bill { price: missed.price - read.price, ..Bill::default() })
        );
        if ours.price * 4 > twelve.price || ours.price * 100 > before.price * 60 {
            dearer.push(model);
        }
    }
    assert_eq!(dearer, [], "more than a quarter, or than 60 % of what it was");
}
