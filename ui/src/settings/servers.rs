//! Servers of the Model Context Protocol: what each runs, how it is, and what each of its tools may do. They are connected
//! on the command line, where what is run is shown first.

use std::collections::{BTreeMap, BTreeSet};

use leptos::prelude::*;
use protocol::command::{FillPrompt, ListServers, TestServer, UpdateSettings};
use protocol::escape::visible_text;
use protocol::mcp::{
    Agreed, AgreedTool, McpServer, PromptField, PromptView, ServerState, ServerToolView, ServerView, ToolDoes,
};
use protocol::remembered::Tab;
use protocol::settings::SettingsPatch;

use crate::store::store;
use crate::words::Word;

/// What stands in the blanks of prompts, by server, prompt and blank.
type Filled = BTreeMap<(String, String, String), String>;

#[component]
pub fn Servers() -> impl IntoView {
    let store = store();
    let settings = store.memo(|state| state.overview.settings.mcp_servers.clone());
    let servers = RwSignal::new(Vec::<ServerView>::new());
    // Whatever is changed, here or on the command line, is told anew.
    Effect::new(move |_| {
        settings.track();
        store.send_then(ListServers {}, move |found| servers.set(found));
    });
    // A server that is told anew stays as open as it was.
    let opened = RwSignal::new(BTreeSet::<String>::new());
    let filled = RwSignal::new(Filled::new());
    let row = move |server: ServerView| view! { <ServerRow server servers settings opened filled /> };
    view! {
            <section class="group servers">
                <h2>{move || store.say(Word::Connections)}</h2>
                <Show
                    when=move || !servers.with(Vec::is_empty)
                    fallback=move || {
                        view! {
                            <p class="faint">
                                {move || store.say(Word::NoServers)} " "
                                <code>"miki mcp add NAME -- PROGRAM"</code>
                            </p>
                        }
                    }
                >
                    <ul class="rows">
    {move || servers.get().into_iter().map(row).collect_view()}
                    </ul>
                </Show>
            </section>
        }
}

/// Parts of a server's row that open, and the name of one.
const TOOLS: &str = "tools";
const PROMPTS: &str = "prompts";

fn key(server: &str, part: &str) -> String {
    format!("{server}/{part}")
}

/// Changes the servers of the settings.
fn change(
    settings: Memo<BTreeMap<String, McpServer>>,
    sending: RwSignal<bool>,
    change: impl FnOnce(&mut BTreeMap<String, McpServer>),
) {
    let store = store();
    let mut all = settings.get_untracked();
    change(&mut all);
    let Ok(all) = serde_json::to_value(all) else { return };
    let patch = SettingsPatch([("mcpServers".to_owned(), all)].into_iter().collect());
    sending.set(true);
    store.send_or(UpdateSettings { patch }, move |_| sending.set(false), sending);
}

#[component]
fn ServerRow(
    server: ServerView,
    servers: RwSignal<Vec<ServerView>>,
    settings: Memo<BTreeMap<String, McpServer>>,
    opened: RwSignal<BTreeSet<String>>,
    filled: RwSignal<Filled>,
) -> impl IntoView {
    let store = store();
    let sending = RwSignal::new(false);
    let name = StoredValue::new(server.name.clone());
    let is_open = |part: &str| opened.with_untracked(|opened| opened.contains(&key(&server.name, part)));
    let (tools_open, prompts_open) = (is_open(TOOLS), is_open(PROMPTS));
    let toggle = move |part: &'static str| {
        opened.update(|opened| {
            let part = key(&name.get_value(), part);
            if !opened.remove(&part) {
                opened.insert(part);
            }
        });
    };
    let is_off = server.state == ServerState::Off;
    let test = move |_| {
        sending.set(true);
        let asked = TestServer { server: name.get_value() };
        let told = move |tested: ServerView| {
            sending.set(false);
            servers.update(|all| {
                if let Some(one) = all.iter_mut().find(|one| one.name == tested.name) {
                    *one = tested;
                }
            });
        };
        store.send_or(asked, told, sending);
    };
    let switch = move |_| {
        change(settings, sending, |all| {
            if let Some(one) = all.get_mut(&name.get_value()) {
                one.off = !is_off;
            }
        });
    };
    let remove = move |_| {
        change(settings, sending, |all| {
            all.remove(&name.get_value());
        });
    };
    let (state, why) = match &server.state {
        ServerState::Off => (Word::ServerOff, None),
        ServerState::Idle => (Word::ServerIdle, None),
        ServerState::Connected => (Word::ServerConnected, None),
        ServerState::Failed { why, .. } => (Word::ServerFailed, Some(visible_text(why))),
    };
    let is_failed = why.is_some();
    let log = server.log.iter().map(|line| visible_text(line)).collect::<Vec<_>>().join("\n");
    let tools = server.tools.clone();
    let count = tools.len().to_string();
    let rows = move || {
        let row = |tool: ServerToolView| view! { <ToolRow server=name tool settings sending /> };
        tools.clone().into_iter().map(row).collect_view()
    };
    let prompt_count = server.prompts.len().to_string();
    let prompt = move |prompt: PromptView| view! { <PromptRow server=name prompt filled sending is_off /> };
    let prompts = server.prompts.into_iter().map(prompt).collect_view();
    view! {
        <li class="server" class:failed=is_failed>
            <div class="server-head">
                <div class="label-of">
                    <span>
                        <strong>{server.name.clone()}</strong>
                        " "
                        <span class="faint">{visible_text(&server.called)}</span>
                    </span>
                    <code class="runs">{visible_text(&server.runs)}</code>
                    <Show when=move || server.unconfined>
                        <span class="warning">{move || store.say(Word::ServerUnconfined)}</span>
                    </Show>
                </div>
                <span class="server-state">{move || store.say(state)}</span>
                <span class="buttons">
                    <button disabled=move || sending.get() || is_off on:click=test>
                        {move || store.say(Word::TestServer)}
                    </button>
                    <button disabled=move || sending.get() on:click=switch>
                        {move || store.say(if is_off { Word::SwitchOn } else { Word::SwitchOff })}
                    </button>
                    <button disabled=move || sending.get() on:click=remove>
                        {move || store.say(Word::RemoveServer)}
                    </button>
                </span>
            </div>
            {why.map(|why| view! { <p class="wrong" role="status">{why}</p> })}
            <Show when={
                let none = server.tools.is_empty();
                move || !none
            }>
                <details open=tools_open>
                    <summary on:click=move |_| toggle(TOOLS)>
                        {
                            let count = count.clone();
                            move || store.fill(Word::ServerTools, &[("n", &count)])
                        }
                    </summary>
                    <ul class="tools">{rows.clone()}</ul>
                </details>
            </Show>
            {(prompt_count != "0").then(|| view! {
                <details open=prompts_open>
                    <summary on:click=move |_| toggle(PROMPTS)>{move || store.fill(Word::ServerPrompts, &[("n", &prompt_count)])}</summary>
                    <ul class="tools">{prompts}</ul>
                </details>
            })}
            {(!log.is_empty()).then(|| view! {
                <details class="log">
                    <summary>{move || store.say(Word::ServerLog)}</summary>
                    <pre tabindex="0">{log}</pre>
                </details>
            })}
        </li>
    }
}

/// A prompt with its blanks: filled in, it stands in the goal field, where its user reads it before anything is done with it.
#[component]
fn PromptRow(
    server: StoredValue<String>,
    prompt: PromptView,
    filled: RwSignal<Filled>,
    sending: RwSignal<bool>,
    is_off: bool,
) -> impl IntoView {
    let store = store();
    let PromptView { name, about, fields } = prompt;
    let place = {
        let prompt = name.clone();
        move |blank: &str| (server.get_value(), prompt.clone(), blank.to_owned())
    };
    let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
    let (shown, prompt) = (visible_text(&name), name.clone());
    let take = {
        let place = place.clone();
        move |event: leptos::ev::SubmitEvent| {
            event.prevent_default();
            let typed = |name: &String| {
                let text = filled.with_untracked(|filled| filled.get(&place(name)).cloned())?;
                (!text.is_empty()).then(|| (name.clone(), text))
            };
            let fields = names.iter().filter_map(typed).collect();
            let asked = FillPrompt { server: server.get_value(), prompt: name.clone(), fields };
            sending.set(true);
            let goal = move |text: String| {
                sending.set(false);
                // Whoever has gone on to something else is not to find a server's words in it.
                if store.tab.get_untracked() != Tab::Settings {
                    return;
                }
                store.show_new();
                // What stands there already is not lost.
                store.typed.update(|typed| {
                    let before = if typed.is_empty() { String::new() } else { format!("{typed}\n\n") };
                    *typed = before + &text;
                });
                store.tab.set(Tab::Work);
            };
            store.send_or(asked, goal, sending);
        }
    };
    let blank = move |field: PromptField| {
        let PromptField { name, about, is_required } = field;
        let place = place(&name);
        let (of, value) = (place.clone(), filled.with_untracked(|filled| filled.get(&place).cloned()));
        let fill =
            move |event| filled.update(|filled| drop(filled.insert(of.clone(), event_target_value(&event))));
        let optional = (!is_required).then(|| {
            view! { " " <span class="faint">{move || store.say(Word::OptionalBlank)}</span> }
        });
        view! {
            <label class="blank">
                <span>{visible_text(&name)}{optional}</span>
                <input type="text" prop:value=value.unwrap_or_default() required=is_required on:input=fill />
                <span class="faint about">{visible_text(&about)}</span>
            </label>
        }
    };
    view! {
        <li>
            <form class="tool" on:submit=take>
                <div class="label-of">
                    <span>{shown}</span>
                    <span class="faint about">{visible_text(&about)}</span>
                    {fields.into_iter().map(blank).collect_view()}
                </div>
                <button
                    type="submit"
                    disabled=move || sending.get() || is_off
                    aria-label=move || format!("{}: {}", store.say(Word::UsePrompt), visible_text(&prompt))
                >
                    {move || store.say(Word::UsePrompt)}
                </button>
            </form>
        </li>
    }
}

/// What may be said of a tool, in the order of the list: not to be used, asked each time, allowed for a session, never asked.
const CHOICES: [(&str, Option<ToolDoes>, Word); 4] = [
    ("none", None, Word::ToolUnused),
    ("anything", Some(ToolDoes::Anything), Word::ToolAnything),
    ("edits", Some(ToolDoes::Edits), Word::ToolEdits),
    ("looks", Some(ToolDoes::Looks), Word::ToolLooks),
];

#[component]
fn ToolRow(
    server: StoredValue<String>,
    tool: ServerToolView,
    settings: Memo<BTreeMap<String, McpServer>>,
    sending: RwSignal<bool>,
) -> impl IntoView {
    let store = store();
    let now = match tool.agreed {
        Agreed::Yes { does } => Some(does),
        Agreed::No | Agreed::Changed => None,
    };
    let has_changed = tool.agreed == Agreed::Changed;
    let (raw, hash) = (tool.name.clone(), tool.hash.clone());
    let choose = move |event| {
        let chosen = event_target_value(&event);
        let does = CHOICES.iter().find(|(value, ..)| *value == chosen).and_then(|(_, does, _)| *does);
        change(settings, sending, |all| {
            let Some(server) = all.get_mut(&server.get_value()) else { return };
            match does {
                Some(does) => drop(server.tools.insert(raw.clone(), AgreedTool { hash: hash.clone(), does })),
                None => drop(server.tools.remove(&raw)),
            }
        });
    };
    let options = CHOICES.map(|(value, does, word)| {
        view! {
            <option value=value selected=does == now>
                {move || store.say(word)}
            </option>
        }
    });
    view! {
        <li class="tool">
            <div class="label-of">
                <span>{visible_text(&tool.name)}</span>
                <span class="faint about">{visible_text(&tool.description)}</span>
                <code class="faint about">{visible_text(&tool.schema)}</code>
                <Show when=move || has_changed>
                    <span class="warning">{move || store.say(Word::ToolChanged)}</span>
                </Show>
            </div>
            <select
                aria-label=visible_text(&tool.name)
                disabled=move || sending.get()
                on:change=choose
            >
                {options.into_iter().collect_view()}
            </select>
        </li>
    }
}
