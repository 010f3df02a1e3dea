//! Paths whose change runs something later, or lets somebody in: the caller always asks for them, in every mode.
//!
//! Data and one comparison. Knows no modes and asks nobody.

use std::sync::LazyLock;

use serde::Serialize;

use super::path::SpacePath;

/// What a protected path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Why {
    /// Git runs it, or is told by it what to run.
    Git,
    /// A shell, an interpreter or a login runs it.
    Startup,
    /// Holds keys or passwords.
    Secret,
    /// Tells an agent or an editor which servers to start, and what it may do.
    AgentConfig,
    /// An editor runs it when the folder is opened.
    EditorTask,
    /// The desktop or the system runs it at login or by the clock.
    Autostart,
    /// A tool runs it by itself when something else is done (installing, building, committing).
    BuildHook,
}

/// Names as they stand here, lower case. `**` is any number of folders; `*` is within a name.
const PROTECTED: &[(&str, Why)] = &[
    ("**/.git/hooks/**", Why::Git),
    ("**/.git/config", Why::Git),
    ("**/.git/config.worktree", Why::Git),
    ("**/.git/info/attributes", Why::Git),
    ("**/.git/modules/**/hooks/**", Why::Git),
    ("**/.git/modules/**/config", Why::Git),
    // `.git` as a file leads to another repository, and moving the folder replaces all of it.
    ("**/.git", Why::Git),
    ("**/.git/hooks", Why::Git),
    ("**/.gitconfig", Why::Git),
    ("**/.config/git/**", Why::Git),
    ("**/.gitmodules", Why::Git),
    ("**/.husky/**", Why::Git),
    ("**/.pre-commit-config.yaml", Why::Git),
    ("**/lefthook.y*ml", Why::Git),
    ("**/.hg/hgrc", Why::Git),
    ("**/.bashrc", Why::Startup),
    ("**/.bash_profile", Why::Startup),
    ("**/.bash_login", Why::Startup),
    ("**/.bash_logout", Why::Startup),
    ("**/.bash_aliases", Why::Startup),
    ("**/.profile", Why::Startup),
    ("**/.zshrc", Why::Startup),
    ("**/.zshenv", Why::Startup),
    ("**/.zprofile", Why::Startup),
    ("**/.zlogin", Why::Startup),
    ("**/.zlogout", Why::Startup),
    ("**/.kshrc", Why::Startup),
    ("**/.cshrc", Why::Startup),
    ("**/.tcshrc", Why::Startup),
    ("**/.inputrc", Why::Startup),
    ("**/config.fish", Why::Startup),
    ("**/fish/conf.d/**", Why::Startup),
    ("**/*profile.ps1", Why::Startup),
    ("**/.xinitrc", Why::Startup),
    ("**/.xsession", Why::Startup),
    ("**/.xprofile", Why::Startup),
    ("**/.vimrc", Why::Startup),
    ("**/.exrc", Why::Startup),
    ("**/.nvimrc", Why::Startup),
    ("**/.emacs", Why::Startup),
    ("**/.dir-locals.el", Why::Startup),
    ("**/.gdbinit", Why::Startup),
    ("**/.lldbinit", Why::Startup),
    ("**/.pythonrc", Why::Startup),
    ("**/sitecustomize.py", Why::Startup),
    ("**/usercustomize.py", Why::Startup),
    ("**/.tmux.conf", Why::Startup),
    ("**/.screenrc", Why::Startup),
    ("**/.envrc", Why::Startup),
    ("**/.pam_environment", Why::Startup),
    ("**/.ssh/**", Why::Secret),
    ("**/.ssh", Why::Secret),
    ("**/authorized_keys", Why::Secret),
    ("**/id_rsa", Why::Secret),
    ("**/id_ed25519", Why::Secret),
    ("**/id_ecdsa", Why::Secret),
    ("**/.gnupg/**", Why::Secret),
    ("**/.gnupg", Why::Secret),
    ("**/.aws/**", Why::Secret),
    ("**/.aws", Why::Secret),
    ("**/.kube/**", Why::Secret),
    ("**/.azure/**", Why::Secret),
    ("**/.config/gcloud/**", Why::Secret),
    ("**/.docker/config.json", Why::Secret),
    ("**/.netrc", Why::Secret),
    ("**/_netrc", Why::Secret),
    ("**/.git-credentials", Why::Secret),
    ("**/.pgpass", Why::Secret),
    ("**/.password-store/**", Why::Secret),
    ("**/.env", Why::Secret),
    ("**/.env.*", Why::Secret),
    ("**/*.kdbx", Why::Secret),
    ("**/.mcp.json", Why::AgentConfig),
    ("**/mcp.json", Why::AgentConfig),
    ("**/mcp_config.json", Why::AgentConfig),
    ("**/claude_desktop_config.json", Why::AgentConfig),
    ("**/.claude/**", Why::AgentConfig),
    ("**/.claude.json", Why::AgentConfig),
    ("**/.codex/**", Why::AgentConfig),
    ("**/.cursor/**", Why::AgentConfig),
    ("**/.gemini/**", Why::AgentConfig),
    ("**/.continue/**", Why::AgentConfig),
    ("**/.windsurf/**", Why::AgentConfig),
    ("**/.miki/**", Why::AgentConfig),
    ("**/.miki", Why::AgentConfig),
    ("**/.vscode/**", Why::EditorTask),
    ("**/.vscode", Why::EditorTask),
    ("**/*.code-workspace", Why::EditorTask),
    ("**/.idea/**", Why::EditorTask),
    ("**/.zed/**", Why::EditorTask),
    ("**/.devcontainer/**", Why::EditorTask),
    ("**/.devcontainer.json", Why::EditorTask),
    ("**/.sublime-project", Why::EditorTask),
    ("**/.config/autostart/**", Why::Autostart),
    ("**/autostart/*.desktop", Why::Autostart),
    ("**/*.desktop", Why::Autostart),
    ("**/.config/systemd/**", Why::Autostart),
    ("**/systemd/user/**", Why::Autostart),
    ("**/launchagents/**", Why::Autostart),
    ("**/launchdaemons/**", Why::Autostart),
    ("**/startup/*.lnk", Why::Autostart),
    ("**/start menu/programs/startup/**", Why::Autostart),
    ("**/.config/environment.d/**", Why::Autostart),
    ("**/crontab", Why::Autostart),
    ("**/.npmrc", Why::BuildHook),
    ("**/.yarnrc*", Why::BuildHook),
    ("**/.pnpmfile.cjs", Why::BuildHook),
    ("**/pip.conf", Why::BuildHook),
    ("**/.pypirc", Why::BuildHook),
    ("**/.cargo/config", Why::BuildHook),
    ("**/.cargo/config.toml", Why::BuildHook),
    ("**/.cargo/credentials*", Why::Secret),
    ("**/gradle-wrapper.properties", Why::BuildHook),
    ("**/.github/workflows/**", Why::BuildHook),
    ("**/.gitlab-ci.yml", Why::BuildHook),
];

/// Files that are protected for what they run and hold keys besides; and keys by the ends of their names.
const KEYS_TOO: &[&str] = &[
    "**/.npmrc",
    "**/.yarnrc*",
    "**/.pypirc",
    "**/pip.conf",
    "**/.envrc",
    "**/.git/config",
    "**/.git/modules/**/config",
    "**/.gitconfig",
    "**/.hg/hgrc",
    "**/.claude/.credentials.json",
    "**/.codex/auth.json",
    "**/.gemini/oauth_creds.json",
    "**/*.pem",
    "**/*.key",
    "**/*.p12",
    "**/*.pfx",
];

/// Example files that say which variables there are, and hold none.
const EXAMPLES: &[&str] = &[".env.example", ".env.sample", ".env.template"];

/// Why the user is always asked before `path` is written, moved, replaced or deleted; and before a secret is read.
///
/// Compared without case, ends and letters that file systems leave out: `.GIT`, `.git.` and `.gi\u{200c}t` are one
/// folder somewhere. A folder that holds a protected path by its own name (`.git`, `.ssh`) is protected itself.
pub fn protected(path: &SpacePath) -> Option<Why> {
    let parts: Vec<String> = path.parts().map(plain).collect();
    if parts.last().is_some_and(|name| EXAMPLES.contains(&name.as_str())) {
        return None;
    }
    let names: Vec<&str> = parts.iter().map(String::as_str).collect();
    PATTERNS.iter().find(|(pattern, _)| is_of(&names, pattern)).map(|(_, why)| *why)
}

/// Whether the user is always asked before `path` is read.
pub fn holds_secret(path: &SpacePath) -> bool {
    let parts: Vec<String> = path.parts().map(plain).collect();
    let names: Vec<&str> = parts.iter().map(String::as_str).collect();
    protected(path) == Some(Why::Secret) || KEYS_PATTERNS.iter().any(|pattern| is_of(&names, pattern))
}

/// Whether a folder by this name, or one above it, is a tool's own. As a Space it would have files that run something and
/// that no pattern tells, since patterns are told by the names within it.
pub(super) fn is_guarded<'a>(names: impl Iterator<Item = &'a str>) -> bool {
    let names: Vec<String> = names.map(plain).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let is_guarded = |pattern: &str| {
        let parts: Vec<&str> = pattern.split('/').collect();
        let Some((last, folders)) = parts.split_last() else { return false };
        // `.github` for what is in its `workflows`, `launchagents` for all that is in it, and `.git` itself.
        let hidden = folders.iter().filter(|name| name.starts_with('.'));
        let whole = if *last == "**" { folders } else { &[][..] };
        hidden.into_iter().any(|name| names.contains(name))
            || pattern == "**/.git" && names.contains(&".git")
            || !whole.is_empty() && (1..=names.len()).any(|upto| fits(whole, &names[..upto]))
    };
    PROTECTED.iter().any(|(pattern, _)| is_guarded(pattern))
}

/// Whether a file's name alone does not tell that it holds a private key: certificates end like it.
pub(crate) fn may_be_public(path: &SpacePath) -> bool {
    let name = path.name().map(plain).unwrap_or_default();
    protected(path).is_none() && (name.ends_with(".pem") || name.ends_with(".key"))
}

type Pattern = Vec<&'static str>;

/// Split once: whole folders are looked through by them.
static PATTERNS: LazyLock<Vec<(Pattern, Why)>> =
    LazyLock::new(|| PROTECTED.iter().map(|(pattern, why)| (pattern.split('/').collect(), *why)).collect());
static KEYS_PATTERNS: LazyLock<Vec<Pattern>> =
    LazyLock::new(|| KEYS_TOO.iter().map(|pattern| pattern.split('/').collect()).collect());

fn is_of(names: &[&str], pattern: &[&str]) -> bool {
    let may_end = |last: &&str| *last == "**" || names.last().is_some_and(|name| name_fits(last, name));
    pattern.last().is_some_and(may_end) && fits(pattern, names)
}

/// A name as the most careless file system sees it.
fn plain(name: &str) -> String {
    let left_out = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}');
    let name: String = name.chars().filter(|c| !left_out(*c)).flat_map(char::to_lowercase).collect();
    // A stream of Windows is the file before the colon.
    let name = name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    // Windows' short names.
    match name {
        "git~1" => ".git".into(),
        "ssh~1" => ".ssh".into(),
        "env~1" => ".env".into(),
        other => other.into(),
    }
}

fn fits(pattern: &[&str], names: &[&str]) -> bool {
    match (pattern, names) {
        ([], []) => true,
        (["**"], rest) => !rest.is_empty(),
        (["**", after @ ..], _) => (0..=names.len()).any(|skip| fits(after, &names[skip..])),
        ([first, after @ ..], [name, rest @ ..]) => name_fits(first, name) && fits(after, rest),
        _ => false,
    }
}

/// One `*` at most.
fn name_fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => {
            name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail)
        }
    }
}
