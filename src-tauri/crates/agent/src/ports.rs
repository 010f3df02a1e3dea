//! What the mind needs from the composition root.

use futures::future::BoxFuture;
use models::SharedModel;
use protocol::ErrorView;
use protocol::command::Recording;
use protocol::ids::{ModelId, SessionId};
use protocol::settings::Settings;
use tools::Ports;

/// Opens models.
pub trait ModelSource: Send + Sync {
    /// Opens a model. May take as long as a keychain's prompt stands open.
    ///
    /// # Errors
    /// `NoKey` with the command that sets the key; `BadRequest` naming the providers there are, or where the model
    /// cannot do what is asked of it, or what is wrong with a recording.
    fn open<'a>(&'a self, what: OpenModel<'a>) -> BoxFuture<'a, Result<SharedModel, ErrorView>>;
}

/// Which model is to be opened, and how.
#[derive(Clone, Copy, Debug)]
pub struct OpenModel<'a> {
    pub model: &'a ModelId,
    pub settings: &'a Settings,
    /// The provider's own search of the web is to be there.
    pub search: bool,
    /// Records what the model says, or says what was recorded in its place.
    pub recording: Option<&'a Recording>,
}

impl<'a> OpenModel<'a> {
    /// The model of the settings, as it is without a session.
    pub fn of(settings: &'a Settings) -> Self {
        Self { model: &settings.model, settings, search: false, recording: None }
    }
}

/// Makes what a session works with beyond the screen: its folder, its terminal, the web, calendars.
pub trait PortSource: Send + Sync {
    /// # Errors
    /// `BadRequest` where a folder is named that cannot be worked in.
    fn open<'a>(&'a self, what: OpenPorts<'a>) -> BoxFuture<'a, Result<Ports, ErrorView>>;
}

/// Whose ports are to be opened.
#[derive(Clone, Copy, Debug)]
pub struct OpenPorts<'a> {
    /// A terminal's commands are its session's; `None` for a call outside any.
    pub session: Option<&'a SessionId>,
    /// The folder; `None` for the one of the settings.
    pub space: Option<&'a str>,
    pub settings: &'a Settings,
}

/// Nothing but the screen.
pub struct NoPorts;

impl PortSource for NoPorts {
    fn open<'a>(&'a self, _: OpenPorts<'a>) -> BoxFuture<'a, Result<Ports, ErrorView>> {
        Box::pin(async { Ok(Ports::default()) })
    }
}

/// Keeps the settings. Blocking.
pub trait SettingsStore: Send + Sync {
    /// Writes all settings, whole or not at all.
    ///
    /// # Errors
    /// `Storage` where the file cannot be written; the old file is untouched then.
    fn save(&self, settings: &Settings) -> Result<(), ErrorView>;
    /// The line of the file that says this of a setting; `None` if it says nothing of it, or where there is no file.
    fn line_of(&self, _setting: &str) -> Option<usize> {
        None
    }
}
