//! What figures should be, and whether they are. Pure: nothing is measured or printed here, and which figures there are
//! is each measurement's own to say.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::vitals::median;

/// What is asked of a time of ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// Nothing: only to compare.
    None,
    /// At most so many milliseconds.
    Within(f64),
    /// The same, in 99 of 100 trials.
    MostlyWithin(f64),
    /// At most so many times the other's time.
    TimesTheirs(f64),
    /// At most so many milliseconds more than the other's.
    Over(f64),
    /// The same of the worst trial of each.
    WorstOver(f64),
    /// At least so many times as fast as the other.
    Faster(f64),
    /// At least so many of what a trial finds, in a second; and what that is.
    PerSecond(f64, &'static str),
}

/// One line of the table: a work of ours, and what it is set beside.
pub struct Figure {
    title: &'static str,
    work: &'static str,
    ours: &'static str,
    /// Which contender, and what to call it.
    theirs: Option<(&'static str, &'static str)>,
    aim: Aim,
}

pub const fn alone(title: &'static str, work: &'static str, ours: &'static str, aim: Aim) -> Figure {
    Figure { title, work, ours, theirs: None, aim }
}

pub const fn beside(
    title: &'static str,
    [work, ours]: [&'static str; 2],
    theirs: &'static str,
    called: &'static str,
    aim: Aim,
) -> Figure {
    Figure { title, work, ours, theirs: Some((theirs, called)), aim }
}

/// Memory that may come and go without being a growth: a hundred bytes a picture.
pub const SLACK_KB: i64 = 1024;

/// What was measured, as the measuring programs print it.
#[derive(Debug, Deserialize)]
pub struct Raced {
    pub load: [f64; 2],
    pub races: Vec<Race>,
    pub memory: Vec<Memory>,
}

#[derive(Debug, Deserialize)]
pub struct Race {
    pub work: String,
    pub contenders: Vec<Contender>,
}

#[derive(Debug, Deserialize)]
pub struct Contender {
    pub who: String,
    pub count: u64,
    pub ms: Vec<f64>,
}

/// Before, at half, after.
#[derive(Debug, Deserialize)]
pub struct Memory {
    pub work: String,
    pub count: u64,
    pub held: [MemoryUse; 3],
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryUse {
    pub rss_kb: i64,
    pub pss_kb: i64,
    pub server_rss_kb: i64,
    pub server_pss_kb: i64,
}

/// One line of the table, measured.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    #[serde(skip)]
    pub title: &'static str,
    pub work: String,
    pub ours: Times,
    pub peer: Option<&'static str>,
    pub theirs: Option<Times>,
    /// Their median in ours.
    pub times_as_fast: Option<f64>,
    /// In words.
    pub aim: Option<String>,
    pub met: Option<bool>,
}

/// In milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Times {
    pub median: f64,
    pub p99: f64,
    pub least: f64,
    pub most: f64,
    pub trials: usize,
    /// What was found in one trial.
    pub count: u64,
}

impl Times {
    fn of(contender: &Contender) -> Option<Self> {
        let mut sorted = contender.ms.clone();
        sorted.sort_by(f64::total_cmp);
        let (least, most) = (*sorted.first()?, *sorted.last()?);
        let p99 = *sorted.get((sorted.len() * 99).div_ceil(100) - 1)?;
        Some(Self { median: median(&sorted), p99, least, most, trials: sorted.len(), count: contender.count })
    }

    fn per_second(&self) -> f64 {
        self.count as f64 * 1_000.0 / self.median
    }
}

impl Aim {
    fn met(self, ours: &Times, theirs: Option<&Times>) -> Option<bool> {
        match self {
            Self::None => None,
            Self::Within(most) => Some(ours.median <= most),
            Self::MostlyWithin(most) => Some(ours.p99 <= most),
            Self::TimesTheirs(most) => theirs.map(|theirs| ours.median <= most * theirs.median),
            Self::Over(most) => theirs.map(|theirs| ours.median <= theirs.median + most),
            Self::WorstOver(most) => theirs.map(|theirs| ours.most <= theirs.most + most),
            Self::Faster(least) => theirs.map(|theirs| theirs.median >= least * ours.median),
            Self::PerSecond(least, _) => Some(ours.per_second() >= least),
        }
    }

    fn words(self, ours: &Times, theirs: Option<&Times>) -> Option<String> {
        match self {
            Self::None => None,
            Self::Within(most) => Some(format!("<= {most} ms")),
            Self::MostlyWithin(most) => Some(format!("p99 <= {most} ms")),
            Self::TimesTheirs(most) => Some(format!("<= {most} x its time")),
            Self::Over(most) => Some(format!("<= {most} ms more")),
            Self::WorstOver(most) => {
                let theirs = theirs.map_or(f64::NAN, |theirs| theirs.most);
                Some(format!("worst <= {most} ms more: {:.1}, {theirs:.1}", ours.most))
            }
            Self::Faster(least) => Some(format!(">= {least} x as fast")),
            Self::PerSecond(least, what) => Some(format!(">= {least} {what}/s")),
        }
    }
}

/// The table. A figure whose work was not measured is named as the error.
pub fn rows(figures: &[Figure], races: &[Race]) -> Result<Vec<Row>> {
    let times = |work: &str, who: &str| {
        let race = races.iter().find(|race| race.work == work);
        let contender = race.and_then(|race| race.contenders.iter().find(|contender| contender.who == who));
        contender.and_then(Times::of).with_context(|| format!("{work} of {who} was not measured"))
    };
    let row = |figure: &Figure| {
        let Figure { title, work, ours, theirs, aim } = figure;
        let mine = times(work, ours)?;
        let other = theirs.map(|(who, _)| times(work, who)).transpose()?;
        Ok(Row {
            title,
            work: if *ours == "ours" { (*work).to_owned() } else { format!("{work}, {ours}") },
            ours: mine,
            peer: theirs.map(|(_, called)| called),
            theirs: other,
            times_as_fast: other.map(|other| other.median / mine.median),
            aim: aim.words(&mine, other.as_ref()),
            met: aim.met(&mine, other.as_ref()),
        })
    };
    figures.iter().map(row).collect()
}

impl Memory {
    /// What the second half of the work left behind, here and in the X server, in kB.
    pub fn growth(&self) -> (i64, i64) {
        let [_, half, after] = &self.held;
        (after.rss_kb - half.rss_kb, after.server_rss_kb - half.server_rss_kb)
    }

    pub fn met(&self) -> bool {
        let (ours, server) = self.growth();
        ours <= SLACK_KB && server <= SLACK_KB
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(median: f64, p99: f64) -> Times {
        Times { median, p99, least: 0.0, most: p99, trials: 9, count: 1 }
    }

    #[test]
    fn an_aim_is_met_at_its_bound_and_missed_beyond_it() {
        let (ours, theirs) = (times(10.0, 30.0), times(20.0, 20.0));
        for (aim, met) in [
            (Aim::None, None),
            (Aim::Within(10.0), Some(true)),
            (Aim::Within(9.9), Some(false)),
            (Aim::MostlyWithin(29.0), Some(false)),
            (Aim::TimesTheirs(0.5), Some(true)),
            (Aim::TimesTheirs(0.4), Some(false)),
            (Aim::Faster(2.0), Some(true)),
            (Aim::Faster(2.1), Some(false)),
            (Aim::Over(-10.0), Some(true)),
            (Aim::Over(-11.0), Some(false)),
            (Aim::WorstOver(10.0), Some(true)),
            (Aim::WorstOver(9.9), Some(false)),
            (Aim::PerSecond(100.0, "MB"), Some(true)),
            (Aim::PerSecond(101.0, "MB"), Some(false)),
        ] {
            assert_eq!(aim.met(&ours, Some(&theirs)), met, "{aim:?}");
        }
    }

    #[test]
    fn one_trial_in_a_hundred_may_be_later_than_the_99th() {
        let contender =
            |ms: Vec<f64>| Times::of(&Contender { who: "ours".into(), count: 1, ms }).map(|times| times.p99);
        assert_eq!(contender((1..=100).map(f64::from).collect()), Some(99.0));
        assert_eq!(contender(vec![3.0, 1.0]), Some(3.0));
        assert_eq!(contender(Vec::new()), None);
    }

    #[test]
    fn a_figure_that_nobody_measured_is_named() {
        let contender = |who: &str| Contender { who: who.into(), count: 1, ms: vec![1.0] };
        let race = Race { work: "capture".into(), contenders: vec![contender("ours")] };
        let figure = |theirs| [beside("", ["capture", "ours"], theirs, "another", Aim::None)];
        let error = rows(&figure("mss"), std::slice::from_ref(&race)).unwrap_err();
        assert_eq!(error.to_string(), "capture of mss was not measured");
        assert_eq!(rows(&figure("ours"), &[race]).unwrap()[0].times_as_fast, Some(1.0));
    }
}
