//! Servers in other programs' configurations: Claude Desktop's, Cursor's and Gemini CLI's `mcpServers`, VS Code's `servers`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use protocol::command::Secret;
use protocol::mcp::{McpServer, NAME_CHARS, check_header};
use protocol::settings::is_of_keys;
use serde::Deserialize;
use serde_json::{Value, json};

/// A server as another program has it.
pub struct Imported {
    /// As it may be called here.
    pub name: String,
    pub server: McpServer,
    /// Values of its variables that look like keys, and of its headers: for the keychain.
    pub keys: Vec<(String, Secret)>,
    /// What of it is not taken over.
    pub notes: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Theirs {
    command: String,
    args: Vec<String>,
    env: BTreeMap<String, Value>,
    url: String,
    http_url: String,
    headers: BTreeMap<String, Value>,
}

/// Where a program keeps its servers; `None` if it is none that is known.
pub fn file_of(client: &str) -> Option<PathBuf> {
    let home = std::env::home_dir()?;
    let config = if cfg!(target_os = "macos") {
        home.join("Library/Application Support")
    } else if cfg!(windows) {
        PathBuf::from(std::env::var_os("APPDATA")?)
    } else {
        std::env::var_os("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from)
    };
    Some(match client {
        "claude-desktop" => config.join("Claude/claude_desktop_config.json"),
        "vscode" => config.join("Code/User/mcp.json"),
        "cursor" => home.join(".cursor/mcp.json"),
        "gemini-cli" => home.join(".gemini/settings.json"),
        _ => return None,
    })
}

/// Reads such a file.
///
/// # Errors
/// Why there is no server to be read in it.
pub fn read(text: &str) -> Result<Vec<Imported>, String> {
    let whole: Value = serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
    let servers = ["mcpServers", "servers"].into_iter().find_map(|field| whole.get(field)?.as_object());
    let servers = servers.ok_or("it has neither mcpServers nor servers")?;
    let mut all: Vec<Imported> = Vec::new();
    for (theirs, value) in servers {
        let read: Theirs =
            serde_json::from_value(value.clone()).map_err(|error| format!("{theirs:?}: {error}"))?;
        let mut one = taken(theirs, read);
        while all.iter().any(|other| other.name == one.name) {
            one.name = format!("{}2", one.name.chars().take(NAME_CHARS - 1).collect::<String>());
        }
        all.push(one);
    }
    Ok(all)
}

/// A client's configuration with a server of ours in it, and the lines that this adds.
///
/// # Errors
/// Its file is in no form that can be added to.
pub fn with_server(
    client: &str,
    text: &str,
    name: &str,
    command: &str,
    args: &[&str],
) -> Result<String, String> {
    let mut whole: Value = match text.trim() {
        "" => json!({}),
        text => serde_json::from_str(text).map_err(|error| {
            format!("its configuration has comments or is no JSON ({error}); add the server by hand")
        })?,
    };
    let mut server = json!({ "command": command, "args": args });
    let field = if client == "vscode" { "servers" } else { "mcpServers" };
    if client == "vscode" {
        server["type"] = "stdio".into();
    }
    let fields =
        whole.as_object_mut().ok_or("its configuration is no JSON object; add the server by hand")?;
    let servers = fields.entry(field).or_insert_with(|| json!({}));
    let servers = servers.as_object_mut().ok_or_else(|| format!("its {field} is no object"))?;
    servers.insert(name.to_owned(), server);
    let mut written = serde_json::to_string_pretty(&whole).map_err(|error| error.to_string())?;
    written.push('\n');
    Ok(written)
}

fn taken(theirs: &str, read: Theirs) -> Imported {
    let mut notes = Vec::new();
    let name = name_of(theirs);
    if name != theirs {
        notes.push(format!("called {theirs:?} there"));
    }
    let mut server = McpServer { command: read.command, args: read.args, ..McpServer::default() };
    server.url = if read.http_url.is_empty() { read.url } else { read.http_url };
    let is_program = server.url.is_empty();
    let mut keys = Vec::new();
    for (variable, value) in read.env {
        let value = text_of(value);
        if !is_program {
            notes.push(format!("{variable} is not taken over: a server at an address has no variables"));
        // What a program asks its user for, or reads from elsewhere, is not here.
        } else if value.contains("${") {
            notes.push(format!("{variable} is read from elsewhere ({value}); set it with --env or --key"));
        } else if is_of_keys(&variable) {
            server.keys.insert(variable.clone());
            keys.push((variable, Secret(value)));
        } else {
            server.env.insert(variable, value);
        }
    }
    // Whatever it is called, it may be a key.
    for (header, value) in read.headers {
        let value = text_of(value);
        if is_program {
            notes.push(format!("{header} is not taken over: a program gets no headers"));
        } else if let Err(why) = check_header(&header) {
            notes.push(format!("{header} is not taken over: it {why}"));
        } else if value.contains("${") {
            notes.push(format!("{header} is read from elsewhere ({value}); connect it with --key {header}"));
        } else if server.keys.iter().any(|other| other.eq_ignore_ascii_case(&header)) {
            notes.push(format!("{header} is there twice; the first one counts"));
        } else {
            server.keys.insert(header.clone());
            keys.push((header, Secret(value)));
        }
    }
    Imported { name, server, keys, notes }
}

fn text_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// The nearest name that a server may have here.
fn name_of(theirs: &str) -> String {
    let lower = theirs.to_lowercase();
    let letters = lower.chars().map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' });
    let mut name: String = letters.collect();
    while name.contains("--") {
        name = name.replace("--", "-");
    }
    let name = name.trim_matches('-');
    let name =
        if name.starts_with(|c: char| c.is_ascii_lowercase()) { name.to_owned() } else { format!("s{name}") };
    let name: String = name.chars().take(NAME_CHARS).collect();
    let name = name.trim_end_matches('-').to_owned();
    if protocol::mcp::RESERVED.contains(&name.as_str()) { format!("{name}-server") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_other_programs_are_read_with_their_keys_apart() {
        let claude = r#"{"mcpServers": {
            "GitHub": {"command": "docker", "args": ["run", "-i", "x; rm -rf ~"], "env": {"GITHUB_TOKEN": "canary", "DEBUG": 1}},
            "web": {"command": "uvx", "args": ["fetch"]},
            "git hub": {"httpUrl": "https://mcp.example/mcp", "env": {"API_KEY": "canary"}, "headers":
                {"Authorization": "Bearer canary", "Accept": "x/canary", "X-Org": "${input:org}"}}
        }}"#;
        let all = read(claude).unwrap();
        let names: Vec<_> = all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["github", "web-server", "git-hub"]);
        for one in &all {
            assert_eq!(McpServer::validate(&one.name, &one.server), Ok(()), "{}", one.name);
            assert!(!format!("{:?}{:?}", one.server, one.notes).contains("canary"));
        }
        assert_eq!(all[0].server.args, ["run", "-i", "x; rm -rf ~"]);
        assert_eq!(all[0].keys, [("GITHUB_TOKEN".to_owned(), Secret("canary".into()))]);
        assert_eq!(all[0].server.env["DEBUG"], "1");
        assert_eq!(all[2].server.url, "https://mcp.example/mcp");
        assert_eq!(all[2].keys, [("Authorization".to_owned(), Secret("Bearer canary".into()))]);
        assert_eq!(all[2].server.keys, ["Authorization".to_owned()].into());
        let notes = all[2].notes.join("\n");
        assert!(["API_KEY", "Accept", "--key X-Org"].iter().all(|one| notes.contains(one)), "{notes}");
        let code = r#"{"servers": {"pond": {"type": "stdio", "command": "pond", "env": {"API_KEY": "${input:key}"}}}}"#;
        let pond = read(code).unwrap().remove(0);
        assert!(pond.keys.is_empty() && pond.notes[0].contains("API_KEY"), "{:?}", pond.notes);
        assert!(read("{}").is_err() && read("no").is_err());
    }

    #[test]
    fn a_server_of_ours_is_added_to_a_clients_configuration_and_nothing_of_it_is_lost() {
        let before = r#"{"theme": "dark", "mcpServers": {"other": {"command": "x"}}}"#;
        let after = with_server("cursor", before, "miki-desktop", "/opt/miki", &["mcp", "desktop"]).unwrap();
        let read: Value = serde_json::from_str(&after).unwrap();
        assert_eq!((&read["theme"], &read["mcpServers"]["other"]["command"]), (&json!("dark"), &json!("x")));
        let ours = json!({ "command": "/opt/miki", "args": ["mcp", "desktop"] });
        assert_eq!(read["mcpServers"]["miki-desktop"], ours);
        let code = with_server("vscode", "", "miki-desktop", "miki", &["mcp", "desktop"]).unwrap();
        let read: Value = serde_json::from_str(&code).unwrap();
        assert_eq!(read["servers"]["miki-desktop"]["type"], "stdio");
        assert!(with_server("cursor", "// mine\n{}", "miki-desktop", "miki", &[]).is_err());
    }
}
