//! What the program needs from the machine: looked at now, with how to fix what is not well.

use std::time::Duration;

use agent::{ModelSource, OpenModel};
use desktop::Desktop;
use protocol::settings::Settings;
use protocol::view::{Check, CheckState, CheckView};
use protocol::{ErrorCode, ErrorView};
use space::terminal::Strength;
use tokio::time::timeout;

use crate::engine::blocking;
use crate::keys::Keys;
use crate::model_source::Models;

/// A network that answers slower than this is as good as none.
const MODEL: Duration = Duration::from_secs(15);

/// All checks, in the order in which they matter.
pub async fn all(
    desktop: &dyn Desktop,
    keys: &Keys,
    (file, journal): (CheckView, CheckView),
    models: &Models,
    settings: &Settings,
) -> Vec<CheckView> {
    let mut views = desktop.checks().await;
    let keychain = {
        let keys = keys.clone();
        blocking(move || keys.check()).await
    };
    views.push(keychain.unwrap_or_else(|error| failed(Check::Keychain, error)));
    views.push(sandbox().await);
    views.push(file);
    views.push(journal);
    views.push(model(models, settings).await);
    views
}

/// The settings' file: `put_back` is what of it was changed behind our back, and is not in force.
pub fn settings_file(put_back: Option<ErrorView>) -> CheckView {
    match put_back {
        None => {
            let detail = "in force as it is".to_owned();
            CheckView { check: Check::Settings, state: CheckState::Well, detail, remedy: None }
        }
        Some(said) => CheckView { state: CheckState::Limited, ..failed(Check::Settings, said) },
    }
}

/// A check that did not pass, as its error has it.
pub fn failed(check: Check, error: ErrorView) -> CheckView {
    CheckView { check, state: CheckState::Missing, detail: error.message, remedy: error.hint }
}

/// What confines commands: really tried, since a program that is there may be refused by the system.
async fn sandbox() -> CheckView {
    match blocking(|| crate::workplaces::sandbox().strength().clone()).await {
        Ok(strength) => confines(&strength),
        Err(error) => failed(Check::Sandbox, error),
    }
}

/// Without a sandbox commands are not refused: each asks.
fn confines(strength: &Strength) -> CheckView {
    let (state, detail, remedy) = match strength {
        Strength::Bubblewrap { seccomp: true, landlock: true } => (
            CheckState::Well,
            "bubblewrap, a filter of system calls (seccomp) and Landlock: a command was run in them"
                .to_owned(),
            None,
        ),
        Strength::Bubblewrap { seccomp, landlock } => {
            let mut missing = Vec::new();
            if !seccomp {
                missing.push("a filter of system calls (seccomp)");
            }
            if !landlock {
                missing.push("Landlock");
            }
            let detail = format!("bubblewrap works; there is no {}", missing.join(" and no "));
            let remedy = "take a kernel of 5.13 or later that has both: CONFIG_SECCOMP_FILTER, and \
                          CONFIG_SECURITY_LANDLOCK with landlock in its list lsm=";
            (CheckState::Limited, detail, Some(remedy.to_owned()))
        }
        Strength::Seatbelt => (
            CheckState::Limited,
            "macOS's seatbelt: no network, and writes only into the folder; it hides less than Linux's"
                .into(),
            None,
        ),
        Strength::None { why } => {
            let remedy = match () {
                () if !cfg!(target_os = "linux") => None,
                () if why.contains("not installed") => {
                    Some("install bubblewrap: sudo apt install bubblewrap, or dnf, zypper, pacman -S".to_owned())
                }
                () => Some(
                    "let users have namespaces of their own: sudo sysctl -w kernel.unprivileged_userns_clone=1, and \
                     where AppArmor refuses them kernel.apparmor_restrict_unprivileged_userns=0; in a container, \
                     allow them there"
                        .to_owned(),
                ),
            };
            (CheckState::Limited, format!("nothing confines commands, so each asks: {why}"), remedy)
        }
    };
    CheckView { check: Check::Sandbox, state, detail, remedy }
}

async fn model(models: &Models, settings: &Settings) -> CheckView {
    let model = match models.open(OpenModel::of(settings)).await {
        Ok(model) => model,
        Err(error) => return failed(Check::Model, error),
    };
    let silent = || {
        ErrorView::new(
            ErrorCode::Model,
            format!("{} gave no answer within {} s", settings.model, MODEL.as_secs()),
        )
        .with_hint("check the network")
    };
    match timeout(MODEL, model.probe()).await {
        Ok(Ok(())) => CheckView {
            check: Check::Model,
            state: CheckState::Well,
            detail: format!("{} answers", settings.model),
            remedy: None,
        },
        Ok(Err(error)) => failed(Check::Model, error.into()),
        Err(_) => failed(Check::Model, silent()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_of_the_sandbox_is_named_with_what_to_install() {
        let whole = confines(&Strength::Bubblewrap { seccomp: true, landlock: true });
        assert_eq!((whole.state, whole.remedy), (CheckState::Well, None));
        let part = confines(&Strength::Bubblewrap { seccomp: true, landlock: false });
        assert_eq!(part.state, CheckState::Limited);
        assert!(part.detail.contains("no Landlock") && !part.detail.contains("seccomp"), "{part:?}");
        let none = |why: &str| confines(&Strength::None { why: why.into() });
        let missing = none("bubblewrap is not installed");
        assert!(missing.detail.contains("each asks"), "{missing:?}");
        if cfg!(target_os = "linux") {
            assert!(missing.remedy.unwrap().contains("apt install bubblewrap"));
            assert!(none("setting up uid map: Permission denied").remedy.unwrap().contains("userns"));
        }
    }
}
