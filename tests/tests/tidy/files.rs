//! What files look like: their first line, their names, and what must not be written in them. How long they are is a
//! warning of `cargo xtask test`, not a rule.

use crate::{assert_none, texts, tracked};

/// Names that say nothing of what is inside.
const FORBIDDEN: [&str; 11] = [
    "manager",
    "managers",
    "service",
    "services",
    "helper",
    "helpers",
    "util",
    "utils",
    "common",
    "processor",
    "misc",
];

/// Pieces that only one machine knows, in two halves so that this file does not contain them itself.
const OF_A_MACHINE: [(&str, &str); 6] = [
    ("/ro", "ot/"),
    ("/wo", "rk/"),
    ("registry.npm", "js"),
    ("pypi", ".org"),
    ("files.python", "hosted"),
    ("index.crates", ".io"),
];

/// Whose home folder examples and tests name.
const EXAMPLE_USER: &str = "mia";

#[test]
fn what_the_documents_point_to_is_there() {
    let files: Vec<String> = tracked().iter().map(|file| file.to_string_lossy().into_owned()).collect();
    let mut pointed = 0;
    let mut findings = Vec::new();
    for (document, text) in texts(&["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"]) {
        let tops = ["src-tauri/", "capabilities/", "ui/", "tests/", "xtask/", "icons/", "docs/", ".ci/"];
        for path in text.split('`').skip(1).step_by(2) {
            // `agent/src/run.rs` stands for the crate's own place; `WIRE` for any folder.
            let full = match path.split_once('/') {
                _ if tops.iter().any(|top| path.starts_with(top)) => path.to_owned(),
                Some((_, within)) if within.starts_with("src/") => format!("src-tauri/crates/{path}"),
                _ => continue,
            };
            pointed += 1;
            let known = full.split("WIRE").next().unwrap_or(&full);
            let known = known.split(['*', '<', ' ']).next().unwrap_or(known);
            if !files.iter().any(|file| file.starts_with(known)) {
                findings.push(format!("{}: {path}", document.display()));
            }
        }
    }
    assert!(pointed > 10, "only {pointed} paths were found");
    assert_none(&findings, "paths that lead nowhere");
}

#[test]
fn every_source_file_opens_with_what_it_owns() {
    let findings: Vec<String> = texts(&[".rs"])
        .iter()
        .filter(|(_, text)| !text.starts_with("//! "))
        .map(|(file, _)| file.display().to_string())
        .collect();
    assert_none(&findings, "files that do not open with `//! `");
}

#[test]
fn a_module_stands_beside_its_folder_and_not_in_it() {
    let findings: Vec<String> = tracked()
        .iter()
        .filter(|file| file.file_name().is_some_and(|name| name == "mod.rs"))
        .map(|file| file.display().to_string())
        .collect();
    assert_none(&findings, "modules that are not `name.rs` beside `name/`");
}

/// Lines that a module of tests may have in the file of what it tests; a longer one stands in `tests.rs` beside it.
const INLINE_TESTS: usize = 80;

#[test]
fn long_tests_stand_in_a_file_of_their_own_beside_what_they_test() {
    let mut findings = Vec::new();
    for (file, text) in texts(&[".rs"]) {
        let mut lines = text.lines().skip_while(|line| *line != "mod tests {");
        let length = lines.by_ref().take_while(|line| *line != "}").count() + 1;
        if length > INLINE_TESTS {
            findings.push(format!("{}: {length} lines", file.display()));
        }
    }
    assert_none(&findings, "tests to be moved to `tests.rs`");
}

#[test]
fn no_module_has_a_name_that_says_nothing() {
    let findings: Vec<String> = tracked()
        .iter()
        .filter(|file| file.extension().is_some_and(|ending| ending == "rs"))
        .filter(|file| {
            file.with_extension("").iter().any(|part| {
                let part = part.to_string_lossy().to_lowercase();
                part.split(['_', '-']).any(|word| FORBIDDEN.contains(&word))
            })
        })
        .map(|file| file.display().to_string())
        .collect();
    assert_none(&findings, "modules whose name says nothing");
}

#[test]
fn no_test_is_ignored_and_nothing_is_left_to_do() {
    let marks = [
        concat!("#[ig", "nore"),
        concat!("to", "do!("),
        concat!("unimple", "mented!("),
        concat!("FIX", "ME"),
    ];
    let mut findings = Vec::new();
    for (file, text) in texts(&[".rs"]) {
        for (number, line) in text.lines().enumerate() {
            findings.extend(
                marks
                    .iter()
                    .filter(|mark| line.contains(**mark))
                    .map(|mark| format!("{}:{}: {mark}", file.display(), number + 1)),
            );
        }
    }
    assert_none(&findings, "left undone");
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    let mut findings = Vec::new();
    let endings = [
        ".rs", ".toml", ".md", ".json", ".yml", ".txt", ".sh", ".js", ".html", ".css", ".svg", ".lock",
        ".ci/run", ".xml",
    ];
    for (file, text) in texts(&endings) {
        for (number, line) in text.lines().enumerate() {
            let home = line.split(concat!("/ho", "me/")).skip(1).any(|rest| {
                rest.starts_with(|first: char| first.is_ascii_alphanumeric())
                    && !rest.starts_with(EXAMPLE_USER)
            });
            let known = OF_A_MACHINE.iter().any(|(one, two)| line.contains(&format!("{one}{two}")));
            if home || known {
                findings.push(format!("{}:{}: {}", file.display(), number + 1, line.trim()));
            }
        }
    }
    assert_none(&findings, "paths or hosts of one machine");
}

/// A browser drops the whole rule, and says nothing.
#[test]
fn no_selector_has_a_has_within_a_has() {
    const HAS: &str = ":has(";
    let mut findings = Vec::new();
    for (file, text) in texts(&[".css"]) {
        for (at, _) in text.match_indices(HAS) {
            let mut open = 1;
            let within = text[at + HAS.len()..].find(|one| {
                open += i32::from(one == '(') - i32::from(one == ')');
                open == 0
            });
            let within = &text[at + HAS.len()..][..within.unwrap_or(0)];
            if within.contains(HAS) {
                findings.push(format!("{}: {HAS}{within})", file.display()));
            }
        }
    }
    assert_none(&findings, "selectors that no browser takes");
}

/// Cases of the reliability bar, C1 to C80: so that every case's tests are found by its one name.
#[test]
fn every_mark_of_the_bar_names_its_cases_in_the_one_way() {
    let mut marks = 0;
    let mut findings = Vec::new();
    for (file, text) in texts(&[".rs"]) {
        for (line, cases) in (1..)
            .zip(text.lines())
            .filter_map(|(line, text)| text.trim_start().strip_prefix("// bar: ").map(|cases| (line, cases)))
        {
            marks += 1;
            let is_case = |case: &str| {
                case.strip_prefix('C')
                    .and_then(|number| number.parse().ok())
                    .is_some_and(|n: u32| (1..=80).contains(&n))
            };
            if !cases.split(", ").all(is_case) {
                findings.push(format!("{}:{line}: {cases}", file.display()));
            }
        }
    }
    assert!(marks > 50, "only {marks} marks were found");
    assert_none(&findings, "marks that are not `// bar: C27` or `// bar: C27, C28`");
}
