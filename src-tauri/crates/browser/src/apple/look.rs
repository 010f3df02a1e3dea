//! Looking at a page by Apple events: its elements, joined to the screen, and its text.

use desktop::DesktopError;
use serde_json::{Value, json};

use super::{App, AppleBrowser, Page, Ref, State};
use crate::look::{part, view, wish};
use crate::script::{Collected, Read};
use crate::{Links, PageQuery, PageText, PageView, TextQuery};

impl AppleBrowser {
    pub(crate) async fn elements(
        &self,
        app: &'static App,
        query: PageQuery,
    ) -> Result<PageView, DesktopError> {
        let mut state = self.state.lock().await;
        let page = self.front(&mut state, app).await?;
        state.check_web(&page)?;
        let (display, collected) =
            tokio::join!(self.display(query.display), self.collect(&mut state, &page, &query));
        let collected = collected?;
        let others = collected.frames.len();
        let geometry = &collected.about.geometry;
        let place = display.as_ref().and_then(|display| state.place(&page, geometry, display));
        let there = place.as_ref().zip(display.as_ref().map(|display| &display.bounds));
        let mut view = view(collected, &query, there, "wa", reference(&page));
        if others > 0 {
            view.cut.push(format!(
                "cut: {others} frames of other sites, which {} lets nobody look into; use the screenshot or elementsJson",
                app.name
            ));
        }
        Ok(view)
    }

    pub(crate) async fn read(&self, app: &'static App, query: TextQuery) -> Result<PageText, DesktopError> {
        let mut state = self.state.lock().await;
        let page = self.front(&mut state, app).await?;
        state.check_web(&page)?;
        let ask = json!({ "next": state.next, "links": query.links == Links::Shown });
        let read: Read = self.talk.ask(&page.spot, "read", ask).await?;
        state.next = state.next.max(read.next);
        let mut text = read.text;
        if !read.frames.is_empty() {
            text.push_str(&format!("\n\n[{} frames of other sites cannot be read]", read.frames.len()));
        }
        Ok(part(&text, &query, reference(&page), read.about))
    }

    pub(super) async fn collect(
        &self,
        state: &mut State,
        page: &Page,
        query: &PageQuery,
    ) -> Result<Collected, DesktopError> {
        let ask: Value = wish(query, query.limit, state.next);
        let collected: Collected = self.talk.ask(&page.spot, "collect", ask).await?;
        state.next = state.next.max(collected.next);
        for found in &collected.elements {
            let (role, name) = (found.role.clone(), found.name.clone());
            state.remember(found.id, Ref { tab: page.number, role, name });
        }
        Ok(collected)
    }
}

pub(super) fn reference(page: &Page) -> String {
    format!("ta{}", page.number)
}
