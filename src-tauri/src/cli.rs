//! The command line: what may be written, and which file does it.

use std::future::Future;

use clap::{Parser, Subcommand};
use protocol::command::GetOverview;
use protocol::view::Overview;
use protocol::{ErrorCode, ErrorView};

use crate::exit::Exit;
use crate::home::Home;
use crate::link::Link;

mod approvals;
mod ps;
mod run;
mod state;
mod stop;
mod undo;

mod do_tool;
mod doctor;
mod key;
mod mcp;
mod model;
mod secret;
mod session;

mod ids;
pub mod interrupt;
mod run_printer;
mod text;
mod width;

/// An agent that operates your computer, asks before anything that matters, and shows what it did.
///
/// Without a command the app opens. A command attaches to the app that runs, or does the work itself.
#[derive(Debug, Parser)]
#[command(name = "miki", version, after_help = AFTER)]
struct Line {
    #[command(subcommand)]
    command: Option<Command>,
}

const AFTER: &str = "\
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 stopped, 4 needs an approval.

Environment:
  MIKI_HOME             the data folder (settings, journal, pictures)
  MIKI_KEY_<PROVIDER>   a key that goes before the keychain's, for example MIKI_KEY_GEMINI
  RUST_LOG              what is logged to stderr (default: warn)";

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Run),
    Ps(ps::Ps),
    State(state::State),
    Stop(stop::Stop),
    Undo(undo::Undo),
    Approvals(approvals::Approvals),
    Do(do_tool::Do),
    Key(key::Key),
    Secret(secret::Secrets),
    Mcp(mcp::Mcp),
    Model(model::ModelLine),
    Session(session::Sessions),
    Doctor(doctor::Doctor),
    /// Started by Miki itself: lets go of what it held, should it be killed.
    #[command(hide = true)]
    Watchdog,
}

/// Does what the command line says.
pub fn main() -> Exit {
    // Started by the terminal's sandbox, around a command.
    let mut words = std::env::args_os().skip(1);
    let error = match words.next() {
        Some(word) if word == space::terminal::confine::SUBCOMMAND => {
            Some(space::terminal::confine::confine(words))
        }
        Some(word) if word == space::terminal::confine::FORWARD => Some(space::terminal::confine::forward()),
        _ => None,
    };
    if let Some(error) = error {
        eprintln!("miki: {error}");
        return Exit::Failed;
    }
    let line = match Line::try_parse() {
        Ok(line) => line,
        Err(error) => {
            // Help and version come this way too, with code 0.
            say_usage(&error);
            return if error.exit_code() == 0 { Exit::Done } else { Exit::Usage };
        }
    };
    match line.command {
        None => exit_of(with_home(crate::windows::run)),
        Some(Command::Key(key)) => exit_of(with_home(|home| on_runtime(key.run(home)))),
        Some(Command::Watchdog) => exit_of(
            desktop::run_watchdog()
                .map(|()| Exit::Done)
                .map_err(|error| ErrorView::new(ErrorCode::Display, error.to_string())),
        ),
        Some(Command::Model(model)) => exit_of(match model.without_home() {
            Ok(done) => done,
            Err(model) => with_home(|home| on_runtime(model.run(home))),
        }),
        Some(Command::Run(run)) => exit_of(with_home(|home| on_runtime(run.run(home)))),
        Some(Command::Ps(ps)) => exit_of(with_home(|home| on_runtime(ps.run(home)))),
        Some(Command::State(state)) => exit_of(with_home(|home| on_runtime(state.run(home)))),
        Some(Command::Stop(stop)) => exit_of(with_home(|home| on_runtime(stop.run(home)))),
        Some(Command::Undo(undo)) => exit_of(with_home(|home| on_runtime(undo.run(home)))),
        Some(Command::Approvals(approvals)) => exit_of(with_home(|home| on_runtime(approvals.run(home)))),
        Some(Command::Secret(secret)) => exit_of(with_home(|home| on_runtime(secret.run(home)))),
        Some(Command::Mcp(mcp)) => exit_of(with_home(|home| on_runtime(mcp.run(home)))),
        Some(Command::Session(sessions)) => exit_of(with_home(|home| on_runtime(sessions.run(home)))),
        Some(Command::Do(call)) => exit_of(match call.without_home() {
            Ok(exit) => Ok(exit),
            Err(call) => with_home(|home| on_runtime(call.run(home))),
        }),
        Some(Command::Doctor(doctor)) => exit_of(with_home(|home| on_runtime(doctor.run(home)))),
    }
}

fn with_home<T>(work: impl FnOnce(&Home) -> Result<T, ErrorView>) -> Result<T, ErrorView> {
    work(&Home::open()?)
}

fn on_runtime<T>(work: impl Future<Output = Result<T, ErrorView>>) -> Result<T, ErrorView> {
    let runtime = runtime()?;
    let done = runtime.block_on(work);
    // A keychain that hangs would otherwise be waited for. All that must be written has been.
    runtime.shutdown_background();
    done
}

/// The runtime of a command or the app.
///
/// # Errors
/// [`ErrorCode::Internal`] where the system gives no threads.
pub fn runtime() -> Result<tokio::runtime::Runtime, ErrorView> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| ErrorView::new(ErrorCode::Internal, format!("no threads to work on: {error}")))
}

fn exit_of(outcome: Result<Exit, ErrorView>) -> Exit {
    match outcome {
        Ok(exit) => exit,
        Err(error) => {
            say_error(&error);
            Exit::Failed
        }
    }
}

/// Who has the folder, with what there is. Where nobody has, the journal tells: for that this process is the engine, as long
/// as the link is there. `None` if there is no journal either.
async fn looked_at(home: &Home) -> Result<Option<(Link, Overview)>, ErrorView> {
    if let Some(attached) = Link::attach_with(home, GetOverview {}).await? {
        return Ok(Some(attached));
    }
    if !home.path().join(journal::FILE_NAME).exists() {
        return Ok(None);
    }
    let link = Link::open(home).await?;
    match link.call(GetOverview {}).await {
        Ok(overview) => Ok(Some((link, overview))),
        Err(error) => {
            link.leave(&mut interrupt::listen()?).await;
            Err(error)
        }
    }
}

/// An error and its hint on stderr, for people.
pub fn say_error(error: &ErrorView) {
    tell_aside(&format!("miki: {}", text::plain(&error.message)));
    if let Some(hint) = &error.hint {
        tell_aside(&format!("  {}", text::plain(hint)));
    }
    for model in &error.suggestions {
        tell_aside(&format!("  try: {}", text::plain(&model.0)));
    }
}

/// The help, the version, or what is wrong with a command line.
fn say_usage(error: &clap::Error) {
    use std::io::Write;

    let is_error = error.use_stderr();
    let columns = if is_error { width::of_stderr() } else { width::of_stdout() };
    // A closed pipe is no failure of ours.
    let Some(columns) = columns else {
        let _ = error.print();
        return;
    };
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let is_plain =
        cfg!(windows) || set("NO_COLOR").is_some() || set("TERM").is_none_or(|term| term == "dumb");
    let text = error.render();
    let text = if is_plain { text.to_string() } else { text.ansi().to_string() };
    let text = width::wrapped_prose(&text, Some(columns));
    let _ = match is_error {
        true => std::io::stderr().write_all(text.as_bytes()),
        false => std::io::stdout().write_all(text.as_bytes()),
    };
}

/// Lines for a person on stdout, no wider than their terminal.
fn tell(lines: &str) {
    say(&width::wrapped(lines, width::of_stdout()));
}

/// The same on stderr.
fn tell_aside(lines: &str) {
    eprintln!("{}", width::wrapped(lines, width::of_stderr()));
}

/// One line on stdout as it is: for programs, or to be copied. A closed pipe (`| head`) is no failure.
fn say(line: &str) {
    use std::io::Write;

    let mut out = std::io::stdout().lock();
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests;
