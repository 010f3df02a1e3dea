//! LibreOffice Calc: a sheet has thousands of millions of cells, and no question goes through them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use desktop::{Action, Button, Desktop, Element, ElementAction, Evidence};
use tokio_util::sync::CancellationToken;

use super::stage::{Stage, by, elements, find_in, of, operate};

const CLICK: ElementAction = ElementAction::Click { button: Button::Left, count: 1 };
const SHEET: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body><office:spreadsheet>
<table:table table:name="Fruit">
<table:table-row><table:table-cell office:value-type="string"><text:p>Apple</text:p></table:table-cell>
<table:table-cell office:value-type="float" office:value="12"><text:p>12</text:p></table:table-cell></table:table-row>
</table:table></office:spreadsheet></office:body></office:document>"#;

fn cell<'a>(seen: &'a [Element], name: &str) -> Option<&'a Element> {
    find_in(seen, "table cell", name)
}

async fn opened() -> (Stage, Arc<dyn Desktop>) {
    let mut stage = Stage::open();
    let sheet = stage.write("fruit.fods", SHEET);
    let profile = format!("-env:UserInstallation=file://{}", stage.path("office").display());
    stage.start("soffice", &["--norestore", "--nologo", "--nofirststartwizard", &profile, "--calc", &sheet]);
    let desktop = stage.desktop();
    elements(&desktop, "soffice", |seen| cell(seen, "A1").is_some_and(|one| one.value == "Apple")).await;
    (stage, desktop)
}

async fn act(desktop: &Arc<dyn Desktop>, action: Action) -> desktop::Acted {
    let started = Instant::now();
    let acted = desktop.act(action, CancellationToken::new()).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    acted
}

#[tokio::test(flavor = "multi_thread")]
async fn cells_are_listed_clicked_and_typed_into_and_nothing_hangs() {
    let (_stage, desktop) = opened().await;
    let seen = elements(&desktop, "soffice", |seen| cell(seen, "C4").is_some()).await;
    assert_eq!(cell(&seen, "B1").unwrap().value, "12", "{seen:#?}");
    assert!(cell(&seen, "ZZ1").is_none());

    // Its name box says which cell is the current one.
    operate(&desktop, of(cell(&seen, "C4").unwrap()), CLICK).await.unwrap();
    let current =
        |seen: &[Element], name: &str| seen.iter().any(|one| one.role == "text" && one.value == name);
    elements(&desktop, "soffice", |seen| current(seen, "C4")).await;
    act(&desktop, Action::Type { text: "=B1*2\n".into() }).await;
    elements(&desktop, "soffice", |seen| cell(seen, "C4").is_some_and(|one| one.value == "24")).await;

    let done =
        operate(&desktop, by("soffice", "table cell", "C6"), ElementAction::SetValue("größer".into())).await;
    assert_eq!(done.unwrap().acted.evidence, Evidence::ReadBack);
    elements(&desktop, "soffice", |seen| cell(seen, "C6").is_some_and(|one| one.value == "größer")).await;

    let sum = ElementAction::SetValue("=1+1".into());
    let done = operate(&desktop, by("soffice", "table cell", "C7"), sum).await.unwrap();
    assert!(done.acted.evidence == Evidence::Sent && done.acted.note.contains("\"2\""), "{done:?}");

    // Into the formula bar: what has the focus now is asked before and after.
    operate(&desktop, by("soffice", "table cell", "B1"), CLICK).await.unwrap();
    elements(&desktop, "soffice", |seen| current(seen, "B1")).await;
    // It says that it is gone, and is as wide as it looks all the same.
    let seen = elements(&desktop, "soffice", |seen| find_in(seen, "panel", "Input line").is_some()).await;
    let line = find_in(&seen, "panel", "Input line").unwrap();
    assert!(line.bounds.width > 300.0, "{line:?}");
    operate(&desktop, of(line), CLICK).await.unwrap();
    act(&desktop, Action::Type { text: "3\n".into() }).await;
    elements(&desktop, "soffice", |seen| cell(seen, "B1").is_some_and(|one| one.value == "123")).await;
}
