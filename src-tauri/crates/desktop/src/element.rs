//! Elements: which are wished for, what they are, and what can be done to one. Data only.

use std::time::Duration;

use protocol::geometry::{NormPoint, NormRect, PhysicalRect};
use serde::{Deserialize, Serialize};

use crate::{Acted, Button};

/// Which elements are wished for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ElementQuery {
    /// Part of an application's or window's name; the active window's application if `None`.
    pub app: Option<String>,
    /// Part of the title of one of its windows; the active one if `None`.
    pub window: Option<String>,
    /// Only elements whose name, value or role contains this, in any case.
    pub query: Option<String>,
    /// Only this element and what is below it, by its ref.
    pub root: Option<String>,
    /// Only what changed since the snapshot with this number. Where that is not known any more, or was about something
    /// else, everything, and `cut` says so.
    pub since: Option<u64>,
    pub scope: Scope,
    /// Most elements in the answer.
    pub limit: u32,
    /// Characters of each name, description and value; 200 if 0.
    pub text_chars: u32,
    pub display: u32,
    pub deadline: Option<Duration>,
    /// Where the application tells nothing of what it shows, text is read in its picture. On Linux alone.
    pub marks: bool,
}

/// Elements of a snapshot of which an agent was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldElements {
    /// Its number.
    pub snapshot: u64,
    pub refs: Vec<String>,
}

/// How much is looked at; the less, the faster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// What is on the screen and can take the keyboard's focus.
    Interactive,
    /// What is on the screen.
    #[default]
    Visible,
    /// What is scrolled away, too.
    All,
}

/// Elements of one application, in reading order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// Counts up, for `since`.
    #[serde(default)]
    pub number: u64,
    pub app: String,
    pub window: String,
    pub elements: Vec<Element>,
    /// Where it tells nothing, what is seen in its picture: texts, then shapes. Whole, for `since`, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<PictureMark>,
    /// The snapshot that this one tells the difference from. `None` if it is whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Answering `since`: refs of elements that were there and are gone. `elements` holds the new and changed ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// What was left out, with counts, for the model: "cut: 1,204 of 1,404 off screen". Empty when nothing was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
    /// Places on the screen of which the application tells nothing, and its process.
    #[serde(skip)]
    pub untold: Vec<PhysicalRect>,
    /// Elements that are on the screen are missing: there were too many, or the time was up.
    #[serde(skip)]
    pub is_partial: bool,
    #[serde(skip)]
    pub pid: Option<u32>,
}

/// A line of text that was read in a picture, or a shape that was seen there: its application tells nothing of it, nor what
/// it belongs to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PictureMark {
    /// `m1`, `m2` ...: a click takes it as it takes an element's ref. The same for as long as it is there.
    #[serde(rename = "ref")]
    pub reference: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Of a shape: `empty field`, `small box`, `icon` ...; a guess.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub looks_like: String,
    /// The text nearest to a shape, which may be its label.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub beside: String,
    /// Of a text in a box, the box's.
    pub bounds: NormRect,
}

/// A thing on the screen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Element {
    /// `e1`, `e2` ...: the same for as long as the element is there, and never given to another one.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Lower case, the accessibility role: `button`, `text`, `menu item`.
    pub role: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// Those that matter to an agent: `focused`, `disabled`, `checked`, `selected`, `expanded`, `editable`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    /// What [`ElementAction::Do`] can do, as the application names it; the plain press is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<String>,
    pub bounds: NormRect,
    /// Depth below the window, for indentation.
    pub depth: u32,
    /// Eight hex digits over application, path of roles and names, and place among equals: the same in a later run of
    /// the application, whatever the element's value, states and bounds.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fingerprint: String,
}

/// Characters of a text that is remembered.
pub(crate) const REMEMBERED: usize = 200;

impl Element {
    /// As it is remembered: a window's texts may be asked for whole.
    pub(crate) fn short(&self) -> Self {
        let cut = |text: &str| text.chars().take(REMEMBERED).collect();
        let (name, description) = (cut(&self.name), cut(&self.description));
        Self { name, description, value: cut(&self.value), ..self.clone() }
    }
}

/// Which element is meant.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// By its ref.
    Ref(String),
    /// By what it is; found anew each time.
    Selector(Selector),
}

/// What is known of an element that was listed before, without asking its application again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedElement {
    pub app: String,
    pub role: String,
    pub name: String,
}

/// The field that has the keyboard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    pub text: String,
    /// Whether it is a page's, not of the browser around it.
    pub inside: Inside,
    /// Enter begins a new line in it, and does nothing else.
    pub takes_lines: bool,
    /// It is a password's, whose text is never read: `text` is empty.
    pub hides: bool,
    /// Whose it is.
    pub pid: Option<u32>,
}

/// Whether something in a browser's window is a page's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Inside {
    /// Of the page with this address, by its document's own word.
    Page(String),
    /// Of the browser around its pages, or of a program that has none.
    Around,
    #[default]
    Untold,
}

/// The application that an act on an element or a menu would go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// As it calls itself.
    pub app: String,
    pub pid: u32,
}

/// An element by what it is. Texts are compared whole, without regard to case; where nothing matches, parts count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selector {
    /// Part of an application's or window's name; the active window's application if `None`.
    pub app: Option<String>,
    pub role: Option<String>,
    pub name: Option<String>,
    /// Name or role of an element above it.
    pub within: Option<String>,
}

/// What is done to an element.
#[derive(Clone, Debug, PartialEq)]
pub enum ElementAction {
    /// The plain left click is tried as an accessibility action first, which steals no focus.
    Click {
        button: Button,
        count: u8,
    },
    /// Replaces the whole value, and reads it back.
    SetValue(String),
    Focus,
    /// One of the element's own actions, by its name.
    Do(String),
}

/// An element was found and something was done to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Operated {
    pub acted: Acted,
    /// `button "Save"`.
    pub called: String,
    /// The element's middle, where it is on the display.
    pub at: Option<NormPoint>,
    pub by: ActionMethod,
}

/// The step of the ladder that did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionMethod {
    Accessibility,
    /// Pointer or keys at the element.
    Input,
}
