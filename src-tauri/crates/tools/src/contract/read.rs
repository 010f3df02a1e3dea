//! A contract as somebody wrote it, made fit to be shown and agreed to, or refused with the reason.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use protocol::contract::{Budget, Check, Contract, EffectClass};
use protocol::tool::ToolError;
use space::terminal::policy::{self, Effect as Does};

use crate::tool::{bad_arguments, filled, within};
use crate::{hosts, untrusted};

/// Entries of one list.
const MOST: usize = 20;
const STEP_CHARS: usize = 300;
const NAME_CHARS: usize = 80;
const TEXT_CHARS: usize = 500;
const PATH_CHARS: usize = 500;
const FOUND_CHARS: usize = 200;
/// Checks that run a command.
const MOST_COMMANDS: usize = 3;
const MOST_MINUTES: u32 = 7 * 24 * 60;
const MOST_TURNS: u32 = 500;
const MOST_DOLLARS: f64 = 1_000.0;

/// Checks all of it, cleans its words of what people cannot see, and bounds them.
///
/// # Errors
/// What is wrong, in words for whoever wrote it.
pub(crate) fn read(contract: Contract, home: Option<&Path>) -> Result<Contract, ToolError> {
    let Contract { steps, applications, folders, hosts, effects, budget, checks } = contract;
    let steps = list("steps", steps, |_, text| Ok(untrusted::line(text, STEP_CHARS)))?;
    let applications = list("applications", applications, application)?;
    let folders = list("folders", folders, |field, path| folder(field, path, home))?;
    let hosts = list("hosts", hosts, named_host)?;
    within("the number of checks", checks.len(), 0, MOST)?;
    let mut all = Vec::new();
    for (at, check) in checks.into_iter().enumerate() {
        all.push(read_check(&format!("checks[{at}]"), check, &folders, home)?);
    }
    let commands = all.iter().filter(|check| matches!(check, Check::CommandExit { .. })).count();
    within("the number of commands in checks", commands, 0, MOST_COMMANDS)?;
    Ok(Contract { steps, applications, folders, hosts, effects, budget: read_budget(budget)?, checks: all })
}

/// What a model proposes has to say what it will do and where. Its user may strike all of it out: then each act asks.
///
/// # Errors
/// What is missing, in words for the model.
pub(crate) fn check_binds(contract: &Contract) -> Result<(), ToolError> {
    let Contract { steps, applications, hosts, effects, checks, .. } = contract;
    if steps.is_empty() {
        return Err(bad_arguments("steps is empty: say what will be done"));
    }
    let names_a_place = !(applications.is_empty() && hosts.is_empty());
    if !names_a_place && effects.is_empty() && checks.is_empty() {
        return Err(bad_arguments(
            "the plan binds to nothing: name the applications or hosts, and the effects there, or checks",
        ));
    }
    let changes = |check: &Check| match check {
        Check::CommandExit { command, .. } => policy::weigh(command).effect != Does::Reads,
        _ => false,
    };
    if let Some(check) = checks.iter().find(|check| changes(check) && !effects.contains(&EffectClass::Run)) {
        return Err(bad_arguments(format!(
            "a check changes something ({check}): name the effect run, and the session's folder"
        )));
    }
    if effects.is_empty() && names_a_place {
        return Err(bad_arguments("effects is empty: say what will be done in those applications and hosts"));
    }
    Ok(())
}

fn read_budget(budget: Budget) -> Result<Budget, ToolError> {
    if let Some(turns) = budget.turns {
        within("budget.turns", turns, 1, MOST_TURNS)?;
    }
    if let Some(minutes) = budget.minutes {
        within("budget.minutes", minutes, 1, MOST_MINUTES)?;
    }
    if let Some(dollars) = budget.dollars
        && !(dollars > 0.0 && dollars <= MOST_DOLLARS)
    {
        return Err(bad_arguments(format!("budget.dollars = {dollars} is outside 0-{MOST_DOLLARS}")));
    }
    Ok(budget)
}

fn list(
    field: &str,
    all: Vec<String>,
    one: impl Fn(&str, &str) -> Result<String, ToolError>,
) -> Result<Vec<String>, ToolError> {
    within(&format!("the number of {field}"), all.len(), 0, MOST)?;
    let mut seen = BTreeSet::new();
    let mut read = Vec::new();
    for (at, text) in all.into_iter().enumerate() {
        let place = format!("{field}[{at}]");
        filled(&place, text.trim(), 2_000)?;
        let text = one(&place, &text)?;
        filled(&place, &text, 2_000)?;
        if seen.insert(text.clone()) {
            read.push(text);
        }
    }
    Ok(read)
}

/// A name that something is told by must stand as it is: cleaned or cut, it would be another.
fn exact(field: &str, text: &str, most: usize) -> Result<String, ToolError> {
    filled(field, text, most)?;
    if untrusted::line(text, most) != text {
        return Err(bad_arguments(format!(
            "{field} has characters that cannot be seen, or spaces at its ends"
        )));
    }
    Ok(text.to_owned())
}

fn application(field: &str, name: &str) -> Result<String, ToolError> {
    if name.contains(['*', '?', '/', '\\']) {
        return Err(bad_arguments(format!(
            "{field} = {name:?} is no application's name; name each, as listWindows and listApps do"
        )));
    }
    exact(field, name, NAME_CHARS)
}

fn named_host(field: &str, host: &str) -> Result<String, ToolError> {
    match hosts::named_site(host) {
        Some(site) => Ok(site),
        None => Err(bad_arguments(format!(
            "{field} = {host:?} is no host such as example.org or localhost:8080; name each one whole: no wildcard, no \
             scheme, no path, no user, and letters beyond ASCII as xn--"
        ))),
    }
}

fn folder(field: &str, path: &str, home: Option<&Path>) -> Result<String, ToolError> {
    exact(field, path, PATH_CHARS)?;
    below(field, path, home).map(|_| path.trim_end_matches('/').to_owned())
}

/// A path below the home, as far as its letters tell: `~/Documents/a`, or absolute.
fn below(field: &str, path: &str, home: Option<&Path>) -> Result<PathBuf, ToolError> {
    let refuse = |why: &str| Err(bad_arguments(format!("{field} = {path:?} {why}")));
    let Some(home) = home else { return refuse("cannot be looked at: no home folder is known") };
    if path.contains(['*', '?']) {
        return refuse("has a wildcard; name each");
    }
    let whole = match path.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => PathBuf::from(path),
    };
    if whole.components().any(|part| part == Component::ParentDir) {
        return refuse("has `..` in it");
    }
    let Ok(inner) = whole.strip_prefix(home) else {
        return refuse("is not in the user's home folder");
    };
    if inner.as_os_str().is_empty() {
        return refuse("is the whole home folder; name one in it");
    }
    let is_hidden = |part: &OsStr| part.to_string_lossy().starts_with('.');
    if inner.iter().any(is_hidden) {
        return refuse("is hidden: such folders hold keys and settings");
    }
    Ok(whole)
}

/// A file of a check, where its letters say that it is in one of the folders.
pub(super) fn file_in(path: &str, folders: &[String], home: Option<&Path>) -> Result<PathBuf, ToolError> {
    let file = below("path", path, home)?;
    let is_in = |folder: &String| {
        below("folder", folder, home).is_ok_and(|folder| file != folder && file.starts_with(folder))
    };
    if folders.iter().any(is_in) {
        return Ok(file);
    }
    Err(bad_arguments(format!("path = {path:?} is in none of the plan's folders; name its folder, too")))
}

fn read_check(
    field: &str,
    check: Check,
    folders: &[String],
    home: Option<&Path>,
) -> Result<Check, ToolError> {
    let at = |inner: &str| format!("{field}.{inner}");
    let text = |name: &str, text: &str| exact(&at(name), text, TEXT_CHARS);
    let path = |path: &String| {
        let told = |error: ToolError| bad_arguments(format!("{field}: {}", error.message));
        exact(&at("path"), path, PATH_CHARS)?;
        file_in(path, folders, home).map_err(told)
    };
    match &check {
        Check::FileExists { path: file } => {
            path(file)?;
        }
        Check::FileContains { path: file, text: wanted } => {
            path(file)?;
            text("text", wanted)?;
        }
        Check::FileHash { path: file, sha256 } => {
            path(file)?;
            let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            if sha256.len() != 64 || !sha256.bytes().all(is_hex) {
                return Err(bad_arguments(format!(
                    "{field}.sha256 is not 64 hexadecimal digits in lower case"
                )));
            }
        }
        Check::Window { application: app, title } => {
            application(&at("application"), app)?;
            title.as_deref().map(|title| text("title", title)).transpose()?;
        }
        Check::Element { application: app, name, role, value } => {
            application(&at("application"), app)?;
            text("name", name)?;
            role.as_deref().map(|role| text("role", role)).transpose()?;
            value
                .as_deref()
                .filter(|value| !value.is_empty())
                .map(|value| text("value", value))
                .transpose()?;
        }
        Check::PageAddress { address } => {
            text("address", address)?;
            if hosts::site(address).is_none() {
                return Err(bad_arguments(format!("{field}.address is no web address")));
            }
        }
        Check::PageText { text: wanted } => {
            text("text", wanted)?;
        }
        Check::AskUser { question } => {
            text("question", question)?;
        }
        Check::CommandExit { command, code } => {
            text("command", command)?;
            within(&at("code"), *code, 0, 255)?;
            // It is run without a question, each time that the model says that it is done.
            let weighed = policy::weigh(command);
            if let Some(why) = weighed.unclear.or_else(|| weighed.destructive.into_iter().next()) {
                return Err(bad_arguments(format!(
                    "{field}: no command is run unasked of which this holds: {}",
                    untrusted::line(&why, FOUND_CHARS)
                )));
            }
        }
        Check::Reminder { title } | Check::Event { title } => {
            text("title", title)?;
        }
    }
    Ok(check)
}

/// Where a path really is, links followed: its nearest part that is there. Blocking.
///
/// # Errors
/// It is outside the home, or cannot be looked at.
pub(super) fn real(path: &Path, home: &Path) -> Result<PathBuf, ToolError> {
    let told =
        |error: std::io::Error| bad_arguments(format!("{} cannot be looked at: {error}", path.display()));
    let home = home.canonicalize().map_err(told)?;
    let mut there = path;
    let real = loop {
        match there.canonicalize() {
            Ok(real) => break real,
            Err(error)
                if error.kind() == std::io::ErrorKind::NotFound && there.symlink_metadata().is_err() =>
            {
                match there.parent() {
                    Some(parent) => there = parent,
                    None => return Err(told(error)),
                }
            }
            Err(error) => return Err(told(error)),
        }
    };
    let is_hidden = |part: &OsStr| part.to_string_lossy().starts_with('.');
    match real.strip_prefix(&home) {
        Ok(inner) if !inner.iter().any(is_hidden) => Ok(real),
        Ok(_) => Err(bad_arguments(format!("{} leads to a hidden folder, by a link", path.display()))),
        Err(_) => {
            let message = format!("{} leads out of the user's home folder, by a link", path.display());
            Err(bad_arguments(message))
        }
    }
}

/// Looks whether its folders really are in the home. Blocking.
///
/// # Errors
/// One leads out of it.
pub(crate) fn look(contract: &Contract, home: Option<&Path>) -> Result<(), ToolError> {
    let Some(home) = home else { return Ok(()) };
    for path in &contract.folders {
        real(&below("folder", path, Some(home))?, home)?;
    }
    Ok(())
}
