//! How long to wait before a turn is asked for again: exponential, bounded, with jitter, never sooner than the provider
//! asks. Pure: the random number is passed in, and whether to ask again at all is said by the error.

use std::time::Duration;

/// Waits between the tries of one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The first wait; each further one is twice as long.
    pub first: Duration,
    /// The longest wait, unless the provider asks for a longer one.
    pub longest: Duration,
    /// Tries of one turn, the first included.
    pub tries: u32,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { first: Duration::from_secs(1), longest: Duration::from_secs(60), tries: 4 }
    }
}

impl RetryPolicy {
    /// How long to wait after so many failures. `dice` is a random number from 0 to 1: it spreads our own waits from
    /// half to one and a half times, and adds up to a tenth to what the provider asks for, so that many clients do not
    /// return at once. A provider that asks for less than `first` gets our own wait.
    pub fn delay(&self, asked: Option<Duration>, failures: u32, dice: f64) -> Duration {
        let dice = dice.clamp(0.0, 1.0);
        let doubled = self.first.saturating_mul(1 << failures.saturating_sub(1).min(16));
        let own = doubled.mul_f64(0.5 + dice).min(self.longest);
        match asked {
            Some(asked) if asked >= self.first => asked.mul_f64(1.0 + dice / 10.0),
            Some(asked) => own.max(asked),
            None => own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ModelError, ModelErrorKind, Retry};

    #[test]
    fn waits_double_up_to_a_bound_and_are_spread() {
        let policy = RetryPolicy::default();
        let waits = |dice: f64| -> Vec<u128> {
            (1..=8).map(|failures| policy.delay(None, failures, dice).as_millis()).collect()
        };
        assert_eq!(waits(0.5), [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
        assert_eq!((waits(0.0)[0], waits(1.0)[0]), (500, 1_500));
    }

    #[test]
    fn nobody_returns_before_the_provider_asked_for() {
        let asked = Duration::from_secs(34);
        for dice in [0.0, 0.3, 1.0] {
            let wait = RetryPolicy::default().delay(Some(asked), 1, dice);
            assert!((asked..=asked.mul_f64(1.1)).contains(&wait), "{wait:?}");
        }
    }

    #[test]
    fn who_asks_for_no_wait_is_not_asked_again_at_once() {
        let policy = RetryPolicy::default();
        for asked in [Duration::ZERO, Duration::from_millis(300)] {
            for (failures, dice) in [(1, 0.0), (2, 0.4), (3, 1.0)] {
                let own = policy.delay(None, failures, dice);
                assert_eq!(policy.delay(Some(asked), failures, dice), own.max(asked));
            }
        }
        let almost = Duration::from_millis(900);
        assert_eq!(policy.delay(Some(almost), 1, 0.0), almost, "never sooner than asked for");
    }

    #[test]
    fn some_errors_are_final_and_so_is_a_wait_that_nobody_waits_for() {
        let overloaded = ModelError::new(ModelErrorKind::Overloaded, "x");
        assert_eq!(overloaded.retry(), Retry::After(None));
        assert_eq!(ModelError::new(ModelErrorKind::Quota, "x").retry(), Retry::Never);
        let day = Some(Duration::from_secs(86_400));
        assert_eq!(ModelError { retry_after: day, ..overloaded }.retry(), Retry::Never);
    }
}
