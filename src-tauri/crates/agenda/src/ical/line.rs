//! One content line: unfolded to be looked at, kept as it was to be written.

/// A property. Not to be edited: a new line takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// In upper case, without a group.
    pub name: String,
    /// Names in upper case, values without their quotes.
    params: Vec<(String, String)>,
    value: String,
    /// As it is written: folded, without the last line break.
    source: String,
}

/// No line is longer, by octets and without its break.
const FOLD: usize = 75;

impl Line {
    /// A line of ours. The value must have its escapes; what could end a line is dropped from it all the same.
    pub(crate) fn new(name: &str, params: &[(&str, &str)], value: &str) -> Self {
        let value: String = value.chars().filter(|char| !char.is_control() || *char == '\t').collect();
        let params: Vec<(String, String)> = params
            .iter()
            .map(|(name, value)| {
                let plain = value.chars().filter(|char| !char.is_control() && *char != '"');
                ((*name).to_owned(), plain.collect())
            })
            .collect();
        let mut text = name.to_owned();
        for (name, value) in &params {
            let quoted = value.contains([':', ';', ',']);
            text.push_str(&if quoted { format!(";{name}=\"{value}\"") } else { format!(";{name}={value}") });
        }
        text.push(':');
        text.push_str(&value);
        Self { name: name.into(), params, value, source: folded(&text) }
    }

    fn read(source: String) -> Option<Self> {
        let text = source.replace("\r\n ", "").replace("\r\n\t", "");
        let mut quoted = false;
        let mut pieces = Vec::new();
        let mut start = 0;
        let mut colon = None;
        for (at, char) in text.char_indices() {
            match char {
                '"' => quoted = !quoted,
                ';' | ':' if !quoted => {
                    pieces.push(&text[start..at]);
                    start = at + 1;
                    if char == ':' {
                        colon = Some(at);
                        break;
                    }
                }
                _ => {}
            }
        }
        let value = text[colon? + 1..].to_owned();
        let (name, params) = pieces.split_first()?;
        let name = name.rsplit('.').next().unwrap_or(name).trim().to_ascii_uppercase();
        let params = params.iter().filter_map(|piece| {
            let (name, value) = piece.split_once('=')?;
            Some((name.trim().to_ascii_uppercase(), value.replace('"', "")))
        });
        let params = params.collect();
        Some(Self { name, params, value, source })
    }

    /// The same property, its parameters as they were, with another value.
    pub(crate) fn with_value(&self, value: &str) -> Self {
        let text = self.source.replace("\r\n ", "").replace("\r\n\t", "");
        let head = &text[..text.len() - self.value.len()];
        let source = folded(&format!("{head}{value}"));
        Self { value: value.into(), source, ..self.clone() }
    }

    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn value(&self) -> &str {
        &self.value
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }
}

/// The content lines of a text with any line breaks. What is no content line (an empty one, one without a colon) is
/// dropped: it means nothing, and no server takes it back.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut physical = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).peekable();
    std::iter::from_fn(move || {
        loop {
            let mut source = physical.next()?.to_owned();
            while let Some(more) = physical.next_if(|line| line.starts_with([' ', '\t'])) {
                source.push_str("\r\n");
                source.push_str(more);
            }
            // A lone CR would be a break to some readers of what we write.
            let clean = source.replace("\r\n", "\n").replace('\r', "").replace('\n', "\r\n");
            if let Some(line) = Line::read(clean) {
                return Some(line);
            }
        }
    })
}

fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len() + text.len() / FOLD * 3);
    let mut octets = 0;
    for char in text.chars() {
        if octets + char.len_utf8() > FOLD {
            folded.push_str("\r\n ");
            octets = 1;
        }
        folded.push(char);
        octets += char.len_utf8();
    }
    folded
}
