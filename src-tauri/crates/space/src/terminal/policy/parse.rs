//! From text to the programs it would run, by bash's grammar. What is not plain is unknown, what could be anything is
//! said to be unclear; nothing is guessed.

use std::sync::mpsc::sync_channel;
use std::time::Duration;

use brush_parser::ast::{
    AndOr, AssignmentValue, BinaryPredicate, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand,
    CompoundList, ExtendedTestExpr, IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, SimpleCommand,
    UnaryPredicate, Word,
};
use brush_parser::word::{Parameter, ParameterExpr, WordPiece, WordPieceWithSource};
use brush_parser::{Parser, ParserOptions, SourceInfo};

use super::programs;

const LONGEST: usize = 16 << 10;
/// Brackets within brackets: the grammar calls itself.
const DEEPEST: usize = 24;
/// Commands within the words of commands.
const NESTED: usize = 6;
const STACK: usize = 64 << 20;
const PATIENCE: Duration = Duration::from_secs(1);
/// Variables that change how text is shown, and nothing else.
const HARMLESS: &[&str] = &[
    "CI",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "NO_COLOR",
    "RUST_BACKTRACE",
    "TZ",
];

#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) commands: Vec<Simple>,
    pub(super) unclear: Option<String>,
    /// A variable or an option of the shell is set, so that words after it may mean something else.
    pub(super) environment: bool,
}

/// One program as it would be called.
#[derive(Debug, Clone, Default)]
pub(super) struct Simple {
    pub(super) words: Vec<Arg>,
    /// Its output goes into a file.
    pub(super) writes: bool,
    /// No program: a variable of the script is set.
    pub(super) assigns: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Arg {
    /// Exactly this.
    Plain(String),
    /// Names of files; never an option, since what stands before the pattern is not one.
    Files(String),
    /// Known only when it runs: one word, none or many, options too.
    Unknown(String),
}

impl Arg {
    pub(super) fn text(&self) -> &str {
        let (Self::Plain(text) | Self::Files(text) | Self::Unknown(text)) = self;
        text
    }

    pub(super) fn plain(&self) -> Option<&str> {
        if let Self::Plain(text) = self { Some(text) } else { None }
    }
}

/// The error is the reason why it cannot be read, for people.
pub(super) fn parse(command: &str) -> Result<Parsed, String> {
    if cfg!(windows) {
        return Err("the command is not for a shell whose grammar is known".into());
    }
    if command.len() > LONGEST {
        return Err(format!("the command is longer than {LONGEST} bytes"));
    }
    let odd = |c: &char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || crate::terminal::screen::is_unseen(*c) && !matches!(c, '\n' | '\t')
    };
    if let Some(odd) = command.chars().find(odd) {
        return Err(format!("the command has a character that cannot be seen (U+{:04X})", u32::from(odd)));
    }
    // The parser is a stranger's: on its own stack, with a bound of time, and its breakdown is not ours.
    let (tell, told) = sync_channel(1);
    let text = command.to_owned();
    let read = move || {
        let mut parsed = Parsed::default();
        let done = read(&text, 0, &mut parsed).map(|()| parsed);
        let _ = tell.send(done);
    };
    let started = std::thread::Builder::new().name("parse".into()).stack_size(STACK).spawn(read);
    started.map_err(|error| format!("the command could not be read: {error}"))?;
    told.recv_timeout(PATIENCE).map_err(|_| "the command could not be read in time".to_owned())?
}

fn options() -> ParserOptions {
    // As in `bash -c`.
    ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() }
}

fn read(text: &str, depth: usize, parsed: &mut Parsed) -> Result<(), String> {
    if depth > NESTED {
        return Err("commands are nested too deeply".into());
    }
    // The parser takes the text of the one for a part of the other.
    if text.contains("<<") && text.contains("${") {
        return Err("a here-document stands beside an expansion of a variable".into());
    }
    let mut open = 0_usize;
    let mut deepest = 0;
    for c in text.chars() {
        match c {
            '(' | '{' | '[' => open += 1,
            ')' | '}' | ']' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    if deepest > DEEPEST {
        return Err("brackets are nested too deeply".into());
    }
    let mut parser = Parser::new(text.as_bytes(), &options(), &SourceInfo::default());
    let program = parser.parse_program().map_err(|error| format!("the command cannot be parsed: {error}"))?;
    let mut reader = Reader { parsed, depth };
    for list in &program.complete_commands {
        reader.list(list);
    }
    Ok(())
}

/// Whether a test takes a word for arithmetic or for a variable's name: `x` and `a[$(touch b)]` run what they hold.
fn computes(test: &ExtendedTestExpr) -> bool {
    use {BinaryPredicate as Two, UnaryPredicate as One};
    match test {
        ExtendedTestExpr::And(one, other) | ExtendedTestExpr::Or(one, other) => {
            computes(one) || computes(other)
        }
        ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => computes(inner),
        ExtendedTestExpr::UnaryTest(test, _) => {
            matches!(test, One::ShellVariableIsSetAndAssigned | One::ShellVariableIsSetAndNameRef)
        }
        ExtendedTestExpr::BinaryTest(test, ..) => matches!(
            test,
            Two::ArithmeticEqualTo
                | Two::ArithmeticNotEqualTo
                | Two::ArithmeticLessThan
                | Two::ArithmeticLessThanOrEqualTo
                | Two::ArithmeticGreaterThan
                | Two::ArithmeticGreaterThanOrEqualTo
        ),
    }
}

struct Reader<'a> {
    parsed: &'a mut Parsed,
    depth: usize,
}

impl Reader<'_> {
    fn unclear(&mut self, why: impl Into<String>) {
        self.parsed.unclear.get_or_insert(why.into());
    }

    fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            let rest = item.0.additional.iter().map(|(AndOr::And(one) | AndOr::Or(one))| one);
            for pipeline in std::iter::once(&item.0.first).chain(rest) {
                for command in &pipeline.seq {
                    self.command(command);
                }
            }
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                self.compound(compound);
                let mut around = Simple::default();
                for redirect in redirects.iter().flat_map(|list| &list.0) {
                    self.redirect(redirect, &mut around);
                }
                if around.writes {
                    self.parsed.commands.push(around);
                }
            }
            Command::Function(function) => {
                self.compound(&function.body.0);
                self.unclear("it defines a function, so a name may mean something else");
            }
            Command::ExtendedTest(test) => {
                let text = test.to_string();
                if text.contains(['$', '`', '<', '>']) || computes(&test.expr) {
                    self.unclear("it computes what it tests");
                }
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(group) => self.list(&group.list),
            CompoundCommand::ForClause(each) => {
                for value in each.values.iter().flatten() {
                    self.word(value);
                }
                // `for PATH in .`
                self.variable(&each.variable_name, true);
                self.list(&each.body.list);
            }
            CompoundCommand::CaseClause(case) => {
                self.word(&case.value);
                for item in &case.cases {
                    for pattern in &item.patterns {
                        self.word(pattern);
                    }
                    if let Some(list) = &item.cmd {
                        self.list(list);
                    }
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.list(&clause.then);
                for other in clause.elses.iter().flatten() {
                    if let Some(condition) = &other.condition {
                        self.list(condition);
                    }
                    self.list(&other.body);
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
            // Array subscripts in arithmetic run commands.
            CompoundCommand::Arithmetic(_) | CompoundCommand::ArithmeticForClause(_) => {
                self.unclear("it calculates");
            }
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) {
        let mut found = Simple::default();
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        for item in prefix {
            self.item(item, &mut found, true);
        }
        if let Some(word) = &simple.word_or_name {
            let word = self.word(word);
            found.words.push(word);
        }
        for item in suffix {
            self.item(item, &mut found, false);
        }
        if found.words.is_empty() && !found.writes {
            let set = simple.prefix.iter().map(|prefix| Arg::Plain(prefix.to_string()));
            found = Simple { words: set.collect(), assigns: true, writes: false };
        }
        self.add(found, 0);
    }

    /// The program and, where it runs another one that its words name, that one as well.
    fn add(&mut self, found: Simple, wrapped: usize) {
        if wrapped > NESTED {
            return self.unclear("programs are nested too deeply");
        }
        let inner = if found.assigns { programs::Inner::None } else { programs::inner(&found) };
        match inner {
            programs::Inner::None => {}
            programs::Inner::Program(words) => {
                self.add(Simple { words, ..Simple::default() }, wrapped + 1);
            }
            programs::Inner::Script(text) => {
                if let Err(why) = read(&text, self.depth + 1, self.parsed) {
                    self.unclear(why);
                }
            }
            programs::Inner::Environment => self.parsed.environment = true,
        }
        self.parsed.commands.push(found);
    }

    fn item(&mut self, item: &Item, found: &mut Simple, before: bool) {
        match item {
            Item::IoRedirect(redirect) => self.redirect(redirect, found),
            Item::Word(word) => {
                let word = self.word(word);
                found.words.push(word);
            }
            Item::AssignmentWord(assignment, word) if before => {
                let plain = match &assignment.value {
                    AssignmentValue::Scalar(value) => self.word(value).plain().is_some(),
                    AssignmentValue::Array(values) => {
                        for (name, value) in values {
                            name.iter().for_each(|name| drop(self.word(name)));
                            self.word(value);
                        }
                        self.unclear("it sets an array");
                        false
                    }
                };
                // The whole word too: a subscript of the name may be a command.
                self.word(word);
                self.variable(&assignment.name.to_string(), plain);
            }
            // After the program's name it is an argument like any other.
            Item::AssignmentWord(_, word) => {
                let word = self.word(word);
                found.words.push(word);
            }
            Item::ProcessSubstitution(_, commands) => {
                self.list(&commands.list);
                found.words.push(Arg::Unknown("<(…)".into()));
            }
        }
    }

    fn variable(&mut self, name: &str, plain: bool) {
        if name.contains('[') {
            self.unclear("it sets a part of an array");
        }
        // A lower-case name is the script's own.
        let own = name.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit());
        if !(own || plain && HARMLESS.contains(&name)) {
            self.parsed.environment = true;
        }
    }

    fn redirect(&mut self, redirect: &IoRedirect, found: &mut Simple) {
        match redirect {
            IoRedirect::File(_, kind, target) => match target {
                IoFileRedirectTarget::Filename(word) => {
                    let reads = matches!(kind, IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput);
                    self.file(word, reads, found);
                }
                IoFileRedirectTarget::Fd(_) => {}
                IoFileRedirectTarget::ProcessSubstitution(_, commands) => self.list(&commands.list),
                IoFileRedirectTarget::Duplicate(word) => {
                    let word = self.word(word);
                    let text = word.plain().unwrap_or_default();
                    let number = text.trim_end_matches('-');
                    if !(text == "-" || !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())) {
                        found.writes = true;
                    }
                }
            },
            IoRedirect::HereDocument(_, here) => {
                if here.requires_expansion && here.doc.value.contains(['$', '`']) {
                    self.word(&here.doc);
                    self.unclear("text for the program's input is computed");
                }
            }
            IoRedirect::HereString(_, word) => drop(self.word(word)),
            IoRedirect::OutputAndError(word, _) => self.file(word, false, found),
        }
    }

    fn file(&mut self, word: &Word, reads: bool, found: &mut Simple) {
        let word = self.word(word);
        let text = word.plain();
        if word.text().contains("/dev/tcp/") || word.text().contains("/dev/udp/") || (text.is_none() && reads)
        {
            // bash opens a connection for these names; an unknown name may be one.
            self.unclear("what it reads or writes may be a connection");
        }
        if !reads && text != Some("/dev/null") {
            found.writes = true;
        }
    }

    fn word(&mut self, word: &Word) -> Arg {
        let raw = &word.value;
        let Ok(pieces) = brush_parser::word::parse(raw, &options()) else {
            self.unclear("a word cannot be parsed");
            return Arg::Unknown(raw.clone());
        };
        // `{a,b}` is several words.
        let braces = raw.contains('{') && (raw.contains(',') || raw.contains(".."));
        let mut value = Value { text: String::new(), known: true, pattern: None };
        self.pieces(&pieces, false, &mut value);
        let braces = braces && value.has_bare_brace(&pieces);
        if !value.known || braces {
            return Arg::Unknown(raw.clone());
        }
        match value.pattern {
            None => Arg::Plain(value.text),
            // What stands before the pattern cannot be the beginning of an option.
            Some(at) if at > 0 && !value.text.starts_with('-') => Arg::Files(value.text),
            Some(_) => Arg::Unknown(raw.clone()),
        }
    }

    fn pieces(&mut self, pieces: &[WordPieceWithSource], quoted: bool, value: &mut Value) {
        for piece in pieces {
            match &piece.piece {
                WordPiece::Text(text) => {
                    // `[` alone is a program.
                    let pattern =
                        |(_, c): &(usize, char)| matches!(c, '*' | '?') || *c == '[' && text.contains(']');
                    let at = text.char_indices().find(pattern).filter(|_| !quoted).map(|(at, _)| at);
                    if let Some(at) = at {
                        value.pattern.get_or_insert(value.text.len() + at);
                    }
                    value.text.push_str(text);
                }
                WordPiece::SingleQuotedText(text) => value.text.push_str(text),
                WordPiece::DoubleQuotedSequence(inner) => self.pieces(inner, true, value),
                WordPiece::EscapeSequence(text) => {
                    let text = text.strip_prefix('\\').unwrap_or(text);
                    if text != "\n" {
                        // Within double quotes the backslash stays before most characters.
                        if quoted && !text.starts_with(['$', '`', '"', '\\']) {
                            value.text.push('\\');
                        }
                        value.text.push_str(text);
                    }
                }
                WordPiece::TildePrefix(text) => {
                    value.text.push('~');
                    value.text.push_str(text.trim_start_matches('~'));
                }
                // Its escapes spell any character.
                WordPiece::AnsiCQuotedText(_) | WordPiece::GettextDoubleQuotedSequence(_) => {
                    value.known = false
                }
                WordPiece::ParameterExpansion(ParameterExpr::Parameter { indirect: false, parameter }) => {
                    value.known = false;
                    // `${a[$(touch b)]}`
                    if matches!(parameter, Parameter::NamedWithIndex { .. }) {
                        self.unclear("it computes which part of a variable it takes");
                    }
                }
                WordPiece::ParameterExpansion(_) => {
                    value.known = false;
                    self.unclear("it computes with a variable");
                }
                WordPiece::CommandSubstitution(text) | WordPiece::BackquotedCommandSubstitution(text) => {
                    value.known = false;
                    if let Err(why) = read(text, self.depth + 1, self.parsed) {
                        self.unclear(why);
                    }
                }
                WordPiece::ArithmeticExpression(_) => {
                    value.known = false;
                    self.unclear("it calculates");
                }
            }
        }
    }
}

struct Value {
    text: String,
    known: bool,
    /// Where the first unquoted pattern character stands.
    pattern: Option<usize>,
}

impl Value {
    fn has_bare_brace(&self, pieces: &[WordPieceWithSource]) -> bool {
        pieces.iter().any(|piece| matches!(&piece.piece, WordPiece::Text(text) if text.contains('{')))
    }
}
