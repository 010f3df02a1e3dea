//! What the parts of a browser's date and time fields are called, as data: a part tells by its name alone what it is.

/// A field of its own in a date or time field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Part {
    Year,
    Month,
    Day,
    Hours,
    Minutes,
    Seconds,
    /// Before or after noon.
    Half,
}

/// By how its name begins in English and in Japanese. Chromium adds the name of the field.
const NAMES: [(Part, &str, &str); 7] = [
    (Part::Year, "year", "年"),
    (Part::Month, "month", "月"),
    (Part::Day, "day", "日"),
    (Part::Hours, "hour", "時"),
    (Part::Minutes, "minute", "分"),
    (Part::Seconds, "second", "秒"),
    (Part::Half, "am/pm", "午前"),
];

impl Part {
    pub(in super::super) fn named(name: &str) -> Option<Self> {
        let name = name.trim().to_lowercase();
        let begins = |(_, english, japanese): &&(Self, &str, &str)| {
            name.starts_with(english) || name.starts_with(japanese)
        };
        NAMES.iter().find(begins).map(|(part, ..)| *part)
    }
}
