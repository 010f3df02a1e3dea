//! [`Elements`] of Linux: the accessibility tree first, the pointer where it does not do.

use std::time::Duration;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::{LOOK, LinuxDesktop};
use crate::{Deed, DesktopError, ElementQuery, Elements, Operated, Rung, Snapshot, Target};

/// Elements, where the query names no deadline.
const ELEMENTS: Duration = Duration::from_secs(10);

impl Elements for LinuxDesktop {
    fn elements(&self, query: ElementQuery) -> BoxFuture<'_, Result<Snapshot, DesktopError>> {
        Box::pin(async move {
            let limit = query.deadline.unwrap_or(ELEMENTS);
            let display = self.display(query.display).await?;
            let read = self.accessibility.elements(&query, &display);
            tokio::time::timeout(limit, read).await.map_err(|_| DesktopError::Timeout(limit))?
        })
    }

    fn operate(
        &self,
        target: Target,
        deed: Deed,
        _: CancellationToken,
    ) -> BoxFuture<'_, Result<Operated, DesktopError>> {
        Box::pin(async move {
            let (Target::Ref(reference), Deed::Focus) = (target, deed) else {
                return Err(DesktopError::NotAvailable("not yet on this platform".into()));
            };
            let focus = self.accessibility.focus(&reference);
            let acted =
                tokio::time::timeout(LOOK, focus).await.map_err(|_| DesktopError::Timeout(LOOK))??;
            Ok(Operated { acted, called: reference, at: None, by: Rung::Accessibility })
        })
    }

    fn press_menu(
        &self,
        _: Option<String>,
        _: Vec<String>,
        _: CancellationToken,
    ) -> BoxFuture<'_, Result<Operated, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }
}
