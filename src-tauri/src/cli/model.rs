//! `miki model`: which models there are, whether one works, and what a recorded answer says.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent::Wanted;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use models::catalogue::{KnownModel, catalogue};
use models::told::tell;
use models::trial::{Trial, trial};
use models::{Provider, Wire};
use protocol::ids::ModelId;
use protocol::turn::{Cost, Usd};
use protocol::{ErrorCode, ErrorView};

use crate::exit::Exit;
use crate::home::Home;
use crate::keys::{Keychain, Keys, environment};
use crate::model_source::Models;
use crate::settings_file::SettingsFile;

/// List models, try one out, or decode a recorded answer
#[derive(Debug, Args)]
pub struct ModelLine {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print a provider's models, or those known to this version with their prices
    List {
        /// Ask this provider for what it has now
        #[arg(long, value_name = "P", value_parser = PossibleValuesParser::new(providers()))]
        provider: Option<String>,
        /// Another server that speaks the provider's wire protocol
        #[arg(long, value_name = "URL", requires = "provider")]
        base_url: Option<String>,
    },
    /// Ask one tiny question with a tool and a picture: what works, how long it took, what it cost
    Test {
        #[arg(value_name = "P/ID", value_parser = super::run::model)]
        model: ModelId,
        /// Another server that speaks the model's wire protocol
        #[arg(long, value_name = "URL")]
        base_url: Option<String>,
    },
    /// Print the events of a recorded answer as JSON lines; the last is how it ended
    ///
    /// Exit code 0 for a whole turn, 1 for an error or an answer that was cut.
    Decode {
        #[arg(long, value_name = "WIRE", value_parser = PossibleValuesParser::new(Wire::ALL.map(Wire::name)))]
        wire: String,
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

fn providers() -> Vec<&'static str> {
    Provider::known().iter().map(|provider| provider.id.as_str()).collect()
}

impl ModelLine {
    /// Does what needs neither data folder nor keys; gives the rest back.
    pub fn without_home(self) -> Result<Result<Exit, ErrorView>, Self> {
        match self.what {
            What::Decode { wire, file } => Ok(decode(&wire, &file)),
            What::List { provider: None, base_url: _ } => Ok(list_known()),
            what => Err(Self { what }),
        }
    }

    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        let settings = SettingsFile::new(home.settings()).load()?;
        let source = Models::new(Keys::new(Arc::new(Keychain), environment()));
        match self.what {
            What::List { provider: Some(provider), base_url } => {
                // Lists are of a provider; its door needs the name of some model.
                let any = ModelId(format!("{provider}/any"));
                let wanted = Wanted { model: &any, base_url: base_url.as_deref(), ..Wanted::of(&settings) };
                let remote = source.open_remote(wanted).await?;
                for model in remote.list().await? {
                    let context = model.context.map(|tokens| format!("{tokens} tokens"));
                    let parts = [model.name, context, catalogue().find(&provider, &model.id).map(prices)];
                    let told: Vec<String> = parts.into_iter().flatten().collect();
                    super::say(&format!("{provider}/{}  {}", model.id, told.join(", ")));
                }
                Ok(Exit::Done)
            }
            What::Test { model, base_url } => {
                let wanted = Wanted { model: &model, base_url: base_url.as_deref(), ..Wanted::of(&settings) };
                let remote = source.open_remote(wanted).await?;
                let trial = trial(&remote).await?;
                super::say(&told(&trial));
                Ok(if trial.tool && trial.picture { Exit::Done } else { Exit::Failed })
            }
            What::Decode { wire, file } => decode(&wire, &file),
            What::List { provider: None, base_url: _ } => list_known(),
        }
    }
}

fn decode(wire: &str, file: &Path) -> Result<Exit, ErrorView> {
    let wire = Wire::named(wire)
        .ok_or_else(|| ErrorView::new(ErrorCode::BadRequest, format!("there is no wire {wire:?}")))?;
    let bytes = std::fs::read(file).map_err(|error| {
        ErrorView::new(ErrorCode::NotFound, format!("{} cannot be read: {error}", file.display()))
    })?;
    let told = tell(wire, &bytes);
    for line in &told.lines {
        super::say(&line.to_string());
    }
    Ok(if told.complete { Exit::Done } else { Exit::Failed })
}

fn list_known() -> Result<Exit, ErrorView> {
    let table = catalogue();
    for provider in Provider::known() {
        for model in table.of(&provider.id) {
            let name = model.name.as_deref().unwrap_or(&model.id);
            super::say(&format!("{}/{}  {name}, {}", provider.id, model.id, prices(model)));
        }
    }
    eprintln!(
        "as of {}, from {}; ask a provider for what it has now with --provider",
        table.date, table.source
    );
    Ok(Exit::Done)
}

/// Dollars a million tokens, for short prompts.
fn prices(model: &KnownModel) -> String {
    let million = |prices: &[(u64, u64)]| {
        prices.first().map_or("?".into(), |(_, price)| Usd(price.saturating_mul(1_000_000)).to_string())
    };
    let more = if model.input.len() > 1 { ", more for long prompts" } else { "" };
    format!("${} in, ${} out a million tokens{more}", million(&model.input), million(&model.output))
}

fn told(trial: &Trial) -> String {
    let mark = |works: bool| if works { "works" } else { "DOES NOT WORK" };
    let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());
    let cost = match trial.cost {
        Cost::Billed { usd } => format!("${usd}, as the provider says"),
        Cost::Priced { usd } => format!("${usd}, by the price table of {}", catalogue().date),
        Cost::Unknown => "unknown".into(),
    };
    let usage = &trial.usage;
    [
        format!("tools     {}", mark(trial.tool)),
        format!("pictures  {}", mark(trial.picture)),
        format!("time      {} to the first event, {} in all", seconds(trial.first), seconds(trial.whole)),
        format!("tokens    {} in, {} out, {} thinking", usage.input, usage.output, usage.thinking),
        format!("cost      {cost}"),
    ]
    .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_answer_ends_with_the_exit_code_of_its_turn() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.sse");
        let whole = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n";
        for (text, exit) in [(whole, Exit::Done), (&whole[..40], Exit::Failed), ("", Exit::Failed)] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(decode("openai-chat", &file).unwrap(), exit, "{text}");
        }
        assert_eq!(decode("openai-chat", &folder.path().join("none")).unwrap_err().code, ErrorCode::NotFound);
    }

    #[test]
    fn prices_are_told_in_dollars_a_million_tokens() {
        let model = catalogue().find("gemini", "gemini-3-flash-preview").unwrap();
        assert_eq!(prices(model), "$0.5 in, $3 out a million tokens");
    }

    #[test]
    fn what_does_not_work_is_said_and_an_unknown_cost_is_not_nothing() {
        let trial = Trial {
            tool: true,
            picture: false,
            stop: protocol::turn::StopReason::End,
            first: Duration::from_millis(1_240),
            whole: Duration::from_secs(2),
            usage: protocol::turn::Usage { input: 9, output: 3, ..Default::default() },
            cost: Cost::Unknown,
        };
        assert_eq!(
            told(&trial),
            "tools     works\npictures  DOES NOT WORK\ntime      1.2 s to the first event, 2.0 s in all\n\
             tokens    9 in, 3 out, 0 thinking\ncost      unknown"
        );
    }
}
