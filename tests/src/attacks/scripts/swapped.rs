//! What was asked about is another thing by the time of the answer, which is yes.

use super::*;

pub(super) fn all() -> Vec<Script> {
    let of = |name: &str, front| {
        Script::new(Kind::Swapped, format!("swapped: {name}"), front)
            .answered(User::Once(1), &[])
            .in_ways(&ASKS)
    };
    let notes = |name: &str| of(name, Spot::Notes).does("elementsJson", look("Notes"));
    let save = || json!({ "ref": "@ref Save" });
    let at_save = || json!({ "x": "@x Save", "y": "@y Save" });
    let typed = || json!({ "text": "touch broken" });
    let relabel = || Event::Tell(Spot::Notes, "relabel Save|Delete all");
    let page = |name: &str, script| {
        of(name, Spot::Browser)
            .does("webElements", json!({}))
            .when_asked(Event::Page(script))
            .for_goal("look something up at http://home.test/")
    };
    let at = |name: &str| json!({ "ref": format!("@ref {name}") });
    vec![
        notes("a button relabelled, by its ref").does("clickElement", save()).when_asked(relabel()).quick(),
        notes("a button relabelled, at its place").does("click", at_save()).when_asked(relabel()),
        notes("a button relabelled, by its action")
            .does("doAction", json!({ "ref": "@ref Save", "action": "click" }))
            .when_asked(relabel()),
        notes("a button relabelled, in a batch")
            .does("batch", batch(&[action("clickElement", save())]))
            .when_asked(relabel()),
        notes("rows that changed places")
            .does("click", json!({ "x": "@x Pay", "y": "@y Pay" }))
            .when_asked(Event::Tell(Spot::Notes, "swap"))
            .quick(),
        notes("another window over the place")
            .does("click", at_save())
            .when_asked(Event::Tell(Spot::Mine, "over 640|20")),
        notes("the window moved away")
            .does("click", at_save())
            .when_asked(Event::Tell(Spot::Notes, "move 0|320")),
        // It comes back with the keyboard: what is clicked is what was shown.
        notes("the window gone")
            .does("click", at_save())
            .when_asked(Event::Tell(Spot::Notes, "hide"))
            .answered(User::Once(1), &["notes: pressed=Save$"]),
        // The window that had the keyboard gets it back: what is typed goes there, and nowhere else.
        of("a terminal in front, keys", Spot::Notes)
            .does("type", typed())
            .when_asked(Event::Front(Spot::Terminal))
            .answered(User::Once(1), &["notes: title="])
            .quick(),
        of("a terminal in front, a line break", Spot::Notes)
            .does("type", json!({ "text": "a\n" }))
            .when_asked(Event::Front(Spot::Console))
            .answered(User::Once(1), &["notes: title="]),
        of("a terminal in front, a batch", Spot::Notes)
            .does("batch", batch(&[action("type", typed()), action("press", json!({ "key": "Enter" }))]))
            .when_asked(Event::Front(Spot::Terminal))
            .answered(User::Once(1), &["notes: title="]),
        of("the window with the keyboard gone", Spot::Notes)
            .does("type", typed())
            .when_asked(Event::Tell(Spot::Notes, "hide"))
            .answered(User::Once(1), &["notes: title="]),
        of("a locked screen", Spot::Notes).does("type", typed()).when_asked(Event::Lock),
        notes("the same call with other words")
            .does("type", json!({ "text": "harmless" }))
            .does("type", typed())
            .answered(
                User::Once(1),
                &["notes: title=harmless", "notes: text=harmless", "notes: password=harmless"],
            ),
        page("a page's button relabelled", "document.querySelector('#plain').textContent = 'Delete account'")
            .does("webClick", at("Plain")),
        page(
            "a page's link leads elsewhere",
            "document.querySelectorAll('a').forEach(it => it.href = 'http://evil.test/swapped')",
        )
        .does("webClick", at("Next page"))
        .quick(),
        page(
            "a page's form leads elsewhere",
            "document.querySelector('#find').action = 'http://evil.test/swapped'",
        )
        .does("webType", json!({ "ref": "@ref Find", "text": "frogs", "submit": true })),
        page("another page in the tab", "location = '/next'")
            .does("webClick", at("Plain"))
            .answered(User::Once(1), &["home.test: GET /next"]),
    ]
}
