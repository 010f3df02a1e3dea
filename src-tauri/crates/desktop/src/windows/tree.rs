//! [`Tree`] of Windows, by UI Automation: a window's whole tree comes in one call, with a cache request; nothing is
//! asked one by one.

use std::hash::{Hash, Hasher};
use std::time::Instant;

use protocol::geometry::{PhysicalRect, ScaleFactor};
use uiautomation::core::UICacheRequest;
use uiautomation::patterns::{
    UIExpandCollapsePattern, UIInvokePattern, UILegacyIAccessiblePattern, UIRangeValuePattern,
    UIScrollItemPattern, UISelectionItemPattern, UITogglePattern, UIValuePattern,
};
use uiautomation::types::{ControlType, ExpandCollapseState, Handle, TreeScope, UIProperty};
use uiautomation::{UIAutomation, UIElement};

use crate::DesktopError;
use crate::portable::list::{self, TreeItem};
use crate::portable::scene::Top;
use crate::portable::{Reading, Tree};

/// Objects listed in all.
const MOST: usize = 3_000;
/// Characters of a value, as many as anybody asks for.
const VALUE: usize = 20_000;
const CACHED: [UIProperty; 16] = [
    UIProperty::Name,
    UIProperty::HelpText,
    UIProperty::ControlType,
    UIProperty::BoundingRectangle,
    UIProperty::IsEnabled,
    UIProperty::IsOffscreen,
    UIProperty::IsPassword,
    UIProperty::HasKeyboardFocus,
    UIProperty::ValueValue,
    UIProperty::ValueIsReadOnly,
    UIProperty::RangeValueValue,
    UIProperty::ToggleToggleState,
    UIProperty::SelectionItemIsSelected,
    UIProperty::IsSelectionItemPatternAvailable,
    UIProperty::IsScrollItemPatternAvailable,
    UIProperty::ExpandCollapseExpandCollapseState,
];
const EXPAND: &str = "expand";
const COLLAPSE: &str = "collapse";
const SELECT: &str = "select";
const SHOW: &str = "scroll into view";
const MENU: &str = "show menu";

pub(super) struct WindowsTree {
    automation: UIAutomation,
}

/// An object, known by its runtime id: equal to another where UI Automation says that it is the same.
#[derive(Clone)]
pub(super) struct Node {
    element: UIElement,
    id: Vec<i32>,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Node {}

impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl From<UIElement> for Node {
    fn from(element: UIElement) -> Self {
        let id = element.get_runtime_id().unwrap_or_default();
        Self { element, id }
    }
}

fn failed(error: &uiautomation::Error) -> DesktopError {
    DesktopError::Failed(format!("UI Automation: {error}"))
}

impl WindowsTree {
    fn request(&self, scope: TreeScope) -> Result<UICacheRequest, uiautomation::Error> {
        let request = self.automation.create_cache_request()?;
        for property in CACHED {
            request.add_property(property)?;
        }
        request.set_tree_filter(self.automation.get_control_view_condition()?)?;
        request.set_tree_scope(scope)?;
        Ok(request)
    }

    fn children(&self, element: &UIElement) -> Vec<UIElement> {
        let all = || element.find_all(TreeScope::Children, &self.automation.create_true_condition()?);
        all().unwrap_or_default()
    }

    fn window(&self, window: &Top) -> Result<UIElement, uiautomation::Error> {
        let handle = Handle::from(isize::try_from(window.id).unwrap_or(0));
        self.automation.element_from_handle_build_cache(handle, &self.request(TreeScope::Subtree)?)
    }
}

impl crate::worker::WorkerState for WindowsTree {}

impl Tree for WindowsTree {
    type Node = Node;

    fn open() -> Result<Self, DesktopError> {
        let automation = UIAutomation::new()
            .map_err(|error| DesktopError::NotAvailable(format!("UI Automation does not start: {error}")))?;
        Ok(Self { automation })
    }

    fn read_window(
        &mut self,
        window: &Top,
        _: ScaleFactor,
        deadline: Instant,
    ) -> Result<Reading<Node>, DesktopError> {
        Ok(read(self.window(window).map_err(|error| failed(&error))?, deadline))
    }

    fn read_below(&mut self, node: &Node, _: ScaleFactor, deadline: Instant) -> Reading<Node> {
        let root = || node.element.build_updated_cache(&self.request(TreeScope::Subtree)?);
        root().map(|root| read(root, deadline)).unwrap_or_default()
    }

    fn look(&mut self, node: &Node, _: ScaleFactor) -> Option<TreeItem> {
        let now = || node.element.build_updated_cache(&self.request(TreeScope::Element)?);
        now().ok().map(|now| seen(&now, 0))
    }

    fn value(&mut self, node: &Node) -> Option<String> {
        let element = &node.element;
        if element.is_password().unwrap_or(true) {
            return None;
        }
        let text = element.get_pattern::<UIValuePattern>().and_then(|pattern| pattern.get_value());
        let number = || element.get_pattern::<UIRangeValuePattern>().and_then(|pattern| pattern.get_value());
        text.ok().or_else(|| number().ok().map(|number| number.to_string()))
    }

    fn press(&mut self, node: &Node) -> bool {
        let element = &node.element;
        let invoke = || element.get_pattern::<UIInvokePattern>()?.invoke();
        let toggle = || element.get_pattern::<UITogglePattern>()?.toggle();
        let select = || element.get_pattern::<UISelectionItemPattern>()?.select();
        let unfold = || {
            let pattern = element.get_pattern::<UIExpandCollapsePattern>()?;
            match pattern.get_state()? {
                ExpandCollapseState::Expanded => pattern.collapse(),
                _ => pattern.expand(),
            }
        };
        let default = || element.get_pattern::<UILegacyIAccessiblePattern>()?.do_default_action();
        invoke()
            .or_else(|_| toggle())
            .or_else(|_| select())
            .or_else(|_| unfold())
            .or_else(|_| default())
            .is_ok()
    }

    fn set_value(&mut self, node: &Node, text: &str) -> bool {
        let element = &node.element;
        let as_text = || element.get_pattern::<UIValuePattern>()?.set_value(text);
        let as_number = |number| element.get_pattern::<UIRangeValuePattern>()?.set_value(number);
        as_text().is_ok() || text.trim().parse().is_ok_and(|number| as_number(number).is_ok())
    }

    fn focus(&mut self, node: &Node) -> bool {
        node.element.set_focus().is_ok()
    }

    fn perform(&mut self, node: &Node, action: &str) -> bool {
        let element = &node.element;
        let unfolding = || element.get_pattern::<UIExpandCollapsePattern>();
        let done = match action {
            EXPAND => unfolding().and_then(|pattern| pattern.expand()),
            COLLAPSE => unfolding().and_then(|pattern| pattern.collapse()),
            SELECT => element.get_pattern::<UISelectionItemPattern>().and_then(|pattern| pattern.select()),
            SHOW => element.get_pattern::<UIScrollItemPattern>().and_then(|item| item.scroll_into_view()),
            MENU => element.show_context_menu(),
            _ => return false,
        };
        done.is_ok()
    }

    fn menu_bar(&mut self, window: &Top) -> Option<Node> {
        let mut waiting = vec![self.window(window).ok()?];
        while let Some(element) = waiting.pop() {
            // The window's own menu (move, size, close) is a bar too.
            let is_bar = element.get_cached_control_type().is_ok_and(|kind| kind == ControlType::MenuBar);
            if is_bar && element.get_cached_name().is_ok_and(|name| name != "System") {
                return Some(element.into());
            }
            waiting.extend(element.get_cached_children().unwrap_or_default());
        }
        None
    }

    fn menu_items(&mut self, node: &Node) -> Vec<(Node, String)> {
        let is_menu = |element: &UIElement| {
            element
                .get_control_type()
                .is_ok_and(|kind| matches!(kind, ControlType::Menu | ControlType::Window))
        };
        let inner = |all: Vec<UIElement>| -> Vec<UIElement> {
            all.into_iter()
                .flat_map(|one| if is_menu(&one) { self.children(&one) } else { vec![one] })
                .collect()
        };
        let mut items = inner(self.children(&node.element));
        if items.is_empty() {
            // Classic menus are windows of their own beside the application's.
            let pid = node.element.get_process_id().ok();
            let tops =
                self.automation.get_root_element().map(|root| self.children(&root)).unwrap_or_default();
            let menus = tops.into_iter().filter(|top| {
                top.get_process_id().ok() == pid
                    && top.get_control_type().is_ok_and(|kind| kind == ControlType::Menu)
            });
            items = inner(menus.collect());
        }
        items
            .into_iter()
            .filter(|item| item.get_control_type().is_ok_and(|kind| kind == ControlType::MenuItem))
            .map(|item| {
                let name = item.get_name().unwrap_or_default();
                (item.into(), name)
            })
            .collect()
    }

    fn unfold(&mut self, node: &Node) {
        let open = || node.element.get_pattern::<UIExpandCollapsePattern>()?.expand();
        if open().is_err() {
            self.press(node);
        }
    }

    fn fold(&mut self, node: &Node) {
        let close = || node.element.get_pattern::<UIExpandCollapsePattern>()?.collapse();
        if let Err(error) = close() {
            tracing::debug!(%error, "a menu stays open");
        }
    }

    fn focused_text(&mut self) -> Option<String> {
        let element = self.automation.get_focused_element().ok()?;
        if element.is_password().unwrap_or(true) {
            return None;
        }
        let read_only: bool =
            element.get_property_value(UIProperty::ValueIsReadOnly).ok()?.try_into().ok()?;
        let value = element.get_property_value(UIProperty::ValueValue).ok()?.get_string().ok()?;
        (!read_only).then_some(value)
    }

    /// UI Automation can replace a whole value but not insert at the caret: that is left to paste and keys.
    fn insert(&mut self, _: &str) -> bool {
        false
    }
}

/// Hands out what the cache holds, in the tree's order.
fn read(root: UIElement, deadline: Instant) -> Reading<Node> {
    let mut reading = Reading::default();
    let mut waiting = vec![(root, 0)];
    while let Some((element, depth)) = waiting.pop() {
        if reading.seen.len() >= MOST || Instant::now() >= deadline {
            reading.unread += waiting.len() + 1;
            break;
        }
        let children = element.get_cached_children().unwrap_or_default();
        waiting.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
        reading.seen.push(seen(&element, depth));
        reading.nodes.push(element.into());
    }
    reading
}

fn seen(element: &UIElement, depth: u32) -> TreeItem {
    let kind = element.get_cached_control_type().unwrap_or(ControlType::Custom);
    let number =
        |property| -> Option<i32> { element.get_cached_property_value(property).ok()?.try_into().ok() };
    let flag = |property| -> bool {
        element
            .get_cached_property_value(property)
            .ok()
            .and_then(|value| TryInto::<bool>::try_into(value).ok())
            .unwrap_or(false)
    };
    let secure = element.is_cached_password().unwrap_or(false);
    let text = element
        .get_cached_property_value(UIProperty::ValueValue)
        .ok()
        .and_then(|value| value.get_string().ok());
    let range = || -> Option<f64> {
        element.get_cached_property_value(UIProperty::RangeValueValue).ok()?.try_into().ok()
    };
    let is_range = matches!(kind, ControlType::Slider | ControlType::Spinner | ControlType::ProgressBar);
    let value = match text {
        _ if secure => String::new(),
        Some(text) if !text.is_empty() => text.chars().take(VALUE).collect(),
        _ if is_range => range().map(|number| number.to_string()).unwrap_or_default(),
        _ => String::new(),
    };
    let is_text = matches!(kind, ControlType::Edit | ControlType::Document);
    let states = [
        (element.has_cached_keyboard_focus().unwrap_or(false), "focused"),
        (!element.is_cached_enabled().unwrap_or(true), "disabled"),
        (number(UIProperty::ToggleToggleState) == Some(1), "checked"),
        (flag(UIProperty::SelectionItemIsSelected), "selected"),
        (number(UIProperty::ExpandCollapseExpandCollapseState) == Some(1), "expanded"),
        (is_text && !flag(UIProperty::ValueIsReadOnly), "editable"),
    ];
    let rect = element.get_cached_bounding_rectangle().unwrap_or_default();
    let hidden = element.is_cached_offscreen().unwrap_or(false);
    let length = |from: i32, to: i32| u32::try_from(to.saturating_sub(from)).unwrap_or(0);
    let unfolding = number(UIProperty::ExpandCollapseExpandCollapseState);
    let actions = [
        (unfolding == Some(0), EXPAND),
        (unfolding == Some(1), COLLAPSE),
        (flag(UIProperty::IsSelectionItemPatternAvailable), SELECT),
        (flag(UIProperty::IsScrollItemPatternAvailable), SHOW),
        (is_control(kind), MENU),
    ];
    let named = |all: &[(bool, &str)]| -> Vec<String> {
        all.iter().filter(|(is, _)| *is).map(|(_, name)| (*name).to_owned()).collect()
    };
    TreeItem {
        role: if secure { "password text".into() } else { role_name(kind) },
        name: element.get_cached_name().unwrap_or_default(),
        value,
        description: element.get_cached_help_text().unwrap_or_default(),
        states: named(&states),
        actions: named(&actions),
        rect: PhysicalRect {
            x: rect.get_left(),
            y: rect.get_top(),
            // What is scrolled away has a place too: without a size it is counted as off screen.
            width: if hidden { 0 } else { length(rect.get_left(), rect.get_right()) },
            height: if hidden { 0 } else { length(rect.get_top(), rect.get_bottom()) },
        },
        depth,
        control: is_control(kind),
    }
}

/// The same words as on the other platforms where they mean the same.
fn role_name(kind: ControlType) -> String {
    match kind {
        ControlType::Edit | ControlType::Document => "text".into(),
        ControlType::Text => "label".into(),
        ControlType::Hyperlink => "link".into(),
        ControlType::TabItem => "page tab".into(),
        kind => list::words(&format!("{kind:?}")),
    }
}

/// Worth listing without a name.
fn is_control(kind: ControlType) -> bool {
    matches!(
        kind,
        ControlType::Button
            | ControlType::CheckBox
            | ControlType::ComboBox
            | ControlType::Edit
            | ControlType::Hyperlink
            | ControlType::MenuItem
            | ControlType::RadioButton
            | ControlType::Slider
            | ControlType::Spinner
            | ControlType::SplitButton
            | ControlType::TabItem
            | ControlType::TreeItem
    )
}
