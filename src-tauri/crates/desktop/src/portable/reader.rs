//! Reads a platform's tree and works on its objects: snapshots, refs, selectors, actions, menus. On the tree's thread.

use std::thread::sleep;
use std::time::{Duration, Instant};

use protocol::geometry::{NormPoint, PhysicalRect, ScaleFactor};
use protocol::view::DisplayView;

use super::list::{self, TreeItem};
use super::ref_table::{Entry, RefTable};
use super::scene::{self, Own, Top};
use super::tree::{Reading, Tree};
use super::{menu, target};
use crate::worker::WorkerState;
use crate::{
    Acted, ActionMethod, Button, DesktopError, ElementAction, ElementQuery, Evidence, Fence, ListedElement,
    Operated, Snapshot, Target, ToldElements, fence,
};

/// For finding one object.
const FIND: Duration = Duration::from_secs(4);
/// For a value or the focus to arrive, and for a menu to open.
const ARRIVE: Duration = Duration::from_millis(800);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What is on the screen while a call is answered.
pub(super) struct ScreenContents {
    pub(super) tops: Vec<Top>,
    pub(super) displays: Vec<DisplayView>,
    pub(super) own: Own,
    pub(super) fence: Fence,
}

/// What the accessibility interface could do.
pub(super) enum Tried {
    Done(Operated),
    /// Pointer or keys have to.
    Left(Aim),
}

/// Where pointer or keys have to go.
pub(super) struct Aim {
    pub(super) called: String,
    pub(super) display: u32,
    pub(super) at: NormPoint,
}

pub(super) struct Reader<T: Tree> {
    tree: T,
    refs: RefTable<T::Node>,
}

impl<T: Tree> WorkerState for Reader<T> {}

struct Found<N> {
    node: N,
    seen: TreeItem,
    app: String,
}

impl ScreenContents {
    fn window(&self, app: Option<&str>) -> Result<&Top, DesktopError> {
        scene::meant(&self.tops, &self.own, app)
    }

    fn display_of(&self, rect: &PhysicalRect) -> Option<&DisplayView> {
        let bounds: Vec<PhysicalRect> = self.displays.iter().map(|display| display.bounds).collect();
        self.displays.get(scene::shows_most(&bounds, rect))
    }

    fn scale_of(&self, rect: &PhysicalRect) -> ScaleFactor {
        self.display_of(rect).map_or(ScaleFactor(1.0), |display| display.scale)
    }

    fn first_scale(&self) -> ScaleFactor {
        self.displays.first().map_or(ScaleFactor(1.0), |display| display.scale)
    }
}

impl<T: Tree> Reader<T> {
    #[cfg_attr(target_os = "linux", allow(dead_code, reason = "the tests there script a tree"))]
    pub(super) fn open() -> Result<Self, DesktopError> {
        Ok(Self { tree: T::open()?, refs: RefTable::default() })
    }

    #[cfg_attr(target_os = "linux", allow(dead_code, reason = "hands ask, which Linux has of its own"))]
    pub(super) fn focused_text(&mut self) -> Option<String> {
        self.tree.focused_text()
    }

    #[cfg_attr(target_os = "linux", allow(dead_code, reason = "hands ask, which Linux has of its own"))]
    pub(super) fn insert(&mut self, text: &str) -> bool {
        self.tree.insert(text)
    }

    pub(super) fn elements(
        &mut self,
        sight: &ScreenContents,
        query: &ElementQuery,
        deadline: Instant,
    ) -> Result<Snapshot, DesktopError> {
        let display = sight.displays.iter().find(|display| display.index == query.display);
        let display = display.ok_or_else(|| {
            let count = sight.displays.len();
            DesktopError::NotFound(format!("display {}; there are {count}, counted from 0", query.display))
        })?;
        let (app, window, reading) = match &query.root {
            Some(reference) => {
                let entry = self.known(reference)?;
                if self.tree.look(&entry.node, display.scale).is_none() {
                    return Err(self.stale(sight, reference, &entry));
                }
                let reading = self.tree.read_below(&entry.node, display.scale, deadline);
                (entry.app, entry.window, reading)
            }
            None => {
                let top = sight.window(query.app.as_deref())?;
                let reading = self.tree.read_window(top, display.scale, deadline)?;
                (top.app.clone(), top.title.clone(), reading)
            }
        };
        let listed = list::list(&app, &reading.seen, &display.bounds, query);
        let mut cut = listed.cut;
        if reading.unread > 0 {
            cut.push(format!(
                "{} objects and what is below them were not read: too many, or the time was up",
                reading.unread
            ));
        }
        let nodes: Vec<T::Node> = listed.sources.iter().map(|&at| reading.nodes[at].clone()).collect();
        let told = self.refs.enter(&app, &window, &nodes, listed.elements, query.since);
        let all = told.elements.len();
        let elements = list::limit(told.elements, query.limit, &mut cut);
        let is_partial = reading.unread > 0 || elements.len() < all;
        let since = query.since.filter(|_| told.note.is_none());
        cut.extend(told.note);
        Ok(Snapshot {
            number: told.number,
            is_partial,
            app,
            window,
            elements,
            since,
            gone: told.gone,
            cut,
            ..Snapshot::default()
        })
    }

    pub(super) fn operate(
        &mut self,
        sight: &ScreenContents,
        target: &Target,
        action: &ElementAction,
    ) -> Result<Tried, DesktopError> {
        let found = self.find(sight, target)?;
        let called = found.seen.called();
        fence::check_app(&sight.fence, &[&found.app])?;
        if found.seen.is("disabled") && *action != ElementAction::Focus {
            return Err(DesktopError::BadInput(format!("{called} is disabled")));
        }
        let aim = aim(sight, &found.seen);
        let by_tree = |evidence, note: String| {
            let at = aim.as_ref().map(|aim| aim.at);
            let acted = Acted { evidence, note };
            Ok(Tried::Done(Operated { acted, called: called.clone(), at, by: ActionMethod::Accessibility }))
        };
        let left = |why: &str| match &aim {
            Some(aim) => Ok(Tried::Left(Aim { called: called.clone(), display: aim.display, at: aim.at })),
            None => Err(DesktopError::Failed(format!("{called} {why}, and it is on no display"))),
        };
        match action {
            ElementAction::Click { button: Button::Left, count: 1 } => {
                if self.tree.press(&found.node) {
                    by_tree(Evidence::Sent, format!("pressed {called}"))
                } else {
                    left("has no press action")
                }
            }
            ElementAction::Click { .. } => left("cannot be clicked so by an accessibility action"),
            ElementAction::SetValue(text) => {
                if !self.tree.set_value(&found.node, text) {
                    return left("does not take a value");
                }
                let arrived = |reader: &mut Self| match reader.tree.value(&found.node) {
                    Some(value) => is_same_value(&value, text),
                    None => false,
                };
                if self.wait_for(arrived) {
                    by_tree(Evidence::ReadBack, format!("{called} holds the value, read back"))
                } else if self.tree.value(&found.node).is_none() {
                    by_tree(Evidence::Sent, format!("gave {called} the value; it cannot be read back"))
                } else {
                    left("took a value and does not show it")
                }
            }
            ElementAction::Focus => {
                let scale = sight.scale_of(&found.seen.rect);
                if !self.tree.focus(&found.node) {
                    let note = format!("{called} cannot take the focus; click it instead");
                    return by_tree(Evidence::Nothing, note);
                }
                let has_it = |reader: &mut Self| {
                    reader.tree.look(&found.node, scale).is_some_and(|seen| seen.is("focused"))
                };
                if self.wait_for(has_it) {
                    by_tree(Evidence::ReadBack, format!("{called} has the focus"))
                } else {
                    by_tree(Evidence::Sent, format!("gave {called} the focus"))
                }
            }
            ElementAction::Do(action) => {
                let own = found.seen.actions.iter().find(|own| own.eq_ignore_ascii_case(action.trim()));
                let Some(own) = own else {
                    let own = found.seen.actions.join(", ");
                    let own = if own.is_empty() { "none".to_owned() } else { own };
                    return Err(DesktopError::BadInput(format!(
                        "{called} has no action \"{action}\"; it has: {own}"
                    )));
                };
                if self.tree.perform(&found.node, own) {
                    by_tree(Evidence::Sent, format!("{own}: {called}"))
                } else {
                    Err(DesktopError::Failed(format!("{called} refused its action \"{own}\"")))
                }
            }
        }
    }

    /// Chooses a menu's item; menus that were opened on the way are closed again where an item is missing.
    pub(super) fn press_menu(
        &mut self,
        sight: &ScreenContents,
        app: Option<&str>,
        path: &[String],
    ) -> Result<Operated, DesktopError> {
        let top = sight.window(app)?;
        fence::check_app(&sight.fence, &[&top.app])?;
        let Some((last, menus)) = path.split_last() else {
            return Err(DesktopError::BadInput("a menu path needs at least one name".into()));
        };
        let no_bar =
            || DesktopError::NotFound(format!("{} has no menu bar; click its menu instead", top.app));
        let mut node = self.tree.menu_bar(top).ok_or_else(no_bar)?;
        let mut named = "the menu bar".to_owned();
        let mut unfolded: Vec<T::Node> = Vec::new();
        let result = (|| {
            for name in menus {
                node = self.item(&node, name, &named)?;
                self.tree.unfold(&node);
                unfolded.push(node.clone());
                named.clone_from(name);
            }
            node = self.item(&node, last, &named)?;
            let seen = self.tree.look(&node, sight.first_scale());
            if seen.is_some_and(|seen| seen.is("disabled")) {
                return Err(DesktopError::BadInput(format!("menu item \"{last}\" is disabled")));
            }
            if self.tree.press(&node) {
                Ok(())
            } else {
                Err(DesktopError::Failed(format!("menu item \"{last}\" cannot be pressed")))
            }
        })();
        if let Err(error) = result {
            for node in unfolded.iter().rev() {
                self.tree.fold(node);
            }
            return Err(error);
        }
        let called = format!("menu item \"{}\"", path.join(" > "));
        let acted = Acted { evidence: Evidence::Sent, note: format!("chose {called}") };
        Ok(Operated { acted, called, at: None, by: ActionMethod::Accessibility })
    }

    fn item(&mut self, node: &T::Node, name: &str, menu: &str) -> Result<T::Node, DesktopError> {
        let end = Instant::now() + ARRIVE;
        loop {
            let items = self.tree.menu_items(node);
            let names: Vec<String> = items.iter().map(|(_, name)| name.clone()).collect();
            match menu::pick(&names, name, menu) {
                Ok(at) => return Ok(items[at].0.clone()),
                Err(DesktopError::NotFound(_)) if names.is_empty() && Instant::now() < end => {
                    sleep(LOOK_AGAIN)
                }
                Err(error) => return Err(error),
            }
        }
    }

    #[cfg_attr(target_os = "linux", allow(dead_code, reason = "Linux has a table of its own"))]
    pub(crate) fn told(&mut self, told: &ToldElements) {
        self.refs.told(told);
    }

    #[cfg_attr(target_os = "linux", allow(dead_code, reason = "Linux has a table of its own"))]
    pub(crate) fn listed(&self, reference: &str) -> Option<ListedElement> {
        let Entry { app, role, name, .. } = self.refs.find(reference)?.clone();
        Some(ListedElement { app, role, name })
    }

    fn known(&self, reference: &str) -> Result<Entry<T::Node>, DesktopError> {
        self.refs.find(reference).cloned().ok_or_else(|| {
            DesktopError::NotFound(format!(
                "element {reference} was never listed; call elementsJson for refs"
            ))
        })
    }

    fn find(&mut self, sight: &ScreenContents, target: &Target) -> Result<Found<T::Node>, DesktopError> {
        match target {
            Target::Ref(reference) => {
                let entry = self.known(reference)?;
                match self.look_where_it_is(sight, &entry.node) {
                    Some(seen) => {
                        check_still(&entry, &seen)?;
                        Ok(Found { node: entry.node, seen, app: entry.app })
                    }
                    None => Err(self.stale(sight, reference, &entry)),
                }
            }
            Target::Selector(selector) => {
                let top = sight.window(selector.app.as_deref())?;
                let scale = sight.scale_of(&top.rect);
                let Reading { seen, nodes, .. } = self.tree.read_window(top, scale, Instant::now() + FIND)?;
                let at = target::find(&seen, selector)?;
                let seen = seen[at].clone();
                Ok(Found { node: nodes[at].clone(), seen, app: top.app.clone() })
            }
        }
    }

    /// macOS tells points; only the display that an object is on says how many pixels they are.
    fn look_where_it_is(&mut self, sight: &ScreenContents, node: &T::Node) -> Option<TreeItem> {
        let first = self.tree.look(node, sight.first_scale())?;
        let scales: Vec<_> = sight.displays.iter().map(|display| display.scale).collect();
        if scales.windows(2).all(|pair| pair[0] == pair[1]) {
            return Some(first);
        }
        for display in &sight.displays {
            let seen = self.tree.look(node, display.scale)?;
            if aim(sight, &seen).is_some_and(|aim| aim.display == display.index) {
                return Some(seen);
            }
        }
        Some(first)
    }

    /// Says that an element is gone, with what is most like it now.
    fn stale(&mut self, sight: &ScreenContents, reference: &str, entry: &Entry<T::Node>) -> DesktopError {
        let called = entry.called();
        let near = sight.window(Some(&entry.app)).ok().and_then(|top| {
            let scale = sight.scale_of(&top.rect);
            let reading = self.tree.read_window(top, scale, Instant::now() + FIND).ok()?;
            let near = target::nearest(&reading.seen, Some(&entry.role), Some(&entry.name));
            let at = near.first().copied()?;
            let seen = &reading.seen[at];
            let own = self.refs.refer(&reading.nodes[at], &seen.role, &seen.name, &top.app, &top.title);
            Some(format!("{own}, {}", seen.called()))
        });
        DesktopError::NotFound(match near {
            Some(near) => format!("{reference} ({called}) is no longer there; the nearest now is {near}"),
            None => {
                format!("{reference} ({called}) is no longer there; call elementsJson again for new refs")
            }
        })
    }

    fn wait_for(&mut self, mut arrived: impl FnMut(&mut Self) -> bool) -> bool {
        let end = Instant::now() + ARRIVE;
        loop {
            if arrived(self) {
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            sleep(LOOK_AGAIN);
        }
    }
}

/// Refuses what has become something else since it was told, as a row that now shows another file.
fn check_still<N>(entry: &Entry<N>, seen: &TreeItem) -> Result<(), DesktopError> {
    // A combo box is named by what is chosen in it.
    let may_differ = seen.name.trim().is_empty() || seen.role == "combo box";
    let (role, name) = entry.as_told();
    if seen.role == role && (may_differ || list::shortened(&seen.name) == list::shortened(name)) {
        return Ok(());
    }
    Err(DesktopError::NotFound(format!(
        "{} is {} now; nothing was done; call elementsJson again",
        entry.called(),
        seen.called()
    )))
}

/// The object's middle, on the display that shows most of it.
fn aim(sight: &ScreenContents, seen: &TreeItem) -> Option<Aim> {
    let display = sight.display_of(&seen.rect)?;
    if !list::is_on(&seen.rect, &display.bounds) {
        return None;
    }
    let at = seen.rect.to_norm(&display.bounds).center().ok()?;
    Some(Aim { called: seen.called(), display: display.index, at })
}

/// As text, or as numbers: a slider says `50.0` for `50`.
fn is_same_value(value: &str, wished: &str) -> bool {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let plain = |text: &str| text.replace("\r\n", "\n");
    plain(value) == plain(wished)
        || matches!((number(value), number(wished)), (Some(one), Some(other)) if (one - other).abs() < 1e-6)
}

#[cfg(test)]
mod tests;
