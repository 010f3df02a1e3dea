//! Times held by most trials: a single one may meet a moment in which the machine did something else.

use std::time::Duration;

/// Of nine at most.
const ENOUGH: usize = 5;

/// Makes trials until most took no longer than `bound`, or as many were late.
pub async fn assert_prompt(what: &str, bound: Duration, mut trial: impl AsyncFnMut() -> Duration) {
    let (mut prompt, mut late) = (Vec::new(), Vec::new());
    while prompt.len() < ENOUGH {
        let took = trial().await;
        if took <= bound { &mut prompt } else { &mut late }.push(took);
        assert!(late.len() < ENOUGH, "{what}: within {bound:?} were {prompt:?}, late {late:?}");
    }
    println!("{what}: {prompt:?}, late {late:?}");
}
