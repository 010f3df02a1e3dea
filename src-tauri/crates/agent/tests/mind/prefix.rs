//! What a provider keeps of one request for the next: the beginning of a body stays as it was, but where the conversation
//! was compacted.

use models::{CONNECT, Http, Options, Request};

use crate::bodies::{RECORDED, own, pictures, remote, run};

const STEPS: usize = 30;

/// A body without its end and without the marks of what to cache, which move on with the newest words.
fn stable(body: &str) -> String {
    let unmarked = body.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
    unmarked.trim_end_matches(['}', ']']).to_owned()
}

#[tokio::test]
async fn over_a_run_of_thirty_steps_each_body_begins_as_the_one_before_but_where_it_was_compacted() {
    // By turns, so that for each provider there are turns of its own and of others.
    let recorded =
        RECORDED.iter().flat_map(|(provider, streams)| streams.iter().map(|one| (*provider, *one)));
    let requests = run(recorded.cycle().take(STEPS)).await;
    let http = Http::new(CONNECT).unwrap();
    for (provider, _) in RECORDED {
        let model = remote(&http, provider, Options::default());
        let bodies: Vec<String> = requests.iter().map(|request| stable(&model.body(request))).collect();
        let mut compactions = 0;
        for (at, (of, bodies)) in requests.windows(2).zip(bodies.windows(2)).enumerate() {
            let is_compacted = is_compacted(&of[0], &of[1]);
            let is_more = bodies[1].starts_with(&bodies[0]) && bodies[1].len() > bodies[0].len();
            assert_eq!(is_more, !is_compacted, "{provider} at step {at}");
            compactions += usize::from(is_compacted);
        }
        // Of 24 messages the newest four stay, of ten pictures one.
        assert!((2..=3).contains(&compactions), "{provider}: {compactions} compactions");
        assert!(requests.iter().any(|request| own(request, provider) > 0), "{provider}");
        println!("{provider}: {} requests, {compactions} compactions", bodies.len());
    }
}

/// Each step says more; only a compaction takes messages or pictures away.
fn is_compacted(before: &Request, after: &Request) -> bool {
    after.messages.len() < before.messages.len() || pictures(after) < pictures(before)
}
