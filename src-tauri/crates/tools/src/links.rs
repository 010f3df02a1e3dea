//! Where the links lead that a call clicks with the pointer or through the accessibility tree.

use std::time::Duration;

use desktop::{Desktop, Element, ElementQuery, Target, WindowView};
use protocol::geometry::NormPoint;

use crate::target::{Reach, holds, window_at};

const ROLE: &str = "link";
/// Longest wait for one look at a page, and for where a link leads.
const LOOK: Duration = Duration::from_secs(1);
/// Elements of a page among which a link is looked for.
const MOST: u32 = 1_000;

/// Addresses; those of links of which it is not told are left out.
pub(crate) async fn lead_to(desktop: &dyn Desktop, windows: &[WindowView], reach: &Reach) -> Vec<String> {
    let mut all = Vec::new();
    for reference in links(desktop, windows, reach).await {
        let told = tokio::time::timeout(LOOK, desktop.leads_to(reference)).await;
        all.extend(told.ok().flatten());
    }
    all
}

/// The refs of what may be a link.
async fn links(desktop: &dyn Desktop, windows: &[WindowView], reach: &Reach) -> Vec<String> {
    match reach {
        Reach::Element(Target::Ref(reference)) => vec![reference.clone()],
        Reach::Element(Target::Selector(selector)) => {
            let wanted = selector.name.clone().unwrap_or_default().to_lowercase();
            let query = ElementQuery { app: selector.app.clone(), limit: MOST, ..ElementQuery::default() };
            look(desktop, query, |element| element.name.to_lowercase().contains(&wanted)).await
        }
        Reach::Points { display, points } => {
            let mut all = Vec::new();
            for point in points {
                all.extend(at(desktop, windows, *display, *point).await);
            }
            all
        }
        _ => Vec::new(),
    }
}

async fn at(desktop: &dyn Desktop, windows: &[WindowView], display: u32, point: NormPoint) -> Vec<String> {
    let Some(window) = window_at(windows, display, point) else { return Vec::new() };
    let query = ElementQuery {
        app: Some(window.app.clone()),
        window: Some(window.title.clone()).filter(|title| !title.is_empty()),
        limit: MOST,
        display,
        ..ElementQuery::default()
    };
    look(desktop, query, |element| holds(&element.bounds, point)).await
}

async fn look(desktop: &dyn Desktop, query: ElementQuery, is_it: impl Fn(&Element) -> bool) -> Vec<String> {
    let look = desktop.elements(ElementQuery { deadline: Some(LOOK), ..query });
    let seen = tokio::time::timeout(LOOK, look).await.ok().and_then(Result::ok).unwrap_or_default();
    let links = seen.elements.into_iter().filter(|element| element.role == ROLE && is_it(element));
    links.map(|element| element.reference).collect()
}
