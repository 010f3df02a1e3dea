//! `miki secret`: passwords and the like that the agent may write without seeing them. A value is never an argument:
//! those can be seen by all.

use clap::{Args, Subcommand};
use protocol::ErrorView;
use protocol::command::{DeleteSecret, ListSecrets, SetSecret};
use protocol::view::SecretView;

use super::text::plain;
use super::{interrupt, key};
use crate::exit::Exit;
use crate::home::Home;
use crate::link::Link;

/// Keep passwords and the like, which the agent may write where they belong, and never sees
#[derive(Debug, Args)]
pub struct Secrets {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Read a value from the terminal (unseen) or from stdin, and keep it in the keychain
    ///
    /// In a goal, name it: "log in with {{bank}}".
    Set {
        /// What it is called: a-z, 0-9, - and _
        name: String,
        /// The only place it goes to: a site's address (https://bank.example) or an application's name
        #[arg(long = "for", value_name = "APP|ORIGIN")]
        place: String,
    },
    /// Say which there are and where each goes, never what they are
    List,
    /// Remove one from the keychain
    Delete { name: String },
}

impl Secrets {
    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        let link = Link::open(home).await?;
        let done = work(&link, self.what).await;
        link.leave(&mut interrupt::listen()?).await;
        done.map(|()| Exit::Done)
    }
}

async fn work(link: &Link, what: What) -> Result<(), ErrorView> {
    match what {
        What::Set { name, place } => {
            link.check_is_miki()?;
            let value = key::read(&format!("secret {}", plain(&name)))?;
            super::tell(&line(&link.call(SetSecret { name, place, value }).await?));
        }
        What::List => {
            let all = link.call(ListSecrets {}).await?;
            if all.is_empty() {
                super::tell("no secrets; keep one with: miki secret set NAME --for APP|ORIGIN");
            }
            all.iter().for_each(|one| super::tell(&line(one)));
        }
        What::Delete { name } => {
            link.call(DeleteSecret { name: name.clone() }).await?;
            super::tell(&format!("{}: deleted", plain(&name)));
        }
    }
    Ok(())
}

fn line(view: &SecretView) -> String {
    let name = plain(&view.name);
    match &view.place {
        Some(place) => format!("{{{{{name}}}}}: for {} only", plain(place)),
        None => format!("{{{{{name}}}}}: not in the keychain, or the keychain does not answer; set it again"),
    }
}
