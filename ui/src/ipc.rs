//! The bridge to the engine: one `invoke`, one `subscribe`, the window's label.
//!
//! Speaks to `window.__TAURI_INTERNALS__` as `@tauri-apps/api` 2.12 does (core.js). Names of commands come from
//! `protocol` alone.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use js_sys::{JSON, Object, Reflect};
use protocol::command::Subscribe;
use protocol::remembered::Heard;
use protocol::{Command, ErrorCode, ErrorView};
use wasm_bindgen::prelude::{Closure, JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = ["window", "__TAURI_INTERNALS__"], js_name = invoke)]
    async fn tauri_invoke(name: &str, arguments: &JsValue) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch, js_namespace = ["window", "__TAURI_INTERNALS__"], js_name = transformCallback)]
    fn transform_callback(callback: &JsValue, once: bool) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch, js_namespace = ["window", "__TAURI_INTERNALS__"], js_name = unregisterCallback)]
    fn unregister_callback(id: &JsValue) -> Result<(), JsValue>;
}

/// Sends a command and waits for its answer.
///
/// # Errors
/// The engine's own [`ErrorView`]; `Internal` where the bridge itself fails.
pub async fn invoke<C: Command>(command: C) -> Result<C::Response, ErrorView> {
    call(&command, None).await
}

/// Sends what is said to this window to `hear`, in order: what the windows remember, events, and at their end why there are
/// no more. It takes the place of the subscription before, of which something may still come.
///
/// # Errors
/// As [`invoke`].
pub async fn subscribe(command: Subscribe, hear: impl FnMut(Heard) + 'static) -> Result<(), ErrorView> {
    let channel = open_channel(hear)?;
    call(&command, Some(&channel)).await.map(|_| ())
}

/// The label of the window this runs in.
pub fn window_label() -> Option<String> {
    let mut value = JsValue::from(web_sys::window()?);
    for name in ["__TAURI_INTERNALS__", "metadata", "currentWindow", "label"] {
        value = Reflect::get(&value, &name.into()).ok()?;
    }
    value.as_string()
}

async fn call<C: Command>(command: &C, channel: Option<&str>) -> Result<C::Response, ErrorView> {
    let text = serde_json::to_string(command).map_err(|error| broken(C::NAME, &error))?;
    let arguments = Object::new();
    let args = JSON::parse(&text).map_err(|error| said(C::NAME, &error))?;
    Reflect::set(&arguments, &"args".into(), &args).map_err(|error| said(C::NAME, &error))?;
    if let Some(channel) = channel {
        Reflect::set(&arguments, &"channel".into(), &channel.into())
            .map_err(|error| said(C::NAME, &error))?;
    }
    let answer = tauri_invoke(C::NAME, &arguments).await.map_err(|error| said(C::NAME, &error))?;
    serde_json::from_str(&json_of(&answer)).map_err(|error| broken(C::NAME, &error))
}

/// Makes what Tauri's `Channel` is on this side. Messages carry an index, since large ones arrive by another way and
/// may be late; they are handed on in order.
fn open_channel(mut hear: impl FnMut(Heard) + 'static) -> Result<String, ErrorView> {
    let (mut next, mut late, mut end) = (0_u64, BTreeMap::<u64, JsValue>::new(), None);
    let id = Rc::new(RefCell::new(JsValue::UNDEFINED));
    let own_id = Rc::clone(&id);
    let callback = Closure::<dyn FnMut(JsValue)>::new(move |raw: JsValue| {
        let field = |name: &str| Reflect::get(&raw, &name.into()).unwrap_or(JsValue::UNDEFINED);
        let Some(index) = field("index").as_f64().map(|index| index as u64) else { return };
        if field("end").is_undefined() {
            late.insert(index, field("message"));
        } else {
            end = Some(index);
        }
        while let Some(message) = late.remove(&next) {
            next += 1;
            match serde_json::from_str(&json_of(&message)) {
                Ok(heard) => hear(heard),
                Err(error) => web_sys::console::error_1(&format!("event not understood: {error}").into()),
            }
        }
        if end == Some(next) {
            // Only a callback Tauri no longer knows makes this fail, and then there is nothing to let go.
            let _ = unregister_callback(&own_id.borrow());
        }
    });
    // Freed by the page's garbage collection, once Tauri knows it no more.
    let callback = callback.into_js_value();
    let handle = transform_callback(&callback, false).map_err(|error| said("subscribe", &error))?;
    *id.borrow_mut() = handle.clone();
    Ok(format!("__CHANNEL__:{}", handle.as_f64().unwrap_or_default()))
}

/// `undefined`, which JSON has no word for, is null.
fn json_of(value: &JsValue) -> String {
    JSON::stringify(value).ok().and_then(|text| text.as_string()).unwrap_or_else(|| "null".into())
}

/// What Tauri rejected with: our error, or words of its own (a command not granted, no bridge).
fn said(command: &str, error: &JsValue) -> ErrorView {
    serde_json::from_str(&json_of(error)).unwrap_or_else(|_| {
        let text = error.as_string().unwrap_or_else(|| format!("{error:?}"));
        ErrorView::new(ErrorCode::Internal, format!("{command}: {text}"))
    })
}

fn broken(command: &str, error: &serde_json::Error) -> ErrorView {
    ErrorView::new(ErrorCode::Internal, format!("{command}: the message cannot be read or written: {error}"))
}
