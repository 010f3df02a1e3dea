//! One of several: the items of lists and combo boxes, which one shows as chosen, and what a person would do where
//! accessibility does not choose.

use protocol::view::DisplayView;
use tokio::time::Instant;

use super::Accessibility;
use super::acting::{LOOK_AGAIN, Operand, SELECTION, Tried, called};
use super::bus::{CallError, Object, Reference};
use super::quirks::Quirks;
use super::role::{self, States, number};
use super::setting::{READ_BACK, is_on, shortened};
use super::{details, nodes};
use crate::{Acted, DesktopError, ElementQuery, Evidence, Key};

/// How deep below a list or combo box its items are looked for, and how many are named.
pub(super) const DEEPEST: u32 = 6;
const MOST_NAMED: usize = 12;
/// Elements with the text of an item in them, among which it is looked for.
const MOST_ALIKE: u32 = 200;

impl Accessibility {
    /// What on the screen has the same role and name in the same application.
    pub(in super::super) async fn shown_again(
        &self,
        operand: &Operand,
        display: &DisplayView,
    ) -> Option<Operand> {
        let app = self.bus().await.ok()?.acquaintance(&operand.home).await.ok()?.name;
        let query = Some(operand.name.clone());
        let query = ElementQuery { app: Some(app), query, limit: MOST_ALIKE, ..ElementQuery::default() };
        let seen = self.elements(&query, display).await.ok()?.elements;
        let role = role::describe(operand.role).0;
        let same = seen.iter().find(|one| one.role == role && one.name == operand.name)?;
        self.operand(same).await.ok()
    }
}

impl Operand {
    /// The item named, selected in this list or combo box; `None` if there is none and any text may be entered.
    ///
    /// # Errors
    /// `BadInput` names the items there are.
    pub(super) async fn choose_item(&self, value: &str) -> Result<Option<Tried>, DesktopError> {
        let Some((at, item)) = self.item(value).await? else { return Ok(None) };
        let Item { holder, index, name, .. } = &item;
        // A combo box selects by itself; a list's items are selected in what holds them.
        for (selecting, child) in [(&self.object, at), (holder, *index)] {
            if self.quirks.clicked.contains(&item.role) {
                break;
            }
            if !selecting.interfaces().await.unwrap_or_default().has(SELECTION) {
                continue;
            }
            let child = i32::try_from(child).unwrap_or(i32::MAX);
            let taken = self.change::<_, bool>(selecting, SELECTION, "SelectChild", &child).await;
            if taken == Err(CallError::Late) {
                return Ok(Some(Tried::Done(self.unanswered("selected an item in"))));
            }
            if taken.unwrap_or(false) && self.comes_to_show(name).await {
                let note = format!("\"{}\" is selected in {}, read back", shortened(name), self.called);
                return Ok(Some(Tried::Done(self.chosen(name, note).await)));
            }
        }
        // A page's select hears of a choice by the item's own action.
        let states = item.object.states().await.unwrap_or_default();
        let part = self.part(item.object.clone(), item.role, states, name.clone()).await;
        if let Tried::Done(acted) = part.press().await?
            && self.comes_to_show(name).await
        {
            let note = format!("{}; {} shows it, read back", acted.note, self.called);
            return Ok(Some(Tried::Done(self.chosen(name, note).await)));
        }
        Ok(Some(Tried::Not(format!("{} does not let its items be selected", self.called))))
    }

    /// That it shows the item, if it does so still a moment later.
    pub(in super::super) async fn chosen(&self, name: &str, note: String) -> Acted {
        let other = async {
            let is_there = self.object.states().await.is_ok_and(|states| !states.has(States::DEFUNCT));
            (is_there && !self.shows(name).await).then(|| "another one".to_owned())
        };
        self.unless_taken_back(Acted { evidence: Evidence::ReadBack, note }, other).await
    }

    /// The item of this name, and its place among all.
    async fn item(&self, value: &str) -> Result<Option<(usize, Item)>, DesktopError> {
        let mut items = items(&self.object, self.role, self.quirks, 0).await;
        let wish = value.trim().to_lowercase();
        if let Some(at) = items.iter().position(|item| item.name.trim().to_lowercase() == wish) {
            return Ok(Some((at, items.swap_remove(at))));
        }
        if self.editor().await.is_some() || items.iter().all(|item| item.name.is_empty()) {
            return Ok(None);
        }
        let more = items.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let quoted: Vec<String> =
            items.iter().take(MOST_NAMED).map(|item| format!("\"{}\"", shortened(&item.name))).collect();
        Err(DesktopError::BadInput(format!(
            "{} has no item \"{}\"; its items: {}{more}",
            self.called,
            shortened(value),
            quoted.join(", ")
        )))
    }

    /// One of its own parts.
    pub(super) async fn part(&self, object: Object, role: u32, states: States, name: String) -> Self {
        let interfaces = object.interfaces().await.unwrap_or_default();
        let shown = if name.trim().is_empty() { self.called.clone() } else { called(role, &name) };
        Self { object, role, name, states, interfaces, called: shown, ..self.clone() }
    }

    /// The item of this name, to be clicked.
    pub(in super::super) async fn item_named(&self, value: &str) -> Result<Option<Self>, DesktopError> {
        let Some((_, Item { object, role, name, .. })) = self.item(value).await? else { return Ok(None) };
        let states = object.states().await.unwrap_or_default();
        Ok(Some(self.part(object, role, states, name).await))
    }

    /// Whether it shows this item as the one that is chosen, within [`READ_BACK`].
    pub(in super::super) async fn comes_to_show(&self, name: &str) -> bool {
        let until = Instant::now() + READ_BACK;
        while !self.shows(name).await {
            if Instant::now() >= until {
                return false;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        true
    }

    /// By its name, by its text, by the label in it, or by what is selected in it.
    pub(in super::super) async fn shows(&self, name: &str) -> bool {
        let is = |text: String| text.trim().eq_ignore_ascii_case(name.trim());
        if self.object.name().await.is_ok_and(is) {
            return true;
        }
        if self.role == number::COMBO_BOX
            && details::labels(&self.object, self.quirks).await.is_ok_and(|all| all.into_iter().any(is))
        {
            return true;
        }
        if let Some(editor) = self.editor().await {
            return nodes::text(&editor.object, -1).await.is_ok_and(is);
        }
        let mut holders = vec![self.object.clone()];
        let below = self.object.children().await.unwrap_or_default();
        holders
            .extend(below.iter().take(2).map(|(_, path)| Object::new(&self.object.program, path.as_str())));
        for holder in holders {
            let selected: Result<Reference, _> = holder.call(SELECTION, "GetSelectedChild", &0_i32).await;
            let Ok((_, path)) = selected else { continue };
            if Object::new(&self.object.program, path.as_str()).name().await.is_ok_and(is) {
                return true;
            }
        }
        false
    }

    /// What is typed into: itself, or the field of a combo box or spin button.
    pub(in super::super) async fn editor(&self) -> Option<Self> {
        if self.is_password() || self.states.has(States::EDITABLE) {
            return Some(self.clone());
        }
        match self.role {
            number::COMBO_BOX | number::SPIN_BUTTON => {}
            _ => return None,
        }
        let mut level = vec![self.object.clone()];
        for _ in 0..DEEPEST {
            let mut below = Vec::new();
            for object in &level {
                for (_, path) in object.children().await.unwrap_or_default().into_iter().take(MOST_NAMED) {
                    let object = Object::new(&object.program, path.as_str());
                    let (role, states) = tokio::join!(object.role(), object.states());
                    let (Ok(role), Ok(states)) = (role, states) else { continue };
                    if states.has(States::EDITABLE) && role::is_textual(role, states) {
                        let name = object.name().await.unwrap_or_default();
                        return Some(self.part(object, role, states, name).await);
                    }
                    if role::describe(role).1 == role::Kind::Container && role::items(role).is_none() {
                        below.push(object);
                    }
                }
            }
            level = below;
        }
        (self.role == number::SPIN_BUTTON).then(|| self.clone())
    }

    /// Opens its list by an action of its own.
    pub(in super::super) async fn open(&self) -> Result<Tried, DesktopError> {
        const OPENS: [&str; 4] = ["showmenu", "open", "press", "togglepopup"];
        let actions = self.actions().await.map_err(|error| self.failed(&error))?;
        let names = |wish: &&str| actions.iter().find(|one| one.name.eq_ignore_ascii_case(wish));
        match OPENS.iter().find_map(names) {
            Some(action) => Ok(Tried::Done(self.perform(&action.name).await?)),
            None => Ok(Tried::Not(format!("{} has no action that opens it", self.called))),
        }
    }

    pub(in super::super) fn lists_apart(&self) -> bool {
        self.quirks.lists_apart && self.role == number::COMBO_BOX
    }

    /// The keys, one chord after the other, after which what is typed replaces `held`. Of parts, the first is selected,
    /// which going to the next and back does.
    pub(in super::super) fn replaces(&self, held: Option<&str>) -> Vec<Vec<Key>> {
        if held.is_some_and(|held| self.quirks.has_sections(self.role, held)) {
            return vec![vec![Key::Home], vec![Key::Ctrl, Key::Right], vec![Key::Ctrl, Key::Left]];
        }
        vec![vec![Key::Ctrl, Key::Char('a')]]
    }

    /// What is typed for a value in place of `held`. A part that is full is left by itself, and a sign behind it would
    /// leave the next one, too.
    pub(in super::super) fn typed_over(&self, held: Option<&str>, value: &str) -> String {
        let is_alike = |held: &str| {
            let alike =
                |(one, other): (char, char)| one == other || (one.is_ascii_digit() && other.is_ascii_digit());
            held.chars().count() == value.chars().count() && held.chars().zip(value.chars()).all(alike)
        };
        if held.is_some_and(|held| self.quirks.has_sections(self.role, held) && is_alike(held)) {
            return value.chars().filter(char::is_ascii_digit).collect();
        }
        value.to_owned()
    }

    /// Whether what is typed counts only once the field is left.
    pub(in super::super) fn takes_over_later(&self) -> bool {
        self.role == number::SPIN_BUTTON
    }

    /// What a person would do to give it a value.
    pub(in super::super) fn by_hand(&self, value: &str) -> ByHand {
        match role::describe(self.role).0 {
            "check box" | "toggle button" | "radio button" | "check menu item" | "radio menu item" => {
                ByHand::Switch
            }
            "combo box" if self.states.has(States::EDITABLE) => ByHand::Type,
            "combo box" | "list" | "list box" | "tree" => ByHand::Choose,
            "table cell" if self.quirks.cells_take_keys => ByHand::Cell,
            "table cell" | "list item" | "tree item" if is_on(value).is_some() => ByHand::Tick,
            "date editor" | "panel" | "grouping" => ByHand::Parts,
            _ => ByHand::Type,
        }
    }
}

/// How a value is set without accessibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum ByHand {
    Switch,
    /// The mark at the start of a cell or row is clicked.
    Tick,
    Choose,
    /// What is typed replaces what it holds, and Enter takes it over.
    Cell,
    /// Part by part, as dates and times.
    Parts,
    Type,
}

/// One of the items below a list or combo box.
struct Item {
    /// What it is directly below, and its place there.
    holder: Object,
    index: usize,
    object: Object,
    role: u32,
    name: String,
}

/// Menus and panels in between are passed through.
async fn items(holder: &Object, role: u32, quirks: Quirks, depth: u32) -> Vec<Item> {
    let mut found = Vec::new();
    if depth == DEEPEST {
        return found;
    }
    for (index, (_, path)) in holder.children().await.unwrap_or_default().into_iter().enumerate() {
        let object = Object::new(&holder.program, path.as_str());
        let (child, name) = tokio::join!(object.role(), object.name());
        let child = child.unwrap_or_default();
        // Swing's lists hold labels.
        let is_item = match role::describe(child).0 {
            "list item" | "menu item" | "table cell" | "page tab" | "tree item" | "check menu item"
            | "radio menu item" | "icon" => true,
            "label" => role::items(role).is_some(),
            _ => false,
        };
        if is_item {
            let mut name = quirks.own_name_of(child, name.unwrap_or_default());
            if quirks.is_known_by_labels(child, &name) {
                name = details::row_name(&object, quirks).await.unwrap_or_default();
            }
            let holder = holder.clone();
            found.push(Item { holder, index, object, role: child, name });
            continue;
        }
        match role::describe(child).0 {
            "menu" | "popup menu" | "list" | "list box" | "panel" | "filler" | "scroll pane" | "viewport"
            | "window" | "tree" | "tree table" | "table" => {
                found.extend(Box::pin(items(&object, child, quirks, depth + 1)).await);
            }
            _ => {}
        }
    }
    found
}
