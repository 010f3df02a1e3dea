//! The tools that look: what they ask the desktop for, and what they say of it.

use crate::stage::{call, desktop};
use desktop::Area;
use desktop::fake::Call;
use ocr::{TextLine, Unread};
use protocol::geometry::{NormPoint, NormRect};
use protocol::tool::{Source, ToolErrorKind};
use serde_json::json;
use tools::Router;

fn point(x: f64, y: f64) -> NormPoint {
    NormPoint::new(x, y).unwrap()
}

fn shots(fake: &desktop::fake::FakeDesktop) -> Vec<desktop::Shot> {
    let only_shots = |call: Call| match call {
        Call::Screenshot(shot) => Some(shot),
        _ => None,
    };
    fake.calls().into_iter().filter_map(only_shots).collect()
}

fn rect(x: f64, y: f64, width: f64, height: f64) -> protocol::geometry::NormRect {
    protocol::geometry::NormRect { x, y, width, height }
}

#[tokio::test]
async fn zoom_shows_a_region_in_its_own_pixels_and_says_where_it_is() {
    let fake = desktop();
    fake.edit(|scene| scene.displays[0].bounds.width = 4000);
    let router = Router::builtin(fake.clone());
    let executed = call(&router, "zoom", json!({"x": 500, "y": 0, "width": 100, "height": 500})).await;
    let picture = executed.picture.unwrap();
    assert_eq!((picture.size.width, picture.size.height), (400, 24));
    assert_eq!(executed.result.summary, "took a picture of a part of the screen, 400x24, at full resolution");
    let shows = json!({"x": 500.0, "y": 0.0, "width": 100.0, "height": 500.0});
    assert_eq!(executed.result.data, json!({"width": 400, "height": 24, "display": 0, "shows": shows}));
    let executed = call(&router, "zoom", json!({"x": 0, "y": 0, "width": 1000, "height": 500})).await;
    assert!(executed.result.summary.contains("scaled down from 4000x24"), "{}", executed.result.summary);
}

#[tokio::test]
async fn a_windows_picture_says_where_the_window_is_and_a_missing_one_is_not_found() {
    let fake = desktop();
    fake.edit(|scene| {
        let bounds = rect(250.0, 250.0, 500.0, 500.0);
        let (title, app) = ("Editor".into(), "editor".into());
        let id = desktop::WindowId(7);
        let window = desktop::WindowView { id, title, app, pid: None, display: 0, bounds, states: vec![] };
        scene.windows.push(window);
    });
    let router = Router::builtin(fake.clone());
    let executed = call(&router, "screenshot", json!({"window": 7})).await;
    assert_eq!(executed.result.data["shows"]["x"], 250.0);
    assert_eq!(executed.picture.unwrap().size.width, 32);
    let error = call(&router, "screenshot", json!({"window": 8})).await.result.error.unwrap();
    assert_eq!(error.kind, ToolErrorKind::NotFound);
}

#[tokio::test]
async fn marks_are_boxes_with_the_refs_of_the_elements_and_not_of_what_holds_them() {
    let fake = desktop();
    fake.edit(|scene| {
        let save = scene.snapshot.elements[0].clone();
        for (reference, role, x) in [("e2", "panel", 10.0), ("e3", "button", 2000.0)] {
            let (reference, role) = (reference.into(), role.into());
            let element = desktop::Element { reference, role, ..save.clone() };
            let bounds = rect(x, 10.0, 50.0, 20.0);
            scene.snapshot.elements.push(desktop::Element { bounds, ..element });
        }
    });
    let router = Router::builtin(fake.clone());
    let plain = call(&router, "screenshot", json!({})).await.picture.unwrap();
    let marked = call(&router, "screenshot", json!({"marks": true})).await;
    assert_eq!(marked.result.data["marks"], json!([{"ref": "e1", "role": "button", "name": "Save"}]));
    let wished: Vec<_> = shots(&fake).pop().unwrap().marks.into_iter().map(|mark| mark.label).collect();
    assert_eq!(wished, ["e1"]);
    let marked = marked.picture.unwrap();
    assert_eq!(marked.pixels, plain.pixels);
    assert_ne!((marked.sight, &marked.jpeg), (plain.sight, &plain.jpeg));
}

#[tokio::test]
async fn text_and_shapes_that_are_seen_where_nothing_is_told_are_marked_apart_from_the_elements() {
    let fake = desktop();
    let (reference, bounds) = ("m7".to_owned(), rect(10.0, 10.0, 50.0, 20.0));
    let mark = desktop::PictureMark { reference, text: "Su\u{200b}m".into(), bounds, ..Default::default() };
    let (looks_like, beside) = ("icon".to_owned(), "Su\u{200b}m".to_owned());
    let icon =
        desktop::PictureMark { reference: "m8".into(), looks_like, beside, bounds, ..Default::default() };
    fake.edit(|scene| scene.snapshot.marks.extend([mark, icon]));
    let router = Router::builtin(fake.clone());
    let listed = call(&router, "elementsJson", json!({})).await.result;
    let marks = json!([
        {"ref": "m7", "text": "Sum", "bounds": bounds},
        {"ref": "m8", "looksLike": "icon", "beside": "Sum", "bounds": bounds},
    ]);
    assert_eq!(listed.data["marks"], marks);
    assert_eq!(listed.data["elements"].as_array().unwrap().len(), 1);
    assert_eq!(listed.summary, "found 1 element in Editor, and 2 marks of text and shapes in its picture");
    let marked = call(&router, "screenshot", json!({"marks": true})).await.result;
    assert_eq!(marked.data["marks"][1], json!({"ref": "m7", "text": "Sum"}));
    assert_eq!(marked.data["marks"][2], json!({"ref": "m8", "looksLike": "icon", "beside": "Sum"}));
    let asked = fake.calls().into_iter().filter_map(|call| match call {
        Call::Elements(query) => Some(query.marks),
        _ => None,
    });
    assert!(asked.into_iter().all(|marks| marks));
}

#[tokio::test(start_paused = true)]
async fn the_picture_after_a_drag_has_its_line_and_the_one_after_a_click_has_none() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let drag = json!({"path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}, {"x": 5, "y": 6}]});
    call(&router, "drag", drag).await;
    let line = vec![point(1.0, 2.0), point(3.0, 4.0), point(5.0, 6.0)];
    let trails = || -> Vec<_> {
        shots(&fake).into_iter().filter(|shot| shot.dot.is_some()).map(|shot| shot.trail).collect()
    };
    let dragged = trails();
    assert!(!dragged.is_empty() && dragged.iter().all(|trail| *trail == line), "{dragged:?}");
    call(&router, "click", json!({"x": 5, "y": 6})).await;
    let clicked = trails().split_off(dragged.len());
    assert!(!clicked.is_empty() && clicked.iter().all(Vec::is_empty), "{clicked:?}");
}

#[tokio::test]
async fn an_unchanged_screen_is_the_same_sight_and_another_part_of_it_is_not() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let mut sights = Vec::new();
    for (tool, arguments) in [
        ("screenshot", json!({})),
        ("screenshot", json!({"display": 0})),
        ("zoom", json!({"x": 0, "y": 0, "width": 500, "height": 500})),
        ("zoom", json!({"x": 500, "y": 500, "width": 500, "height": 500})),
    ] {
        sights.push(call(&router, tool, arguments).await.picture.unwrap().sight);
    }
    assert_eq!(sights[0], sights[1]);
    assert_ne!(sights[2], sights[3]);
    fake.edit(|scene| scene.colour[1] = 200);
    assert_ne!(call(&router, "screenshot", json!({})).await.picture.unwrap().sight, sights[0]);
}

#[tokio::test(start_paused = true)]
async fn an_act_is_looked_at_without_encoding_and_its_one_picture_is_of_the_screen_at_rest() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let executed = call(&router, "click", json!({"x": 100, "y": 100})).await;
    let thumbnails = fake.calls().iter().filter(|call| matches!(call, Call::Thumbnail(_))).count();
    // Before the act, and twice the same after it.
    assert_eq!((thumbnails, shots(&fake).len()), (3, 1));
    assert!(matches!(fake.calls().last(), Some(Call::Screenshot(_))), "{:?}", fake.calls());
    assert!(executed.picture.unwrap().dot.is_some());
}

#[tokio::test(start_paused = true)]
async fn text_in_pictures_is_data_with_bounds_and_a_query_leaves_out_the_rest() {
    let fake = desktop();
    let bounds = NormRect { x: 10.0, y: 20.0, width: 30.0, height: 4.0 };
    let line = |text: &str, confidence| TextLine { text: text.into(), bounds, confidence };
    fake.edit(|scene| {
        scene.text.lines = vec![line("Save\u{200b} As", 0.99), line("保存", 0.6), line("Quit", 0.9)]
    });
    let router = Router::builtin(fake.clone());
    let result = call(&router, "readText", json!({"query": ""})).await.result;
    let at = json!({"x": 10.0, "y": 20.0, "width": 30.0, "height": 4.0});
    assert_eq!(result.summary, "read 3 lines of text");
    assert_eq!(
        result.data,
        json!({ "lines": [
            {"text": "Save As", "bounds": at},
            {"text": "保存", "bounds": at, "confidence": 0.6},
            {"text": "Quit", "bounds": at},
        ]})
    );
    let region = json!({"x": 0, "y": 100, "width": 500, "height": 200});
    let result = call(&router, "readText", json!({"query": "QU it", "region": region})).await.result;
    assert_eq!(result.data, json!({ "lines": [{"text": "Quit", "bounds": at}] }));
    let rect = NormRect { x: 0.0, y: 100.0, width: 500.0, height: 200.0 };
    assert_eq!(
        fake.calls(),
        [Call::ReadText(Area::Display(0)), Call::ReadText(Area::Region { display: 0, rect })]
    );
    fake.edit(|scene| scene.abilities.ocr = false);
    let error = call(&router, "readText", json!({})).await.result.error.unwrap();
    assert_eq!(error.kind, ToolErrorKind::NotAvailable);
}

#[tokio::test(start_paused = true)]
async fn text_that_could_not_be_read_in_time_is_counted_and_asking_again_is_told_to_go_on() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let again = "; call readText again: it goes on from here";
    for (lines, percent, said) in [
        (12, 0, "12 more are not read yet"),
        (0, 40, "40% of the area is not looked at yet"),
        (12, 40, "12 more are not read yet, and 40% of the area is not looked at yet"),
    ] {
        fake.edit(|scene| scene.text.unread = Some(Unread { lines, percent }));
        let result = call(&router, "readText", json!({})).await.result;
        let said = format!("time ran out: {said}");
        assert_eq!(result.summary, format!("read 0 lines of text; {said}"));
        assert_eq!(result.data, json!({ "lines": [], "unread": format!("{said}{again}") }));
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_tool_told_says_where_it_came_from() {
    let fake = desktop();
    fake.edit(|scene| scene.clipboard = "copied".into());
    let pages = browser::fake::FakeBrowser::new();
    pages.edit(|pages| pages.text.url = "https://example.org/a".into());
    let router = Router::builtin(fake.clone()).with_browser(pages);
    let window = |name: &str| Source::Application { name: name.into() };
    let page = Source::Page { host: Some("example.org".into()) };
    for (tool, arguments, from) in [
        ("think", json!({"thought": "a"}), vec![]),
        ("screenshot", json!({}), vec![Source::Screen]),
        ("listWindows", json!({}), vec![Source::Screen]),
        ("elementsJson", json!({}), vec![window("Editor")]),
        ("readClipboard", json!({}), vec![Source::Clipboard]),
        ("webRead", json!({}), vec![page.clone()]),
        ("webTabs", json!({}), vec![Source::Page { host: None }]),
        // The picture after it.
        ("click", json!({"x": 1, "y": 2}), vec![Source::Screen]),
    ] {
        assert_eq!(call(&router, tool, arguments).await.result.read, from, "{tool}");
    }
    let actions =
        ["readClipboard", "webRead", "readClipboard"].map(|tool| json!({"tool": tool, "arguments": {}}));
    let batch = call(&router, "batch", json!({ "actions": actions })).await.result;
    assert_eq!(batch.read, [page, Source::Clipboard], "each once, the newest last");
}

/// What a question about `call` is asked to show.
async fn cut(
    call: serde_json::Value,
    change: impl FnOnce(&mut desktop::fake::Scene),
) -> Option<desktop::Shot> {
    let fake = desktop();
    fake.edit(|scene| {
        (scene.displays[0].bounds.width, scene.displays[0].bounds.height) = (1920, 1080);
        change(scene);
    });
    let router = Router::builtin(fake.clone());
    let tool = call["tool"].as_str().unwrap().to_owned();
    let call = protocol::tool::ToolCall {
        id: protocol::ids::CallId("c-1".into()),
        tool,
        arguments: call["arguments"].clone(),
    };
    let taken = router.sight(&call, &crate::stage::limits()).await;
    let shot = shots(&fake).pop();
    assert_eq!(taken.is_some(), shot.is_some(), "{shot:?}");
    // No more pixels than it is cut to: 480x270 around a control.
    let size = taken.map(|taken| (taken.size.width, taken.size.height));
    assert!(size.is_none_or(|size| size.0 <= 960 && size.1 <= 540), "{size:?}");
    shot
}

#[tokio::test]
async fn a_question_shows_the_screen_around_where_a_call_would_act_with_the_place_marked() {
    let at = |rect| Area::Region { display: 0, rect };
    let click = |x, y| json!({ "tool": "click", "arguments": { "x": x, "y": y } });
    let shot = cut(click(500, 500), |_| {}).await.unwrap();
    assert_eq!((shot.area, shot.dot), (at(rect(375.0, 375.0, 250.0, 250.0)), Some(point(500.0, 500.0))));
    let shot = cut(click(990, 20), |_| {}).await.unwrap();
    assert_eq!((shot.area, shot.dot), (at(rect(750.0, 0.0, 250.0, 250.0)), Some(point(990.0, 20.0))));

    let drag = json!({ "from": { "x": 100, "y": 100 }, "to": { "x": 600, "y": 100 } });
    let shot = cut(json!({ "tool": "drag", "arguments": drag }), |_| {}).await.unwrap();
    assert_eq!((shot.dot, shot.trail), (Some(point(600.0, 100.0)), vec![point(100.0, 100.0)]));
    let Area::Region { rect: shown, .. } = shot.area else { panic!() };
    assert!(shown.x < 100.0 && shown.x + shown.width > 600.0, "{shown:?}");

    // An element has a frame without words, by its ref as by its name; text goes to the one with the keyboard.
    let save = rect(100.0, 200.0, 50.0, 20.0);
    let framed = [
        ("clickElement", json!({ "ref": "e1" })),
        ("clickElement", json!({ "role": "button", "name": "save" })),
        ("type", json!({ "text": "a" })),
        ("hotkey", json!({ "keys": ["ctrl", "s"] })),
    ];
    for (tool, arguments) in framed {
        let call = json!({ "tool": tool, "arguments": arguments });
        let focus =
            |scene: &mut desktop::fake::Scene| scene.snapshot.elements[0].states = vec!["focused".into()];
        let shot = cut(call.clone(), focus).await.unwrap();
        assert_eq!(shot.area, at(rect(0.0, 85.0, 250.0, 250.0)), "{call}");
        assert_eq!((shot.dot, shot.marks.len()), (None, 1));
        assert_eq!((shot.marks[0].label.as_str(), shot.marks[0].bounds), ("", save));
    }

    // One of just this name is meant before those whose names it begins.
    let longer = |scene: &mut desktop::fake::Scene| {
        let other = scene.snapshot.elements[0].clone();
        let name = format!("{} as", other.name);
        scene.snapshot.elements.insert(0, desktop::Element { name, reference: "e2".into(), ..other });
        scene.snapshot.elements[0].bounds.x += 500.0;
    };
    let call = json!({ "tool": "clickElement", "arguments": { "role": "button", "name": "save" } });
    assert_eq!(cut(call, longer).await.unwrap().marks[0].bounds, save);

    // A menu's item is not shown yet: the menu it is in is.
    let menus = |scene: &mut desktop::fake::Scene| {
        let other = |name: &str, role: &str| desktop::Element {
            name: name.into(),
            role: role.into(),
            ..scene.snapshot.elements[0].clone()
        };
        scene.snapshot.elements =
            vec![other("_File", "menu"), other("File", "label"), other("Profile", "menu")];
    };
    let menu = json!({ "tool": "pressMenu", "arguments": { "path": ["File", "Save As..."] } });
    let shot = cut(menu, menus).await.unwrap();
    assert_eq!((shot.marks.len(), shot.marks[0].bounds), (1, save));

    // The parts of a batch are told apart.
    let actions = json!({ "actions": [click(500, 500), { "tool": "wait", "arguments": { "seconds": 1 } }, click(520, 500)] });
    let shot = cut(json!({ "tool": "batch", "arguments": actions }), |_| {}).await.unwrap();
    let labels: Vec<_> = shot.marks.iter().map(|mark| mark.label.as_str()).collect();
    assert_eq!((shot.dot, labels), (None, vec!["1", "3"]));
}

#[tokio::test]
async fn a_question_about_an_element_of_a_page_shows_it_where_the_page_tells_its_place() {
    let bounds = rect(600.0, 700.0, 100.0, 30.0);
    let click = protocol::tool::ToolCall {
        id: protocol::ids::CallId("c-1".into()),
        tool: "webClick".into(),
        arguments: json!({ "ref": "w3", "reason": "to buy it" }),
    };
    for (space, reference, is_shown) in [
        (browser::Space::Display, "w3", true),
        (browser::Space::Viewport, "w3", false),
        (browser::Space::Display, "w4", false),
    ] {
        let fake = desktop();
        fake.edit(|scene| (scene.displays[0].bounds.width, scene.displays[0].bounds.height) = (1920, 1080));
        let pages = browser::fake::FakeBrowser::new();
        pages.edit(|pages| {
            let element = browser::WebElement {
                reference: reference.into(),
                role: "button".into(),
                name: "Buy".into(),
                value: String::new(),
                hint: String::new(),
                states: Vec::new(),
                href: String::new(),
                options: Vec::new(),
                bounds,
            };
            pages.view = browser::PageView { space, elements: vec![element], ..browser::PageView::default() };
        });
        let router = Router::builtin(fake.clone()).with_browser(pages);
        let taken = router.sight(&click, &crate::stage::limits()).await;
        let marked: Vec<_> =
            shots(&fake).into_iter().flat_map(|shot| shot.marks).map(|mark| mark.bounds).collect();
        let expected = if is_shown { vec![bounds] } else { Vec::new() };
        assert_eq!((taken.is_some(), marked), (is_shown, expected), "{space:?} {reference}");
    }
}

#[tokio::test]
async fn what_acts_at_no_known_place_and_what_cannot_be_looked_at_has_no_picture() {
    let click = json!({ "tool": "click", "arguments": { "x": 500, "y": 500 } });
    assert_eq!(cut(click, |scene| scene.abilities.screen = false).await, None);
    let launch = json!({ "tool": "launchApp", "arguments": { "app": "Editor" } });
    assert_eq!(cut(launch, |_| {}).await, None);
    let typing = json!({ "tool": "type", "arguments": { "text": "a" } });
    assert_eq!(cut(typing, |_| {}).await, None, "nothing is said to have the keyboard");
    // Which of two is meant is not told.
    let save = json!({ "tool": "clickElement", "arguments": { "name": "Save" } });
    let twice = |scene: &mut desktop::fake::Scene| {
        let other = desktop::Element { reference: "e2".into(), ..scene.snapshot.elements[0].clone() };
        scene.snapshot.elements.push(other);
    };
    assert_eq!(cut(save, twice).await, None);
    // A capture that fails is a card without a picture, and no error.
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    fake.fail_next(desktop::DesktopError::NotAvailable("the screen is locked".into()));
    let call = protocol::tool::ToolCall {
        id: protocol::ids::CallId("c-1".into()),
        tool: "click".into(),
        arguments: json!({ "x": 500, "y": 500 }),
    };
    assert!(router.sight(&call, &crate::stage::limits()).await.is_none());
}
