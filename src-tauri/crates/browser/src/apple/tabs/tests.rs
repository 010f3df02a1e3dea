//! Tests of `tabs`.

use super::*;
use crate::apple::app::{SAFARI, named};

fn window(id: &str, current: i64, tabs: &[(Option<&str>, &str)]) -> Window {
    let tab = |&(id, url): &(Option<&str>, &str)| Listed {
        id: id.map(str::to_owned),
        url: url.into(),
        title: url.to_uppercase(),
    };
    Window { id: id.into(), bounds: None, current, tabs: tabs.iter().map(tab).collect() }
}

fn refs(table: &TabTable, app: &'static App) -> Vec<(String, String)> {
    table.of(app).map(|known| (known.reference(), known.url.clone())).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect()
}

#[test]
fn a_safari_tab_keeps_its_ref_when_one_before_it_closes_and_when_it_goes_elsewhere() {
    let mut table = TabTable::default();
    table.learn(&SAFARI, &[window("7", 0, &[(None, "a"), (None, "b"), (None, "c")])]);
    table.learn(&SAFARI, &[window("7", 0, &[(None, "b"), (None, "c")])]);
    assert_eq!(refs(&table, &SAFARI), pairs(&[("ta2", "b"), ("ta3", "c")]));
    table.learn(&SAFARI, &[window("7", 0, &[(None, "b"), (None, "elsewhere"), (None, "new")])]);
    assert_eq!(refs(&table, &SAFARI), pairs(&[("ta2", "b"), ("ta3", "elsewhere"), ("ta4", "new")]));
    assert_eq!(table.number(2).map(|known| known.spot.place), Some(0));
    assert_eq!(table.number(1), None);
}

#[test]
fn a_chromium_tab_is_known_by_its_id_in_whatever_window() {
    let chrome = named("Google Chrome").unwrap();
    let mut table = TabTable::default();
    table.learn(chrome, &[window("1", 0, &[(Some("11"), "a"), (Some("12"), "b")])]);
    let moved = [window("2", 0, &[(Some("12"), "other")]), window("1", 0, &[(Some("11"), "a")])];
    table.learn(chrome, &moved);
    assert_eq!(refs(&table, chrome), pairs(&[("ta2", "other"), ("ta1", "a")]));
    assert_eq!(table.front(chrome).map(|known| known.number), Some(2));
    assert_eq!(table.newest(), 2);
}

#[test]
fn tabs_of_two_applications_do_not_disturb_each_other() {
    const A: &str = "https://a.test";
    const B: &str = "https://b.test";
    let chrome = named("Google Chrome").unwrap();
    let mut table = TabTable::default();
    table.learn(
        chrome,
        &[window("1", 1, &[(Some("11"), A), (Some("12"), B), (Some("13"), "file:///etc/passwd")])],
    );
    table.learn(&SAFARI, &[window("1", -1, &[(None, A)])]);
    assert_eq!(refs(&table, &SAFARI), pairs(&[("ta4", A)]));
    assert_eq!(refs(&table, chrome), pairs(&[("ta1", A), ("ta2", B), ("ta3", "file:///etc/passwd")]));
    let front: Vec<bool> = table.views(chrome).iter().map(|tab| tab.front).collect();
    assert_eq!(front, [false, true], "a file is nobody's business");
    // Where the tab in front is not known, it is the first.
    assert!(table.views(&SAFARI)[0].front);
}

#[test]
fn only_our_own_refs_have_a_number() {
    assert_eq!(number("ta12"), Some(12));
    for other in ["t12", "ta", "wa3", ""] {
        assert_eq!(number(other), None);
    }
}
