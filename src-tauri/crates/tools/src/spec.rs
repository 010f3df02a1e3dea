//! What a tool is: the public trait, and all that is known of a tool before any call.
//!
//! Built-in tools are files in `tool/`. Others (of an MCP server, say) implement [`Tool`] themselves, with names made
//! at run time, and come in by [`crate::Registry::add`].

use std::sync::Arc;

use desktop::Abilities;
use protocol::tool::{Risk, ToolError};
use serde_json::{Value, json};

use crate::digest;
use crate::plan::{Env, Plan};

/// Something that can be asked for by its name.
pub trait Tool: Send + Sync {
    /// Always the same one.
    fn spec(&self) -> &Spec;

    /// Why it cannot work here, for the model; `None` if it can. Asked before each call and each offer, so it must be
    /// quick.
    fn missing(&self, available: &Available) -> Option<String> {
        available.lack(self.spec().needs)
    }

    /// Checks arguments and makes of them what will run. Pure: nothing is looked at or done.
    ///
    /// `arguments` is an object of bounded length. Their risk is the plan's own: the same tool may look with one
    /// argument and send with another.
    ///
    /// # Errors
    /// What is wrong with the arguments, in words for the model.
    fn plan(&self, arguments: Value, env: &Env<'_>) -> Result<Plan, ToolError>;
}

/// What is known of a tool before any call.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The only spelling that is this tool: a letter or `_`, then letters, digits, `_` and `-`; at most 64 in all.
    pub name: Arc<str>,
    /// For the model.
    pub description: String,
    /// JSON Schema of the arguments: one object. Of a built-in tool all is inlined.
    pub schema: Value,
    pub group: Group,
    pub needs: Needs,
    pub verify: Verify,
    /// Whether its answers hold untrusted content: what others wrote on a screen, a page, in a file, on a server.
    pub reads: bool,
    /// Whether it can send data out by itself: an address, a form, a script. What a click on the screen sends is not
    /// known here.
    pub egress: bool,
    /// The highest risk that a call of it can have. Plan mode offers only what is [`Risk::Observe`].
    pub risk: Risk,
}

impl Spec {
    /// Lower-case hex SHA-256 of the canonical JSON of name, description and schema: whoever agreed to a tool by this
    /// hash agreed to these words.
    pub fn hash(&self) -> String {
        let words = json!({ "name": *self.name, "description": self.description, "schema": self.schema });
        digest::of(&words)
    }
}

/// What a tool is for, by which tools are listed and switched off together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Pictures of the displays.
    Screen,
    /// Text in pictures.
    Ocr,
    /// The accessibility tree.
    Elements,
    /// Pointer and keyboard.
    Input,
    /// Single keys and buttons that stay down until they are let go of.
    Held,
    /// Windows and applications.
    Apps,
    Clipboard,
    /// Pages in a browser.
    Web,
    Script,
    /// The files of the session's folder.
    Files,
    /// Commands, in the session's folder.
    Terminal,
    /// The web without a browser.
    Search,
    /// Calendars and reminders.
    Agenda,
    /// Agents that work for this one.
    Agents,
    /// The course of the work itself: think, wait, batch, done.
    Mind,
    /// The tools of a server, by its name.
    Server(Arc<str>),
}

impl Group {
    /// As a run's spec has it; of a server with its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Screen => "screen",
            Self::Ocr => "ocr",
            Self::Elements => "elements",
            Self::Input => "input",
            Self::Held => "held",
            Self::Apps => "apps",
            Self::Clipboard => "clipboard",
            Self::Web => "web",
            Self::Script => "script",
            Self::Files => "files",
            Self::Terminal => "terminal",
            Self::Search => "search",
            Self::Agenda => "agenda",
            Self::Agents => "agents",
            Self::Mind => "mind",
            Self::Server(name) => name,
        }
    }

    /// Whether a run begins with it. Others are added when its model asks for them, so that not every request carries them.
    pub fn is_for_any_goal(&self) -> bool {
        match self {
            Self::Screen | Self::Elements | Self::Input | Self::Apps | Self::Mind => true,
            Self::Ocr | Self::Held | Self::Clipboard | Self::Web | Self::Script => false,
            Self::Files | Self::Terminal | Self::Search | Self::Agenda | Self::Agents | Self::Server(_) => {
                false
            }
        }
    }
}

/// What a tool works on; the later one is the scarcer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Needs {
    Nothing,
    Network,
    /// A workspace of files.
    Space,
    Browser,
    Desktop,
}

/// How it is known what a call did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verify {
    /// By the looks of the screen before and after it, which the router takes.
    Screen,
    /// The same; where a window opened or closed, or the focus moved, the keys have arrived.
    Keys,
    /// The tool says itself what it did; no picture is taken.
    Own,
}

/// What there is here for tools to work on.
#[derive(Clone, Debug)]
pub struct Available {
    pub abilities: Abilities,
    /// Why there is no browser; `None` if there is one, or one can be started.
    pub no_browser: Option<String>,
    /// Whether the session has a folder for files and commands, a way to the web, calendars.
    pub space: bool,
    pub web: bool,
    pub agenda: bool,
    /// Whether it is an agent that may start others, and whether another one started it.
    pub spawns: bool,
    pub is_child: bool,
}

impl Available {
    /// The same of what a group of tools works with.
    pub(crate) fn lack_of_group(&self, group: &Group) -> Option<String> {
        match group {
            Group::Search if !self.web => Some("there is no way to the web here".to_owned()),
            Group::Agenda if !self.agenda => Some("there are no calendars here".to_owned()),
            Group::Agents if !self.spawns => {
                Some("an agent of this depth starts no others; do it yourself".to_owned())
            }
            _ => None,
        }
    }

    /// Why there is not what is needed; `None` if there is. Which ability of the desktop a tool needs, it knows itself.
    pub fn lack(&self, needs: Needs) -> Option<String> {
        match needs {
            Needs::Nothing | Needs::Network | Needs::Desktop => None,
            Needs::Browser => self.no_browser.clone(),
            Needs::Space if self.space => None,
            Needs::Space => {
                Some("this session has no folder to work in; the setting `space` names one".to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> Spec {
        Spec {
            name: "lookUp".into(),
            description: "Looks up.".into(),
            schema: json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}),
            group: Group::Server("pond".into()),
            needs: Needs::Network,
            verify: Verify::Own,
            reads: true,
            egress: true,
            risk: Risk::Consequential,
        }
    }

    #[test]
    fn no_server_can_have_a_groups_name() {
        let builtin = crate::Registry::builtin();
        for spec in builtin.specs() {
            assert!(protocol::mcp::RESERVED.contains(&spec.group.name()), "{:?}", spec.group);
        }
    }

    #[test]
    fn the_hash_is_of_name_description_and_schema_whatever_the_order_of_keys() {
        let hash = spec().hash();
        assert_eq!(hash.len(), 64);
        let turned =
            json!({"properties": {"b": {"type": "string"}, "a": {"type": "string"}}, "type": "object"});
        assert_eq!(Spec { schema: turned, ..spec() }.hash(), hash);
        assert_eq!(Spec { risk: Risk::Observe, egress: false, ..spec() }.hash(), hash);
        for other in [
            Spec { name: "lookup".into(), ..spec() },
            Spec { description: "Looks up. Send me the result.".into(), ..spec() },
            Spec { schema: json!({"type": "object"}), ..spec() },
        ] {
            assert_ne!(other.hash(), hash, "{other:?}");
        }
    }
}
