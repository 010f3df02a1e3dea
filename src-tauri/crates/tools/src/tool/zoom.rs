//! `zoom`: a part of a display at full resolution.

use async_trait::async_trait;
use desktop::{Area, Shot};
use protocol::geometry::NormRect;
use protocol::tool::{Effect, Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::screenshot::{described, plain};
use super::{Ability, Builtin, Context, Env, Group, Outcome, Plan, Task, Verify, bad_arguments, within};
use crate::{TakenPicture, settle};

pub(super) struct Zoom;

/// Takes a picture of a part of a display at full resolution: for what is too small in a screenshot.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(range(min = 0, max = 1000))]
    x: f64,
    #[schemars(range(min = 0, max = 1000))]
    y: f64,
    #[schemars(range(min = 0, max = 1000))]
    width: f64,
    #[schemars(range(min = 0, max = 1000))]
    height: f64,
    #[schemars(range(min = 0, max = 63))]
    display: Option<u32>,
}

impl Builtin for Zoom {
    const NAME: &'static str = "zoom";
    const RISK: Risk = Risk::Observe;
    const GROUP: Group = Group::Screen;
    const ABILITY: Ability = Ability::Screen;
    const VERIFY: Verify = Verify::Own;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let Input { x, y, width, height, display } = input;
        for (field, from, length) in [("x", x, width), ("y", y, height)] {
            within(field, from, 0.0, 1000.0)?;
            let side = if field == "x" { "width" } else { "height" };
            within(side, length, 0.0, 1000.0)?;
            if length == 0.0 || from + length > 1000.0 {
                return Err(bad_arguments(format!(
                    "{field} = {from} with {side} = {length} is not within 0-1000 of the display"
                )));
            }
        }
        let display = super::display(display)?;
        Ok(Plan::new(
            Self::RISK,
            ZoomTask { area: Area::Region { display, rect: NormRect { x, y, width, height } } },
        ))
    }
}

struct ZoomTask {
    area: Area,
}

#[async_trait]
impl Task for ZoomTask {
    async fn run(&self, cx: &Context) -> Outcome {
        match self.look(cx).await {
            Ok(outcome) => outcome,
            Err(error) => Outcome::failed(Zoom::NAME, Effect::Refused, error),
        }
    }
}

impl ZoomTask {
    async fn look(&self, cx: &Context) -> Result<Outcome, ToolError> {
        let shot = Shot { area: self.area.clone(), ..plain(cx) };
        let picture = settle::shoot(cx, shot, cx.limits.timeout).await?;
        let data = described(cx, &picture, &self.area).await?;
        let (width, height) = (picture.size.width, picture.size.height);
        let full = picture.mapping.shows;
        let how = if (full.width, full.height) == (width, height) {
            "at full resolution".to_owned()
        } else {
            format!("scaled down from {}x{}; ask for a smaller part to see more", full.width, full.height)
        };
        let summary = format!("took a picture of a part of the screen, {width}x{height}, {how}");
        Ok(Outcome { picture: Some(TakenPicture::of(picture, None, &[])), ..Outcome::looked(summary, data) })
    }
}
