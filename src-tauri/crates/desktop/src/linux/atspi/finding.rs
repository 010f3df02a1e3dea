//! From a target to the object that stands for it: by its ref, which is refused when its object is gone, or anew by
//! what it is.

use protocol::view::DisplayView;

use super::acting::Operand;
use super::applications::{self, Choice};
use super::bus::{CallError, Object};
use super::reach::Away;
use super::ref_table::KnownObject;
use super::role::{self, States};
use super::{Accessibility, DEADLINE, PATIENCE, acting, bus};
use crate::{DesktopError, Element, ElementQuery, Inside, Scope, Selector, Snapshot, Target, choose};

const DOCUMENT: &str = "org.a11y.atspi.Document";
const HYPERLINK: &str = "org.a11y.atspi.Hyperlink";
/// Elements among which a selector chooses.
const MOST: u32 = 3_000;

impl Accessibility {
    /// The element meant, and the process it belongs to.
    ///
    /// # Errors
    /// `NotFound` names the nearest there is; `BadInput` names all where several match.
    pub(in super::super) async fn find(
        &self,
        target: &Target,
        display: &DisplayView,
    ) -> Result<Operand, DesktopError> {
        match target {
            Target::Ref(reference) => {
                let Some(known) = self.known(reference) else {
                    return Err(DesktopError::NotFound(format!(
                        "element {reference} is not known; call elementsJson for refs"
                    )));
                };
                self.still_there(known, display).await
            }
            Target::Selector(selector) => self.seek_one(selector, display).await,
        }
    }

    async fn still_there(&self, known: KnownObject, display: &DisplayView) -> Result<Operand, DesktopError> {
        tokio::time::sleep(known.quirks.late).await;
        match Operand::of(&known, &self.inner.apart).await {
            Ok(operand) if operand.states.has(States::DEFUNCT) => {}
            Ok(operand) => {
                if in_open_window(&operand).await? {
                    operand.check_still(&known.as_told()).await?;
                    return Ok(operand);
                }
            }
            // An application's own bus breaks when it ends.
            Err(CallError::Gone | CallError::Refused(_) | CallError::Broken(_)) => {}
            Err(CallError::Late) => return Err(DesktopError::Timeout(bus::CALL)),
        }
        let query = whole(Some(known.app.clone()), Scope::Visible);
        Err(match self.elements(&query, display).await {
            Ok(now) => choose::gone(&known.as_told(), &now.elements),
            Err(
                error @ (DesktopError::NotAvailable(_) | DesktopError::Failed(_) | DesktopError::Timeout(_)),
            ) => error,
            Err(_) => DesktopError::NotFound(format!(
                "{} is gone, with all windows of {}",
                choose::called(&known.as_told()),
                known.app
            )),
        })
    }

    /// Where a link leads.
    pub(in super::super) async fn leads_to(&self, reference: &str) -> Option<String> {
        // GTK 3 complains of each question to what is no link.
        let known = self.known(reference).filter(|known| known.element.role == "link")?;
        let address: String = known.object.call(HYPERLINK, "GetURI", &0_i32).await.ok()?;
        Some(address).filter(|address| !address.is_empty())
    }

    /// Whether an element is a page's: the innermost document around it, or itself.
    pub(in super::super) async fn inside(&self, reference: &str) -> Inside {
        let Some(known) = self.known(reference) else { return Inside::Untold };
        let mut at = known.object.clone();
        loop {
            match at.role().await {
                Ok(role::number::APPLICATION) => return Inside::Around,
                Ok(role) if role::is_page(role) => return page_of(&at).await,
                Ok(_) => {}
                Err(_) => return Inside::Untold,
            }
            at = match acting::parent(&at).await {
                Ok(parent) => parent,
                Err(_) => return Inside::Untold,
            };
        }
    }

    /// The application that an act on this would go to.
    pub(in super::super) async fn owner(&self, target: &Target) -> Option<crate::Owner> {
        match target {
            Target::Ref(reference) => {
                let bus_name = self.known(reference)?.bus_name;
                let who = self.bus().await.ok()?.acquaintance(&bus_name).await.ok()?;
                Some(crate::Owner { app: who.name, pid: who.pid })
            }
            Target::Selector(selector) => {
                let Choice { application, .. } = self.meant(selector.app.as_deref()).await.ok()?;
                Some(crate::Owner { app: application.name, pid: application.pid })
            }
        }
    }

    /// The application that an act names, or the active one. What was only looked at is none: nobody was told of it.
    pub(super) async fn meant(&self, app: Option<&str>) -> Result<Choice, DesktopError> {
        let bus = self.bus().await?;
        let query = ElementQuery { app: app.map(str::to_owned), ..ElementQuery::default() };
        let list = async |wanted| {
            let found = applications::list_named(&bus, &self.inner.own, PATIENCE, wanted).await;
            let found = self.with_active(found.map_err(|error| self.failed(&error, DEADLINE))?).await;
            self.chosen(found, &query, None).await
        };
        match list(app).await {
            // It may have been named by one of its windows.
            Err(DesktopError::NotFound(_)) if app.is_some() => list(None).await,
            chosen => chosen,
        }
    }

    async fn seek_one(&self, selector: &Selector, display: &DisplayView) -> Result<Operand, DesktopError> {
        let meant = self.meant(selector.app.as_deref()).await?.application;
        let mut missing = None;
        // What is on the screen comes before what is scrolled away.
        for scope in [Scope::Visible, Scope::All] {
            let now = self.elements(&whole(selector.app.clone(), scope), display).await?;
            match choose::choose(&now.elements, selector) {
                Ok(element) => {
                    let operand = self.operand(element).await?;
                    if operand.home == meant.bus_name {
                        return Ok(operand);
                    }
                    let why =
                        format!("{} of {}; another window came to the front", operand.called, meant.name);
                    return Err(DesktopError::NotFound(why));
                }
                Err(error @ DesktopError::NotFound(_)) => {
                    missing.get_or_insert_with(|| with_reason(error, &now));
                }
                Err(error) => return Err(error),
            }
        }
        Err(missing.unwrap_or_else(|| DesktopError::NotFound("nothing was looked for".into())))
    }

    pub(super) async fn operand(&self, element: &Element) -> Result<Operand, DesktopError> {
        let vanished = || DesktopError::NotFound(format!("{} vanished just now", choose::called(element)));
        let known = self.known(&element.reference).ok_or_else(vanished)?;
        let operand = Operand::of(&known, &self.inner.apart).await.map_err(|error| match error {
            CallError::Late => DesktopError::Timeout(bus::CALL),
            _ => vanished(),
        })?;
        operand.check_still(element).await?;
        if in_open_window(&operand).await? { Ok(operand) } else { Err(vanished()) }
    }

    /// Whose an operand is; `None` if its application does not say.
    pub(in super::super) async fn owner_of(&self, operand: &Operand) -> Option<Owner> {
        let window = Object { program: operand.object.program.clone(), path: operand.window.clone() };
        let who = self.bus().await.ok()?.acquaintance(&operand.home).await.ok()?;
        Some(Owner { app: who.name, pid: who.pid, title: window.name().await.unwrap_or_default() })
    }

    /// The process behind an operand, and the titles of its application's other windows.
    pub(in super::super) async fn whereabouts(&self, operand: &Operand) -> (Option<u32>, Vec<String>) {
        let Ok(bus) = self.bus().await else { return (None, Vec::new()) };
        let root = Object::new(&operand.object.program, bus::ROOT);
        let (pid, windows) = tokio::join!(bus.pid(&operand.home), root.children());
        let mut titles = Vec::new();
        for (_, path) in windows.unwrap_or_default() {
            titles.extend(Object::new(&operand.object.program, path.as_str()).name().await);
        }
        (pid.ok(), titles)
    }
}

/// The address of a document.
pub(super) async fn page_of(document: &Object) -> Inside {
    // WebKit has another name for it.
    for name in ["DocURL", "URI"] {
        let told: Result<String, _> = document.call(DOCUMENT, "GetAttributeValue", &name).await;
        if let Some(address) = told.ok().filter(|address| !address.is_empty()) {
            return Inside::Page(address);
        }
    }
    Inside::Untold
}

/// Whose an operand is.
pub(in super::super) struct Owner {
    /// As the application calls itself.
    pub(in super::super) app: String,
    pub(in super::super) pid: u32,
    /// Its window's; may be empty.
    pub(in super::super) title: String,
}

fn whole(app: Option<String>, scope: Scope) -> ElementQuery {
    ElementQuery { app, scope, limit: MOST, ..ElementQuery::default() }
}

/// Where nothing at all was seen, why not says more than what was looked for.
fn with_reason(error: DesktopError, now: &Snapshot) -> DesktopError {
    match now.cut.first() {
        Some(why) if now.elements.is_empty() => DesktopError::NotFound(format!("{error}: {why}")),
        _ => error,
    }
}

/// Whether an object shows, or is only scrolled away, folded in, or on another page.
async fn in_open_window(operand: &Operand) -> Result<bool, DesktopError> {
    if operand.states.has(States::SHOWING) {
        return Ok(true);
    }
    match operand.away().await {
        Ok(Away::OutOfSight) => Ok(true),
        Ok(Away::Gone) => Ok(false),
        Ok(Away::Hidden) => Err(DesktopError::BadInput(format!(
            "{} is hidden; open the page or panel that holds it first; nothing was done",
            operand.called
        ))),
        Err(CallError::Late) => Err(DesktopError::Timeout(bus::CALL)),
        // An application's own bus breaks when it ends.
        Err(_) => Ok(false),
    }
}
