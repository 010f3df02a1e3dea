//! What a user reads of a server: its state, what it runs, what keeps it from working, and its tools.

use protocol::mcp::{Agreed, PromptView, ServerState, ServerToolView, ServerView, ToolDoes};

use crate::cli::tell;
use crate::cli::text::{plain, prose};

pub fn show(view: &ServerView) {
    tell(&format!("{}{}", shown(view), fault(view)));
}

/// A server and what it runs.
fn shown(view: &ServerView) -> String {
    let bare = if view.unconfined { "  (not in the sandbox)" } else { "" };
    format!("{}\n  {}{bare}", state(view), plain(&view.runs))
}

pub fn state(view: &ServerView) -> String {
    let state = match &view.state {
        ServerState::Off => format!("off (miki mcp on {})", view.name),
        ServerState::Idle => "not started".to_owned(),
        ServerState::Connected => "connected".to_owned(),
        ServerState::Failed { again_in: 0, .. } => "does not work".to_owned(),
        ServerState::Failed { again_in, .. } => {
            format!("does not work; next try in {again_in} s at the earliest")
        }
    };
    let agreed = view.tools.iter().filter(|tool| matches!(tool.agreed, Agreed::Yes { .. })).count();
    let tools = match (view.tools.len(), &view.state) {
        (0, ServerState::Connected) => "; it offers no tools".to_owned(),
        // Nobody has asked it.
        (0, _) => String::new(),
        (all, _) => format!("; {agreed} of {all} tools agreed to"),
    };
    let called = if view.called.is_empty() { String::new() } else { format!(" ({})", view.called) };
    format!("{}{}: {}{tools}", plain(&view.name), plain(&called), plain(&state))
}

/// What keeps it from working, on lines of its own.
pub fn fault(view: &ServerView) -> String {
    let ServerState::Failed { why, .. } = &view.state else { return String::new() };
    let last = view.log.len().saturating_sub(5);
    // The last line stands in the reason, mostly.
    let more = view.log[last..].iter().filter(|line| !why.contains(line.as_str()));
    let more: String = more.map(|line| format!("\n    {}", plain(line))).collect();
    format!("\n  {}{more}", plain(why))
}

pub fn show_prompt(prompt: &PromptView) {
    let fields = prompt.fields.iter().map(|field| {
        let name = plain(&field.name);
        if field.is_required { format!(" {name}=…") } else { format!(" [{name}=…]") }
    });
    tell(&format!("  prompt {}{}", plain(&prompt.name), fields.collect::<String>()));
    prose(&prompt.about).lines().for_each(|line| tell(&format!("      {line}")));
}

pub fn show_tool(tool: &ServerToolView) {
    let state = match tool.agreed {
        Agreed::No => "not agreed to",
        Agreed::Changed => "CHANGED since you agreed to it",
        Agreed::Yes { does: ToolDoes::Looks } => "never asked about",
        Agreed::Yes { does: ToolDoes::Edits } => "asked about, or allowed for a session",
        Agreed::Yes { does: ToolDoes::Anything } => "asked about each time",
    };
    tell(&format!("  {} ({state})", plain(&tool.name)));
    prose(&tool.description).lines().for_each(|line| tell(&format!("      {line}")));
    tell(&format!("      takes {}", plain(&tool.schema)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(state: ServerState, tools: Vec<ServerToolView>, log: &[&str]) -> ServerView {
        ServerView {
            name: "files".into(),
            called: String::new(),
            state,
            runs: "mcp-files ~/Documents".into(),
            unconfined: false,
            tools,
            prompts: Vec::new(),
            log: log.iter().map(|line| (*line).to_owned()).collect(),
        }
    }

    fn tool(agreed: Agreed) -> ServerToolView {
        let [name, tool] = ["look", "files--look"].map(str::to_owned);
        let [description, schema, hash] = ["Looks", "{}", "1"].map(str::to_owned);
        ServerToolView { name, tool, description, schema, hash, agreed }
    }

    #[test]
    fn a_server_that_does_not_start_says_why_once() {
        let why = "it ended before it said what it is; it wrote: cannot find module x".to_owned();
        let failed = ServerState::Failed { why, again_in: 0 };
        assert_eq!(
            fault(&view(failed.clone(), Vec::new(), &["starting", "cannot find module x"])),
            "\n  it ended before it said what it is; it wrote: \
             cannot find module x\n    starting"
        );
        let program = shown(&view(failed, Vec::new(), &[]));
        assert_eq!(program, "files: does not work\n  mcp-files ~/Documents");
    }

    #[test]
    fn tools_are_counted_only_where_they_are_known() {
        let first = |now, tools| state(&view(now, tools, &[]));
        assert_eq!(first(ServerState::Idle, Vec::new()), "files: not started");
        assert_eq!(first(ServerState::Connected, Vec::new()), "files: connected; it offers no tools");
        let one = vec![tool(Agreed::Yes { does: ToolDoes::Looks }), tool(Agreed::No)];
        assert_eq!(first(ServerState::Connected, one), "files: connected; 1 of 2 tools agreed to");
        assert_eq!(first(ServerState::Off, Vec::new()), "files: off (miki mcp on files)");
    }
}
