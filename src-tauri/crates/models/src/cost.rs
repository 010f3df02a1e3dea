//! What a turn costs: the provider's own figure if it gives one, else by the price table, else unknown.

use protocol::ids::ModelId;
use protocol::turn::{Cost, Usage, Usd};

use crate::catalogue::{KnownModel, catalogue};

/// Where no price is known.
const USUAL_REREAD: f64 = 0.1;

/// What a turn of `model` cost.
pub fn cost(model: &ModelId, usage: &Usage, billed: Option<Usd>) -> Cost {
    if let Some(amount) = billed {
        return Cost::Billed { usd: amount };
    }
    // Every turn has tokens: this server does not count them.
    if *usage == Usage::default() {
        return Cost::Unknown;
    }
    let known = model.provider().and_then(|provider| catalogue().find(provider, model.name()));
    known.and_then(|known| priced(known, usage)).map_or(Cost::Unknown, |usd| Cost::Priced { usd })
}

/// The share of its price that a token of input costs where the provider has it in its cache: as the table has it, else what
/// most take.
pub fn reread(model: &ModelId) -> f64 {
    let known = model.provider().and_then(|provider| catalogue().find(provider, model.name()));
    let prices = known.and_then(|known| Some((at(known.cache_read.as_ref()?, 0)?, at(&known.input, 0)?)));
    match prices {
        Some((cached, fresh)) if fresh > 0 => (cached as f64 / fresh as f64).clamp(0.0, 1.0),
        _ => USUAL_REREAD,
    }
}

/// `None` if the table has no price for what was used, or if the sum overflows.
fn priced(model: &KnownModel, usage: &Usage) -> Option<Usd> {
    let input = at(&model.input, usage.input)?;
    let or_input = |prices: &Option<Vec<(u64, u64)>>| match prices {
        Some(prices) => at(prices, usage.input),
        // Without a price of its own it costs what all input costs.
        None => Some(input),
    };
    let fresh = usage.input.saturating_sub(usage.cached).saturating_sub(usage.cache_write);
    let parts = [
        (fresh, input),
        (usage.cached, or_input(&model.cache_read)?),
        (usage.cache_write, or_input(&model.cache_write)?),
        (usage.output.checked_add(usage.thinking)?, at(&model.output, usage.input)?),
    ];
    let sum =
        parts.into_iter().try_fold(0_u64, |sum, (tokens, price)| sum.checked_add(tokens.checked_mul(price)?));
    sum.map(Usd)
}

/// The price for a prompt of that length. Above a bound, another price holds for the whole request.
fn at(prices: &[(u64, u64)], prompt: u64) -> Option<u64> {
    prices.iter().rev().find(|(from, _)| *from == 0 || prompt > *from).map(|(_, price)| *price)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(model: &str, usage: Usage) -> Cost {
        cost(&ModelId(model.into()), &usage, None)
    }

    fn priced_at(dollars: f64) -> Cost {
        Cost::Priced { usd: Usd::from_dollars(dollars).unwrap() }
    }

    #[test]
    fn each_kind_of_token_has_its_own_price() {
        let million = 1_000_000;
        let usage = Usage {
            input: million,
            cached: 600_000,
            cache_write: 100_000,
            output: 200_000,
            thinking: 100_000,
        };
        // 0.3 M at 2, 0.6 M at 0.10, 0.1 M at 2.50, 0.3 M at 10.
        assert_eq!(of("anthropic/claude-sonnet-5-5", usage), priced_at(0.6 + 0.06 + 0.25 + 3.0));
        let usage = Usage { input: 1_500, cached: 1_024, output: 22, thinking: 64, cache_write: 0 };
        // (476 x 0.50 + 1024 x 0.05 + 86 x 3.00) / 1 M
        assert_eq!(of("gemini/gemini-3-flash-preview", usage), priced_at(0.000_547_2));
    }

    #[test]
    fn a_prompt_over_a_bound_costs_more_as_a_whole() {
        let usage = |input| Usage { input, output: 10, ..Usage::default() };
        assert_eq!(of("anthropic/claude-haiku-5-5", usage(100_000)), priced_at(0.01 + 0.000_005));
        assert_eq!(of("anthropic/claude-haiku-5-5", usage(100_001)), priced_at(0.050_000_5 + 0.000_025));
    }

    #[test]
    fn what_is_cached_costs_a_share_of_what_is_not() {
        let of = |model: &str| reread(&ModelId(model.into()));
        assert_eq!(of("gemini/gemini-3-flash-preview"), 0.1);
        assert_eq!(of("xai/grok-4.7"), 0.25);
        assert_eq!((of("ollama/qwen3-vl:8b"), of("no-provider")), (USUAL_REREAD, USUAL_REREAD));
    }

    #[test]
    fn what_is_not_known_is_unknown_and_never_nothing() {
        let usage = Usage { input: 5, output: 5, ..Usage::default() };
        assert_eq!(of("gemini/some-model", usage), Cost::Unknown);
        assert_eq!(of("ollama/qwen3-vl:8b", usage), Cost::Unknown);
        assert_eq!(of("no-provider", usage), Cost::Unknown);
        assert_eq!(of("gemini/gemini-3-flash-preview", Usage::default()), Cost::Unknown);
        let absurd = Usage { input: u64::MAX, ..Usage::default() };
        assert_eq!(of("gemini/gemini-3-flash-preview", absurd), Cost::Unknown);
    }

    #[test]
    fn the_providers_own_figure_goes_before_the_table() {
        let usage = Usage { input: 5, output: 5, ..Usage::default() };
        let billed = cost(&ModelId("openrouter/x-ai/grok-4.7".into()), &usage, Some(Usd(7)));
        assert_eq!(billed, Cost::Billed { usd: Usd(7) });
    }
}
