//! A notification service on the stage's session bus: it keeps what it is told, and clicks when it is asked to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use zbus::object_server::SignalEmitter;
use zbus::zvariant::OwnedValue;

use crate::stage::Stage;

const PATH: &str = "/org/freedesktop/Notifications";

/// What was told, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotificationEvent {
    Shown { id: u32, title: String, body: String },
    Closed { id: u32 },
}

pub struct Notifications {
    told: Arc<Mutex<Vec<NotificationEvent>>>,
    bus: zbus::Connection,
}

impl Notifications {
    /// # Errors
    /// No session bus on the stage, or another service on it.
    pub async fn on(stage: &Stage) -> Result<Self> {
        let address = stage.env("DBUS_SESSION_BUS_ADDRESS").and_then(|address| address.to_str());
        let told = Arc::<Mutex<Vec<NotificationEvent>>>::default();
        let bus = zbus::connection::Builder::address(address.context("no session bus")?)?
            .serve_at(PATH, Service { told: Arc::clone(&told) })?
            .name("org.freedesktop.Notifications")?
            .build()
            .await?;
        Ok(Self { told, bus })
    }

    pub fn told(&self) -> Vec<NotificationEvent> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The user clicks a notification.
    ///
    /// # Errors
    /// The bus is gone.
    pub async fn click(&self, id: u32) -> Result<()> {
        let emitter = SignalEmitter::new(&self.bus, PATH)?;
        Ok(Service::action_invoked(&emitter, id, "default").await?)
    }
}

struct Service {
    told: Arc<Mutex<Vec<NotificationEvent>>>,
}

impl Service {
    fn keep(&self, told: impl FnOnce(u32) -> NotificationEvent) -> u32 {
        let mut all = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let id = u32::try_from(all.len()).unwrap_or(u32::MAX).saturating_add(1);
        all.push(told(id));
        id
    }
}

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Service {
    #[expect(clippy::too_many_arguments, reason = "the specification's own")]
    fn notify(
        &self,
        _app: &str,
        _replaces: u32,
        _icon: &str,
        title: String,
        body: String,
        _actions: Vec<String>,
        _hints: HashMap<String, OwnedValue>,
        _timeout: i32,
    ) -> u32 {
        self.keep(|id| NotificationEvent::Shown { id, title, body })
    }

    fn close_notification(&self, id: u32) {
        self.keep(|_| NotificationEvent::Closed { id });
    }

    fn get_capabilities(&self) -> Vec<String> {
        ["actions", "body", "body-markup"].map(str::to_owned).to_vec()
    }

    fn get_server_information(&self) -> (String, String, String, String) {
        ("stage".into(), "tests".into(), "1".into(), "1.2".into())
    }

    #[zbus(signal)]
    async fn action_invoked(emitter: &SignalEmitter<'_>, id: u32, action: &str) -> zbus::Result<()>;
}
