//! Clicks, and what is said of them: what changed, where the page went, dialogs, tabs; and which clicks are refused.

use browser::{DialogAnswer, DialogKind, WebClick, WebTarget};
use desktop::{Button, DesktopError, Evidence};
use tokio_util::sync::CancellationToken;

use crate::stage::{Stage, query};

fn pages(path: &str) -> (u16, String) {
    let html = match path {
        "/acts" => {
            r#"<title>Acts</title>
<label><input type=checkbox>Wet</label>
<button onclick="this.remove()">Vanish</button><button>Vanish slowly</button>
<button onclick="setTimeout(()=>document.getElementById('log').textContent='done',50)">Work</button>
<button>Idle</button><button disabled>Never</button>
<button oncontextmenu="log.textContent='menu';return false" ondblclick="log.textContent='double'">Twice</button>
<button onclick="log.textContent='trusted '+event.isTrusted+' '+event.shiftKey">Trusted</button>
<div style="position:relative;width:200px"><button style="width:100%">Below</button>
<div id=cover style="position:absolute;inset:0;background:#fff" aria-label="Cookie notice" role=dialog></div></div>
<a href="/next">Next</a><a href="/next" target=_blank>New tab</a>
<button onclick="log.textContent='answer '+confirm('Really?')">Ask</button>
<button onclick="log.textContent='text '+prompt('Name?','')">Prompt</button>
<button onclick="alert('Boo')">Alert</button>
<input type=file aria-label=Upload><select aria-label=Colour><option>Red<option>Blue</select>
<p id=log></p><iframe src="THERE/frame" width=300 height=90></iframe>
<div style="height:3000px"></div><button onclick="log.textContent='far'">Far below</button>"#
        }
        "/box" => {
            r#"<title>Box</title><div style="height:60px;overflow:auto"><div style="height:90px">top</div>
<button onclick="document.title='met'">Scrolled away</button></div><p style="height:200px">below the box</p>"#
        }
        "/forms" => {
            r#"<title>Forms</title><base href="/below/"><form action="https://evil.test/take"><input aria-label=Name name=action>
<input name=getAttribute><input name=baseURI><button><b>Go</b></button><button type=button>Only look</button><input type=password name=type aria-label=Secret>
<button formaction="other">Elsewhere</button></form>
<form><input aria-label=Alone></form><search><form><input aria-label=Sought></form></search><form action=other><input aria-label=Asked>
<button formmethod=post>Told</button></form><form method=post role=search><input aria-label=Posted></form><button>Free</button><a href="https://evil.test/take">Linked</a>
<iframe src="/asks" width=300 height=60></iframe><iframe src="THERE/asks-there" width=300 height=60></iframe><a href="https://evil.test/take"><button>Picture</button></a><a href="javascript:void 0" id=menu>Menu</a>
<button onclick="menu.textContent='Delete account';draft.textContent='Thesis'">Rename</button><ul><li><span id=draft>Draft</span> <button>Delete</button></ul>
<button onclick="log.textContent='answer '+confirm('Pay now?')">Ask</button><p id=log></p>"#
        }
        "/asks" => "<input type=password aria-label=Framed>",
        "/asks-there" => "<input type=password aria-label='Framed there'>",
        "/frame" => "<button onclick=\"this.textContent='Pressed'\">Elsewhere</button>",
        _ => "<title>Next</title><p>the next page</p>",
    };
    (200, html.into())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_scrolled_away_in_a_box_of_its_own_is_brought_into_view_and_met() {
    let stage = Stage::open(pages).await;
    stage.goto("/box").await;
    let button = stage.find("button", "Scrolled away").await;
    assert_eq!(button.states, ["covered"]);
    stage.try_click(&button.reference).await.unwrap();
    assert_eq!(stage.view(query()).await.title, "met");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_tells_what_it_did() {
    let stage = Stage::open(pages).await;
    stage.goto("/acts").await;
    let done = stage.click("checkbox", "Wet").await;
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
    assert!(done.acted.note.contains("checked") && done.called == "checkbox \"Wet\"", "{done:?}");
    assert_eq!(stage.find("checkbox", "Wet").await.states, ["focused", "checked"]);
    let at = done.at.expect("its place on the display");
    let bounds = stage.find("checkbox", "Wet").await.bounds;
    assert!((at.x() - bounds.x - bounds.width / 2.0).abs() < 1.0, "{at:?} {bounds:?}");

    let idle = stage.click("button", "Idle").await;
    assert_eq!(idle.acted.evidence, Evidence::Sent, "{idle:?}");
    let work = stage.click("button", "Work").await;
    assert_eq!(work.acted.evidence, Evidence::ReadBack, "{work:?}");
    stage.says("done").await;
    stage.click("button", "Trusted").await;
    stage.says("trusted true false").await;

    let twice = stage.find("button", "Twice").await;
    let click = |button, count, held| WebClick {
        reference: twice.reference.clone(),
        button,
        count,
        held,
        display: 0,
    };
    stage.browser.click(click(Button::Left, 2, Vec::new()), CancellationToken::new()).await.unwrap();
    stage.says("double").await;
    stage.browser.click(click(Button::Right, 1, Vec::new()), CancellationToken::new()).await.unwrap();
    stage.says("menu").await;
    let trusted = stage.find("button", "Trusted").await;
    let shift =
        WebClick { reference: trusted.reference, ..click(Button::Left, 1, vec!["shift".parse().unwrap()]) };
    stage.browser.click(shift, CancellationToken::new()).await.unwrap();
    stage.says("trusted true true").await;

    stage.click("button", "Elsewhere").await;
    let pressed = stage.find("button", "Pressed").await;
    assert_eq!(stage.try_click(&pressed.reference).await.unwrap().acted.evidence, Evidence::ReadBack);

    let far = browser::PageQuery { scope: browser::Scope::Page, query: Some("far".into()), ..query() };
    let far = stage.view(far).await.elements[0].reference.clone();
    stage.try_click(&far).await.unwrap();
    stage.says("far").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_clicked_is_refused_with_the_reason() {
    let stage = Stage::open(pages).await;
    stage.goto("/acts").await;
    let refused = async |role: &str, name: &str| {
        let found = stage.find(role, name).await;
        let error = stage.try_click(&found.reference).await.unwrap_err();
        assert!(matches!(error, DesktopError::BadInput(_)), "{error:?}");
        error.to_string()
    };
    let covered = refused("button", "Below").await;
    assert!(covered.contains("covered by dialog \"Cookie notice\""), "{covered}");
    assert!(refused("button", "Never").await.contains("is disabled"));
    assert!(refused("file", "Upload").await.contains("chosen by the user"));
    assert!(refused("combobox", "Colour").await.contains("Red; Blue"));

    let vanishing = stage.find("button", "Vanish").await;
    let slowly = stage.find("button", "Vanish slowly").await;
    stage.try_click(&vanishing.reference).await.unwrap();
    let error = stage.try_click(&vanishing.reference).await.unwrap_err();
    assert!(matches!(error, DesktopError::NotFound(_)), "{error:?}");
    let nearest = format!("the nearest is {} (button \"Vanish slowly\")", slowly.reference);
    assert!(error.to_string().contains(&nearest), "{error}");
    for unknown in ["w0", "w99999", "e1", "", "w", "w1x"] {
        let error = stage.try_click(unknown).await.unwrap_err();
        assert!(matches!(error, DesktopError::NotFound(_)), "{error:?}");
    }
    let old = stage.find("button", "Idle").await;
    stage.goto("/next").await;
    let error = stage.try_click(&old.reference).await.unwrap_err();
    assert!(error.to_string().contains("no longer in the page"), "{error}");

    let stop = CancellationToken::new();
    stop.cancel();
    stage.goto("/acts").await;
    let reference = stage.find("checkbox", "Wet").await.reference;
    let click = WebClick { reference, button: Button::Left, count: 1, held: Vec::new(), display: 0 };
    assert_eq!(stage.browser.click(click, stop).await, Err(DesktopError::Cancelled));
    assert_eq!(stage.find("checkbox", "Wet").await.states, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn links_and_new_tabs_are_followed_and_said() {
    let stage = Stage::open(pages).await;
    stage.goto("/acts").await;
    let there = stage.click("link", "Next").await;
    assert_eq!(there.acted.evidence, Evidence::ReadBack);
    assert!(there.acted.note.contains("/next") && there.url.ends_with("/next"), "{there:?}");
    stage.goto("/acts").await;
    let opened = stage.click("link", "New tab").await;
    let tab = opened.opened.clone().unwrap_or_else(|| panic!("no tab in {opened:?}"));
    stage.says("the next page").await;
    let tabs = stage.browser.tabs().await.unwrap();
    assert_eq!(tabs.iter().find(|one| one.front).map(|one| &one.reference), Some(&tab.reference), "{tabs:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_act_would_touch_is_told_whatever_a_forms_fields_are_called() {
    let stage = Stage::open(pages).await;
    let page = format!("{}/forms", stage.here);
    stage.goto("/forms").await;
    let (evil, other) = ("https://evil.test/take".to_owned(), format!("{}/below/other", stage.here));
    for (name, leads_to, goes_there) in [
        ("Go", Some(&evil), true),
        ("Only look", Some(&evil), false),
        ("Elsewhere", Some(&other), true),
        ("Name", Some(&evil), false),
        ("Secret", Some(&evil), false),
        ("Alone", Some(&page), false),
        ("Sought", Some(&page), false),
        ("Asked", Some(&other), false),
        ("Told", Some(&other), true),
        ("Posted", Some(&page), false),
        ("Free", None, false),
        ("Linked", Some(&evil), true),
        ("Picture", Some(&evil), true),
        ("Menu", None, false),
    ] {
        let found = stage.find_named(name).await;
        let target = stage.browser.target(Some(found.reference)).await.unwrap();
        let expected = WebTarget {
            url: page.clone(),
            called: name.into(),
            row: String::new(),
            leads_to: leads_to.cloned(),
            goes_there,
            sends_form: goes_there && !["Linked", "Picture"].contains(&name),
            searches: ["Elsewhere", "Sought", "Asked"].contains(&name),
            hides: name == "Secret",
        };
        assert_eq!(target, expected, "{name}");
    }
    // A page in a frame, of the same site or of another: whatever frames it may take the keys away.
    for name in ["Framed", "Framed there"] {
        let framed = stage.find_named(name).await;
        let target = stage.browser.target(Some(framed.reference)).await.unwrap();
        assert_eq!((target.called.as_str(), target.hides), (name, false));
    }
    assert!(matches!(stage.browser.target(None).await, Err(DesktopError::NotFound(_))));
    // What was listed by another name is called as it is now: a yes was for what was shown.
    let (menu, delete) = (stage.find_named("Menu").await, stage.find_named("Delete").await);
    let row = async || stage.browser.target(Some(delete.reference.clone())).await.unwrap().row;
    assert_eq!(row().await, "Draft Delete");
    stage.click("button", "Rename").await;
    let renamed = stage.browser.target(Some(menu.reference)).await.unwrap();
    assert_eq!(renamed.called, "Delete account");
    // So is what stands beside it in its row.
    assert_eq!(row().await, "Thesis Delete");
    stage.click("button", "Ask").await;
    let dialog = stage.browser.target(None).await.unwrap();
    assert_eq!((dialog.url, dialog.called.as_str()), (page, "Pay now?"));
}

#[tokio::test(flavor = "multi_thread")]
async fn dialogs_are_told_and_answered_only_on_request() {
    let stage = Stage::open(pages).await;
    stage.goto("/acts").await;
    let answer = async |answer| stage.browser.answer(answer, CancellationToken::new()).await;
    assert!(matches!(answer(DialogAnswer::Dismiss).await, Err(DesktopError::NotFound(_))));
    let idle = stage.find("button", "Idle").await;
    let asked = stage.click("button", "Ask").await;
    let dialog = asked.dialog.clone().unwrap_or_else(|| panic!("no dialog in {asked:?}"));
    assert_eq!((dialog.kind, dialog.message.as_str()), (DialogKind::Confirm, "Really?"));
    let view = stage.view(query()).await;
    assert_eq!((view.dialog.as_ref(), view.elements.len()), (Some(&dialog), 0));
    let error = stage.try_click(&idle.reference).await.unwrap_err();
    assert!(
        error.to_string().contains("Really?") && error.to_string().contains("accept or dismiss"),
        "{error}"
    );
    answer(DialogAnswer::Accept(None)).await.unwrap();
    stage.says("answer true").await;
    stage.click("button", "Ask").await;
    answer(DialogAnswer::Dismiss).await.unwrap();
    stage.says("answer false").await;
    stage.click("button", "Prompt").await;
    answer(DialogAnswer::Accept(Some("Bashō".into()))).await.unwrap();
    stage.says("text Bashō").await;
    stage.click("button", "Alert").await;
    let done = answer(DialogAnswer::Dismiss).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack);
    stage.find("button", "Idle").await;
}
