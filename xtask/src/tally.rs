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

/// What the tests that fail say as they do: libtest prints it under a heading for each, and a backtrace after it.
#[derive(Debug, Default)]
pub struct Failures {
    told: Vec<String>,
    /// Lines of the one that speaks now are still to come.
    speaks: bool,
}

impl Failures {
    /// Of one test; more is in the output.
    const LINES: usize = 12;

    pub fn read(&mut self, line: &str) {
        let line = without_colours(line);
        if let Some(test) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----")) {
            self.told.push(test.to_owned());
            self.speaks = true;
        } else if line == "stack backtrace:" || line == "failures:" || line.starts_with("note: run with") {
            self.speaks = false;
        } else if let Some(told) = self.told.last_mut().filter(|_| self.speaks && !line.trim().is_empty()) {
            self.speaks = told.lines().count() <= Self::LINES;
            told.push_str("\n    ");
            told.push_str(&line);
        }
    }

    /// One for each test.
    pub fn told(&self) -> &[String] {
        &self.told
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
    fn what_a_failed_test_says_is_kept_without_its_backtrace() {
        let printed = "test a::b ... FAILED\n\nfailures:\n\n---- a::b stdout ----\nit tried\n\nthread 'a::b' panicked at a.rs:3:5:\n\
                       left: 1\nright: 2\nstack backtrace:\n   0: core::panicking\n---- c stdout ----\nError: gone\n\n\nfailures:\n    a::b\n    c\n";
        let mut failures = Failures::default();
        printed.lines().for_each(|line| failures.read(line));
        let of_b = "a::b\n    it tried\n    thread 'a::b' panicked at a.rs:3:5:\n    left: 1\n    right: 2";
        assert_eq!(failures.told(), [of_b, "c\n    Error: gone"]);
        let endless = "---- a stdout ----\n".to_owned() + &"more\n".repeat(90);
        let mut failures = Failures::default();
        endless.lines().for_each(|line| failures.read(line));
        assert_eq!(failures.told()[0].lines().count(), Failures::LINES + 2);
    }

    #[test]
    fn a_skip_or_an_empty_run_is_not_clean() {
        assert!(!Tally { passed: 9, failed: 0, skipped: 1 }.is_clean());
        assert!(!Tally::default().is_clean());
        assert!(Tally::PASSED.is_clean());
    }
}
