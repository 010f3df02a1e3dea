//! What the browser's tools share: cleaning what pages say, and the words for what came of an act.

use browser::{Dialog, PageView, Tab, WebActed};
use desktop::DesktopError;
use protocol::tool::{Effect, ToolError};
use serde_json::{Value, json};

use super::{Outcome, filled};
use crate::untrusted;

const REF_CHARS: usize = 40;
const NAME_CHARS: usize = 200;
const URL_CHARS: usize = 300;
const NOTE_CHARS: usize = 500;
/// Characters of one value; a page's long texts are read with `webRead`.
const VALUE_CHARS: usize = 400;

/// Refuses an empty or overlong ref.
pub(super) fn reference(field: &str, text: &str) -> Result<(), ToolError> {
    filled(field, text, REF_CHARS)
}

/// Takes the cleaned texts of a page's elements, and says what was taken away.
pub(super) fn clean_view(mut view: PageView) -> PageView {
    let mut hidden = 0;
    let mut tidy = |text: &mut String, most: usize| {
        let (seen, removed) = untrusted::clean(text);
        hidden += removed;
        *text = untrusted::cut(&seen, most);
    };
    tidy(&mut view.title, NAME_CHARS);
    tidy(&mut view.url, URL_CHARS);
    for element in &mut view.elements {
        tidy(&mut element.role, NAME_CHARS);
        tidy(&mut element.name, NAME_CHARS);
        tidy(&mut element.value, VALUE_CHARS);
        tidy(&mut element.hint, NAME_CHARS);
        tidy(&mut element.href, URL_CHARS);
        element.states.iter_mut().for_each(|state| tidy(state, NAME_CHARS));
        element.options.iter_mut().for_each(|option| tidy(option, NAME_CHARS));
    }
    if let Some(dialog) = &mut view.dialog {
        tidy(&mut dialog.message, NOTE_CHARS);
    }
    view.cut.iter_mut().for_each(|said| tidy(said, NOTE_CHARS));
    if hidden > 0 {
        view.cut.push(format!("cut: {hidden} invisible characters, which can carry hidden orders"));
    }
    view
}

pub(super) fn clean_dialog(dialog: &Dialog) -> Value {
    json!({ "kind": dialog.kind, "message": untrusted::line(&dialog.message, NOTE_CHARS) })
}

pub(super) fn clean_tab(tab: &Tab) -> Value {
    json!({
        "ref": tab.reference,
        "title": untrusted::line(&tab.title, NAME_CHARS),
        "url": untrusted::line(&tab.url, URL_CHARS),
        "front": tab.front,
    })
}

/// What came of a click, a text or an answer.
pub(super) fn acted(
    tool: &str,
    done: Result<WebActed, DesktopError>,
    summary: impl FnOnce(&str) -> String,
) -> Outcome {
    let done = match done {
        Ok(done) => done,
        Err(error) => return Outcome::failed_acting(tool, &error),
    };
    let summary = summary(&untrusted::line(&done.called, 80));
    let mut outcome = Outcome::acted(&done.acted, &summary, done.at);
    if let Value::Object(data) = &mut outcome.data {
        data.insert("url".into(), untrusted::line(&done.url, URL_CHARS).into());
        data.insert("title".into(), untrusted::line(&done.title, NAME_CHARS).into());
        if let Some(dialog) = &done.dialog {
            data.insert("dialog".into(), clean_dialog(dialog));
        }
        if let Some(tab) = &done.opened {
            data.insert("openedTab".into(), clean_tab(tab));
        }
    }
    if let Some(dialog) = &done.dialog {
        let message = untrusted::line(&dialog.message, 80);
        outcome.say(&format!("a dialog is open: {message}"));
    }
    outcome
}

/// What was looked at, as JSON.
pub(super) fn looked(tool: &str, summary: String, data: &impl serde::Serialize) -> Outcome {
    match serde_json::to_value(data) {
        Ok(data) => Outcome::looked(summary, data),
        Err(error) => {
            let error = super::tool_error(
                protocol::tool::ToolErrorKind::Failed,
                format!("write what was seen as JSON: {error}"),
            );
            Outcome::failed(tool, Effect::Refused, error)
        }
    }
}
