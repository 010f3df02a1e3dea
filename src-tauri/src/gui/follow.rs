//! What is not a page follows the engine's events here: tray, overlay, shortcut, whether the chat is shown, and where the
//! dashboard stands.

use std::sync::Arc;
use std::time::Duration;

use protocol::command::{StartedRun, Subscribe, Window, WindowAction};
use protocol::event::Activity;
use protocol::ids::{RunId, StreamId};
use protocol::remembered::Tab;
use protocol::settings::Settings;
use protocol::view::Overview;
use protocol::{ErrorCode, ErrorView};
use tauri::{AppHandle, Manager};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::aside::Aside;
use super::engine::Engine;
use super::memory::Memory;
use super::notices::Notices;
use super::tray::Tray;
use super::tray_state::TrayState;
use super::window_runs::WindowRuns;
use super::{shortcut, windows};

/// How soon a page shows what has happened.
const PAGE_FOLLOWS: Duration = Duration::from_millis(150);

/// Within this it is known whether a run that has ended took the keyboard; later its user is elsewhere.
const KNOWN_WITHIN: Duration = Duration::from_secs(5);

/// Follows until the engine ends.
pub async fn follow(
    app: AppHandle,
    engine: Arc<Engine>,
    tray: Option<Tray>,
    started: mpsc::Receiver<(Window, StartedRun)>,
) {
    if let Err(error) = follow_events(&app, &engine, tray.as_ref(), started).await {
        match error.code {
            ErrorCode::Leaving => tracing::debug!("the engine ends"),
            _ => tracing::error!("the tray and the overlay follow no more: {error}"),
        }
    }
}

async fn follow_events(
    app: &AppHandle,
    engine: &Arc<Engine>,
    tray: Option<&Tray>,
    mut started: mpsc::Receiver<(Window, StartedRun)>,
) -> Result<(), ErrorView> {
    let mut view = engine.overview().await?;
    let streams = Some(vec![StreamId::app()]);
    let mut events = engine.subscribe(Subscribe { streams, after: Some(view.seq) }).await?;
    let mut shown = Shown::default();
    let keyboards = app.state::<windows::Keyboards>();
    let (mut chat_runs, mut dashboard_runs) = (WindowRuns::default(), WindowRuns::default());
    let (mut state, mut notices) = (None::<TrayState>, Notices::default());
    let mut redraw = None::<Instant>;
    loop {
        let next = TrayState::from(&view);
        if state.as_ref() != Some(&next) {
            if let Some(tray) = tray {
                tray.show(&next);
            }
            state = Some(next);
        }
        show_activity(app, engine, &mut shown, fold::activity(&view).0).await;
        show_settings(app, &mut shown, &view.settings);
        if view.desktop.owner.is_some() {
            keyboards.chat.desktop_is_taken();
        }
        show_chat(app, engine, shown.activity, &mut chat_runs, &view).await;
        show_dashboard(app, &mut shown, &mut dashboard_runs, &view);
        notices.update(app, &view, || {
            windows::is_focused(app, Window::Dashboard) || windows::is_focused(app, Window::Chat)
        });
        tokio::select! {
            event = events.next() => {
                fold::overview(&mut view, &event?);
                if shown.overlay && windows::leaves_remains() {
                    redraw.get_or_insert_with(|| Instant::now() + PAGE_FOLLOWS);
                }
            }
            () = until(redraw) => {
                redraw = None;
                windows::draw_anew(app, Window::Overlay);
            }
            () = keyboards.dashboard.gained() => shown.aside.wanted(),
            () = keyboards.dashboard.taken() => {}
            Some((window, run)) = started.recv() => match window {
                Window::Chat => chat_runs.add(run),
                Window::Dashboard => dashboard_runs.add(run),
                // In no other one is a run started.
                _ => {}
            },
        }
    }
}

/// Never, if there is none.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

#[derive(Default)]
struct Shown {
    activity: Activity,
    overlay: bool,
    aside: Aside,
    above: windows::Above,
    /// A run that the dashboard stood aside for has ended: if that one took the keyboard, it is to come back. Often that
    /// is known only a moment later. When it ended, and how often the keyboard had come and gone by then.
    owes_keyboard: Option<(Instant, u64)>,
    shortcut: String,
}

async fn show_activity(app: &AppHandle, engine: &Engine, shown: &mut Shown, activity: Activity) {
    if activity == shown.activity {
        return;
    }
    shown.activity = activity;
    let works = activity == Activity::Working;
    // Hidden but for a run: an overlay that is shown is composed all the time. It stays over a question, so that the
    // call that was approved does not meet an overlay that is only just letting clicks through.
    let overlay = works || activity == Activity::Waiting;
    if overlay != shown.overlay {
        shown.overlay = overlay;
        let action = if overlay { WindowAction::Show } else { WindowAction::Hide };
        windows::show_or_log(app, Window::Overlay, action);
    }
    // The agent may not act on our windows, so they must not lie over what it works on.
    if works && windows::is_visible(app, Window::Chat) {
        if windows::is_focused(app, Window::Chat) {
            let presses = engine.hands().await.presses;
            app.state::<windows::Keyboards>().chat.goes(presses);
        }
        windows::show_or_log(app, Window::Chat, WindowAction::Hide);
    }
}

/// Brings the chat back with what a run that was started in it has for its user: not over what a run works on, and not where
/// the dashboard that its user is working in shows the same, which is every question and the end of the run it is at. With
/// the keyboard, if a run has taken that from whoever was in the chat and has pressed nothing since: the answer would be
/// typed into what the run works on.
async fn show_chat(
    app: &AppHandle,
    engine: &Engine,
    activity: Activity,
    runs: &mut WindowRuns,
    view: &Overview,
) {
    if !runs.have_news(view) {
        return runs.told(view);
    }
    // Of agents that work side by side, one may ask while others work on: over nothing that they see.
    let is_over_work = view.desktop.owner.is_some() || !runs.ask(view);
    if activity == Activity::Working && is_over_work {
        return;
    }
    let presses = engine.hands().await.presses;
    let is_owed =
        view.settings.pause_on_user_input && app.state::<windows::Keyboards>().chat.is_owed(presses);
    let room = app.state::<Arc<Memory>>().remembered().room;
    let session = room.session.filter(|_| room.tab == Tab::Work);
    let is_shown_there =
        windows::is_focused(app, Window::Dashboard) && !runs.ended_elsewhere(view, session.as_ref());
    runs.told(view);
    if !windows::is_visible(app, Window::Chat) && !is_shown_there {
        windows::bring_chat_back(app, is_owed);
    }
}

/// Has the dashboard stand aside for the run that has the desktop. It comes forward with a question of a run that was
/// started in it (behind another window, its answers could be seen without what they are answers to), back with the end of
/// the one that it stood aside for, and gets the keyboard back that this one took from its user, who would have paused it
/// by going elsewhere.
fn show_dashboard(app: &AppHandle, shown: &mut Shown, runs: &mut WindowRuns, view: &Overview) {
    let Shown { aside, above, owes_keyboard, .. } = shown;
    let (was_below, was_beside, taker) = (aside.is_below(), aside.is_beside(), aside.run().cloned());
    let in_use = windows::is_focused(app, Window::Dashboard);
    match (was_below, aside.update(view, in_use)) {
        (false, true) => *above = windows::step_aside(app),
        // Its user has come to it.
        (true, false) if was_beside && in_use => {
            *above = windows::Above::default();
            windows::bring_dashboard_forward(app, false);
        }
        (true, false) => windows::step_back(app, std::mem::take(above)),
        _ => {}
    }
    // By its user, who is where they want to be; not by itself.
    let is_paused = |run: &RunId| {
        view.runs.iter().any(|known| known.run == *run && known.status.paused && !known.status.wants_word)
    };
    let gives_back = aside.run().is_none() && taker.is_some_and(|run| !is_paused(&run));
    let visible = windows::is_visible(app, Window::Dashboard);
    let keyboard = &app.state::<windows::Keyboards>().dashboard;
    if gives_back {
        *owes_keyboard = Some((Instant::now(), keyboard.changes()));
    }
    let may_come_back = aside.run().is_none() && visible && view.settings.pause_on_user_input;
    owes_keyboard.take_if(|(since, _)| !may_come_back || since.elapsed() > KNOWN_WITHIN);
    // One that asked may have its answer by then, and the keyboard for it.
    let is_quiet = !matches!(fold::activity(view).0, Activity::Working | Activity::Waiting);
    let is_meant = |then: u64| gives_back || is_quiet || then == keyboard.changes();
    let is_owed = owes_keyboard.take_if(|(_, then)| is_meant(*then) && keyboard.is_taken()).is_some();
    // Its user works elsewhere while one with hands of its own does: nothing jumps over that.
    let comes_back = was_below && !was_beside && !aside.is_below() && visible;
    if is_owed || runs.ask(view) || (comes_back && runs.have_news(view)) {
        windows::bring_dashboard_forward(app, is_owed);
    }
    runs.told(view);
}

fn show_settings(app: &AppHandle, shown: &mut Shown, settings: &Settings) {
    if settings.shortcut != shown.shortcut {
        shown.shortcut.clone_from(&settings.shortcut);
        shortcut::set(app, &settings.shortcut);
    }
}
