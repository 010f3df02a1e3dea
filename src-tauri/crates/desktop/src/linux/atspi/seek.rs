//! Finding one element anew, by what it is.

use protocol::view::DisplayView;

use super::book::Known;
use super::look::{Look, Unseen};
use super::prune::Pruned;
use super::{Accessibility, role};
use crate::{DesktopError, Element, ElementQuery, Scope, Selector};

impl Accessibility {
    /// Finds the element that is meant, anew: texts are compared whole, in any case; where nothing matches, parts
    /// count. What is on the screen comes before what is not.
    ///
    /// # Errors
    /// `NotFound` names what comes nearest.
    pub(super) async fn seek(
        &self,
        selector: &Selector,
        display: &DisplayView,
    ) -> Result<Known, DesktopError> {
        let mut near = Vec::new();
        for scope in [Scope::Visible, Scope::All] {
            let query = ElementQuery { app: selector.app.clone(), scope, ..ElementQuery::default() };
            let look = match self.look(&query, display).await {
                Ok(look) => look,
                Err(Unseen::Nothing(error) | Unseen::Failed(error)) => return Err(error),
            };
            if let Some(found) = look.best(selector)
                && let Some(known) = self.known(&found.reference)
            {
                return Ok(known);
            }
            near = look.near(selector);
        }
        let near = if near.is_empty() { String::new() } else { format!("; there are: {}", near.join(", ")) };
        Err(DesktopError::NotFound(format!("no element is {}{near}", describe(selector))))
    }

    /// The element that is now what `gone` was: of the same fingerprint, or else of the same role and name.
    pub(super) async fn nearest(&self, gone: &Known, display: &DisplayView) -> Option<Known> {
        let query = ElementQuery { app: Some(gone.app.clone()), ..ElementQuery::default() };
        let look = self.look(&query, display).await.ok()?;
        let was = &gone.element;
        let all = &look.pruned.elements;
        let same = |one: &&Element| !one.fingerprint.is_empty() && one.fingerprint == was.fingerprint;
        let alike = |one: &&Element| one.role == was.role && one.name == was.name;
        let found = all.iter().find(same).or_else(|| all.iter().find(alike))?;
        self.known(&found.reference)
    }
}

impl Look {
    /// The first element that matches whole, or else in part.
    fn best(&self, selector: &Selector) -> Option<&Element> {
        let whole = |text: &str, wanted: &str| text == wanted;
        let part = |text: &str, wanted: &str| text.contains(wanted);
        self.first(selector, whole).or_else(|| self.first(selector, part))
    }

    fn first(&self, selector: &Selector, says: impl Fn(&str, &str) -> bool) -> Option<&Element> {
        let is = |text: &str, wanted: &Option<String>| {
            wanted
                .as_ref()
                .is_none_or(|wanted| says(&text.trim().to_lowercase(), &wanted.trim().to_lowercase()))
        };
        let Pruned { elements, sources, .. } = &self.pruned;
        elements.iter().zip(sources).find_map(|(element, &at)| {
            let matches = is(&element.role, &selector.role)
                && is(&element.name, &selector.name)
                && (selector.within.is_none() || self.is_within(at, |text| is(text, &selector.within)));
            matches.then_some(element)
        })
    }

    fn is_within(&self, at: usize, is: impl Fn(&str) -> bool) -> bool {
        std::iter::successors(self.nodes[at].parent, |&above| self.nodes[above].parent).any(|above| {
            let facts = &self.nodes[above].facts;
            is(&facts.name) || is(role::describe(facts.role).0)
        })
    }

    /// A few that might have been meant.
    fn near(&self, selector: &Selector) -> Vec<String> {
        const MOST: usize = 5;
        let same_role = |element: &&Element| {
            selector.role.as_ref().is_none_or(|role| role.trim().eq_ignore_ascii_case(&element.role))
        };
        let named = |element: &&Element| !element.name.is_empty();
        let alike = self.pruned.elements.iter().filter(named).filter(same_role);
        alike.take(MOST).map(|one| format!("{} \"{}\" ({})", one.role, one.name, one.reference)).collect()
    }
}

fn describe(selector: &Selector) -> String {
    let role = selector.role.as_deref().unwrap_or("element");
    let name = selector.name.as_ref().map(|name| format!(" \"{name}\"")).unwrap_or_default();
    let within = selector.within.as_ref().map(|within| format!(" within \"{within}\"")).unwrap_or_default();
    format!("{role}{name}{within}")
}
