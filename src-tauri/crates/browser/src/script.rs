//! What `collector.js` answers, as types. Data only.

use desktop::DesktopError;
use serde::Deserialize;
use serde_json::Value;

use crate::WebTarget;

/// The source: one expression.
pub(crate) const COLLECTOR: &str = include_str!("collector.js");

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Collected {
    pub(crate) elements: Vec<Found>,
    pub(crate) frames: Vec<InnerFrame>,
    pub(crate) off: u64,
    pub(crate) more: u64,
    pub(crate) other: u64,
    pub(crate) next: u64,
    pub(crate) about: About,
}

/// In CSS pixels of the outermost page's visible part.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Found {
    pub(crate) id: u64,
    pub(crate) role: String,
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) hint: String,
    pub(crate) states: Vec<String>,
    pub(crate) href: String,
    pub(crate) options: Vec<String>,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// A frame whose document the collector cannot enter: where it is, and what of it can be seen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct InnerFrame {
    pub(crate) id: u64,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) scale: f64,
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct About {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) visible: bool,
    pub(crate) focused: bool,
    pub(crate) ready: String,
    pub(crate) status: u16,
    /// When the document came to be: two documents differ in it.
    #[cfg(any(target_os = "macos", test))]
    pub(crate) born: f64,
    /// Place and sizes of window and page, in which a change means that the page has moved on the screen.
    pub(crate) geometry: Vec<f64>,
    /// screenX, screenY, clientX, clientY of the last pointer events.
    pub(crate) pointers: Vec<[f64; 4]>,
}

/// An element made ready for a click.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Ready {
    pub(crate) gone: bool,
    pub(crate) called: String,
    pub(crate) kind: String,
    pub(crate) disabled: bool,
    pub(crate) readonly: bool,
    pub(crate) options: Vec<String>,
    pub(crate) cover: Option<String>,
    pub(crate) empty: bool,
    pub(crate) scrolled: bool,
    pub(crate) x: Option<f64>,
    pub(crate) y: Option<f64>,
}

/// What an element is called, and where its link or form would go.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Form {
    gone: bool,
    /// By the page's word of this moment, not of when it was listed.
    name: String,
    row: String,
    url: String,
    action: Option<String>,
    submits: bool,
    /// What goes there is its form.
    form: bool,
    searches: bool,
    hides: bool,
}

impl Form {
    pub(crate) fn target(self, reference: &str) -> Result<WebTarget, DesktopError> {
        let Self {
            gone,
            name: called,
            row,
            url,
            action: leads_to,
            submits,
            form: sends_form,
            hides,
            searches,
        } = self;
        if gone {
            return Err(DesktopError::NotFound(format!("element {reference}; it is gone")));
        }
        Ok(WebTarget { url, called, row, leads_to, goes_there: submits, sends_form, hides, searches })
    }
}

/// What became of an act that was watched.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct After {
    /// True where the element got it; else what did.
    pub(crate) hit: Value,
    pub(crate) changes: u64,
    pub(crate) connected: bool,
    pub(crate) altered: bool,
    pub(crate) states: Vec<String>,
    pub(crate) value: String,
}

/// A field made ready for text.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Focused {
    pub(crate) gone: bool,
    pub(crate) focused: bool,
}

/// What a field holds after it was filled.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FieldContent {
    pub(crate) gone: bool,
    pub(crate) equal: bool,
    pub(crate) secret: bool,
    pub(crate) length: usize,
    pub(crate) value: String,
    pub(crate) missing: Vec<String>,
    pub(crate) options: Vec<String>,
    pub(crate) refused: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Read {
    pub(crate) text: String,
    pub(crate) frames: Vec<InnerFrame>,
    pub(crate) next: u64,
    #[serde(flatten)]
    pub(crate) about: About,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Outer {
    pub(crate) gone: bool,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) scale: f64,
}
