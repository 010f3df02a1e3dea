//! `miki model`: which models there are, whether one works, and what a recorded answer says.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use models::catalogue::catalogue;
use models::{Provider, Wire, neutral_json};
use protocol::ids::ModelId;
use protocol::offer::{Abilities, ModelView, TrialView};
use protocol::tool::Millis;
use protocol::turn::Cost;
use protocol::{ErrorCode, ErrorView};

use crate::exit::Exit;
use crate::home::Home;
use crate::keys::{Keychain, Keys, environment};
use crate::model_source::{CUSTOM, Models, offer};
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
        #[arg(value_parser = PossibleValuesParser::new(providers()))]
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
    Provider::known().iter().map(|provider| provider.id.as_str()).chain([CUSTOM]).collect()
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
        let mut settings = SettingsFile::new(home.settings()).load()?;
        let source = Models::new(Keys::new(Arc::new(Keychain), environment()));
        match self.what {
            What::List { provider: Some(provider), base_url } => {
                settings.base_urls.extend(base_url.map(|url| (provider.clone(), url)));
                settings.validate()?;
                for model in offer::asked(&source, &provider, &settings).await?.models {
                    super::tell(&line(&model));
                }
                Ok(Exit::Done)
            }
            What::Test { model, base_url } => {
                let provider = model.provider().unwrap_or_default().to_owned();
                settings.base_urls.extend(base_url.map(|url| (provider, url)));
                settings.validate()?;
                let trial = offer::tried(&source, &model, &settings).await?;
                super::tell(&trial_text(&trial));
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
    let answer = neutral_json::answer(wire, &bytes);
    for line in &answer.lines {
        super::say(&line.to_string());
    }
    Ok(if answer.complete { Exit::Done } else { Exit::Failed })
}

fn list_known() -> Result<Exit, ErrorView> {
    for provider in Provider::known() {
        for model in offer::known(&provider.id)?.models {
            super::tell(&line(&model));
        }
    }
    eprintln!(
        "as of {}, from {}; ask a provider for what it has now with: miki model list PROVIDER",
        catalogue().date,
        catalogue().source
    );
    Ok(Exit::Done)
}

/// `gemini/gemini-3-flash-preview  Gemini 3 Flash, 1048576 tokens, $0.5 in, $3 out a million tokens`
fn line(model: &ModelView) -> String {
    let price = model.price.map(|price| {
        let more = if price.more_for_long { ", more for long prompts" } else { "" };
        format!("${} in, ${} out a million tokens{more}", price.input, price.output)
    });
    let Abilities { tools, pictures, thinking } = model.abilities;
    let shown = |ability: Option<bool>, word: &str| {
        ability.map(|has| if has { word.to_owned() } else { format!("no {word}") })
    };
    let parts = [
        model.name.clone(),
        model.context.map(|tokens| format!("{tokens} tokens")),
        price,
        shown(tools, "tools"),
        shown(pictures, "pictures"),
        shown(thinking, "thinking"),
    ];
    let about = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    format!("{}  {about}", model.id).trim_end().to_owned()
}

fn trial_text(trial: &TrialView) -> String {
    let mark = |works: bool| if works { "works" } else { "DOES NOT WORK" };
    let seconds = |time: Millis| format!("{:.1} s", time.0 as f64 / 1e3);
    let cost = match trial.cost {
        Cost::Billed { usd } => format!("${usd}, as the provider says"),
        Cost::Priced { usd } => format!("${usd}, by the price table of {}", catalogue().date),
        Cost::AtLeast { usd } => format!("at least ${usd}, by the price table of {}", catalogue().date),
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
    fn a_model_is_one_line_with_its_price_and_what_it_can_do() {
        let models = offer::known("gemini").unwrap().models;
        let model = models.iter().find(|model| model.id.name() == "gemini-3-flash-preview").unwrap();
        assert!(line(model).ends_with("$0.5 in, $3 out a million tokens"), "{}", line(model));
        let abilities = Abilities { tools: Some(true), pictures: Some(false), thinking: None };
        let bare =
            ModelView { id: ModelId("a/b".into()), name: None, context: Some(9), price: None, abilities };
        assert_eq!(line(&bare), "a/b  9 tokens, tools, no pictures");
    }

    #[test]
    fn what_does_not_work_is_said_and_an_unknown_cost_is_not_nothing() {
        let trial = TrialView {
            tool: true,
            picture: false,
            first: Millis(1_240),
            whole: Millis(2_000),
            usage: protocol::turn::Usage { input: 9, output: 3, ..Default::default() },
            cost: Cost::Unknown,
        };
        assert_eq!(
            trial_text(&trial),
            "tools     works\npictures  DOES NOT WORK\ntime      1.2 s to the first event, 2.0 s in all\n\
             tokens    9 in, 3 out, 0 thinking\ncost      unknown"
        );
    }
}
