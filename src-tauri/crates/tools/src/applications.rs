//! What kind of application something is: data, by the names that systems know it by.
//!
//! The file says when it was made and where its names are from. It is part of the program: what cannot be read is found
//! by a test, never by a user.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

const DATA: &str = include_str!("../data/applications.json");

/// What can be done to a user in an application of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Runs what is typed.
    Terminal,
    /// An editor with a terminal in it.
    Ide,
    /// Starts what is typed.
    Launcher,
    Browser,
    Mail,
    Chat,
    PasswordManager,
    Finance,
    /// Changes the system: settings, packages, disks, keys.
    SystemSettings,
    /// Another computer's screen or shell.
    Remote,
    VirtualMachine,
    Files,
    Editor,
    Office,
    Media,
}

impl Class {
    /// For the user, in a sentence: `a terminal`.
    pub fn called(self) -> &'static str {
        match self {
            Self::Terminal => "a terminal, which runs what is typed",
            Self::Ide => "an editor with a terminal in it",
            Self::Launcher => "a launcher, which starts what is typed",
            Self::Browser => "a browser",
            Self::Mail => "a mail program",
            Self::Chat => "a chat",
            Self::PasswordManager => "a password manager",
            Self::Finance => "a program for money",
            Self::SystemSettings => "a program that changes the system",
            Self::Remote => "a window to another computer",
            Self::VirtualMachine => "a virtual machine",
            Self::Files => "a file manager",
            Self::Editor => "an editor",
            Self::Office => "an office program",
            Self::Media => "a player",
        }
    }

    /// Whether each act in it asks anew, whatever was allowed before.
    pub(crate) fn is_grave(self) -> bool {
        match self {
            Self::Terminal
            | Self::Launcher
            | Self::PasswordManager
            | Self::Finance
            | Self::SystemSettings
            | Self::Remote
            | Self::VirtualMachine => true,
            Self::Ide
            | Self::Browser
            | Self::Mail
            | Self::Chat
            | Self::Files
            | Self::Editor
            | Self::Office
            | Self::Media => false,
        }
    }

    /// Whether keys in it are grave: they may go to a terminal.
    pub(crate) fn takes_commands(self) -> bool {
        self.is_grave() || self == Self::Ide
    }

    /// Whether all that is typed there does what its kind does, whatever it is: a shell has no fields.
    pub(crate) fn takes_all_keys(self) -> bool {
        matches!(self, Self::Terminal | Self::Launcher | Self::Remote | Self::VirtualMachine)
    }

    /// Whether a line break in it sends.
    pub(crate) fn sends(self) -> bool {
        matches!(self, Self::Mail | Self::Chat)
    }
}

#[derive(Deserialize)]
struct Data {
    applications: Vec<Application>,
}

#[derive(Deserialize)]
struct Application {
    name: String,
    class: Class,
    #[serde(default)]
    desktop: Vec<String>,
    #[serde(default)]
    bundle: Vec<String>,
    #[serde(default)]
    exe: Vec<String>,
    #[serde(default)]
    wm: Vec<String>,
}

static CLASSES: LazyLock<Option<HashMap<String, Class>>> = LazyLock::new(|| {
    let data: Data = serde_json::from_str(DATA).ok()?;
    let mut classes = HashMap::new();
    for Application { name, class, desktop, bundle, exe, wm } in data.applications {
        for id in [vec![name], desktop, bundle, exe, wm].concat() {
            classes.entry(id.to_lowercase()).or_insert(class);
        }
    }
    Some(classes)
});

/// The class of a window by what it calls itself and by its program, which it cannot choose as freely: the graver of both,
/// else its program's.
pub(crate) fn class_of_window(app: &str, program: Option<&str>) -> Option<Class> {
    let (by_name, by_program) = (class_of([app]), program.and_then(|program| class_of([program])));
    by_name.filter(|class| class.takes_commands()).or(by_program).or(by_name)
}

/// Which application has a name; `None` if several have it.
static NAMES: LazyLock<HashMap<String, Option<usize>>> = LazyLock::new(|| {
    let mut names: HashMap<String, Option<usize>> = HashMap::new();
    let data: Option<Data> = serde_json::from_str(DATA).ok();
    let all = data.map(|data| data.applications).unwrap_or_default();
    for (at, Application { name, class: _, desktop, bundle, exe, wm }) in all.into_iter().enumerate() {
        for id in [vec![name], desktop, bundle, exe, wm].concat() {
            let known = names.entry(id.to_ascii_lowercase()).or_insert(Some(at));
            *known = known.filter(|known| *known == at);
        }
    }
    names
});

/// Whether two names are of one application of the list, and of no other.
pub(crate) fn are_one(one: &str, other: &str) -> bool {
    let of = |name: &str| NAMES.get(&name.to_ascii_lowercase()).copied().flatten();
    of(one).is_some_and(|at| of(other) == Some(at))
}

/// The class of an application by any of its names; `None` if it is in no list.
pub(crate) fn class_of<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Class> {
    class_by(CLASSES.as_ref(), names)
}

/// Whether some browser's name has this in it.
pub(crate) fn has_browser(part: &str) -> bool {
    let is_its =
        |(name, class): (&String, &Class)| *class == Class::Browser && name.contains(&part.to_lowercase());
    CLASSES.as_ref().is_none_or(|classes| classes.iter().any(is_its))
}

/// Without the data each application may be a terminal.
fn class_by<'a>(
    classes: Option<&HashMap<String, Class>>,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<Class> {
    let Some(classes) = classes else { return Some(Class::Terminal) };
    names.into_iter().find_map(|name| classes.get(&name.trim().to_lowercase()).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_is_whole_and_says_where_it_is_from() {
        let data: serde_json::Value = serde_json::from_str(DATA).unwrap();
        let applications = data["applications"].as_array().unwrap();
        assert!(applications.len() >= 300, "{} applications", applications.len());
        let sources = data["sources"].as_object().unwrap();
        for application in applications {
            let one: Application = serde_json::from_value(application.clone()).unwrap();
            let ids = [one.desktop, one.bundle, one.exe, one.wm].concat();
            assert!(
                !ids.is_empty() && ids.iter().all(|id| id.trim() == id && !id.is_empty()),
                "{}",
                one.name
            );
            let named = application["source"].as_array().unwrap();
            let known = |source: &serde_json::Value| {
                source
                    .as_str()
                    .is_some_and(|source| sources.contains_key(source.split(':').next().unwrap_or_default()))
            };
            assert!(!named.is_empty() && named.iter().all(known), "{}: {named:?}", one.name);
        }
        assert_eq!(data["made"].as_str().map(str::len), Some("2026-11-22".len()));
    }

    #[test]
    fn applications_are_known_by_class_program_bundle_and_desktop_file() {
        for name in ["XTerm", "xterm", "org.gnome.Terminal", "com.apple.Terminal", "powershell.exe"] {
            assert_eq!(class_of([name]), Some(Class::Terminal), "{name}");
        }
        assert_eq!(class_of(["no such program"]), None);
        assert_eq!(class_by(None, ["no such program"]), Some(Class::Terminal));
        assert!(class_of(["Mousepad"]).is_none_or(|class| !class.is_grave()));
        for (name, class) in [
            ("rofi", Class::Launcher),
            ("KeePassXC", Class::PasswordManager),
            ("GnuCash", Class::Finance),
            ("gnome-control-center", Class::SystemSettings),
            ("Remmina", Class::Remote),
            ("VirtualBox", Class::VirtualMachine),
        ] {
            assert_eq!(class_of([name]), Some(class), "{name}");
            assert!(class.is_grave() && class.takes_commands(), "{name}");
        }
        assert!(Class::Ide.takes_commands() && !Class::Ide.is_grave());
        assert!(Class::Mail.sends() && Class::Chat.sends() && !Class::Editor.sends());
        assert_eq!(class_of_window("Notes", Some("xterm")), Some(Class::Terminal));
        assert_eq!(class_of_window("Mousepad", Some("xterm")), Some(Class::Terminal));
        assert_eq!(class_of_window("XTerm", Some("chromium")), Some(Class::Terminal));
        assert_eq!(class_of_window("Signal", Some("electron")), Some(Class::Chat));
    }
}
