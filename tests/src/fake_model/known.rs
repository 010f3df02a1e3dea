//! Which models the server has: any at all, or only some, where every other is refused as its vendor does.

use serde_json::Value;

use super::wire::{Wire, Wrong};
use super::{FakeModel, Shared, lock};

impl FakeModel {
    /// From now on it has only these, by the vendor's own names, and lists them.
    pub fn knows_only(&self, names: &[&str]) {
        *lock(&self.shared.known) = names.iter().map(|name| (*name).to_owned()).collect();
    }
}

impl Shared {
    /// # Errors
    /// For a model that it does not have.
    pub(super) fn check_model(&self, name: &str) -> Result<(), Wrong> {
        let known = lock(&self.known);
        if known.is_empty() || known.iter().any(|known| known == name) {
            return Ok(());
        }
        Err(Wrong::NotFound(name.to_owned()))
    }

    pub(super) fn listed(&self, wire: Wire) -> Value {
        let (dialect, known) = (wire.dialect(), lock(&self.known));
        let names: Vec<&str> = known.iter().map(String::as_str).collect();
        dialect.list(if names.is_empty() { dialect.usual() } else { &names })
    }
}
