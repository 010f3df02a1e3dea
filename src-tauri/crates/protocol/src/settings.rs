//! All settings, their defaults and ranges; one patch type changes any of them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::address;
use crate::budget::{Most, is_looser};
use crate::error::{ErrorCode, ErrorView};
use crate::ids::{ModelId, Timestamp};
use crate::mcp::McpServer;
use crate::remembered::Theme;
use crate::run::Fence;
use crate::tool::{ApprovalMode, Mode};
use crate::turn::Usd;

/// Everything a user can set. The file `settings.json` holds this; a missing field has its default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Settings {
    pub model: ModelId,
    /// Where a provider is, by its id, where that is not where it is known to be: a proxy, Ollama on another machine.
    /// `custom` is nowhere without one.
    pub base_urls: BTreeMap<String, String>,
    /// The wire protocol that the provider `custom` speaks.
    pub custom_wire: CustomWire,
    /// Headers sent to `custom` with each request. A key does not belong here: it is set as one.
    pub custom_headers: BTreeMap<String, String>,
    /// The header in which the bare key goes to `custom`, for example `api-key`; where it is empty, the key goes as the
    /// wire's own vendor wants it: `authorization: Bearer KEY`, `x-api-key`, `x-goog-api-key`.
    pub custom_key_header: String,
    /// First tried; on 404 or 400 `v1beta` is tried and remembered.
    pub gemini_api_version: String,
    /// How finely Gemini looks at pictures.
    pub media_resolution: MediaResolution,
    /// The longest answer, in tokens; 0 for the provider's own bound.
    pub max_output: u32,
    /// What Ollama keeps in view, in tokens; 0 for as much as a run needs.
    pub ollama_context: u32,
    /// Models that act by their vendor's own computer tool in place of ours, where there is one.
    pub vendor_tools: BTreeSet<ModelId>,
    pub mode: Mode,
    pub approval: ApprovalMode,
    /// Runs that ask may propose a plan, and work unasked within what their user agreed to.
    pub plan: bool,
    /// Turns a run may take before it asks whether it may go on.
    pub max_steps: u32,
    /// Minutes of work a run may take before it asks; 0 for no bound.
    pub max_minutes: u32,
    /// Tokens, cached ones too; 0 for no bound.
    pub max_tokens: u64,
    /// US dollars, as far as costs are known; 0 for no bound.
    pub max_cost: Usd,
    /// How many agents stand above each other at the most; 1 for agents that have none below them.
    pub agent_depth: u32,
    /// Agents at work for one agent at a time.
    pub agent_children: u32,
    /// Agents at work at a time that other agents started, in all.
    pub agents: u32,
    /// The model of agents that other agents start; empty for the model of the one that starts them.
    pub agent_model: String,
    /// Whether a run that Miki ended in the middle of goes on by itself at the next start.
    pub carry_on: bool,
    /// Pause between steps, so that a person can follow and step in.
    pub step_delay_ms: u64,
    /// Pause between the parts of a batch.
    pub batch_delay_ms: u64,
    pub jpeg_quality: u8,
    pub tool_timeout_ms: u64,
    /// Longest wait for the screen to come to rest after an act, before its effect is judged.
    pub settle_ms: u64,
    /// Tries again of a call that only looks.
    pub tool_retries: u32,
    /// Silence on an approval becomes a no after this.
    pub approval_deadline_ms: u64,
    /// The pointer in the top left corner stops everything.
    pub failsafe: bool,
    /// The user's own mouse or keyboard pauses the run.
    pub pause_on_user_input: bool,
    /// Agents act with a pointer and a keyboard of their own where the system has that, so that the user's stay the user's.
    pub own_hands: bool,
    /// The system tells of a question while the user is in none of the windows.
    pub notifications: bool,
    /// Displays that may be acted on, by index; all where empty.
    pub fence_displays: Vec<u32>,
    /// Applications that may be acted on, by parts of their names; all where empty.
    pub fence_apps: Vec<String>,
    /// Applications that are never acted on, by parts of their names.
    pub never_apps: Vec<String>,
    /// Applications of which each act is asked about, by parts of their names, in every approval mode.
    pub ask_apps: Vec<String>,
    /// What the user allowed beyond a session, in runs that ask once for a tool.
    pub grants: Vec<StandingGrant>,
    /// Messages of history sent to a model.
    pub history_messages: u32,
    /// Characters of one text in the history.
    pub history_text_chars: u32,
    /// Characters of one result's data in the history.
    pub history_data_chars: u32,
    /// Elements in one snapshot.
    pub ui_nodes: u32,
    /// Actions in one batch.
    pub batch_actions: u32,
    /// The folder that new sessions' files and commands are confined to: absolute, or below `~/`. Made when it is first
    /// needed.
    pub space: String,
    /// What `webSearch` asks.
    pub search_engine: SearchEngine,
    /// The id of the user's own engine at Google (`cx`).
    pub search_engine_id: String,
    /// Where the user's SearXNG is.
    pub search_url: String,
    /// Where calendars are kept (CalDAV); empty where there are none, or the system's own are used.
    pub calendar_url: String,
    /// Who opens them there; the password is a key, `caldav`.
    pub calendar_user: String,
    /// The calendar that new events go to, by its name; where it is empty, the first that takes any.
    pub calendar: String,
    /// Servers of the Model Context Protocol, by the names that their tools begin with.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// The chat widget's global shortcut, as Tauri writes accelerators.
    pub shortcut: String,
    pub language: Language,
    /// The user's own words to the model, at the end of what each run is told first.
    pub custom_prompt: String,
    /// The language that a model answers in, by its tag (`ja`, `pt-BR`); where it is empty, the goal's.
    pub answer_language: String,
    /// Where the user's days begin (`Asia/Tokyo`); where it is empty, the system's.
    pub time_zone: String,
    /// Days that a deleted session can be restored.
    pub deleted_days: u32,
    /// Pictures of steps older than this many days go; 0 keeps them.
    pub picture_days: u32,
    /// Where pictures are more than this together, the oldest go; 0 keeps them.
    pub picture_megabytes: u32,
    /// In files of before it became the windows' own ([`crate::remembered`]), until they have taken it over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<Theme>,
}

/// A tool in an application that is not asked about any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StandingGrant {
    pub tool: String,
    /// As the desktop calls it.
    pub app: String,
    /// `None` if it counts until it is taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Language {
    #[default]
    English,
    Japanese,
}

/// Wire protocols that a server of the user's own may speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CustomWire {
    /// Chat Completions: vLLM, llama.cpp and most others.
    #[default]
    OpenaiChat,
    OpenaiResponses,
    Anthropic,
    Gemini,
    Ollama,
}

/// What searches the web without a browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SearchEngine {
    #[default]
    None,
    /// Google's Programmable Search: a key and the id of an engine.
    Google,
    Brave,
    /// The user's own, at an address.
    Searxng,
}

/// Gemini's names for how many tokens a picture is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaResolution {
    /// As the model has it.
    #[default]
    #[serde(rename = "none")]
    Usual,
    Low,
    Medium,
    High,
    UltraHigh,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            model: ModelId("gemini/gemini-3-flash-preview".into()),
            base_urls: BTreeMap::new(),
            custom_wire: CustomWire::default(),
            custom_headers: BTreeMap::new(),
            custom_key_header: String::new(),
            gemini_api_version: "v1".into(),
            media_resolution: MediaResolution::default(),
            max_output: 0,
            ollama_context: 0,
            vendor_tools: BTreeSet::new(),
            mode: Mode::Act,
            approval: ApprovalMode::Ask,
            plan: true,
            max_steps: 30,
            max_minutes: 0,
            max_tokens: 0,
            max_cost: Usd(0),
            agent_depth: 3,
            agent_children: 5,
            agents: 20,
            agent_model: String::new(),
            carry_on: false,
            step_delay_ms: 0,
            batch_delay_ms: 200,
            jpeg_quality: 85,
            tool_timeout_ms: 30_000,
            settle_ms: 800,
            tool_retries: 3,
            approval_deadline_ms: 600_000,
            failsafe: true,
            pause_on_user_input: true,
            own_hands: false,
            notifications: true,
            fence_displays: Vec::new(),
            fence_apps: Vec::new(),
            never_apps: Vec::new(),
            ask_apps: Vec::new(),
            grants: Vec::new(),
            history_messages: 24,
            history_text_chars: 1_000,
            history_data_chars: 2_000,
            ui_nodes: 200,
            batch_actions: 8,
            space: "~/Miki".into(),
            search_engine: SearchEngine::default(),
            search_engine_id: String::new(),
            search_url: String::new(),
            calendar_url: String::new(),
            calendar_user: String::new(),
            calendar: String::new(),
            mcp_servers: BTreeMap::new(),
            shortcut: "CmdOrCtrl+Shift+Space".into(),
            language: Language::English,
            custom_prompt: String::new(),
            answer_language: String::new(),
            time_zone: String::new(),
            deleted_days: 30,
            picture_days: 0,
            picture_megabytes: 0,
            theme: None,
        }
    }
}

/// Why a text names no folder that sessions may work in, as far as its letters tell: whoever opens it looks closer.
///
/// # Errors
/// In words, after its name.
pub fn space_path(path: &str) -> Result<(), &'static str> {
    let is_absolute = path.starts_with('/') || path.get(1..3).is_some_and(|at| matches!(at, ":\\" | ":/"));
    if !is_absolute && !path.starts_with("~/") {
        return Err("is neither absolute nor below ~/");
    }
    if path.split(['/', '\\']).any(|part| part == "..") {
        return Err("has `..` in it");
    }
    if path.chars().any(char::is_control) || path.len() > 4_096 {
        return Err("is no path");
    }
    Ok(())
}

fn is_web(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && !rest.contains(['@', ' ']))
}

/// Whether a text is modifiers and one key, joined by `+`, as Tauri reads accelerators; a function key may stand alone.
/// Keys have many names: of one only the form is looked at.
fn is_shortcut(text: &str) -> bool {
    const MODIFIERS: [&str; 14] = [
        "ALT",
        "ALTGR",
        "CMD",
        "CMDORCONTROL",
        "CMDORCTRL",
        "COMMAND",
        "COMMANDORCONTROL",
        "COMMANDORCTRL",
        "CONTROL",
        "CTRL",
        "META",
        "OPTION",
        "SHIFT",
        "SUPER",
    ];
    let upper = text.trim().to_uppercase();
    match upper.rsplit_once('+') {
        Some((modifiers, key)) => {
            !key.trim().is_empty() && modifiers.split('+').all(|one| MODIFIERS.contains(&one.trim()))
        }
        None => upper.strip_prefix('F').is_some_and(|number| number.parse::<u8>().is_ok()),
    }
}

/// Characters of the user's own words in each prompt.
pub const CUSTOM_PROMPT_CHARS: usize = 8_000;

/// By its form: a language, and what tells its kinds apart.
fn is_language_tag(text: &str) -> bool {
    let mut parts = text.split('-');
    let is_language =
        |part: &str| matches!(part.len(), 2 | 3) && part.bytes().all(|b| b.is_ascii_alphabetic());
    let is_kind = |part: &str| matches!(part.len(), 2..=8) && part.bytes().all(|b| b.is_ascii_alphanumeric());
    text.len() <= 35 && parts.next().is_some_and(is_language) && parts.all(is_kind)
}

/// By its form: whether there is one of this name is known where times are told. The empty one is the system's.
fn is_time_zone(text: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic())
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+'))
    };
    text.is_empty() || (text.len() <= 64 && text.split('/').count() <= 3 && text.split('/').all(is_part))
}

impl Settings {
    /// The most steps that a run may be given.
    pub const MOST_STEPS: u32 = 500;

    /// What a run may use up beside its steps.
    pub fn most(&self) -> Most {
        fn bound<T: PartialEq + Default>(value: T) -> Option<T> {
            (value != T::default()).then_some(value)
        }
        Most {
            steps: None,
            minutes: bound(self.max_minutes),
            tokens: bound(self.max_tokens),
            cost: bound(self.max_cost),
        }
    }

    /// Where acts may go.
    pub fn fence(&self) -> Fence {
        let (displays, apps) = (self.fence_displays.clone(), self.fence_apps.clone());
        Fence { displays, apps, never: self.never_apps.clone() }
    }

    /// What of `next` gives an agent more than these settings do, by its name; `None` if nothing does.
    pub fn loosened_by(&self, next: &Self) -> Option<&'static str> {
        // Exhaustive on purpose: a new setting must say here whether it can loosen anything.
        let Self {
            model: _,
            base_urls,
            custom_wire,
            custom_headers,
            custom_key_header,
            gemini_api_version: _,
            media_resolution: _,
            max_output: _,
            ollama_context: _,
            vendor_tools: _,
            mode,
            approval,
            // A plan takes the user's yes.
            plan: _,
            max_steps,
            max_minutes,
            max_tokens,
            max_cost,
            agent_depth,
            agent_children,
            agents,
            agent_model: _,
            carry_on,
            step_delay_ms: _,
            batch_delay_ms: _,
            jpeg_quality: _,
            tool_timeout_ms: _,
            settle_ms: _,
            tool_retries: _,
            approval_deadline_ms: _,
            failsafe,
            pause_on_user_input,
            own_hands,
            notifications: _,
            fence_displays: _,
            fence_apps: _,
            never_apps: _,
            ask_apps,
            grants,
            history_messages: _,
            history_text_chars: _,
            history_data_chars: _,
            ui_nodes: _,
            batch_actions: _,
            space,
            search_engine,
            search_engine_id,
            search_url,
            calendar_url,
            calendar_user,
            calendar,
            mcp_servers,
            shortcut: _,
            language: _,
            // The user's voice: nobody else's while an agent works.
            custom_prompt,
            answer_language: _,
            time_zone: _,
            // At least a day: nothing goes at once.
            deleted_days: _,
            picture_days: _,
            picture_megabytes: _,
            theme: _,
        } = self;
        let lower = |app: &String| app.to_lowercase();
        let is_looser_server =
            |(name, server): (&String, &McpServer)| server.is_looser_than(mcp_servers.get(name));
        let still_asks = |app: &String| next.ask_apps.iter().any(|part| lower(app).contains(&lower(part)));
        let checks = [
            ("approval", next.approval > *approval),
            ("mode", next.mode > *mode),
            ("maxSteps", next.max_steps > *max_steps),
            ("maxMinutes", is_looser(&next.max_minutes, max_minutes)),
            ("maxTokens", is_looser(&next.max_tokens, max_tokens)),
            ("maxCost", is_looser(&next.max_cost, max_cost)),
            ("agentDepth", next.agent_depth > *agent_depth),
            ("agentChildren", next.agent_children > *agent_children),
            ("agents", next.agents > *agents),
            ("carryOn", next.carry_on && !carry_on),
            ("failsafe", *failsafe && !next.failsafe),
            ("pauseOnUserInput", *pause_on_user_input && !next.pause_on_user_input),
            // The user sees less of what it does.
            ("ownHands", next.own_hands && !own_hands),
            ("fence", !next.fence().is_within(&self.fence())),
            ("askApps", !ask_apps.iter().all(still_asks)),
            ("grants", !next.grants.iter().all(|grant| grants.contains(grant))),
            ("baseUrls", next.base_urls != *base_urls),
            ("customWire", next.custom_wire != *custom_wire),
            ("customHeaders", next.custom_headers != *custom_headers),
            ("customKeyHeader", next.custom_key_header != *custom_key_header),
            ("space", next.space != *space),
            // Where queries go, and a password.
            ("searchEngine", next.search_engine != *search_engine),
            ("searchEngineId", next.search_engine_id != *search_engine_id),
            ("searchUrl", next.search_url != *search_url),
            ("calendarUrl", next.calendar_url != *calendar_url),
            ("calendarUser", next.calendar_user != *calendar_user),
            // It may be one that others read.
            ("calendar", next.calendar != *calendar),
            ("mcpServers", next.mcp_servers.iter().any(is_looser_server)),
            ("customPrompt", next.custom_prompt != *custom_prompt),
        ];
        checks.into_iter().find_map(|(name, looser)| looser.then_some(name))
    }

    /// The same as `next`, but for what would loosen these; and the names of that.
    pub fn without_loosening(&self, mut next: Self) -> (Self, Vec<&'static str>) {
        let mut kept = Vec::new();
        while let Some(name) = self.loosened_by(&next) {
            kept.push(name);
            let old = self.clone();
            match name {
                "approval" => next.approval = old.approval,
                "mode" => next.mode = old.mode,
                "maxSteps" => next.max_steps = old.max_steps,
                "maxMinutes" => next.max_minutes = old.max_minutes,
                "maxTokens" => next.max_tokens = old.max_tokens,
                "maxCost" => next.max_cost = old.max_cost,
                "agentDepth" => next.agent_depth = old.agent_depth,
                "agentChildren" => next.agent_children = old.agent_children,
                "agents" => next.agents = old.agents,
                "carryOn" => next.carry_on = old.carry_on,
                "failsafe" => next.failsafe = old.failsafe,
                "pauseOnUserInput" => next.pause_on_user_input = old.pause_on_user_input,
                "ownHands" => next.own_hands = old.own_hands,
                "fence" => {
                    (next.fence_displays, next.fence_apps) = (old.fence_displays, old.fence_apps);
                    next.never_apps = old.never_apps;
                }
                "askApps" => next.ask_apps = old.ask_apps,
                "grants" => next.grants = old.grants,
                "baseUrls" => next.base_urls = old.base_urls,
                "customWire" => next.custom_wire = old.custom_wire,
                "customHeaders" => next.custom_headers = old.custom_headers,
                "customKeyHeader" => next.custom_key_header = old.custom_key_header,
                "space" => next.space = old.space,
                "searchEngine" => next.search_engine = old.search_engine,
                "searchEngineId" => next.search_engine_id = old.search_engine_id,
                "searchUrl" => next.search_url = old.search_url,
                "calendarUrl" => next.calendar_url = old.calendar_url,
                "calendarUser" => next.calendar_user = old.calendar_user,
                "calendar" => next.calendar = old.calendar,
                "mcpServers" => next.mcp_servers = old.mcp_servers,
                "customPrompt" => next.custom_prompt = old.custom_prompt,
                // One that is not known here: nothing of what came is taken.
                _ => return (old, kept),
            }
        }
        (next, kept)
    }

    /// Each number with the least and the most that it may be.
    fn ranges(&self) -> [(&'static str, u64, u64, u64); 17] {
        [
            ("maxSteps", self.max_steps.into(), 1, Self::MOST_STEPS.into()),
            ("agentDepth", self.agent_depth.into(), 1, 5),
            ("agentChildren", self.agent_children.into(), 1, 20),
            ("agents", self.agents.into(), 1, 200),
            ("stepDelayMs", self.step_delay_ms, 0, 60_000),
            ("batchDelayMs", self.batch_delay_ms, 0, 10_000),
            ("jpegQuality", self.jpeg_quality.into(), 20, 100),
            ("toolTimeoutMs", self.tool_timeout_ms, 100, 600_000),
            ("settleMs", self.settle_ms, 0, 10_000),
            ("toolRetries", self.tool_retries.into(), 0, 10),
            ("approvalDeadlineMs", self.approval_deadline_ms, 1_000, 2_592_000_000),
            ("historyMessages", self.history_messages.into(), 4, 1_000),
            ("historyTextChars", self.history_text_chars.into(), 100, 100_000),
            ("historyDataChars", self.history_data_chars.into(), 100, 1_000_000),
            ("uiNodes", self.ui_nodes.into(), 10, 5_000),
            ("batchActions", self.batch_actions.into(), 1, 50),
            ("deletedDays", self.deleted_days.into(), 1, 365),
        ]
    }

    /// The same of numbers that may be 0, too.
    fn bounds(&self) -> [(&'static str, u64, u64, u64); 6] {
        [
            ("maxMinutes", self.max_minutes.into(), 1, 10_080),
            ("maxTokens", self.max_tokens, 1_000, 10_000_000_000),
            ("maxOutput", self.max_output.into(), 256, 1_000_000),
            ("ollamaContext", self.ollama_context.into(), 2_048, 4_194_304),
            ("pictureDays", self.picture_days.into(), 1, 3_650),
            ("pictureMegabytes", self.picture_megabytes.into(), 50, 1_000_000),
        ]
    }

    /// Why these fields are no settings, in words for people: of the first that cannot be read. `None` if each can.
    pub fn fault(fields: &Map<String, Value>) -> Option<String> {
        let usual = Self { theme: Some(Theme::default()), ..Self::default() };
        let known = serde_json::to_value(&usual).unwrap_or_default();
        fields.iter().find_map(|(name, value)| {
            let alone = Map::from_iter([(name.clone(), value.clone())]);
            let error = serde_json::from_value::<Self>(Value::Object(alone)).err()?;
            let range = |all: &[(&str, u64, u64, u64)]| {
                all.iter().find(|(of, ..)| of == name).map(|(_, _, least, most)| format!("{least} to {most}"))
            };
            let wanted = match known.get(name) {
                None => return Some(format!("there is no setting {name:?}")),
                Some(Value::Number(_)) => match (range(&usual.ranges()), range(&usual.bounds())) {
                    (Some(range), _) => format!("not a whole number from {range}"),
                    (_, Some(range)) => format!("neither 0 nor a whole number from {range}"),
                    (None, None) => "not a whole number".into(),
                },
                Some(Value::Bool(_)) => "neither true nor false".into(),
                Some(Value::String(_)) if value.is_string() && name == "maxCost" => {
                    "no amount in dollars like \"0.50\"; \"0\" is no bound".into()
                }
                // Its choices are named by serde alone.
                Some(Value::String(_)) if value.is_string() => {
                    let error = error.to_string();
                    format!(
                        "not {}",
                        error.split_once("expected ").map_or(error.as_str(), |(_, choices)| choices)
                    )
                }
                Some(Value::String(_)) => "not a text in quotes".into(),
                // What of the list is wrong is said by serde alone.
                Some(Value::Array(_)) if value.is_array() => return Some(format!("setting {name}: {error}")),
                Some(Value::Array(_)) => "not a list like [] or [1] or [\"name\"]".into(),
                // What is in it may be a secret.
                Some(_) => {
                    return Some(format!(
                        "setting {name} is not an object of texts like {{\"name\": \"value\"}}"
                    ));
                }
            };
            Some(format!("setting {name} = {value} is {wanted}"))
        })
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`ErrorCode::BadRequest`] names the setting, the value and the range.
    pub fn validate(&self) -> Result<(), ErrorView> {
        for (name, value, least, most) in self.ranges() {
            if !(least..=most).contains(&value) {
                return Err(bad(format!("setting {name} = {value} is outside {least}-{most}")));
            }
        }
        for (name, value, least, most) in self.bounds() {
            if value != 0 && !(least..=most).contains(&value) {
                return Err(bad(format!("setting {name} = {value} is neither 0 nor in {least}-{most}")));
            }
        }
        if self.model.provider().is_none_or(str::is_empty) || self.model.name().is_empty() {
            return Err(bad(format!("setting model = {:?} is not PROVIDER/ID", self.model.0))
                .with_hint("for example gemini/gemini-3-flash-preview"));
        }
        for (provider, url) in &self.base_urls {
            address::check(url).map_err(|why| {
                bad(format!("setting baseUrls.{provider} = {} {why}", address::shown(url)))
                    .with_hint(why.hint())
            })?;
        }
        for (name, value) in &self.custom_headers {
            check_header(name, value)?;
        }
        for (name, server) in &self.mcp_servers {
            McpServer::validate(name, server)
                .map_err(|why| bad(format!("setting mcpServers.{} {why}", name.escape_debug())))?;
        }
        if !self.custom_key_header.bytes().all(is_of_header) {
            let message =
                format!("setting customKeyHeader = {:?} is no header's name", self.custom_key_header);
            return Err(bad(message).with_hint("for example api-key; empty where the wire's own will do"));
        }
        space_path(&self.space).map_err(|why| {
            bad(format!("setting space = {:?} {why}", self.space)).with_hint("for example ~/Miki")
        })?;
        if !self.search_url.is_empty() && !is_web(&self.search_url) {
            return Err(bad(format!("setting searchUrl = {:?} is no web address", self.search_url))
                .with_hint("for example http://localhost:8888"));
        }
        if !self.calendar_url.is_empty() {
            address::check(&self.calendar_url).map_err(|why| {
                bad(format!("setting calendarUrl = {} {why}", address::shown(&self.calendar_url)))
                    .with_hint(why.hint())
            })?;
        }
        let version = &self.gemini_api_version;
        if version.is_empty() || !version.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return Err(bad(format!(
                "setting geminiApiVersion = {version:?} is not a version like v1 or v1beta"
            )));
        }
        for (name, apps) in
            [("fenceApps", &self.fence_apps), ("neverApps", &self.never_apps), ("askApps", &self.ask_apps)]
        {
            if apps.iter().any(|app| app.trim().is_empty()) {
                return Err(bad(format!(
                    "setting {name} has an empty name, which would be part of every name"
                )));
            }
        }
        let characters = self.custom_prompt.chars().count();
        if characters > CUSTOM_PROMPT_CHARS {
            return Err(bad(format!(
                "setting customPrompt has {characters} characters; at most {CUSTOM_PROMPT_CHARS} are taken"
            )));
        }
        if !self.answer_language.is_empty() && !is_language_tag(&self.answer_language) {
            let message = format!("setting answerLanguage = {:?} is no language's tag", self.answer_language);
            return Err(
                bad(message).with_hint("for example en, ja or pt-BR; empty for the goal's own language")
            );
        }
        if !is_time_zone(&self.time_zone) {
            let message = format!("setting timeZone = {:?} is no time zone's name", self.time_zone);
            return Err(bad(message).with_hint("for example Asia/Tokyo or UTC; empty for the system's"));
        }
        if !is_shortcut(&self.shortcut) {
            let message =
                format!("setting shortcut = {:?} is no shortcut with a modifier and a key", self.shortcut);
            return Err(bad(message).with_hint("for example CmdOrCtrl+Shift+Space"));
        }
        Ok(())
    }

    /// These settings with the patch's fields in place of theirs, checked.
    ///
    /// # Errors
    /// [`ErrorCode::BadRequest`] where a value is out of range; nothing is changed then.
    pub fn patched(&self, patch: &SettingsPatch) -> Result<Self, ErrorView> {
        // That it is forgotten is all that can be said of it here.
        if patch.0.get("theme").is_some_and(|theme| !theme.is_null()) {
            return Err(bad("theme is no setting: it is the windows' own")
                .with_hint("choose it on the settings page of the dashboard"));
        }
        let mut value =
            serde_json::to_value(self).map_err(|e| bad(format!("settings cannot be written: {e}")))?;
        if let Some(fields) = value.as_object_mut() {
            for (name, field) in &patch.0 {
                fields.insert(name.clone(), field.clone());
            }
        }
        let next: Self = serde_json::from_value(value).map_err(|error| {
            bad(Self::fault(&patch.0).unwrap_or_else(|| format!("the settings cannot be read: {error}")))
        })?;
        next.validate()?;
        Ok(next)
    }
}

/// Fields of [`Settings`] to change, by their JSON names. Unknown names are refused by [`Settings::patched`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SettingsPatch(pub Map<String, Value>);

fn bad(message: impl Into<String>) -> ErrorView {
    ErrorView::new(ErrorCode::BadRequest, message)
}

/// What the name of a header that holds a key says, somewhere.
const OF_KEYS: [&str; 7] = ["key", "token", "auth", "secret", "cookie", "password", "credential"];

/// Whether what has this name is likely a key.
pub fn is_of_keys(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    OF_KEYS.iter().any(|word| lower.contains(word))
}

fn check_header(name: &str, value: &str) -> Result<(), ErrorView> {
    if name.is_empty() || !name.bytes().all(is_of_header) {
        return Err(bad(format!("setting customHeaders has {name:?}, which is no header's name")));
    }
    if !value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return Err(bad(format!("setting customHeaders.{name} has a value that no header can have")));
    }
    if is_of_keys(name) {
        return Err(bad(format!("setting customHeaders.{name} would keep a key in a file")).with_hint(
            "set it as a key, which goes to the keychain: miki key set custom; customKeyHeader names its header",
        ));
    }
    Ok(())
}

fn is_of_header(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)
}

#[cfg(test)]
mod tests;
