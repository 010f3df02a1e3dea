//! Windows, applications and the clipboard of the desktop of tests.

use futures::future::BoxFuture;
use protocol::geometry::NormPoint;
use tokio_util::sync::CancellationToken;

use super::{Call, FakeDesktop, Scene};
use crate::{
    Acted, Action, AppView, Clipboard, DesktopError, Evidence, Glance, Glimpse, Taker, WindowChange,
    WindowId, WindowView, Windows,
};

impl FakeDesktop {
    fn find_app(&self, app: &str) -> Result<(), DesktopError> {
        let is_there = self.state().scene.apps.iter().any(|view| view.name == app);
        if is_there { Ok(()) } else { Err(DesktopError::NotFound(format!("application {app}"))) }
    }
}

impl Scene {
    /// As a window manager does it; nothing happens if acts are said not to do what they should.
    fn give_focus(&mut self, window: WindowId) {
        if self.evidence.falls_short() {
            return;
        }
        for view in &mut self.windows {
            view.states.retain(|state| state != "focused");
            if view.id == window {
                view.states.push("focused".to_owned());
            }
        }
    }
}

impl Windows for FakeDesktop {
    fn windows(&self) -> BoxFuture<'_, Result<Vec<WindowView>, DesktopError>> {
        Box::pin(async {
            let delay = self.state().scene.windows_delay;
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
            Ok(self.state().scene.windows.clone())
        })
    }

    fn program(&self, _: u32) -> Option<String> {
        self.state().scene.program.clone()
    }

    fn taker(&self, _: Option<(u32, NormPoint)>) -> BoxFuture<'_, Taker> {
        Box::pin(async { self.state().scene.taker })
    }

    /// Where it clicked last.
    fn pointer(&self) -> BoxFuture<'_, Option<(u32, NormPoint)>> {
        Box::pin(async {
            self.calls().iter().rev().find_map(|call| match call {
                Call::Act(Action::Click { display, at, .. }) => Some((*display, *at)),
                _ => None,
            })
        })
    }

    fn belongs_to(&self, window: WindowId) -> BoxFuture<'_, Option<WindowId>> {
        Box::pin(async move {
            let all = &self.state().scene.belongs;
            all.iter().find(|(one, _)| *one == window).map(|(_, below)| *below)
        })
    }

    fn launches(&self, _: String) -> BoxFuture<'_, Option<String>> {
        Box::pin(async { self.state().scene.launches.clone() })
    }

    fn glance(&self) -> BoxFuture<'_, Result<Glance, DesktopError>> {
        Box::pin(async {
            let Scene { windows, focused, .. } = self.state().scene.clone();
            let is_active = |one: &&WindowView| one.states.iter().any(|state| state == "focused");
            let active = windows.iter().find(is_active).map(|one| one.id);
            let windows = windows.into_iter().map(|one| Glimpse { id: one.id, title: one.title }).collect();
            Ok(Glance { windows, active, focused, events: 0 })
        })
    }

    fn change_window(
        &self,
        window: WindowId,
        change: WindowChange,
    ) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async move {
            self.enter(Call::ChangeWindow(window, change), &CancellationToken::new()).await?;
            let mut is_there = false;
            self.edit(|scene| {
                let view = scene.windows.iter_mut().find(|view| view.id == window);
                is_there = view.is_some();
                match (view, change) {
                    (Some(view), WindowChange::Move { x, y }) => (view.bounds.x, view.bounds.y) = (x, y),
                    (Some(view), WindowChange::Resize { width, height }) => {
                        (view.bounds.width, view.bounds.height) = (width, height);
                    }
                    (Some(_), WindowChange::Focus) => scene.give_focus(window),
                    _ => {}
                }
            });
            if !is_there {
                return Err(DesktopError::NotFound(format!("window {}", window.0)));
            }
            Ok(self.acted(format!("fake: {change:?}")))
        })
    }

    fn give_keyboard(&self, window: WindowId) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        self.change_window(window, WindowChange::Focus)
    }

    fn apps(&self) -> BoxFuture<'_, Result<Vec<AppView>, DesktopError>> {
        Box::pin(async { Ok(self.state().scene.apps.clone()) })
    }

    fn launch(&self, app: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async move {
            self.enter(Call::Launch(app.clone()), &CancellationToken::new()).await?;
            self.find_app(&app)?;
            Ok(self.acted(format!("fake: launched {app}")))
        })
    }

    fn quit(&self, app: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async move {
            self.enter(Call::Quit(app.clone()), &CancellationToken::new()).await?;
            self.find_app(&app)?;
            Ok(self.acted(format!("fake: quit {app}")))
        })
    }
}

impl Clipboard for FakeDesktop {
    fn clipboard(&self) -> BoxFuture<'_, Result<String, DesktopError>> {
        Box::pin(async { Ok(self.state().scene.clipboard.clone()) })
    }

    fn set_clipboard(&self, text: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async move {
            self.enter(Call::Copy(text.clone()), &CancellationToken::new()).await?;
            self.state().scene.clipboard = text;
            Ok(Acted { evidence: Evidence::ReadBack, note: String::new() })
        })
    }
}
