//! [`Elements`] of Linux: the accessibility tree first, pointer and keys where it does not do.
//!
//! The ladder: an accessibility call; else the pointer at the middle of what can be seen of the element, once it is
//! certain that the point is on it; for values the keyboard, once the focus is there.

use std::time::Duration;

use futures::future::BoxFuture;
use protocol::geometry::{NormPoint, PhysicalPoint, PhysicalRect};
use protocol::view::DisplayView;
use tokio_util::sync::CancellationToken;

use super::atspi::{ByHand, Choice, Chosen, Hit, Operand, Tried, Visibility, is_on};
use super::ewmh::{self, Client};
use super::scene::Cover;
use super::{LOOK, LinuxDesktop};
use crate::marks::is_mark;
use crate::{
    Acted, Action, ActionMethod, Button, DesktopError, ElementAction, ElementQuery, Elements, Evidence,
    Field, Hands as _, Inside, Key, ListedElement, Operated, Owner, Snapshot, Target, ToldElements,
};

mod choosing;
mod marks;

/// Elements, where the query names no deadline.
const ELEMENTS: Duration = Duration::from_secs(10);
/// An action on an element, with looking for its element.
const ACTING: Duration = Duration::from_secs(25);
/// Turns of the wheel until an element is in view, and notches of one.
const MOST_TURNS: u32 = 60;
const MOST_NOTCHES: i32 = 12;
/// Pixels that a notch moves a pane, at the least.
const NOTCH: i32 = 40;
/// For an element to come to rest, and between two looks at it: more than a frame.
const RESTLESS: Duration = Duration::from_secs(3);
const A_LOOK: Duration = Duration::from_millis(24);
/// For a pane to move after the wheel.
const MOVED: Duration = Duration::from_millis(500);

impl Elements for LinuxDesktop {
    fn elements(&self, query: ElementQuery) -> BoxFuture<'_, Result<Snapshot, DesktopError>> {
        Box::pin(async move {
            let limit = query.deadline.unwrap_or(ELEMENTS);
            let until = tokio::time::Instant::now() + limit;
            let display = self.display(query.display).await?;
            let read = tokio::time::timeout_at(until, self.accessibility.elements(&query, &display)).await;
            let told = read.map_err(|_| DesktopError::Timeout(limit))?;
            if query.marks { self.with_marks(told, &query, &display, until).await } else { told }
        })
    }

    fn told(&self, told: ToldElements) -> BoxFuture<'_, ()> {
        Box::pin(async move { self.accessibility.told(&told) })
    }

    fn listed(&self, reference: String) -> BoxFuture<'_, Option<ListedElement>> {
        Box::pin(async move {
            match self.mark(&reference) {
                Some(mark) => {
                    let (role, name) = mark.seen.named();
                    Some(ListedElement { role, name: name.to_owned(), app: mark.app })
                }
                None => self.accessibility.listed(&reference),
            }
        })
    }

    fn leads_to(&self, reference: String) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move { self.accessibility.leads_to(&reference).await })
    }

    fn inside(&self, reference: String) -> BoxFuture<'_, Inside> {
        Box::pin(async move { self.accessibility.inside(&reference).await })
    }

    fn field(&self) -> BoxFuture<'_, Option<Field>> {
        Box::pin(async move { self.accessibility.focused_field().await })
    }

    fn owner(&self, target: Target) -> BoxFuture<'_, Option<Owner>> {
        Box::pin(async move {
            match &target {
                Target::Ref(reference) if is_mark(reference) => self.owner_of_mark(reference).await,
                _ => self.accessibility.owner(&target).await,
            }
        })
    }

    fn operate(
        &self,
        target: Target,
        action: ElementAction,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Operated, DesktopError>> {
        Box::pin(async move {
            let _kept = self.keep_users_window();
            if let Target::Ref(reference) = &target
                && is_mark(reference)
            {
                return bounded(self.click_mark(reference, &action, &cancel), &cancel).await;
            }
            let work = async {
                let displays = self.capturer.run(LOOK, super::capture::Capturer::displays).await?;
                let first = first(&displays)?;
                let operand = self.accessibility.find(&target, first).await?;
                let (mut acted, by) = self.carry_out(&operand, &action, &displays, &cancel).await?;
                // It may be gone, or its application busy, for all that was done.
                let place = self.accessibility.place(&operand).await.ok().flatten();
                let point = place.as_ref().and_then(Visibility::middle);
                if let (Some(place), Some(point), ActionMethod::Accessibility) = (&place, point, by)
                    && let Ok(Some(cover)) = self.cover_over(&operand, place, point).await
                {
                    acted.note = format!("{}; the window \"{}\" lies over it", acted.note, cover.title);
                }
                let at = point.and_then(|point| norm(point, &first.bounds));
                Ok(Operated { acted, called: operand.called.clone(), at, by })
            };
            bounded(work, &cancel).await
        })
    }

    fn press_menu(
        &self,
        app: Option<String>,
        path: Vec<String>,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Operated, DesktopError>> {
        Box::pin(async move {
            let _kept = self.keep_users_window();
            let mut opened = false;
            let work = self.choose_menu(app.as_deref(), &path, &cancel, &mut opened);
            let result = bounded(work, &cancel).await;
            if result.is_err() && opened {
                // What was opened on the way must not stay over the application.
                let close = Action::Press { key: Key::Escape, times: 1 };
                let _closed = self.act(close, CancellationToken::new()).await;
            }
            let chosen = result?;
            Ok(Operated {
                acted: chosen.acted,
                called: chosen.called,
                at: None,
                by: ActionMethod::Accessibility,
            })
        })
    }
}

/// Ended by its deadline or by cancellation.
async fn bounded<T>(
    work: impl Future<Output = Result<T, DesktopError>>,
    cancel: &CancellationToken,
) -> Result<T, DesktopError> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(DesktopError::Cancelled),
        done = tokio::time::timeout(ACTING, work) => done.map_err(|_| DesktopError::Timeout(ACTING))?,
    }
}

impl LinuxDesktop {
    /// What was opened on the way is said by `opened`.
    async fn choose_menu(
        &self,
        app: Option<&str>,
        path: &[String],
        cancel: &CancellationToken,
        opened: &mut bool,
    ) -> Result<Chosen, DesktopError> {
        let menus = self.accessibility.menus(app).await?;
        self.check_in_reach(&menus.bar()).await?;
        loop {
            match menus.choose(path, opened).await? {
                Choice::Made(chosen) => return Ok(chosen),
                Choice::Closed(menu) => {
                    let displays = self.capturer.run(LOOK, super::capture::Capturer::displays).await?;
                    self.click_on(&menu, Button::Left, 1, &displays, cancel).await?;
                    *opened = true;
                    menus.check_filled(&menu).await?;
                }
            }
        }
    }

    async fn carry_out(
        &self,
        operand: &Operand,
        action: &ElementAction,
        displays: &[DisplayView],
        cancel: &CancellationToken,
    ) -> Result<(Acted, ActionMethod), DesktopError> {
        self.check_in_reach(operand).await?;
        if *action != ElementAction::Focus {
            self.check_uncovered(operand).await?;
        }
        match action {
            ElementAction::Click { button, count } => {
                operand.check_enabled()?;
                if (*button, *count) == (Button::Left, 1)
                    && let Tried::Done(acted) = operand.press().await?
                {
                    return Ok((acted, ActionMethod::Accessibility));
                }
                let signs = operand.signs().await;
                let acted = self.click_on(operand, *button, *count, displays, cancel).await?;
                let acted = match button {
                    Button::Left => operand.after_clicks(acted, *count, &signs).await,
                    Button::Middle | Button::Right => acted,
                };
                Ok((acted, ActionMethod::Input))
            }
            ElementAction::Do(name) => {
                operand.check_enabled()?;
                Ok((operand.perform(name).await?, ActionMethod::Accessibility))
            }
            ElementAction::Focus => {
                let acted = match operand.focus().await? {
                    Tried::Done(acted) => acted,
                    Tried::Not(why) => {
                        Acted { evidence: Evidence::Nothing, note: format!("{why}; click it instead") }
                    }
                };
                Ok((acted, ActionMethod::Accessibility))
            }
            ElementAction::SetValue(value) => {
                operand.check_enabled()?;
                match operand.set_value(value).await? {
                    Tried::Done(acted) => Ok((acted, ActionMethod::Accessibility)),
                    Tried::Not(_) => {
                        Ok((self.set_by_hand(operand, value, displays, cancel).await?, ActionMethod::Input))
                    }
                }
            }
        }
    }

    /// Refuses what is outside the fence, and what a person could not use now: its window is closed or put away, or a
    /// modal dialog stands before it.
    async fn check_in_reach(&self, operand: &Operand) -> Result<(), DesktopError> {
        let Some(owner) = self.accessibility.owner_of(operand).await else {
            self.fence.check_app(&[])?;
            return operand.check_in_reach().await;
        };
        if let Some(users_window) = &self.users_window {
            users_window.operates(owner.pid);
        }
        let clients = self.ewmh.run(LOOK, |ewmh| ewmh.clients()).await?;
        let of_app: Vec<&Client> = clients.iter().filter(|client| client.pid == Some(owner.pid)).collect();
        // Several may have its title.
        let its: Vec<&Client> = of_app
            .iter()
            .filter(|client| !owner.title.is_empty() && client.title == owner.title)
            .copied()
            .collect();
        self.check_fence(&owner.app, if its.is_empty() { &of_app } else { &its }).await?;
        operand.check_in_reach().await?;
        let title = &owner.title;
        let put_away = its.iter().map(|client| client.put_away()).collect::<Option<Vec<_>>>();
        if let Some([why, ..]) = put_away.as_deref() {
            return Err(DesktopError::BadInput(format!(
                "{} is in the window \"{title}\", which {why}; nothing was done",
                operand.called
            )));
        }
        let dialogs = its.iter().map(|client| ewmh::modal_over(client, &clients));
        match dialogs.collect::<Option<Vec<_>>>().as_deref() {
            Some([dialog, ..]) => Err(operand.behind(&format!("dialog \"{}\"", dialog.title))),
            _ => Ok(()),
        }
    }

    /// Refuses what its own application has put something over: a window that belongs to the element's, or what lies over
    /// a page. A person could not use it either. What lies there of another application is said afterwards.
    async fn check_uncovered(&self, operand: &Operand) -> Result<(), DesktopError> {
        let Ok(Some(place)) = self.accessibility.place(operand).await else { return Ok(()) };
        // What is scrolled away can be brought into view.
        let Some(point) = place.middle().filter(|_| place.is_in_view()) else { return Ok(()) };
        if let Ok(Some(cover)) = self.cover_over(operand, &place, point).await {
            let clients = self.ewmh.run(LOOK, |ewmh| ewmh.clients()).await?;
            let its = |client: &&Client| client.title == place.window && client.pid == cover.pid;
            let above = clients.iter().find(|client| client.window == cover.window);
            let belongs = above.is_some_and(|above| {
                clients.iter().filter(its).any(|one| ewmh::is_above(above, one, &clients))
            });
            return if belongs { Err(covered(operand, &cover, &place)) } else { Ok(()) };
        }
        if operand.wall(&place, point).await?.is_none() {
            return Ok(());
        }
        // A page does not tell what cuts a list off: what lies there may be what is below the list.
        let place = match operand.scroll_to().await {
            true => self.moved(operand, &place).await?.unwrap_or(place),
            false => place,
        };
        let Some(point) = place.middle() else { return Ok(()) };
        match operand.wall(&place, point).await? {
            Some(wall) => Err(DesktopError::BadInput(format!(
                "{} is covered by {wall}; close or answer that first; nothing was done",
                operand.called
            ))),
            None => Ok(()),
        }
    }

    /// An application counts by what its windows are called, as for the pointer, and by its own word where it has none.
    async fn check_fence(&self, app: &str, windows: &[&Client]) -> Result<(), DesktopError> {
        self.fence.check_app(&[windows.first().map_or(app, |client| client.app.as_str())])?;
        if self.fence.now().displays.is_empty() {
            return Ok(());
        }
        let displays = self.capturer.run(LOOK, super::capture::Capturer::displays).await?;
        windows
            .iter()
            .try_for_each(|client| self.fence.check_display(ewmh::most_of(&client.rect, &displays) as u32))
    }

    /// The pointer at the element, once it is in view and nothing lies over it.
    async fn click_on(
        &self,
        operand: &Operand,
        button: Button,
        count: u8,
        displays: &[DisplayView],
        cancel: &CancellationToken,
    ) -> Result<Acted, DesktopError> {
        let place = self.bring_into_view(operand, displays, cancel).await?;
        let (display, at) = self.free_point(operand, &place, displays).await?;
        // A list that scrolls gives its rows other things to show.
        operand.check_same().await?;
        self.act(Action::Click { display, at, button, count, held: Vec::new() }, cancel.clone()).await
    }

    /// Scrolls until the element can be seen and stays where it is: by its application, else with the wheel over its
    /// pane.
    async fn bring_into_view(
        &self,
        operand: &Operand,
        displays: &[DisplayView],
        cancel: &CancellationToken,
    ) -> Result<Visibility, DesktopError> {
        let nowhere = || DesktopError::BadInput(format!("{} has no place on the screen", operand.called));
        let mut place = match self.accessibility.place(operand).await? {
            Some(place) => place,
            // Some have a place only once they are in view.
            None => {
                // A list follows the row with the keyboard, also one that loses it again at once.
                if !operand.scroll_to().await {
                    operand.focus().await?;
                }
                self.accessibility.place(operand).await?.ok_or_else(nowhere)?
            }
        };
        place = self.at_rest(operand, place).await?;
        if place.is_in_view() {
            return Ok(place);
        }
        if operand.scroll_to().await
            && let Some(moved) = self.moved(operand, &place).await?
        {
            place = self.at_rest(operand, moved).await?;
        }
        let mut stuck = 0;
        for _ in 0..MOST_TURNS {
            if place.is_in_view() {
                return Ok(place);
            }
            let Some((over, down, right)) = place.pane.and_then(|pane| towards(&place.whole, &pane)) else {
                break;
            };
            let (display, at) = on_display(over, displays)?;
            self.act(Action::Scroll { display, at, down, right, held: Vec::new() }, cancel.clone()).await?;
            match self.moved(operand, &place).await? {
                Some(moved) => (place, stuck) = (self.at_rest(operand, moved).await?, 0),
                // A busy application may take its time.
                None if stuck == 0 => stuck += 1,
                None => break,
            }
        }
        if place.is_in_view() {
            return Ok(place);
        }
        Err(DesktopError::BadInput(format!(
            "{} cannot be scrolled into view; scroll its pane, or open the page or menu that holds it",
            operand.called
        )))
    }

    /// The element's new place, once it has one.
    async fn moved(
        &self,
        operand: &Operand,
        before: &Visibility,
    ) -> Result<Option<Visibility>, DesktopError> {
        let until = tokio::time::Instant::now() + MOVED;
        loop {
            match self.accessibility.place(operand).await? {
                Some(now) if now.whole != before.whole => return Ok(Some(now)),
                Some(_) if tokio::time::Instant::now() < until => {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                Some(_) | None => return Ok(None),
            }
        }
    }

    /// Where the element stays. Lists scroll on for a while after the wheel.
    async fn at_rest(&self, operand: &Operand, mut place: Visibility) -> Result<Visibility, DesktopError> {
        let until = tokio::time::Instant::now() + RESTLESS;
        loop {
            tokio::time::sleep(A_LOOK).await;
            match self.accessibility.place(operand).await? {
                Some(now) if now.whole == place.whole => return Ok(now),
                Some(now) if tokio::time::Instant::now() < until => place = now,
                Some(_) | None => break,
            }
        }
        Err(DesktopError::BadInput(format!(
            "{} does not keep still; nothing was clicked; look again",
            operand.called
        )))
    }

    /// The middle of what can be seen of the element, which no other window and no other element covers.
    async fn free_point(
        &self,
        operand: &Operand,
        place: &Visibility,
        displays: &[DisplayView],
    ) -> Result<(u32, NormPoint), DesktopError> {
        let nowhere = || DesktopError::BadInput(format!("{} has no place on the screen", operand.called));
        let point = place.middle().ok_or_else(nowhere)?;
        if let Some(cover) = self.cover_over(operand, place, point).await? {
            return Err(covered(operand, &cover, place));
        }
        if let Hit::Other(other) = operand.hit(place, point).await? {
            return Err(DesktopError::BadInput(format!("{} is covered by {}", operand.called, other.called)));
        }
        on_display(point, displays)
    }

    /// The window that lies over a point of the element, where that is not its own.
    async fn cover_over(
        &self,
        operand: &Operand,
        place: &Visibility,
        point: PhysicalPoint,
    ) -> Result<Option<Cover>, DesktopError> {
        let cover = self.input.run(LOOK, move |input| input.session.cover_at(point, &input.own)).await?;
        let Some(cover) = cover else {
            return Err(DesktopError::BadInput(format!(
                "{} is not on the screen: it is scrolled away, or its window is minimized or on another workspace",
                operand.called
            )));
        };
        let (pid, titles) = self.accessibility.whereabouts(operand).await;
        let another = match (cover.pid, pid) {
            _ if cover.title == place.window => self.is_twin(&cover, place).await?,
            // The application's own popups have titles that no window of its tree has.
            (Some(theirs), Some(its)) if theirs == its => titles.contains(&cover.title),
            _ => !cover.title.is_empty(),
        };
        Ok((another || cover.ours).then_some(cover))
    }

    /// As a person would: by clicks and keys.
    async fn set_by_hand(
        &self,
        operand: &Operand,
        value: &str,
        displays: &[DisplayView],
        cancel: &CancellationToken,
    ) -> Result<Acted, DesktopError> {
        match operand.by_hand(value) {
            ByHand::Switch => {
                self.click_on(operand, Button::Left, 1, displays, cancel).await?;
                let acted = operand.switched(operand.states).await?;
                let Some(wished) = is_on(value) else { return Ok(acted) };
                let Some(now) = operand.takes_another(wished).await else { return Ok(acted) };
                self.click_on(operand, Button::Left, 1, displays, cancel).await?;
                operand.switched(now).await
            }
            ByHand::Tick => {
                if let Some(already) = operand.ticked_already(value) {
                    return Ok(already);
                }
                let mut place = self.bring_into_view(operand, displays, cancel).await?;
                place.narrow_to_mark();
                let (display, at) = self.free_point(operand, &place, displays).await?;
                operand.check_same().await?;
                let click = Action::Click { display, at, button: Button::Left, count: 1, held: Vec::new() };
                self.act(click, cancel.clone()).await?;
                operand.switched(operand.states).await
            }
            ByHand::Choose => self.choose(operand, value, displays, cancel).await,
            ByHand::Cell if value.contains(['\n', '\t']) => Err(DesktopError::BadInput(format!(
                "{} takes one line without tabs: what comes after would go into the cells beside it; set each by itself",
                operand.called
            ))),
            ByHand::Cell => {
                let before = operand.text_now().await;
                self.click_on(operand, Button::Left, 1, displays, cancel).await?;
                // What is typed goes into the current cell, and a busy sheet comes to a click late or misses it.
                if let Tried::Not(_) = operand.has_focus().await? {
                    self.click_on(operand, Button::Left, 1, displays, cancel).await?;
                    if let Tried::Not(why) = operand.has_focus().await? {
                        let note = format!("{why}; nothing was typed");
                        return Ok(Acted { evidence: Evidence::Mismatch, note });
                    }
                }
                let write = match value {
                    "" => Action::Press { key: Key::Delete, times: 1 },
                    text => Action::Type { text: format!("{text}\n") },
                };
                self.perform(write, cancel).await?;
                let mut acted = operand.typed(value, before).await;
                // What a formula comes to is what is shown of it.
                if acted.evidence == Evidence::Mismatch && value.starts_with('=') {
                    acted.evidence = Evidence::Sent;
                }
                Ok(operand.unless_taken_back(acted, operand.other_text(value)).await)
            }
            ByHand::Parts => self.type_parts(operand, value, displays, cancel).await,
            ByHand::Type => self.type_into(operand, value, displays, cancel).await,
        }
    }

    /// A date or a time, each part of it read back.
    async fn type_parts(
        &self,
        operand: &Operand,
        value: &str,
        displays: &[DisplayView],
        cancel: &CancellationToken,
    ) -> Result<Acted, DesktopError> {
        let parts = operand.parts().await;
        if parts.is_empty() {
            return self.type_into(operand, value, displays, cancel).await;
        }
        let texts = operand.split(&parts, value)?;
        for (part, text) in parts.iter().zip(&texts) {
            self.go_into(part, displays, cancel).await?;
            self.perform(Action::Type { text: text.clone() }, cancel).await?;
            // The next one must not have the focus before this one has all that was typed.
            if !part.comes_to_hold(text).await {
                let note = format!("{} of {} does not hold \"{text}\"", part.called, operand.called);
                return Ok(Acted { evidence: Evidence::Mismatch, note });
            }
        }
        let note = format!("{} holds \"{value}\", read back part by part", operand.called);
        let acted = Acted { evidence: Evidence::ReadBack, note };
        Ok(operand.unless_taken_back(acted, Operand::other_part(&parts, &texts)).await)
    }

    /// Whether a window with the title of the element's is another one: of several, its is the one that lies where the
    /// application says.
    async fn is_twin(&self, cover: &Cover, place: &Visibility) -> Result<bool, DesktopError> {
        let Some(frame) = place.frame else { return Ok(false) };
        let mut clients = self.ewmh.run(LOOK, |ewmh| ewmh.clients()).await?;
        clients.retain(|client| client.title == cover.title);
        let apart = |one: &PhysicalRect| {
            let ends = |rect: &PhysicalRect| {
                (rect.x.saturating_add_unsigned(rect.width), rect.y.saturating_add_unsigned(rect.height))
            };
            let ((right, bottom), (its_right, its_bottom)) = (ends(one), ends(&frame));
            let sides = [(one.x, frame.x), (one.y, frame.y), (right, its_right), (bottom, its_bottom)];
            sides.into_iter().map(|(one, other)| one.abs_diff(other)).sum::<u32>()
        };
        let its = clients.iter().min_by_key(|client| apart(&client.rect));
        Ok(clients.len() > 1 && its.is_some_and(|its| its.window != cover.window))
    }

    /// Gives a field the keyboard: by its application where that does it, else by a click; whether it was clicked. The
    /// keyboard of an agent's own is where its pointer is, whatever the application says.
    async fn go_into(
        &self,
        field: &Operand,
        displays: &[DisplayView],
        cancel: &CancellationToken,
    ) -> Result<bool, DesktopError> {
        if self.users_window.is_none()
            && let Tried::Done(_) = field.focus().await?
        {
            return Ok(false);
        }
        self.click_on(field, Button::Left, 1, displays, cancel).await?;
        if let Some(users_window) = &self.users_window {
            users_window.settled().await;
        }
        Ok(true)
    }

    /// By the keyboard: the focus, everything selected, the text over it; read back where it can be.
    async fn type_into(
        &self,
        operand: &Operand,
        value: &str,
        displays: &[DisplayView],
        cancel: &CancellationToken,
    ) -> Result<Acted, DesktopError> {
        let Some(field) = operand.editor().await else {
            return Err(DesktopError::BadInput(format!(
                "{} holds no value that could be set; click it instead",
                operand.called
            )));
        };
        if self.go_into(&field, displays, cancel).await?
            && let Tried::Not(why) = field.has_focus().await?
        {
            return Ok(Acted { evidence: Evidence::Mismatch, note: format!("{why}; nothing was typed") });
        }
        let before = field.text_now().await;
        let typed = operand.typed_over(before.as_deref(), value);
        for keys in operand.replaces(before.as_deref()) {
            self.act(Action::Hotkey { keys }, cancel.clone()).await?;
        }
        let write = match value {
            "" => Action::Press { key: Key::Delete, times: 1 },
            _ => Action::Type { text: typed },
        };
        self.perform(write, cancel).await?;
        if operand.takes_over_later() {
            // The key that leaves the field enters what it holds, and presses no button.
            self.act(Action::Press { key: Key::Tab, times: 1 }, cancel.clone()).await?;
        }
        let acted = field.typed(value, before).await;
        Ok(field.unless_taken_back(acted, field.other_text(value)).await)
    }
}

fn covered(operand: &Operand, cover: &Cover, place: &Visibility) -> DesktopError {
    let whose = if cover.ours { "one of Miki's own windows" } else { "the window" };
    DesktopError::BadInput(format!(
        "{} is covered by {whose} \"{}\"; bring its own window \"{}\" to the front first",
        operand.called, cover.title, place.window
    ))
}

/// Where to turn the wheel, and how far down and right.
fn towards(element: &PhysicalRect, pane: &PhysicalRect) -> Option<(PhysicalPoint, i32, i32)> {
    let over = PhysicalPoint { x: pane.x + (pane.width / 2) as i32, y: pane.y + (pane.height / 2) as i32 };
    let way = |start: i32, length: u32, from: i32, extent: u32| {
        let after = start.saturating_add_unsigned(length) - from.saturating_add_unsigned(extent);
        let notches = |gap: i32| (gap / NOTCH).clamp(1, MOST_NOTCHES);
        if start < from {
            -notches(from.saturating_sub(start))
        } else if after > 0 {
            notches(after)
        } else {
            0
        }
    };
    match (
        way(element.y, element.height, pane.y, pane.height),
        way(element.x, element.width, pane.x, pane.width),
    ) {
        (0, 0) => None,
        (0, right) => Some((over, 0, right)),
        (down, _) => Some((over, down, 0)),
    }
}

fn first(displays: &[DisplayView]) -> Result<&DisplayView, DesktopError> {
    displays.first().ok_or_else(|| DesktopError::NotFound("a display".into()))
}

/// The display that shows a point, and the point in its 0-1000.
fn on_display(point: PhysicalPoint, displays: &[DisplayView]) -> Result<(u32, NormPoint), DesktopError> {
    displays
        .iter()
        .find_map(|display| Some((display.index, norm(point, &display.bounds)?)))
        .ok_or_else(|| DesktopError::BadInput(format!("pixel {},{} is on no display", point.x, point.y)))
}

/// The middle of the pixel, so that it comes back as the same one.
fn norm(point: PhysicalPoint, display: &PhysicalRect) -> Option<NormPoint> {
    if !display.contains(point) {
        return None;
    }
    let part =
        |at: i32, origin: i32, length: u32| (f64::from(at - origin) + 0.5) * 1000.0 / f64::from(length);
    NormPoint::new(part(point.x, display.x, display.width), part(point.y, display.y, display.height)).ok()
}

#[cfg(test)]
mod tests;
