//! What a server of the Model Context Protocol wants to know of the user in the middle of one of its calls (elicitation).

use std::fmt;

use serde::{Deserialize, Serialize};

/// The answer that leaves it out, or takes what is usual.
pub const LEFT_OUT: &str = ".";

/// One thing that is asked for. All texts are a server's, on one line each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Elicitation {
    /// As the user calls it.
    pub server: String,
    /// What it asks for, or why.
    pub message: String,
    /// What is to be filled in; empty where only a yes is wanted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field: String,
    /// Not by its own name: [`crate::contract::About`] has that for itself.
    #[serde(rename = "takes")]
    pub kind: Kind,
    /// What is taken where it is left out; `None` for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual: Option<String>,
    pub is_required: bool,
    /// What was wrong with the answer before this; `None` if it is asked for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Kind {
    #[default]
    Text,
    Number {
        is_whole: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        least: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        most: Option<f64>,
    },
    YesOrNo,
    /// One of these, as they are called.
    OneOf {
        of: Vec<String>,
    },
    /// Any of these: in the answer, commas are between them.
    SomeOf {
        of: Vec<String>,
    },
}

/// What was wrong with an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Fault {
    TooShort { least: usize },
    TooLong { most: usize },
    NotYesOrNo,
    NoNumber { is_whole: bool },
    OutOfBounds,
    NoChoice { answer: String },
}

impl Elicitation {
    /// Whether an answer may leave it out, or take what is usual.
    pub fn may_be_left_out(&self) -> bool {
        self.usual.is_some() || !self.is_required
    }

    /// All texts in it that others wrote.
    pub fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        let Self { server, message, field, kind, usual, is_required: _, fault } = self;
        let of = match kind {
            Kind::OneOf { of } | Kind::SomeOf { of } => of.as_mut_slice(),
            Kind::Text | Kind::Number { .. } | Kind::YesOrNo => &mut [],
        };
        let answer = match fault {
            Some(Fault::NoChoice { answer }) => Some(answer),
            _ => None,
        };
        [server, message, field].into_iter().chain(of).chain(usual).chain(answer)
    }
}

/// `the server pond asks: “Where to?” “City: where you are” (one of: Rome, Paris; . for Rome)`
impl fmt::Display for Elicitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { server, message, field, kind, usual, is_required, fault } = self;
        if let Some(fault) = fault {
            write!(f, "{fault}. ")?;
        }
        write!(f, "the server {server} asks: “{message}” ")?;
        match field.as_str() {
            "" => f.write_str("Do you agree?")?,
            field => write!(f, "“{field}”")?,
        }
        let without = match (usual, is_required) {
            (Some(usual), _) => format!("{LEFT_OUT} for {usual}"),
            (None, false) => format!("{LEFT_OUT} to leave it out"),
            (None, true) => String::new(),
        };
        let notes: Vec<_> = [kind.to_string(), without].into_iter().filter(|note| !note.is_empty()).collect();
        if notes.is_empty() { Ok(()) } else { write!(f, " ({})", notes.join("; ")) }
    }
}

/// `a whole number from 1 to 7`; empty for a text.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => Ok(()),
            Self::YesOrNo => f.write_str("yes or no"),
            Self::Number { is_whole, least, most } => {
                f.write_str(if *is_whole { "a whole number" } else { "a number" })?;
                match (least, most) {
                    (Some(least), Some(most)) => write!(f, " from {least} to {most}"),
                    (Some(least), None) => write!(f, " from {least} on"),
                    (None, Some(most)) => write!(f, " up to {most}"),
                    (None, None) => Ok(()),
                }
            }
            Self::OneOf { of } => write!(f, "one of: {}", of.join(", ")),
            Self::SomeOf { of } => write!(f, "any of these, with commas between them: {}", of.join(", ")),
        }
    }
}

/// A sentence without its end.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { least } => write!(f, "That is too short: {least} characters at least"),
            Self::TooLong { most } => write!(f, "That is too long: {most} characters at most"),
            Self::NotYesOrNo => f.write_str("Answer yes or no"),
            Self::NoNumber { is_whole: true } => f.write_str("That is no whole number"),
            Self::NoNumber { is_whole: false } => f.write_str("That is no number"),
            Self::OutOfBounds => f.write_str("That is out of its bounds"),
            Self::NoChoice { answer } => write!(f, "{answer} is none of the choices"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::About;

    #[test]
    fn a_question_of_every_kind_is_read_as_it_was_written() {
        let of = || vec!["Flakes".to_owned(), "Worms".to_owned()];
        let kinds = [
            Kind::Text,
            Kind::Number { is_whole: true, least: Some(1.0), most: None },
            Kind::YesOrNo,
            Kind::OneOf { of: of() },
            Kind::SomeOf { of: of() },
        ];
        for kind in kinds {
            let fault = Some(Fault::NoChoice { answer: "Bread".into() });
            let wanted = Elicitation { server: "pond".into(), kind, fault, ..Elicitation::default() };
            let about = About::Elicitation(Box::new(wanted));
            let written = serde_json::to_string(&about).unwrap();
            assert_eq!(serde_json::from_str::<About>(&written).unwrap(), about, "{written}");
        }
    }
}
