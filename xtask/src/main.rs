//! Automation in Rust: set-up, run, test, measure, ship. `cargo xtask help` lists it all.
//!
//! Commands here start other programs and say what they do; no logic of the app lives here.

use anyhow::Result;
use clap::{Parser, Subcommand};

use checkout::{Build, Checkout};

mod setup;

mod run;
mod test;
mod ui;

mod bench;
mod cross;
mod dist;
mod icons;
mod lines;

mod checkout;
mod shell;
mod stamp;
mod tally;
mod vitals;

/// Everything around the app: each command installs what it lacks first.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Line {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the app and open it; without a display, carry out the demo
    Run {
        /// Optimised; takes some minutes more to build
        #[arg(long)]
        release: bool,
        /// Handed to the app
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Carry out the demo: the real app operates a real editor on a private desktop, with a scripted model
    Demo {
        /// Optimised; takes some minutes more to build
        #[arg(long)]
        release: bool,
    },
    /// Check and test everything
    Test {
        /// Only these steps
        #[arg(long, value_enum, value_delimiter = ',')]
        only: Vec<test::Step>,
    },
    /// Measure the release build: the app's start, idle and answer times, the engine with a long session, or the desktop's or
    /// the models' work beside its peers'
    Bench {
        /// What of it
        #[arg(value_enum, default_value = "app")]
        what: bench::What,
    },
    /// Build for release and print the sizes and what the app takes when idle, against the aims, and the lines of Rust
    Dist {
        /// The commit whose lines of Rust stand beside today's
        #[arg(long, default_value = lines::BEFORE)]
        since: String,
    },
    /// Install whatever any of the commands needs
    Setup,
    /// Build the windows into ui/dist
    Ui {
        /// Optimised, as shipped
        #[arg(long)]
        release: bool,
    },
    /// Draw icons/ anew from icons/source/*.svg (for those who change them)
    Icons,
}

fn main() -> Result<()> {
    let checkout = Checkout::of_this_checkout()?;
    match Line::parse().command {
        Command::Run { release, arguments } => run::run(&checkout, build(release), &arguments),
        Command::Demo { release } => run::demo(&checkout, build(release)),
        Command::Test { only } => test::test(&checkout, &only),
        Command::Bench { what } => bench::bench(&checkout, what),
        Command::Dist { since } => dist::dist(&checkout, &since),
        Command::Setup => setup::all(&checkout),
        Command::Ui { release } => {
            let small: &[setup::Need] = if release { &[setup::Need::SmallWindows] } else { &[] };
            setup::ready(&checkout, &[&[setup::Need::Build], small].concat())?;
            ui::build(&checkout, build(release))
        }
        Command::Icons => icons::draw(&checkout),
    }
}

fn build(release: bool) -> Build {
    if release { Build::Release } else { Build::Debug }
}
