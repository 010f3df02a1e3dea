//! The browsers that answer Apple events, and where each lets its user allow scripts in pages. Data only.
//!
//! Bundle ids and menus as their makers name them; the menus are in the English of the browser.

/// Which dictionary an application speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// `do JavaScript ... in tab`; tabs have no ids.
    Safari,
    /// `execute tab javascript ...`; tabs have ids.
    Chromium,
    /// As Chromium, but a tab is selected, and is found by its id or place alone.
    Arc,
}

impl Family {
    /// As `script.js` calls it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Safari => "safari",
            Self::Chromium => "chromium",
            Self::Arc => "arc",
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct App {
    /// As its windows' owner is called.
    pub(super) name: &'static str,
    pub(super) bundle: &'static str,
    pub(super) family: Family,
    /// What its user has to do, so that pages answer.
    pub(super) allow: &'static str,
}

pub(super) static SAFARI: App = App {
    name: "Safari",
    bundle: "com.apple.Safari",
    family: Family::Safari,
    allow: "in Safari > Settings > Advanced switch on \"Show features for web developers\", then in Safari > Settings > \
            Developer switch on \"Allow JavaScript from Apple Events\" (before Safari 17: in the Develop menu)",
};

const fn chromium(name: &'static str, bundle: &'static str, allow: &'static str) -> App {
    App { name, bundle, family: Family::Chromium, allow }
}

const VIEW: &str = "in its menu bar choose View > Developer > Allow JavaScript from Apple Events";
const TOOLS: &str = "in its menu bar choose Tools > Developer > Allow JavaScript from Apple Events";
const DEVELOPER: &str = "in its menu bar choose Developer > Allow JavaScript from Apple Events (View > Show Developer \
                         Menu brings that menu)";

static OTHERS: [App; 8] = [
    chromium("Google Chrome", "com.google.Chrome", VIEW),
    chromium("Microsoft Edge", "com.microsoft.edgemac", TOOLS),
    App { name: "Arc", bundle: "company.thebrowser.Browser", family: Family::Arc, allow: VIEW },
    chromium("Brave Browser", "com.brave.Browser", VIEW),
    chromium("Opera", "com.operasoftware.Opera", DEVELOPER),
    chromium("Vivaldi", "com.vivaldi.Vivaldi", TOOLS),
    chromium("Chromium", "org.chromium.Chromium", VIEW),
    chromium("Google Chrome Canary", "com.google.Chrome.canary", VIEW),
];

/// All of them, Safari first.
pub(super) fn all() -> impl Iterator<Item = &'static App> {
    std::iter::once(&SAFARI).chain(&OTHERS)
}

/// The one whose windows' owner is called so.
pub(super) fn named(owner: &str) -> Option<&'static App> {
    // Apple translates the names of its own applications: "Safari浏览器".
    let safari = owner.starts_with(SAFARI.name) && !owner.contains("Technology Preview");
    if safari { Some(&SAFARI) } else { all().find(|app| app.name == owner) }
}

pub(super) fn by_bundle(bundle: &str) -> Option<&'static App> {
    all().find(|app| app.bundle == bundle)
}

#[cfg(test)]
mod tests;
