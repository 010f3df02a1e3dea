//! Finding files by name and lines by pattern: ripgrep's matching over our own walk.

use std::io;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch};
use serde::Serialize;

use super::error::FileError;
use super::kind::Kind;
use super::path::SpacePath;
use super::protect::holds_secret;
use super::walk::{Ignoring, Skipped, Then, walk};
use super::{Space, Stop};

/// What to look for in files.
#[derive(Debug, Clone)]
pub struct Query {
    /// A regular expression, or text where `literal`.
    pub pattern: String,
    pub literal: bool,
    pub case: Case,
    /// The folder or file to look in.
    pub under: SpacePath,
    /// Only files whose path below `under` fits one of these; all where there is none.
    pub globs: Vec<String>,
    /// Lines before and after each.
    pub context: usize,
    /// Matching lines in all.
    pub limit: usize,
    /// Also what `.gitignore` files name, and `.git`.
    pub ignored_too: bool,
}

/// How letters compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Case {
    /// Without case, unless the pattern has an upper-case letter.
    #[default]
    Smart,
    Sensitive,
    Insensitive,
}

/// A line of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    pub number: u64,
    /// Without its end; a long one ends with `…`.
    pub text: String,
    /// False for a line around one that matches.
    pub matches: bool,
}

/// The lines of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileMatches {
    pub path: SpacePath,
    pub lines: Vec<Line>,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    pub files: Vec<FileMatches>,
    /// Matching lines in `files`.
    pub matches: usize,
    /// Files that were looked into.
    pub searched: u64,
    /// The limit was reached: there may be more.
    pub more: bool,
    pub skipped: Skipped,
}

/// Files and folders whose names fit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Glob {
    pub paths: Vec<SpacePath>,
    /// The limit was reached: there may be more.
    pub more: bool,
    pub skipped: Skipped,
}

/// A line is shown up to here.
const LINE: usize = 400;
/// All of a result.
const SHOWN: usize = 200_000;
/// What one file's search may hold: its longest line.
const HEAP: usize = 8 << 20;
/// A compiled pattern.
const PATTERN: usize = 8 << 20;

impl Space {
    /// Files and folders below `under` whose path there fits `pattern` (`**/*.rs`, `{a,b}/*`), sorted, at most `limit`.
    /// A pattern without `/` is looked for in all folders.
    pub fn glob(
        &self,
        pattern: &str,
        under: &SpacePath,
        ignored_too: bool,
        limit: usize,
        stop: Stop<'_>,
    ) -> Result<Glob, FileError> {
        let globs = globs(&[pattern.to_owned()])?;
        let mut out = Glob::default();
        let ignoring = if ignored_too { Ignoring::Nothing } else { Ignoring::Ignored };
        let skipped = walk(self, under, ignoring, stop, &mut |_, path, _, _| {
            if globs.is_match(below(path, under)) {
                if out.paths.len() == limit {
                    out.more = true;
                    return Ok(Then::End);
                }
                out.paths.push(path.clone());
            }
            Ok(Then::On)
        })?;
        out.skipped = skipped;
        Ok(out)
    }

    /// Looks for a pattern in text files. Binary files, links, files with further names and, but where one is searched by
    /// itself, those that hold keys are skipped and counted.
    pub fn search(&self, query: &Query, stop: Stop<'_>) -> Result<Found, FileError> {
        let matcher = matcher(query)?;
        let globs = globs(&query.globs)?;
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(HEAP))
            .before_context(query.context)
            .after_context(query.context)
            .build();
        let mut found = Found::default();
        let mut shown = 0;
        let mut one = |file: cap_std::fs::File, path: &SpacePath, skipped: &mut Skipped| {
            found.searched += 1;
            let mut sink = Lines {
                found: &mut found,
                shown: &mut shown,
                limit: query.limit,
                path,
                binary: false,
                stop,
                stopped: false,
            };
            let result = searcher.search_reader(&matcher, Stopped { file, stop }, &mut sink);
            let (binary, stopped) = (sink.binary, sink.stopped);
            if stopped || stop() {
                return Err(FileError::Stopped);
            }
            match result {
                Ok(()) if binary => {
                    skipped.binary += 1;
                    // A line before the first zero byte is no line.
                    if let Some(last) = found.files.pop_if(|last| last.path == *path) {
                        found.matches -= last.lines.iter().filter(|line| line.matches).count();
                    }
                }
                Ok(()) => {}
                Err(e)
                    if e.to_string().contains("heap limit") || e.to_string().contains("allocation limit") =>
                {
                    skipped.long_lines += 1;
                }
                Err(_) => skipped.unreadable += 1,
            }
            Ok(if found.more { Then::End } else { Then::On })
        };
        let look = if query.under.is_root() { None } else { Some(self.look(&query.under)?.kind) };
        if look.is_some_and(|kind| kind != Kind::Folder) {
            let (file, _) = self.file(&query.under)?;
            let mut skipped = Skipped::default();
            one(file, &query.under, &mut skipped)?;
            found.skipped = skipped;
            return Ok(found);
        }
        let ignoring = if query.ignored_too { Ignoring::Nothing } else { Ignoring::Ignored };
        let skipped = walk(self, &query.under, ignoring, stop, &mut |dir, path, kind, skipped| {
            if kind != Kind::File || (!query.globs.is_empty() && !globs.is_match(below(path, &query.under))) {
                return Ok(Then::On);
            }
            let Some(name) = path.name() else { return Ok(Then::On) };
            if holds_secret(path) {
                skipped.secret += 1;
                return Ok(Then::On);
            }
            match self.file_in(dir, name, path) {
                Ok((file, _)) => one(file, path, skipped),
                Err(FileError::HardLinked { .. }) => {
                    skipped.hard_linked += 1;
                    Ok(Then::On)
                }
                Err(_) => {
                    skipped.unreadable += 1;
                    Ok(Then::On)
                }
            }
        })?;
        found.skipped = skipped;
        Ok(found)
    }
}

fn below<'a>(path: &'a SpacePath, under: &SpacePath) -> &'a str {
    path.as_str().strip_prefix(under.as_str()).unwrap_or_default().trim_start_matches('/')
}

fn globs(patterns: &[String]) -> Result<GlobSet, FileError> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let error =
            |e: globset::Error| FileError::Pattern { pattern: pattern.clone(), why: e.kind().to_string() };
        let clean = pattern.strip_prefix("./").unwrap_or(pattern);
        let anywhere = if clean.contains('/') { clean.to_owned() } else { format!("**/{clean}") };
        set.add(GlobBuilder::new(&anywhere).literal_separator(true).build().map_err(error)?);
    }
    set.build().map_err(|e| FileError::Pattern { pattern: patterns.join(" "), why: e.to_string() })
}

fn matcher(query: &Query) -> Result<RegexMatcher, FileError> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .line_terminator(Some(b'\n'))
        .fixed_strings(query.literal)
        .size_limit(PATTERN)
        .dfa_size_limit(PATTERN);
    match query.case {
        Case::Smart => builder.case_smart(true),
        Case::Sensitive => builder.case_insensitive(false),
        Case::Insensitive => builder.case_insensitive(true),
    };
    let error = |why: String| FileError::Pattern { pattern: query.pattern.clone(), why };
    if query.pattern.is_empty() {
        return Err(error("it is empty".into()));
    }
    builder
        .build(&query.pattern)
        .map_err(|e| error(e.to_string().lines().last().unwrap_or_default().to_owned()))
}

/// A file that ends in an error once the stop says so: a line that never comes is not waited for.
struct Stopped<'a> {
    file: cap_std::fs::File,
    stop: Stop<'a>,
}

impl io::Read for Stopped<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.stop)() { Err(io::Error::other("stopped")) } else { self.file.read(buffer) }
    }
}

/// Takes lines until the limit.
struct Lines<'a> {
    found: &'a mut Found,
    shown: &'a mut usize,
    limit: usize,
    path: &'a SpacePath,
    binary: bool,
    stop: Stop<'a>,
    stopped: bool,
}

impl Lines<'_> {
    fn add(&mut self, number: Option<u64>, bytes: &[u8], matches: bool) {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let mut text = String::from_utf8_lossy(&bytes[..bytes.len().min(LINE)]).into_owned();
        if bytes.len() > LINE {
            text.truncate(text.trim_end_matches('\u{fffd}').len());
            text.push('…');
        }
        *self.shown += text.len() + 8;
        let line = Line { number: number.unwrap_or(0), text, matches };
        match self.found.files.last_mut() {
            Some(last) if last.path == *self.path => last.lines.push(line),
            _ => self.found.files.push(FileMatches { path: self.path.clone(), lines: vec![line] }),
        }
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if (self.stop)() {
            self.stopped = true;
            return Ok(false);
        }
        if self.found.matches >= self.limit || *self.shown >= SHOWN {
            self.found.more = true;
            return Ok(false);
        }
        self.found.matches += 1;
        self.add(found.line_number(), found.bytes(), true);
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> Result<bool, io::Error> {
        if *self.shown >= SHOWN {
            self.found.more = true;
            return Ok(false);
        }
        self.add(line.line_number(), line.bytes(), false);
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}
