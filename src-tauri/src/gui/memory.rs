//! `windows.json`: what the windows remember, by `tauri-plugin-store`. No page reaches the plugin; its own way of writing,
//! which a crash can cut short, is not used.
//!
//! A file that is broken or foreign stops nothing: it is put aside. What cannot be written is said, and kept until the end.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use protocol::command::UpdateSettings;
use protocol::principal::Surface;
use protocol::remembered::{Change, Remembered, Theme};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tauri::{AppHandle, Manager as _, Wry};
use tauri_plugin_store::{Store, StoreExt};
use tokio::sync::{Notify, watch};

use super::engine::Engine;
use super::places::{AllPlaces, Display, Places, WindowBounds};
use super::windows;
use crate::atomic_file;
use crate::engine::blocking;

/// A file that is longer is none of ours: a hundred of the longest goals have room.
const LONGEST: u64 = 16 * 1024 * 1024;
/// Changes that come within this are written together.
const MOMENT: Duration = Duration::from_millis(400);

/// Names in the file.
const THEME: &str = "theme";
const GOALS: &str = "goals";
const ROOM: &str = "room";
const PLACES: &str = "places";

pub struct Memory {
    file: PathBuf,
    /// `None` if there can be none: then nothing outlives the program.
    store: Option<Arc<Store<Wry>>>,
    remembered: watch::Sender<Remembered>,
    places: Mutex<AllPlaces>,
    touched: Notify,
    /// What was written last.
    written: Mutex<Vec<u8>>,
}

impl Memory {
    /// Reads the file, and takes over the theme of settings from before it was the windows' own.
    pub fn open(app: &AppHandle, file: PathBuf, old_theme: Option<Theme>) -> Self {
        let is_free = match check(&file) {
            Ok(()) => true,
            Err(reason) => put_aside(app, &file, &reason),
        };
        let store = is_free.then(|| store(app, &file)).and_then(|store| {
            store.inspect_err(|error| tracing::warn!("what the windows remember is not kept: {error}")).ok()
        });
        let kept = |name: &str| store.as_ref().and_then(|store| store.get(name));
        let mut remembered = Remembered {
            theme: read(THEME, kept(THEME)).or(old_theme).unwrap_or_default(),
            goals: texts(kept(GOALS)),
            room: read(ROOM, kept(ROOM)).unwrap_or_default(),
        };
        remembered.keep_within_bounds();
        let memory = Self {
            file,
            remembered: watch::Sender::new(remembered.clone()),
            places: Mutex::new(all_places(kept(PLACES))),
            touched: Notify::new(),
            written: Mutex::default(),
            store,
        };
        memory.put(THEME, remembered.theme);
        memory
    }

    pub fn remembered(&self) -> Remembered {
        self.remembered.borrow().clone()
    }

    /// Tells of every change, and first how it is.
    pub fn follow(&self) -> watch::Receiver<Remembered> {
        let mut receiver = self.remembered.subscribe();
        receiver.mark_changed();
        receiver
    }

    pub fn remember(&self, change: Change) {
        // No other window shows what the dashboard does.
        let is_for_all = !matches!(change, Change::Room(_));
        self.remembered.send_if_modified(|remembered| {
            let before = remembered.clone();
            remembered.take(change);
            self.put(THEME, remembered.theme);
            self.put(GOALS, &remembered.goals);
            self.put(ROOM, &remembered.room);
            is_for_all && *remembered != before
        });
        self.touch();
    }

    /// Where a window goes, as [`Places::find`] has it.
    pub fn place(&self, label: &str, displays: &[Display], least: (f64, f64)) -> Option<WindowBounds> {
        let all = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(label)?.find(displays, least)
    }

    /// Remembers where a window is.
    pub fn note_place(&self, label: &str, seen: WindowBounds, displays: &[Display]) {
        let mut all = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if all.entry(label.to_owned()).or_default().note(seen, displays) {
            self.put(PLACES, &*all);
        }
    }

    /// Something is to be written soon: a window may have been moved.
    pub fn touch(&self) {
        self.touched.notify_one();
    }

    /// Writes what has changed, now.
    ///
    /// # Errors
    /// As the file system has it; the file is as before then.
    pub fn save(&self) -> io::Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let all: BTreeMap<String, Value> = store.entries().into_iter().collect();
        let bytes = serde_json::to_vec_pretty(&all)?;
        if bytes != *written {
            atomic_file::replace(&self.file, &bytes)?;
            *written = bytes;
        }
        Ok(())
    }

    pub fn save_or_log(&self) {
        if let Err(error) = self.save() {
            tracing::warn!("{} cannot be written: {error}", self.file.display());
        }
    }

    fn put(&self, name: &str, value: impl serde::Serialize) {
        let Some(store) = &self.store else { return };
        match serde_json::to_value(value) {
            Ok(value) if store.get(name).as_ref() != Some(&value) => store.set(name, value),
            Ok(_) => {}
            Err(error) => tracing::warn!("{name} is not remembered: {error}"),
        }
    }
}

/// Writes what has changed, a moment after, until the app ends.
pub async fn keep(app: AppHandle) {
    let memory = Arc::clone(&app.state::<Arc<Memory>>());
    loop {
        memory.touched.notified().await;
        tokio::time::sleep(MOMENT).await;
        let (app, memory) = (app.clone(), Arc::clone(&memory));
        let write = move || {
            windows::note_places(&app);
            memory.save_or_log();
        };
        if let Err(error) = blocking(write).await {
            tracing::warn!("what the windows remember is not written: {error}");
        }
    }
}

/// The store of the file. Taken from the plugin's list, so that the plugin neither writes it at the end nor hands it to a page.
fn store(app: &AppHandle, file: &Path) -> tauri_plugin_store::Result<Arc<Store<Wry>>> {
    app.plugin(tauri_plugin_store::Builder::default().build())?;
    let store = app.store_builder(file).disable_auto_save().build()?;
    store.close_resource();
    Ok(store)
}

/// Whether the store can take the file, where there is one.
fn check(file: &Path) -> Result<(), String> {
    match std::fs::metadata(file) {
        Ok(about) if about.len() > LONGEST => return Err(format!("it is longer than {LONGEST} bytes")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.to_string()),
    }
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    let object: Result<BTreeMap<String, Value>, _> = serde_json::from_slice(&bytes);
    object.map(|_| ()).map_err(|error| error.to_string())
}

/// Beside it, in place of the last one that was.
fn aside(file: &Path) -> PathBuf {
    file.with_extension("broken.json")
}

/// Answers whether its place is free now.
fn put_aside(app: &AppHandle, file: &Path, reason: &str) -> bool {
    let (shown, aside) = (file.display(), aside(file));
    let hint = "places of the windows, the theme and earlier goals begin anew; all else is as it was";
    let moved = std::fs::rename(file, &aside);
    match &moved {
        Ok(()) => {
            let message =
                format!("{shown} cannot be used and was put aside as {}: {reason}", aside.display());
            tracing::warn!("{message}");
            super::note(app, message, hint);
        }
        Err(error) => tracing::warn!("{shown} cannot be used ({reason}), and not be put aside: {error}"),
    }
    moved.is_ok()
}

fn read<T: DeserializeOwned>(name: &str, value: Option<Value>) -> Option<T> {
    serde_json::from_value(value?)
        .inspect_err(|error| tracing::warn!("{name} in what the windows remember is of no use: {error}"))
        .ok()
}

/// Those that are texts.
fn texts(value: Option<Value>) -> Vec<String> {
    let Some(Value::Array(all)) = value else { return Vec::new() };
    all.into_iter().filter_map(|one| if let Value::String(text) = one { Some(text) } else { None }).collect()
}

/// Of windows that there are.
fn all_places(value: Option<Value>) -> AllPlaces {
    let Some(Value::Object(all)) = value else { return AllPlaces::default() };
    let known = all.into_iter().filter(|(label, _)| protocol::command::Window::of_label(label).is_some());
    known.map(|(label, places)| (label, Places::of(places))).collect()
}

/// Tells the settings that the theme is kept elsewhere by now.
pub async fn forget_old_theme(engine: Arc<Engine>) {
    let patch = protocol::settings::SettingsPatch([(THEME.to_owned(), Value::Null)].into_iter().collect());
    if let Err(error) = engine.ask(Surface::Dashboard, UpdateSettings { patch }).await {
        tracing::warn!("the theme stays in the settings, too: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_file_of_ours_and_none_can_be_taken() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("windows.json");
        assert_eq!(check(&file), Ok(()));
        for text in ["{}", r#"{"theme":"dark","of a later version":[1]}"#] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(check(&file), Ok(()), "{text}");
        }
    }

    #[test]
    fn a_broken_or_foreign_file_cannot_be_taken() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("windows.json");
        for bytes in [&b""[..], b"{", b"[]", b"null", b"{}}", b"\xff\xfe\x00", b"{\"theme\":\"da"] {
            std::fs::write(&file, bytes).unwrap();
            assert!(check(&file).is_err(), "{bytes:?}");
        }
        std::fs::File::create(&file).unwrap().set_len(LONGEST + 1).unwrap();
        assert!(check(&file).unwrap_err().contains("longer"));
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        assert!(check(&file).is_err());
    }

    #[test]
    fn one_value_that_makes_no_sense_loses_no_other() {
        assert_eq!(read::<Theme>(THEME, Some(json!("dark"))), Some(Theme::Dark));
        assert_eq!(read::<Theme>(THEME, Some(json!(3))), None);
        assert_eq!(texts(Some(json!(["a", 1, null, "b"]))), ["a", "b"]);
        assert_eq!(texts(Some(json!({ "a": 1 }))), Vec::<String>::new());
        let places = all_places(Some(json!({ "dashboard": [], "chat": 7, "somebody's": [] })));
        assert_eq!(places.keys().collect::<Vec<_>>(), ["chat", "dashboard"]);
    }
}
