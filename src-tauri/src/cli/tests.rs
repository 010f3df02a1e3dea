//! What the command line takes.

use clap::CommandFactory;

use super::*;

fn code(line: &[&str]) -> Option<i32> {
    Line::try_parse_from(line).err().map(|error| error.exit_code())
}

#[test]
fn the_definition_is_sound() {
    Line::command().debug_assert();
}

#[test]
fn wrong_usage_is_code_2() {
    for line in [
        &["miki", "fly"][..],
        &["miki", "run"],
        &["miki", "run", "goal", "--mode", "dream"],
        &["miki", "run", "goal", "--max-steps", "0"],
        &["miki", "run", "goal", "--max-steps", "many"],
        &["miki", "run", "goal", "--max-minutes", "-1"],
        &["miki", "run", "goal", "--max-cost", "$1"],
        &["miki", "run", "goal", "--model", "no-slash"],
        &["miki", "run", ""],
        &["miki", "ps", "--all"],
        &["miki", "stop", ""],
        &["miki", "stop", "r-"],
        &["miki", "stop", "r-1", "r-2"],
        &["miki", "undo", "everything"],
        &["miki", "mcp", "add", "files"],
        &["miki", "approvals", "answer", "q-1"],
        &["miki", "approvals", "answer", "q-1", "perhaps"],
        &["miki", "approvals", "answer", "q-1", "yes", "the-key-itself"],
        &["miki", "do"],
        &["miki", "do", "click"],
        &["miki", "do", "--list", "click", "{}"],
        &["miki", "do", "click", "{not json"],
        &["miki", "do", "click", "[1]"],
        &["miki", "key", "set"],
        &["miki", "key", "set", "gemini", "the-key-itself"],
        &["miki", "key", "set", "gemnii"],
        &["miki", "secret", "set", "bank"],
        &["miki", "secret", "set", "bank", "the-value", "--for", "https://bank.example"],
        &["miki", "model", "decode", "--wire", "telex", "x.sse"],
        &["miki", "model", "decode", "x.sse"],
        &["miki", "model", "list", "gemnii"],
        &["miki", "model", "list", "--base-url", "http://127.0.0.1:1"],
        &["miki", "model", "test", "no-slash"],
        &["miki", "session"],
        &["miki", "session", "search"],
        &["miki", "session", "list", "--archived", "--deleted"],
        &["miki", "session", "list", "--limit", "0"],
        &["miki", "session", "rename", "last"],
        &["miki", "session", "export", "last", "--format", "pdf"],
        &["miki", "doctor", "--jsno"],
    ] {
        assert_eq!(code(line), Some(2), "{line:?}");
    }
}

#[test]
fn help_and_version_are_code_0() {
    for line in [["miki", "--help"], ["miki", "--version"], ["miki", "help"]] {
        assert_eq!(code(&line), Some(0), "{line:?}");
    }
}

#[test]
fn right_usage_is_read() {
    for line in [
        &["miki"][..],
        &["miki", "run", "goal"],
        &["miki", "run", "goal", "--json", "--mode", "plan", "--approval", "auto", "--model", "gemini/x"],
        &["miki", "run", "goal", "--base-url", "http://127.0.0.1:8080", "--max-steps", "3"],
        &["miki", "run", "goal", "--max-minutes", "10", "--max-tokens", "90000", "--max-cost", "0.50"],
        &["miki", "ps"],
        &["miki", "ps", "--json"],
        &["miki", "stop"],
        &["miki", "stop", "r-0193f4c2"],
        &["miki", "stop", "0193f4c2"],
        &["miki", "do", "click", r#"{"x":1,"y":2}"#],
        &["miki", "approvals"],
        &["miki", "approvals", "--json"],
        &["miki", "approvals", "list", "--json"],
        &["miki", "approvals", "key", "status"],
        &["miki", "undo", "r-0193"],
        &["miki", "undo", "c-0193"],
        &["miki", "approvals", "show", "0193"],
        &["miki", "approvals", "answer", "0193", "yes"],
        &["miki", "approvals", "key", "new"],
        &["miki", "do", "--list"],
        &["miki", "key", "status"],
        &["miki", "key", "status", "gemini"],
        &["miki", "key", "set", "custom", "--for", "https://models.example/v1"],
        &["miki", "key", "delete", "gemini"],
        &["miki", "key", "migrate"],
        &["miki", "key", "migrate", "old/.env"],
        &["miki", "model", "decode", "--wire", "openai-responses", "x.sse"],
        &["miki", "model", "list"],
        &["miki", "model", "list", "ollama"],
        &["miki", "model", "list", "custom"],
        &["miki", "model", "list", "custom", "--base-url", "http://127.0.0.1:1"],
        &["miki", "model", "test", "openrouter/x-ai/grok-4.7"],
        &["miki", "secret", "set", "bank", "--for", "https://bank.example"],
        &["miki", "secret", "list"],
        &["miki", "session", "list", "--json"],
        &["miki", "session", "search", "two", "words", "--limit", "3"],
        &["miki", "session", "branch", "last", "--at", "12"],
        &["miki", "session", "export", "last", "-o", "x.html", "--no-pictures"],
        &["miki", "session", "import", "x.jsonl"],
        &["miki", "doctor", "--json"],
        &["miki", "watchdog"],
    ] {
        assert_eq!(code(line), None, "{line:?}");
    }
}

/// A command and all below it.
fn all(command: &clap::Command) -> Vec<clap::Command> {
    let below = command.get_subcommands().flat_map(all);
    std::iter::once(command.clone()).chain(below).collect()
}

#[test]
fn the_help_of_each_command_fits_a_terminal_and_breaks_no_word() {
    let mut line = Line::command();
    line.build();
    for mut command in all(&line) {
        let name = command.get_name().to_owned();
        for help in [command.render_help(), command.render_long_help()] {
            let whole = help.to_string();
            for (text, columns) in [(whole.clone(), 80), (help.ansi().to_string(), 60)] {
                let told = width::wrapped_prose(&text, Some(columns));
                let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
                assert_eq!(words(&told), words(&text), "{name}");
            }
            let told = width::wrapped_prose(&whole, Some(80));
            let wide = told.lines().find(|line| line.chars().count() > 80);
            assert_eq!(wide, None, "{name}");
        }
    }
}
