//! Miki's three windows: dashboard, chat widget and overlay, told apart by the window's label.
//!
//! What is shown is what the engine's events add up to ([`state`], by `fold`); words, escaping and shortening are plain
//! functions, tested on the host. The rest lays out, and is compiled for wasm only. Knows `protocol` and `fold` and nothing
//! else of ours; decides nothing that the engine decides.

pub mod answer;
pub mod drafts;
pub mod goal;
pub mod recall;
pub mod state;
pub mod suggestions;

pub mod brief;
pub mod fields;
pub mod picker;
pub mod picture;
pub mod results;
pub mod sentences;
pub mod words;

#[cfg(target_arch = "wasm32")]
mod ipc;
#[cfg(target_arch = "wasm32")]
mod store;

#[cfg(target_arch = "wasm32")]
mod chat;
#[cfg(target_arch = "wasm32")]
mod dashboard;
#[cfg(target_arch = "wasm32")]
mod overlay;
#[cfg(target_arch = "wasm32")]
mod settings;
#[cfg(target_arch = "wasm32")]
mod widgets;

/// Opens the window this was loaded into.
#[cfg(target_arch = "wasm32")]
pub fn open() {
    use leptos::prelude::IntoAny;
    use protocol::command::Window;

    use state::Follows;
    use store::{Store, set_on_root};

    let window = ipc::window_label().and_then(|label| Window::of_label(&label)).unwrap_or(Window::Dashboard);
    set_on_root("data-window", Some(window.label()));
    // Without the keyboard no field looks as if it had it.
    let away = |is_away: bool| set_on_root("data-away", is_away.then_some(""));
    away(!leptos::prelude::document().has_focus().unwrap_or(true));
    leptos::prelude::window_event_listener(leptos::ev::blur, move |_| away(true));
    leptos::prelude::window_event_listener(leptos::ev::focus, move |_| away(false));
    leptos::mount::mount_to_body(move || match window {
        Window::Dashboard => {
            Store::provide(Follows::TheUser);
            dashboard::Dashboard().into_any()
        }
        Window::Chat => {
            Store::provide(Follows::TheUserAnew);
            chat::Chat().into_any()
        }
        Window::Overlay => {
            Store::provide(Follows::TheDesktop);
            overlay::Overlay().into_any()
        }
    });
}
