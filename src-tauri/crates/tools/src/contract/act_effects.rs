//! What an act on the desktop does, by what it meets: an allow-list. Pure.
//!
//! What does not stand here is not told, and is outside every plan.

use desktop::{Action, Button, Element, ElementAction, Field};
use protocol::contract::EffectClass;
use protocol::geometry::NormPoint;

use super::keys::{self, Keyed};
use super::{Need, of_control};
use crate::applications::Class;
use crate::reach::Act;
use crate::target::Touched;
use crate::whose::holds;

/// Controls that are what their role says and do what their name says.
const ROLES: [&str; 34] = [
    "autocomplete",
    "button",
    "check box",
    "check menu item",
    "column header",
    "combo box",
    "date editor",
    "dial",
    "entry",
    "heading",
    "label",
    "list item",
    "menu",
    "menu item",
    "page tab",
    "paragraph",
    "password text",
    "pop up button",
    "push button menu",
    "radio button",
    "radio menu item",
    "row header",
    "slider",
    "spin button",
    "static",
    "static text",
    "table cell",
    "table column header",
    "table row",
    "text",
    "text area",
    "text field",
    "toggle button",
    "tree item",
];
pub(crate) const FIELDS: [&str; 4] = ["entry", "text", "text area", "text field"];
const BUTTONS: [&str; 2] = ["button", "toggle button"];
/// All that a dialog's buttons are known to do; another may confirm anything.
const ANSWERS: [&str; 12] = [
    "back",
    "cancel",
    "close",
    "dismiss",
    "no",
    "save",
    "いいえ",
    "キャンセル",
    "保存",
    "取り消し",
    "戻る",
    "閉じる",
];
/// Actions of elements that do what a click does, or only unfold something.
const CLICKS: [&str; 6] = ["click", "press", "activate", "toggle", "jump", "axpress"];
const UNFOLDS: [&str; 6] =
    ["collapse", "expand", "expand or collapse", "expand or contract", "show menu", "showmenu"];

/// What an act meets, looked up right before it.
#[derive(Debug, Default)]
pub(crate) struct Met {
    /// The controls that may be meant; `None` if that cannot be told of all of them.
    pub controls: Option<Vec<Element>>,
    /// The field that has the keyboard.
    pub field: Option<Field>,
    /// Whether a key or button is held down.
    pub is_holding: bool,
    /// The program that the system would start.
    pub starts: Option<String>,
}

/// What an act in this window needs of a contract, beside its application.
pub(crate) fn of_act(act: &Act, touched: &Touched, met: &Met) -> Vec<Need> {
    if met.is_holding {
        return vec![Need::Untold("keys or buttons that are held down")];
    }
    match act {
        Act::Start(_) => vec![match &met.starts {
            Some(program) => Need::Application(program.clone()),
            None => Need::Untold("an application that is not the system's own"),
        }],
        Act::Input(action) => match keys::does(action) {
            Some(keyed) => of_keys(keyed, touched, met.field.as_ref()),
            None => of_pointer(action, touched, met),
        },
        Act::Element(action) => of_element(action, touched, met),
        // Pages are told by their addresses (`target.rs`).
        Act::Fill(_) => vec![Need::Untold("a page's field on the desktop")],
    }
}

fn of_keys(keyed: Keyed, touched: &Touched, field: Option<&Field>) -> Vec<Need> {
    let enters = match keyed {
        Keyed::Untold => return vec![Need::Untold("keys that may do anything")],
        Keyed::Moves => return Vec::new(),
        Keyed::Pastes => false,
        Keyed::Writes { enters } => enters,
    };
    let mut needs = Vec::new();
    if keyed == Keyed::Pastes {
        needs.push(Need::Effect(EffectClass::Clipboard));
    }
    // Its kind says already that keys there do anything.
    if touched.class.is_some_and(Class::takes_all_keys) {
        return needs;
    }
    let sends = touched.class.is_some_and(Class::sends);
    match field.filter(|field| field.pid == touched.pid && !field.hides) {
        None => needs.push(Need::Untold("keys that no field takes")),
        Some(_) if touched.is_modal => needs.push(Need::Untold("a dialog's field")),
        Some(field) if enters && !field.takes_lines && !sends => {
            needs.push(Need::Untold("Enter in a field of one line"));
        }
        Some(_) => {}
    }
    needs
}

fn of_pointer(action: &Action, touched: &Touched, met: &Met) -> Vec<Need> {
    let is_plain = match action {
        Action::Click { button, held, .. } => *button != Button::Middle && held.is_empty(),
        Action::Drag { button, held, .. } => *button == Button::Left && held.is_empty(),
        Action::Scroll { held, .. } => held.is_empty(),
        _ => false,
    };
    if !is_plain {
        return vec![Need::Untold("a way to point that may do anything")];
    }
    of_controls(touched, met)
}

fn of_controls(touched: &Touched, met: &Met) -> Vec<Need> {
    // What has no tree, and of which its kind says already that all there does anything.
    if touched.class.is_some_and(Class::takes_all_keys) {
        return Vec::new();
    }
    let Some(controls) = &met.controls else {
        return vec![Need::Untold("a control that does not say what it does")];
    };
    let answers =
        |one: &Element| BUTTONS.contains(&one.role.as_str()) && ANSWERS.contains(&plain(&one.name).as_str());
    let mut needs = Vec::new();
    for control in controls {
        let name = said(control);
        needs.extend(of_control(name));
        if is_field(control) {
            continue;
        }
        if !name.chars().any(char::is_alphanumeric) {
            needs.push(match touched.class {
                Some(class) if class.sends() => Need::Effect(EffectClass::Send),
                Some(_) | None => Need::Untold("a control with nothing but a sign on it"),
            });
        }
    }
    if touched.is_modal && !controls.first().is_some_and(answers) {
        needs.push(Need::Untold("a dialog's answer"));
    }
    needs
}

fn of_element(action: &ElementAction, touched: &Touched, met: &Met) -> Vec<Need> {
    let mut needs = of_controls(touched, met);
    let controls = met.controls.as_deref().unwrap_or_default();
    let has_field = controls.iter().any(is_field);
    let hides = controls.iter().any(|one| one.role == "password text");
    match action {
        ElementAction::Click { button: Button::Middle, .. } => {
            needs.push(Need::Untold("a way to point that may do anything"));
        }
        ElementAction::Focus | ElementAction::Click { .. } => {}
        ElementAction::Do(name) => {
            let name = plain(name);
            needs.extend(of_control(&name));
            let is_click = CLICKS.contains(&name.as_str());
            if is_click && has_field {
                needs.push(Need::Untold("what Enter does in its field"));
            } else if !is_click && !UNFOLDS.contains(&name.as_str()) {
                needs.push(Need::Untold("an action of the application's own"));
            }
        }
        ElementAction::SetValue(text) => {
            if touched.is_modal {
                needs.push(Need::Untold("a dialog's field"));
            }
            // By its name an item is chosen.
            if !has_field && !hides {
                needs.extend(of_control(text));
            }
            if hides || text.contains("{{") {
                needs.push(Need::Effect(EffectClass::Passwords));
            }
        }
    }
    needs
}

/// The controls at a point, the innermost first; `None` if the innermost does not say what it is. A menu lies over what
/// is smaller, so that all of them count.
pub(crate) fn at(elements: &[Element], point: NormPoint) -> Option<Vec<Element>> {
    let area = |element: &Element| element.bounds.width * element.bounds.height;
    let mut there: Vec<Element> =
        elements.iter().filter(|element| holds(&element.bounds, point)).cloned().collect();
    there.sort_by(|one, other| area(one).total_cmp(&area(other)));
    there.first().is_some_and(is_told).then(|| {
        there.retain(is_told);
        there
    })
}

/// Whether a control says what it is; a link leads anywhere.
pub(crate) fn is_told(element: &Element) -> bool {
    is_field(element) || (ROLES.contains(&element.role.as_str()) && !said(element).is_empty())
}

pub(crate) fn is_field(element: &Element) -> bool {
    FIELDS.contains(&element.role.as_str()) || element.states.iter().any(|state| state == "editable")
}

/// What a control says of itself: by its description where it has no name, as a picture has.
pub(crate) fn said(element: &Element) -> &str {
    if element.name.trim().is_empty() { element.description.trim() } else { element.name.trim() }
}

/// A control's name without the sign of its key, in lower case.
pub(crate) fn plain(name: &str) -> String {
    name.replace(['_', '&'], "").trim().trim_end_matches(['.', '…']).to_lowercase()
}
