//! What is seen of a page: elements with their places on the screen, and text.

use browser::PageQuery;
use browser::{Kind, Links, Scope, Space, TextQuery, WebElement};
use desktop::{Action, Button};
use tokio_util::sync::CancellationToken;

use crate::stage::{Stage, query};

fn pages(path: &str) -> (u16, String) {
    let html = match path {
        "/controls" => {
            r#"<title>Controls</title><h1>Pond</h1>
<button id=save onclick="document.title='saved'">Save</button>
<a href="/other">Other <b>page</b></a>
<label>Name <input value="Frog"></label>
<input type=password aria-label=Secret value=hunter2>
<input type=checkbox id=wet checked><label for=wet>Wet</label>
<select aria-label=Colour><option>Red<option selected>Blue</select>
<textarea placeholder=Poem>old pond</textarea>
<button disabled>Never</button>
<span id=by>By reference</span><div role=slider aria-labelledby=by aria-valuenow=7 tabindex=0>x</div>
<div style="cursor:pointer">Plain box</div>
<img src=x alt=Picture><button style="display:none">Hidden</button><button style="visibility:hidden">Unseen</button>
<button aria-expanded=false>Menu</button>
<div id=host></div>
<iframe srcdoc="<button>In frame</button>" width=200 height=40></iframe>
<iframe src="THERE/inner" width=300 height=90></iframe>
<script>document.getElementById('host').attachShadow({mode:'open'}).innerHTML='<button>In shadow</button>'</script>
<div style="height:3000px"></div><button>Far below</button>"#
        }
        "/inner" => {
            r#"<title>Inner</title><button onclick="this.textContent='Pressed'">Elsewhere</button><input aria-label=Field>
<p>Words of another site</p>"#
        }
        "/poem" => {
            r#"<title>Poem</title><nav>Menu that is no poem</nav><main><h2>Old pond</h2><p>A frog   jumps
in, <a href="/sound">sound</a> of water. 古池や蛙飛びこむ水の音</p><ul><li>one<li>two</ul>
<p style="display:none">unseen words</p><script>var code = 1</script><pre>a
  b</pre><p>Long enough for a main part: a page whose main part is very short is read as a whole, since it may have been
marked up by somebody who does not know what the word means, and so these words are here.</p></main>"#
        }
        "/icons" => {
            r#"<title>Icons</title><div class="mail row" style="cursor:pointer;width:300px">Basho: a frog
<span class="bin" style="display:inline-block;width:16px;height:16px;background:url(/art/bin.png?2)" onmousedown="document.title='thrown away'"></span>
<img id=star src=/art/star.png width=12 height=12></div>
<button class="plus big" style="width:40px;height:20px"></button><span style="cursor:pointer">Named</span>
<div class=swatch style="width:30px;height:30px;background:teal"></div><div class=gap style="width:30px;height:30px"></div>
<svg width=100 height=50><circle cx=20 cy=20 r=10 fill=red /><text x=40 y=20 fill=blue>A</text>
<rect id=frame x=60 y=5 width=30 height=30 fill=none stroke=black /></svg>
<textarea>a long
letter</textarea>"#
        }
        _ => "<title>Other</title>other",
    };
    (200, html.into())
}

fn named<'a>(all: &'a [WebElement], name: &str) -> &'a WebElement {
    all.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("no {name:?} in {all:#?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn elements_have_roles_names_values_and_states_through_shadow_roots_and_frames() {
    let stage = Stage::open(pages).await;
    stage.goto("/controls").await;
    stage.find("button", "Elsewhere").await;
    let view = stage.view(query()).await;
    assert_eq!((view.title.as_str(), view.space), ("Controls", Space::Display));
    let all = &view.elements;
    let told = |name: &str| {
        let one = named(all, name);
        (one.role.clone(), one.value.clone(), one.states.join(" "))
    };
    let is = |role: &str, value: &str, states: &str| (role.to_owned(), value.to_owned(), states.to_owned());
    assert_eq!(told("Save"), is("button", "", ""));
    assert_eq!(told("Name"), is("textbox", "Frog", ""));
    assert_eq!(told("Wet"), is("checkbox", "", "checked"));
    assert_eq!(told("Poem"), is("textbox", "old pond", "multiline"));
    assert_eq!(told("Never"), is("button", "", "disabled"));
    assert_eq!(told("By reference"), is("slider", "7", ""));
    assert_eq!(told("Plain box"), is("generic", "", ""));
    assert_eq!(told("Menu"), is("button", "", "collapsed"));
    for inside in ["In shadow", "In frame", "Elsewhere"] {
        assert_eq!(told(inside), is("button", "", ""));
    }
    let link = named(all, "Other page");
    assert!(link.role == "link" && link.href.ends_with("/other"), "{link:?}");
    let colour = named(all, "Colour");
    assert_eq!((colour.value.as_str(), colour.options.join(" ")), ("Blue", "Red Blue".into()));
    assert!(
        !all.iter().any(|one| ["Hidden", "Unseen", "Far below"].contains(&one.name.as_str())),
        "{all:#?}"
    );
    assert!(view.cut.iter().any(|cut| cut.contains("out of view")), "{:?}", view.cut);

    let secret = named(all, "Secret");
    assert_eq!(secret.states, ["password", "filled"]);
    assert!(!format!("{view:?}").contains("hunter2"), "{secret:?}");

    let whole = stage.view(PageQuery { scope: Scope::Page, ..query() }).await;
    assert_eq!(named(&whole.elements, "Far below").states, ["offscreen"]);
    let again = |name: &str| named(&whole.elements, name).reference.clone();
    for name in ["Save", "In shadow", "In frame", "Elsewhere"] {
        assert_eq!(again(name), named(all, name).reference, "refs stay");
    }
    let few = stage.view(PageQuery { query: Some("COLOUR".into()), ..query() }).await;
    assert_eq!(few.elements.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["Colour"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_no_name_is_told_by_its_code_its_picture_and_its_colour() {
    let stage = Stage::open(pages).await;
    stage.goto("/icons").await;
    let told = |all: &[WebElement]| {
        all.iter().map(|one| format!("{} {:?} {}", one.role, one.name, one.hint)).collect::<Vec<_>>()
    };
    let all = stage.view(query()).await.elements;
    let expected = [
        r#"generic "Basho: a frog" "#,
        r#"generic "" class bin, picture bin.png"#,
        r#"image "" id star, picture star.png"#,
        r#"button "" class plus big"#,
        r#"generic "Named" "#,
        r#"textbox "" "#,
    ];
    let plain: Vec<String> = told(&all).iter().map(|one| one.replace(", colour #efefef", "")).collect();
    assert_eq!(plain, expected);
    let bin = all.iter().find(|one| one.hint.contains("bin")).unwrap();
    stage.try_click(&bin.reference).await.unwrap();
    assert_eq!(stage.view(query()).await.title, "thrown away");

    let all = told(&stage.view(PageQuery { kind: Kind::All, ..query() }).await.elements);
    for drawn in [
        r#"generic "" class swatch, colour #008080"#,
        r#"circle "" colour #ff0000"#,
        r#"text "A" colour #0000ff"#,
        r#"rect "" id frame"#,
    ] {
        assert!(all.iter().any(|one| one == drawn), "no {drawn} in {all:#?}");
    }
    assert!(!all.iter().any(|one| one.contains("gap")), "what cannot be seen is not told: {all:#?}");
    let read = stage.text().await;
    assert!(read.contains("a long\nletter"), "the text of a field of many lines is read: {read:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bounds_are_where_the_real_pointer_clicks() {
    let stage = Stage::open(pages).await;
    stage.goto("/controls").await;
    let inner = stage.find("button", "Elsewhere").await;
    let save = stage.find("button", "Save").await;
    for (target, name) in [(save, "saved"), (inner, "Pressed")] {
        let at = target.bounds.center().unwrap();
        let click = Action::Click { display: 0, at, button: Button::Left, count: 1, held: Vec::new() };
        stage.desktop.act(click, CancellationToken::new()).await.unwrap();
        if name == "saved" {
            let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
            while stage.view(query()).await.title != "saved" {
                assert!(std::time::Instant::now() < end, "the click did not meet Save");
            }
        } else {
            stage.find("button", name).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_read_in_parts_without_what_is_not_shown() {
    let stage = Stage::open(pages).await;
    stage.goto("/poem").await;
    let read = |offset, limit, links| stage.browser.read(TextQuery { offset, limit, links });
    let whole = read(0, 10_000, Links::Left).await.unwrap();
    assert!(
        whole.text.starts_with("## Old pond\n\nA frog jumps in, sound of water. 古池や"),
        "{:?}",
        whole.text
    );
    assert!(whole.text.contains("- one\n- two\n") && whole.text.contains("a\n  b"), "{:?}", whole.text);
    for unseen in ["unseen", "code", "Menu"] {
        assert!(!whole.text.contains(unseen), "{unseen}: {:?}", whole.text);
    }
    assert_eq!((whole.total, whole.next), (whole.text.chars().count(), None));
    let links = read(0, 10_000, Links::Shown).await.unwrap();
    assert!(links.text.contains(&format!("[sound]({}/sound)", stage.here)), "{:?}", links.text);
    let mut parts = String::new();
    let mut next = Some(0);
    while let Some(offset) = next {
        let part = read(offset, 50, Links::Left).await.unwrap();
        assert!(part.text.chars().count() <= 50);
        parts.push_str(&part.text);
        next = part.next;
    }
    assert_eq!(parts, whole.text);

    stage.goto("/controls").await;
    stage.says("Words of another site").await;
    let text = stage.text().await;
    assert!(text.contains("In shadow") && text.contains("In frame") && !text.contains("hunter2"), "{text:?}");
}
