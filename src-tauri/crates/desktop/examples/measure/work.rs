//! The pieces of work by their names, each measured from call to answer.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use desktop::{Desktop, ElementQuery, Options, Scope, Shot};
use protocol::geometry::{NormPoint, PixelSize};

use crate::acts::{self, Acts};
use crate::bare::Bare;
use crate::proxies::Proxies;

pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The argument with which this program is its own watchdog, as the app is.
pub const WATCHDOG: &str = "watchdog";
/// More than any window here has.
const ALL: u32 = 100_000;

/// What a piece of work came to.
pub struct Done {
    /// The time of each trial.
    pub ms: Vec<f64>,
    /// Bytes, objects, trials: whatever was made or found.
    pub count: usize,
}

/// What stays open between two pieces of work. The bare ways are opened when they are first used.
pub struct Work {
    desktop: Arc<dyn Desktop>,
    bare: Option<Bare>,
    proxies: Option<Proxies>,
    acts: Acts,
}

impl Work {
    /// The desktop as the app has it.
    pub fn open() -> Result<Self, Failure> {
        let itself = std::env::current_exe()?.into_os_string();
        let itself = itself.into_string().map_err(|name| format!("{} is no text", name.display()))?;
        let options = Options { watchdog: vec![itself, WATCHDOG.into()], ..Options::default() };
        let desktop = desktop::open(options);
        let acts = Acts::open(Arc::clone(&desktop))?;
        Ok(Self { desktop, bare: None, proxies: None, acts })
    }

    pub async fn perform(&mut self, words: &[&str]) -> Result<Done, Failure> {
        let begun = Instant::now();
        let count = match words {
            ["capture"] => self.capture().await?,
            ["capture-bare"] => match &mut self.bare {
                Some(bare) => bare.picture()?.len(),
                none => none.insert(Bare::open()?).picture()?.len(),
            },
            ["elements", app, scope] => self.elements(app, scope).await?,
            ["proxies-one-by-one", app] => self.proxies().await?.one_by_one(app).await?,
            ["proxies-joined", app] => self.proxies().await?.joined(app).await?,
            ["round-trip"] => self.acts.round_trip()?,
            ["move"] => self.acts.move_pointer().await?,
            ["click"] => self.acts.click().await?,
            ["corner", trials] => return acts::corner(trials.parse()?).await,
            ["pictures", count] => {
                let count: usize = count.parse()?;
                for _ in 0..count {
                    self.capture().await?;
                }
                count
            }
            ["snapshots", count, apps @ ..] => {
                let count: usize = count.parse()?;
                for app in apps.iter().cycle().take(count) {
                    self.elements(app, "visible").await?;
                }
                count
            }
            _ => return Err("no such work".into()),
        };
        Ok(Done { ms: vec![begun.elapsed().as_secs_f64() * 1e3], count })
    }

    /// Screen, dot, JPEG, base64; answers the length.
    async fn capture(&mut self) -> Result<usize, Failure> {
        let max = PixelSize { width: u32::MAX, height: u32::MAX };
        let dot = Some(NormPoint::new(400.0, 300.0)?);
        let picture = self.desktop.screenshot(Shot { dot, ..Shot::of_display(0, max, 85) }).await?;
        Ok(black_box(STANDARD.encode(&picture.jpeg)).len())
    }

    async fn elements(&mut self, app: &str, scope: &str) -> Result<usize, Failure> {
        let scope = match scope {
            "interactive" => Scope::Interactive,
            "visible" => Scope::Visible,
            "all" => Scope::All,
            other => return Err(format!("{other:?} is no scope").into()),
        };
        let query = ElementQuery { app: Some(app.into()), scope, limit: ALL, ..ElementQuery::default() };
        let found = self.desktop.elements(query).await?;
        Ok(black_box(found).elements.len())
    }

    async fn proxies(&mut self) -> Result<&Proxies, Failure> {
        match &mut self.proxies {
            Some(proxies) => Ok(proxies),
            none => Ok(none.insert(Proxies::open().await?)),
        }
    }
}
