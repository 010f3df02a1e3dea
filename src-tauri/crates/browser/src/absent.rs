//! No browser: what stands where none was given.

use std::sync::Arc;

use desktop::DesktopError;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::{
    Arrived, Browser, DialogAnswer, Journey, PageQuery, PageText, PageView, Tab, TabChange, TextQuery,
    WebActed, WebClick, WebText,
};

const WHY: &str = "no browser is used in this session";

/// A browser that is not there.
pub fn absent() -> Arc<dyn Browser> {
    Arc::new(Absent)
}

struct Absent;

fn no<T: Send + 'static>() -> BoxFuture<'static, Result<T, DesktopError>> {
    Box::pin(async { Err(DesktopError::NotAvailable(WHY.into())) })
}

impl Browser for Absent {
    fn missing(&self) -> Option<String> {
        Some(WHY.into())
    }
    fn tabs(&self) -> BoxFuture<'_, Result<Vec<Tab>, DesktopError>> {
        no()
    }
    fn change_tab(
        &self,
        _: TabChange,
        _: CancellationToken,
    ) -> BoxFuture<'_, Result<Vec<Tab>, DesktopError>> {
        no()
    }
    fn elements(&self, _: PageQuery) -> BoxFuture<'_, Result<PageView, DesktopError>> {
        no()
    }
    fn read(&self, _: TextQuery) -> BoxFuture<'_, Result<PageText, DesktopError>> {
        no()
    }
    fn click(&self, _: WebClick, _: CancellationToken) -> BoxFuture<'_, Result<WebActed, DesktopError>> {
        no()
    }
    fn type_text(&self, _: WebText, _: CancellationToken) -> BoxFuture<'_, Result<WebActed, DesktopError>> {
        no()
    }
    fn answer(&self, _: DialogAnswer, _: CancellationToken) -> BoxFuture<'_, Result<WebActed, DesktopError>> {
        no()
    }
    fn navigate(&self, _: Journey, _: CancellationToken) -> BoxFuture<'_, Result<Arrived, DesktopError>> {
        no()
    }
}
