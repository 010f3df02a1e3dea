//! What the mind needs from the composition root.

use futures::future::BoxFuture;
use models::SharedModel;
use protocol::ErrorView;
use protocol::command::RunOverrides;
use protocol::ids::ModelId;
use protocol::settings::Settings;

/// Opens models by their id.
pub trait ModelSource: Send + Sync {
    /// Opens `model`, where and in place of what `over` says. May take as long as a keychain's prompt stands open.
    ///
    /// # Errors
    /// `NoKey` with the command that sets the key; `BadRequest` naming the providers there are, or what is wrong with a
    /// recording.
    fn open<'a>(
        &'a self,
        model: &'a ModelId,
        settings: &'a Settings,
        over: &'a RunOverrides,
    ) -> BoxFuture<'a, Result<SharedModel, ErrorView>>;
}

/// Keeps the settings. Blocking.
pub trait SettingsStore: Send + Sync {
    /// Writes all settings, whole or not at all.
    ///
    /// # Errors
    /// `Storage` where the file cannot be written; the old file is untouched then.
    fn save(&self, settings: &Settings) -> Result<(), ErrorView>;
}
