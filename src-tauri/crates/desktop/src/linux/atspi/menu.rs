//! Menus by their path, pressed by accessibility without being opened where the toolkit allows it.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::Instant;

use super::Accessibility;
use super::acting::{ACTION, Operand, Tried};
use super::bus::Object;
use super::interfaces::Interfaces;
use super::quirks::Quirks;
use super::role::{self, States, number};
use crate::{Acted, DesktopError};

/// Where menu bars are looked for.
const DEEPEST: u32 = 10;
const MOST: usize = 600;
/// For a menu to fill when it is opened.
const OPENING: Duration = Duration::from_millis(1500);
/// Items named in a message.
const MOST_NAMED: usize = 40;

/// How far the path was followed.
pub(in super::super) enum Choice {
    Made(Chosen),
    /// This menu opens for a click of the pointer alone.
    Closed(Box<Operand>),
}

/// A menu's item was pressed.
pub(in super::super) struct Chosen {
    pub(in super::super) acted: Acted,
    /// `menu item "File > Save As..."`
    pub(in super::super) called: String,
}

/// One entry of a menu, as it was read.
struct Entry {
    object: Object,
    role: u32,
    name: String,
    states: States,
}

impl Accessibility {
    /// The menu bars of the window meant.
    ///
    /// # Errors
    /// `NotFound` where it shows none.
    pub(in super::super) async fn menus(&self, app: Option<&str>) -> Result<Menus, DesktopError> {
        let bus = self.bus().await?;
        let choice = self.meant(app).await?;
        let application = choice.application;
        let near = self.near(&bus, &application.bus_name).await;
        // A dialog in front may have none: the menus are those of a window behind it.
        let behind = application
            .windows
            .iter()
            .filter(|one| !choice.windows.iter().any(|meant| meant.object.path == one.object.path));
        for window in choice.windows.iter().chain(behind) {
            let root = Object { program: near.clone(), path: window.object.path.clone() };
            let path = root.path.clone();
            let bars = bars_below(root, application.quirks).await;
            let Some(first) = bars.first() else { continue };
            let bar = Operand {
                object: first.clone(),
                home: application.bus_name.clone(),
                role: number::MENU_BAR,
                name: String::new(),
                states: States::default(),
                interfaces: Interfaces::default(),
                window: path,
                quirks: application.quirks,
                apart: self.inner.apart.clone(),
                called: format!("the menu bar of {}", application.name),
            };
            return Ok(Menus { app: application.name.clone(), bar, bars });
        }
        Err(DesktopError::NotFound(format!(
            "{} shows no menu bar; look for a menu button in elementsJson",
            application.name
        )))
    }
}

/// The menu bars of a window.
pub(in super::super) struct Menus {
    app: String,
    /// The first of them, with all that its items share.
    bar: Operand,
    bars: Vec<Object>,
}

impl Menus {
    pub(in super::super) fn bar(&self) -> Operand {
        self.bar.clone()
    }

    /// Presses the item at the end of the path, or says which menu on the way has to be clicked.
    ///
    /// # Errors
    /// `NotFound` names the items there are at the level that does not match; `BadInput` where the item is disabled
    /// or only opens a menu. What was opened on the way is said by `opened`.
    pub(in super::super) async fn choose(
        &self,
        path: &[String],
        opened: &mut bool,
    ) -> Result<Choice, DesktopError> {
        let Some((last, above)) = path.split_last() else {
            return Err(DesktopError::BadInput("the menu's path is empty".into()));
        };
        let quirks = self.bar.quirks;
        let mut level = Vec::new();
        for bar in &self.bars {
            level.extend(entries(bar, quirks).await);
        }
        let mut place = self.app.clone();
        for step in above {
            let entry = pick(level, step, &place)?;
            place = format!("\"{}\"", entry.name);
            level = entries(&entry.object, quirks).await;
            if level.is_empty() || quirks.menus_act_open {
                check_enabled(&entry)?;
                let menu = self.operand(entry).await;
                if menu.actions().await.is_ok_and(|actions| actions.is_empty()) {
                    return Ok(Choice::Closed(Box::new(menu)));
                }
                *opened = true;
                open(&menu).await?;
                level = filled(&menu).await;
            }
        }
        let entry = pick(level, last, &place)?;
        let below = entries(&entry.object, quirks).await;
        if !below.is_empty() || entry.role == number::MENU {
            return Err(DesktopError::BadInput(format!(
                "\"{}\" opens a menu; add one of its items to the path: {}",
                entry.name,
                names(&below)
            )));
        }
        let entry = if *opened { enabled(entry).await } else { entry };
        check_enabled(&entry)?;
        let called = {
            let mut steps: Vec<&str> = above.iter().map(|step| step.trim()).collect();
            steps.push(&entry.name);
            format!("{} \"{}\"", role::describe(entry.role).0, steps.join(" > "))
        };
        let operand = self.operand(entry).await;
        let shortcut = shortcut(&operand).await;
        let mut acted = match operand.press().await? {
            Tried::Done(acted) => acted,
            Tried::Not(why) => {
                return Err(DesktopError::BadInput(format!("{why}; open the menu with a click instead")));
            }
        };
        if let Some(shortcut) = shortcut {
            acted.note = format!("{}; its shortcut is {shortcut}", acted.note);
        }
        Ok(Choice::Made(Chosen { acted, called }))
    }

    /// # Errors
    /// Where a menu that was clicked shows no items.
    pub(in super::super) async fn check_filled(&self, menu: &Operand) -> Result<(), DesktopError> {
        if filled(menu).await.is_empty() {
            return Err(DesktopError::NotFound(format!("items of {}; it shows none", menu.called)));
        }
        Ok(())
    }

    async fn operand(&self, entry: Entry) -> Operand {
        Operand {
            called: super::acting::called(entry.role, &entry.name),
            role: entry.role,
            name: entry.name,
            states: entry.states,
            interfaces: entry.object.interfaces().await.unwrap_or_default(),
            object: entry.object,
            ..self.bar.clone()
        }
    }
}

/// Level by level; the highest level that has any.
async fn bars_below(root: Object, quirks: Quirks) -> Vec<Object> {
    let mut level = vec![root];
    for _ in 0..DEEPEST {
        let children = join_all(level.iter().map(|object| children(object, quirks))).await;
        let all: Vec<Entry> = children.into_iter().flatten().take(MOST).collect();
        if all.is_empty() {
            break;
        }
        let bars: Vec<Object> =
            all.iter().filter(|one| one.role == number::MENU_BAR).map(|one| one.object.clone()).collect();
        if !bars.is_empty() {
            return bars;
        }
        // Swing has all of a window in its root pane.
        let holds = |one: &Entry| {
            role::describe(one.role).1 == role::Kind::Container || one.role == number::ROOT_PANE
        };
        level = all.into_iter().filter(|one| holds(one)).map(|one| one.object).collect();
    }
    Vec::new()
}

async fn children(object: &Object, quirks: Quirks) -> Vec<Entry> {
    let found = object.children().await.unwrap_or_default();
    let read = join_all(found.into_iter().take(MOST).map(|(_, path)| {
        let object = Object::new(&object.program, path.as_str());
        async move {
            let (role, name, states) = tokio::join!(object.role(), object.name(), object.states());
            let name = quirks.own_name(name.unwrap_or_default()).trim().to_owned();
            Some(Entry { role: role.ok()?, name, states: states.ok()?, object })
        }
    }));
    read.await.into_iter().flatten().collect()
}

/// What a menu shows: its items, those of nameless parts and of its own popup among them.
async fn entries(menu: &Object, quirks: Quirks) -> Vec<Entry> {
    let mut found = Vec::new();
    let all = children(menu, quirks).await;
    // GTK says which items are hidden; in Qt no item of a closed menu is visible.
    let hides = all.iter().any(|entry| entry.states.has(States::VISIBLE));
    for entry in all {
        let word = role::describe(entry.role).0;
        match word {
            "separator" | "tearoff menu item" | "label" | "image" | "scroll bar" => {}
            "popup menu" | "window" | "panel" | "filler" | "list" | "section" | "grouping"
            | "scroll pane" => {
                found.extend(Box::pin(entries(&entry.object, quirks)).await);
            }
            "menu" if entry.name.is_empty() => {
                found.extend(Box::pin(entries(&entry.object, quirks)).await);
            }
            _ if !entry.name.is_empty() && (!hides || entry.states.has(States::VISIBLE)) => found.push(entry),
            _ => {}
        }
    }
    found
}

/// The item whose name is the step's: case, mnemonic marks and final dots do not count, nor what an item says after a colon
/// of what it is for now ("Undo: Typing").
fn pick(level: Vec<Entry>, step: &str, place: &str) -> Result<Entry, DesktopError> {
    let there = names(&level);
    let wish = plain(step);
    let is_it = |entry: &Entry| plain(&entry.name) == wish;
    let is_it_now = |entry: &Entry| plain(&entry.name).split_once(": ").is_some_and(|(name, _)| name == wish);
    let at = level.iter().position(is_it).or_else(|| level.iter().position(is_it_now));
    let found = at.and_then(|at| level.into_iter().nth(at));
    found
        .ok_or_else(|| DesktopError::NotFound(format!("menu item \"{step}\" in {place}; there are: {there}")))
}

fn names(level: &[Entry]) -> String {
    let more = level.len().saturating_sub(MOST_NAMED);
    let mut names: Vec<String> =
        level.iter().take(MOST_NAMED).map(|entry| format!("\"{}\"", entry.name)).collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn plain(name: &str) -> String {
    let bare: String = name.chars().filter(|one| !matches!(one, '_' | '&')).collect();
    bare.trim().trim_end_matches(['.', '…']).trim_end().to_lowercase()
}

fn check_enabled(entry: &Entry) -> Result<(), DesktopError> {
    if entry.states.has(States::ENABLED) || entry.states.has(States::SENSITIVE) {
        return Ok(());
    }
    Err(DesktopError::BadInput(format!("menu item \"{}\" is disabled; nothing was done", entry.name)))
}

/// An item of a menu that was just opened, as soon as it is enabled: some toolkits ask their application only then.
async fn enabled(entry: Entry) -> Entry {
    let until = Instant::now() + OPENING;
    let mut entry = entry;
    while check_enabled(&entry).is_err() && Instant::now() < until {
        tokio::time::sleep(super::acting::LOOK_AGAIN).await;
        entry.states = entry.object.states().await.unwrap_or(entry.states);
    }
    entry
}

/// Some toolkits fill a menu only when it is opened.
async fn open(menu: &Operand) -> Result<(), DesktopError> {
    let actions = menu.actions().await.map_err(|error| menu.failed(&error))?;
    if let Some(action) = actions.iter().find(|one| one.name.eq_ignore_ascii_case("showmenu")) {
        menu.perform(&action.name).await?;
    } else if let Tried::Not(why) = menu.press().await? {
        return Err(DesktopError::BadInput(format!("{why}; open the menu with a click instead")));
    }
    Ok(())
}

/// What an opened menu shows, as soon as it shows anything.
async fn filled(menu: &Operand) -> Vec<Entry> {
    let until = Instant::now() + OPENING;
    loop {
        let level = entries(&menu.object, menu.quirks).await;
        if !level.is_empty() || Instant::now() >= until {
            return level;
        }
        tokio::time::sleep(super::acting::LOOK_AGAIN).await;
    }
}

async fn shortcut(item: &Operand) -> Option<String> {
    let actions = item.actions().await.ok()?;
    if let Some(shortcut) = actions.iter().find_map(|action| readable(&action.keys)) {
        return Some(shortcut);
    }
    // Qt tells it only where it is asked for by itself.
    let keys: String = item.object.call(ACTION, "GetKeyBinding", &0_i32).await.ok()?;
    readable(&keys)
}

/// `<Primary><Shift>s` in GTK's "mnemonic;path;shortcut" is `Ctrl+Shift+S`; Qt writes it so already.
fn readable(keys: &str) -> Option<String> {
    let shortcut = match keys.split(';').collect::<Vec<_>>().as_slice() {
        [_, _, shortcut, ..] => (*shortcut).to_owned(),
        [one] if one.contains('+') || one.starts_with('F') => (*one).to_owned(),
        _ => return None,
    };
    if shortcut.is_empty() {
        return None;
    }
    let mut words = Vec::new();
    let mut rest = shortcut.as_str();
    while let Some((modifier, after)) = rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        words.push(match modifier {
            "Primary" | "Control" => "Ctrl".to_owned(),
            other => other.to_owned(),
        });
        rest = after;
    }
    let key = if rest.chars().count() == 1 { rest.to_uppercase() } else { rest.to_owned() };
    words.push(key);
    Some(words.join("+"))
}

#[cfg(test)]
mod tests;
