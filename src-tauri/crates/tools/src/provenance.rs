//! Where what a tool told came from.

use protocol::tool::Source;
use serde_json::Value;

use crate::hosts;
use crate::plan::Step;
use crate::spec::Group;
use crate::tool::Outcome;

/// `None` if it tells only of itself.
pub(crate) fn source(step: &Step, outcome: &Outcome) -> Option<Source> {
    let text = |key: &str| outcome.data.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    match &step.spec().group {
        _ if outcome.data.is_null() => None,
        Group::Web => Some(Source::Page { host: text("url").and_then(hosts::site) }),
        Group::Elements => text("app").map(|name| Source::Application { name: name.to_owned() }),
        // What was written there tells nothing.
        Group::Clipboard => text("text").map(|_| Source::Clipboard),
        Group::Screen | Group::Ocr | Group::Apps => Some(Source::Screen),
        Group::Script => Some(Source::Script),
        Group::Server(name) => Some(Source::Server { name: name.to_string() }),
        Group::Files => Some(match text("path") {
            Some(path) => Source::File { path: path.to_owned() },
            None => Source::File { path: ".".to_owned() },
        }),
        Group::Terminal => Some(Source::Terminal),
        Group::Search => Some(match text("url").and_then(hosts::site) {
            Some(host) => Source::Page { host: Some(host) },
            None => Source::Search,
        }),
        Group::Agenda => Some(Source::Agenda),
        // Not that one was started.
        Group::Agents => outcome.data.get("agents").map(|_| Source::Agent),
        Group::Input | Group::Held | Group::Mind => None,
    }
}
