//! Changes on the screen that can be taken back: values of elements, places of windows, the clipboard. What was there
//! before is looked up first; nothing is put back where it is not as it was left.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use desktop::{
    Desktop, Element, ElementAction, ElementQuery, Scope, Selector, Target, WindowChange, WindowId,
    WindowView,
};
use protocol::geometry::NormRect;
use protocol::tool::{Change, Changed, ToolError, ToolErrorKind};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{Context, from_desktop, tool_error};
use crate::secrets::PASSWORD;
use crate::target::PATIENCE;
use crate::{links, untrusted};

/// From so many units of UTF-16 on, a value may be listed cut (systems count so): to put it back would destroy the rest.
const WHOLE_UNITS: usize = 199;
/// What stands in a rich text for something that is no text.
const OBJECT: char = '\u{fffc}';
/// Contents of the clipboard that are remembered.
const CLIPBOARDS: usize = 16;
/// How far a window may be from where it was left, in 0-1000: managers place by whole pixels.
const NEAR: f64 = 3.0;

/// What the clipboard held before we wrote to it. In memory alone: it may be a password, and nobody else's clipboard lasts
/// longer.
#[derive(Default)]
pub(crate) struct Clipboards(Mutex<(u64, VecDeque<(u64, String)>)>);

impl Clipboards {
    fn keep(&self, text: String) -> u64 {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.0 += 1;
        let number = kept.0;
        if kept.1.len() == CLIPBOARDS {
            kept.1.pop_front();
        }
        kept.1.push_back((number, text));
        number
    }

    fn find(&self, number: u64) -> Option<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.1.iter().find(|(one, _)| *one == number).map(|(_, text)| text.clone())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Copied {
    /// This process's alone.
    number: u64,
    process: u32,
    after: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Set {
    app: String,
    role: String,
    name: String,
    before: String,
    after: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Placed {
    window: u64,
    app: String,
    before: NormRect,
    after: NormRect,
    /// `maximized`, `minimized`: what it was.
    states: Vec<String>,
}

fn change(of: Changed, name: &str, data: &impl Serialize) -> Option<Change> {
    let data = serde_json::to_value(data).ok()?;
    Some(Change { of, name: untrusted::line(name, 120), diff: None, data })
}

/// An element with its value, before it is set.
pub(super) struct Value {
    app: String,
    element: Element,
}

/// `None` if it cannot be told, or if it is nobody's to keep: a password's field, a secret's value.
pub(super) async fn value_of(cx: &Context, target: &Target) -> Option<Value> {
    let (app, element) = match target {
        Target::Ref(reference) => {
            let listed =
                tokio::time::timeout(PATIENCE, cx.desktop.listed(reference.clone())).await.ok()??;
            let query = ElementQuery {
                app: Some(listed.app.clone()),
                root: Some(reference.clone()),
                scope: Scope::All,
                limit: 1,
                deadline: Some(PATIENCE),
                ..ElementQuery::default()
            };
            let seen = tokio::time::timeout(PATIENCE, cx.desktop.elements(query)).await.ok()?.ok()?;
            (listed.app, seen.elements.into_iter().find(|one| one.reference == *reference)?)
        }
        Target::Selector(selector) => {
            let meant = links::meant(&*cx.desktop, selector).await;
            let [one] = <[Element; 1]>::try_from(meant).ok()?;
            let listed = cx.desktop.listed(one.reference.clone());
            let listed = tokio::time::timeout(PATIENCE, listed).await.ok()?.map(|listed| listed.app);
            (listed.or_else(|| selector.app.clone())?, one)
        }
    };
    let is_secret = |secret: &crate::Secret| element.value.contains(&secret.value.0);
    let may_be_kept = element.role != PASSWORD
        && element.value.encode_utf16().count() < WHOLE_UNITS
        && !element.value.contains(OBJECT)
        && !element.name.is_empty()
        && !cx.secrets.iter().any(is_secret);
    may_be_kept.then_some(Value { app, element })
}

/// The change from that value to the one it has now.
pub(super) async fn value_set(cx: &Context, target: &Target, before: Option<Value>) -> Option<Change> {
    let before = before?;
    let after = value_of(cx, target).await?;
    let Element { role, name, value, .. } = before.element;
    if after.element.value == value {
        return None;
    }
    let set = Set { app: before.app, role, name, before: value, after: after.element.value };
    change(Changed::Value, &set.name, &set)
}

/// A window as it was, before it is moved or resized.
pub(super) async fn window_of(cx: &Context, id: WindowId) -> Option<WindowView> {
    let all = tokio::time::timeout(PATIENCE, cx.desktop.windows()).await.ok()?.ok()?;
    all.into_iter().find(|window| window.id == id)
}

pub(super) async fn window_placed(cx: &Context, before: Option<WindowView>) -> Option<Change> {
    let before = before?;
    let after = window_of(cx, before.id).await?;
    let placed = Placed {
        window: before.id.0,
        app: before.app.clone(),
        before: before.bounds,
        after: after.bounds,
        states: before.states,
    };
    let is_moved = before.bounds != after.bounds || placed.states != after.states;
    if is_moved { change(Changed::Window, &before.title, &placed) } else { None }
}

/// What is copied now, before something else is.
pub(super) async fn copied(cx: &Context) -> Option<String> {
    tokio::time::timeout(PATIENCE, cx.desktop.clipboard()).await.ok()?.ok()
}

pub(super) fn clipboard_set(cx: &Context, before: Option<String>, after: &str) -> Option<Change> {
    let number = cx.clipboards.keep(before?);
    let copied = Copied { number, process: std::process::id(), after: crate::digest::of(&after.into()) };
    change(Changed::Clipboard, "the clipboard", &copied)
}

/// Takes a change on the screen back.
///
/// # Errors
/// It is not as it was left, is gone, or could not be set.
pub(crate) async fn take_back_on_screen(
    desktop: &dyn Desktop,
    clipboards: &Clipboards,
    kept: &Change,
) -> Result<(), ToolError> {
    match kept.of {
        Changed::Value => set_back(desktop, read(kept)?).await,
        Changed::Window => place_back(desktop, read(kept)?).await,
        Changed::Clipboard => copy_back(desktop, clipboards, read(kept)?).await,
        Changed::File | Changed::Event | Changed::Reminder => Err(gone("it is not on the screen")),
    }
}

fn read<T: for<'a> Deserialize<'a>>(kept: &Change) -> Result<T, ToolError> {
    serde_json::from_value(kept.data.clone())
        .map_err(|error| gone(&format!("what was changed cannot be read: {error}")))
}

fn gone(why: &str) -> ToolError {
    tool_error(ToolErrorKind::NotFound, why)
}

const CHANGED_SINCE: &str = "it has been changed since";

async fn set_back(desktop: &dyn Desktop, set: Set) -> Result<(), ToolError> {
    let selector =
        Selector { app: Some(set.app), role: Some(set.role), name: Some(set.name.clone()), within: None };
    let meant = links::meant(desktop, &selector).await;
    let mut same = meant.into_iter().filter(|one| one.name == set.name);
    let (Some(one), None) = (same.next(), same.next()) else {
        return Err(gone("there is no such element, or more than one"));
    };
    if one.value != set.after {
        return Err(gone(CHANGED_SINCE));
    }
    let action = ElementAction::SetValue(set.before);
    let done = desktop.operate(Target::Ref(one.reference), action, CancellationToken::new()).await;
    done.map(drop).map_err(|error| from_desktop(&error))
}

async fn place_back(desktop: &dyn Desktop, placed: Placed) -> Result<(), ToolError> {
    let windows = desktop.windows().await.map_err(|error| from_desktop(&error))?;
    let id = WindowId(placed.window);
    let window = windows.iter().find(|window| window.id == id && window.app == placed.app);
    let window = window.ok_or_else(|| gone("the window is closed"))?;
    let is_near = |one: f64, other: f64| (one - other).abs() <= NEAR;
    let (now, left) = (window.bounds, placed.after);
    let is_as_left = [(now.x, left.x), (now.y, left.y), (now.width, left.width), (now.height, left.height)]
        .iter()
        .all(|(one, other)| is_near(*one, *other));
    if !is_as_left {
        return Err(gone(CHANGED_SINCE));
    }
    let was = |state: &str| placed.states.iter().any(|one| one == state);
    let NormRect { x, y, width, height } = placed.before;
    let changes = if was("minimized") {
        vec![WindowChange::Minimize]
    } else if was("maximized") {
        vec![WindowChange::Maximize]
    } else {
        vec![
            WindowChange::Restore,
            WindowChange::Resize { width, height },
            WindowChange::Move { x: x.clamp(0.0, 1000.0), y: y.clamp(0.0, 1000.0) },
        ]
    };
    for change in changes {
        desktop.change_window(id, change).await.map_err(|error| from_desktop(&error))?;
    }
    Ok(())
}

async fn copy_back(desktop: &dyn Desktop, clipboards: &Clipboards, copied: Copied) -> Result<(), ToolError> {
    let before = clipboards.find(copied.number).filter(|_| copied.process == std::process::id());
    let before = before.ok_or_else(|| gone("what it held before is not kept any longer"))?;
    let now = desktop.clipboard().await.map_err(|error| from_desktop(&error))?;
    if crate::digest::of(&now.into()) != copied.after {
        return Err(gone("something else has been copied since"));
    }
    desktop.set_clipboard(before).await.map(drop).map_err(|error| from_desktop(&error))
}
