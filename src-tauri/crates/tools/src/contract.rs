//! Whether a call is within the plan that the user agreed to. Pure: what a call would touch was looked up before.
//!
//! What cannot be told is outside, always.

use protocol::contract::{Contract, EffectClass};

use crate::applications::{self, Class};
use crate::reach::{Act, FileAct, Reach};
use crate::target::Touched;
use crate::{Ports, hosts, words};

pub(crate) mod act_effects;
pub(crate) mod checks;
pub(crate) mod keys;
mod read;

pub(crate) use read::{check_binds, look, read};

pub use checks::longest_look;

/// One thing that a call needs a contract to name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// As the desktop calls it.
    Application(String),
    /// With its port where that is not the usual one.
    Host(String),
    /// A file or folder of the user's, absolute, and as below `~/` where it is in the home.
    Folder {
        path: String,
        below_home: Option<String>,
    },
    Effect(EffectClass),
    /// What no contract covers: why.
    Untold(&'static str),
}

/// What an act on a window needs, as far as its application and its names tell.
pub(crate) fn of_window(reach: &Reach, act: Option<&Act>, touched: &Touched) -> Vec<Need> {
    let mut needs = vec![Need::Application(touched.app.clone())];
    let mut classes: Vec<Class> = touched.class.into_iter().collect();
    // A window may call itself anything; what interprets a script says nothing of the script.
    needs.extend(touched.program.clone().filter(|program| !is_interpreter(program)).map(Need::Application));
    // A window may be found by its title; what is started or ended is what was named.
    if let Reach::App(Some(name)) = reach {
        needs.push(Need::Application(name.clone()));
        classes.extend(applications::class_of([name.as_str()]));
    }
    let mut effects = match (reach, touched.control.as_deref()) {
        // By what the call names: cleaned, a tab in it would be gone.
        (Reach::Menu { path, .. }, _) => of_menu(path),
        (_, Some(control)) => of_control(control),
        (_, None) => Vec::new(),
    };
    // Its place on the screen is nothing of what it does.
    if !matches!(reach, Reach::Window(_)) {
        for class in classes {
            effects.extend(of_class(class, reach, act));
        }
    }
    needs.extend(or_edit(effects));
    needs
}

/// Whether a program runs others' scripts: its name tells nothing of them.
pub(crate) fn is_interpreter(program: &str) -> bool {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    ["python", "perl", "ruby", "java", "gjs", "gjs-console", "mono", "node"].contains(&name)
}

/// What an act in a page at this address needs; `leads_to` are the addresses that something is sent to.
pub(crate) fn of_page<'a>(
    address: &str,
    control: Option<&str>,
    leads_to: impl IntoIterator<Item = &'a str>,
) -> Vec<Need> {
    let mut needs = vec![host(address)];
    needs.extend(or_edit(control.map(of_control).unwrap_or_default()));
    for address in leads_to {
        needs.extend(of_address(address));
    }
    needs
}

/// What going to an address needs.
pub(crate) fn of_address(address: &str) -> Vec<Need> {
    // What it hands on to, too.
    let carried = hosts::carried(address).into_iter().map(|carried| host(&format!("https://{carried}/")));
    [host(address), Need::Effect(EffectClass::Browse)].into_iter().chain(carried).collect()
}

/// What a change of a file needs.
pub(crate) fn of_file(path: String, below_home: Option<String>, does: FileAct) -> Vec<Need> {
    let effect = match does {
        FileAct::Write => EffectClass::Edit,
        FileAct::Delete => EffectClass::Delete,
    };
    vec![Need::Folder { path, below_home }, Need::Effect(effect)]
}

/// What a command that changes something needs, beside what it may destroy.
pub(crate) fn of_command(ports: &Ports) -> Vec<Need> {
    let (path, below_home) = ports.root();
    vec![Need::Folder { path, below_home }, Need::Effect(EffectClass::Run)]
}

/// Whether a file is in a folder, or is it: both absolute or both below `~/`, by their letters. What a session may write is
/// below its own folder by handles, whatever the letters say.
fn is_in(folder: &str, path: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What an act on nothing that can be looked up needs, by its tool's group.
pub(crate) fn of_nothing(group: &crate::Group) -> Need {
    match group {
        crate::Group::Clipboard => Need::Effect(EffectClass::Clipboard),
        // Back, forward, reload, a tab's end: where the tab has been.
        crate::Group::Web => Need::Effect(EffectClass::Browse),
        crate::Group::Screen
        | crate::Group::Elements
        | crate::Group::Input
        | crate::Group::Held
        | crate::Group::Ocr
        | crate::Group::Apps
        | crate::Group::Script
        | crate::Group::Mind
        | crate::Group::Files
        | crate::Group::Terminal
        | crate::Group::Search
        | crate::Group::Agenda
        | crate::Group::Agents
        | crate::Group::Server(_) => Need::Untold("what it would touch, which cannot be told"),
    }
}

fn host(address: &str) -> Need {
    match hosts::site(address) {
        Some(site) => Need::Host(site),
        None => Need::Untold("a page without a host"),
    }
}

/// What a control of this name does, as far as that says it; all of it where it says more than one thing.
pub(crate) fn of_control(name: &str) -> Vec<Need> {
    match words::effects(name) {
        Some(effects) => effects.into_iter().map(Need::Effect).collect(),
        None => vec![Need::Untold("a control that may do anything")],
    }
}

/// The same of a menu's item, by the names on the way to it.
fn of_menu(path: &[String]) -> Vec<Need> {
    let mut needs = Vec::new();
    for (at, name) in path.iter().enumerate() {
        // The beginning of a name is enough to choose it, and what a label in these scripts does stands at its end.
        if !name.is_ascii() {
            needs.push(Need::Untold("a menu's item, which may be named in part"));
            continue;
        }
        needs.extend(of_control(name));
        let is_last = at + 1 == path.len();
        let part = if is_last { words::Part::Any } else { words::Part::OfItsFirstWord };
        needs.extend(words::effects_beginning(name, part).into_iter().map(Need::Effect));
    }
    needs
}

fn or_edit(needs: Vec<Need>) -> Vec<Need> {
    if needs.is_empty() { vec![Need::Effect(EffectClass::Edit)] } else { needs }
}

/// Whether what needs this may carry something to where nobody said that it may go.
pub(crate) fn leaves(need: &Need) -> bool {
    use EffectClass::{
        Browse, Clipboard, Delete, Edit, Install, Passwords, Pay, Publish, Remote, Run, Send, Sign, Submit,
        System,
    };
    match need {
        Need::Untold(_) | Need::Effect(Install | Pay | Publish | Remote | Run | Send | Sign | Submit) => true,
        // Where a page leads, its hosts tell.
        Need::Application(_) | Need::Host(_) | Need::Folder { .. } => false,
        Need::Effect(Browse | Clipboard | Delete | Edit | Passwords | System) => false,
    }
}

pub(crate) fn of_class(class: Class, reach: &Reach, act: Option<&Act>) -> Option<Need> {
    let is_by_name = matches!(reach, Reach::App(Some(_)));
    let effect = match class {
        Class::Terminal | Class::Launcher => EffectClass::Run,
        // All over them are terminals, tasks, and what opens a file by running it.
        Class::Ide | Class::Files if !is_by_name => EffectClass::Run,
        Class::Mail | Class::Chat
            if reach.enters() || act.is_some_and(|act| act.breaks_line() || act.may_set_off()) =>
        {
            EffectClass::Send
        }
        Class::PasswordManager => EffectClass::Passwords,
        Class::Finance => EffectClass::Pay,
        Class::SystemSettings => EffectClass::System,
        Class::Remote | Class::VirtualMachine => EffectClass::Remote,
        // Which page, and where a click or a key leads, only the web's tools know.
        Class::Browser if !is_by_name => {
            return Some(Need::Untold(
                "a browser's window, whose page cannot be told here; the web's tools can",
            ));
        }
        Class::Ide
        | Class::Browser
        | Class::Mail
        | Class::Chat
        | Class::Files
        | Class::Editor
        | Class::Office
        | Class::Media => return None,
    };
    Some(Need::Effect(effect))
}

/// What a contract does not name of what a call needs, for the user: `application xterm`, `effect run`. Empty if it
/// covers the call.
pub(crate) fn outside(contract: &Contract, needs: &[Need]) -> Vec<String> {
    let mut left = Vec::new();
    let mut leaves = |clause: String| {
        if !left.contains(&clause) {
            left.push(clause);
        }
    };
    if needs.is_empty() {
        leaves("what it would touch, which cannot be told".into());
    }
    let mut needs: Vec<&Need> = needs.iter().collect();
    // Where it is, then what it does.
    needs.sort_by_key(|need| !matches!(need, Need::Application(_) | Need::Host(_) | Need::Folder { .. }));
    for need in needs {
        match need {
            Need::Application(app) if contract.applications.iter().any(|named| is_same(named, app)) => {}
            Need::Application(app) => leaves(format!("application {app}")),
            Need::Host(host) if contract.hosts.iter().any(|named| hosts::is_same(named, host)) => {}
            Need::Host(host) => leaves(format!("host {host}")),
            Need::Folder { path, below_home } => {
                let names = |folder: &String| {
                    is_in(folder, path) || below_home.as_deref().is_some_and(|short| is_in(folder, short))
                };
                if !contract.folders.iter().any(names) {
                    leaves(format!("folder of {}", below_home.as_deref().unwrap_or(path)));
                }
            }
            Need::Effect(effect) if contract.effects.contains(effect) => {}
            Need::Effect(effect) => leaves(format!("effect {}", effect.name())),
            Need::Untold(why) => leaves((*why).to_owned()),
        }
    }
    left
}

/// Whether a name of the contract is this application: letter by letter but for ASCII case, or by the list of
/// applications, in which one has several names.
pub(crate) fn is_same(named: &str, app: &str) -> bool {
    !app.is_empty() && (named.eq_ignore_ascii_case(app) || applications::are_one(named, app))
}

#[cfg(test)]
mod tests;
