//! Signs that a command destroys what cannot be brought back: for the card, in words. Advice only.
//!
//! The signs are data: `destructive.tsv`, a pattern and a reason a line. A pattern is held against each program with
//! its words joined by one space, or, with `text:` before it, against the whole command.

use std::sync::LazyLock;

use regex::Regex;

use super::Segment;

struct Sign {
    whole: bool,
    pattern: Regex,
    unless: Option<Regex>,
    why: &'static str,
}

impl Sign {
    fn is_in(&self, text: &str) -> bool {
        self.pattern.is_match(text) && !self.unless.as_ref().is_some_and(|unless| unless.is_match(text))
    }
}

static SIGNS: LazyLock<Vec<Sign>> = LazyLock::new(|| {
    let lines = include_str!("destructive.tsv").lines().filter(|line| !line.starts_with('#'));
    let sign = |line: &'static str| {
        let (pattern, rest) = line.split_once('\t')?;
        let (why, unless) = rest.split_once('\t').map_or((rest, None), |(why, unless)| (why, Some(unless)));
        let unless = unless.map(Regex::new).transpose().ok()?;
        let (whole, pattern) = match pattern.strip_prefix("text:") {
            Some(pattern) => (true, pattern),
            None => (false, pattern),
        };
        Some(Sign { whole, pattern: Regex::new(pattern).ok()?, unless, why })
    };
    lines.filter_map(sign).collect()
});

/// How the command's own text is looked at, beside its segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    Whole,
    /// Cut at the signs of the shell as well: not all of it could be parsed.
    Cut,
}

static BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let before = "sudo|doas|env|nohup|timeout|time|command|builtin|exec|eval|coproc|trap|nice|ionice|xargs|setsid|bash|sh|if|while|until|elif|then|do|else|!";
    Regex::new(&format!(r"^(({before})( -\S+)*( \d\S*)?|\w+=\S*|[{{(`\\'\x22]) ?")).ok()
});

/// The program after `sudo` and its like, which the user means.
fn meant(mut text: &str) -> &str {
    while let Some(found) =
        BEFORE.as_ref().and_then(|before| before.find(text)).filter(|found| !found.is_empty())
    {
        let rest = &text[found.end()..];
        if !found.as_str().ends_with([' ', '{', '(', '`', '\\', '\'', '"']) {
            break;
        }
        text = rest;
    }
    text
}

pub(super) fn signs(command: &str, segments: &[Segment], text: Text) -> Vec<String> {
    let mut texts: Vec<String> = segments.iter().map(|segment| segment.words.join(" ")).collect();
    if text == Text::Cut {
        let cut = command.split([';', '|', '&', '\n', '(', ')', '`']);
        texts.extend(cut.map(|part| part.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    let texts: Vec<&str> = texts.iter().map(|text| meant(text)).collect();
    let whole = command.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found: Vec<String> = Vec::new();
    for sign in SIGNS.iter() {
        let is_there =
            if sign.whole { sign.is_in(&whole) } else { texts.iter().any(|text| sign.is_in(text)) };
        if is_there && !found.iter().any(|why| why == sign.why) {
            found.push(sign.why.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::SIGNS;

    #[test]
    fn every_line_of_the_data_is_a_sign() {
        let lines =
            include_str!("destructive.tsv").lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        assert_eq!(SIGNS.len(), lines.count());
    }
}
