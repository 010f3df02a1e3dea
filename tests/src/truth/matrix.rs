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
         application that does not answer any more. `-` was not tried; where it says *none there*, the toolkit has no \
         such widget, or it cannot be operated so.\n"
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

/// A row for each way to operate a widget, those of one widget one after the other; a column for each toolkit.
fn table(text: &mut String, toolkits: &[Toolkit], verdicts: &[&Verdict]) -> Result<()> {
    let heads: Vec<&str> = toolkits.iter().map(|toolkit| toolkit.name()).collect();
    writeln!(text, "| | {} |\n|---|{}", heads.join(" | "), "---|".repeat(heads.len()))?;
    let mut widgets: Vec<(&str, Vec<String>)> = Vec::new();
    for verdict in verdicts {
        let (widget, name) = (verdict.task.widget, row_name(verdict));
        match widgets.iter_mut().find(|(known, _)| *known == widget) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => widgets.push((widget, vec![name])),
        }
    }
    for (widget, name) in
        widgets.iter().flat_map(|(widget, names)| names.iter().map(move |name| (widget, name)))
    {
        let cells: Vec<String> = toolkits
            .iter()
            .map(|toolkit| {
                let found =
                    verdicts.iter().find(|v| v.task.app.toolkit() == *toolkit && row_name(v) == *name);
                let untried = || if has(*toolkit, widget, name) { "-" } else { "none there" }.to_owned();
                found.map_or_else(untried, |verdict| cell(verdict))
            })
            .collect();
        writeln!(text, "| {name} | {} |", cells.join(" | "))?;
    }
    Ok(())
}

/// Whether a toolkit has such a widget, and it can be tried to operate it so.
fn has(toolkit: Toolkit, widget: &str, name: &str) -> bool {
    let is_page = matches!(toolkit, Toolkit::Chromium | Toolkit::Cef | Toolkit::Firefox);
    let is_gtk = matches!(toolkit, Toolkit::Gtk3 | Toolkit::Gtk4);
    let is_office = toolkit == Toolkit::LibreOffice;
    match widget {
        // A page has elements that are called so, and the menu bar is the browser's.
        "menu" if name.contains("pressMenu") => !is_page,
        // GTK has a calendar, and no field for a date or a time; the others have a field.
        "date" => is_gtk == name.contains("calendar"),
        "time" => !is_gtk,
        // A browser's own.
        "alert" => is_page,
        "table cell" | "formula bar" | "name box" => is_office,
        _ => true,
    }
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
