//! JSON put together as text: what a provider wrote goes back as the bytes that came.
//!
//! A parsed number or escape would be written in another way, and a signature may be over the old one.

use serde::Serialize;

/// The value as JSON. A tree's `Display` is the same, at half the pace: each bit of it goes through a formatter.
pub(crate) fn written(value: &(impl Serialize + ?Sized)) -> String {
    // Refused would be keys that are no text, which nothing here has.
    serde_json::to_string(value).unwrap_or_else(|_| "null".into())
}

/// An object, field by field, in this order.
pub(crate) struct ObjectText(String);

impl ObjectText {
    pub(crate) fn new() -> Self {
        Self("{".into())
    }

    pub(crate) fn field(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        self.verbatim(name, &written(value));
    }

    /// `json` must be a JSON value.
    pub(crate) fn verbatim(&mut self, name: &str, json: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&written(name));
        self.0.push(':');
        self.0.push_str(json);
    }

    pub(crate) fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// A list of JSON values, in one piece from the first on.
pub(crate) struct ListText(String);

impl ListText {
    pub(crate) fn new() -> Self {
        Self("[".into())
    }

    /// `json` must be a JSON value.
    pub(crate) fn push(&mut self, json: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(json);
    }

    pub(crate) fn finish(mut self) -> String {
        self.0.push(']');
        self.0
    }
}

/// A list of JSON values.
pub(crate) fn list<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let mut list = ListText::new();
    for item in items {
        list.push(item.as_ref());
    }
    list.finish()
}
