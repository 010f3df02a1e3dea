//! What one model response was: text, calls, usage, cost, and why it ended.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Tokens of one or more turns. What a provider does not tell stays 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// All prompt tokens, cached ones included.
    pub input: u64,
    /// The part of `input` read from a cache.
    pub cached: u64,
    /// Answer tokens, thinking not included.
    pub output: u64,
    pub thinking: u64,
    /// The part of `input` written to a cache, which costs more than reading it.
    #[serde(default)]
    pub cache_write: u64,
}

impl Usage {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input + other.input,
            cached: self.cached + other.cached,
            output: self.output + other.output,
            thinking: self.thinking + other.thinking,
            cache_write: self.cache_write + other.cache_write,
        }
    }
}

/// US dollars, in pieces of which a dollar has 10^12: exact for any price per million tokens with six decimals.
/// In JSON a decimal number in a string, so that no reader rounds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Usd(pub u64);

const DOLLAR: u64 = 1_000_000_000_000;
const DECIMALS: usize = 12;

impl Usd {
    /// `None` if that is no amount.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let pieces = (dollars * DOLLAR as f64).round();
        // Above it, a float no longer tells pieces apart; nobody's turn costs so much.
        (pieces.is_finite() && (0.0..=9e15).contains(&pieces)).then_some(Self(pieces as u64))
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    #[must_use]
    pub fn times(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }

    /// For an estimate: two figures, rounded up, and whole cents from a dollar on.
    pub fn rough(self) -> String {
        let mut piece = DOLLAR / 100;
        while piece > 1 && self.0 < piece * 10 {
            piece /= 10;
        }
        let rounded = Self(self.0.div_ceil(piece).saturating_mul(piece));
        if rounded.0 < DOLLAR { rounded.to_string() } else { rounded.cents() }
    }

    fn cents(self) -> String {
        format!("{}.{:02}", self.0 / DOLLAR, self.0 % DOLLAR / (DOLLAR / 100))
    }

    /// For glancing: four decimals, rounded up, so that something is never shown as nothing.
    pub fn brief(self) -> String {
        let ten_thousandths = self.0.div_ceil(DOLLAR / 10_000);
        format!("{}.{:04}", ten_thousandths / 10_000, ten_thousandths % 10_000)
    }
}

/// Dollars as a decimal number without its trailing zeros, never rounded.
impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = format!("{:012}", self.0 % DOLLAR);
        let decimals = decimals.trim_end_matches('0');
        let point = if decimals.is_empty() { "" } else { "." };
        write!(f, "{}{point}{decimals}", self.0 / DOLLAR)
    }
}

/// What is not an amount in dollars.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an amount in dollars, as 0.0123")]
pub struct NotUsd(String);

impl FromStr for Usd {
    type Err = NotUsd;

    fn from_str(text: &str) -> Result<Self, NotUsd> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let pieces = (digits(whole) && digits(decimals) && decimals.len() <= DECIMALS).then(|| {
            let dollars = whole.parse::<u64>().ok()?.checked_mul(DOLLAR)?;
            dollars.checked_add(format!("{decimals:0<DECIMALS$}").parse().ok()?)
        });
        pieces.flatten().map(Self).ok_or_else(|| NotUsd(text.to_owned()))
    }
}

impl From<Usd> for String {
    fn from(amount: Usd) -> Self {
        amount.to_string()
    }
}

impl TryFrom<String> for Usd {
    type Error = NotUsd;

    fn try_from(text: String) -> Result<Self, NotUsd> {
        text.parse()
    }
}

/// What a turn cost, and how we know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Cost {
    /// The provider's own figure.
    Billed { usd: Usd },
    /// By the price table of the program.
    Priced { usd: Usd },
    /// By the same table, of what was counted: a search or the rest of a turn that broke off comes on top.
    AtLeast { usd: Usd },
    /// No figure, no price, or no count of tokens. Not nothing.
    #[default]
    Unknown,
}

impl Cost {
    /// The same where not all of it was counted. The provider's own figure has all in it.
    #[must_use]
    pub fn at_least(self) -> Self {
        match self {
            Self::Priced { usd } => Self::AtLeast { usd },
            Self::Billed { .. } | Self::AtLeast { .. } | Self::Unknown => self,
        }
    }
}

/// What some turns cost together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// The sum over the turns whose cost is known.
    pub usd: Usd,
    pub turns: u32,
    /// Turns of unknown cost.
    pub unknown: u32,
    /// Turns that may have cost more than is in `usd`.
    pub partly: u32,
}

impl Spent {
    #[must_use]
    pub fn plus(self, cost: Cost) -> Self {
        let mut spent = Self { turns: self.turns + 1, ..self };
        match cost {
            Cost::Billed { usd } | Cost::Priced { usd } => spent.usd = self.usd.plus(usd),
            Cost::AtLeast { usd } => {
                spent.usd = self.usd.plus(usd);
                spent.partly += 1;
            }
            Cost::Unknown => spent.unknown += 1,
        }
        spent
    }

    /// Whether the sum is all that was spent.
    pub fn is_exact(self) -> bool {
        self.turns > 0 && self.unknown == 0 && self.partly == 0
    }

    /// Whether nothing can be said of it.
    pub fn is_unknown(self) -> bool {
        self.unknown == self.turns
    }
}

/// `$0.0123`, `at least $0.0123 (2 turns of unknown cost, 1 turn not counted in full)`, `unknown`
impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unknown() {
            return write!(f, "unknown");
        }
        if self.is_exact() {
            return write!(f, "${}", self.usd);
        }
        let turns = |count, what: &str| match count {
            0 => None,
            1 => Some(format!("1 turn {what}")),
            count => Some(format!("{count} turns {what}")),
        };
        let why = [turns(self.unknown, "of unknown cost"), turns(self.partly, "not counted in full")];
        let why: Vec<String> = why.into_iter().flatten().collect();
        write!(f, "at least ${} ({})", self.usd, why.join(", "))
    }
}

/// Why a turn ended. Only [`StopReason::ToolCalls`] and [`StopReason::End`] turns may have runnable calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum StopReason {
    End,
    ToolCalls,
    MaxTokens,
    Refused {
        category: String,
    },
    Paused,
    ContextFull,
    /// The prompt or the answer was blocked by the provider.
    Blocked {
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_written_exactly_and_read_back() {
        for (pieces, text) in [
            (0, "0"),
            (1, "0.000000000001"),
            (DOLLAR, "1"),
            (1_230_000_000, "0.00123"),
            (20_500_000_000_000, "20.5"),
        ] {
            assert_eq!(Usd(pieces).to_string(), text);
            assert_eq!(text.parse(), Ok(Usd(pieces)));
            assert_eq!(serde_json::to_string(&Usd(pieces)).unwrap(), format!("{text:?}"));
        }
        assert_eq!(Usd::from_dollars(0.00123), Some(Usd(1_230_000_000)));
        for bad in [-1.0, f64::NAN, f64::INFINITY, 1e30] {
            assert_eq!(Usd::from_dollars(bad), None);
        }
        for bad in ["", ".", "1.", ".5", "-1", "+1", "1e3", "0.0000000000001", "99999999999999999999", "$1"] {
            assert!(bad.parse::<Usd>().is_err(), "{bad}");
        }
    }

    #[test]
    fn something_is_never_shown_as_nothing() {
        let brief = [0, 1, 1_230_000_000, DOLLAR, 1_999_950_000_000].map(|pieces| Usd(pieces).brief());
        assert_eq!(brief, ["0.0000", "0.0001", "0.0013", "1.0000", "2.0000"]);
    }

    #[test]
    fn an_estimate_has_two_figures() {
        let rough = |dollars| Usd::from_dollars(dollars).unwrap().rough();
        assert_eq!([0.0, 0.000_123, 0.0307, 0.08].map(rough), ["0", "0.00013", "0.031", "0.08"]);
        assert_eq!([0.994, 1.0, 12.341].map(rough), ["1.00", "1.00", "12.35"]);
    }

    #[test]
    fn what_is_not_known_is_said_beside_the_sum() {
        let known = Cost::Priced { usd: Usd(1_230_000_000) };
        let spent =
            |costs: &[Cost]| costs.iter().fold(Spent::default(), |spent, cost| spent.plus(*cost)).to_string();
        assert_eq!(spent(&[]), "unknown");
        assert_eq!(spent(&[Cost::Unknown, Cost::Unknown]), "unknown");
        assert_eq!(spent(&[known, Cost::Billed { usd: Usd(DOLLAR) }]), "$1.00123");
        assert_eq!(spent(&[known, Cost::Unknown]), "at least $0.00123 (1 turn of unknown cost)");
        assert_eq!(
            spent(&[known, Cost::Unknown, Cost::Unknown]),
            "at least $0.00123 (2 turns of unknown cost)"
        );
        let partly = known.at_least();
        assert_eq!(spent(&[partly]), "at least $0.00123 (1 turn not counted in full)");
        assert_eq!(
            spent(&[partly, known, partly, Cost::Unknown]),
            "at least $0.00369 (1 turn of unknown cost, 2 turns not counted in full)"
        );
        for cost in [partly, Cost::Unknown, Cost::Billed { usd: Usd(5) }] {
            assert_eq!(cost.at_least(), cost, "known as far as it can be");
        }
    }

    #[test]
    fn a_cost_says_how_it_is_known() {
        let json = |cost: Cost| serde_json::to_string(&cost).unwrap();
        assert_eq!(json(Cost::Billed { usd: Usd(5) }), r#"{"kind":"billed","usd":"0.000000000005"}"#);
        assert_eq!(json(Cost::AtLeast { usd: Usd(5) }), r#"{"kind":"atLeast","usd":"0.000000000005"}"#);
        assert_eq!(json(Cost::Unknown), r#"{"kind":"unknown"}"#);
    }
}
