//! `miki stop [RUN]`: a run by its id or a part of it, or everything.

use clap::Args;
use protocol::command::StopRun;
use protocol::ids::RunId;
use protocol::view::{Overview, RunStatus};
use protocol::{ErrorCode, ErrorView};

use super::ps::table;
use super::{ids, interrupt, width};
use crate::exit::Exit;
use crate::home::Home;
use crate::link::Link;

/// Stop a run and all that it asked for, or everything
#[derive(Debug, Args)]
pub struct Stop {
    /// The run, by its id or what `miki ps` shows of it; whatever is under way where none is named
    #[arg(value_parser = named)]
    run: Option<String>,
}

#[derive(Debug, thiserror::Error)]
#[error("not a run's id: miki ps shows them")]
struct NoId;

/// More than every run's id starts with.
fn named(text: &str) -> Result<String, NoId> {
    let text = text.trim();
    if text.is_empty() || text == RunId::PREFIX { Err(NoId) } else { Ok(text.to_owned()) }
}

impl Stop {
    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        // One that waits for an answer is stopped also where no Miki runs.
        let Some((link, overview)) = super::looked_at(home).await? else {
            return match &self.run {
                Some(named) => the_one(&[], named).map(|_| Exit::Done),
                None => {
                    super::tell("nothing is running");
                    Ok(Exit::Done)
                }
            };
        };
        let done = self.stop(&link, &overview).await;
        link.leave(&mut interrupt::listen()?).await;
        done
    }

    async fn stop(self, link: &Link, overview: &Overview) -> Result<Exit, ErrorView> {
        let run = match &self.run {
            None => None,
            Some(named) => match the_one(&overview.runs, named) {
                Ok(run) => Some(run),
                Err(error) => {
                    super::say_error(&error);
                    if !overview.runs.is_empty() {
                        let columns = width::of_stderr().unwrap_or(width::USUAL);
                        super::tell_aside(&table(overview, columns));
                    }
                    return Ok(Exit::Failed);
                }
            },
        };
        // A single call is ended, too, which is not among the runs.
        match link.call(StopRun { run: run.clone() }).await {
            Ok(()) => {}
            // All that ran ends with an engine that leaves.
            Err(error) if [ErrorCode::NotFound, ErrorCode::Leaving].contains(&error.code) => {
                super::tell("it has just ended by itself");
                return Ok(Exit::Done);
            }
            Err(error) => return Err(error),
        }
        match run {
            Some(run) => super::tell(&format!("stopped {run}")),
            None if overview.runs.is_empty() => super::tell("no run was under way"),
            None => overview.runs.iter().for_each(|stopped| super::tell(&format!("stopped {}", stopped.run))),
        }
        Ok(Exit::Done)
    }
}

/// The only run whose id ends or begins so.
fn the_one(runs: &[RunStatus], named: &str) -> Result<RunId, ErrorView> {
    let found = ids::meant(runs.iter().collect(), |run| run.run.as_str(), named);
    found.map(|run| run.run.clone()).map_err(|several| match several {
        0 if runs.is_empty() => ErrorView::new(ErrorCode::NotFound, "no run is under way"),
        0 => ErrorView::new(ErrorCode::NotFound, format!("no run's id ends or begins with {named}"))
            .with_hint("these have not ended:"),
        _ => ErrorView::new(ErrorCode::BadRequest, format!("{several} runs' ids end or begin with {named}"))
            .with_hint("name one of these:"),
    })
}

#[cfg(test)]
mod tests {
    use protocol::event::Status;
    use protocol::ids::SessionId;

    use super::*;

    #[test]
    fn a_run_is_meant_by_its_id_or_by_what_only_it_ends_or_begins_with() {
        let run = |id: &str| RunStatus {
            session: SessionId("s-1".into()),
            run: RunId(id.into()),
            goal: "g".into(),
            status: Status::default(),
            parent: None,
        };
        let runs = [run("r-12a"), run("r-12b"), run("r-3")];
        let meant = |text: &str| the_one(&runs, &named(text).unwrap());
        assert_eq!(meant("r-12a").unwrap().as_str(), "r-12a");
        assert_eq!(meant("12b").unwrap().as_str(), "r-12b");
        assert_eq!(meant("r-3").unwrap().as_str(), "r-3");
        assert_eq!(meant("2b").unwrap().as_str(), "r-12b");
        assert_eq!(meant("12").unwrap_err().code, ErrorCode::BadRequest);
        assert_eq!(meant("r-4").unwrap_err().code, ErrorCode::NotFound);
        assert_eq!(the_one(&[], "1").unwrap_err().code, ErrorCode::NotFound);
        assert!(named("r-").is_err() && named(" ").is_err());
    }
}
