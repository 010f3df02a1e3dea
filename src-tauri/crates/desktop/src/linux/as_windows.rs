//! [`Windows`] of X11: what the window manager knows of windows, and applications by their desktop files.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use protocol::geometry::NormPoint;

use super::ewmh::{Client, Ewmh};
use super::{LOOK, LinuxDesktop, apps};
use crate::{
    Acted, AppView, DesktopError, Fence, Glance, Taker, WindowChange, WindowId, WindowView, Windows,
};

/// A launch waits for a window.
const LAUNCH: Duration = Duration::from_secs(20);

impl Windows for LinuxDesktop {
    fn glance(&self) -> BoxFuture<'_, Result<Glance, DesktopError>> {
        Box::pin(self.look_around())
    }

    fn windows(&self) -> BoxFuture<'_, Result<Vec<WindowView>, DesktopError>> {
        Box::pin(self.ewmh.run(LOOK, |ewmh| ewmh.list()))
    }

    fn change_window(
        &self,
        window: WindowId,
        change: WindowChange,
    ) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async move {
            let _kept = self.keep_users_window();
            self.ewmh.run(LOOK, move |ewmh| ewmh.change(window, change)).await
        })
    }

    fn give_keyboard(&self, window: WindowId) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(self.ewmh.run(LOOK, move |ewmh| ewmh.give_keyboard(window)))
    }

    fn apps(&self) -> BoxFuture<'_, Result<Vec<AppView>, DesktopError>> {
        Box::pin(self.ewmh.run(LOOK, |ewmh: &mut Ewmh| apps::list(ewmh)))
    }

    fn program(&self, pid: u32) -> Option<String> {
        let path = match std::fs::read_link(format!("/proc/{pid}/exe")) {
            Ok(path) => path,
            // One that hides what it runs is none that anybody knows.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Some("?".into()),
            Err(_) => return None,
        };
        let name = path.file_name()?.to_string_lossy().into_owned();
        // Of a program that was updated while it runs.
        Some(name.strip_suffix(" (deleted)").map(str::to_owned).unwrap_or(name))
    }

    fn taker(&self, at: Option<(u32, NormPoint)>) -> BoxFuture<'_, Taker> {
        Box::pin(async move {
            let point = match at {
                Some((display, at)) => match self.display(display).await {
                    Ok(display) => Some(at.to_physical(&display.bounds)),
                    Err(_) => return Taker::Other,
                },
                None => None,
            };
            let asked = self.ewmh.run(LOOK, move |ewmh| ewmh.taker(point)).await;
            asked.unwrap_or(Taker::Other)
        })
    }

    fn pointer(&self) -> BoxFuture<'_, Option<(u32, NormPoint)>> {
        Box::pin(async move { self.ewmh.run(LOOK, |ewmh| ewmh.pointer()).await.ok().flatten() })
    }

    fn belongs_to(&self, window: WindowId) -> BoxFuture<'_, Option<WindowId>> {
        Box::pin(async move {
            let clients = self.ewmh.run(LOOK, |ewmh| ewmh.clients()).await.ok()?;
            let its = clients.iter().find(|client| u64::from(client.window) == window.0)?;
            // Any program can say that its window belongs to another's.
            let is_its =
                |below: &&Client| Some(below.window) == its.over && its.pid.is_some() && below.pid == its.pid;
            clients.iter().find(is_its).map(|below| WindowId(below.window.into()))
        })
    }

    fn launches(&self, app: String) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move {
            let looked = tokio::task::spawn_blocking(move || apps::launches(&app));
            looked.await.ok().flatten()
        })
    }

    fn outside(&self, app: String, fence: Fence) -> BoxFuture<'_, Option<DesktopError>> {
        Box::pin(async move {
            let looked = tokio::task::spawn_blocking(move || apps::outside(&app, &fence));
            looked.await.ok().flatten()
        })
    }

    fn launch(&self, app: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        let address = Arc::clone(&self.address);
        Box::pin(async move {
            let _kept = self.keep_users_window();
            if let Some(users_window) = &self.users_window {
                users_window.launches();
            }
            self.ewmh.run(LAUNCH, move |ewmh| apps::launch(ewmh, &app, &address)).await
        })
    }

    fn quit(&self, app: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(self.ewmh.run(LOOK, move |ewmh| apps::quit(ewmh, &app)))
    }
}
