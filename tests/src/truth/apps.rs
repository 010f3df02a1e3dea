//! The applications: ours, one a toolkit, with the same widgets and a log of what is done to them; and real ones.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::stage::Stage;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum App {
    Gtk3,
    Gtk4,
    Qt,
    Swing,
    Chromium,
    Cef,
    Firefox,
    Mousepad,
    Galculator,
    Thunar,
    TextEditor,
    Calculator,
    Featherpad,
    SpeedCrunch,
    Calc,
    Writer,
    Letter,
    Browser,
    Xterm,
}

/// Whose widgets they are; what is counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toolkit {
    Gtk3,
    Gtk4,
    Qt,
    Swing,
    Chromium,
    Cef,
    Firefox,
    LibreOffice,
    Xterm,
}

impl Toolkit {
    pub const ALL: [Self; 9] = [
        Self::Gtk3,
        Self::Gtk4,
        Self::Qt,
        Self::Swing,
        Self::Chromium,
        Self::Cef,
        Self::Firefox,
        Self::LibreOffice,
        Self::Xterm,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Gtk3 => "GTK 3",
            Self::Gtk4 => "GTK 4",
            Self::Qt => "Qt 5",
            Self::Swing => "Swing",
            Self::Chromium => "Chromium",
            Self::Cef => "CEF",
            Self::Firefox => "Firefox",
            Self::LibreOffice => "LibreOffice",
            Self::Xterm => "xterm",
        }
    }
}

/// What is known of an application: its name, whose widgets it has, the Debian package whose version counts (of CEF,
/// which has none, the wheel), and what its window's title holds when it is ready.
struct Known(&'static str, Toolkit, &'static str, &'static str);

impl App {
    pub const ALL: [Self; 19] = [
        Self::Gtk3,
        Self::Gtk4,
        Self::Qt,
        Self::Swing,
        Self::Chromium,
        Self::Cef,
        Self::Firefox,
        Self::Mousepad,
        Self::Galculator,
        Self::Thunar,
        Self::TextEditor,
        Self::Calculator,
        Self::Featherpad,
        Self::SpeedCrunch,
        Self::Calc,
        Self::Writer,
        Self::Letter,
        Self::Browser,
        Self::Xterm,
    ];

    fn known(self) -> Known {
        match self {
            Self::Gtk3 => Known("GTK 3", Toolkit::Gtk3, "libgtk-3-0", "Orders"),
            Self::Gtk4 => Known("GTK 4", Toolkit::Gtk4, "libgtk-4-1", "Orders"),
            Self::Qt => Known("Qt 5", Toolkit::Qt, "libqt5widgets5", "Orders"),
            Self::Swing => Known("Swing", Toolkit::Swing, "openjdk-17-jre", "Orders"),
            Self::Chromium => Known("Chromium", Toolkit::Chromium, "chromium", "Orders"),
            Self::Cef => Known("CEF", Toolkit::Cef, "cef_capi_py", "Orders"),
            Self::Firefox => Known("Firefox", Toolkit::Firefox, "firefox-esr", "Orders"),
            Self::Mousepad => Known("Mousepad", Toolkit::Gtk3, "mousepad", "notes.txt"),
            Self::Galculator => Known("galculator", Toolkit::Gtk3, "galculator", "galculator"),
            Self::Thunar => Known("Thunar", Toolkit::Gtk3, "thunar", "files"),
            Self::TextEditor => Known("Text Editor", Toolkit::Gtk4, "gnome-text-editor", "notes.txt"),
            Self::Calculator => Known("Calculator", Toolkit::Gtk4, "gnome-calculator", "Calculator"),
            Self::Featherpad => Known("FeatherPad", Toolkit::Qt, "featherpad", "notes.txt"),
            Self::SpeedCrunch => Known("SpeedCrunch", Toolkit::Qt, "speedcrunch", "SpeedCrunch"),
            Self::Calc => Known("Calc", Toolkit::LibreOffice, "libreoffice-calc", "orders.csv - LibreOffice"),
            Self::Writer => {
                Known("Writer", Toolkit::LibreOffice, "libreoffice-writer", "notes.txt - LibreOffice")
            }
            // Writer with a document of its own format, in which there is more than text.
            Self::Letter => Known(
                "Writer letter",
                Toolkit::LibreOffice,
                "libreoffice-writer",
                "letter.fodt - LibreOffice",
            ),
            // The browser itself, with pages of its user's in place of ours.
            Self::Browser => Known("Firefox ESR", Toolkit::Firefox, "firefox-esr", "Mozilla Firefox"),
            Self::Xterm => Known("xterm", Toolkit::Xterm, "xterm", "xterm"),
        }
    }

    pub fn name(self) -> &'static str {
        self.known().0
    }

    pub fn toolkit(self) -> Toolkit {
        self.known().1
    }

    /// What its window's title holds.
    pub fn title(self) -> &'static str {
        self.known().3
    }

    /// Whether it has our widgets and our log.
    pub fn is_ours(self) -> bool {
        self.title() == "Orders"
    }

    pub fn is_browser(self) -> bool {
        matches!(self, Self::Chromium | Self::Cef | Self::Firefox)
    }

    /// The installed version, as Debian or pip calls it, up to Debian's own revision.
    ///
    /// # Errors
    /// Where it is not installed.
    pub fn version(self) -> Result<String> {
        let package = self.known().2;
        if self == Self::Cef {
            let installed =
                fs::read_dir(tool("cef")?)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            let version = |name: String| {
                Some(name.strip_prefix(package)?.strip_prefix('-')?.strip_suffix(".dist-info")?.to_owned())
            };
            return installed.filter_map(version).next().context("no version of CEF is installed");
        }
        let output = Command::new("dpkg-query").args(["-W", "-f", "${Version}", package]).output()?;
        anyhow::ensure!(output.status.success(), "the package {package} is not installed");
        let version = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = version.split_once(':').map_or(version.as_str(), |(_, rest)| rest);
        Ok(version.split(['-', '+']).next().unwrap_or(version).to_owned())
    }

    /// What it is started with, its files as they should be.
    ///
    /// # Errors
    /// Where its files cannot be written.
    pub fn command(self, stage: &Stage) -> Result<Command> {
        let work = stage.work();
        for (name, text) in [
            ("notes.txt", "alpha\nbeta\n"),
            ("orders.csv", "Part,Left\nBolt,12\nGear,7\n"),
            ("letter.txt", "dear\n"),
            ("other.txt", "else\n"),
            ("letter.fodt", LETTER),
            ("notes.html", "<title>Notes</title><p>alpha beta <a href=other.html>Other</a></p>"),
            ("other.html", "<title>Other page</title><p>else</p>"),
        ] {
            fs::write(work.join(name), text)?;
        }
        // What a user types the path of.
        fs::write(stage.path("home").join("letter.txt"), "dear\n")?;
        // What tasks leave.
        for name in ["said.txt", "plan.txt", "plan.html", "notes.txt~"] {
            let _ = fs::remove_file(work.join(name));
        }
        // What applications keep of themselves: the place of a cursor, too.
        for name in [
            ".config/featherpad",
            ".config/galculator",
            ".config/SpeedCrunch",
            ".local/share/SpeedCrunch",
            ".local/share/org.gnome.TextEditor",
        ] {
            let _ = fs::remove_dir_all(stage.path("home").join(name));
        }
        let files = work.join("files");
        let _ = fs::remove_dir_all(&files);
        fs::create_dir_all(files.join("Docs"))?;
        fs::write(files.join("letter.txt"), "dear\n")?;
        let with = |program: &str, arguments: &[&str]| {
            let mut command = stage.command(program);
            command.args(arguments);
            command
        };
        // The system's Python has the toolkits' bindings; another one in the path may not.
        let python = |file: &str| with("/usr/bin/python3", &[&ours(file)]);
        let mut command = match self {
            Self::Gtk3 => python("gtk3.py"),
            Self::Gtk4 => python("gtk4.py"),
            Self::Qt => python("qt.py"),
            Self::Swing => with(
                "java",
                &[
                    "-cp",
                    "/usr/share/java/java-atk-wrapper.jar",
                    "-Djavax.accessibility.assistive_technologies=org.GNOME.Accessibility.AtkWrapper",
                    &ours("Orders.java"),
                ],
            ),
            Self::Chromium => {
                let mut command = python("web.py");
                let folder = profile(stage, "chromium", "")?;
                // Its question about a password would lie over the page.
                fs::create_dir_all(folder.join("Default"))?;
                fs::write(folder.join("Default/Preferences"), r#"{"credentials_enable_service":false}"#)?;
                command.arg("chromium").args(CHROMIUM).arg(format!("--user-data-dir={}", folder.display()));
                command.args(BROWSER).arg("");
                command
            }
            // The sample application that comes with it: a page and nothing around it.
            Self::Cef => {
                let mut command = python("web.py");
                command.arg(tool("cef/cef_capi/runtime/cefsimple")?).args(CHROMIUM);
                command.args(["--use-alloy-style", "--log-severity=disable", "--url="]);
                command
            }
            Self::Firefox => {
                let mut command = python("web.py");
                let folder = profile(stage, "firefox", FIREFOX)?;
                command.args(["firefox-esr", "--no-remote", "--profile"]).arg(folder).arg("");
                command
            }
            Self::Browser => {
                let mut command = with("firefox-esr", &["--no-remote", "--profile"]);
                let page = format!("file://{}", work.join("notes.html").display());
                command.arg(profile(stage, "browser", FIREFOX)?).arg(page);
                command
            }
            Self::Mousepad => with("mousepad", &["--disable-server", "notes.txt"]),
            Self::Galculator => with("galculator", &[]),
            Self::Thunar => with("thunar", &["files"]),
            Self::TextEditor => with("gnome-text-editor", &["--standalone", "notes.txt"]),
            Self::Calculator => with("gnome-calculator", &["--mode=basic"]),
            Self::Featherpad => with("featherpad", &["--standalone", "notes.txt"]),
            Self::SpeedCrunch => with("speedcrunch", &[]),
            Self::Calc | Self::Writer | Self::Letter => office(stage, self)?,
            Self::Xterm => with("xterm", &["-T", "xterm", "-e", "bash", "--norc"]),
        };
        command.env("GSK_RENDERER", "cairo").env("PYTHONDONTWRITEBYTECODE", "1");
        Ok(command)
    }
}

/// What set-up puts into `tools`, beside the folder that `MIKI_BIN` was built into.
///
/// # Errors
/// Where it is missing.
pub(super) fn tool(name: &str) -> Result<PathBuf> {
    let bin = PathBuf::from(std::env::var_os("MIKI_BIN").context("MIKI_BIN is not set")?).canonicalize()?;
    let found = bin.ancestors().nth(2).unwrap_or(&bin).join("tools").join(name);
    anyhow::ensure!(found.exists(), "{} is missing: run cargo xtask setup, or bench truth", found.display());
    Ok(found)
}

/// A file beside these sources.
fn ours(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("truth").join(name).display().to_string()
}

const CHROMIUM: &[&str] = &[
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--password-store=basic",
    "--disable-gpu",
    "--force-renderer-accessibility",
];

const BROWSER: &[&str] = &[
    "--test-type", // no bar about having no sandbox
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-sync",
    "--disable-default-apps",
    "--window-size=900,720",
    "--window-position=20,30",
];

/// Nothing that greets, asks or fetches.
const FIREFOX: &str = r#"user_pref("browser.aboutwelcome.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("datareporting.policy.firstRunURL", "");
user_pref("startup.homepage_welcome_url", "");
user_pref("termsofuse.acceptedVersion", 999);
user_pref("browser.preonboarding.enabled", false);
user_pref("app.update.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("accessibility.force_disabled", -1);
"#;

/// The folder of a fresh profile.
fn profile(stage: &Stage, name: &str, preferences: &str) -> Result<PathBuf> {
    let folder = stage.path(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    if !preferences.is_empty() {
        fs::write(folder.join("user.js"), preferences)?;
    }
    Ok(folder)
}

/// Two lines in LibreOffice's own format: one file of XML that can be read.
const LETTER: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.3"
 office:mimetype="application/vnd.oasis.opendocument.text">
 <office:body><office:text><text:p>alpha</text:p><text:p>beta</text:p></office:text></office:body>
</office:document>
"#;

/// LibreOffice with a profile of its own, without tips, recovery and questions about a file's format.
fn office(stage: &Stage, app: App) -> Result<Command> {
    let profile = stage.path("office");
    let user = profile.join("user");
    fs::create_dir_all(&user)?;
    let item = |path: &str, name: &str, value: &str| {
        format!(
            "<item oor:path=\"/org.openoffice.{path}\"><prop oor:name=\"{name}\" oor:op=\"fuse\"><value>{value}</value></prop></item>\n"
        )
    };
    let items = [
        item("Office.Common/Misc", "ShowTipOfTheDay", "false"),
        item("Office.Common/Misc", "FirstRun", "false"),
        item("Office.Common/Save/Document", "WarnAlienFormat", "false"),
        item("Setup/Product", "ooSetupLastVersion", "7.4"),
        item("Office.Recovery/RecoveryInfo", "Enabled", "false"),
    ];
    fs::write(
        user.join("registrymodifications.xcu"),
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<oor:items xmlns:oor=\"http://openoffice.org/2001/registry\" \
             xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\n{}</oor:items>\n",
            items.concat()
        ),
    )?;
    let mut command = stage.command("soffice");
    command.arg(format!("-env:UserInstallation=file://{}", profile.display()));
    command.args(["--norestore", "--nologo", "--nofirststartwizard"]);
    // 44: comma; 34: quotes; 76: UTF-8; from the first line on. So it asks nothing.
    match app {
        App::Calc => {
            command.args(["--calc", "--infilter=Text - txt - csv (StarCalc):44,34,76,1", "orders.csv"])
        }
        App::Letter => command.args(["--writer", "letter.fodt"]),
        _ => command.args(["--writer", "notes.txt"]),
    };
    command.env("SAL_USE_VCLPLUGIN", "gtk3");
    Ok(command)
}
