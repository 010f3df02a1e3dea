//! `screenshot`: a picture of a display or a window, on wish with numbered boxes around the elements.

use async_trait::async_trait;
use desktop::{Area, Element, ElementQuery, Shot, ToldElements, WindowId};
use pictures::{Mark, Picture};
use protocol::geometry::NormRect;
use protocol::tool::{Effect, Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Ability, Builtin, Context, DISPLAY, Env, Group, Outcome, Plan, Task, Verify, bad_arguments, from_desktop,
};
use crate::focus::name_of;
use crate::redaction::redact_marks;
use crate::{TakenPicture, settle, untrusted, withheld};

/// More boxes hide what they mark.
const MOST_MARKS: usize = 120;
/// What only holds other elements; a box around it says nothing.
const HOLDERS: [&str; 21] = [
    "window",
    "frame",
    "dialog",
    "panel",
    "group",
    "grouping",
    "section",
    "form",
    "document",
    "document web",
    "document frame",
    "scroll pane",
    "viewport",
    "split pane",
    "tool bar",
    "menu bar",
    "page tab list",
    "list",
    "table",
    "tree",
    "filler",
];

pub(super) struct Screenshot;

/// Takes a picture of a display, or of one window even where others cover it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Name the same one where you act on what you saw.
    #[schemars(range(min = 0, max = 63))]
    display: Option<u32>,
    /// Its id, in place of a display. `shows`: where it is, in 0-1000 of its display.
    window: Option<u64>,
    /// Boxes with refs around the active application's elements.
    marks: Option<bool>,
}

impl Builtin for Screenshot {
    const NAME: &'static str = "screenshot";
    const RISK: Risk = Risk::Observe;
    const GROUP: Group = Group::Screen;
    const ABILITY: Ability = Ability::Screen;
    const VERIFY: Verify = Verify::Own;
    type Input = Input;

    fn plan(input: Input, env: &Env<'_>) -> Result<Plan, ToolError> {
        let marks = input.marks.unwrap_or(false);
        if marks && input.window.is_some() {
            return Err(bad_arguments("marks are for the picture of a display; leave out window or marks"));
        }
        if marks && !env.available.abilities.elements {
            return Err(bad_arguments("there are no elements to mark here; leave out marks"));
        }
        if input.display.is_some() && input.window.is_some() {
            return Err(bad_arguments("name a display or a window, not both"));
        }
        let display = super::display(input.display)?;
        let area = input.window.map_or(Area::Display(display), |id| Area::Window(WindowId(id)));
        Ok(Plan::new(Self::RISK, Take { area, marks }))
    }
}

struct Take {
    area: Area,
    marks: bool,
}

#[async_trait]
impl Task for Take {
    async fn run(&self, cx: &Context) -> Outcome {
        match self.take(cx).await {
            Ok(outcome) => outcome,
            Err(error) => Outcome::failed(Screenshot::NAME, Effect::Refused, error),
        }
    }
}

impl Take {
    async fn take(&self, cx: &Context) -> Result<Outcome, ToolError> {
        let (marks, named, told) = match &self.area {
            Area::Display(display) if self.marks => {
                let (all, told) = marked(cx, *display).await?;
                let (marks, named): (Vec<_>, Vec<_>) = all.into_iter().unzip();
                (marks, named, vec![told])
            }
            Area::Display(_) | Area::Window(_) | Area::Region { .. } => (Vec::new(), Vec::new(), Vec::new()),
        };
        let shot = Shot { area: self.area.clone(), marks: marks.clone(), ..plain(cx) };
        let thumbnail = match &self.area {
            Area::Display(_) if !self.marks => settle::thumbnail(cx, self.area.clone()).await,
            Area::Display(_) | Area::Window(_) | Area::Region { .. } => None,
        };
        let picture = settle::shoot(cx, shot, cx.limits.timeout).await?;
        let mut data = described(cx, &picture, &self.area).await?;
        if self.marks {
            data["marks"] = named.into();
        }
        let of = match self.area {
            Area::Window(window) => name_of(&*cx.desktop, window).await,
            Area::Display(DISPLAY) | Area::Region { .. } => "the screen".into(),
            Area::Display(display) => format!("display {display}"),
        };
        let with = if self.marks { format!(" with {} marks", marks.len()) } else { String::new() };
        let (width, height) = (picture.size.width, picture.size.height);
        let looked = Outcome::looked(format!("took a picture of {of}, {width}x{height}{with}"), data);
        let taken = TakenPicture::of(picture, None, &marks);
        let taken = match self.area {
            Area::Display(display) => taken.of_display(display, thumbnail),
            Area::Window(_) | Area::Region { .. } => taken,
        };
        Ok(Outcome { picture: Some(taken), told, ..looked })
    }
}

/// A shot of the first display as models get it.
pub(super) fn plain(cx: &Context) -> Shot {
    Shot::of_display(DISPLAY, cx.limits.picture, cx.limits.jpeg_quality)
}

/// Size and place of a picture, for the model.
pub(super) async fn described(cx: &Context, picture: &Picture, area: &Area) -> Result<Value, ToolError> {
    let mut data = json!({ "width": picture.size.width, "height": picture.size.height });
    if let Area::Display(_) = area {
        return Ok(data);
    }
    let shows = picture.mapping.shows;
    let displays = cx.desktop.displays().await.map_err(|error| from_desktop(&error))?;
    let has_most = |rect: NormRect| {
        let along = |from: f64, length: f64| ((from + length).min(1000.0) - from.max(0.0)).max(0.0);
        along(rect.x, rect.width) * along(rect.y, rect.height)
    };
    let places = displays.iter().map(|display| (display.index, shows.to_norm(&display.bounds)));
    let named = match area {
        Area::Region { display, .. } => places.into_iter().find(|(index, _)| index == display),
        Area::Window(_) | Area::Display(_) => {
            places.max_by(|(_, one), (_, other)| has_most(*one).total_cmp(&has_most(*other)))
        }
    };
    if let Some((display, rect)) = named {
        data["display"] = display.into();
        data["shows"] = json!(rect);
    }
    Ok(data)
}

/// Boxes around the elements of the active application that a box says something of, and around the text and the shapes that
/// are seen where it tells none; and what each is.
async fn marked(cx: &Context, display: u32) -> Result<(Vec<(Mark, Value)>, ToldElements), ToolError> {
    let query = ElementQuery {
        limit: cx.limits.ui_nodes,
        display,
        deadline: Some(cx.limits.timeout),
        marks: true,
        ..ElementQuery::default()
    };
    let mut snapshot = cx.desktop.elements(query).await.map_err(|error| from_desktop(&error))?;
    redact_marks(&mut snapshot, &cx.secrets);
    withheld::of_app(&*cx.desktop, &snapshot.app, snapshot.pid)?;
    let snapshot = untrusted::clean_snapshot(snapshot, cx.limits.ui_nodes, cx.limits.data_chars);
    let number = snapshot.number;
    let says_something = |element: &Element| {
        let NormRect { width, height, .. } = element.bounds;
        let seen = element.bounds.center().is_ok() && width > 0.0 && height > 0.0;
        seen && !HOLDERS.contains(&element.role.as_str())
    };
    let elements = snapshot.elements.into_iter().filter(says_something).map(|one| {
        let named = json!({ "ref": one.reference, "role": one.role, "name": one.name });
        (Mark { label: one.reference, bounds: one.bounds }, named)
    });
    let seen = snapshot.marks.into_iter().map(|one| {
        let named = match one.text.as_str() {
            "" => json!({ "ref": one.reference, "looksLike": one.looks_like, "beside": one.beside }),
            text => json!({ "ref": one.reference, "text": text }),
        };
        (Mark { label: one.reference, bounds: one.bounds }, named)
    });
    let all: Vec<_> = elements.chain(seen).take(MOST_MARKS).collect();
    let refs = all.iter().map(|(mark, _)| mark.label.clone()).collect();
    Ok((all, ToldElements { snapshot: number, refs }))
}
