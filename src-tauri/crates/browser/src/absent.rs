//! No browser: what stands where none was given.

use std::sync::Arc;

use desktop::DesktopError;
use tokio_util::sync::CancellationToken;

use crate::{
    Arrived, Browser, DialogAnswer, Journey, PageQuery, PageText, PageView, Reply, Tab, TabChange, TextQuery,
    WebActed, WebClick, WebTarget, WebText,
};

const WHY: &str = "no browser is used in this session";

/// A browser that is not there.
pub fn absent() -> Arc<dyn Browser> {
    Arc::new(Absent)
}

struct Absent;

fn no<T: Send + 'static>() -> Reply<'static, T> {
    Box::pin(async { Err(DesktopError::NotAvailable(WHY.into())) })
}

impl Browser for Absent {
    fn missing(&self) -> Option<String> {
        Some(WHY.into())
    }
    fn tabs(&self) -> Reply<'_, Vec<Tab>> {
        no()
    }
    fn change_tab(&self, _: TabChange, _: CancellationToken) -> Reply<'_, Vec<Tab>> {
        no()
    }
    fn elements(&self, _: PageQuery) -> Reply<'_, PageView> {
        no()
    }
    fn read(&self, _: TextQuery) -> Reply<'_, PageText> {
        no()
    }
    fn target(&self, _: Option<String>) -> Reply<'_, WebTarget> {
        no()
    }
    fn click(&self, _: WebClick, _: CancellationToken) -> Reply<'_, WebActed> {
        no()
    }
    fn type_text(&self, _: WebText, _: CancellationToken) -> Reply<'_, WebActed> {
        no()
    }
    fn answer(&self, _: DialogAnswer, _: CancellationToken) -> Reply<'_, WebActed> {
        no()
    }
    fn navigate(&self, _: Journey, _: CancellationToken) -> Reply<'_, Arrived> {
        no()
    }
}
