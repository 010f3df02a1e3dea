//! Windows: UI Automation. All else is `portable`'s.
//!
//! A window's whole tree comes in one call, with a cache request; nothing is asked one by one. Type-checked by the
//! cross-check and written from Microsoft's documentation; not run by this project's tests.

use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;
use protocol::geometry::PhysicalRect;
use protocol::view::{Check, CheckState, CheckView, DisplayView};
use tokio_util::sync::CancellationToken;
use uiautomation::core::UICacheRequest;
use uiautomation::types::{ControlType, TreeScope, UIProperty};
use uiautomation::{UIAutomation, UIElement};

use crate::portable::list::{self, Seen};
use crate::portable::place::Top;
use crate::portable::{self, Tree, view};
use crate::{Acted, Desktop, DesktopError, ElementQuery, Evidence, Options, Script, Snapshot};

/// Objects listed in all.
const MOST: usize = 3_000;
/// Characters of a value.
const VALUE: usize = 200;
const CACHED: [UIProperty; 13] = [
    UIProperty::Name,
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
    UIProperty::ExpandCollapseExpandCollapseState,
];

pub(crate) fn open(options: Options) -> Arc<dyn Desktop> {
    portable::open::<WindowsTree>(options)
}

struct WindowsTree {
    automation: UIAutomation,
    /// The objects of the last snapshot; `e1` is the first.
    last: Vec<UIElement>,
}

fn failed(error: &uiautomation::Error) -> DesktopError {
    DesktopError::Failed(format!("UI Automation: {error}"))
}

impl WindowsTree {
    fn request(&self) -> Result<UICacheRequest, uiautomation::Error> {
        let request = self.automation.create_cache_request()?;
        for property in CACHED {
            request.add_property(property)?;
        }
        request.set_tree_filter(self.automation.get_control_view_condition()?)?;
        request.set_tree_scope(TreeScope::Subtree)?;
        Ok(request)
    }

    fn window(&self, wanted: &Top) -> Result<UIElement, uiautomation::Error> {
        let everything = self.automation.create_true_condition()?;
        let tops = self.automation.get_root_element()?.find_all(TreeScope::Children, &everything)?;
        let mut ours: Vec<UIElement> =
            tops.into_iter().filter(|top| top.get_process_id().is_ok_and(|pid| pid == wanted.pid)).collect();
        let titled = ours.iter().position(|top| top.get_name().is_ok_and(|name| name == wanted.title));
        match titled.or(if ours.is_empty() { None } else { Some(0) }) {
            Some(at) => Ok(ours.swap_remove(at)),
            None => Err(uiautomation::Error::new(
                uiautomation::errors::ERR_NOTFOUND,
                &format!("no window of {}", wanted.app),
            )),
        }
    }
}

impl crate::lane::Kept for WindowsTree {}

impl Tree for WindowsTree {
    const SCRIPTING: bool = false;

    fn open() -> Result<Self, DesktopError> {
        let automation = UIAutomation::new()
            .map_err(|error| DesktopError::NotAvailable(format!("UI Automation does not start: {error}")))?;
        Ok(Self { automation, last: Vec::new() })
    }

    fn elements(
        &mut self,
        window: &Top,
        query: &ElementQuery,
        display: &DisplayView,
        deadline: Instant,
    ) -> Result<Snapshot, DesktopError> {
        let read = || -> Result<UIElement, uiautomation::Error> {
            self.window(window)?.build_updated_cache(&self.request()?)
        };
        let root = read().map_err(|error| failed(&error))?;
        let (mut all, mut objects, mut unread) = (Vec::new(), Vec::new(), 0);
        let mut waiting = vec![(root, 0)];
        while let Some((element, depth)) = waiting.pop() {
            if all.len() >= MOST || Instant::now() >= deadline {
                unread += waiting.len() + 1;
                break;
            }
            let children = element.get_cached_children().unwrap_or_default();
            waiting.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
            if depth > 0 && !element.is_cached_offscreen().unwrap_or(false) {
                all.push(seen(&element, depth));
                objects.push(element);
            }
        }
        let listed = list::list(&all, &display.bounds, query);
        let mut cut = listed.cut;
        if unread > 0 {
            cut.push(format!(
                "{unread} objects and what is below them were not read: too many, or the time was up"
            ));
        }
        self.last = listed.sources.iter().map(|&at| objects[at].clone()).collect();
        Ok(Snapshot { app: window.app.clone(), window: window.title.clone(), elements: listed.elements, cut })
    }

    fn focus(&mut self, reference: &str) -> Result<Acted, DesktopError> {
        let number: Option<usize> = reference.strip_prefix('e').and_then(|number| number.parse().ok());
        let element = number.and_then(|number| number.checked_sub(1)).and_then(|at| self.last.get(at));
        let Some(element) = element else {
            return Err(DesktopError::NotFound(format!(
                "element {reference} is not in the last snapshot; call elementsJson again for new refs"
            )));
        };
        if let Err(error) = element.set_focus() {
            return Ok(Acted {
                evidence: Evidence::Mismatch,
                note: format!("{reference} did not take the focus ({error}); click it instead"),
            });
        }
        let has_it = element.has_keyboard_focus().unwrap_or(false);
        let evidence = if has_it { Evidence::ReadBack } else { Evidence::Sent };
        Ok(Acted { evidence, note: format!("gave {reference} the focus") })
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

    fn checks() -> Vec<CheckView> {
        let accessibility = match UIAutomation::new() {
            Ok(_) => view(Check::Accessibility, CheckState::Well, "UI Automation answers".into(), None),
            Err(error) => view(
                Check::Accessibility,
                CheckState::Missing,
                format!("UI Automation does not start: {error}"),
                Some("start Miki inside the user's own session"),
            ),
        };
        let capture = "Windows asks for no permission to capture the screen";
        vec![view(Check::ScreenCapture, CheckState::Well, capture.into(), None), accessibility]
    }

    fn script(_: Script, _: CancellationToken) -> BoxFuture<'static, Result<String, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("AppleScript needs macOS".into())) })
    }
}

fn seen(element: &UIElement, depth: u32) -> Seen {
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
    let length = |from: i32, to: i32| u32::try_from(to.saturating_sub(from)).unwrap_or(0);
    Seen {
        role: if secure { "password text".into() } else { role_name(kind) },
        name: element.get_cached_name().unwrap_or_default(),
        value,
        states: states.iter().filter(|(is, _)| *is).map(|(_, name)| (*name).to_owned()).collect(),
        rect: PhysicalRect {
            x: rect.get_left(),
            y: rect.get_top(),
            width: length(rect.get_left(), rect.get_right()),
            height: length(rect.get_top(), rect.get_bottom()),
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
