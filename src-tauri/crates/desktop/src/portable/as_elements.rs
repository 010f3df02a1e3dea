//! [`Elements`] of macOS and Windows: the accessibility interface first, pointer and keys where it does not do.

use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::facade::{Facade, LOOK};
use super::platform::Platform;
use super::reader::{Aim, Reader, Tried};
use crate::{
    Acted, Action, ActionMethod, Button, DesktopError, ElementAction, ElementQuery, Elements, Hands as _,
    Key, ListedElement, Operated, Snapshot, Target, ToldElements,
};

/// Elements, where the query names no deadline.
const ELEMENTS: Duration = Duration::from_secs(10);

impl<P: Platform> Facade<P> {
    /// At the element, with pointer and keys.
    async fn by_input(
        &self,
        aim: &Aim,
        action: ElementAction,
        cancel: &CancellationToken,
    ) -> Result<Acted, DesktopError> {
        let click = |button, count| Action::Click {
            display: aim.display,
            at: aim.at,
            button,
            count,
            held: Vec::new(),
        };
        match action {
            ElementAction::Click { button, count } => self.perform(click(button, count), cancel).await,
            ElementAction::Focus => self.perform(click(Button::Left, 1), cancel).await,
            ElementAction::SetValue(text) => {
                self.perform(click(Button::Left, 1), cancel).await?;
                let all = Action::Hotkey { keys: vec![Key::Cmd, Key::Char('a')] };
                self.perform(all, cancel).await?;
                if text.is_empty() {
                    return self.perform(Action::Press { key: Key::Delete, times: 1 }, cancel).await;
                }
                self.act(Action::Type { text }, cancel.clone()).await
            }
            ElementAction::Do(action) => Err(DesktopError::NotAvailable(format!(
                "{} can do \"{action}\" by an accessibility action only",
                aim.called
            ))),
        }
    }
}

impl<P: Platform> Elements for Facade<P> {
    fn elements(&self, query: ElementQuery) -> BoxFuture<'_, Result<Snapshot, DesktopError>> {
        Box::pin(async move {
            let limit = query.deadline.unwrap_or(ELEMENTS);
            let sight = self.sight().await?;
            self.tree
                .run(limit, move |reader| {
                    // Leaves time to hand over what was read.
                    reader.elements(&sight, &query, Instant::now() + limit.mul_f32(0.8))
                })
                .await
        })
    }

    fn told(&self, told: ToldElements) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let work = move |reader: &mut Reader<P::Tree>| {
                reader.told(&told);
                Ok(())
            };
            if let Err(error) = self.tree.run(LOOK, work).await {
                tracing::warn!(%error, "what an agent was told of elements is not known");
            }
        })
    }

    fn listed(&self, reference: String) -> BoxFuture<'_, Option<ListedElement>> {
        Box::pin(async move {
            self.tree.run(LOOK, move |reader| Ok(reader.listed(&reference))).await.ok().flatten()
        })
    }

    fn operate(
        &self,
        target: Target,
        action: ElementAction,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Operated, DesktopError>> {
        Box::pin(async move {
            let sight = self.sight().await?;
            let wish = action.clone();
            let work = self.tree.run(LOOK, move |reader| reader.operate(&sight, &target, &wish));
            let tried = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(DesktopError::Cancelled),
                tried = work => tried?,
            };
            match tried {
                Tried::Done(operated) => Ok(operated),
                Tried::Left(aim) => {
                    let acted = self.by_input(&aim, action, &cancel).await?;
                    Ok(Operated { acted, called: aim.called, at: Some(aim.at), by: ActionMethod::Input })
                }
            }
        })
    }

    fn press_menu(
        &self,
        app: Option<String>,
        path: Vec<String>,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Operated, DesktopError>> {
        Box::pin(async move {
            let sight = self.sight().await?;
            let work = self.tree.run(LOOK, move |reader| reader.press_menu(&sight, app.as_deref(), &path));
            tokio::select! {
                biased;
                () = cancel.cancelled() => Err(DesktopError::Cancelled),
                chosen = work => chosen,
            }
        })
    }
}
