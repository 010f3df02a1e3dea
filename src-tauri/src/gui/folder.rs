//! The system's dialog for a folder, above the dashboard. It is of one of our own processes, so that no agent's hands reach it: only
//! whoever sits at the machine chooses.

use std::path::PathBuf;

use protocol::command::Window;
use protocol::settings::Language;
use protocol::{ErrorCode, ErrorView};
use tauri::{AppHandle, Manager as _, WebviewWindow};
use tokio::sync::oneshot;

use crate::line::AskFolder;

type Chosen = oneshot::Sender<Option<PathBuf>>;

/// A letter behind `_` is pressed with Alt.
struct Words {
    title: &'static str,
    #[cfg(target_os = "linux")]
    choose: &'static str,
    #[cfg(target_os = "linux")]
    cancel: &'static str,
}

fn words(language: Language) -> Words {
    match language {
        Language::English => Words {
            title: "Folder to work in",
            #[cfg(target_os = "linux")]
            choose: "C_hoose",
            #[cfg(target_os = "linux")]
            cancel: "_Cancel",
        },
        Language::Japanese => Words {
            title: "作業フォルダー",
            #[cfg(target_os = "linux")]
            choose: "選択(_H)",
            #[cfg(target_os = "linux")]
            cancel: "キャンセル(_C)",
        },
    }
}

/// Waits for the user's choice; `None` if they make none.
///
/// # Errors
/// The window system refuses.
pub async fn choose(app: &AppHandle, asks: AskFolder) -> Result<Option<PathBuf>, ErrorView> {
    let failed = |error: tauri::Error| {
        ErrorView::new(ErrorCode::Internal, format!("the dialog for a folder cannot be opened: {error}"))
            .with_hint("write the folder into the settings, or: miki run --space FOLDER")
    };
    let view = app.get_webview_window(Window::Dashboard.label());
    let view = view.ok_or(tauri::Error::WindowNotFound).map_err(failed)?;
    let (chosen, answer) = oneshot::channel();
    open(&view, asks, chosen).map_err(failed)?;
    // A dialog that went away without a word has chosen nothing.
    Ok(answer.await.unwrap_or(None))
}

/// GTK's own: it is there anyway, while a library's has a second thread that would turn GTK's loop.
#[cfg(target_os = "linux")]
fn open(view: &WebviewWindow, AskFolder { from, language }: AskFolder, chosen: Chosen) -> tauri::Result<()> {
    use gtk::prelude::{DialogExt as _, FileChooserExt as _, GtkWindowExt as _, WidgetExt as _};
    use gtk::{FileChooserAction, FileChooserDialog, ResponseType};

    let window = view.clone();
    view.run_on_main_thread(move || {
        let words = words(language);
        let buttons = [(words.cancel, ResponseType::Cancel), (words.choose, ResponseType::Accept)];
        let parent = window.gtk_window().ok();
        let action = FileChooserAction::SelectFolder;
        let dialog = FileChooserDialog::with_buttons(Some(words.title), parent.as_ref(), action, &buttons);
        dialog.set_modal(true);
        dialog.set_default_response(ResponseType::Accept);
        if let Some(from) = from {
            dialog.set_current_folder(from);
        }
        let chosen = std::cell::Cell::new(Some(chosen));
        dialog.connect_response(move |dialog, response| {
            let folder = if response == ResponseType::Accept { dialog.filename() } else { None };
            if let Some(chosen) = chosen.take() {
                // Fails where nobody waits any more.
                let _ = chosen.send(folder);
            }
            // One that its frame closed is closing already.
            if response != ResponseType::DeleteEvent {
                dialog.close();
            }
        });
        dialog.show_all();
        dialog.present();
    })
}

/// Not run here.
#[cfg(not(target_os = "linux"))]
fn open(view: &WebviewWindow, AskFolder { from, language }: AskFolder, chosen: Chosen) -> tauri::Result<()> {
    let window = view.clone();
    view.run_on_main_thread(move || {
        let mut dialog = rfd::AsyncFileDialog::new().set_title(words(language).title).set_parent(&window);
        if let Some(from) = from {
            dialog = dialog.set_directory(from);
        }
        let answer = dialog.pick_folder();
        tauri::async_runtime::spawn(async move {
            let folder = answer.await.map(|folder| folder.path().to_owned());
            let _ = chosen.send(folder);
        });
    })
}
