//! `readText`: the lines of text in the display's pixels (OCR).

use std::time::Duration;

use async_trait::async_trait;
use desktop::Area;
use ocr::{TextLine, TextRead, Unread};
use protocol::geometry::NormRect;
use protocol::tool::{Effect, Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Ability, Builtin, Context, Env, Group, Outcome, Plan, Task, Verify, bad_arguments, display, filled,
    within,
};
use crate::redaction::redact_read;
use crate::{untrusted, withheld};

const MOST_CHARS: usize = 200;
/// A first look at a full display on a slow machine, on top of the timeout. The desktop answers what it has before.
const TAKES: Duration = Duration::from_secs(40);

pub(super) struct ReadText;

/// Reads the text in the display's pixels, English and Japanese: its lines with bounds in 0-1000, so that they can be
/// clicked. For what elementsJson does not list, such as pictures, games and remote desktops.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Only this part of the display, in 0-1000: faster.
    region: Option<Region>,
    /// Only lines that contain this; case and spaces do not count.
    #[schemars(length(max = 200))]
    query: Option<String>,
    /// 0 if left out.
    #[schemars(range(min = 0, max = 63))]
    display: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Region {
    #[schemars(range(min = 0, max = 1000))]
    x: f64,
    #[schemars(range(min = 0, max = 1000))]
    y: f64,
    #[schemars(range(min = 0, max = 1000))]
    width: f64,
    #[schemars(range(min = 0, max = 1000))]
    height: f64,
}

impl Builtin for ReadText {
    const NAME: &'static str = "readText";
    const RISK: Risk = Risk::Observe;
    const GROUP: Group = Group::Ocr;
    const ABILITY: Ability = Ability::Ocr;
    const VERIFY: Verify = Verify::Own;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        // Models fill optional fields with "" where they mean nothing.
        let query = input.query.filter(|text| !text.is_empty());
        if let Some(text) = &query {
            filled("query", text, MOST_CHARS)?;
        }
        let display = display(input.display)?;
        let area = match input.region {
            Some(region) => Area::Region { display, rect: on_display(&region)? },
            None => Area::Display(display),
        };
        Ok(Plan::new(Self::RISK, Read { area, query }).taking(TAKES))
    }
}

fn on_display(region: &Region) -> Result<NormRect, ToolError> {
    let &Region { x, y, width, height } = region;
    for (field, value) in
        [("region.x", x), ("region.y", y), ("region.width", width), ("region.height", height)]
    {
        within(field, value, 0.0, 1000.0)?;
    }
    if width <= 0.0 || height <= 0.0 {
        return Err(bad_arguments("region.width and region.height must be above 0"));
    }
    within("region.x + region.width", x + width, 0.0, 1000.0)?;
    within("region.y + region.height", y + height, 0.0, 1000.0)?;
    Ok(NormRect { x, y, width, height })
}

struct Read {
    area: Area,
    query: Option<String>,
}

#[async_trait]
impl Task for Read {
    async fn run(&self, cx: &Context) -> Outcome {
        let windows = withheld::windows(&*cx.desktop).await;
        let seen = windows.and_then(|windows| withheld::in_view(&*cx.desktop, &windows, &self.area));
        if let Err(error) = seen {
            return Outcome::failed(ReadText::NAME, Effect::Refused, error);
        }
        let TextRead { mut lines, unread } = match cx.desktop.read_text(self.area.clone()).await {
            Ok(read) => read,
            Err(error) => return Outcome::failed_looking(ReadText::NAME, &error),
        };
        // As told, a value that was read with a sign taken for another would give itself away.
        redact_read(lines.iter_mut().map(|line| &mut line.text), &cx.secrets);
        if let Some(query) = self.query.as_deref().map(folded) {
            lines.retain(|line| folded(&line.text).contains(&query));
        }
        let count = lines.len();
        let most = usize::try_from(cx.limits.ui_nodes).unwrap_or(usize::MAX);
        lines.truncate(most);
        let shown: Vec<Value> = lines.iter().map(told).collect();
        let mut data = json!({ "lines": shown });
        if count > most {
            data["cut"] =
                format!("{} of {count} lines; ask with region or query for fewer", count - most).into();
        }
        let words = if count == 1 { "line" } else { "lines" };
        let mut summary = format!("read {count} {words} of text");
        if let Some(unread) = unread.as_ref().map(left) {
            summary = format!("{summary}; {unread}");
            data["unread"] = format!("{unread}; call readText again: it goes on from here").into();
        }
        Outcome::looked(summary, data)
    }
}

/// What there was no time for.
fn left(unread: &Unread) -> String {
    let Unread { lines, percent } = unread;
    match (lines, percent) {
        (lines, 0) => format!("time ran out: {lines} more are not read yet"),
        (0, percent) => format!("time ran out: {percent}% of the area is not looked at yet"),
        (lines, percent) => {
            format!(
                "time ran out: {lines} more are not read yet, and {percent}% of the area is not looked at yet"
            )
        }
    }
}

fn told(line: &TextLine) -> Value {
    let mut told = json!({ "text": untrusted::line(&line.text, MOST_CHARS), "bounds": line.bounds });
    if line.confidence < 0.8 {
        told["confidence"] = ((f64::from(line.confidence) * 100.0).round() / 100.0).into();
    }
    told
}

/// A reader of pixels sees spaces where there are none, and the other way round.
fn folded(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}
