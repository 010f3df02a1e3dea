//! The reader over a scripted tree: what is tried, in which order, and what is said.

use std::time::{Duration, Instant};

use protocol::geometry::{PhysicalRect, ScaleFactor};
use protocol::view::DisplayView;

use super::*;
use crate::Selector;

const SCREEN: PhysicalRect = PhysicalRect { x: 0, y: 0, width: 1000, height: 1000 };

/// Objects by number; one that is not in `seen` is gone.
#[derive(Default)]
struct Script {
    seen: Vec<(u32, TreeItem)>,
    /// Objects that do what is wished; others refuse.
    obeys: Vec<u32>,
    /// What every object's value reads as, after it was set.
    shows: Option<String>,
    menu: Vec<(u32, u32, &'static str)>,
    did: Vec<String>,
}

impl WorkerState for Script {}

impl Script {
    fn attempt(&mut self, what: String, node: u32) -> bool {
        self.did.push(what);
        self.obeys.contains(&node)
    }
}

impl Tree for Script {
    type Node = u32;

    fn open() -> Result<Self, DesktopError> {
        Ok(Self::default())
    }

    fn read_window(&mut self, _: &Top, _: ScaleFactor, _: Instant) -> Result<Reading<u32>, DesktopError> {
        let (nodes, seen) = self.seen.iter().cloned().unzip();
        Ok(Reading { seen, nodes, unread: 0 })
    }

    fn read_below(&mut self, node: &u32, scale: ScaleFactor, _: Instant) -> Reading<u32> {
        let seen = self.look(node, scale);
        Reading { nodes: vec![*node; seen.iter().count()], seen: seen.into_iter().collect(), unread: 3 }
    }

    fn look(&mut self, node: &u32, _: ScaleFactor) -> Option<TreeItem> {
        self.seen.iter().find(|(own, _)| own == node).map(|(_, seen)| seen.clone())
    }

    fn value(&mut self, _: &u32) -> Option<String> {
        self.shows.clone()
    }

    fn press(&mut self, node: &u32) -> bool {
        self.attempt(format!("press {node}"), *node)
    }

    fn set_value(&mut self, node: &u32, text: &str) -> bool {
        self.attempt(format!("set {node} {text}"), *node)
    }

    fn focus(&mut self, node: &u32) -> bool {
        self.attempt(format!("focus {node}"), *node)
    }

    fn perform(&mut self, node: &u32, action: &str) -> bool {
        self.attempt(format!("{action} {node}"), *node)
    }

    fn menu_bar(&mut self, _: &Top) -> Option<u32> {
        (!self.menu.is_empty()).then_some(0)
    }

    fn menu_items(&mut self, node: &u32) -> Vec<(u32, String)> {
        let below = self.menu.iter().filter(|(above, ..)| above == node);
        below.map(|&(_, own, name)| (own, name.to_owned())).collect()
    }

    fn unfold(&mut self, node: &u32) {
        self.did.push(format!("unfold {node}"));
    }

    fn fold(&mut self, node: &u32) {
        self.did.push(format!("fold {node}"));
    }

    fn focused_text(&mut self) -> Option<String> {
        None
    }

    fn insert(&mut self, _: &str) -> bool {
        false
    }
}

fn seen(role: &str, name: &str) -> TreeItem {
    TreeItem {
        role: role.into(),
        name: name.into(),
        description: String::new(),
        value: String::new(),
        states: Vec::new(),
        actions: vec!["show menu".into()],
        rect: PhysicalRect { x: 100, y: 200, width: 100, height: 20 },
        depth: 1,
        control: true,
    }
}

fn reader(tree: Script) -> Reader<Script> {
    Reader { tree, refs: RefTable::default() }
}

fn editor() -> Reader<Script> {
    let seen = vec![(1, seen("button", "Save")), (2, seen("text", "Name"))];
    reader(Script { seen, obeys: vec![1, 2], ..Script::default() })
}

fn sight() -> ScreenContents {
    let top =
        Top { id: 7, pid: 2, app: "Editor".into(), title: "pond.txt".into(), rect: SCREEN, focused: true };
    let display =
        DisplayView { index: 0, name: "one".into(), bounds: SCREEN, scale: ScaleFactor(1.0), primary: true };
    let own = Own { pid: 1, windows: crate::WindowsProcess::default() };
    ScreenContents { tops: vec![top], displays: vec![display], own, fence: Fence::default() }
}

fn list(reader: &mut Reader<Script>, query: &ElementQuery) -> Result<Snapshot, DesktopError> {
    reader.elements(&sight(), query, Instant::now() + Duration::from_secs(5))
}

fn by_ref(reference: &str) -> Target {
    Target::Ref(reference.into())
}

fn click() -> ElementAction {
    ElementAction::Click { button: Button::Left, count: 1 }
}

fn done(tried: Tried) -> Operated {
    match tried {
        Tried::Done(operated) => operated,
        Tried::Left(aim) => panic!("{} was left to the pointer", aim.called),
    }
}

fn left(tried: Tried) -> Aim {
    match tried {
        Tried::Left(aim) => aim,
        Tried::Done(operated) => panic!("{operated:?}"),
    }
}

#[test]
fn a_plain_click_is_a_press_and_other_clicks_go_to_the_elements_middle() {
    let mut reader = editor();
    list(&mut reader, &ElementQuery::default()).unwrap();
    let pressed = done(reader.operate(&sight(), &by_ref("e1"), &click()).unwrap());
    assert_eq!((pressed.called.as_str(), pressed.by), ("button \"Save\"", ActionMethod::Accessibility));
    assert_eq!(reader.tree.did, ["press 1"]);
    let twice = ElementAction::Click { button: Button::Left, count: 2 };
    let aim = left(reader.operate(&sight(), &by_ref("e1"), &twice).unwrap());
    assert_eq!((aim.display, aim.at.x(), aim.at.y()), (0, 150.0, 210.0));
    reader.tree.obeys.clear();
    left(reader.operate(&sight(), &by_ref("e1"), &click()).unwrap());
}

#[test]
fn a_value_counts_only_when_it_reads_back() {
    let mut reader = editor();
    let field = Target::Selector(Selector { name: Some("Name".into()), ..Selector::default() });
    let set = ElementAction::SetValue("50".into());
    reader.tree.shows = Some("50.0".into());
    let operated = done(reader.operate(&sight(), &field, &set).unwrap());
    assert_eq!(operated.acted.evidence, Evidence::ReadBack);
    reader.tree.shows = Some("else".into());
    left(reader.operate(&sight(), &field, &set).unwrap());
    reader.tree.shows = None;
    let operated = done(reader.operate(&sight(), &field, &set).unwrap());
    assert_eq!(operated.acted.evidence, Evidence::Sent);
}

#[test]
fn a_ref_that_is_gone_is_refused_and_the_nearest_named() {
    let mut reader = editor();
    list(&mut reader, &ElementQuery::default()).unwrap();
    reader.tree.seen = vec![(9, seen("button", "Save As"))];
    let error = reader.operate(&sight(), &by_ref("e1"), &click()).err().unwrap().to_string();
    assert_eq!(
        error,
        "not found: e1 (button \"Save\") is no longer there; the nearest now is e3, button \"Save As\""
    );
    assert_eq!(reader.tree.did, [] as [&str; 0]);
    reader.tree.obeys.push(9);
    done(reader.operate(&sight(), &by_ref("e3"), &click()).unwrap());
    let never = reader.operate(&sight(), &by_ref("e99"), &click()).err().unwrap().to_string();
    assert!(never.contains("never listed"), "{never}");
}

#[test]
fn what_is_disabled_or_outside_the_fence_is_not_touched() {
    let mut reader = editor();
    reader.tree.seen[0].1.states.push("disabled".into());
    list(&mut reader, &ElementQuery::default()).unwrap();
    let error = reader.operate(&sight(), &by_ref("e1"), &click()).err();
    assert_eq!(error, Some(DesktopError::BadInput("button \"Save\" is disabled".into())));
    let fence = Fence { displays: Vec::new(), apps: vec!["Browser".into()], never: vec![] };
    let fenced = ScreenContents { fence, ..sight() };
    let error = reader.operate(&fenced, &by_ref("e2"), &click()).err();
    assert!(matches!(error, Some(DesktopError::Forbidden(_))), "{error:?}");
    assert_eq!(reader.tree.did, [] as [&str; 0]);
}

#[test]
fn an_action_is_done_by_its_name_and_an_unknown_one_names_the_others() {
    let mut reader = editor();
    list(&mut reader, &ElementQuery::default()).unwrap();
    done(reader.operate(&sight(), &by_ref("e1"), &ElementAction::Do("Show Menu".into())).unwrap());
    assert_eq!(reader.tree.did, ["show menu 1"]);
    let error =
        reader.operate(&sight(), &by_ref("e1"), &ElementAction::Do("fly".into())).err().unwrap().to_string();
    assert_eq!(error, "button \"Save\" has no action \"fly\"; it has: show menu");
}

#[test]
fn a_ref_that_has_become_something_else_is_refused_whoever_looked_in_between() {
    let mut reader = editor();
    let tell = |reader: &mut Reader<Script>| {
        let snapshot = list(reader, &ElementQuery::default()).unwrap().number;
        reader.told(&ToldElements { snapshot, refs: vec!["e1".into()] });
    };
    tell(&mut reader);
    reader.tree.seen[0].1.name = "Delete all".into();
    list(&mut reader, &ElementQuery::default()).unwrap();
    let click = ElementAction::Click { button: Button::Left, count: 1 };
    let error = reader.operate(&sight(), &by_ref("e1"), &click).err().unwrap().to_string();
    assert!(error.contains("button \"Save\" is button \"Delete all\" now"), "{error}");
    assert_eq!(reader.tree.did, Vec::<String>::new());
    tell(&mut reader);
    reader.operate(&sight(), &by_ref("e1"), &click).unwrap();
}

#[test]
fn a_menu_is_walked_by_its_path_and_closed_again_where_an_item_is_missing() {
    let menu = vec![(0, 1, "File"), (0, 2, "Edit"), (1, 3, "Save As…"), (1, 4, "Quit")];
    let mut reader = reader(Script { menu, obeys: vec![3], ..Script::default() });
    let path = |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).to_owned()).collect() };
    let chosen = reader.press_menu(&sight(), None, &path(&["file", "Save As..."])).unwrap();
    assert_eq!(chosen.called, "menu item \"file > Save As...\"");
    assert_eq!(reader.tree.did, ["unfold 1", "press 3"]);
    reader.tree.did.clear();
    let error = reader.press_menu(&sight(), None, &path(&["File", "Print"])).unwrap_err().to_string();
    assert!(error.contains("there are: Save As…, Quit"), "{error}");
    assert_eq!(reader.tree.did, ["unfold 1", "fold 1"]);
    assert!(reader.press_menu(&sight(), None, &[]).is_err());
}

#[test]
fn a_root_is_read_alone_and_what_was_not_read_is_said() {
    let mut reader = editor();
    let all = list(&mut reader, &ElementQuery::default()).unwrap();
    let query = ElementQuery { root: Some("e2".into()), ..ElementQuery::default() };
    let part = list(&mut reader, &query).unwrap();
    assert_eq!(part.elements.len(), 1);
    assert_eq!(part.elements[0].reference, "e2");
    assert_eq!(part.elements[0].fingerprint, all.elements[1].fingerprint);
    assert!(part.number > all.number);
    assert!(part.cut[0].starts_with("3 objects"), "{:?}", part.cut);
    assert!(part.is_partial && !all.is_partial);
}
