//! Looking at a page: its elements, joined to the screen, and its text. Changes nothing but the pointer's place in the
//! page, once for each place of the window.

use std::time::Duration;

use desktop::DesktopError;
use protocol::geometry::PhysicalRect;
use serde_json::{Value, json};

use crate::address::check_page;
use crate::cdp::{Attached, CdpBrowser};
use crate::live::{Frame, Known, Live, Page, shown};
use crate::page_transform::{PageTransform, inner_size, norm};
use crate::script::{About, Collected, Found, InnerFrame, Read};
use crate::{Kind, Links, PageQuery, PageText, PageView, Scope, Space, TextQuery, WebElement};

/// Frames in other processes that are looked into.
const FRAMES: usize = 30;
/// A window that is hidden takes no pointer.
const POINTER: Duration = Duration::from_millis(700);

impl CdpBrowser {
    pub(crate) async fn elements_now(&self, query: PageQuery) -> Result<PageView, DesktopError> {
        let seen = self.elements_of(self.attached().await?, &query).await;
        if seen.is_err() && !self.is_attached().await {
            return self.elements_of(self.running().await?, &query).await;
        }
        seen
    }

    async fn elements_of(&self, mut held: Attached<'_>, query: &PageQuery) -> Result<PageView, DesktopError> {
        let live = held.live()?;
        // The page first: while it works, the screen is asked.
        let (collected, display) = tokio::join!(live.collect_front(query), self.display(query.display));
        let (page, collected) = collected?;
        let Some(collected) = collected else {
            live.check_web(&page.target)?;
            let dialog = live.tell_dialog(&page);
            let cut =
                dialog.iter().map(|dialog| format!("{}; it keeps the page from answering", shown(dialog)));
            return Ok(PageView {
                tab: live.tab_name(&page.target),
                cut: cut.collect(),
                dialog,
                ..PageView::default()
            });
        };
        check_page(&collected.about.url)?;
        let place = match display {
            Some(_) => live.place(&page, &collected.about).await,
            None => None,
        };
        let there = place.as_ref().zip(display.as_ref());
        Ok(view(collected, query, there, "w", live.tab_name(&page.target)))
    }

    pub(crate) async fn read_now(&self, query: TextQuery) -> Result<PageText, DesktopError> {
        let mut held = self.running().await?;
        let live = held.live()?;
        let (page, about) = live.front().await?;
        live.check_web(&page.target)?;
        check_page(&about.url)?;
        let tab = live.tab_name(&page.target);
        if let Some(dialog) = live.tell_dialog(&page) {
            return Ok(PageText { tab, dialog: Some(dialog), ..PageText::default() });
        }
        let mut waiting = vec![live.main_frame(&page)];
        let mut text = String::new();
        let mut about = About::default();
        let mut frames = 0;
        while let Some(frame) = waiting.pop() {
            let ask = json!({ "next": live.next, "links": query.links == Links::Shown });
            let read: Read = match live.ask(&frame, "read", ask).await {
                Ok(read) => read,
                Err(error) if frames == 0 => return Err(error),
                Err(_) => continue,
            };
            live.next = live.next.max(read.next);
            if frames == 0 {
                about = read.about;
            } else if !read.text.is_empty() {
                text.push_str(&format!("\n\n[frame {}]\n", read.about.url));
            }
            text.push_str(&read.text);
            frames += 1;
            for inner in read.frames.iter().rev() {
                if frames + waiting.len() < FRAMES
                    && let Ok(inner) = live.inner_frame(&frame, inner.id).await
                {
                    waiting.push(inner);
                }
            }
        }
        Ok(part(&text, &query, tab, about))
    }
}

/// What was collected, for those who asked. `there` is where the page is, where that is known; refs begin with `prefix`.
pub(crate) fn view(
    collected: Collected,
    query: &PageQuery,
    there: Option<(&PageTransform, &PhysicalRect)>,
    prefix: &str,
    tab: String,
) -> PageView {
    let size = inner_size(&collected.about.geometry);
    let bounds = |found: &Found| {
        let (x, y, width, height) = (found.x, found.y, found.width, found.height);
        match there {
            Some((place, display)) => place.rect(x, y, width, height, display),
            None => norm((x, y, width, height), size),
        }
    };
    let space = if there.is_some() { Space::Display } else { Space::Viewport };
    let mut cut = Vec::new();
    if collected.more > 0 {
        cut.push(format!("cut: {} elements beyond the limit of {}", collected.more, query.limit));
    }
    if collected.off > 0 {
        cut.push(format!("cut: {} elements out of view; scroll, or ask for the whole page", collected.off));
    }
    if collected.other > 0 {
        cut.push(format!("cut: {} elements that do not mention the query", collected.other));
    }
    if space == Space::Viewport {
        cut.push(
            "bounds are 0-1000 of the page's visible part, since its place on the display is not known"
                .into(),
        );
    }
    let elements = collected
        .elements
        .into_iter()
        .map(|found| WebElement {
            bounds: bounds(&found),
            reference: format!("{prefix}{}", found.id),
            role: found.role,
            name: found.name,
            value: found.value,
            hint: found.hint,
            states: found.states,
            href: found.href,
            options: found.options,
        })
        .collect();
    let About { title, url, .. } = collected.about;
    PageView { tab, title, url, space, elements, dialog: None, cut }
}

/// The part of a text that was asked for.
pub(crate) fn part(text: &str, query: &TextQuery, tab: String, about: About) -> PageText {
    let total = text.chars().count();
    let part: String = text.chars().skip(query.offset).take(query.limit).collect();
    let end = query.offset.saturating_add(query.limit);
    let next = (end < total).then_some(end);
    let About { title, url, .. } = about;
    PageText { tab, title, url, text: part, offset: query.offset, total, next, dialog: None }
}

/// A query as `collect` takes it.
pub(crate) fn wish(query: &PageQuery, limit: u32, next: u64) -> Value {
    json!({
        "next": next,
        "limit": limit,
        "query": query.query,
        "wholePage": query.scope == Scope::Page,
        "everything": query.kind == Kind::All,
    })
}

impl Live {
    /// Collects from the current tab, and where it turns out to be hidden from the one in front; `None` if a
    /// dialog is open.
    async fn collect_front(&mut self, query: &PageQuery) -> Result<(Page, Option<Collected>), DesktopError> {
        let is_there = |tab: &String| self.wire.look(|book| book.targets.contains_key(tab));
        let known = self.outlooks.current().cloned().filter(is_there);
        if let Some(target) = known {
            let page = self.page(&target).await?;
            if self.dialog(&page).is_some() {
                return Ok((page, None));
            }
            let collected = self.collect(&page, query).await?;
            if collected.about.visible {
                return Ok((page, Some(collected)));
            }
        }
        let (page, _) = self.front().await?;
        if self.dialog(&page).is_some() {
            return Ok((page, None));
        }
        let collected = self.collect(&page, query).await?;
        Ok((page, Some(collected)))
    }

    /// The page's elements, with those of frames in other processes.
    pub(crate) async fn collect(
        &mut self,
        page: &Page,
        query: &PageQuery,
    ) -> Result<Collected, DesktopError> {
        let main = self.main_frame(page);
        let mut all = self.collect_frame(page, &main, query, query.limit, Value::Null).await?;
        let mut waiting: Vec<(Frame, InnerFrame)> =
            all.frames.drain(..).rev().map(|inner| (main.clone(), inner)).collect();
        let mut looked = 0;
        while let Some((parent, inner)) = waiting.pop() {
            looked += 1;
            if looked > FRAMES {
                break;
            }
            let Ok(frame) = self.inner_frame(&parent, inner.id).await else { continue };
            let at = json!({
                "at": { "x": inner.x, "y": inner.y, "scale": inner.scale },
                "clip": { "left": inner.left, "top": inner.top, "right": inner.right, "bottom": inner.bottom },
            });
            let limit = query.limit.saturating_sub(u32::try_from(all.elements.len()).unwrap_or(u32::MAX));
            // A frame that is just being replaced is looked at the next time.
            let Ok(more) = self.collect_frame(page, &frame, query, limit, at).await else { continue };
            all.elements.extend(more.elements);
            all.off += more.off;
            all.more += more.more;
            all.other += more.other;
            waiting.extend(more.frames.into_iter().rev().map(|inner| (frame.clone(), inner)));
        }
        Ok(all)
    }

    async fn collect_frame(
        &mut self,
        page: &Page,
        frame: &Frame,
        query: &PageQuery,
        limit: u32,
        at: Value,
    ) -> Result<Collected, DesktopError> {
        let mut ask = wish(query, limit, self.next);
        if let (Some(ask), Value::Object(at)) = (ask.as_object_mut(), at) {
            ask.extend(at);
        }
        let collected: Collected = self.ask(frame, "collect", ask).await?;
        self.next = self.next.max(collected.next);
        for found in &collected.elements {
            let (role, name) = (found.role.clone(), found.name.clone());
            self.remember(found.id, Known { target: page.target.clone(), frame: frame.clone(), role, name });
        }
        Ok(collected)
    }

    /// Where the page is on the screen, measured anew when the window has moved or changed.
    pub(crate) async fn place(&mut self, page: &Page, about: &About) -> Option<PageTransform> {
        if !about.visible {
            return None;
        }
        if let Some((geometry, place)) = self.places.get(&page.target)
            && *geometry == about.geometry
        {
            return *place;
        }
        let (geometry, place) = self.measure(page, about).await.unwrap_or((about.geometry.clone(), None));
        self.places.insert(page.target.clone(), (geometry, place));
        place
    }

    async fn measure(&mut self, page: &Page, about: &About) -> Option<(Vec<f64>, Option<PageTransform>)> {
        let frame = self.main_frame(page);
        let (width, height) = inner_size(&about.geometry);
        // At the edges, where there is least to be touched.
        for (x, y) in [(1.0, height / 2.0), (width - 2.0, height / 2.0 + 1.0)] {
            let at = json!({ "type": "mouseMoved", "x": x, "y": y });
            let sent = self.wire.send(Some(&page.session), "Input.dispatchMouseEvent", at).await.ok()?;
            sent.answer(POINTER).await.ok()?;
        }
        let now: About = self.ask(&frame, "about", json!({})).await.ok()?;
        let place = PageTransform::measured(&now.geometry, &now.pointers);
        Some((now.geometry, place))
    }
}
