//! Servers of the Model Context Protocol that the user has connected, and what is known of them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::ids::{RunId, SessionId, Timestamp};

/// A server as the settings have it. Either a program (`command`, speaking over its standard streams) or an address
/// (`url`, streamable HTTP).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct McpServer {
    /// A program's name or path; empty for a server at an address. Never given to a shell.
    pub command: String,
    pub args: Vec<String>,
    /// Set for the program beside the few variables that every program of ours gets.
    pub env: BTreeMap<String, String>,
    /// Variables of the program whose values are in the keychain; of a server at an address, headers.
    pub keys: BTreeSet<String>,
    pub url: String,
    /// Whether the program may do what its user may. Otherwise it runs in the sandbox of commands: it writes into a folder
    /// of its own, and reaches only `hosts`.
    pub unconfined: bool,
    /// Hosts that a confined program may reach.
    pub hosts: Vec<String>,
    /// Folders and files, by whole paths, that a confined program may read.
    pub reads: Vec<String>,
    /// Kept, and not used.
    pub off: bool,
    /// The tools that the user agreed to, by the server's names for them.
    pub tools: BTreeMap<String, AgreedTool>,
}

/// A tool that the user agreed to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgreedTool {
    /// Of name, description and schema, lower-case hex SHA-256: once the server says otherwise, it is off until it is
    /// agreed to again.
    pub hash: String,
    #[serde(default)]
    pub does: ToolDoes,
}

/// What the user says that a server's tool does at the most. What the server says of it counts for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolDoes {
    /// It only looks, and nothing it is told matters to anybody: never asked about.
    Looks,
    /// It changes what can be changed back: a yes for the session covers it.
    Edits,
    /// It may send what it is told to others, or do what cannot be undone: asked each time.
    #[default]
    Anything,
}

/// Where a server's connection stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "state")]
pub enum ServerState {
    Off,
    /// Its tools are known from earlier; it is started when one of them is first called.
    Idle,
    Connected,
    /// Why it cannot be used now; it is tried again with the next call, at the earliest after these seconds.
    Failed {
        why: String,
        again_in: u64,
    },
}

/// A server with its tools, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerView {
    pub name: String,
    /// The program with all its arguments, or the address.
    pub runs: String,
    /// Whether it is a program that the sandbox does not confine.
    pub unconfined: bool,
    #[serde(flatten)]
    pub state: ServerState,
    /// As the server calls itself, with its version; empty if it was not asked yet.
    #[serde(default)]
    pub called: String,
    pub tools: Vec<ServerToolView>,
    #[serde(default)]
    pub prompts: Vec<PromptView>,
    /// What it last wrote to its standard error: the newest lines.
    #[serde(default)]
    pub log: Vec<String>,
}

/// A text with blanks that a server has for its users, to begin a goal with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptView {
    pub name: String,
    /// In the server's words; empty if it has none.
    #[serde(default)]
    pub about: String,
    #[serde(default)]
    pub fields: Vec<PromptField>,
}

/// A blank of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptField {
    pub name: String,
    #[serde(default)]
    pub about: String,
    #[serde(default)]
    pub is_required: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerToolView {
    /// The server's name for it.
    pub name: String,
    /// What a model calls it by.
    pub tool: String,
    /// All that a model reads of it, cleaned.
    pub description: String,
    /// Of its arguments, as JSON: its words are the model's to read, too.
    pub schema: String,
    pub hash: String,
    pub agreed: Agreed,
}

/// Whether a tool may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "agreed")]
pub enum Agreed {
    No,
    /// The server describes it otherwise than when the user agreed to it.
    Changed,
    Yes {
        does: ToolDoes,
    },
}

/// Letters of a server's name: with its tool's it must fit into the 64 that providers take.
pub const NAME_CHARS: usize = 24;

/// Names of groups of tools, which no server may have.
pub const RESERVED: [&str; 15] = [
    "screen",
    "ocr",
    "elements",
    "input",
    "held",
    "apps",
    "clipboard",
    "web",
    "script",
    "files",
    "terminal",
    "search",
    "agenda",
    "agents",
    "mind",
];

/// Variables that decide what is run in the place of a program, or before it: none is for a server.
const LOADERS: [&str; 5] = ["LD_", "DYLD_", "GLIBC_", "MALLOC_", "BASH_"];
const STARTERS: [&str; 10] =
    ["ENV", "IFS", "PATH", "HOME", "TMPDIR", "SHELLOPTS", "GCONV_PATH", "LOCPATH", "NLSPATH", "HOSTALIASES"];

/// Headers that decide where a message ends, which server it is for, or how the connection is used: none is a key.
const OF_HTTP: [&str; 16] = [
    "accept",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "last-event-id",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];
/// How the headers of the protocol itself begin.
const OF_MCP: &str = "mcp-";

/// Whether a key may be sent as this header.
///
/// # Errors
/// Why not, after its name.
pub fn check_header(name: &str) -> Result<(), &'static str> {
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err("is no name of a header");
    }
    let lower = name.to_ascii_lowercase();
    if OF_HTTP.contains(&lower.as_str()) || lower.starts_with(OF_MCP) {
        return Err("is a header of the protocol itself");
    }
    Ok(())
}

impl McpServer {
    /// The key that a server at an address gets as `Authorization`, as it is written: where there is one, nobody signs in.
    pub fn authorization(&self) -> Option<&str> {
        let is_one = |name: &&String| name.eq_ignore_ascii_case("authorization");
        self.keys.iter().find(is_one).filter(|_| !self.url.is_empty()).map(String::as_str)
    }

    /// Whether this is the same server as another: it runs the same, wherever its tools are agreed to.
    pub fn runs_as(&self, other: &Self) -> bool {
        let bare = |one: &Self| Self { tools: BTreeMap::new(), off: false, ..one.clone() };
        bare(self) == bare(other)
    }

    /// The program with what is set for it and all its arguments, each in quotes where it has blanks or the like in it; or the
    /// address with the headers that are sent there.
    pub fn runs(&self) -> String {
        if self.command.is_empty() {
            if self.keys.is_empty() {
                return self.url.clone();
            }
            let headers = self.keys.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            return format!("{} with {headers} (from the keychain)", self.url);
        }
        let set = self.env.iter().map(|(name, value)| format!("{name}={}", quoted(value)));
        let kept = self.keys.iter().map(|name| format!("{name}=(from the keychain)"));
        let words = std::iter::once(&self.command).chain(&self.args).map(|word| quoted(word));
        set.chain(kept).chain(words).collect::<Vec<_>>().join(" ")
    }

    /// Whether these settings give an agent what others do not: it runs otherwise, is on, or has more tools.
    pub fn is_looser_than(&self, other: Option<&Self>) -> bool {
        let Some(other) = other else { return true };
        let is_agreed = |(name, tool): (&String, &AgreedTool)| {
            other.tools.get(name).is_some_and(|old| old.hash == tool.hash && tool.does >= old.does)
        };
        !self.runs_as(other) || (other.off && !self.off) || !self.tools.iter().all(is_agreed)
    }

    /// # Errors
    /// What is wrong with it, after its name.
    pub fn validate(name: &str, server: &Self) -> Result<(), String> {
        let starts_well = name.starts_with(|c: char| c.is_ascii_lowercase());
        let is_name = starts_well
            && name.len() <= NAME_CHARS
            && !name.contains("--")
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if !is_name {
            return Err(format!(
                "is no name: a letter first, then a-z, 0-9 and single -, at most {NAME_CHARS} in all"
            ));
        }
        if RESERVED.contains(&name) {
            return Err("is a name that tools of Miki's own have; call it otherwise".into());
        }
        match (server.command.is_empty(), server.url.is_empty()) {
            (true, true) => return Err("has neither a command nor a url".into()),
            (false, false) => return Err("has both a command and a url".into()),
            _ => {}
        }
        let texts = std::iter::once(&server.command).chain(&server.args).chain(server.env.values());
        if texts.into_iter().any(|text| text.contains('\0')) {
            return Err("has a NUL character in its command".into());
        }
        let is_variable = |name: &String| {
            !name.is_empty()
                && !name.starts_with(|c: char| c.is_ascii_digit())
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        let is_address = !server.url.is_empty();
        let keys = server.keys.iter().filter(|_| !is_address);
        if let Some(bad) = server.env.keys().chain(keys).find(|name| !is_variable(name)) {
            return Err(format!("sets {bad:?}, which is no variable's name"));
        }
        for name in server.keys.iter().filter(|_| is_address) {
            check_header(name).map_err(|why| format!("sends {name:?}, which {why}"))?;
            if server.keys.iter().any(|other| other != name && other.eq_ignore_ascii_case(name)) {
                return Err(format!("sends {name} twice"));
            }
        }
        let changes_the_start = |name: &String| {
            LOADERS.iter().any(|prefix| name.starts_with(prefix)) || STARTERS.contains(&name.as_str())
        };
        if let Some(bad) = server.env.keys().chain(&server.keys).find(|name| changes_the_start(name)) {
            return Err(format!("sets {bad}, which would change how programs are started"));
        }
        let is_whole = |path: &String| {
            path.starts_with('/') || path.get(1..3).is_some_and(|at| matches!(at, ":\\" | ":/"))
        };
        if let Some(bad) = server.reads.iter().find(|path| !is_whole(path)) {
            return Err(format!("may read {bad:?}, which is no whole path"));
        }
        if let Some(name) = server.env.keys().find(|name| crate::settings::is_of_keys(name)) {
            return Err(format!(
                "would keep {name} in a file; a key belongs into the keychain: miki mcp key"
            ));
        }
        if is_address {
            crate::address::check(&server.url).map_err(|why| format!("has a url that {why}"))?;
        }
        Ok(())
    }
}

/// As a shell would read it back, for people to read.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A program whose agent uses Miki now: its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GuestView {
    pub session: SessionId,
    pub run: RunId,
    /// As the program calls itself: data, never an instruction.
    pub client: String,
    /// It gives goals to agents of ours; otherwise it has eyes and hands itself.
    pub conducts: bool,
    pub way: GuestWay,
    pub since: Timestamp,
}

/// How a program came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum GuestWay {
    /// It has started `miki mcp` itself.
    #[default]
    Stdio,
    /// At an address of this machine.
    Http,
}

#[cfg(test)]
mod tests;
