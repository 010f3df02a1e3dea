//! What a request may take at the most, before it is sent: its tokens by what was counted of the last one, and what they
//! and the longest answer cost.

use protocol::ids::ModelId;
use protocol::turn::{Cost, Usage, Usd};

use crate::cost::cost;

/// The longest answer where nothing else is set.
pub const USUAL_OUTPUT: u32 = 16_384;

/// The tokens of a request, thought to be `now`, by what the provider counted for the last one of this conversation, which
/// was thought to have `estimated`: with a tenth more, and no more than by the formula.
pub fn corrected(now: u64, estimated: u64, counted: u64) -> u64 {
    if estimated == 0 || counted == 0 {
        return now;
    }
    let by_ratio = u128::from(now) * u128::from(counted) * 11 / (u128::from(estimated) * 10);
    let by_ratio = u64::try_from(by_ratio).unwrap_or(u64::MAX);
    // A formula that counts too little is corrected, too.
    if counted > estimated { by_ratio } else { now.min(by_ratio) }
}

/// What a request costs before its answer, and each token of that. `None` if no price is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    pub input: Usd,
    pub per_output: Usd,
}

/// The price of a request of `input` tokens, of which `cached` are read from a cache.
pub fn price(model: &ModelId, input: u64, cached: u64) -> Option<Price> {
    let priced = |output| {
        let fresh = input.saturating_sub(cached);
        // What is new may be written to a cache, which costs the most.
        let usage = Usage { input, cached: input - fresh, output, thinking: 0, cache_write: fresh };
        match cost(model, &usage, None) {
            Cost::Priced { usd } => Some(usd),
            Cost::Billed { .. } | Cost::AtLeast { .. } | Cost::Unknown => None,
        }
    };
    let input = priced(0)?;
    Some(Price { input, per_output: priced(1)?.minus(input) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_last_corrects_the_formula_both_ways() {
        assert_eq!(corrected(2_000, 0, 500), 2_000);
        assert_eq!(corrected(2_000, 1_000, 500), 1_100);
        assert_eq!(corrected(2_000, 1_000, 990), 2_000, "no more than by the formula");
        assert_eq!(corrected(2_000, 1_000, 2_000), 4_400);
    }

    #[test]
    fn a_call_is_priced_at_the_most() {
        let price = |model: &str, input, cached| price(&ModelId(model.into()), input, cached);
        // 1 M fresh tokens at 2.50, which is what writing a cache costs; an answer at 10 a million.
        let fresh = price("anthropic/claude-sonnet-5-5", 1_000_000, 0).unwrap();
        assert_eq!(fresh, Price { input: Usd::from_dollars(2.5).unwrap(), per_output: Usd(10_000_000) });
        let cached = price("anthropic/claude-sonnet-5-5", 1_000_000, 1_000_000).unwrap();
        assert_eq!(cached.input, Usd::from_dollars(0.1).unwrap());
        assert_eq!(price("ollama/qwen3-vl:8b", 1_000, 0), None);
    }
}
