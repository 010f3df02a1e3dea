//! Messages of Ollama with text or thoughts alone, read at once. Pure.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::forms::{Plain, Values};
use crate::hot::{Words, read};

/// The messages.
pub(super) enum Messages {}

#[derive(PartialEq)]
pub(super) struct Said {
    pub thinking: Option<String>,
    pub text: Option<String>,
}

#[derive(Deserialize)]
struct Read<'a> {
    error: Option<IgnoredAny>,
    #[serde(borrow)]
    message: Message<'a>,
    done: bool,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    thinking: Option<Words<'a>>,
    #[serde(borrow)]
    content: Option<Words<'a>>,
    tool_calls: Option<IgnoredAny>,
}

impl Plain for Messages {
    const NAMES: &'static [&'static str] = &["content", "thinking", "created_at"];
    type Said<'a> = Said;
    type Same = ();

    fn read(line: &str) -> Option<Said> {
        said(line)
    }

    fn same(_: &Said) -> Option<()> {
        Some(())
    }

    fn fill((): (), values: &mut Values<'_>) -> Option<Said> {
        let mut said = |name| values.words(name).and_then(Words::said);
        Some(Said { text: said(0), thinking: said(1) })
    }
}

fn said(line: &str) -> Option<Said> {
    let Read { error: None, message: Message { thinking, content, tool_calls: None }, done: false } =
        read(line)?
    else {
        return None;
    };
    Some(Said { thinking: thinking.and_then(Words::said), text: content.and_then(Words::said) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::Forms;

    #[test]
    fn a_form_is_kept_of_each_kind_of_message() {
        let line = |time: u64, message: &str| {
            format!(
                r#"{{"model":"m","created_at":"2026-11-21T10:00:00.{time}Z","message":{{"role":"assistant",{message}}},"done":false}}"#
            )
        };
        for kind in [r#""content":"#, r#""content":"","thinking":"#] {
            let mut forms = Forms::<Messages>::new();
            forms.read(line(1, &format!(r#"{kind}"a""#)).as_bytes());
            assert!(forms.fits(&line(2, &format!(r#"{kind}"b\n""#))), "{kind}");
            assert!(forms.read(line(3, &format!(r#"{kind}"\ud83d""#)).as_bytes()).is_none(), "{kind}");
        }
    }

    #[test]
    fn messages_of_text_and_thoughts_are_read_at_once() {
        let said = |message: &str, done: bool| {
            super::said(&format!(r#"{{"model":"m","message":{{{message}}},"done":{done}}}"#))
                .map(|said| (said.thinking, said.text))
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(said(r#""role":"assistant","content":"a\n""#, false), Some((None, some("a\n"))));
        assert_eq!(said(r#""content":"","thinking":"b""#, false), Some((some("b"), None)));
        assert_eq!(said(r#""content":"a""#, true), None);
        assert_eq!(said(r#""content":"","tool_calls":[]"#, false), None);
        assert!(super::said(r#"{"error":"it broke"}"#).is_none());
    }
}
