//! Which pictures each model takes: the largest, and the best size; and what one weighs in its prompt.
//!
//! `data/pictures.json`, by families of models, each with the source of its numbers. A model that is in none gets the
//! first one: small enough for all.

use std::sync::LazyLock;

use protocol::geometry::{PictureBudget, PixelSize};
use protocol::ids::ModelId;
use serde::Deserialize;

use crate::{Detail, Image, families};

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
    tokens: Formula,
}

/// What a picture weighs: so many tokens, and for each square of so many pixels a side that it begins. Where a part of the
/// screen may be read at less, what it then weighs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Formula {
    #[serde(default)]
    base: u64,
    #[serde(default = "one")]
    square: u32,
    #[serde(default)]
    each: f64,
    half: Option<u64>,
    quarter: Option<u64>,
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

    /// Tokens of a picture of this size, by the provider's own formula.
    pub fn tokens(&self, size: PixelSize, detail: Detail) -> u64 {
        let Formula { base, square, each, half, quarter } = self.tokens;
        let read_at_less = match detail {
            Detail::Whole => None,
            Detail::Half => half,
            Detail::Quarter => quarter,
        };
        if let Some(tokens) = read_at_less {
            return tokens;
        }
        let seen = self.limit().fit(size);
        let along = |side: u32| u64::from(side.div_ceil(square.max(1)));
        base + ((along(seen.width) * along(seen.height)) as f64 * each).ceil() as u64
    }

    /// The same of a picture as it is sent; as of the largest, where its size cannot be read.
    pub fn tokens_of(&self, image: &Image) -> u64 {
        let limit = self.limit().within;
        let size = size_of(&image.bytes).unwrap_or(PixelSize { width: limit.width, height: limit.width });
        self.tokens(size, image.detail)
    }

    /// Whether it reads a part of the screen at less, where it is told so.
    pub(crate) fn reads_parts_at_less(&self) -> bool {
        self.tokens.quarter.is_some()
    }
}

/// The size in the header of a JPEG or PNG; `None` if it is neither.
pub fn size_of(bytes: &[u8]) -> Option<PixelSize> {
    let long = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let short = |at: usize| Some(u32::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    if bytes.starts_with(b"\x89PNG") {
        return Some(PixelSize { width: long(16)?, height: long(20)? });
    }
    // Segments of a JPEG, each with its length, up to the one that begins the frame.
    let mut at = bytes.starts_with(&[0xff, 0xd8]).then_some(2)?;
    loop {
        let marker = (*bytes.get(at)? == 0xff).then(|| bytes.get(at + 1).copied())??;
        let begins_frame = (0xc0..=0xcf).contains(&marker) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        if begins_frame {
            return Some(PixelSize { height: short(at + 5)?, width: short(at + 7)? });
        }
        at += 2 + short(at + 2)? as usize;
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
