//! Where values of secrets show on the screen, so that no picture has them: where applications and pages tell their texts,
//! by these, with each password field that has something in it, which may show what it hides; where they do not tell all,
//! by what is read in the pixels (OCR). There, a value that goes on in a second line is not found, nor one in a panel or a
//! notification, which are in no list of windows.

use std::time::Duration;

use browser::{Browser, Kind, PageQuery, Space, WebElement};
use desktop::{Area, Desktop, Element, Snapshot, WindowView};
use ocr::TextRead;
use protocol::geometry::NormRect;
use tokio::time::Instant;

use crate::goes_to::told_of_window;
use crate::redaction::Redactor;
use crate::secrets::{PASSWORD, Secret};
use crate::withheld;

/// Longest look at the page in front.
const LOOK: Duration = Duration::from_millis(500);
/// Longest look at the pixels of all windows of a picture. A first one takes some seconds; then only what changed is read,
/// and what was read of one that was cut short stays known.
const READING: Duration = Duration::from_secs(6);
/// Characters of each text that are asked for.
const TEXT_CHARS: u32 = 20_000;
/// Around a line that was read, in 0-1000 of the display.
const MARGIN: f64 = 2.0;
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
    let until = Instant::now() + READING;
    for window in windows.iter().filter(|window| withheld::shows(windows, window, area)) {
        // Where its title stands, nobody tells.
        if redactor.finds(&window.title) {
            covers.push(window.bounds);
            continue;
        }
        // What does not tell in time may show anything.
        let Some(told) = told_of_window(desktop, window, display, (MOST, TEXT_CHARS)).await else {
            covers.push(window.bounds);
            continue;
        };
        if !(tells_all(&told) && is_its_own(windows, window, &told)) {
            let read = tokio::time::timeout_at(until, in_pixels(desktop, &redactor, window, display, area));
            covers.extend(read.await.unwrap_or_else(|_| vec![window.bounds]));
        }
        let Snapshot { elements, .. } = told;
        let tell = |texts: [&str; 3]| texts.iter().any(|text| redactor.finds(text));
        let telling = elements
            .iter()
            .filter(|one| one.role == PASSWORD || tell([&one.name, &one.description, &one.value]));
        covers.extend(telling.map(|one| one.bounds));
    }
    covers.extend(in_page(browser, &redactor, display).await);
    covers
}

/// Whether what a window shows as text stands in what its application tells.
fn tells_all(told: &Snapshot) -> bool {
    let has_text = |one: &Element| !one.name.is_empty() || !one.value.is_empty();
    let goes_on = |one: &Element| {
        // Without the blanks at its ends.
        let is_cut = |text: &String| text.chars().count() >= TEXT_CHARS as usize * 9 / 10;
        [&one.name, &one.description, &one.value].into_iter().any(is_cut)
    };
    let elements = &told.elements;
    !told.is_partial
        && told.untold.is_empty()
        && elements.iter().any(has_text)
        && !elements.iter().any(goes_on)
}

/// Whether what was told is of this window: one is found by a part of its title, and another's may have that, too.
fn is_its_own(windows: &[WindowView], window: &WindowView, told: &Snapshot) -> bool {
    let is_its_process = told.pid.zip(window.pid).is_none_or(|(told, its)| told == its);
    let has_its_title = |other: &&WindowView| other.id != window.id && other.title.contains(&window.title);
    is_its_process && (told.window == window.title || !windows.iter().any(|other| has_its_title(&other)))
}

/// Lines of a window that may have a value in them; all of it if it cannot be read. Empty if nothing can read here.
async fn in_pixels(
    desktop: &dyn Desktop,
    redactor: &Redactor<'_>,
    window: &WindowView,
    display: u32,
    area: &Area,
) -> Vec<NormRect> {
    if !desktop.abilities().ocr {
        return Vec::new();
    }
    let place = match area {
        Area::Window(id) => Area::Window(*id),
        Area::Display(_) | Area::Region { .. } => Area::Region { display, rect: on_display(window.bounds) },
    };
    match desktop.read_text(place).await {
        Ok(TextRead { lines, unread: None }) => {
            let telling = lines.into_iter().filter(|line| redactor.may_read(&line.text));
            telling.map(|line| with_margin(line.bounds)).collect()
        }
        Ok(_) | Err(_) => vec![window.bounds],
    }
}

fn on_display(NormRect { x, y, width, height }: NormRect) -> NormRect {
    let cut = |from: f64, length: f64| (from.clamp(0.0, 1000.0), (from + length).clamp(0.0, 1000.0));
    let ((left, right), (top, bottom)) = (cut(x, width), cut(y, height));
    NormRect { x: left, y: top, width: right - left, height: bottom - top }
}

fn with_margin(NormRect { x, y, width, height }: NormRect) -> NormRect {
    NormRect { x: x - MARGIN, y: y - MARGIN, width: width + 2.0 * MARGIN, height: height + 2.0 * MARGIN }
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
