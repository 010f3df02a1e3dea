//! Counting: what libtest says at the end of each binary, summed up.

use std::fmt;

/// How many checks and tests ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: u32,
    pub failed: u32,
    pub skipped: u32,
}

impl Tally {
    pub const PASSED: Self = Self { passed: 1, failed: 0, skipped: 0 };
    pub const FAILED: Self = Self { passed: 0, failed: 1, skipped: 0 };

    pub fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// A skip is no pass: what was not tried is not known.
    pub fn is_clean(self) -> bool {
        self.failed == 0 && self.skipped == 0 && self.passed > 0
    }

    /// Reads a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`.
    pub fn of_line(line: &str) -> Option<Self> {
        let line = without_colours(line);
        let (_, counts) = line.split_once("test result: ")?.1.split_once(". ")?;
        let mut tally = Self::default();
        for part in counts.split("; ") {
            let Some((number, word)) = part.split_once(' ') else { continue };
            let Ok(number) = number.parse::<u32>() else { continue };
            match word {
                "passed" => tally.passed = number,
                "failed" => tally.failed = number,
                "ignored" => tally.skipped = number,
                _ => {}
            }
        }
        Some(tally)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == '\x1b' {
            characters.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(character);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_line_is_read_with_its_skips() {
        let line = "test result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 7 filtered out; finished in 0.00s";
        assert_eq!(Tally::of_line(line), Some(Tally { passed: 3, failed: 2, skipped: 1 }));
    }

    #[test]
    fn colours_do_not_hide_a_result() {
        let line =
            "test result: \x1b[32mok\x1b[0m. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(Tally::of_line(line), Some(Tally { passed: 12, failed: 0, skipped: 0 }));
    }

    #[test]
    fn any_other_line_counts_nothing() {
        assert_eq!(Tally::of_line("test tally::tests::x ... ok"), None);
    }

    #[test]
    fn a_skip_or_an_empty_run_is_not_clean() {
        assert!(!Tally { passed: 9, failed: 0, skipped: 1 }.is_clean());
        assert!(!Tally::default().is_clean());
        assert!(Tally::PASSED.is_clean());
    }
}
