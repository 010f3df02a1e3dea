//! Miki's tools, called as a model would: look at the list, take the ref, act.

use std::time::Duration;

use anyhow::{Context, Result};
use protocol::tool::Effect;
use serde::Deserialize;
use serde_json::{Value, json};

use super::agent::Agent;
use super::tasks::{Act, Find};
use super::{App, Said};
use crate::miki::Client;
use crate::waiting::wait_for;

/// How long a model looks again for what it does not see.
const LOOKS: Duration = Duration::from_secs(4);

/// Whose hands they are.
pub enum Hands {
    /// The user's pointer and keyboard, by single calls.
    Shared(Client),
    /// An agent's own.
    Own(Agent),
}

/// What a call came to.
#[derive(Deserialize)]
struct Came {
    effect: Effect,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    data: Value,
}

/// What Miki said of one act.
#[derive(Debug)]
pub struct Answer {
    pub said: Said,
    pub by: String,
    pub summary: String,
}

/// A call that is ready: all that it needs was looked up.
pub struct Call {
    tool: &'static str,
    arguments: Value,
}

impl Hands {
    /// Looks until there is something: a model would look first, too. Of some applications there never is.
    pub fn look(&mut self, app: App) {
        let _ = wait_for(app.title(), LOOKS, || {
            self.list(&json!({ "app": app.title() })).is_ok_and(|seen| !seen.is_empty()).then_some(())
        });
    }

    /// Looks for what `act` needs; an answer where it is not in the list.
    ///
    /// # Errors
    /// Where the engine is gone.
    pub fn prepare(&mut self, act: &Act, app: App) -> Result<Result<Call, Answer>> {
        let call = |tool, arguments| Ok(Ok(Call { tool, arguments }));
        let (find, tool, more) = match act {
            Act::Type(text) => return call("type", json!({ "text": text })),
            Act::Press(key) => return call("press", json!({ "key": key })),
            Act::Hotkey(keys) => return call("hotkey", json!({ "keys": keys })),
            Act::PressMenu(path) => return call("pressMenu", json!({ "app": app.title(), "path": path })),
            Act::Click(find) => (find, "clickElement", json!({})),
            Act::DoubleClick(find) => (find, "clickElement", json!({ "count": 2 })),
            Act::RightClick(find) => (find, "clickElement", json!({ "button": "right" })),
            Act::SetValue(find, value) => (find, "setValue", json!({ "value": value })),
            Act::Point(find) => (find, "click", json!({})),
            Act::Expand(find) => (find, "doAction", json!({})),
        };
        let Some(element) = self.find(find, app.title())? else {
            let there = self.called(find.name, app.title())?;
            let summary = format!("no {} {:?} in the list; called so: {there}", find.roles, find.name);
            return Ok(Err(Answer { said: Said::NotListed, by: String::new(), summary }));
        };
        let mut arguments = more;
        if matches!(act, Act::Point(_)) {
            let bounds = &element["bounds"];
            let middle = |from: &str, size: &str| Some(bounds[from].as_f64()? + bounds[size].as_f64()? / 2.0);
            arguments["x"] = json!(middle("x", "width").context("no place")?);
            arguments["y"] = json!(middle("y", "height").context("no place")?);
            return call("click", arguments);
        }
        arguments["ref"] = element["ref"].clone();
        if matches!(act, Act::Expand(_)) {
            let actions = element["actions"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let Some(action) = actions.into_iter().find(|name| name.to_lowercase().contains("expand")) else {
                // A page's tree opens by a click, others by two.
                let count = if app.is_browser() { 1 } else { 2 };
                arguments["count"] = json!(count);
                return call("clickElement", arguments);
            };
            arguments["action"] = json!(action);
        }
        call(tool, arguments)
    }

    /// # Errors
    /// Where the engine is gone.
    pub fn perform(&mut self, call: Call) -> Result<Answer> {
        let result = self.call(call.tool, call.arguments)?;
        let said = match result.effect {
            Effect::Confirmed => Said::Confirmed,
            Effect::Unverified => Said::Unverified,
            Effect::NoChange => Said::NoChange,
            Effect::Refused => Said::Refused,
            Effect::Unknown => Said::Unknown,
        };
        let by = result.data["by"].as_str().unwrap_or_default().to_owned();
        let note = result.data["note"].as_str().unwrap_or_default();
        Ok(Answer { said, by, summary: format!("{}: {note}", result.summary) })
    }

    /// The element as the list has it; where that is cut, what is called so; what is in front, as a browser's dialog; at
    /// last what is scrolled away, too. Where none is told, the text that is read there.
    fn find(&mut self, find: &Find, app: &str) -> Result<Option<Value>> {
        let mut broken = None;
        let mut marks = Vec::new();
        let named = if find.name.is_empty() { find.roles } else { find.name };
        let query = named.split('|').next().unwrap_or_default();
        let looks = [
            json!({ "app": app, "scope": "visible" }),
            json!({ "app": app, "scope": "visible", "query": query }),
            json!({ "scope": "visible", "query": query }),
            json!({ "app": app, "scope": "all", "query": query }),
        ];
        let found = wait_for(find.name, LOOKS, || {
            marks.clear();
            let listed = looks.iter().find_map(|look| match self.look_at(look.clone()) {
                Ok(seen) => {
                    marks.extend(seen["marks"].as_array().into_iter().flatten().cloned());
                    choose(seen["elements"].as_array().map(Vec::as_slice).unwrap_or_default(), find)
                }
                Err(error) => {
                    broken = Some(error);
                    None
                }
            });
            listed.or_else(|| marks.iter().find(|mark| says(mark, query)).cloned())
        });
        match (found, broken) {
            (Ok(found), _) => Ok(Some(found)),
            (Err(_), Some(error)) => Err(error),
            (Err(_), None) => Ok(None),
        }
    }

    /// What is called so, whatever it is.
    fn called(&mut self, names: &str, app: &str) -> Result<String> {
        let elements = self.list(&json!({ "app": app, "scope": "all" }))?;
        let is_it = |name: &str, element: &Value| element["name"] == name || element["value"] == name;
        let so = elements.iter().filter(|element| names.split('|').any(|name| is_it(name, element)));
        let so: Vec<String> = so.map(|one| format!("{} at {}", one["role"], one["bounds"])).collect();
        Ok(if so.is_empty() { format!("none of {}", elements.len()) } else { so.join(", ") })
    }

    /// # Errors
    /// Where the engine is gone.
    pub fn list(&mut self, look: &Value) -> Result<Vec<Value>> {
        let seen = self.look_at(look.clone())?;
        Ok(seen["elements"].as_array().cloned().unwrap_or_default())
    }

    fn look_at(&mut self, look: Value) -> Result<Value> {
        Ok(self.call("elementsJson", look)?.data)
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Result<Came> {
        let answer = match self {
            Self::Shared(client) => client.act(tool, arguments),
            Self::Own(agent) => agent.call(tool, arguments),
        };
        Ok(serde_json::from_value(answer.with_context(|| format!("{tool} was not answered"))?)?)
    }
}

/// Whether a mark is this text; a reader of pixels sees spaces where there are none.
fn says(mark: &Value, text: &str) -> bool {
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    letters(mark["text"].as_str().unwrap_or_default()) == letters(text)
}

/// The one with the best role; of those the first that is called so.
fn choose(elements: &[Value], find: &Find) -> Option<Value> {
    let text = |element: &Value, field: &str| element[field].as_str().unwrap_or_default().to_owned();
    let is_called = |element: &Value, name: &str| {
        let own = text(element, "name");
        name.is_empty() || own == name || (own.is_empty() && text(element, "value") == name)
    };
    let named = |element: &&Value| find.name.split('|').any(|name| is_called(element, name));
    let mut roles = find.roles.split('|');
    roles.find_map(|role| {
        let of_role = |element: &&Value| role.is_empty() || text(element, "role") == role;
        // Of several without a name, what can be written to is meant, and not what shows a result.
        let takes = |element: &&Value| {
            element["states"].as_array().is_some_and(|all| all.contains(&json!("editable")))
        };
        let all = || elements.iter().filter(of_role).filter(named);
        let writable = if find.name.is_empty() { all().find(takes) } else { None };
        writable.or_else(|| all().next()).cloned()
    })
}
