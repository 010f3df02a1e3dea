//! Filling fields, with what was read back.

use browser::{Fill, Then, WebText};
use desktop::{DesktopError, Evidence};
use tokio_util::sync::CancellationToken;

use crate::stage::Stage;

fn pages(path: &str) -> (u16, String) {
    let html = match path {
        "/form" => {
            r#"<title>Form</title><form action="/sent"><input aria-label=Name name=name value=old
 onkeydown="document.getElementById('log').textContent+=event.key"></form>
<input type=password aria-label=Secret><textarea aria-label=Poem></textarea><input aria-label=Short maxlength=3>
<input aria-label=Fixed readonly value=x><input type=date aria-label=Day><input type=range aria-label=Loud>
<input type=number aria-label=Count><div contenteditable aria-label=Rich style="border:1px solid">rich <b>text</b></div>
<select aria-label=Colour onchange="log.textContent='chose '+value"><option value=r>Red<option value=b>Light Blue<option
disabled>Grey</select><select multiple aria-label=Many><option>One<option>Two<option>Three</select>
<input aria-label=Price value=100 oninput="setTimeout(()=>value='100',300)">
<select aria-label=Size onchange="setTimeout(()=>value='s',300)"><option value=s>Small<option value=l>Large</select>
<input type=range aria-label=Depth value=0 oninput="setTimeout(()=>value=0,300)">
<input type=checkbox aria-label=Wet><button>Go</button><p id=log></p><iframe src="THERE/frame"></iframe>"#
        }
        "/frame" => "<input aria-label=Elsewhere>",
        _ => "<title>Sent</title><p>it was sent</p>",
    };
    (200, html.into())
}

#[tokio::test(flavor = "multi_thread")]
async fn text_in_any_script_is_typed_and_read_back() {
    let stage = Stage::open(pages).await;
    stage.goto("/form").await;
    for (name, text) in [
        ("Name", "Frog & Pond (1686)"),
        ("Name", "蛙飛びこむ 🐸"),
        ("Poem", "old pond\na frog jumps in"),
        ("Poem", ""),
        ("Secret", "hunter2"),
        ("Rich", "plain"),
        ("Day", "2026-01-31"),
        ("Loud", "70"),
        ("Count", "12"),
        ("Elsewhere", "across sites"),
    ] {
        let all = stage.find_named(name).await;
        let done = stage.try_type(&all.reference, text).await.unwrap();
        assert_eq!(done.acted.evidence, Evidence::ReadBack, "{name}: {done:?}");
        let value = stage.find_named(name).await.value;
        if name == "Secret" {
            assert!(value.is_empty() && !format!("{done:?}").contains(text), "{done:?}");
        } else {
            assert_eq!(value, text, "{name}");
        }
    }
    stage.says("Frog").await;

    let name = stage.find_named("Name").await;
    stage.try_type(&name.reference, "old").await.unwrap();
    let more = WebText {
        reference: name.reference.clone(),
        text: " pond".into(),
        how: Fill::Append,
        then: Then::Submit,
    };
    let sent = stage.browser.type_text(more, CancellationToken::new()).await.unwrap();
    assert!(sent.url.contains("/sent?name=old+pond"), "{sent:?}");
    stage.says("it was sent").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn options_are_chosen_by_their_text_and_wrong_fields_are_refused() {
    let stage = Stage::open(pages).await;
    stage.goto("/form").await;
    let colour = stage.find_named("Colour").await.reference;
    let done = stage.try_type(&colour, "light blue").await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
    stage.says("chose b").await;
    let error = stage.try_type(&colour, "Green").await.unwrap_err();
    assert!(error.to_string().contains("it has: Red; Light Blue; Grey"), "{error}");
    assert!(stage.try_type(&colour, "Grey").await.unwrap_err().to_string().contains("disabled"));
    let many = stage.find_named("Many").await.reference;
    stage.try_type(&many, "One\nThree").await.unwrap();
    assert_eq!(stage.find_named("Many").await.value, "One, Three");

    let short = stage.find_named("Short").await.reference;
    let done = stage.try_type(&short, "too long").await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::Mismatch, "{done:?}");
    assert!(done.acted.note.contains("\"too\""), "{done:?}");
    let day = stage.find_named("Day").await.reference;
    let done = stage.try_type(&day, "31.1.2026").await.unwrap();
    assert!(done.acted.evidence == Evidence::Mismatch && done.acted.note.contains("2026-01-31"), "{done:?}");
    for (name, why) in [("Fixed", "can only be read"), ("Wet", "webClick"), ("Go", "takes no text")] {
        let found = stage.find_named(name).await;
        let error = stage.try_type(&found.reference, "x").await.unwrap_err();
        assert!(matches!(&error, DesktopError::BadInput(said) if said.contains(why)), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_page_takes_back_a_moment_later_is_not_called_done() {
    let stage = Stage::open(pages).await;
    stage.goto("/form").await;
    for (name, text, holds) in
        [("Price", "250", "\"100\""), ("Size", "Large", "\"s\""), ("Depth", "70", "\"0\"")]
    {
        let field = stage.find_named(name).await.reference;
        let done = stage.try_type(&field, text).await.unwrap();
        assert_eq!(done.acted.evidence, Evidence::Mismatch, "{name}: {done:?}");
        let told = format!("a moment later the field now holds {holds}: the page changed it");
        assert!(done.acted.note.contains(&told), "{name}: {done:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn text_leaves_the_keyboard_with_the_window_that_has_it() {
    let mut stage = Stage::open(pages).await;
    stage.goto("/form").await;
    let browser = stage.focus();
    stage.start("xterm");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while stage.focus() == browser || stage.focus() <= 1 {
        assert!(std::time::Instant::now() < end, "the terminal got no focus");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let terminal = stage.focus();
    for name in ["Name", "Elsewhere"] {
        let field = stage.find_named(name).await.reference;
        let done = stage.try_type(&field, "frog").await.unwrap();
        assert_eq!(done.acted.evidence, Evidence::ReadBack, "{name}: {done:?}");
    }
    assert_eq!(stage.focus(), terminal);
    let wet = stage.click("checkbox", "Wet").await;
    assert!(wet.acted.note.contains("checked"), "{wet:?}");
}
