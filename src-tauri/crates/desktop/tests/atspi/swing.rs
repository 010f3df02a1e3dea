//! Swing's widgets by its bridge to ATK: what the application says was done to it.

use std::sync::Arc;

use desktop::{Button, Desktop, ElementAction, Evidence};

use super::stage::{Stage, by, elements, eventually, find_in, operate};

const APP: &str = "swing";
const CLICK: ElementAction = ElementAction::Click { button: Button::Left, count: 1 };

async fn opened() -> (Stage, Arc<dyn Desktop>) {
    let mut stage = Stage::open();
    let log = stage.write(APP, "");
    let program = format!("{}/tests/apps/Swing.java", env!("CARGO_MANIFEST_DIR"));
    let bridge = "-Djavax.accessibility.assistive_technologies=org.GNOME.Accessibility.AtkWrapper";
    stage.start("java", &["-cp", "/usr/share/java/java-atk-wrapper.jar", bridge, &program, &log]);
    let desktop = stage.desktop();
    elements(&desktop, "swing", |seen| find_in(seen, "button", "Push").is_some()).await;
    (stage, desktop)
}

async fn hears(stage: &Stage, line: &str) {
    let line = line.replace(' ', "\t").replace('_', " ");
    eventually(&line, || async { stage.logged(APP) }, |log| log.contains(&line)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn values_of_every_kind_arrive_and_are_read_back() {
    let (stage, desktop) = opened().await;
    for (role, name, value, line) in [
        ("text", "Name", "plop 🐸", "changed name plop_🐸"),
        ("text", "Notes", "a\n🐸b", "changed notes a|🐸b"),
        ("text", "Name", "größer", "changed name größer"),
        ("combo box", "Apple", "Cherry", "activated fruit Cherry"),
        ("spin button", "Count", "7", "changed count 7"),
        ("slider", "Volume", "72", "changed volume 72"),
        ("check box", "Check", "on", "clicked check true"),
    ] {
        let done = operate(&desktop, by("swing", role, name), ElementAction::SetValue(value.into())).await;
        let done = done.unwrap_or_else(|error| panic!("{name}: {error}"));
        hears(&stage, line).await;
        // Its bridge cannot tell of characters beyond U+FFFF.
        let told = if value.contains('🐸') { Evidence::Sent } else { Evidence::ReadBack };
        assert_eq!(done.acted.evidence, told, "{done:?}");
    }
    let secret = ElementAction::SetValue("geheim".into());
    let done = operate(&desktop, by("swing", "password text", "Secret"), secret).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::Sent, "{done:?}");
    hears(&stage, "changed secret geheim").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clicks_are_heard() {
    let (stage, desktop) = opened().await;
    for (role, name, line) in [
        ("button", "Push", "clicked push"),
        ("check box", "Check", "clicked check true"),
        ("label", "two", "selected list two"),
        ("label", "sports", "selected tree sports"),
        ("page tab", "Second", "page Second"),
    ] {
        let done = operate(&desktop, by("swing", role, name), CLICK).await;
        let done = done.unwrap_or_else(|error| panic!("{name}: {error}"));
        hears(&stage, line).await;
        assert_ne!(done.acted.evidence, Evidence::Mismatch, "{done:?}");
    }
}
