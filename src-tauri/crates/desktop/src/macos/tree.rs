//! [`Tree`] of macOS: reads objects in the tree's order, one call an object.

use std::collections::HashSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use protocol::geometry::ScaleFactor;

use super::ax::{self, Node};
use super::{frames, permission};
use crate::DesktopError;
use crate::portable::list::{self, TreeItem};
use crate::portable::scene::Top;
use crate::portable::{Reading, Tree};

/// Objects read in all; a web page may have a hundred thousand.
const MOST: usize = 3_000;
/// Characters of a value, as many as anybody asks for.
const VALUE: usize = 20_000;
/// For Chromium and Electron to build the tree they were asked for.
const BUILD: Duration = Duration::from_millis(1500);
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// Worth listing without a name.
const CONTROLS: &[&str] = &[
    "AXButton",
    "AXCheckBox",
    "AXColorWell",
    "AXComboBox",
    "AXDisclosureTriangle",
    "AXIncrementor",
    "AXLink",
    "AXMenuBarItem",
    "AXMenuButton",
    "AXMenuItem",
    "AXPopUpButton",
    "AXRadioButton",
    "AXSlider",
    "AXTextArea",
    "AXTextField",
];
/// Tried in this order for a plain press.
const PRESSES: [&str; 4] = ["AXPress", "AXPick", "AXConfirm", "AXOpen"];
/// Every object has these, or a press says the same.
const PLAIN: &[&str] = &["AXPress", "AXPick", "AXConfirm", "AXScrollToVisible"];

pub(super) struct MacTree {
    /// Processes that were asked for their tree.
    asked: HashSet<u32>,
}

impl crate::worker::WorkerState for MacTree {}

impl Tree for MacTree {
    type Node = Node;

    fn open() -> Result<Self, DesktopError> {
        Ok(Self { asked: HashSet::new() })
    }

    fn read_window(
        &mut self,
        window: &Top,
        scale: ScaleFactor,
        deadline: Instant,
    ) -> Result<Reading<Node>, DesktopError> {
        if !ax::is_trusted() {
            return Err(permission::accessibility());
        }
        let application = Node::application(window.pid);
        let is_new = self.asked.insert(window.pid) && application.ask_for_tree();
        let until = deadline.min(Instant::now() + if is_new { BUILD } else { Duration::ZERO });
        loop {
            let root = application.window(window.id, &window.title).ok_or_else(|| {
                DesktopError::NotFound(format!(
                    "{} shows no window to the accessibility interface",
                    window.app
                ))
            })?;
            let mut reading = Reading::default();
            if let Some(bar) = application.menu_bar() {
                read(&mut reading, bar, scale, deadline);
            }
            read(&mut reading, root, scale, deadline);
            let has_page = reading
                .seen
                .windows(2)
                .any(|pair| pair[0].role == "web area" && pair[1].depth > pair[0].depth);
            if has_page || Instant::now() >= until {
                return Ok(reading);
            }
            sleep(LOOK_AGAIN);
        }
    }

    fn read_below(&mut self, node: &Node, scale: ScaleFactor, deadline: Instant) -> Reading<Node> {
        let mut reading = Reading::default();
        read(&mut reading, node.clone(), scale, deadline);
        reading
    }

    fn look(&mut self, node: &Node, scale: ScaleFactor) -> Option<TreeItem> {
        node.is_there().then(|| seen(node, &node.facts(), 0, scale))
    }

    fn value(&mut self, node: &Node) -> Option<String> {
        (node.string("AXSubrole") != "AXSecureTextField").then(|| node.string("AXValue"))
    }

    fn press(&mut self, node: &Node) -> bool {
        let own = node.actions();
        let press = PRESSES.into_iter().find(|press| own.iter().any(|one| one == press));
        match press {
            Some(press) => node.perform(press),
            // Rows and cells are selected, not pressed.
            None => node.set_flag("AXSelected", true) && node.flag("AXSelected"),
        }
    }

    fn set_value(&mut self, node: &Node, text: &str) -> bool {
        node.set_value(text)
    }

    fn focus(&mut self, node: &Node) -> bool {
        node.set_focused()
    }

    fn perform(&mut self, node: &Node, action: &str) -> bool {
        let own = node.actions();
        own.iter().find(|own| list::words(own) == action).is_some_and(|own| node.perform(own))
    }

    fn menu_bar(&mut self, window: &Top) -> Option<Node> {
        Node::application(window.pid).menu_bar()
    }

    fn menu_items(&mut self, node: &Node) -> Vec<(Node, String)> {
        node.children()
            .into_iter()
            .flat_map(|child| if child.string("AXRole") == "AXMenu" { child.children() } else { vec![child] })
            .map(|item| (item.clone(), item.string("AXTitle")))
            .collect()
    }

    /// A closed menu's items can be read and pressed as they are.
    fn unfold(&mut self, _: &Node) {}

    fn fold(&mut self, _: &Node) {}

    fn focused_text(&mut self) -> Option<String> {
        let facts = Node::focused()?.facts();
        (facts.is_editable() && !facts.secure).then_some(facts.value)
    }

    fn insert(&mut self, text: &str) -> bool {
        let Some(node) = Node::focused() else { return false };
        let before = node.facts();
        if !before.is_editable() || before.secure || !node.set_selected_text(text) {
            return false;
        }
        // Some applications accept the call and do nothing.
        let after = node.facts().value;
        after != before.value && after.contains(text)
    }
}

/// Reads in the tree's order until there are too many or the time is up.
fn read(reading: &mut Reading<Node>, root: Node, scale: ScaleFactor, deadline: Instant) {
    let mut waiting = vec![(root, 0)];
    while let Some((node, depth)) = waiting.pop() {
        if reading.seen.len() >= MOST || Instant::now() >= deadline {
            reading.unread += waiting.len() + 1;
            return;
        }
        let facts = node.facts();
        // A closed menu's items have places too; they are not on the screen.
        if facts.role != "AXMenuBarItem" || facts.selected {
            waiting.extend(facts.children.iter().rev().map(|child| (child.clone(), depth + 1)));
        }
        reading.seen.push(seen(&node, &facts, depth, scale));
        reading.nodes.push(node);
    }
}

fn seen(node: &Node, facts: &ax::Facts, depth: u32, scale: ScaleFactor) -> TreeItem {
    let value = if facts.secure { String::new() } else { facts.value.chars().take(VALUE).collect() };
    let checkable = matches!(facts.role.as_str(), "AXCheckBox" | "AXRadioButton" | "AXMenuItem");
    let control = CONTROLS.contains(&facts.role.as_str());
    let states = [
        (facts.focused, "focused"),
        (!facts.enabled, "disabled"),
        (checkable && facts.value == "1", "checked"),
        (facts.selected, "selected"),
        (facts.expanded, "expanded"),
        (facts.is_editable(), "editable"),
    ];
    // One call more, so only for what can be operated.
    let actions = if control { node.actions() } else { Vec::new() };
    TreeItem {
        role: role_name(facts),
        name: facts.name.clone(),
        description: facts.description.clone(),
        value: if checkable { String::new() } else { value },
        states: states.iter().filter(|(is, _)| *is).map(|(_, name)| (*name).to_owned()).collect(),
        actions: actions
            .iter()
            .filter(|action| !PLAIN.contains(&action.as_str()))
            .map(|action| list::words(action))
            .collect(),
        rect: frames::to_pixels((facts.place, facts.size), scale),
        depth,
        control,
    }
}

/// The same words as on the other platforms where they mean the same.
fn role_name(facts: &ax::Facts) -> String {
    match facts.role.as_str() {
        _ if facts.secure => "password text".into(),
        "AXTextField" | "AXTextArea" => "text".into(),
        "AXStaticText" => "label".into(),
        "AXMenuBarItem" => "menu".into(),
        "AXPopUpButton" => "combo box".into(),
        role => list::words(role),
    }
}
