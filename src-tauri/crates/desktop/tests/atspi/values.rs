//! Values: text, numbers, one of several, on and off; read back, and refused where they cannot be.

use desktop::{ActionMethod, DesktopError, Element, ElementAction, Evidence};

use super::stage::{Stage, elements, of, operate};

fn set(value: &str) -> ElementAction {
    ElementAction::SetValue(value.into())
}

fn is(one: &Element, state: &str) -> bool {
    one.states.iter().any(|is| is == state)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_editors_text_is_replaced_whole_in_any_script() {
    let mut stage = Stage::open();
    let file = stage.write("pond.txt", "old pond\n");
    for (program, app, arguments) in [
        ("mousepad", "mousepad", ["--disable-server", &file]),
        ("featherpad", "featherpad", ["--standalone", &file]),
    ] {
        stage.start(program, &arguments);
        let desktop = stage.desktop();
        let seen = elements(&desktop, app, |seen| {
            seen.iter().any(|one| is(one, "editable") && one.value.starts_with("old pond"))
        })
        .await;
        let area = seen.iter().find(|one| is(one, "editable") && one.value.starts_with("old pond")).unwrap();
        let text = "古池や\n蛙飛びこむ\nplop 🐸\n";
        let done = operate(&desktop, of(area), set(text)).await.unwrap();
        assert_eq!(
            (done.by, done.acted.evidence),
            (ActionMethod::Accessibility, Evidence::ReadBack),
            "{done:?}"
        );
        let now = elements(&desktop, app, |_| true).await;
        let area = now.iter().find(|one| one.reference == area.reference).unwrap();
        assert_eq!(area.value.trim_end(), text.trim_end(), "{program}");
        let done = operate(&desktop, of(area), set("")).await.unwrap();
        assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sliders_spin_buttons_combos_and_switches_take_what_they_can_hold() {
    let mut stage = Stage::open();
    stage.start("gtk3-widget-factory", &[]);
    let desktop = stage.desktop();
    let seen = elements(&desktop, "widget", |seen| seen.len() > 50).await;
    let open = |role: &'static str| move |one: &&Element| one.role == role && !is(one, "disabled");

    let slider = seen.iter().find(open("slider")).unwrap();
    let done = operate(&desktop, of(slider), set("72")).await.unwrap();
    assert_eq!((done.by, done.acted.evidence), (ActionMethod::Accessibility, Evidence::ReadBack), "{done:?}");
    let error = operate(&desktop, of(slider), set("500")).await.unwrap_err();
    assert!(
        matches!(&error, DesktopError::BadInput(why) if why.contains("500 is outside ") && why.contains("-100 of slider")),
        "{error:?}"
    );
    let error = operate(&desktop, of(slider), set("loud")).await.unwrap_err();
    assert!(matches!(&error, DesktopError::BadInput(why) if why.contains("is no number")), "{error:?}");

    let spin = seen.iter().find(open("spin button")).unwrap();
    let done = operate(&desktop, of(spin), set("7")).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");

    let check_box = seen.iter().find(open("check box")).unwrap();
    for value in ["on", "off", "off", "on"] {
        let done = operate(&desktop, of(check_box), set(value)).await.unwrap();
        assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
        assert!(done.acted.note.contains(value), "{done:?}");
    }
    let error = operate(&desktop, of(check_box), set("blue")).await.unwrap_err();
    assert!(matches!(&error, DesktopError::BadInput(why) if why.contains("neither on nor off")), "{error:?}");

    let combo =
        seen.iter().find(|one| one.role == "combo box" && !is(one, "disabled") && !one.name.is_empty());
    let combo = combo.unwrap();
    let error = operate(&desktop, of(combo), set("no such item")).await.unwrap_err();
    let DesktopError::BadInput(why) = &error else { panic!("{error:?}") };
    let items: Vec<&str> = why.split('"').skip(1).step_by(2).collect();
    let other = items.iter().rev().find(|item| **item != combo.name && !item.is_empty()).unwrap();
    let done = operate(&desktop, of(combo), set(other)).await.unwrap();
    assert_eq!(
        (done.by, done.acted.evidence),
        (ActionMethod::Accessibility, Evidence::ReadBack),
        "{done:?} of {why}"
    );

    let button = seen.iter().find(open("button")).unwrap();
    let error = operate(&desktop, of(button), set("text")).await.unwrap_err();
    assert!(matches!(&error, DesktopError::BadInput(why) if why.contains("holds no value")), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_password_only_the_length_is_read_back() {
    let mut stage = Stage::open();
    stage.start("gtk3-demo", &["--run=entry_buffer"]);
    let desktop = stage.desktop();
    let is_password = |one: &Element| one.role == "password text";
    let seen = elements(&desktop, "gtk3-demo", |seen| seen.iter().any(is_password)).await;
    let password = seen.iter().find(|one| is_password(one)).unwrap();
    let done = operate(&desktop, of(password), set("s3cret")).await.unwrap();
    assert_eq!((done.by, done.acted.evidence), (ActionMethod::Accessibility, Evidence::ReadBack), "{done:?}");
    assert!(done.acted.note.contains("holds 6 characters"), "{done:?}");
    assert!(!format!("{done:?}").contains("s3cret"), "{done:?}");
    // With the keyboard in it, it is known to hide, and is not read.
    operate(&desktop, of(password), ElementAction::Focus).await.unwrap();
    let field = desktop.field().await.unwrap();
    assert!(field.hides && field.text.is_empty(), "{field:?}");
    // The entry above it shows the same buffer in clear.
    let now = elements(&desktop, "gtk3-demo", |seen| seen.iter().any(|one| one.value == "s3cret")).await;
    assert!(now.iter().filter(|one| is_password(one)).all(|one| one.value.is_empty()), "{now:#?}");
}
