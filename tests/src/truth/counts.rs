//! What the verdicts add up to, by toolkit.

use std::fmt;

use super::{Said, Toolkit, Verdict};

/// Of applications that are not ours.
const AS_THEY_CAME: &str = "as they came";

pub struct Counts {
    rows: Vec<(&'static str, Row)>,
}

#[derive(Clone, Copy, Default)]
struct Row {
    tasks: usize,
    plain: usize,
    plain_done: usize,
    sabotaged: usize,
    done: usize,
    unverified: usize,
    false_confirmed: usize,
    false_no_change: usize,
    wrong: usize,
    hung: usize,
    /// Those whose user was disturbed elsewhere.
    disturbed: usize,
}

impl Counts {
    pub fn of(verdicts: &[Verdict]) -> Self {
        let mut rows: Vec<_> = Toolkit::ALL
            .iter()
            .map(|toolkit| {
                let of_it = verdicts.iter().filter(|verdict| verdict.task.app.toolkit() == *toolkit);
                (toolkit.name(), Row::of(of_it))
            })
            .filter(|(_, row)| row.tasks > 0)
            .collect();
        rows.push((AS_THEY_CAME, Row::of(verdicts.iter().filter(|verdict| !verdict.task.app.is_ours()))));
        rows.push(("in all", Row::of(verdicts.iter())));
        Self { rows }
    }

    /// Which bounds are not kept.
    pub fn missed(&self) -> Vec<String> {
        self.rows.last().map(|(_, all)| all.missed()).unwrap_or_default()
    }

    /// The same of those on applications that are not ours alone, of which the quick part has few.
    pub fn missed_as_they_came(&self) -> Vec<String> {
        let row = self.rows.iter().find(|(name, _)| *name == AS_THEY_CAME);
        let missed = row.map(|(_, row)| row.missed()).unwrap_or_default();
        missed.into_iter().map(|missed| format!("{AS_THEY_CAME}: {missed}")).collect()
    }
}

impl Row {
    fn missed(&self) -> Vec<String> {
        let all = self;
        let bounds = [
            (all.tasks >= 120, format!("{} tasks, not 120", all.tasks)),
            (
                all.sabotaged * 3 >= all.tasks,
                format!("{} of {} sabotaged, not a third", all.sabotaged, all.tasks),
            ),
            (
                all.plain_done * 100 >= all.plain * 95,
                format!("{} of {} done, not 95 %", all.plain_done, all.plain),
            ),
            (
                all.unverified * 100 <= all.done * 25,
                format!("{} of {} unverified, more than 25 %", all.unverified, all.done),
            ),
            (all.false_confirmed == 0, format!("{} false `confirmed`", all.false_confirmed)),
            (all.false_no_change == 0, format!("{} false `no_change`", all.false_no_change)),
            (all.wrong == 0, format!("{} acts on something else", all.wrong)),
            (all.hung == 0, format!("{} applications hung", all.hung)),
            (all.disturbed == 0, format!("{} acts disturbed the user elsewhere", all.disturbed)),
        ];
        bounds.into_iter().filter(|(is_kept, _)| !is_kept).map(|(_, missed)| missed).collect()
    }

    fn of<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> Self {
        let mut row = Self::default();
        for verdict in verdicts {
            let sabotaged = verdict.task.is_sabotaged();
            row.tasks += 1;
            row.sabotaged += usize::from(sabotaged);
            row.plain += usize::from(!sabotaged);
            row.plain_done += usize::from(!sabotaged && verdict.done);
            row.done += usize::from(verdict.done);
            row.unverified += usize::from(verdict.done && verdict.said == Said::Unverified);
            row.false_confirmed += usize::from(verdict.false_confirmed());
            row.false_no_change += usize::from(verdict.false_no_change());
            row.wrong += usize::from(verdict.wrong.is_some());
            row.hung += usize::from(verdict.hung);
            row.disturbed += usize::from(verdict.disturbed.is_some());
        }
        row
    }
}

fn share(part: usize, of: usize) -> String {
    (part * 100).checked_div(of).map_or_else(|| "-".into(), |share| format!("{share} %"))
}

impl fmt::Display for Counts {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = [
            "tasks",
            "sabotaged",
            "done, plain",
            "unverified",
            "false conf.",
            "false no",
            "wrong",
            "hung",
            "disturbed",
        ];
        write!(to, "{:<12}", "")?;
        for title in head {
            write!(to, " {title:>11}")?;
        }
        for (name, row) in &self.rows {
            let cells = [
                row.tasks.to_string(),
                row.sabotaged.to_string(),
                format!("{}/{} {}", row.plain_done, row.plain, share(row.plain_done, row.plain)),
                share(row.unverified, row.done),
                row.false_confirmed.to_string(),
                row.false_no_change.to_string(),
                row.wrong.to_string(),
                row.hung.to_string(),
                row.disturbed.to_string(),
            ];
            write!(to, "\n{name:<12}")?;
            for cell in cells {
                write!(to, " {cell:>11}")?;
            }
        }
        Ok(())
    }
}
