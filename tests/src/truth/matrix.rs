//! `docs/APPLICATIONS.md`: which widget of which toolkit can be operated, how, and whether what is said of it is true.

use std::fmt::Write as _;

use anyhow::Result;

use super::{App, Said, Toolkit, Verdict};

/// The document, made of the verdicts of one run on `date`.
///
/// # Errors
/// Where an application's version cannot be told.
pub fn matrix(verdicts: &[Verdict], date: &str) -> Result<String> {
    let mut text = format!(
        "# Applications\n\n\
         What Miki can operate, toolkit by toolkit: made by `cargo xtask bench truth` on {date}, of what the applications \
         themselves did. Do not edit it.\n\n\
         A cell says whether it was done, how, and what Miki said of it: **yes** or **no**, `a` by accessibility, `p` by \
         pointer and keys, then the effect. **!** marks a word that was not true, an act on something else, or an \
         application that does not answer any more.\n"
    );
    let ours: Vec<Toolkit> =
        App::ALL.into_iter().filter(|app| app.is_ours()).map(|app| app.toolkit()).collect();
    // We have no windows of its widgets; its own have them, and their tasks the same names.
    let with_office = [ours.as_slice(), &[Toolkit::LibreOffice]].concat();
    let in_a_column =
        |verdict: &&Verdict| verdict.task.app.is_ours() || verdict.task.app.toolkit() == Toolkit::LibreOffice;
    let (spoilt, plain): (Vec<_>, Vec<_>) =
        verdicts.iter().filter(in_a_column).partition(|verdict| verdict.task.is_sabotaged());
    text += "\n## Widgets\n\n";
    table(&mut text, &with_office, &plain)?;
    text += "\n## When something goes wrong between the look and the act\n\n\
             After *relabelled*, *closed*, *insensitive* and *modal on top* nothing should be done.\n\n";
    table(&mut text, &ours, &spoilt)?;
    text += "\n## Applications as they came\n\n| application | task | |\n|---|---|---|\n";
    for verdict in verdicts.iter().filter(|verdict| !verdict.task.app.is_ours()) {
        let name = verdict.task.app.name();
        let _ = writeln!(text, "| {name} | {} | {} |", row_name(verdict), cell(verdict));
    }
    text += "\n## Versions\n\n";
    for app in App::ALL.into_iter().filter(|app| verdicts.iter().any(|verdict| verdict.task.app == *app)) {
        let _ = writeln!(text, "- {} {}", app.name(), app.version()?);
    }
    Ok(text)
}

/// A row for each widget of our own applications, a column for each toolkit.
fn table(text: &mut String, toolkits: &[Toolkit], verdicts: &[&Verdict]) -> Result<()> {
    let heads: Vec<&str> = toolkits.iter().map(|toolkit| toolkit.name()).collect();
    writeln!(text, "| | {} |\n|---|{}", heads.join(" | "), "---|".repeat(heads.len()))?;
    let mut names: Vec<String> = Vec::new();
    for verdict in verdicts.iter().filter(|verdict| verdict.task.app.is_ours()) {
        let name = row_name(verdict);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for name in names {
        let cells: Vec<String> = toolkits
            .iter()
            .map(|toolkit| {
                let found = verdicts.iter().find(|v| v.task.app.toolkit() == *toolkit && row_name(v) == name);
                found.map_or_else(|| "-".into(), |verdict| cell(verdict))
            })
            .collect();
        writeln!(text, "| {name} | {} |", cells.join(" | "))?;
    }
    Ok(())
}

fn row_name(verdict: &Verdict) -> String {
    let name = verdict.task.name();
    name.strip_prefix(verdict.task.app.name()).unwrap_or(&name).trim().to_owned()
}

fn cell(verdict: &Verdict) -> String {
    let done = if verdict.done { "**yes**" } else { "no" };
    let by = match verdict.by.as_str() {
        "accessibility" => " a",
        "pointer or keys" => " p",
        _ => "",
    };
    let said = if verdict.said == Said::NotListed {
        "not listed".into()
    } else {
        verdict.said.word().replace('_', " ")
    };
    let bad =
        verdict.false_confirmed() || verdict.false_no_change() || verdict.wrong.is_some() || verdict.hung;
    let mark = if bad { " **!**" } else { "" };
    format!("{done}{by}, {said}{mark}")
}
