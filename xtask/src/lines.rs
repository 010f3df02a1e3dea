//! How many lines of Rust there are, in the checkout and in a commit before it: what is shipped, what tests it, and what
//! automates both. Every line of a file counts, blank ones and comments too. Nothing is built here.

use std::ops::{Add, AddAssign};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::checkout::Checkout;
use crate::shell;

/// The commit before the redesign of issue 10: what is counted from where no other is named.
pub const BEFORE: &str = "2a86680";
/// A source file over this is named by `cargo xtask test`: it may hold more than one idea. The aim is about 250.
const LONG: usize = 500;

/// Lines of Rust by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Files below a `src` folder and build scripts, without what the other two take.
    pub product: usize,
    /// Tests, fixtures, examples and measuring programs, and what a file keeps behind `#[cfg(test)]`.
    pub tests: usize,
    /// `xtask`, without its tests.
    pub automation: usize,
}

impl Add for Lines {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            product: self.product + other.product,
            tests: self.tests + other.tests,
            automation: self.automation + other.automation,
        }
    }
}

impl AddAssign for Lines {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Lines {
    fn rows(self) -> [(&'static str, usize); 4] {
        let Self { product, tests, automation } = self;
        [
            ("product", product),
            ("tests and measurements", tests),
            ("automation (xtask)", automation),
            ("all", product + tests + automation),
        ]
    }

    /// The lines of one file; its path is relative to the checkout, with `/` between the folders.
    fn of_file(path: &str, text: &str) -> Self {
        let all = text.lines().count();
        if is_of_tests(path) {
            return Self { tests: all, ..Self::default() };
        }
        let tests = behind_cfg_test(text);
        match path.starts_with("xtask/") {
            true => Self { automation: all - tests, tests, product: 0 },
            false => Self { product: all - tests, tests, automation: 0 },
        }
    }

    /// The lines of the checkout as it is, with what is not committed yet.
    pub fn of_checkout(checkout: &Checkout) -> Result<Self> {
        let mut lines = Self::default();
        for (path, text) in sources(checkout, &["*.rs"])? {
            lines += Self::of_file(&path, &text);
        }
        Ok(lines)
    }

    /// The lines of a commit.
    pub fn of_commit(checkout: &Checkout, commit: &str) -> Result<Self> {
        let mut lines = Self::default();
        let listed = git(checkout, &["ls-tree", "-r", "--name-only", commit])?;
        for path in listed.lines().filter(|path| path.ends_with(".rs")) {
            lines += Self::of_file(path, &git(checkout, &["show", &format!("{commit}:{path}")])?);
        }
        Ok(lines)
    }
}

/// Where issue 10 asks for less ("Lighter"), by what a path begins with, then and now.
const LIGHTER: [(&str, &[&str]); 3] = [
    ("models", &["src-tauri/crates/models/"]),
    ("desktop and pictures", &["src-tauri/crates/desktop/", "src-tauri/crates/pictures/"]),
    ("journal", &["src-tauri/crates/journal/"]),
];

/// Lines of a file that `commit` had and the checkout has no more.
struct Deleted {
    path: String,
    lines: usize,
    /// The file is gone, and no other is much like it.
    is_whole: bool,
}

/// What was deleted since `commit`, gross: a line that was rewritten counts; one that was only moved to another file, with
/// most of its file, does not.
fn deleted(checkout: &Checkout, commit: &str) -> Result<Vec<Deleted>> {
    let changes = git(checkout, &["diff", "--numstat", "-z", "--find-renames", "--find-copies", commit])?;
    let mut all = Vec::new();
    let mut fields = changes.split('\0');
    while let Some([_, lines, path]) = fields.next().and_then(three) {
        // A renamed file has both of its names behind it.
        let path = if path.is_empty() { fields.nth(1).unwrap_or_default() } else { path };
        let Ok(lines) = lines.parse::<usize>() else { continue };
        if path.ends_with(".rs") {
            let is_whole = !checkout.root.join(path).exists();
            all.push(Deleted { path: path.to_owned(), lines, is_whole });
        }
    }
    Ok(all)
}

fn of_kinds(deleted: &[Deleted]) -> Lines {
    let mut lines = Lines::default();
    for Deleted { path, lines: taken, .. } in deleted {
        match (is_of_tests(path), path.starts_with("xtask/")) {
            (true, _) => lines.tests += taken,
            (false, true) => lines.automation += taken,
            (false, false) => lines.product += taken,
        }
    }
    lines
}

/// Prints the lines of the checkout beside those of `commit`.
pub fn print(checkout: &Checkout, commit: &str) -> Result<()> {
    let now = Lines::of_checkout(checkout)?;
    // A checkout without its history cannot tell.
    let before = Lines::of_commit(checkout, commit);
    let deleted = deleted(checkout, commit);
    println!("\n{:<26} {commit:>9} {:>9} {:>9} {:>16}", "lines of Rust", "now", "change", "deleted (gross)");
    for (at, (name, now)) in now.rows().into_iter().enumerate() {
        match (&before, &deleted) {
            (Ok(before), Ok(deleted)) => {
                let ((_, before), (_, gross)) = (before.rows()[at], of_kinds(deleted).rows()[at]);
                println!("{name:<26} {before:>9} {now:>9} {:>+9} {gross:>16}", now as i64 - before as i64);
            }
            (Err(_), _) | (_, Err(_)) => println!("{name:<26} {:>9} {now:>9}", "?"),
        }
    }
    if let Ok(deleted) = &deleted {
        print_lighter(deleted);
    }
    if let Some(error) = before.err().or(deleted.err()) {
        shell::note(&format!("the lines of {commit} were not counted: {error:#}"));
    }
    Ok(())
}

/// What was deleted in the rooms of which issue 10 says that weight goes. No count of lines can tell weight that went from
/// lines that were written anew: a file that is gone is the nearest.
fn print_lighter(deleted: &[Deleted]) {
    println!("\n{:<26} {:>16} {:>19}", "where less was asked for", "deleted (gross)", "in files gone whole");
    let (mut gross, mut whole) = (0, 0);
    for (name, paths) in LIGHTER {
        let of_room = deleted.iter().filter(|one| paths.iter().any(|path| one.path.starts_with(path)));
        let (mut all, mut gone) = (0, 0);
        for one in of_room {
            all += one.lines;
            gone += if one.is_whole { one.lines } else { 0 };
        }
        println!("{name:<26} {all:>16} {gone:>19}");
        (gross, whole) = (gross + all, whole + gone);
    }
    println!("{:<26} {gross:>16} {whole:>19}", "all");
}

/// Names the source files that are longer than a file of one idea mostly is. A warning: a file is one idea, whatever
/// its length.
pub fn warn_of_long_files(checkout: &Checkout) -> Result<()> {
    for (path, text) in sources(checkout, &["*.rs", "*.css"])? {
        let lines = text.lines().count();
        if lines > LONG {
            shell::note(&format!("warning: {path} has {lines} lines: is it one idea?"));
        }
    }
    Ok(())
}

/// The fields of a row of `git diff --numstat`: added, taken away, path; `None` behind the last.
fn three(row: &str) -> Option<[&str; 3]> {
    row.splitn(3, '\t').collect::<Vec<_>>().try_into().ok()
}

/// The files of these patterns that are, or would be, in the repository, with their text.
fn sources(checkout: &Checkout, patterns: &[&str]) -> Result<Vec<(String, String)>> {
    let listed = [&["ls-files", "--cached", "--others", "--exclude-standard"], patterns].concat();
    let files = git(checkout, &listed)?;
    // A file that was removed and not yet committed is still listed.
    let read = |path: &str| Some((path.to_owned(), std::fs::read_to_string(checkout.root.join(path)).ok()?));
    Ok(files.lines().filter_map(read).collect())
}

/// Whether the whole file is there to test or to measure.
fn is_of_tests(path: &str) -> bool {
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let of_tests = |folder: &str| ["tests", "examples", "benches"].contains(&folder);
    folders.split('/').any(of_tests) || file == "tests.rs" || file.ends_with("_tests.rs")
}

/// The lines of all items behind `#[cfg(test)]`, as rustfmt lays them out: an item ends with its own line, or with the
/// first brace that closes at its own indent.
fn behind_cfg_test(text: &str) -> usize {
    let mut count = 0;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            continue;
        }
        count += 1;
        let indent = &line[..line.len() - line.trim_start().len()];
        let (end, closed) = (format!("{indent}}}"), format!("{indent}}};"));
        let mut open = false;
        for line in lines.by_ref() {
            count += 1;
            open |= line.ends_with('{');
            if line == end || line == closed || (!open && line.ends_with(';')) {
                break;
            }
        }
    }
    count
}

fn git(checkout: &Checkout, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git")
        .current_dir(&checkout.root)
        .args(arguments)
        .output()
        .context("could not start git")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`git {}` failed: {}", arguments.join(" "), said.trim());
    String::from_utf8(output.stdout).context("git printed what is no text")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(product: usize, tests: usize) -> Lines {
        Lines { product, tests, automation: 0 }
    }

    #[test]
    fn a_source_file_is_product_and_its_test_module_is_not() {
        let text = "//! A.\n\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn b() {\n    }\n}\n\nfn c() {}\n";
        assert_eq!(Lines::of_file("src-tauri/crates/a/src/a.rs", text), product(6, 6));
    }

    #[test]
    fn a_module_of_tests_in_a_file_of_its_own_is_tests_with_the_line_that_names_it() {
        assert_eq!(Lines::of_file("ui/src/a.rs", "#[cfg(test)]\nmod tests;\n\nfn a() {}\n"), product(2, 2));
        assert_eq!(Lines::of_file("ui/src/a/tests.rs", "fn a() {}\n"), product(0, 1));
        assert_eq!(Lines::of_file("ui/src/a_tests.rs", "fn a() {}\n"), product(0, 1));
    }

    #[test]
    fn an_item_behind_the_attribute_that_is_no_module_ends_where_it_ends() {
        let text = "impl A {\n    #[cfg(test)]\n    #[must_use]\n    fn b(&self) -> u8 {\n        1\n    }\n\n    fn c() {}\n}\n";
        assert_eq!(Lines::of_file("ui/src/a.rs", text), product(4, 5));
        let text = "#[cfg(test)]\nuse a::{\n    b,\n};\nfn c() {}\n";
        assert_eq!(behind_cfg_test(text), 4);
    }

    #[test]
    fn folders_of_tests_examples_and_benches_are_no_product_wherever_they_are() {
        for path in ["tests/src/miki.rs", "a/src/b/tests/c.rs", "a/examples/b.rs", "benches/src/main.rs"] {
            assert_eq!(Lines::of_file(path, "fn a() {}\n"), product(0, 1), "{path}");
        }
        assert_eq!(Lines::of_file("src-tauri/build.rs", "fn a() {}\n"), product(1, 0));
        assert_eq!(
            Lines::of_file("xtask/src/a.rs", "fn a() {}\n"),
            Lines { automation: 1, ..Lines::default() }
        );
    }

    #[test]
    fn this_checkout_has_lines_of_each_kind() {
        let lines = Lines::of_checkout(&Checkout::of_this_checkout().unwrap()).unwrap();
        assert!(lines.product > 10_000 && lines.tests > 10_000 && lines.automation > 500, "{lines:?}");
    }
}
