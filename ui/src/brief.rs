//! Long things in a few characters: texts, durations, ages. A call in short is `fold`'s.
//!
//! For glancing only. What is asked of the user is shown whole, by [`protocol::escape`].

pub use fold::call::shortened;
use protocol::ids::Timestamp;
use protocol::tool::{Millis, ToolCall};

use crate::words::Word;

/// Why the model wants it, where it said so.
pub fn reason(call: &ToolCall) -> Option<&str> {
    call.arguments.get("reason")?.as_str().map(str::trim).filter(|reason| !reason.is_empty())
}

/// `340 ms`, `2.1 s`, `3 min 5 s`
pub fn duration(took: Millis) -> String {
    match took.0 {
        ms @ 0..1_000 => format!("{ms} ms"),
        ms @ 1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        ms => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// `1,048,576`
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let comma = |at: usize| at > 0 && (digits.len() - at).is_multiple_of(3);
    digits
        .chars()
        .enumerate()
        .flat_map(|(at, digit)| comma(at).then_some(',').into_iter().chain([digit]))
        .collect()
}

/// A folder by its last name; a short path as it is.
pub fn folder(path: &str) -> String {
    match path.trim_end_matches('/').rsplit_once(['/', '\\']) {
        Some((above, name)) if above.chars().count() > 1 && !name.is_empty() => format!("…/{name}"),
        Some(_) | None => path.to_owned(),
    }
}

/// How long ago, as a number and its unit; a clock that went back counts as now.
pub fn age(now: Timestamp, then: Timestamp) -> (Word, u64) {
    let minutes = u64::try_from((now.0 - then.0) / 60_000).unwrap_or(0);
    match minutes {
        0 => (Word::JustNow, 0),
        1..60 => (Word::MinutesAgo, minutes),
        60..1_440 => (Word::HoursAgo, minutes / 60),
        _ => (Word::DaysAgo, minutes / 1_440),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_told_apart() {
        assert_eq!([0, 999, 1_000, 1_048_576].map(grouped), ["0", "999", "1,000", "1,048,576"]);
    }

    #[test]
    fn a_folder_is_called_by_its_last_name() {
        assert_eq!(
            ["~/Miki", "~/a/Trip", "/srv/www/", "/srv", "C:\\a\\b"].map(folder),
            ["~/Miki", "…/Trip", "…/www", "/srv", "…/b"]
        );
    }

    #[test]
    fn durations_and_ages_read_well() {
        assert_eq!(
            [0, 999, 2_149, 185_000].map(|ms| duration(Millis(ms))),
            ["0 ms", "999 ms", "2.1 s", "3 min 5 s"]
        );
        let age = |minutes: i64| super::age(Timestamp(minutes * 60_000), Timestamp(0));
        assert_eq!(
            [-5, 0, 5, 61, 3_000].map(age),
            [
                (Word::JustNow, 0),
                (Word::JustNow, 0),
                (Word::MinutesAgo, 5),
                (Word::HoursAgo, 1),
                (Word::DaysAgo, 2)
            ]
        );
    }
}
