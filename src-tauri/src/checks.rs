//! What the program needs from the machine: looked at now, with how to fix what is not well.

use std::time::Duration;

use agent::{ModelSource, OpenModel};
use desktop::Desktop;
use protocol::settings::Settings;
use protocol::view::{Check, CheckState, CheckView};
use protocol::{ErrorCode, ErrorView};
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
    journal: CheckView,
    models: &Models,
    settings: &Settings,
) -> Vec<CheckView> {
    let mut views = desktop.checks().await;
    let keychain = {
        let keys = keys.clone();
        blocking(move || keys.check()).await
    };
    views.push(keychain.unwrap_or_else(|error| failed(Check::Keychain, error)));
    views.push(journal);
    views.push(model(models, settings).await);
    views
}

/// A check that did not pass, as its error has it.
pub fn failed(check: Check, error: ErrorView) -> CheckView {
    CheckView { check, state: CheckState::Missing, detail: error.message, remedy: error.hint }
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
