//! What makes an act grave: the kind of its application, what its control says, what it writes into a password field.

use desktop::{Action, Desktop, Element, Field, Inside, Key, WindowView};
use protocol::contract::EffectClass;

use super::{NAME_CHARS, PATIENCE, Touched};
use crate::applications::Class;
use crate::contract::keys::{self, Keyed};
use crate::contract::{self, Need};
use crate::plan::Step;
use crate::reach::{Act, Reach};
use crate::{goes_to, links, untrusted, words};

/// Why an act on this target asks each time, and what a plan must name for it; `None` if its plan's risk is enough.
pub(super) fn gravity(part: &Step, touched: &Touched) -> Option<(String, Vec<Need>)> {
    let (reach, act) = (part.plan().reach(), part.plan().act());
    // Its place on the screen, or its closing, which its program may ask about.
    if let Reach::Window(_) = reach {
        return None;
    }
    let said = |control| says(control).or_else(|| says_nothing(control, touched.class));
    if let Some(grave) = touched.control.as_deref().and_then(said) {
        return Some(grave);
    }
    let class = touched.class?;
    let called = class.called();
    let breaks_line = reach.enters() || act.is_some_and(Act::breaks_line);
    let why = if class.is_grave()
        || (class == Class::Ide && (reach.takes_keys() || act.is_some_and(Act::brings_text)))
    {
        format!("{} is {called}", touched.app)
    } else if class == Class::Files && act.map_or(matches!(reach, Reach::Menu { .. }), Act::may_open) {
        format!("{} is {called}, and may start what is opened", touched.app)
    } else if breaks_line && class.sends() {
        format!("a line break in {} ({called}) sends", touched.app)
    } else if class.sends() && act.is_some_and(Act::may_set_off) {
        format!("{} is {called}, and this may send", touched.app)
    } else {
        return None;
    };
    Some((why, contract::of_class(class, reach, act).into_iter().collect()))
}

pub(super) fn says(control: &str) -> Option<(String, Vec<Need>)> {
    words::says(control).map(|does| (format!("“{control}” {does}"), contract::of_control(control)))
}

/// In a chat, a button with nothing but a sign on it is the one that sends, and one of which nothing is told may be.
pub(super) fn says_nothing(control: &str, class: Option<Class>) -> Option<(String, Vec<Need>)> {
    let class = class.filter(|class| class.sends())?;
    let is_sign = !control.chars().any(char::is_alphanumeric);
    let control = if control.is_empty() {
        "what does not say what it is".to_owned()
    } else {
        format!("“{control}”")
    };
    let why = || format!("{control} in {} may send", class.called());
    is_sign.then(|| (why(), vec![Need::Effect(EffectClass::Send)]))
}

/// What keys meet that may write or press something.
pub(super) struct Keyboard {
    /// The field that has it.
    pub field: Option<Field>,
    /// What the control that has it says, where no field does: Space and Enter press it.
    pub control: Option<String>,
    /// The role of what has it, where no field does and its program is in no list.
    pub role: Option<String>,
    /// Whether something is brought into a field: Enter and the way about bring nothing.
    pub writes: bool,
    /// A Tab in the text leaves the field, and what comes after it presses whatever is next.
    pub goes_on: bool,
}

/// Whether it writes into the field that has the keyboard, or may press what has it: a shortcut is for the whole window.
pub(crate) fn meets_field(part: &Step) -> bool {
    let Some(Act::Input(action)) = part.plan().act() else { return false };
    part.plan().reach().takes_keys() && (presses(action) || writes(action))
}

/// `class` is that of the program that gets the keys.
pub(super) async fn keyboard(
    desktop: &dyn Desktop,
    windows: &[WindowView],
    part: &Step,
    class: Option<Class>,
) -> Option<Keyboard> {
    let is_listed = class.is_some();
    // In a table of cells a Tab goes to the next one.
    let fills_cells = matches!(class, Some(Class::Office | Class::Editor));
    let Some(Act::Input(action)) = part.plan().act().filter(|_| part.plan().reach().takes_keys()) else {
        return None;
    };
    let (presses, writes) = (presses(action), writes(action));
    if !presses && !writes {
        return None;
    }
    let field = tokio::time::timeout(PATIENCE, desktop.field()).await.ok().flatten();
    let is_looked_at = field.is_none() && (presses || !is_listed);
    let focused = if is_looked_at { links::focused(desktop, windows).await } else { None };
    let is_told = |one: &&Element| goes_to::is_pressed(&one.role) || !goes_to::said(one).is_empty();
    let control = focused.as_ref().filter(|_| presses).filter(is_told).map(goes_to::said);
    // In a text of many lines a Tab is a character; a page moves on from those, too.
    let keeps_tabs =
        field.as_ref().is_some_and(|field| field.takes_lines && !matches!(field.inside, Inside::Page(_)));
    let goes_on = !keeps_tabs && !fills_cells && presses_after_a_tab(action);
    Some(Keyboard { field, control, role: focused.map(|one| one.role), writes, goes_on })
}

fn presses_after_a_tab(action: &Action) -> bool {
    let Action::Type { text } = action else { return false };
    text.split_once('\t').is_some_and(|(_, rest)| rest.contains([' ', '\n', '\r']))
}

/// Whether a button that has the keyboard would be pressed.
fn presses(action: &Action) -> bool {
    let is_it = |key: &Key| matches!(key, Key::Space | Key::Enter);
    match action {
        Action::Type { text } => text.contains([' ', '\n', '\r']),
        Action::Press { key, .. } | Action::KeyDown { key } | Action::KeyUp { key } => is_it(key),
        Action::Hotkey { keys } | Action::Hold { keys, .. } => keys.iter().any(is_it),
        _ => false,
    }
}

fn writes(action: &Action) -> bool {
    matches!(action, Action::Type { .. } | Action::KeyDown { .. })
        || matches!(keys::does(action), Some(Keyed::Pastes | Keyed::Writes { enters: false }))
}

/// Whether the keys bring a text into whatever has the keyboard: letters, or what was copied.
pub(super) fn brings(part: &Step) -> bool {
    let Some(Act::Input(action)) = part.plan().act() else { return false };
    // Insert pastes with Shift, which may be held down from an earlier call.
    let is_letter = |key: &Key| matches!(key, Key::Char(_) | Key::Space | Key::Insert);
    match action {
        Action::Type { text } => !text.is_empty(),
        Action::Press { key, .. } | Action::KeyDown { key } => is_letter(key),
        Action::Hotkey { keys } | Action::Hold { keys, .. } => {
            let commands = keys.iter().any(|key| key.is_modifier() && *key != Key::Shift);
            let pastes = |key: &Key| matches!(key, Key::Char('v' | 'V') | Key::Insert);
            keys.iter().any(|key| pastes(key) || (!commands && is_letter(key)))
        }
        _ => false,
    }
}

pub(super) fn titled(name: &str) -> String {
    format!("“{}”", untrusted::line(name, NAME_CHARS))
}
