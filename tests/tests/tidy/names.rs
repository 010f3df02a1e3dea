//! Names: what once named several unrelated things names one at most, what was renamed does not come back, and comments
//! say plainly when there is nothing.

use std::collections::BTreeMap;

use crate::{assert_none, texts};

/// Each named several unrelated types once.
const OF_ONE_TYPE: [&str; 8] = ["Held", "Look", "Seen", "Told", "Asked", "Kept", "Place", "Book"];

/// Names of types that were bettered, and modules so: the field calls the thing otherwise.
const RENAMED: [&str; 14] = [
    "Lane",
    "Deed",
    "Rung",
    "Darkroom",
    "Plate",
    "TurnInMaking",
    "Carrier",
    "Hearing",
    "Wanted",
    "Story",
    "Teller",
    "Face",
    "Door",
    "Patience",
];
const RENAMED_MODULES: [&str; 18] = [
    "lane",
    "deed",
    "rung",
    "warden",
    "book",
    "darkroom",
    "tape",
    "told",
    "instead",
    "hear",
    "standing",
    "give_way",
    "giving_way",
    "brakes",
    "frozen",
    "eyes",
    "doors",
    "patience",
];

/// What a line of code defines: the keyword and the name.
fn definition(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1.trim_start(),
        Some(rest) => rest.trim_start(),
        None => line,
    };
    let (keyword, rest) = line.split_once(' ')?;
    let is_of_a_name = |c: char| c.is_alphanumeric() || c == '_';
    let name = rest.split(|c: char| !is_of_a_name(c)).next()?;
    (!name.is_empty()).then_some((keyword, name))
}

#[test]
fn a_name_that_named_many_things_names_one_type_at_most() {
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut types = 0;
    let all = texts(&[".rs"]);
    for (file, text) in &all {
        for (number, line) in text.lines().enumerate() {
            if let Some(("struct" | "enum" | "trait" | "type" | "union", name)) = definition(line) {
                types += 1;
                if OF_ONE_TYPE.contains(&name) {
                    found.entry(name).or_default().push(format!("{}:{}", file.display(), number + 1));
                }
            }
        }
    }
    assert!(types > 500, "only {types} types were found");
    let findings: Vec<String> = found
        .into_iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(name, places)| format!("{name}: {}", places.join(", ")))
        .collect();
    assert_none(&findings, "names of several types");
}

#[test]
fn a_name_that_was_bettered_does_not_come_back() {
    let mut findings = Vec::new();
    for (file, text) in texts(&[".rs"]) {
        for (number, line) in text.lines().enumerate() {
            let is_old = match definition(line) {
                Some(("struct" | "enum" | "trait" | "type" | "union", name)) => RENAMED.contains(&name),
                Some(("mod", name)) => RENAMED_MODULES.contains(&name),
                Some(("fn", name)) => name == "hear",
                _ => false,
            };
            if is_old {
                findings.push(format!("{}:{}: {}", file.display(), number + 1, line.trim()));
            }
        }
    }
    assert_none(&findings, "names that were bettered");
}

#[test]
fn comments_say_plainly_when_there_is_nothing() {
    let unclear = [concat!("nothing wh", "ere"), concat!("none wh", "ere"), concat!("`None` wh", "ere")];
    let mut findings = Vec::new();
    for (file, text) in texts(&[".rs"]) {
        for (number, line) in text.lines().enumerate() {
            let comment =
                line.split_once("// ").or_else(|| line.split_once("/// ")).map(|(_, comment)| comment);
            let comment = comment.unwrap_or_default().to_lowercase();
            if unclear.iter().any(|words| comment.contains(&words.to_lowercase())) {
                findings.push(format!("{}:{}: {}", file.display(), number + 1, line.trim()));
            }
        }
    }
    assert_none(&findings, "say \"`None` if ...\" or \"empty if ...\"");
}
