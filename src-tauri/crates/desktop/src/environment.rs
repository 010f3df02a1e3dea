//! What a program that we start for the user gets of our environment.
//!
//! By a list of what is allowed, so that nothing of ours (a provider's key, `MIKI_HOME`) goes along by oversight.

use std::ffi::OsString;

/// Names that are handed on: who the user is, where things are, how they are shown, which language.
#[cfg(not(windows))]
const NAMES: &[&str] = &[
    "BROWSER",
    "COLORTERM",
    "DBUS_SESSION_BUS_ADDRESS",
    "DESKTOP_SESSION",
    "DESKTOP_STARTUP_ID",
    "DISPLAY",
    "EDITOR",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "NO_AT_BRIDGE",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "VISUAL",
    "WAYLAND_DISPLAY",
    "WINDOWMANAGER",
    "XAUTHORITY",
    "XMODIFIERS",
];
/// How names that are handed on begin: language, toolkits, desktops, graphics, sound, input methods, temporary folders.
#[cfg(not(windows))]
const PREFIXES: &[&str] = &[
    "CLUTTER_",
    "GDK_",
    "GIO_",
    "GNOME_",
    "GSETTINGS_",
    "GTK_",
    "IBUS_",
    "KDE_",
    "LC_",
    "LIBGL_",
    "MESA_",
    "MOZ_",
    "PIPEWIRE_",
    "PULSE_",
    "QT_",
    "SAL_",
    "XCURSOR_",
    "XDG_",
];

/// The system's own, without which programs do not start there, and where things of the user are. In any case.
#[cfg(any(windows, test))]
const OF_WINDOWS: &[&str] = &[
    "ALLUSERSPROFILE",
    "APPDATA",
    "COMMONPROGRAMFILES",
    "COMMONPROGRAMFILES(X86)",
    "COMMONPROGRAMW6432",
    "COMPUTERNAME",
    "COMSPEC",
    "DRIVERDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LANG",
    "LOCALAPPDATA",
    "LOGONSERVER",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROCESSOR_IDENTIFIER",
    "PROCESSOR_LEVEL",
    "PROCESSOR_REVISION",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "PROGRAMW6432",
    "PUBLIC",
    "SESSIONNAME",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "TZ",
    "USERDOMAIN",
    "USERDOMAIN_ROAMINGPROFILE",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

#[cfg(any(windows, test))]
fn is_handed_on_by_windows(name: &str) -> bool {
    OF_WINDOWS.iter().any(|one| one.eq_ignore_ascii_case(name))
}

#[cfg(windows)]
fn is_handed_on(name: &str) -> bool {
    is_handed_on_by_windows(name)
}

#[cfg(not(windows))]
fn is_handed_on(name: &str) -> bool {
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The environment of a program that is started for the user; to be set after `env_clear`.
pub fn for_children() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_handed_on))
}

#[cfg(test)]
mod tests {
    use super::*;

    // bar: C14
    #[test]
    fn keys_and_what_is_ours_stay_and_what_a_program_needs_goes_along() {
        for name in [
            "MIKI_KEY_GEMINI",
            "MIKI_HOME",
            "MIKI_OCR_MODELS",
            "OPENAI_API_KEY",
            "ANTHROPIC_API_KEY",
            "GEMINI_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "AZURE_CLIENT_SECRET",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GITHUB_TOKEN",
            "GH_TOKEN",
            "NPM_TOKEN",
            "CARGO_REGISTRY_TOKEN",
            "DATABASE_URL",
            "PGPASSWORD",
            "SSH_AUTH_SOCK",
            "SSLKEYLOGFILE",
            "LD_PRELOAD",
            "HTTPS_PROXY",
        ] {
            assert!(!is_handed_on(name) && !is_handed_on_by_windows(name), "{name}");
        }
        for name in ["Path", "SystemRoot", "windir", "LOCALAPPDATA", "ProgramFiles(x86)"] {
            assert!(is_handed_on_by_windows(name), "{name}");
        }
        for name in ["PATH", "HOME", "LC_ALL", "XDG_RUNTIME_DIR", "GTK_IM_MODULE", "QT_QPA_PLATFORMTHEME"] {
            assert!(is_handed_on(name), "{name}");
        }
    }
}
