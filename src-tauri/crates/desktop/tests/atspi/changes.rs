//! What stays the same from one snapshot to the next: refs, fingerprints; and what is told of what changed.

use std::collections::HashMap;

use desktop::{Button, DesktopError, ElementAction, ElementQuery, Scope, Target};
use tokio_util::sync::CancellationToken;

use super::stage::{Stage, editable, eventually, find, query, screen, signal, snapshot, tell};

#[tokio::test(flavor = "multi_thread")]
async fn refs_stay_and_since_tells_what_is_new_what_changed_and_what_is_gone() {
    let mut stage = Stage::open();
    stage.start("gtk3-widget-factory", &[]);
    let desktop = stage.desktop();
    let ask = |since| {
        let query =
            ElementQuery { since, deadline: Some(std::time::Duration::from_secs(20)), ..query("widget") };
        let desktop = &desktop;
        async move {
            let seen = desktop.elements(query).await;
            if let Ok(seen) = &seen {
                tell(desktop, seen).await;
            }
            seen
        }
    };
    let settled = |seen: &Result<desktop::Snapshot, DesktopError>| {
        seen.as_ref()
            .is_ok_and(|seen| find(seen, "radio button", "Page 2").is_some() && seen.elements.len() > 50)
    };
    // The window's own buttons may come later than what is in it.
    let stays = |looks: &[Result<desktop::Snapshot, DesktopError>; 2]| match looks {
        [Ok(first), Ok(again)] => {
            let is_known =
                |one: &desktop::Element| first.elements.iter().any(|old| old.reference == one.reference);
            again.elements.iter().all(is_known)
        }
        _ => false,
    };
    let looks = eventually(
        "the first page, twice",
        || async { [ask(None).await, ask(None).await] },
        |looks| settled(&looks[0]) && stays(looks),
    );
    let [first, again] = looks.await.map(Result::unwrap);
    assert!(again.number > first.number);
    let by_ref: HashMap<&str, &str> =
        first.elements.iter().map(|one| (one.reference.as_str(), one.fingerprint.as_str())).collect();
    for element in &again.elements {
        assert_eq!(
            by_ref.get(element.reference.as_str()),
            Some(&element.fingerprint.as_str()),
            "{element:?}"
        );
    }

    let page = find(&again, "radio button", "Page 2").unwrap().reference.clone();
    let click = ElementAction::Click { button: Button::Left, count: 1 };
    desktop.operate(Target::Ref(page.clone()), click, CancellationToken::new()).await.unwrap();
    let told = |seen: &Result<desktop::Snapshot, DesktopError>| {
        seen.as_ref().is_ok_and(|seen| {
            seen.elements.iter().any(|one| one.reference == page && one.states.contains(&"checked".into()))
                && !seen.gone.is_empty()
        })
    };
    let changed = eventually("the second page", || ask(Some(again.number)), told).await.unwrap();
    let entry = find(&again, "slider", "").unwrap();
    assert!(changed.gone.contains(&entry.reference), "{changed:#?}");
    assert!(find(&changed, "button", "Close").is_none(), "what did not change is left out: {changed:#?}");
    // What comes back is what it was.
    let first_page = find(&again, "radio button", "Page 1").unwrap().reference.clone();
    let click = ElementAction::Click { button: Button::Left, count: 1 };
    desktop.operate(Target::Ref(first_page), click, CancellationToken::new()).await.unwrap();
    let back = |seen: &Result<desktop::Snapshot, DesktopError>| {
        seen.as_ref().is_ok_and(|seen| seen.elements.iter().any(|one| one.reference == entry.reference))
    };
    eventually("the first page again", || ask(None), back).await.unwrap();

    let unknown = ask(Some(1_000_000)).await.unwrap();
    assert!(unknown.elements.len() > 50);
    assert!(unknown.cut.iter().any(|cut| cut.contains("snapshot 1000000 is not known")), "{:?}", unknown.cut);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_run_has_new_refs_and_the_same_fingerprints() {
    let mut stage = Stage::open();
    let accessibility = stage.accessibility();
    let mut runs = Vec::new();
    for name in ["pond.txt", "frog.txt"] {
        let file = stage.write(name, name);
        let editor = stage.start("mousepad", &["--disable-server", &file]);
        let seen = snapshot(&accessibility, &query("mousepad"), |seen| {
            editable(seen).is_some_and(|area| area.value == name)
        })
        .await;
        let picked = |role: &str, name: &str| {
            let one = find(&seen, role, name).unwrap();
            (one.reference.clone(), one.fingerprint.clone())
        };
        let area = editable(&seen).unwrap();
        runs.push([
            picked("menu", "File"),
            picked("menu", "Help"),
            (area.reference.clone(), area.fingerprint.clone()),
        ]);
        signal("KILL", &editor.to_string());
        eventually(
            "the end of the editor",
            || accessibility.focus(&area.reference),
            |answer| matches!(answer, Err(DesktopError::NotFound(_))),
        )
        .await
        .unwrap_err();
    }
    for ((reference, fingerprint), (later_reference, later_fingerprint)) in runs[0].iter().zip(&runs[1]) {
        assert_ne!(reference, later_reference);
        assert_eq!(fingerprint, later_fingerprint);
        assert_eq!(fingerprint.len(), 8);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_root_lists_what_is_in_it_and_a_root_that_is_gone_is_refused() {
    let mut stage = Stage::open();
    let file = stage.write("pond.txt", "old pond");
    let editor = stage.start("mousepad", &["--disable-server", &file]);
    let accessibility = stage.accessibility();
    let seen =
        snapshot(&accessibility, &query("mousepad"), |seen| find(seen, "menu", "File").is_some()).await;
    let menu = find(&seen, "menu", "File").unwrap().reference.clone();
    let within = ElementQuery { root: Some(menu.clone()), scope: Scope::All, ..query("mousepad") };
    let items = accessibility.elements(&within, &screen()).await.unwrap();
    assert_eq!(items.elements[0].reference, menu);
    assert!(items.elements.len() > 5, "{items:#?}");
    assert!(items.elements.iter().all(|one| one.role.contains("menu")), "{items:#?}");
    assert!(items.elements.iter().any(|one| one.states.contains(&"offscreen".into())), "{items:#?}");
    let one = ElementQuery { root: Some(menu), ..query("mousepad") };
    assert_eq!(accessibility.elements(&one, &screen()).await.unwrap().elements.len(), 1);

    let unknown = ElementQuery { root: Some("e99999".into()), ..query("mousepad") };
    let error = accessibility.elements(&unknown, &screen()).await.unwrap_err();
    assert!(error.to_string().contains("e99999 is not known"), "{error}");
    signal("KILL", &editor.to_string());
    let display = screen();
    let gone = eventually("the end", || accessibility.elements(&within, &display), Result::is_err)
        .await
        .unwrap_err();
    assert!(matches!(&gone, DesktopError::NotFound(_)), "{gone:?}");
}
