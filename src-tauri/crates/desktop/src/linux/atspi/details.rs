//! What only some objects have: values, labels of controls without a name, actions of their own.

use std::collections::HashMap;

use futures::StreamExt;

use super::acting::ACTION;
use super::bus::{ACCESSIBLE, CallError, Object, Reference};
use super::nodes::{AT_ONCE, Facts, Node, Wish, or_nothing};
use super::quirks::{MoreActions, Quirks};
use super::role::{self, Kind, States, number as role_number};
use super::setting::VALUE;
use crate::Scope;

/// Characters of text kept as a value.
const TEXT_CHARS: i32 = 200;
/// Characters of a text that is read whole.
const MOST_TEXT: i32 = 200_000;
pub(super) const TEXT: &str = "org.a11y.atspi.Text";
const LABELLED_BY: u32 = 2;
/// What a click does anyway, under all its names.
const PLAIN: [&str; 12] = [
    "click",
    "press",
    "activate",
    "toggle",
    "jump",
    "select",
    "check",
    "uncheck",
    "open",
    "clickancestor",
    "click ancestor",
    "setfocus",
];

/// Adds them to the nodes that can be seen, as far as the time goes. Answers of how many they are not known.
pub(super) async fn add(nodes: &mut [Node], wish: Wish) -> usize {
    let names: HashMap<&str, &str> =
        nodes.iter().map(|node| (&*node.object.path, node.facts.name.as_str())).collect();
    let names = &names;
    let most = wish.text_chars.unwrap_or(TEXT_CHARS);
    // Built one by one: a closure over borrowed nodes makes a future that cannot be sent.
    let mut asked = Vec::new();
    for (at, Node { object, facts, .. }) in nodes.iter().enumerate() {
        let sized = facts.extents.2 > 0 && facts.extents.3 > 0;
        let holds_text = wish.quirks.texts_in_boxes && is_nameless_box(facts);
        if (sized || wish.scope == Scope::All) && (holds_text || wants(facts, wish.quirks.more_actions)) {
            asked.push(async move {
                let label = async {
                    match (holds_text, is_nameless(facts)) {
                        (true, _) => text_of_box(object, most).await,
                        (_, true) => label(object, names, wish.quirks).await,
                        _ => None,
                    }
                };
                let (value, label, actions) = tokio::join!(
                    value(object, facts, most),
                    label,
                    actions(object, facts, wish.quirks.more_actions)
                );
                (at, value, label, actions)
            });
        }
    }
    let mut untold = asked.len();
    let mut answers = futures::stream::iter(asked).buffer_unordered(AT_ONCE / 3);
    let mut found = Vec::new();
    while let Ok(Some(answer)) = tokio::time::timeout_at(wish.deadline, answers.next()).await {
        found.push(answer);
    }
    drop(answers);
    name_rows(nodes, wish.quirks);
    for (at, value, label, actions) in found {
        let facts = &mut nodes[at].facts;
        untold -= usize::from(value.is_ok());
        facts.value = value.unwrap_or_default();
        facts.toggles = actions.iter().any(|name| name.eq_ignore_ascii_case("toggle"));
        let words = actions.iter().filter_map(|name| own_word(name)).filter(|name| !is_plain(name));
        facts.actions = words.map(str::to_owned).collect();
        if let Some(label) = label {
            facts.name = label;
        } else if is_nameless(facts) {
            // What a person would call it then.
            facts.name = std::mem::take(&mut facts.description);
        }
    }
    expand_rows(nodes);
    untold
}

/// What of an action's name is a word for people. GTK 4 lists every shortcut of the widget's class, too:
/// `clipboard.copy`, `selection.delete`, ...
pub(super) fn own_word(action: &str) -> Option<&str> {
    match action.rsplit_once('.') {
        Some((_, word)) => matches!(word, "expand" | "collapse").then_some(word),
        None => Some(action),
    }
}

/// GTK 4 has the arrow of a tree's row, and what it does, in a part of the row.
fn expand_rows(nodes: &mut [Node]) {
    for at in 1..nodes.len() {
        let Some(row) = nodes[at].parent.filter(|&row| nodes[row].facts.role == role_number::LIST_ITEM)
        else {
            continue;
        };
        let part = &mut nodes[at].facts;
        if part.states.has(States::EXPANDABLE) && role::describe(part.role).1 == Kind::Container {
            let (states, actions) = (part.states, std::mem::take(&mut part.actions));
            part.name.clear();
            let row = &mut nodes[row].facts;
            row.actions.extend(actions);
            if states.has(States::EXPANDED) {
                row.states = row.states.with(States::EXPANDED);
            }
        }
    }
}

/// A row of a list that has no name is known by the labels in it.
fn name_rows(nodes: &mut [Node], quirks: Quirks) {
    for at in 0..nodes.len() {
        if !quirks.is_known_by_labels(nodes[at].facts.role, &nodes[at].facts.name) {
            continue;
        }
        let below = nodes[at + 1..].iter().take_while(|node| node.parent.is_some_and(|parent| parent >= at));
        let labels =
            below.filter(|node| node.facts.role == role_number::LABEL).map(|node| node.facts.name.trim());
        let labels: Vec<&str> = labels.filter(|label| !label.is_empty()).collect();
        nodes[at].facts.name = labels.join(", ");
    }
}

/// The same name, asked anew.
pub(super) async fn row_name(row: &Object, quirks: Quirks) -> Result<String, CallError> {
    Ok(labels(row, quirks).await?.join(", "))
}

/// The labels that show in an object, but for those of a list in it.
pub(super) async fn labels(row: &Object, quirks: Quirks) -> Result<Vec<String>, CallError> {
    const DEEPEST: usize = 8;
    let mut labels = Vec::new();
    let mut waiting = vec![(row.clone(), 0)];
    while let Some((object, depth)) = waiting.pop() {
        let (role, states, name, children) =
            tokio::join!(object.role(), object.states(), object.name(), object.children());
        let (role, shows) = (role?, states?.has(quirks.shown));
        if role == role_number::LABEL && shows {
            let name = quirks.own_name(name?);
            labels.extend(Some(name.trim().to_owned()).filter(|name| !name.is_empty()));
        }
        if shows && depth < DEEPEST && role::items(role).is_none() {
            // Last in, first out: the first child is to be read next.
            let below = children?.into_iter().rev();
            waiting.extend(below.map(|(_, path)| (Object::new(&row.program, path.as_str()), depth + 1)));
        }
    }
    Ok(labels)
}

fn is_nameless_box(facts: &Facts) -> bool {
    let is_box = matches!(facts.role, role_number::SECTION | role_number::PARAGRAPH);
    is_box && facts.name.is_empty() && facts.interfaces.has(TEXT)
}

/// What it says itself, without what is in it: each of those is one sign of its text.
async fn text_of_box(object: &Object, most: i32) -> Option<String> {
    const CHILD: char = '\u{fffc}';
    let text = text(object, most).await.ok()?;
    // Of one that goes on, by its length it is seen that it does.
    if most > TEXT_CHARS && text.chars().count() + 1 >= most as usize {
        return Some(text);
    }
    let words = text.split(|sign: char| sign == CHILD || sign.is_whitespace());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

fn is_nameless(facts: &Facts) -> bool {
    facts.name.is_empty() && role::describe(facts.role).1 == Kind::Control
}

fn wants(facts: &Facts, more: MoreActions) -> bool {
    is_nameless(facts)
        || role::is_textual(facts.role, facts.states)
        || role::is_numeric(facts.role)
        || may_do_more(facts, more)
}

fn may_do_more(facts: &Facts, more: MoreActions) -> bool {
    role::may_do_more(facts.role, more)
        || (facts.states.has(States::EXPANDABLE) && more != MoreActions::Nobody)
}

async fn value(object: &Object, facts: &Facts, most: i32) -> Result<String, CallError> {
    if role::is_textual(facts.role, facts.states) && facts.interfaces.has(TEXT) {
        or_nothing(text(object, most).await)
    } else if role::is_numeric(facts.role) && facts.interfaces.has(VALUE) {
        or_nothing(number(object).await)
    } else {
        Ok(String::new())
    }
}

/// The first `most` characters; -1 asks for all, of which there may be [`MOST_TEXT`].
pub(super) async fn text(object: &Object, most: i32) -> Result<String, CallError> {
    if most >= 0 {
        let text: String = object.call(TEXT, "GetText", &(0_i32, most)).await?;
        if !text.is_empty() {
            return Ok(text);
        }
    }
    // Some answer nothing when the end lies beyond the text, and GTK 4 knows no -1.
    let count: i32 = object.program.property(&object.path, TEXT, "CharacterCount").await?;
    if most < 0 && count > MOST_TEXT {
        return Err(CallError::Refused(format!("its {count} characters are too many to be read")));
    }
    let end = if most < 0 { count } else { count.min(most) };
    if end <= 0 {
        return Ok(String::new());
    }
    object.call(TEXT, "GetText", &(0_i32, end)).await
}

async fn number(object: &Object) -> Result<String, CallError> {
    let value: f64 = object.program.property(&object.path, VALUE, "CurrentValue").await?;
    Ok(((value * 100.0).round() / 100.0).to_string())
}

/// The text of its label, for a control without a name.
async fn label(object: &Object, names: &HashMap<&str, &str>, quirks: Quirks) -> Option<String> {
    let relations: Vec<(u32, Vec<Reference>)> =
        object.call(ACCESSIBLE, "GetRelationSet", &()).await.unwrap_or_default();
    let labels = relations.iter().filter(|(kind, _)| *kind == LABELLED_BY).flat_map(|(_, targets)| targets);
    for (_, path) in labels {
        let name = match names.get(path.as_str()) {
            Some(name) => (*name).to_owned(),
            None => Object::new(&object.program, path.as_str()).name().await.unwrap_or_default(),
        };
        // A picture is a label, too: `GtkImage` of a button says nothing.
        let name = quirks.own_name(name);
        if !name.trim().is_empty() {
            return Some(name);
        }
    }
    None
}

/// What the labels of a control say now.
pub(super) async fn labels_say(object: &Object) -> String {
    let relations: Vec<(u32, Vec<Reference>)> =
        object.call(ACCESSIBLE, "GetRelationSet", &()).await.unwrap_or_default();
    const MOST: usize = 50;
    let mut waiting: Vec<_> =
        relations.into_iter().filter(|(kind, _)| *kind == LABELLED_BY).flat_map(|(_, all)| all).collect();
    let (mut said, mut asked) = (Vec::new(), 0);
    while let Some((_, path)) = waiting.pop().filter(|_| asked < MOST) {
        asked += 1;
        // A label may hold what it labels.
        if path.as_str() == &*object.path {
            continue;
        }
        let part = Object::new(&object.program, path.as_str());
        let (name, below) = tokio::join!(part.name(), part.children());
        let below = below.unwrap_or_default();
        if below.is_empty() {
            said.push(name.unwrap_or_default());
        }
        // Last in, first out: the first child is to be read next.
        waiting.extend(below.into_iter().rev());
    }
    said.join(" ").trim().to_owned()
}

/// Names of all actions, where some may be more than a click; one call.
async fn actions(object: &Object, facts: &Facts, more: MoreActions) -> Vec<String> {
    if !may_do_more(facts, more) || !facts.interfaces.has(ACTION) {
        return Vec::new();
    }
    let all: Vec<(String, String, String)> = object.call(ACTION, "GetActions", &()).await.unwrap_or_default();
    let mut names = Vec::with_capacity(all.len());
    for (index, (name, _, _)) in (0_i32..).zip(all) {
        names.push(object.action_name(index, name).await);
    }
    names
}

fn is_plain(name: &str) -> bool {
    name.trim().is_empty() || PLAIN.contains(&name.trim().to_lowercase().as_str())
}
