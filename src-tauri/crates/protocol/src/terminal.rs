//! What a line of output looks like: text in spans, with the colours and weights a terminal knows, and nothing else.
//! Titles, links, clipboard writes, pictures and queries have no place here, so they cannot pass.

use serde::{Deserialize, Serialize};

/// One line, as it stands now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    pub spans: Vec<Span>,
    /// Characters beyond the longest line that is kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut: u64,
}

/// Text of one style. Has no control characters and none that people cannot see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub text: String,
    #[serde(flatten)]
    pub style: Style,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Style {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fg: Option<Color>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bg: Option<Color>,
    #[serde(skip_serializing_if = "is_false")]
    pub bold: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub dim: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub italic: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub underline: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub strike: bool,
    /// Foreground and background are exchanged.
    #[serde(skip_serializing_if = "is_false")]
    pub inverse: bool,
}

/// `Index` 0 to 7 are the plain colours, 8 to 15 the bright ones (the theme decides), 16 to 255 xterm's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Color {
    Index(u8),
    Rgb(u8, u8, u8),
}

impl Line {
    pub fn text(&self) -> String {
        let mut text: String = self.spans.iter().map(|span| span.text.as_str()).collect();
        if self.cut > 0 {
            text.push_str(&format!("… (cut: {} more characters)", self.cut));
        }
        text
    }
}

impl Style {
    /// Applies one "select graphic rendition" sequence. Concealed text is shown: what is there can be read.
    pub fn select(&mut self, params: &[Vec<u16>]) {
        let mut rest = params.iter();
        while let Some(param) = rest.next() {
            match param.first().copied().unwrap_or(0) {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                3 => self.italic = true,
                4 => self.underline = param.get(1) != Some(&0),
                7 => self.inverse = true,
                9 => self.strike = true,
                21 => self.underline = true,
                22 => (self.bold, self.dim) = (false, false),
                23 => self.italic = false,
                24 => self.underline = false,
                27 => self.inverse = false,
                29 => self.strike = false,
                n @ 30..=37 => self.fg = index(n - 30),
                n @ 40..=47 => self.bg = index(n - 40),
                n @ 90..=97 => self.fg = index(n - 90 + 8),
                n @ 100..=107 => self.bg = index(n - 100 + 8),
                38 => self.fg = extended(param, &mut rest).or(self.fg),
                48 => self.bg = extended(param, &mut rest).or(self.bg),
                39 => self.fg = None,
                49 => self.bg = None,
                _ => {}
            }
        }
    }
}

fn index(n: u16) -> Option<Color> {
    u8::try_from(n).ok().map(Color::Index)
}

/// `38:5:n`, `38:2::r:g:b` (one parameter with parts), or `38;5;n`, `38;2;r;g;b` (several).
fn extended<'a>(param: &[u16], rest: &mut impl Iterator<Item = &'a Vec<u16>>) -> Option<Color> {
    if param.len() > 1 {
        return match (param[1], &param[2..]) {
            (5, [n, ..]) => index(*n),
            (2, [r, g, b]) | (2, [_, r, g, b, ..]) => rgb(*r, *g, *b),
            _ => None,
        };
    }
    let mut next = || rest.next().and_then(|param| param.first().copied());
    match next()? {
        5 => index(next()?),
        2 => rgb(next()?, next()?, next()?),
        _ => None,
    }
}

fn rgb(r: u16, g: u16, b: u16) -> Option<Color> {
    Some(Color::Rgb(u8::try_from(r).ok()?, u8::try_from(g).ok()?, u8::try_from(b).ok()?))
}

fn is_false(it: &bool) -> bool {
    !it
}

fn is_zero(it: &u64) -> bool {
    *it == 0
}
