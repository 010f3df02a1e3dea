//! The tools there are: built once, shared by everyone, added to and taken from while runs are under way.
//!
//! A call sees one set of tools from its first look to its plan, whatever is added meanwhile.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use serde_json::Value;

use crate::spec::{Spec, Tool};
use crate::tool;

/// Characters of a name; providers take no more.
const NAME_CHARS: usize = 64;

/// All tools, in the order in which models see them. Nothing outside it can be run.
pub struct Registry {
    // Copied when it changes, which is rare; a reader only clones the pointer.
    tools: RwLock<Tools>,
    /// The hashes of those that were asked for, by name: a question needs them, and they take longer than a decision.
    hashes: Mutex<HashMap<Arc<str>, String>>,
}

pub(crate) type Tools = Arc<[Arc<dyn Tool>]>;

/// Why a tool is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddError {
    #[error("there is a tool {0} already")]
    Taken(Arc<str>),
    #[error(
        "{0:?} is no name for a tool: a letter or _ first, then letters, digits, _ and -, at most {NAME_CHARS} in all"
    )]
    Name(Arc<str>),
    #[error("the arguments of {0} are not described by the JSON Schema of an object")]
    Schema(Arc<str>),
}

impl Registry {
    /// The built-in tools; their schemas are derived here.
    pub fn builtin() -> Self {
        Self { tools: RwLock::new(tool::builtin().into()), hashes: Mutex::default() }
    }

    /// Adds a tool after all others. Runs under way are offered it from their next start on.
    ///
    /// # Errors
    /// Its name is taken or not of the form that every provider takes, or its schema is not of an object.
    pub fn add(&self, tool: Arc<dyn Tool>) -> Result<(), AddError> {
        let spec = tool.spec();
        let name = Arc::clone(&spec.name);
        if !is_name(&name) {
            return Err(AddError::Name(name));
        }
        if spec.schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(AddError::Schema(name));
        }
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        if tools.iter().any(|known| known.spec().name == name) {
            return Err(AddError::Taken(name));
        }
        *tools = tools.iter().cloned().chain([tool]).collect();
        Ok(())
    }

    /// Takes a tool away; `None` if there was none of this name. A call of it that has begun goes on to its end.
    pub fn remove(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        let removed = tools.iter().find(|tool| *tool.spec().name == *name).cloned()?;
        *tools = tools.iter().filter(|tool| *tool.spec().name != *name).cloned().collect();
        self.hashes.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        Some(removed)
    }

    /// By its exact name.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.all().iter().find(|tool| *tool.spec().name == *name).cloned()
    }

    /// What a call of this tool is agreed to by: see [`Spec::hash`]. `None` if there is none of this name.
    pub(crate) fn hash(&self, name: &str) -> Option<String> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        let mut hashes = self.hashes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hash) = hashes.get(name) {
            return Some(hash.clone());
        }
        let spec = tools.iter().find(|tool| *tool.spec().name == *name)?.spec();
        let hash = spec.hash();
        hashes.insert(spec.name.clone(), hash.clone());
        Some(hash)
    }

    /// What is known of each, in the order in which models see them.
    pub fn specs(&self) -> Vec<Spec> {
        self.all().iter().map(|tool| tool.spec().clone()).collect()
    }

    /// The tools as they are now.
    pub(crate) fn all(&self) -> Tools {
        self.tools.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What OpenAI, Anthropic and Gemini all take.
fn is_name(name: &str) -> bool {
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts_well
        && name.len() <= NAME_CHARS
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}
