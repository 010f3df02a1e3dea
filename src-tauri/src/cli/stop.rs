//! `miki stop [RUN]`: a run by its id or the beginning of it, or everything.

use clap::Args;
use protocol::command::StopRun;
use protocol::ids::RunId;
use protocol::view::{Overview, RunStatus};
use protocol::{ErrorCode, ErrorView};

use super::ps::table;
use super::{interrupt, width};
use crate::exit::Exit;
use crate::home::Home;
use crate::link::Link;

/// Stop a run and all that it asked for, or everything
#[derive(Debug, Args)]
pub struct Stop {
    /// The run, by its id or the beginning of it (`miki ps`); whatever is under way where none is named
    #[arg(value_parser = beginning)]
    run: Option<String>,
}

#[derive(Debug, thiserror::Error)]
#[error("not a run's id, for example r-0193f4c2")]
struct NoId;

/// Of an id, without what every run's id starts with.
fn beginning(text: &str) -> Result<String, NoId> {
    let text = text.trim();
    let rest = text.strip_prefix(RunId::PREFIX).unwrap_or(text);
    if rest.is_empty() { Err(NoId) } else { Ok(rest.to_owned()) }
}

impl Stop {
    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        // One that waits for an answer is stopped also where no Miki runs.
        let Some((link, overview)) = super::looked_at(home).await? else {
            return match &self.run {
                Some(beginning) => the_one(&[], beginning).map(|_| Exit::Done),
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
            Some(beginning) => match the_one(&overview.runs, beginning) {
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

/// The only run whose id begins so.
fn the_one(runs: &[RunStatus], beginning: &str) -> Result<RunId, ErrorView> {
    let begins = |run: &&RunStatus| {
        run.run.as_str().strip_prefix(RunId::PREFIX).is_some_and(|id| id.starts_with(beginning))
    };
    let found: Vec<&RunStatus> = runs.iter().filter(begins).collect();
    match found.as_slice() {
        [one] => Ok(one.run.clone()),
        [] if runs.is_empty() => Err(ErrorView::new(ErrorCode::NotFound, "no run is under way")),
        [] => Err(ErrorView::new(ErrorCode::NotFound, format!("no run begins with r-{beginning}"))
            .with_hint("these have not ended:")),
        more => Err(ErrorView::new(
            ErrorCode::BadRequest,
            format!("{} runs begin with r-{beginning}", more.len()),
        )
        .with_hint("name one of these:")),
    }
}

#[cfg(test)]
mod tests {
    use protocol::event::Status;
    use protocol::ids::SessionId;

    use super::*;

    #[test]
    fn a_run_is_meant_by_its_id_or_by_what_only_it_begins_with() {
        let run = |id: &str| RunStatus {
            session: SessionId("s-1".into()),
            run: RunId(id.into()),
            goal: "g".into(),
            status: Status::default(),
            parent: None,
        };
        let runs = [run("r-12a"), run("r-12b"), run("r-3")];
        let meant = |text: &str| the_one(&runs, &beginning(text).unwrap());
        assert_eq!(meant("r-12a").unwrap().as_str(), "r-12a");
        assert_eq!(meant("12b").unwrap().as_str(), "r-12b");
        assert_eq!(meant("r-3").unwrap().as_str(), "r-3");
        assert_eq!(meant("12").unwrap_err().code, ErrorCode::BadRequest);
        assert_eq!(meant("r-4").unwrap_err().code, ErrorCode::NotFound);
        assert_eq!(the_one(&[], "1").unwrap_err().code, ErrorCode::NotFound);
        assert!(beginning("r-").is_err() && beginning(" ").is_err());
    }
}
