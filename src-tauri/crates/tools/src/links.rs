//! Where links and forms of a browser's page lead that a call follows with the pointer, the keyboard or through the
//! accessibility tree. The tree tells of links; of forms only the page itself does, where its browser is attached.

use std::time::Duration;

use browser::{Browser, Kind, PageQuery, WebTarget};
use desktop::{
    Desktop, Element, ElementQuery, Inside, Scope, Selector, Snapshot, Target, WindowView, may_mean,
    plain_name,
};
use protocol::geometry::{NormPoint, NormRect};

use crate::reach::Reach;
use crate::whose::{front, holds, window_at};

const ROLE: &str = "link";
/// Longest wait for one look at a page or a sheet of cells, and for where a link leads.
const LOOK: Duration = Duration::from_secs(3);
/// Elements of a page among which a link is looked for.
const MOST: u32 = 3_000;

/// What a call follows there.
#[derive(Default)]
pub(crate) struct Led {
    /// Addresses; those of links of which it is not told are left out.
    pub to: Vec<String>,
    /// What sends a form.
    pub sent: Vec<WebTarget>,
}

/// Looks up all that may be meant.
pub(crate) async fn lead_to(
    desktop: &dyn Desktop,
    browser: &dyn Browser,
    windows: &[WindowView],
    reach: &Reach,
) -> Led {
    let mut all = Led { to: told(desktop, windows, reach).await, ..Led::default() };
    for target in in_page(desktop, browser, windows, reach).await {
        all.to.extend(target.leads_to.clone());
        if target.sends_form || !target.goes_there {
            all.sent.push(target);
        }
    }
    all.to.sort();
    all.to.dedup();
    all
}

/// Where the links lead that an act follows, as far as the accessibility tree tells.
pub(crate) async fn told(desktop: &dyn Desktop, windows: &[WindowView], reach: &Reach) -> Vec<String> {
    let mut all = Vec::new();
    for reference in links(desktop, windows, reach).await {
        let told = tokio::time::timeout(LOOK, desktop.leads_to(reference)).await;
        all.extend(told.ok().flatten());
    }
    all
}

/// By the page's own word, of what lies at the points of the act.
async fn in_page(
    desktop: &dyn Desktop,
    browser: &dyn Browser,
    windows: &[WindowView],
    reach: &Reach,
) -> Vec<WebTarget> {
    let (display, points) = match reach {
        Reach::Points { display, points } => (*display, points.clone()),
        Reach::Element(Target::Ref(reference)) => {
            let query = ElementQuery { root: Some(reference.clone()), limit: 1, ..ElementQuery::default() };
            (0, middles(&elements(desktop, query).await))
        }
        Reach::Element(Target::Selector(selector)) => (0, middles(&meant(desktop, selector).await)),
        Reach::Focus { enters: true } => {
            let Some(window) = front(windows) else { return Vec::new() };
            let focused = elements(desktop, all_of(window)).await.into_iter().filter(has_focus);
            (0, middles(&focused.collect::<Vec<_>>()))
        }
        _ => return Vec::new(),
    };
    if points.is_empty() {
        return Vec::new();
    }
    let query =
        PageQuery { query: None, scope: browser::Scope::View, kind: Kind::Interactive, limit: MOST, display };
    let seen = tokio::time::timeout(LOOK, browser.elements(query)).await.ok().and_then(Result::ok);
    let mut all = Vec::new();
    for element in seen.into_iter().flat_map(|view| view.elements) {
        if !points.iter().any(|point| holds(&element.bounds, *point)) {
            continue;
        }
        let target = tokio::time::timeout(LOOK, browser.target(Some(element.reference))).await;
        let target = target.ok().and_then(Result::ok);
        // Enter in a field sends its form; without one a script may take it.
        all.extend(target.filter(|one| reach.enters() || (one.leads_to.is_some() && one.goes_there)));
    }
    all
}

/// The elements that a name may mean: what is on the screen comes before what is scrolled away, as where it is acted on.
/// Empty if none is there, or if not all that are can be told.
pub(crate) async fn meant(desktop: &dyn Desktop, selector: &Selector) -> Vec<Element> {
    // What stands where is not told here: with a place, all that may be meant are.
    let scopes: &[Scope] =
        if selector.within.is_some() { &[Scope::All] } else { &[Scope::Visible, Scope::All] };
    for &scope in scopes {
        let (app, query) = (selector.app.clone(), selector.name.as_deref().map(plain_name));
        let seen =
            seen(desktop, ElementQuery { app, query, scope, limit: MOST, ..ElementQuery::default() }).await;
        let mut all = seen.elements;
        // A picture says by its description what it does.
        let described = |one: &Element| Element { name: one.description.clone(), ..one.clone() };
        all.retain(|one| {
            may_mean(selector, one) || (one.name.is_empty() && may_mean(selector, &described(one)))
        });
        if seen.is_partial || !all.is_empty() {
            return if seen.is_partial { Vec::new() } else { all };
        }
    }
    Vec::new()
}

/// Whether what a text is written into is a page's: of each element that may be meant.
pub(crate) async fn inside(desktop: &dyn Desktop, reach: &Reach) -> Vec<Inside> {
    let references = match reach {
        Reach::Element(Target::Ref(reference)) => vec![reference.clone()],
        Reach::Element(Target::Selector(selector)) => {
            meant(desktop, selector).await.into_iter().map(|one| one.reference).collect()
        }
        _ => Vec::new(),
    };
    let mut all = Vec::new();
    for reference in references {
        let told = tokio::time::timeout(LOOK, desktop.inside(reference)).await;
        all.push(told.unwrap_or_default());
    }
    if all.is_empty() { vec![Inside::Untold] } else { all }
}

/// What has the keyboard.
pub(crate) async fn focused(desktop: &dyn Desktop, windows: &[WindowView]) -> Option<Element> {
    elements(desktop, all_of(front(windows)?)).await.into_iter().find(has_focus)
}

fn middles(elements: &[Element]) -> Vec<NormPoint> {
    let middle =
        |NormRect { x, y, width, height }: NormRect| NormPoint::new(x + width / 2.0, y + height / 2.0);
    elements.iter().filter_map(|element| middle(element.bounds).ok()).collect()
}

fn has_focus(element: &Element) -> bool {
    element.states.iter().any(|state| state == "focused")
}

/// The refs of what may be a link.
async fn links(desktop: &dyn Desktop, windows: &[WindowView], reach: &Reach) -> Vec<String> {
    match reach {
        Reach::Element(Target::Ref(reference)) => vec![reference.clone()],
        Reach::Element(Target::Selector(selector)) => {
            let all = meant(desktop, selector).await.into_iter();
            all.filter(|one| one.role == ROLE).map(|one| one.reference).collect()
        }
        Reach::Points { display, points } => {
            let mut all = Vec::new();
            for point in points {
                all.extend(at(desktop, windows, *display, *point).await);
            }
            all
        }
        // Enter follows the link that has the keyboard.
        Reach::Focus { enters: true } => {
            let Some(window) = front(windows) else { return Vec::new() };
            look(desktop, all_of(window), has_focus).await
        }
        _ => Vec::new(),
    }
}

async fn at(desktop: &dyn Desktop, windows: &[WindowView], display: u32, point: NormPoint) -> Vec<String> {
    let Some(window) = window_at(windows, display, point) else { return Vec::new() };
    let query = ElementQuery { display, ..all_of(window) };
    look(desktop, query, |element| holds(&element.bounds, point)).await
}

fn all_of(window: &WindowView) -> ElementQuery {
    ElementQuery {
        app: Some(window.app.clone()),
        window: Some(window.title.clone()).filter(|title| !title.is_empty()),
        limit: MOST,
        ..ElementQuery::default()
    }
}

async fn look(desktop: &dyn Desktop, query: ElementQuery, is_it: impl Fn(&Element) -> bool) -> Vec<String> {
    let seen = elements(desktop, query).await.into_iter();
    let links = seen.filter(|element| element.role == ROLE && is_it(element));
    links.map(|element| element.reference).collect()
}

async fn elements(desktop: &dyn Desktop, query: ElementQuery) -> Vec<Element> {
    seen(desktop, query).await.elements
}

/// Empty if nothing can be had.
async fn seen(desktop: &dyn Desktop, query: ElementQuery) -> Snapshot {
    let look = desktop.elements(ElementQuery { deadline: Some(LOOK), ..query });
    tokio::time::timeout(LOOK, look).await.ok().and_then(Result::ok).unwrap_or_default()
}
