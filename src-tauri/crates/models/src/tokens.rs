//! How many tokens a request is, before any provider has counted it; and how many a model takes. Pure.
//!
//! Pictures by the family's formula, text by a bound that is cheap and rather too high: what the provider reports of the
//! turns before corrects it.

use protocol::ids::ModelId;
use serde_json::Value;

use crate::catalogue::catalogue;
use crate::pictures::Family;
use crate::{Message, Part, Request, ToolAnswer};

/// The longest prompt of a model that nobody told us of: less than any of the last years' has.
const UNKNOWN_WINDOW: u64 = 128_000;
/// The same of a server on this computer, which seldom has the memory for more.
const LOCAL_WINDOW: u64 = 32_768;
/// Providers that are servers of the user's own.
const LOCAL: [&str; 3] = ["ollama", "lmstudio", "custom"];
/// Tokens around a message, a call or an answer: roles, names, brackets.
const AROUND: u64 = 8;
/// What the raw JSON of a turn has beside text and calls (signatures, summaries of thinking), in characters a token.
const RAW_CHARS: u64 = 5;

/// The longest prompt of a model, in tokens: as the table has it, else an assumption.
pub fn window(model: &ModelId) -> u64 {
    let provider = model.provider().unwrap_or_default();
    let known = catalogue().find(provider, model.name()).and_then(|known| known.context);
    known.unwrap_or(if LOCAL.contains(&provider) { LOCAL_WINDOW } else { UNKNOWN_WINDOW })
}

/// Tokens of a text, rather more than fewer: three and a half bytes of English are one, a character of another script may
/// be one by itself.
pub fn of_text(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let others = text.chars().filter(|one| !one.is_ascii()).count() as u64;
    (ascii * 2).div_ceil(7) + others
}

/// Tokens of all of it.
pub fn of_request(request: &Request, family: &Family) -> u64 {
    let tools = request
        .tools
        .iter()
        .map(|tool| of_text(&tool.name) + of_text(&tool.description) + of_json(&tool.schema) + AROUND);
    of_text(&request.system) + tools.sum::<u64>() + of_messages(&request.messages, family)
}

pub fn of_messages(messages: &[Message], family: &Family) -> u64 {
    messages.iter().map(|message| of_message(message, family)).sum()
}

pub fn of_message(message: &Message, family: &Family) -> u64 {
    let inner = match message {
        Message::User(parts) => parts.iter().map(|part| of_part(part, family)).sum(),
        Message::Assistant(turn) => {
            let calls = turn.calls.iter().map(|call| of_text(&call.name) + of_json(&call.arguments) + AROUND);
            let said = of_text(&turn.text) + calls.sum::<u64>();
            // It goes back as it came, with more in it than was said.
            let raw = turn.raw.as_str().map_or(0, |raw| raw.len() as u64 / RAW_CHARS);
            said.max(raw)
        }
        Message::ToolResults(answers) => answers.iter().map(|answer| of_answer(answer, family)).sum(),
    };
    inner + AROUND
}

fn of_part(part: &Part, family: &Family) -> u64 {
    match part {
        Part::Text(text) => of_text(text),
        Part::Image(image) => family.tokens_of(image),
    }
}

fn of_answer(answer: &ToolAnswer, family: &Family) -> u64 {
    let picture = answer.image.as_ref().map_or(0, |image| family.tokens_of(image));
    of_json(&answer.response) + picture + AROUND
}

fn of_json(value: &Value) -> u64 {
    of_text(&value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_the_tables_or_a_safe_one() {
        let of = |model: &str| window(&ModelId(model.into()));
        assert_eq!(
            of("anthropic/claude-opus-5-5"),
            catalogue().find("anthropic", "claude-opus-5-5").unwrap().context.unwrap()
        );
        assert_eq!(of("ollama/qwen3-vl:8b"), LOCAL_WINDOW);
        assert_eq!(of("custom/x"), LOCAL_WINDOW);
        assert_eq!(of("openai/some-model-of-tomorrow"), UNKNOWN_WINDOW);
        assert_eq!(of("no-provider"), UNKNOWN_WINDOW);
    }

    #[test]
    fn a_text_is_never_estimated_far_too_low() {
        // Counted with o200k: 10, 13 and 9.
        for (text, counted) in [
            ("The quick brown fox jumps over the lazy dog.", 10),
            (r#"{"effect":"confirmed","summary":"clicked Save"}"#, 13),
            ("これは日本語の文章です。", 9),
        ] {
            let estimated = of_text(text);
            assert!((counted..=counted * 2).contains(&estimated), "{text}: {estimated}");
        }
        assert_eq!(of_text(""), 0);
    }
}
