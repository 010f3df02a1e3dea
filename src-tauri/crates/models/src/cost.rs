//! What a turn costs: the provider's own figure where it tells one, else tokens by the price table; unknown otherwise.

use std::fmt;

/// US dollars, in pieces of which a dollar has 10^12: exact for any price per million tokens with six decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Usd(pub u64);

const DOLLAR: u64 = 1_000_000_000_000;

impl Usd {
    /// Nothing for what is no amount.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let pieces = (dollars * DOLLAR as f64).round();
        // Above it, a float no longer tells pieces apart; nobody's turn costs so much.
        (pieces.is_finite() && (0.0..=9e15).contains(&pieces)).then_some(Self(pieces as u64))
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_written_exactly() {
        for (pieces, text) in [
            (0, "0"),
            (1, "0.000000000001"),
            (DOLLAR, "1"),
            (1_230_000_000, "0.00123"),
            (20_500_000_000_000, "20.5"),
        ] {
            assert_eq!(Usd(pieces).to_string(), text);
        }
        assert_eq!(Usd::from_dollars(0.00123), Some(Usd(1_230_000_000)));
        for bad in [-1.0, f64::NAN, f64::INFINITY, 1e30] {
            assert_eq!(Usd::from_dollars(bad), None);
        }
    }
}
