//! macOS: the accessibility interface (AX), its permissions, and AppleScript. All else is `portable`'s.
//!
//! Type-checked by the cross-check and written from Apple's documentation; not run by this project's tests.

use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;
use objc2_core_graphics::CGPreflightScreenCaptureAccess;
use protocol::geometry::{PhysicalRect, ScaleFactor};
use protocol::view::{Check, CheckState, CheckView, DisplayView};
use tokio_util::sync::CancellationToken;

use self::ax::Node;
use crate::portable::list::{self, Seen};
use crate::portable::place::Top;
use crate::portable::{self, Tree, view};
use crate::{Acted, Desktop, DesktopError, ElementQuery, Evidence, Options, Script, Snapshot, osascript};

mod ax;

/// Objects read in all; a web page may have a hundred thousand.
const MOST: usize = 3_000;
/// Characters of a value.
const VALUE: usize = 200;
const ACCESSIBILITY: &str =
    "allow Miki in System Settings > Privacy & Security > Accessibility, then try again";
const RECORDING: &str = "allow Miki in System Settings > Privacy & Security > Screen & System Audio Recording, then start Miki again";
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

pub(crate) fn open(options: Options) -> Arc<dyn Desktop> {
    portable::open::<MacTree>(options)
}

/// The objects of the last snapshot; `e1` is the first.
struct MacTree {
    last: Vec<Node>,
}

impl crate::lane::Kept for MacTree {}

impl Tree for MacTree {
    const SCRIPTING: bool = true;

    fn open() -> Result<Self, DesktopError> {
        Ok(Self { last: Vec::new() })
    }

    fn elements(
        &mut self,
        window: &Top,
        query: &ElementQuery,
        display: &DisplayView,
        deadline: Instant,
    ) -> Result<Snapshot, DesktopError> {
        if !ax::is_trusted() {
            return Err(DesktopError::Permission {
                what: "macOS does not let Miki read other applications' windows".into(),
                mend: ACCESSIBILITY.into(),
            });
        }
        let application = Node::application(window.pid);
        let root = application.window(&window.title).ok_or_else(|| {
            DesktopError::NotFound(format!("{} shows no window to the accessibility interface", window.app))
        })?;
        let mut reader =
            Reader { scale: display.scale, deadline, seen: Vec::new(), nodes: Vec::new(), unread: 0 };
        if let Some(bar) = application.menu_bar() {
            reader.read(bar, 0);
        }
        reader.read(root, 0);
        let listed = list::list(&reader.seen, &display.bounds, query);
        let mut cut = listed.cut;
        if reader.unread > 0 {
            cut.push(format!(
                "{} objects and what is below them were not read: too many, or the time was up",
                reader.unread
            ));
        }
        self.last = listed.sources.iter().map(|&at| reader.nodes[at].clone()).collect();
        Ok(Snapshot { app: window.app.clone(), window: window.title.clone(), elements: listed.elements, cut })
    }

    fn focus(&mut self, reference: &str) -> Result<Acted, DesktopError> {
        let number: Option<usize> = reference.strip_prefix('e').and_then(|number| number.parse().ok());
        let node = number.and_then(|number| number.checked_sub(1)).and_then(|at| self.last.get(at));
        let Some(node) = node else {
            return Err(DesktopError::NotFound(format!(
                "element {reference} is not in the last snapshot; call elementsJson again for new refs"
            )));
        };
        if !node.set_focused() {
            return Ok(Acted {
                evidence: Evidence::Mismatch,
                note: format!("{reference} cannot take the focus; click it instead"),
            });
        }
        let evidence = if node.facts().focused { Evidence::ReadBack } else { Evidence::Sent };
        Ok(Acted { evidence, note: format!("gave {reference} the focus") })
    }

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

    fn checks() -> Vec<CheckView> {
        let recording = if CGPreflightScreenCaptureAccess() {
            view(Check::ScreenCapture, CheckState::Well, "screen recording is allowed".into(), None)
        } else {
            let detail = "macOS does not let Miki record the screen".into();
            view(Check::ScreenCapture, CheckState::Missing, detail, Some(RECORDING))
        };
        let accessibility = if ax::is_trusted() {
            view(Check::Accessibility, CheckState::Well, "accessibility is allowed".into(), None)
        } else {
            let detail = "macOS does not let Miki read and operate other applications".into();
            view(Check::Accessibility, CheckState::Missing, detail, Some(ACCESSIBILITY))
        };
        vec![recording, accessibility]
    }

    fn script(script: Script, cancel: CancellationToken) -> BoxFuture<'static, Result<String, DesktopError>> {
        Box::pin(async move { osascript::run(&script, &cancel).await })
    }
}

/// Reads a tree in its order, one call an object, until there are too many or the time is up.
struct Reader {
    scale: ScaleFactor,
    deadline: Instant,
    seen: Vec<Seen>,
    nodes: Vec<Node>,
    unread: usize,
}

impl Reader {
    fn read(&mut self, root: Node, depth: u32) {
        let mut waiting = vec![(root, depth)];
        while let Some((node, depth)) = waiting.pop() {
            if self.seen.len() >= MOST || Instant::now() >= self.deadline {
                self.unread += waiting.len() + 1;
                return;
            }
            let facts = node.facts();
            // A closed menu's items have places too; they are not on the screen.
            if facts.role != "AXMenuBarItem" || facts.selected {
                waiting.extend(facts.children.iter().rev().map(|child| (child.clone(), depth + 1)));
            }
            self.seen.push(seen(&facts, depth, self.scale));
            self.nodes.push(node);
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positions on a screen")]
fn seen(facts: &ax::Facts, depth: u32, scale: ScaleFactor) -> Seen {
    let pixels = |value: f64| (value * scale.0).round();
    let value = if facts.secure { String::new() } else { facts.value.chars().take(VALUE).collect() };
    let checkable = matches!(facts.role.as_str(), "AXCheckBox" | "AXRadioButton" | "AXMenuItem");
    let states = [
        (facts.focused, "focused"),
        (!facts.enabled, "disabled"),
        (checkable && facts.value == "1", "checked"),
        (facts.selected, "selected"),
        (facts.expanded, "expanded"),
        (facts.is_editable(), "editable"),
    ];
    Seen {
        role: role_name(facts),
        name: facts.name.clone(),
        value: if checkable { String::new() } else { value },
        states: states.iter().filter(|(is, _)| *is).map(|(_, name)| (*name).to_owned()).collect(),
        rect: PhysicalRect {
            x: pixels(facts.place.0) as i32,
            y: pixels(facts.place.1) as i32,
            width: pixels(facts.size.0) as u32,
            height: pixels(facts.size.1) as u32,
        },
        depth,
        control: CONTROLS.contains(&facts.role.as_str()),
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
