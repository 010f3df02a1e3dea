//! System packages: by apt on Debian-like systems; elsewhere their names, for a person to install.

use std::collections::HashSet;
use std::process::Command;

use anyhow::{Result, bail};

use super::Need;
use crate::shell::{answer_of, heading, note, on_path, run};

/// A Debian package, and the program that makes it unnecessary when it came from elsewhere (node from its own archive).
struct Package {
    name: &'static str,
    unless: Option<&'static str>,
}

const fn package(name: &'static str) -> Package {
    Package { name, unless: None }
}

const fn program(name: &'static str, unless: &'static str) -> Package {
    Package { name, unless: Some(unless) }
}

/// WebKitGTK and GTK for Tauri, the tray, D-Bus, OpenSSL for HTTPS; cmake and nasm for libjpeg-turbo.
const BUILD: &[Package] = &[
    package("build-essential"),
    package("pkg-config"),
    package("libwebkit2gtk-4.1-dev"),
    package("libgtk-3-dev"),
    package("libsoup-3.0-dev"),
    package("libayatana-appindicator3-dev"),
    package("libssl-dev"),
    package("libdbus-1-dev"),
    package("cmake"),
    package("nasm"),
];

/// A private desktop: X server, session bus, window manager, compositor, tray host, keyring, WebDriver, accessibility
/// bus, fonts for what is typed, and real applications to operate.
const DESKTOP: &[Package] = &[
    package("xvfb"),
    package("procps"),
    package("xclip"),
    package("x11-xkb-utils"), // setxkbmap: keyboard layouts
    package("xterm"),
    package("x11-utils"), // xmessage, which tells the accessibility tree nothing
    package("openbox"),
    package("picom"),
    package("tint2"),
    package("dbus"),
    package("dbus-x11"),
    package("libglib2.0-bin"),
    package("at-spi2-core"),
    package("gnome-keyring"),
    package("webkit2gtk-driver"),
    package("librsvg2-common"),
    package("libgl1-mesa-dri"),
    package("fonts-dejavu-core"),
    package("fonts-noto-cjk"),
    package("adwaita-icon-theme"),
    package("hicolor-icon-theme"),
    package("mousepad"),
    package("gtk-3-examples"),
    package("galculator"),
    package("gtk-4-examples"),
    package("thunar"),
    package("python3-gi"), // our own applications that log what was done to them, in GTK 3 and GTK 4
    package("python3-pyqt5"), // and in Qt 5
    package("python3-tk"), // and in Tk, which tells the accessibility tree nothing
    package("gir1.2-gtk-3.0"),
    package("gir1.2-gtk-4.0"),
    package("featherpad"),
    package("chromium"),
    package("iproute2"),
    package("bubblewrap"), // commands are confined by it
    package("perl"),       // tries what a confined command may not
    package("tzdata"),     // calendars' time zones
    package("util-linux"), // unshare: a file system that is full
];

/// What is operated beside those: other toolkits, and applications as they come.
const APPLICATIONS: &[Package] = &[
    package("gnome-text-editor"),
    package("gnome-calculator"),
    package("speedcrunch"),
    package("firefox-esr"),
    package("libreoffice-calc"),
    package("libreoffice-writer"),
    package("libreoffice-gtk3"),
    package("openjdk-17-jdk-headless"),
    package("openjdk-17-jre"),
    package("libatk-wrapper-java"),
    package("libatk-wrapper-java-jni"),
];

/// What the desktop is measured beside: pyatspi, pyautogui (which takes its quicker way only where gnome-screenshot
/// is), and what is called from a shell.
const PEERS: &[Package] = &[
    package("python3-pyatspi"),
    package("gnome-screenshot"),
    package("scrot"),
    package("imagemagick"),
    package("xdotool"),
];

const NODE: &[Package] = &[program("nodejs", "node"), program("npm", "npm")];
const PYTHON: &[Package] = &[package("python3"), package("python3-pip")];
/// A Python of its own, beside the system's.
const VENV: &[Package] = &[package("python3-venv")];
/// tidy asks it which files are the repository's.
const GIT: &[Package] = &[program("git", "git")];
const MINGW: &[Package] = &[package("gcc-mingw-w64-x86-64-posix"), package("g++-mingw-w64-x86-64-posix")];

fn wanted(needs: &[Need]) -> Vec<&'static str> {
    let groups = needs.iter().flat_map(|need| match need {
        Need::Build => vec![BUILD],
        Need::SmallWindows => vec![NODE],
        Need::Desktop => vec![DESKTOP, PYTHON],
        Need::Sdks => vec![PYTHON, VENV, NODE],
        Need::Peers => vec![PEERS, PYTHON, VENV],
        Need::Applications => vec![APPLICATIONS],
        Need::Cross => vec![MINGW, PYTHON],
        Need::Audit => vec![PYTHON, GIT],
    });
    let mut names: Vec<&'static str> = Vec::new();
    for package in groups.flatten() {
        let there = package.unless.is_some_and(|program| on_path(program).is_some());
        if !there && !names.contains(&package.name) {
            names.push(package.name);
        }
    }
    names
}

/// Installs the packages that are missing.
pub fn ready(needs: &[Need]) -> Result<()> {
    match std::env::consts::OS {
        "linux" if on_path("dpkg-query").is_some() => debian(&wanted(needs)),
        "linux" => {
            note(
                "this is not a Debian-like system, so its packages are not looked after; Debian calls them:",
            );
            note(&wanted(needs).join(" "));
            Ok(())
        }
        "macos" => macos(needs),
        _ => Ok(()),
    }
}

fn debian(names: &[&'static str]) -> Result<()> {
    let missing = missing(names);
    if missing.is_empty() {
        return Ok(());
    }
    heading(&format!("{} system packages are missing: {}", missing.len(), missing.join(" ")));
    let as_root = answer_of(Command::new("id").arg("-u")).is_some_and(|id| id.trim() == "0");
    if !as_root && answer_of(Command::new("sudo").args(["-n", "true"])).is_none() {
        bail!(
            "{} system packages are missing and neither root nor sudo without a password is at hand; paste this, then try again:\n\n  \
             sudo apt-get update && sudo apt-get install -y --no-install-recommends {}\n",
            missing.len(),
            missing.join(" ")
        );
    }
    run(apt(as_root).arg("update"))?;
    run(apt(as_root).args(["install", "-y", "--no-install-recommends"]).args(&missing))?;
    let still = self::missing(&missing);
    if !still.is_empty() {
        bail!("apt-get ended well, yet these packages are not installed: {}", still.join(" "));
    }
    Ok(())
}

/// One question for all of them.
fn missing(names: &[&'static str]) -> Vec<&'static str> {
    // dpkg-query exits 1 when it does not know a name, with the others' lines printed all the same.
    let output = Command::new("dpkg-query")
        .args(["-W", "-f", "${db:Status-Status} ${Package}\n"])
        .args(names)
        .stderr(std::process::Stdio::null())
        .output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let installed: HashSet<&str> = text.lines().filter_map(|line| line.strip_prefix("installed ")).collect();
    names.iter().copied().filter(|name| !installed.contains(name)).collect()
}

fn apt(as_root: bool) -> Command {
    let mut command = if as_root {
        Command::new("env")
    } else {
        let mut sudo = Command::new("sudo");
        sudo.args(["-n", "env"]);
        sudo
    };
    command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-o", "DPkg::Lock::Timeout=600"]);
    command
}

/// macOS brings its own WebKit; what it lacks is only named, since Homebrew is the user's to install.
fn macos(needs: &[Need]) -> Result<()> {
    if answer_of(Command::new("xcrun").args(["--find", "cc"])).is_none() {
        bail!(
            "the command line tools are missing; paste this, then try again:\n\n  xcode-select --install\n"
        );
    }
    let mut formulas = Vec::new();
    if (needs.contains(&Need::SmallWindows) || needs.contains(&Need::Sdks)) && on_path("npm").is_none() {
        formulas.push("node");
    }
    if needs.contains(&Need::Cross) && on_path("x86_64-w64-mingw32-gcc").is_none() {
        formulas.push("mingw-w64");
    }
    if !formulas.is_empty() {
        bail!(
            "some tools are missing; paste this, then try again:\n\n  brew install {}\n",
            formulas.join(" ")
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_two_needs_share_is_asked_for_once() {
        let names = wanted(&[Need::Cross, Need::Audit]);
        assert_eq!(names.iter().filter(|name| **name == "python3-pip").count(), 1);
    }

    #[test]
    fn building_alone_asks_for_no_desktop() {
        assert!(!wanted(&[Need::Build]).contains(&"xvfb"));
        assert!(wanted(&[Need::Desktop]).contains(&"xvfb"));
        assert!(wanted(&[Need::Peers]).contains(&"scrot") && !wanted(Need::ALL).contains(&"scrot"));
    }
}
