//! One object of macOS's accessibility tree, and reading all it says in one call.
//!
//! Every pointer that AX hands out is owned at once.
#![expect(unsafe_code, reason = "AX is a C interface; each block says what makes it sound")]

use std::ffi::c_void;
use std::ptr::{self, NonNull};

use objc2_application_services::{
    AXCopyMultipleAttributeOptions, AXError, AXIsProcessTrusted, AXIsProcessTrustedWithOptions, AXUIElement,
    AXValue, AXValueType, kAXTrustedCheckOptionPrompt,
};
use objc2_core_foundation::{
    CFArray, CFBoolean, CFDictionary, CFNumber, CFRetained, CFString, CFType, CGPoint, CGSize,
};

/// Seconds that one call may take; a hanging application must not hang us.
const PATIENCE: f32 = 1.0;
/// What is read of each object, in this order.
const WISHED: [&str; 14] = [
    "AXRole",
    "AXSubrole",
    "AXTitle",
    "AXDescription",
    "AXHelp",
    "AXPlaceholderValue",
    "AXValue",
    "AXPosition",
    "AXSize",
    "AXEnabled",
    "AXFocused",
    "AXSelected",
    "AXExpanded",
    "AXChildren",
];

/// Whether the user allowed this program to read and operate others.
pub(super) fn is_trusted() -> bool {
    // SAFETY: takes nothing and only asks the system for a flag.
    unsafe { AXIsProcessTrusted() }
}

/// Has macOS list this program among those that may, with its own question where it was never asked.
pub(super) fn ask_for_trust() {
    // SAFETY: a constant of the system's.
    let prompt = unsafe { kAXTrustedCheckOptionPrompt };
    let options = CFDictionary::from_slices(&[prompt], &[CFBoolean::new(true)]);
    // SAFETY: the option is a flag, as Apple documents it.
    unsafe { AXIsProcessTrustedWithOptions(Some(options.as_opaque())) };
}

/// Equal to another where macOS says that it is the same object.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Node(CFRetained<AXUIElement>);

/// What an object says of itself. Places and sizes are in points.
#[derive(Default)]
pub(super) struct Facts {
    pub(super) role: String,
    pub(super) secure: bool,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) value: String,
    pub(super) place: (f64, f64),
    pub(super) size: (f64, f64),
    pub(super) enabled: bool,
    pub(super) focused: bool,
    pub(super) selected: bool,
    pub(super) expanded: bool,
    pub(super) children: Vec<Node>,
}

impl Facts {
    pub(super) fn is_editable(&self) -> bool {
        self.enabled && matches!(self.role.as_str(), "AXTextField" | "AXTextArea" | "AXComboBox")
    }
}

impl Node {
    pub(super) fn application(pid: u32) -> Self {
        let pid = i32::try_from(pid).unwrap_or(0);
        // SAFETY: any number is allowed; one that is no process gives an object whose calls fail.
        let node = Self(unsafe { AXUIElement::new_application(pid) });
        node.be_patient();
        node
    }

    /// The object that has the keyboard focus, of whatever application.
    pub(super) fn focused() -> Option<Self> {
        // SAFETY: takes nothing and returns an owned object.
        let system = Self(unsafe { AXUIElement::new_system_wide() });
        system.be_patient();
        system.node("AXFocusedUIElement")
    }

    pub(super) fn windows(&self) -> Vec<Self> {
        self.value("AXWindows").map(|value| nodes(&value)).unwrap_or_default()
    }

    /// The window with this number, else with this title, else the focused one.
    pub(super) fn window(&self, id: u64, title: &str) -> Option<Self> {
        let windows = self.windows();
        let numbered = windows.iter().find(|window| window.window_id() == Some(id)).cloned();
        numbered
            .or_else(|| windows.into_iter().find(|window| window.string("AXTitle") == title))
            .or_else(|| self.node("AXFocusedWindow"))
            .or_else(|| self.node("AXMainWindow"))
    }

    /// A window's number in the window server's lists and in captures.
    pub(super) fn window_id(&self) -> Option<u64> {
        let mut id = 0_u32;
        // SAFETY: `id` is a valid place for one number, and the object is alive.
        let error = unsafe { _AXUIElementGetWindow(&self.0, &raw mut id) };
        (error == AXError::Success).then_some(u64::from(id))
    }

    /// Asks Chromium and Electron, which build their tree only for those who ask. Whether this is such a program.
    pub(super) fn ask_for_tree(&self) -> bool {
        self.set("AXManualAccessibility", CFBoolean::new(true))
    }

    pub(super) fn menu_bar(&self) -> Option<Self> {
        self.node("AXMenuBar")
    }

    /// Reads everything in one call.
    pub(super) fn facts(&self) -> Facts {
        let names: Vec<CFRetained<CFString>> =
            WISHED.iter().map(|name| CFString::from_static_str(name)).collect();
        let names = CFArray::from_retained_objects(&names);
        let mut values: *const CFArray = ptr::null();
        // SAFETY: `names` is an array of strings, and `values` is a valid place for one pointer.
        let error = unsafe {
            self.0.copy_multiple_attribute_values(
                names.as_opaque(),
                AXCopyMultipleAttributeOptions(0),
                NonNull::from(&mut values),
            )
        };
        let values = if error == AXError::Success { NonNull::new(values.cast_mut()) } else { None };
        let Some(values) = values else { return Facts::default() };
        // SAFETY: a copy function's result is ours to release, and its items are Core Foundation objects; one that
        // could not be read is an AXValue holding an error, which no reading below takes for anything else.
        let values = unsafe { CFRetained::cast_unchecked::<CFArray<CFType>>(CFRetained::from_raw(values)) };
        let get = |name: &str| WISHED.iter().position(|&wished| wished == name).and_then(|at| values.get(at));
        let string = |name: &str| get(name).map(|value| text(&value)).unwrap_or_default();
        let flag = |name: &str| get(name).is_some_and(|value| is_true(&value));
        let name = ["AXTitle", "AXDescription", "AXPlaceholderValue"]
            .map(string)
            .into_iter()
            .find(|name| !name.is_empty());
        let description = ["AXDescription", "AXHelp"]
            .map(string)
            .into_iter()
            .find(|text| !text.is_empty() && name.as_ref() != Some(text));
        let place = get("AXPosition").and_then(|value| point(&value)).unwrap_or_default();
        let size = get("AXSize").and_then(|value| extent(&value)).unwrap_or_default();
        Facts {
            role: string("AXRole"),
            secure: string("AXSubrole") == "AXSecureTextField",
            name: name.unwrap_or_default(),
            description: description.unwrap_or_default(),
            value: string("AXValue"),
            place,
            size,
            enabled: flag("AXEnabled"),
            focused: flag("AXFocused"),
            selected: flag("AXSelected"),
            expanded: flag("AXExpanded"),
            children: get("AXChildren").map(|value| nodes(&value)).unwrap_or_default(),
        }
    }

    /// Whether the object is still there.
    pub(super) fn is_there(&self) -> bool {
        let mut value: *const CFType = ptr::null();
        let name = CFString::from_static_str("AXRole");
        // SAFETY: `value` is a valid place for one pointer.
        let error = unsafe { self.0.copy_attribute_value(&name, NonNull::from(&mut value)) };
        if let Some(value) = NonNull::new(value.cast_mut()) {
            // SAFETY: a copy function's result is ours to release.
            drop(unsafe { CFRetained::from_raw(value) });
        }
        error == AXError::Success
    }

    /// The names of what the object can do: `AXPress`, `AXShowMenu`.
    pub(super) fn actions(&self) -> Vec<String> {
        let mut names: *const CFArray = ptr::null();
        // SAFETY: `names` is a valid place for one pointer.
        let error = unsafe { self.0.copy_action_names(NonNull::from(&mut names)) };
        let names = if error == AXError::Success { NonNull::new(names.cast_mut()) } else { None };
        let Some(names) = names else { return Vec::new() };
        // SAFETY: a copy function's result is ours to release; each item is asked for its type before it is used.
        let names = unsafe { CFRetained::cast_unchecked::<CFArray<CFType>>(CFRetained::from_raw(names)) };
        names
            .iter()
            .filter_map(|name| name.downcast::<CFString>().ok())
            .map(|name| name.to_string())
            .collect()
    }

    /// Whether the object did it, or is busy with what it set off: a dialog answers only when it is closed.
    pub(super) fn perform(&self, action: &str) -> bool {
        // SAFETY: any name is allowed; one that the object lacks is an error.
        let error = unsafe { self.0.perform_action(&CFString::from_str(action)) };
        matches!(error, AXError::Success | AXError::CannotComplete)
    }

    pub(super) fn children(&self) -> Vec<Self> {
        self.value("AXChildren").map(|value| nodes(&value)).unwrap_or_default()
    }

    pub(super) fn string(&self, name: &'static str) -> String {
        self.value(name).map(|value| text(&value)).unwrap_or_default()
    }

    pub(super) fn flag(&self, name: &'static str) -> bool {
        self.value(name).is_some_and(|value| is_true(&value))
    }

    /// Place and size in points.
    pub(super) fn frame(&self) -> Option<((f64, f64), (f64, f64))> {
        Some((point(&*self.value("AXPosition")?)?, extent(&*self.value("AXSize")?)?))
    }

    pub(super) fn set_flag(&self, name: &'static str, value: bool) -> bool {
        self.set(name, CFBoolean::new(value))
    }

    pub(super) fn set_place(&self, x: f64, y: f64) -> bool {
        let mut point = CGPoint { x, y };
        let place: NonNull<c_void> = NonNull::from(&mut point).cast();
        // SAFETY: `point` is of the type that is named, and is copied.
        let value = unsafe { AXValue::new(AXValueType::CGPoint, place) };
        value.is_some_and(|value| self.set("AXPosition", &value))
    }

    pub(super) fn set_size(&self, width: f64, height: f64) -> bool {
        let mut size = CGSize { width, height };
        let place: NonNull<c_void> = NonNull::from(&mut size).cast();
        // SAFETY: as for `set_place`.
        let value = unsafe { AXValue::new(AXValueType::CGSize, place) };
        value.is_some_and(|value| self.set("AXSize", &value))
    }

    /// Replaces the value, as the kind of value the object has; whether it accepted that.
    pub(super) fn set_value(&self, text: &str) -> bool {
        let is_number = self.value("AXValue").is_some_and(|value| value.downcast_ref::<CFNumber>().is_some());
        match text.trim().parse::<f64>() {
            Ok(number) if is_number => self.set("AXValue", &CFNumber::new_f64(number)),
            _ if is_number => false,
            _ => self.set("AXValue", &CFString::from_str(text)),
        }
    }

    /// Whether the object accepted the focus.
    pub(super) fn set_focused(&self) -> bool {
        self.set("AXFocused", CFBoolean::new(true))
    }

    /// Replaces the selection, or inserts at the caret; whether the object accepted that.
    pub(super) fn set_selected_text(&self, text: &str) -> bool {
        self.set("AXSelectedText", &CFString::from_str(text))
    }

    fn set(&self, name: &'static str, value: &CFType) -> bool {
        let name = CFString::from_static_str(name);
        // SAFETY: the attribute takes a value of this type, as its documentation says.
        unsafe { self.0.set_attribute_value(&name, value) == AXError::Success }
    }

    fn value(&self, name: &'static str) -> Option<CFRetained<CFType>> {
        let name = CFString::from_static_str(name);
        let mut value: *const CFType = ptr::null();
        // SAFETY: `value` is a valid place for one pointer.
        let error = unsafe { self.0.copy_attribute_value(&name, NonNull::from(&mut value)) };
        let value = if error == AXError::Success { NonNull::new(value.cast_mut()) } else { None };
        // SAFETY: a copy function's result is ours to release.
        value.map(|value| unsafe { CFRetained::from_raw(value) })
    }

    pub(super) fn node(&self, name: &'static str) -> Option<Self> {
        self.value(name)?.downcast::<AXUIElement>().ok().map(Self)
    }

    fn be_patient(&self) {
        // SAFETY: sets a number on an object that we hold.
        let error = unsafe { self.0.set_messaging_timeout(PATIENCE) };
        if error != AXError::Success {
            tracing::debug!(error = error.0, "an application's accessibility timeout could not be set");
        }
    }
}

unsafe extern "C" {
    /// Not in Apple's headers, and the only way from an object to its window's number; window managers for macOS
    /// have relied on it since 10.6.
    fn _AXUIElementGetWindow(element: &AXUIElement, id: *mut u32) -> AXError;
}

fn nodes(value: &CFType) -> Vec<Node> {
    let Some(array) = value.downcast_ref::<CFArray>() else { return Vec::new() };
    // SAFETY: AX's arrays hold Core Foundation objects; each is asked for its type before it is used.
    let array = unsafe { &*ptr::from_ref(array).cast::<CFArray<CFType>>() };
    array.iter().filter_map(|item| item.downcast::<AXUIElement>().ok().map(Node)).collect()
}

/// A string as it is, a number or a flag as text; anything else is nothing.
fn text(value: &CFType) -> String {
    if let Some(string) = value.downcast_ref::<CFString>() {
        string.to_string()
    } else if let Some(number) = value.downcast_ref::<CFNumber>() {
        number.as_f64().map(|number| number.to_string()).unwrap_or_default()
    } else if let Some(flag) = value.downcast_ref::<CFBoolean>() {
        u8::from(flag.as_bool()).to_string()
    } else {
        String::new()
    }
}

fn is_true(value: &CFType) -> bool {
    value.downcast_ref::<CFBoolean>().is_some_and(CFBoolean::as_bool)
}

fn point(value: &CFType) -> Option<(f64, f64)> {
    let mut point = CGPoint { x: 0.0, y: 0.0 };
    // SAFETY: `point` is as large as the type that is asked for, which AX checks against the value's own.
    let read = unsafe {
        let place: NonNull<c_void> = NonNull::from(&mut point).cast();
        value.downcast_ref::<AXValue>()?.value(AXValueType::CGPoint, place)
    };
    read.then_some((point.x, point.y))
}

fn extent(value: &CFType) -> Option<(f64, f64)> {
    let mut size = CGSize { width: 0.0, height: 0.0 };
    // SAFETY: as for `point`.
    let read = unsafe {
        let place: NonNull<c_void> = NonNull::from(&mut size).cast();
        value.downcast_ref::<AXValue>()?.value(AXValueType::CGSize, place)
    };
    read.then_some((size.width, size.height))
}
