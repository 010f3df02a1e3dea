//! Git's own configuration without what runs a program: a filter, a text conversion, a hook's folder, another file to read.
//!
//! By a list of what is harmless, since Git has a key more with each version. Pure: text in, text out.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "other systems' sandboxes use less of it"))]

/// In place of what cannot be read to its end.
const LEAST: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";

/// Sections of which no key names a program, whatever it is.
const HARMLESS: &[&str] = &[
    "advice",
    "author",
    "blame",
    "checkout",
    "color",
    "column",
    "commit",
    "commitgraph",
    "committer",
    "extensions",
    "feature",
    "fetch",
    "i18n",
    "index",
    "log",
    "pack",
    "pull",
    "push",
    "rebase",
    "rerere",
    "stash",
    "status",
    "tag",
    "user",
    "versionsort",
];
const CORE: &[&str] = &[
    "abbrev",
    "autocrlf",
    "bare",
    "bigfilethreshold",
    "checkstat",
    "commentchar",
    "commitgraph",
    "compression",
    "deltabasecachelimit",
    "eol",
    "excludesfile",
    "filemode",
    "fscache",
    "ignorecase",
    "logallrefupdates",
    "longpaths",
    "loosecompression",
    "multipackindex",
    "packedgitlimit",
    "packedgitwindowsize",
    "precomposeunicode",
    "preloadindex",
    "protecthfs",
    "protectntfs",
    "quotepath",
    "repositoryformatversion",
    "safecrlf",
    "sharedrepository",
    "sparsecheckout",
    "sparsecheckoutcone",
    "splitindex",
    "symlinks",
    "trustctime",
    "untrackedcache",
    "warnambiguousrefs",
    "whitespace",
    "worktree",
];
const REMOTE: &[&str] = &[
    "fetch",
    "mirror",
    "partialclonefilter",
    "promisor",
    "prune",
    "prunetags",
    "push",
    "pushurl",
    "skipdefaultupdate",
    "skipfetchall",
    "tagopt",
    "url",
];
const BRANCH: &[&str] = &["description", "merge", "pushremote", "rebase", "remote"];
const SUBMODULE: &[&str] =
    &["active", "branch", "fetchrecursesubmodules", "ignore", "path", "recurse", "shallow", "url"];
const MERGE: &[&str] = &[
    "autostash",
    "branchdesc",
    "conflictstyle",
    "directoryrenames",
    "ff",
    "log",
    "renamelimit",
    "renames",
    "stat",
    "suppressdest",
    "verbosity",
];
const DIFF: &[&str] = &[
    "algorithm",
    "autorefreshindex",
    "colormoved",
    "colormovedws",
    "context",
    "dirstat",
    "ignoresubmodules",
    "indentheuristic",
    "interhunkcontext",
    "mnemonicprefix",
    "noprefix",
    "relative",
    "renamelimit",
    "renames",
    "statgraphwidth",
    "submodule",
    "suppressblankempty",
    "wordregex",
    "wserrorhighlight",
];
const DIFF_DRIVER: &[&str] = &["binary", "funcname", "wordregex", "xfuncname"];

/// One key with what it says, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    section: String,
    /// With its quotes and escapes.
    sub: Option<String>,
    key: String,
    /// `None`: the key alone, which says yes.
    value: Option<String>,
}

impl Entry {
    fn is_harmless(&self) -> bool {
        let (key, is_plain) = (self.key.as_str(), self.sub.is_none());
        match self.section.as_str() {
            "core" => is_plain && CORE.contains(&key),
            "remote" => REMOTE.contains(&key),
            "branch" => BRANCH.contains(&key),
            "submodule" => SUBMODULE.contains(&key),
            "merge" => is_plain && MERGE.contains(&key),
            "diff" if is_plain => DIFF.contains(&key),
            "diff" => DIFF_DRIVER.contains(&key),
            // What must be filtered is then refused, and not kept unfiltered.
            "filter" => key == "required",
            "gc" => is_plain && ["auto", "autodetach", "autopacklimit"].contains(&key),
            "init" => key == "defaultbranch",
            "lfs" => key == "repositoryformatversion",
            section => HARMLESS.contains(&section),
        }
    }

    /// A password in an address is nothing that a command without a network needs.
    fn without_password(mut self) -> Self {
        if let (true, Some(value)) = (self.key.ends_with("url"), &self.value)
            && let Some((scheme, rest)) = value.split_once("://")
        {
            let end = rest.find('/').unwrap_or(rest.len());
            if let Some((_, host)) = rest[..end].rsplit_once('@') {
                self.value = Some(format!("{scheme}://{host}{}", &rest[end..]));
            }
        }
        self
    }
}

/// What is left of a configuration; `None` if that is all of it.
pub(super) fn disarmed(text: &str) -> Option<String> {
    let Some(entries) = read(text) else { return Some(LEAST.to_owned()) };
    let kept: Vec<Entry> =
        entries.iter().filter(|entry| entry.is_harmless()).cloned().map(Entry::without_password).collect();
    (kept != entries).then(|| kept.iter().map(written).collect())
}

fn written(entry: &Entry) -> String {
    let Entry { section, sub, key, value } = entry;
    let sub = sub.as_ref().map(|sub| format!(" {sub}")).unwrap_or_default();
    let value = value.as_ref().map(|value| format!(" = {value}")).unwrap_or_default();
    format!("[{section}{sub}]\n\t{key}{value}\n")
}

/// `None` if it is not to be understood to its end.
fn read(text: &str) -> Option<Vec<Entry>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let mut left = text.chars().peekable();
    let (mut entries, mut section, mut sub) = (Vec::new(), None, None);
    while let Some(&first) = left.peek() {
        if first.is_whitespace() {
            left.next();
        } else if matches!(first, '#' | ';') {
            while left.next().is_some_and(|c| c != '\n') {}
        } else if first == '[' {
            left.next();
            let named = header(&mut left)?;
            (section, sub) = (Some(named.0), named.1);
        } else {
            let mut key = String::new();
            while let Some(c) = left.next_if(|c| c.is_ascii_alphanumeric() || *c == '-') {
                key.push(c.to_ascii_lowercase());
            }
            if !key.starts_with(|c: char| c.is_ascii_alphabetic()) {
                return None;
            }
            while left.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
            let value = match left.peek() {
                Some('=') => {
                    left.next();
                    Some(value(&mut left)?)
                }
                Some('\n' | '#' | ';') | None => None,
                Some(_) => return None,
            };
            entries.push(Entry { section: section.clone()?, sub: sub.clone(), key, value });
        }
    }
    Some(entries)
}

type Letters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// After its bracket, with that which ends it.
fn header(left: &mut Letters<'_>) -> Option<(String, Option<String>)> {
    let mut name = String::new();
    while let Some(c) = left.next_if(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.')) {
        name.push(c.to_ascii_lowercase());
    }
    while left.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
    let mut sub = None;
    if left.next_if_eq(&'"').is_some() {
        let mut text = String::from('"');
        loop {
            let c = left.next()?;
            text.push(c);
            match c {
                '\\' => text.push(left.next()?),
                '\n' => return None,
                '"' => break,
                _ => {}
            }
        }
        sub = Some(text);
    }
    left.next_if_eq(&']')?;
    // An old way to write the same.
    match name.split_once('.') {
        Some((section, rest)) if sub.is_none() => Some((section.to_owned(), Some(format!("\"{rest}\"")))),
        Some(_) => None,
        None => Some((name, sub)),
    }
}

fn value(left: &mut Letters<'_>) -> Option<String> {
    let (mut text, mut is_quoted) = (String::new(), false);
    while let Some(c) = left.next() {
        match c {
            '\\' => {
                text.push(c);
                text.push(left.next()?);
            }
            '"' => {
                is_quoted = !is_quoted;
                text.push(c);
            }
            '\n' if is_quoted => return None,
            '\n' => break,
            '#' | ';' if !is_quoted => {
                while left.next().is_some_and(|c| c != '\n') {}
                break;
            }
            c => text.push(c),
        }
    }
    (!is_quoted).then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests;
