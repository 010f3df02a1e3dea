//! iCalendar as text: objects are read into lines that stay byte for byte as they were unless they are edited, so that
//! what we know nothing of survives a change.

mod line;
mod value;
mod windows_zones;
mod zone_text;
mod zones;

use crate::Error;

pub(crate) use line::Line;
pub(crate) use value::{
    TimeForm, date_text, escaped, moment_line, read_time, stamp_text, time_text, unescaped,
};
pub(crate) use zone_text::time_zone_component;
pub(crate) use zones::Zones;

/// The most lines of one object: an invitation to thousands has some thousands.
const MAX_LINES: usize = 100_000;
/// VALARM is the third; nothing goes deeper.
const MAX_DEPTH: usize = 8;

/// What stands between a BEGIN and its END.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Component {
    /// In upper case.
    pub name: String,
    pub parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Line(Line),
    Component(Component),
}

impl Component {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.into(), parts: Vec::new() }
    }

    /// Reads one VCALENDAR.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let bad = |why: &str| Error::Unreadable { what: "a calendar object".into(), why: why.into() };
        let mut open: Vec<Self> = Vec::new();
        for (count, line) in line::lines(text).enumerate() {
            if count >= MAX_LINES {
                return Err(bad("it has too many lines"));
            }
            if line.name == "BEGIN" {
                if open.len() >= MAX_DEPTH {
                    return Err(bad("its parts lie too deep within each other"));
                }
                open.push(Self::new(&line.value().trim().to_ascii_uppercase()));
            } else if line.name == "END" {
                let done = open.pop().ok_or_else(|| bad("an END has no BEGIN"))?;
                if !done.name.eq_ignore_ascii_case(line.value().trim()) {
                    return Err(bad("an END belongs to no BEGIN"));
                }
                match open.last_mut() {
                    Some(parent) => parent.parts.push(Part::Component(done)),
                    None if done.name == "VCALENDAR" => return Ok(done),
                    None => return Err(bad("it is no VCALENDAR")),
                }
            } else {
                let parent = open.last_mut().ok_or_else(|| bad("it does not start with BEGIN:VCALENDAR"))?;
                parent.parts.push(Part::Line(line));
            }
        }
        Err(bad("it has no end"))
    }

    pub(crate) fn write(&self) -> String {
        let mut text = String::new();
        self.write_to(&mut text);
        text
    }

    fn write_to(&self, text: &mut String) {
        text.push_str(&format!("BEGIN:{}\r\n", self.name));
        for part in &self.parts {
            match part {
                Part::Line(line) => {
                    text.push_str(line.source());
                    text.push_str("\r\n");
                }
                Part::Component(component) => component.write_to(text),
            }
        }
        text.push_str(&format!("END:{}\r\n", self.name));
    }

    pub(crate) fn lines<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Line> {
        self.parts.iter().filter_map(move |part| match part {
            Part::Line(line) if line.name == name => Some(line),
            Part::Line(_) | Part::Component(_) => None,
        })
    }

    pub(crate) fn line(&self, name: &str) -> Option<&Line> {
        self.parts.iter().find_map(|part| match part {
            Part::Line(line) if line.name == name => Some(line),
            Part::Line(_) | Part::Component(_) => None,
        })
    }

    /// A property's text without its escapes; `None` if it is missing or empty.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.line(name).map(|line| unescaped(line.value())).filter(|text| !text.is_empty())
    }

    pub(crate) fn components(&self) -> impl Iterator<Item = &Self> {
        self.parts.iter().filter_map(|part| match part {
            Part::Component(component) => Some(component),
            Part::Line(_) => None,
        })
    }

    pub(crate) fn components_mut(&mut self) -> impl Iterator<Item = &mut Self> {
        self.parts.iter_mut().filter_map(|part| match part {
            Part::Component(component) => Some(component),
            Part::Line(_) => None,
        })
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.parts.retain(|part| !matches!(part, Part::Line(line) if line.name == name));
    }

    /// Puts a line in the place of the first of its name, and drops the others; else before the inner components, as
    /// RFC 5545 wants it.
    pub(crate) fn set(&mut self, line: Line) {
        let is = |part: &Part| matches!(part, Part::Line(other) if other.name == line.name);
        let Some(at) = self.parts.iter().position(is) else {
            return self.add(line);
        };
        let mut index = 0;
        self.parts.retain(|part| {
            index += 1;
            index - 1 == at || !is(part)
        });
        self.parts[at] = Part::Line(line);
    }

    /// Adds a line beside others of its name.
    pub(crate) fn add(&mut self, line: Line) {
        let end = self.parts.iter().position(|part| matches!(part, Part::Component(_)));
        self.parts.insert(end.unwrap_or(self.parts.len()), Part::Line(line));
    }

    /// Sets a property to a text, or removes it where the text is empty. Its parameters (a language, another form of the
    /// text) belonged to the old one and go.
    pub(crate) fn set_text(&mut self, name: &str, text: &str) {
        if text.is_empty() {
            self.remove(name);
        } else {
            self.set(Line::new(name, &[], &escaped(text)));
        }
    }
}
