//! What the mind needs from the composition root.

use futures::future::BoxFuture;
use models::SharedModel;
use protocol::ErrorView;
use protocol::settings::Settings;

/// Opens models.
pub trait ModelSource: Send + Sync {
    /// Opens the settings' model. May take as long as a keychain's prompt stands open.
    ///
    /// # Errors
    /// `NoKey` with the command that sets the key; `BadRequest` naming the providers there are.
    fn open<'a>(&'a self, settings: &'a Settings) -> BoxFuture<'a, Result<SharedModel, ErrorView>>;
}

/// Keeps the settings. Blocking.
pub trait SettingsStore: Send + Sync {
    /// Writes all settings, whole or not at all.
    ///
    /// # Errors
    /// `Storage` where the file cannot be written; the old file is untouched then.
    fn save(&self, settings: &Settings) -> Result<(), ErrorView>;
}
