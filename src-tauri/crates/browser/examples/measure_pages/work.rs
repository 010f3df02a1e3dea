//! Both ways of looking at the page in front, each measured from call to answer.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use browser::{Browser, Kind, Options, PageQuery, Scope};

use crate::bare::Page;

pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// More than any page here has.
const ALL: u32 = 100_000;

/// What stays open between two looks. The bare way is opened when it is first used.
pub struct Work {
    browser: Arc<dyn Browser>,
    port: u16,
    page: Option<Page>,
}

impl Work {
    /// The browser with this debugging port, as the app has it.
    pub fn open(port: u16) -> Self {
        let desktop = desktop::open(desktop::Options::default());
        let options = Options { port: Some(port), ..Options::default() };
        Self { browser: browser::open(options, desktop), port, page: None }
    }

    /// Milliseconds, and how many elements were found.
    pub async fn perform(&mut self, work: &str) -> Result<(f64, usize), Failure> {
        let begun = Instant::now();
        let count = match work {
            "page" => self.look().await?,
            "page-bare" => match &mut self.page {
                Some(page) => page.evaluate().await?,
                none => none.insert(Page::attach(self.port).await?).evaluate().await?,
            },
            _ => return Err("no such work".into()),
        };
        Ok((begun.elapsed().as_secs_f64() * 1e3, count))
    }

    async fn look(&self) -> Result<usize, Failure> {
        let query =
            PageQuery { query: None, scope: Scope::View, kind: Kind::Interactive, limit: ALL, display: 0 };
        Ok(black_box(self.browser.elements(query).await?).elements.len())
    }
}
