//! One thing that a server wants to know: how it is asked for, and what an answer in words comes to.

use protocol::elicitation::{self, Elicitation, Fault, LEFT_OUT};
use serde_json::{Number, Value};
use tools::untrusted;

use super::alike::alike;

const NAME_CHARS: usize = 80;
const ABOUT_CHARS: usize = 300;
/// Choices of one field.
const CHOICES: usize = 30;
/// What no server may ask for in this way (specification, "Elicitation", security): within a text's letters alone. Other words
/// for it there are, and other languages: whoever is asked sees which server asks.
const SECRETS: [&str; 24] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "apikey",
    "accesskey",
    "privatekey",
    "secretkey",
    "token",
    "credential",
    "seedphrase",
    "recoveryphrase",
    "recoverycode",
    "onetimecode",
    "verificationcode",
    "cardnumber",
    "creditcard",
    "pincode",
    "パスワード",
    "暗証番号",
    "秘密鍵",
    "合言葉",
    "認証コード",
];
/// The same where they are a word by themselves.
const SECRET_WORDS: [&str; 4] = ["pin", "otp", "cvv", "cvc"];

/// What a text asks for that no server may ask for.
pub fn secret_in(text: &str) -> Option<&'static str> {
    let narrow = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        c => c,
    };
    let text = untrusted::clean(text).0.chars().map(narrow).collect::<String>().to_lowercase();
    let letters: String = text.chars().filter(|c| c.is_alphabetic()).collect();
    let is_word = |word: &&&str| text.split(|c: char| !c.is_alphabetic()).any(|one| one == **word);
    SECRETS
        .iter()
        .find(|secret| letters.contains(*secret))
        .or_else(|| SECRET_WORDS.iter().find(is_word))
        .copied()
}

pub fn no_secrets(secret: &str) -> String {
    format!("it asked for something secret ({secret}), which is what Miki asks nobody for in a server's name")
}

/// A server's words, on one line, without the quotation marks that are set around them: nobody is to take them for ours.
pub fn line(text: &str, most: usize) -> String {
    untrusted::line(&text.replace(['“', '”'], "\""), most)
}

pub struct Field {
    /// What it is called, and what it is, for people; empty where only a yes is wanted.
    named: String,
    kind: Kind,
    is_required: bool,
    default: Option<Value>,
}

enum Kind {
    Text {
        least: usize,
        most: usize,
    },
    Number {
        is_whole: bool,
        least: Option<f64>,
        most: Option<f64>,
    },
    YesOrNo,
    /// Values, each with what it is called. Of `many`, several may be chosen.
    Choice {
        of: Vec<(String, String)>,
        many: bool,
    },
}

impl Field {
    /// # Errors
    /// Why the user is not asked for it, for the server's log.
    pub fn read(name: &str, schema: &Value, is_required: bool) -> Result<Self, String> {
        let text = |of: &str| schema.get(of).and_then(Value::as_str).unwrap_or_default();
        let title = if text("title").is_empty() { name } else { text("title") };
        if let Some(secret) = secret_in(name).or_else(|| secret_in(&schema.to_string())) {
            return Err(no_secrets(secret));
        }
        let named = match text("description") {
            "" => line(title, NAME_CHARS),
            about => line(&format!("{title}: {about}"), ABOUT_CHARS),
        };
        let kind =
            Kind::read(schema).ok_or_else(|| format!("it asked for {name}, of no kind that is known"))?;
        if let Kind::Choice { of, .. } = &kind
            && let Some((one, other)) = alike(of)
        {
            return Err(format!("it offered choices for {name} that nobody can tell apart: {one}, {other}"));
        }
        Ok(Self { named, kind, is_required, default: schema.get("default").cloned() })
    }

    /// Whether the user agrees, where nothing else is asked.
    pub fn yes_or_no() -> Self {
        Self { named: String::new(), kind: Kind::YesOrNo, is_required: true, default: None }
    }

    /// How the user is asked for it.
    pub fn wanted(&self, server: &str, message: &str) -> Elicitation {
        let names = |of: &[(String, String)]| of.iter().map(|(_, name)| name.clone()).collect();
        let kind = match &self.kind {
            Kind::Text { .. } => elicitation::Kind::Text,
            Kind::YesOrNo => elicitation::Kind::YesOrNo,
            Kind::Number { is_whole, least, most } => {
                elicitation::Kind::Number { is_whole: *is_whole, least: *least, most: *most }
            }
            Kind::Choice { of, many: true } => elicitation::Kind::SomeOf { of: names(of) },
            Kind::Choice { of, many: false } => elicitation::Kind::OneOf { of: names(of) },
        };
        Elicitation {
            server: server.to_owned(),
            message: message.to_owned(),
            field: self.named.clone(),
            kind,
            usual: self.default.as_ref().map(|usual| self.shown(usual)),
            is_required: self.is_required,
            fault: None,
        }
    }

    /// A value as the user is told of it.
    fn shown(&self, value: &Value) -> String {
        match (&self.kind, value) {
            (Kind::Choice { of, .. }, Value::String(value)) => of
                .iter()
                .find(|(one, _)| one == value)
                .map_or_else(|| line(value, NAME_CHARS), |(_, name)| name.clone()),
            (_, Value::Array(all)) => all.iter().map(|one| self.shown(one)).collect::<Vec<_>>().join(", "),
            _ => shown(value),
        }
    }

    /// What an answer comes to; `None` if it leaves the field out.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn value(&self, answer: &str) -> Result<Option<Value>, Fault> {
        match (answer, &self.default, self.is_required) {
            (LEFT_OUT, Some(default), _) => return Ok(Some(default.clone())),
            (LEFT_OUT, None, false) => return Ok(None),
            _ => {}
        }
        self.kind.value(answer).map(Some)
    }
}

impl Kind {
    fn read(schema: &Value) -> Option<Self> {
        let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
        let count =
            |name: &str| schema.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        match schema.get("type").and_then(Value::as_str)? {
            "array" => Some(Self::Choice { of: choices(schema.get("items")?)?, many: true }),
            "string" => Some(match choices(schema) {
                Some(of) => Self::Choice { of, many: false },
                None => Self::Text {
                    least: count("minLength").unwrap_or(0),
                    most: count("maxLength").unwrap_or(usize::MAX),
                },
            }),
            "boolean" => Some(Self::YesOrNo),
            kind @ ("number" | "integer") => Some(Self::Number {
                is_whole: kind == "integer",
                least: bound("minimum"),
                most: bound("maximum"),
            }),
            _ => None,
        }
    }

    fn value(&self, answer: &str) -> Result<Value, Fault> {
        match self {
            Self::Text { least, most } => match answer.chars().count() {
                chars if chars < *least => Err(Fault::TooShort { least: *least }),
                chars if chars > *most => Err(Fault::TooLong { most: *most }),
                _ => Ok(answer.into()),
            },
            Self::YesOrNo => match answer.to_lowercase().as_str() {
                "yes" | "y" | "true" | "はい" => Ok(true.into()),
                "no" | "n" | "false" | "いいえ" => Ok(false.into()),
                _ => Err(Fault::NotYesOrNo),
            },
            Self::Number { is_whole, least, most } => {
                let number = match is_whole {
                    true => answer.parse::<i64>().ok().map(Number::from),
                    false => answer.parse::<f64>().ok().and_then(Number::from_f64),
                };
                let number = number.ok_or(Fault::NoNumber { is_whole: *is_whole })?;
                let is = number.as_f64().unwrap_or_default();
                if least.is_some_and(|least| is < least) || most.is_some_and(|most| is > most) {
                    return Err(Fault::OutOfBounds);
                }
                Ok(Value::Number(number))
            }
            Self::Choice { of, many: false } => chosen(of, answer).map(Value::String),
            Self::Choice { of, many: true } => {
                let parts = answer.split([',', '、']).map(str::trim).filter(|part| !part.is_empty());
                parts
                    .map(|part| chosen(of, part).map(Value::String))
                    .collect::<Result<_, _>>()
                    .map(Value::Array)
            }
        }
    }
}

fn chosen(of: &[(String, String)], answer: &str) -> Result<String, Fault> {
    let is = |one: &str| one.to_lowercase() == answer.to_lowercase();
    let found = of.iter().find(|(value, name)| is(value) || is(name)).map(|(value, _)| value.clone());
    found.ok_or_else(|| Fault::NoChoice { answer: untrusted::line(answer, NAME_CHARS) })
}

/// The values of a list of choices, each with what it is called; `None` if there is no such list.
fn choices(schema: &Value) -> Option<Vec<(String, String)>> {
    // With a comma in it, it could not be told from two.
    let name = |text: &str| untrusted::line(&text.replace([',', '、'], " "), NAME_CHARS);
    let titled = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array);
    let of: Vec<(String, String)> = match (titled, schema.get("enum").and_then(Value::as_array)) {
        (Some(titled), _) => {
            let one = |choice: &Value| {
                let value = choice.get("const")?.as_str()?;
                Some((value.to_owned(), name(choice.get("title").and_then(Value::as_str).unwrap_or(value))))
            };
            titled.iter().filter_map(one).collect()
        }
        (None, Some(values)) => {
            let names = schema.get("enumNames").and_then(Value::as_array);
            let called = |at: usize| names.and_then(|names| names.get(at)?.as_str());
            let values = values.iter().enumerate().filter_map(|(at, value)| Some((at, value.as_str()?)));
            values.map(|(at, value)| (value.to_owned(), name(called(at).unwrap_or(value)))).collect()
        }
        (None, None) => return None,
    };
    (!of.is_empty() && of.len() <= CHOICES).then_some(of)
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => untrusted::line(text, NAME_CHARS),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        other => untrusted::line(&other.to_string(), NAME_CHARS),
    }
}
