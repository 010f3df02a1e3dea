//! What a request may take at the most, before it is sent: its tokens by a formula, and what they and the longest answer
//! cost.

use protocol::ids::ModelId;
use protocol::turn::{Cost, Usage, Usd};
use serde_json::Value;

use crate::cost::cost;
use crate::{Message, Part, ProposedCall, Request, ToolAnswer};

/// The longest answer where nothing else is set.
pub const USUAL_OUTPUT: u32 = 16_384;

/// Bytes of text in a token: English has more, and a Japanese letter, which is about one, has as many.
const BYTES_OF_A_TOKEN: usize = 3;
/// Of our pictures, with the vendors that count the most for one.
const TOKENS_OF_A_PICTURE: u64 = 3_000;
/// What stands around each message, call or tool, in bytes.
const AROUND: usize = 24;

/// The tokens of a request, rather too many than too few.
pub fn input_tokens(request: &Request) -> u64 {
    let tools = request.tools.iter();
    let tools = tools.map(|tool| tool.name.len() + tool.description.len() + json(&tool.schema) + AROUND);
    let (mut bytes, mut pictures) = (request.system.len() + tools.sum::<usize>(), 0_u64);
    for message in &request.messages {
        bytes += AROUND;
        match message {
            Message::User(parts) => {
                for part in parts {
                    match part {
                        Part::Text(text) => bytes += text.len(),
                        Part::Image(_) => pictures += 1,
                    }
                }
            }
            Message::Assistant(turn) => {
                let ours = turn.text.len() + turn.calls.iter().map(call).sum::<usize>();
                // What its provider wrote goes back as it came, with signatures.
                bytes += turn.raw.as_str().map_or(ours, |raw| raw.len().max(ours));
            }
            Message::ToolResults(answers) => {
                bytes += answers.iter().map(answer).sum::<usize>();
                pictures += answers.iter().filter(|answer| answer.image.is_some()).count() as u64;
            }
        }
    }
    bytes.div_ceil(BYTES_OF_A_TOKEN) as u64 + pictures * TOKENS_OF_A_PICTURE
}

fn call(call: &ProposedCall) -> usize {
    call.name.len() + json(&call.arguments) + AROUND
}

fn answer(answer: &ToolAnswer) -> usize {
    answer.name.len() + json(&answer.response) + AROUND
}

fn json(value: &Value) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}

/// The same by what the provider counted for the last request of this conversation, of which `estimated` was thought: a
/// tenth is added to it, and no more than by the formula.
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
    use serde_json::json;

    use super::*;
    use crate::{Detail, Image, ToolSpec, Turn};

    #[test]
    fn a_request_is_rather_thought_too_long_than_too_short() {
        let text = |text: &str| Message::User(vec![Part::Text(text.into())]);
        let of = |messages| input_tokens(&Request { messages, ..Request::default() });
        assert!(of(vec![text(&"word ".repeat(1_000))]) >= 1_250, "a token for four letters");
        assert!(of(vec![text(&"語".repeat(1_000))]) >= 1_000, "one for a Japanese letter");
        let (media_type, bytes) = ("image/jpeg".into(), vec![0; 900_000].into());
        let image = Image { media_type, bytes, detail: Detail::Whole };
        let shown = Message::User(vec![Part::Image(image)]);
        let pictures = of(vec![shown]);
        assert!((3_000..3_100).contains(&pictures), "its bytes are no text: {pictures}");
        let (name, description) = ("click".into(), "d".repeat(300));
        let tools = vec![ToolSpec { name, description, schema: json!({ "type": "object" }) }];
        assert!(input_tokens(&Request { tools, ..Request::default() }) >= 100);
        let raw = Value::String("s".repeat(3_000));
        let turn = Turn { text: "short".into(), raw, ..Turn::default() };
        assert!(of(vec![Message::Assistant(turn)]) >= 1_000, "signatures go back, too");
    }

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
