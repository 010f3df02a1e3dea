//! What is found, where, and in which order.

use protocol::event::{EventBody, RunEnd};
use protocol::view::Place;

use super::*;
use crate::Journal;
use crate::tests::{append, call, created, journal, read, result, scope, started};

fn said(text: &str) -> EventBody {
    EventBody::RunSteered { text: text.into() }
}

fn search(journal: &Journal, query: &str) -> Vec<Found> {
    let query = query.to_owned();
    read(journal, move |reader| reader.search(&query, 20)).unwrap()
}

fn titles(journal: &Journal, query: &str) -> Vec<String> {
    search(journal, query).into_iter().map(|found| found.session.title).collect()
}

fn edited(title: &str) -> EventBody {
    EventBody::SessionEdited {
        title: Some(title.into()),
        mode: None,
        approval: None,
        search: None,
        pinned: None,
        archived: None,
        space: None,
    }
}

#[test]
fn goals_words_of_both_results_and_titles_are_found_with_their_event_and_place() {
    let (_home, journal) = journal();
    let of_run = || scope("1", "1");
    append(&journal, of_run(), created("Garden")).unwrap();
    append(&journal, of_run(), started("order Tulips for spring")).unwrap();
    append(&journal, of_run(), said("no orchids")).unwrap();
    let turn = EventBody::TurnDropped {
        turn: 1,
        usage: Default::default(),
        cost: Default::default(),
        text: "I look for a nursery".into(),
    };
    append(&journal, of_run(), turn).unwrap();
    append(&journal, of_run(), EventBody::ToolStarted { call: call("1"), risk: protocol::tool::Risk::Edit })
        .unwrap();
    let finished = EventBody::ToolFinished { call: call("1").id, result: result() };
    append(&journal, of_run(), finished).unwrap();
    let end = RunEnd::Completed { summary: "bulbs are ordered".into() };
    append(&journal, of_run(), EventBody::RunEnded { end }).unwrap();
    for (query, event, place, snippet) in [
        ("garden", 1, Place::Title, "Garden"),
        ("TULIPS", 2, Place::Goal, "order Tulips for spring"),
        ("orchids", 3, Place::User, "no orchids"),
        ("nursery", 4, Place::Model, "I look for a nursery"),
        ("clicked", 6, Place::Result, "clicked"),
        ("bulbs", 7, Place::Result, "bulbs are ordered"),
    ] {
        let found = search(&journal, query);
        let [Found { session, event: at, place: of, snippet: shown, marks }] = found.as_slice() else {
            panic!("{query}: {found:?}")
        };
        assert_eq!((session.title.as_str(), *at, *of, shown.as_str()), ("Garden", event, place, snippet));
        let [(from, to)] = marks.as_slice() else { panic!("{query}: {marks:?}") };
        let marked: String = shown.chars().skip(*from as usize).take((to - from) as usize).collect();
        assert_eq!(marked.to_lowercase(), query.to_lowercase());
    }
    for nothing in ["", "  ", "\"\"", "tulip shop", "xyz", "*", "x\" OR \"q", "NOT", "order*", "\u{0}"] {
        assert_eq!(titles(&journal, nothing), [""; 0], "{nothing:?}");
    }
}

#[test]
fn japanese_is_found_by_one_character_and_more() {
    let (_home, journal) = journal();
    append(&journal, scope("1", "1"), created("俳句")).unwrap();
    append(&journal, scope("1", "1"), started("秋についての俳句をエディタに書いて保存する")).unwrap();
    append(&journal, scope("2", "2"), created("other")).unwrap();
    append(&journal, scope("2", "2"), started("請求書を合計する")).unwrap();
    for (query, title) in [
        ("秋", "俳句"),
        ("俳句", "俳句"),
        ("エディタ", "俳句"),
        ("保存する", "俳句"),
        ("請求", "other"),
        ("書を合", "other"),
    ] {
        assert_eq!(titles(&journal, query), [title], "{query}");
    }
    assert_eq!(titles(&journal, "秋 保存"), ["俳句"]);
    assert_eq!(titles(&journal, "秋 請求書"), [""; 0]);
}

#[test]
fn titles_come_first_then_the_newest_text_and_then_words_of_several_texts() {
    let (_home, journal) = journal();
    for (id, title, goals) in [
        ("1", "Invoices of May", ["sum them up", "-"]),
        ("2", "two", ["find the invoices of june", "-"]),
        ("3", "three", ["find the invoices", "sort them by may and june"]),
        ("4", "four", ["the invoices", "of june"]),
    ] {
        append(&journal, scope(id, id), created(title)).unwrap();
        for goal in goals {
            append(&journal, scope(id, id), said(goal)).unwrap();
        }
    }
    assert_eq!(titles(&journal, "invoices"), ["Invoices of May", "four", "three", "two"]);
    assert_eq!(titles(&journal, "invoices june"), ["two", "four", "three"]);
    assert_eq!(titles(&journal, "\"invoices of june\""), ["two"]);
    assert_eq!(titles(&journal, "invoices by"), ["three"]);
    let query = read(&journal, |reader| reader.search("invoices", 2)).unwrap();
    assert_eq!(query.len(), 2);
}

#[test]
fn a_renamed_session_is_not_found_by_its_old_title_and_a_deleted_one_not_at_all() {
    let (_home, journal) = journal();
    append(&journal, scope("1", "1"), created("Alpha")).unwrap();
    append(&journal, scope("1", "1"), said("some words")).unwrap();
    append(&journal, scope("1", "1"), edited("Beta")).unwrap();
    assert_eq!((titles(&journal, "alpha"), titles(&journal, "beta")), (vec![], vec!["Beta".to_owned()]));
    append(&journal, scope("1", "1"), EventBody::SessionDeleted).unwrap();
    append(&journal, scope("1", "1"), said("more words")).unwrap();
    let texts = |journal: &Journal| {
        read(journal, |reader| {
            let count = |table: &str| {
                reader
                    .connection
                    .query_row(&format!("SELECT COUNT(*) FROM {table}"), [], |row| row.get::<_, u64>(0))
                    .unwrap()
            };
            Ok((count("texts"), count("texts_index_idx")))
        })
        .unwrap()
    };
    // They go when the session goes for good: one by one they would hold up whoever writes.
    assert_eq!((titles(&journal, "words"), texts(&journal).0), (vec![], 3));
    for query in ["words some", "more zz", "e"] {
        assert_eq!(titles(&journal, query), [""; 0], "{query}");
    }
    append(&journal, scope("1", "1"), EventBody::SessionRestored).unwrap();
    assert_eq!(titles(&journal, "words"), ["Beta"]);
    assert_eq!(search(&journal, "more words")[0].event, 5);
    assert_eq!(titles(&journal, "alpha"), [""; 0]);
    append(&journal, scope("1", "1"), EventBody::SessionDeleted).unwrap();
    // What started anew is no longer deleted.
    append(&journal, scope("1", "1"), started("go on")).unwrap();
    assert_eq!(titles(&journal, "some"), ["Beta"]);
}

#[test]
fn a_snippet_is_cut_around_the_first_word_and_marks_every_one() {
    let words = words("needle hay");
    let text = format!("{}a NEEDLE in\nthe hay{}", "x".repeat(300), " hay".repeat(100));
    let (shown, marks) = snippet(&text, &words);
    assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
    assert_eq!(shown.chars().count(), SNIPPET + 2);
    assert!(marks.len() > 10);
    for (from, to) in marks {
        let marked: String = shown.chars().skip(from as usize).take((to - from) as usize).collect();
        assert!(["NEEDLE", "hay"].contains(&marked.as_str()), "{marked}");
    }
    assert_eq!(snippet("naïve ÄÖ", &super::words("äö")).1, [(6, 8)]);
}
