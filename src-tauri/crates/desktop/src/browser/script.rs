//! What `collector.js` answers, as types. Data only.

use serde::Deserialize;
use serde_json::Value;

/// The source: one expression.
pub(super) const COLLECTOR: &str = include_str!("collector.js");

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Collected {
    pub(super) elements: Vec<Found>,
    pub(super) frames: Vec<InnerFrame>,
    pub(super) off: u64,
    pub(super) more: u64,
    pub(super) other: u64,
    pub(super) next: u64,
    #[serde(flatten)]
    pub(super) about: About,
}

/// In CSS pixels of the outermost page's visible part.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Found {
    pub(super) id: u64,
    pub(super) role: String,
    pub(super) name: String,
    pub(super) value: String,
    pub(super) states: Vec<String>,
    pub(super) href: String,
    pub(super) options: Vec<String>,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A frame whose document the collector cannot enter: where it is, and what of it can be seen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InnerFrame {
    pub(super) id: u64,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) scale: f64,
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct About {
    pub(super) title: String,
    pub(super) url: String,
    pub(super) visible: bool,
    pub(super) focused: bool,
    pub(super) ready: String,
    pub(super) status: u16,
    /// When the document came to be: two documents differ in it.
    #[cfg(any(target_os = "macos", test))]
    pub(super) born: f64,
    /// Place and sizes of window and page, in which a change means that the page has moved on the screen.
    pub(super) geometry: Vec<f64>,
    /// screenX, screenY, clientX, clientY of the last pointer events.
    pub(super) pointers: Vec<[f64; 4]>,
}

/// An element made ready for a click.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Ready {
    pub(super) gone: bool,
    pub(super) called: String,
    pub(super) kind: String,
    pub(super) disabled: bool,
    pub(super) readonly: bool,
    pub(super) options: Vec<String>,
    pub(super) cover: Option<String>,
    pub(super) empty: bool,
    pub(super) scrolled: bool,
    pub(super) x: Option<f64>,
    pub(super) y: Option<f64>,
}

/// What became of an act that was watched.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct After {
    /// True where the element got it; else what did.
    pub(super) hit: Value,
    pub(super) changes: u64,
    pub(super) connected: bool,
    pub(super) altered: bool,
    pub(super) states: Vec<String>,
    pub(super) value: String,
}

/// A field made ready for text.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Focused {
    pub(super) gone: bool,
    pub(super) focused: bool,
}

/// What a field holds after it was filled.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Held {
    pub(super) gone: bool,
    pub(super) equal: bool,
    pub(super) secret: bool,
    pub(super) length: usize,
    pub(super) value: String,
    pub(super) missing: Vec<String>,
    pub(super) options: Vec<String>,
    pub(super) refused: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Read {
    pub(super) text: String,
    pub(super) frames: Vec<InnerFrame>,
    pub(super) next: u64,
    #[serde(flatten)]
    pub(super) about: About,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Outer {
    pub(super) gone: bool,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) scale: f64,
}
