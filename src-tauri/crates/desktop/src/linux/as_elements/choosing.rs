//! One of several by hand: the list is opened, and its item clicked, as soon as it is on the screen.

use std::time::Duration;

use protocol::view::DisplayView;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{LinuxDesktop, Operand, Tried, first};
use crate::{Acted, Action, Button, DesktopError, Evidence, Hands as _, Key};

/// For a list to open, and between two looks at it.
const OPENING: Duration = Duration::from_secs(4);
const A_LOOK: Duration = Duration::from_millis(25);

impl LinuxDesktop {
    /// # Errors
    /// `BadInput` names the items there are.
    pub(super) async fn choose(
        &self,
        operand: &Operand,
        value: &str,
        displays: &[DisplayView],
        cancel: &CancellationToken,
    ) -> Result<Acted, DesktopError> {
        if operand.shows(value).await {
            let note = format!("{} shows \"{value}\" already", operand.called);
            return Ok(Acted { evidence: Evidence::ReadBack, note });
        }
        if self.item_on_screen(operand, value, first(displays)?).await?.is_none() {
            self.open_list(operand, value, displays, cancel).await?;
        }
        let Some(item) = self.item_on_screen(operand, value, first(displays)?).await? else {
            // No Escape here: a list that has not opened leaves it to its dialog, which would close.
            return Err(DesktopError::Failed(format!(
                "{} was to be opened, and does not tell where its items are, so none is chosen; look at a screenshot, and \
                 click the item",
                operand.called
            )));
        };
        self.click_on(&item, Button::Left, 1, displays, cancel).await?;
        let clicked = |word: &str| format!("{} was clicked; {} {word} it", item.called, operand.called);
        if operand.comes_to_show(value).await {
            return Ok(operand.chosen(value, clicked("shows")).await);
        }
        Ok(Acted { evidence: Evidence::Sent, note: clicked("does not tell whether it shows") })
    }

    /// By its own action where it has one, else by a click.
    async fn open_list(
        &self,
        operand: &Operand,
        value: &str,
        displays: &[DisplayView],
        cancel: &CancellationToken,
    ) -> Result<(), DesktopError> {
        let until = Instant::now() + OPENING;
        if operand.lists_apart() || matches!(operand.open().await?, Tried::Not(_)) {
            self.click_on(operand, Button::Left, 1, displays, cancel).await?;
        }
        loop {
            match self.item_on_screen(operand, value, first(displays)?).await {
                Ok(None) if Instant::now() < until => tokio::time::sleep(A_LOOK).await,
                Ok(_) => return Ok(()),
                // Some have their items only while they are open: there is none of this name.
                Err(error) => {
                    self.act(Action::Press { key: Key::Escape, times: 1 }, cancel.clone()).await?;
                    return Err(error);
                }
            }
        }
    }

    /// The item, once it has a place.
    async fn item_on_screen(
        &self,
        operand: &Operand,
        value: &str,
        display: &DisplayView,
    ) -> Result<Option<Operand>, DesktopError> {
        let Some(item) = operand.item_named(value).await? else { return Ok(None) };
        if operand.lists_apart() {
            return Ok(self.item_apart(&item, display).await);
        }
        let place = self.accessibility.place(&item).await?;
        Ok(place.is_some_and(|place| place.pane.is_some() || place.seen.is_some()).then_some(item))
    }

    /// The same item in the window of the open list.
    async fn item_apart(&self, item: &Operand, display: &DisplayView) -> Option<Operand> {
        let found = self.accessibility.shown_again(item, display).await?;
        let place = self.accessibility.place(&found).await.ok()??;
        place.seen.is_some().then_some(found)
    }
}
