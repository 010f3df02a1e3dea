//! Where values of secrets show on the screen, so that no picture has them: as far as applications and pages tell their
//! texts, and each password field with something in it, which may show what it hides. What else only a picture tells, or
//! stands after the first 200 characters of a field, is not found.

use std::time::Duration;

use browser::{Browser, Kind, PageQuery, Space, WebElement};
use desktop::{Area, Desktop, Snapshot, WindowView};
use protocol::geometry::NormRect;

use crate::goes_to::told_of_window;
use crate::redaction::Redactor;
use crate::secrets::{PASSWORD, Secret};
use crate::withheld;

/// Longest look at the page in front.
const LOOK: Duration = Duration::from_millis(500);
/// Elements of one window, or of the page.
const MOST: u32 = 3_000;

/// The places in an area that have a value in their text, in 0-1000 of its display. Does not look if there are no
/// secrets.
pub(crate) async fn covers(
    desktop: &dyn Desktop,
    browser: &dyn Browser,
    secrets: &[Secret],
    windows: &[WindowView],
    area: &Area,
) -> Vec<NormRect> {
    let Some(redactor) = Redactor::of(secrets) else { return Vec::new() };
    let display = match area {
        Area::Display(display) | Area::Region { display, .. } => *display,
        Area::Window(id) => windows.iter().find(|window| window.id == *id).map_or(0, |window| window.display),
    };
    let mut covers = Vec::new();
    for window in windows.iter().filter(|window| withheld::shows(windows, window, area)) {
        // Where its title stands, nobody tells.
        if redactor.finds(&window.title) {
            covers.push(window.bounds);
            continue;
        }
        // What does not tell in time may show anything.
        let Some(Snapshot { elements, .. }) = told_of_window(desktop, window, display, MOST).await else {
            covers.push(window.bounds);
            continue;
        };
        let tell = |texts: [&str; 3]| texts.iter().any(|text| redactor.finds(text));
        let telling = elements
            .iter()
            .filter(|one| one.role == PASSWORD || tell([&one.name, &one.description, &one.value]));
        covers.extend(telling.map(|one| one.bounds));
    }
    covers.extend(in_page(browser, &redactor, display).await);
    covers
}

async fn in_page(browser: &dyn Browser, redactor: &Redactor<'_>, display: u32) -> Vec<NormRect> {
    let query = PageQuery { query: None, scope: browser::Scope::View, kind: Kind::All, limit: MOST, display };
    let looked = tokio::time::timeout(LOOK, browser.elements(query)).await;
    let Some(page) = looked.ok().and_then(Result::ok) else { return Vec::new() };
    if page.space != Space::Display {
        return Vec::new();
    }
    let is = |one: &WebElement, state: &str| one.states.iter().any(|one| one == state);
    let hides = |one: &WebElement| is(one, "password") && is(one, "filled");
    let telling = page
        .elements
        .iter()
        .filter(|one| hides(one) || redactor.finds(&one.name) || redactor.finds(&one.value));
    telling.map(|one| one.bounds).collect()
}
