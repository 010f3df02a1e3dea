//! Which pictures each model takes: the largest, and the best size.
//!
//! `data/pictures.json`, by families of models, each with the source of its numbers. A model that is in none gets the
//! first one: small enough for all.

use std::sync::LazyLock;

use protocol::geometry::{PictureBudget, PixelSize};
use protocol::ids::ModelId;
use serde::Deserialize;

use crate::families;

/// Models that take pictures alike.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Family {
    pub name: String,
    /// Beginnings of `PROVIDER/NAME`, with `-` for each point. The longest that fits, of all families, decides.
    starts: Vec<String>,
    /// Where the numbers are from.
    pub source: String,
    /// The largest picture that is neither made smaller by the provider nor refused.
    limit: Bounds,
    /// The size of our pictures of the screen: seen well at the least cost.
    best: Bounds,
    /// The most bytes of one picture, before base64.
    pub bytes: usize,
    /// The most pictures in one request.
    pub per_request: usize,
    /// The value of `detail` on OpenAI's wires. `None` for the wire's usual one.
    pub(crate) detail: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Bounds {
    longest: u32,
    #[serde(default = "any")]
    shorter: u32,
    #[serde(default = "one")]
    square: u32,
    #[serde(default = "any")]
    squares: u32,
}

fn any() -> u32 {
    u32::MAX
}

fn one() -> u32 {
    1
}

static FAMILIES: LazyLock<Vec<Family>> =
    LazyLock::new(|| families::read(include_str!("../data/pictures.json")));

/// The family of a model, or the first one if it is in none. Models behind OpenRouter are looked up under their own
/// vendor.
pub fn family(model: &ModelId) -> &'static Family {
    let id = families::id_of(&model.0);
    families::best(&FAMILIES, |family| &family.starts, &id).unwrap_or(&FAMILIES[0])
}

impl Family {
    /// The size to make pictures of.
    pub fn best(&self) -> PictureBudget {
        self.best.budget()
    }

    /// The largest size that is not made smaller.
    pub fn limit(&self) -> PictureBudget {
        self.limit.budget()
    }
}

impl Bounds {
    fn budget(self) -> PictureBudget {
        let Self { longest, shorter, square, squares } = self;
        PictureBudget { within: PixelSize { width: longest, height: longest }, shorter, square, squares }
    }
}

#[cfg(test)]
mod tests;
