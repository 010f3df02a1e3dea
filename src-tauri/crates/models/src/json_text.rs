//! JSON put together as text, so that what a provider wrote goes back as the bytes that came.
//!
//! A parsed number or escape would be written in another way, and a signature may be over the old one.

use serde::Serialize;

/// The value as JSON text.
pub(crate) fn to_json(value: &(impl Serialize + ?Sized)) -> String {
    // Fails only for maps with keys that are no strings, of which there are none here.
    serde_json::to_string(value).unwrap_or_else(|_| "null".into())
}

/// An object that is written field by field.
pub(crate) struct JsonObject(String);

impl JsonObject {
    pub(crate) fn new() -> Self {
        Self("{".into())
    }

    pub(crate) fn field(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        self.verbatim(name, &to_json(value));
    }

    /// `json` must be a JSON value.
    pub(crate) fn verbatim(&mut self, name: &str, json: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&to_json(name));
        self.0.push(':');
        self.0.push_str(json);
    }

    pub(crate) fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// A list of JSON values.
pub(crate) fn json_list<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let mut list = String::from("[");
    for item in items {
        if list.len() > 1 {
            list.push(',');
        }
        list.push_str(item.as_ref());
    }
    list.push(']');
    list
}
