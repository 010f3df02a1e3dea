//! [`Windows`] of macOS and Windows: xcap lists what is on the screen, the platform does the rest; every change is
//! read back.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use protocol::geometry::{PhysicalRect, ScaleFactor};
use protocol::view::DisplayView;

use super::bundles;
use super::capture::Capturer;
use super::facade::{Facade, LOOK};
use super::platform::Platform;
use super::scene::{self, Change, Own, Top};
use crate::{
    Acted, AppView, DesktopError, Evidence, Hands as _, WindowChange, WindowId, WindowView, Windows, fence,
};

/// For a window to be as wished, and for an application to end.
const ARRIVE: Duration = Duration::from_secs(2);
/// For an application to show a window.
const LAUNCH: Duration = Duration::from_secs(15);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

fn display_of<'a>(displays: &'a [DisplayView], rect: &PhysicalRect) -> Result<&'a DisplayView, DesktopError> {
    let bounds: Vec<PhysicalRect> = displays.iter().map(|display| display.bounds).collect();
    displays
        .get(scene::shows_most(&bounds, rect))
        .ok_or_else(|| DesktopError::NotAvailable("no display is connected".into()))
}

fn first_scale() -> Result<ScaleFactor, DesktopError> {
    Capturer::displays().map(|displays| displays.first().map_or(ScaleFactor(1.0), |display| display.scale))
}

fn list<P: Platform>(own: &Own) -> Result<Vec<WindowView>, DesktopError> {
    let displays = Capturer::displays()?;
    let mut tops = Capturer::tops()?;
    let shown = tops.len();
    tops.extend(P::hidden(first_scale()?));
    let mut views = Vec::new();
    for (at, top) in tops.iter().enumerate().filter(|(_, top)| !own.has(top)) {
        let display = display_of(&displays, &top.rect)?;
        let mut states = if top.focused { vec!["focused".to_owned()] } else { Vec::new() };
        if at < shown {
            states.extend(P::states(top, display));
        } else {
            states.push("minimized".into());
        }
        views.push(WindowView {
            id: WindowId(top.id),
            title: top.title.clone(),
            app: top.app.clone(),
            pid: Some(top.pid),
            display: display.index,
            bounds: top.rect.to_norm(&display.bounds),
            states,
        });
    }
    Ok(views)
}

fn find<P: Platform>(own: &Own, id: u64) -> Result<(Option<Top>, bool), DesktopError> {
    let allowed = |top: &Top| {
        if own.has(top) {
            return Err(DesktopError::Forbidden("that is Miki's own window".into()));
        }
        Ok(())
    };
    if let Some(top) = Capturer::tops()?.into_iter().find(|top| top.id == id) {
        allowed(&top)?;
        return Ok((Some(top), true));
    }
    let hidden = P::hidden(first_scale()?).into_iter().find(|top| top.id == id);
    if let Some(top) = &hidden {
        allowed(top)?;
    }
    Ok((hidden, false))
}

fn change<P: Platform>(own: &Own, id: u64, wish: WindowChange) -> Result<Acted, DesktopError> {
    let (Some(top), _) = find::<P>(own, id)? else {
        return Err(DesktopError::NotFound(format!("window {id}; list the windows again")));
    };
    let displays = Capturer::displays()?;
    let display = display_of(&displays, &top.rect)?;
    let change = scene::to_change(wish, &display.bounds)?;
    P::change(&top, change, display.scale)?;
    let end = Instant::now() + ARRIVE;
    loop {
        let (now, on_screen) = find::<P>(own, id)?;
        let shown = now.as_ref().filter(|_| on_screen);
        let states = shown.map(|top| P::states(top, display)).unwrap_or_default();
        if scene::has_come(change, shown, now.is_some(), &states) {
            let note = format!("{change:?}: \"{}\" of {}, read back", top.title, top.app);
            return Ok(Acted { evidence: Evidence::ReadBack, note });
        }
        if Instant::now() >= end {
            let note = match (change, shown) {
                (Change::Close, _) => {
                    format!("asked \"{}\" to close; it is still open and may be asking its user", top.title)
                }
                (_, Some(now)) => format!("\"{}\" is at {:?} instead", top.title, now.rect),
                (_, None) => format!("\"{}\" is not on the screen", top.title),
            };
            return Ok(Acted { evidence: Evidence::Mismatch, note });
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

fn apps<P: Platform>(own: &Own) -> Result<Vec<AppView>, DesktopError> {
    let mut tops = Capturer::tops()?;
    tops.extend(P::hidden(first_scale()?));
    let mut all: BTreeMap<String, AppView> = BTreeMap::new();
    for (name, pid) in P::running().into_iter().filter(|(_, pid)| !own.is(*pid)) {
        let windows = tops.iter().filter(|top| top.pid == pid && !own.has(top)).count();
        let view = all.entry(name.clone()).or_insert(AppView { name, pid: Some(pid), windows: 0 });
        view.windows += u32::try_from(windows).unwrap_or(u32::MAX);
    }
    for name in P::installed().into_keys() {
        all.entry(name.clone()).or_insert(AppView { name, pid: None, windows: 0 });
    }
    Ok(all.into_values().collect())
}

fn launch<P: Platform>(own: &Own, wanted: &str) -> Result<Acted, DesktopError> {
    let installed = P::installed();
    let name = bundles::meant(installed.keys().map(String::as_str), wanted)?;
    let Some(file) = installed.get(name) else {
        return Err(DesktopError::NotFound(format!("the file of {name}")));
    };
    let before: Vec<u64> = Capturer::tops()?.iter().map(|top| top.id).collect();
    P::start(file)?;
    let end = Instant::now() + LAUNCH;
    let lower = name.to_lowercase();
    while Instant::now() < end {
        for top in Capturer::tops()?.iter().filter(|top| !own.has(top)) {
            let named = top.app.to_lowercase().contains(&lower);
            // One that runs already may only come to the front.
            if !before.contains(&top.id) || (named && top.focused) {
                let note = format!("started {name}; its window is \"{}\"", top.title);
                return Ok(Acted { evidence: Evidence::ReadBack, note });
            }
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    Ok(Acted { evidence: Evidence::Sent, note: format!("started {name}; no window of it came yet") })
}

fn quit<P: Platform>(own: &Own, wanted: &str) -> Result<Acted, DesktopError> {
    let running: Vec<(String, u32)> = P::running().into_iter().filter(|(_, pid)| !own.is(*pid)).collect();
    let name = bundles::meant(running.iter().map(|(name, _)| name.as_str()), wanted)?;
    for (_, pid) in running.iter().filter(|(other, _)| other == name) {
        P::end(*pid)?;
    }
    let end = Instant::now() + ARRIVE;
    while Instant::now() < end {
        if !P::running().iter().any(|(other, _)| other == name) {
            return Ok(Acted { evidence: Evidence::ReadBack, note: format!("{name} ended") });
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    let note = format!("asked {name} to end; it still runs and may be asking its user");
    Ok(Acted { evidence: Evidence::Sent, note })
}

impl<P: Platform> Windows for Facade<P> {
    fn windows(&self) -> BoxFuture<'_, Result<Vec<WindowView>, DesktopError>> {
        let own = self.own.clone();
        Box::pin(self.desk.run(LOOK, move |_| list::<P>(&own)))
    }

    fn change_window(
        &self,
        window: WindowId,
        wish: WindowChange,
    ) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async move {
            let own = self.own.clone();
            let app =
                self.desk.run(LOOK, move |_| Ok(find::<P>(&own, window.0)?.0.map(|top| top.app))).await?;
            if let Some(app) = app {
                fence::check_app(&self.fenced(), &[&app])?;
            }
            let own = self.own.clone();
            self.desk.run(LOOK, move |_| change::<P>(&own, window.0, wish)).await
        })
    }

    fn give_keyboard(&self, window: WindowId) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        let own = self.own.clone();
        Box::pin(self.desk.run(LOOK, move |_| change::<P>(&own, window.0, WindowChange::Focus)))
    }

    fn apps(&self) -> BoxFuture<'_, Result<Vec<AppView>, DesktopError>> {
        let own = self.own.clone();
        Box::pin(self.desk.run(LOOK, move |_| apps::<P>(&own)))
    }

    fn launch(&self, app: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async move {
            fence::check_app(&self.fenced(), &[&app])?;
            let own = self.own.clone();
            self.desk.run(LAUNCH + LOOK, move |_| launch::<P>(&own, &app)).await
        })
    }

    fn quit(&self, app: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async move {
            fence::check_app(&self.fenced(), &[&app])?;
            let own = self.own.clone();
            self.desk.run(LOOK, move |_| quit::<P>(&own, &app)).await
        })
    }
}
