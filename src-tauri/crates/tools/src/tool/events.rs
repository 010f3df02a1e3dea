//! Events of calendars: `listEvents`, `createEvent`, `changeEvent`, `deleteEvent`.

use agenda::{EventId, EventPatch, Moment, NewEvent, Range, RecurrenceId, Scope};
use async_trait::async_trait;
use protocol::tool::{Changed, Effect, Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::calendar::{NOTES_CHARS, TITLE_CHARS};
use super::{
    Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, bad_arguments, calendar, filled,
};
use crate::reach::{Entry, Reach};

const ID_CHARS: usize = 1_000;

fn moment(field: &str, text: &str) -> Result<Moment, ToolError> {
    text.trim().parse().map_err(|error: agenda::NotAMoment| bad_arguments(format!("{field}: {error}")))
}

fn moments(field: &str, text: Option<&String>) -> Result<Option<Moment>, ToolError> {
    text.map(|text| moment(field, text)).transpose()
}

fn bounded(field: &str, text: Option<&String>, most: usize) -> Result<(), ToolError> {
    match text.map(|text| text.chars().count()) {
        Some(length) if length > most => {
            Err(bad_arguments(format!("{field} has {length} characters; at most {most} are taken")))
        }
        Some(_) | None => Ok(()),
    }
}

pub(super) struct ListEvents;

/// Lists what is in the calendars from one day or time until before another: 2026-03-29 or 2026-03-29T10:00:00.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ListInput {
    from: String,
    to: String,
    calendar: Option<String>,
    /// Europe/Berlin; this machine's where it is left out.
    time_zone: Option<String>,
}

impl Builtin for ListEvents {
    const NAME: &'static str = "listEvents";
    const RISK: Risk = Risk::Observe;
    const GROUP: Group = Group::Agenda;
    const NEEDS: Needs = Needs::Network;
    const VERIFY: Verify = Verify::Own;
    type Input = ListInput;

    fn plan(input: ListInput, _: &Env<'_>) -> Result<Plan, ToolError> {
        let (from, to) = (moment("from", &input.from)?, moment("to", &input.to)?);
        let zone = calendar::zone(input.time_zone.as_deref())?;
        let range = Range::between(&from, &to, zone).map_err(|error| calendar::from_agenda(&error))?;
        Ok(Plan::new(Self::RISK, List { range, calendar: input.calendar }))
    }
}

struct List {
    range: Range,
    calendar: Option<String>,
}

#[async_trait]
impl Task for List {
    async fn run(&self, cx: &Context) -> Outcome {
        self.list(cx).await.unwrap_or_else(|error| Outcome::failed(ListEvents::NAME, Effect::Refused, error))
    }
}

impl List {
    async fn list(&self, cx: &Context) -> Result<Outcome, ToolError> {
        let port = calendar::port(cx)?;
        let all = calendar::calendars(&*port.agenda).await?;
        let one = match &self.calendar {
            Some(name) => Some(calendar::meant(&all, Some(name), "", |one| one.holds.events())?),
            None => None,
        };
        let found = port.agenda.events(&self.range, one.map(|one| &one.id)).await;
        let found = found.map_err(|error| calendar::from_agenda(&error))?;
        let events: Vec<_> = found.events.iter().map(|event| calendar::event(event, &all)).collect();
        let names: Vec<_> =
            all.iter().filter(|one| one.holds.events()).map(|one| calendar::named(&all, &one.id)).collect();
        let mut data = json!({ "events": events, "calendars": names });
        if found.left_off > 0 {
            data["leftOff"] = found.left_off.into();
        }
        if !found.unreadable.is_empty() {
            data["unreadable"] = found.unreadable.len().into();
        }
        Ok(Outcome::looked(format!("{} events", events.len()), data))
    }
}

pub(super) struct CreateEvent;

/// Puts an event into a calendar. Whole days: 2026-03-29; times: 2026-03-29T10:00:00.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct CreateInput {
    title: String,
    start: String,
    /// Not part of it any more; an hour later, or a day, where it is left out.
    end: Option<String>,
    /// By its name; the usual one where it is left out.
    calendar: Option<String>,
    time_zone: Option<String>,
    location: Option<String>,
    notes: Option<String>,
    url: Option<String>,
    /// As iCalendar has it: FREQ=WEEKLY;BYDAY=MO
    recurrence: Option<String>,
}

impl Builtin for CreateEvent {
    const NAME: &'static str = "createEvent";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Agenda;
    const NEEDS: Needs = Needs::Network;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = CreateInput;

    fn plan(input: CreateInput, _: &Env<'_>) -> Result<Plan, ToolError> {
        filled("title", &input.title, TITLE_CHARS)?;
        bounded("notes", input.notes.as_ref(), NOTES_CHARS)?;
        let (start, end) = (moment("start", &input.start)?, moments("end", input.end.as_ref())?);
        calendar::zone(input.time_zone.as_deref())?;
        let reach =
            Reach::Calendar { entry: Entry::NewEvent { calendar: input.calendar.clone() }, deletes: false };
        Ok(Plan::new(Self::RISK, Create { input, start, end }).reaching(reach))
    }
}

struct Create {
    input: CreateInput,
    start: Moment,
    end: Option<Moment>,
}

#[async_trait]
impl Task for Create {
    async fn run(&self, cx: &Context) -> Outcome {
        self.create(cx)
            .await
            .unwrap_or_else(|error| Outcome::failed(CreateEvent::NAME, Effect::Refused, error))
    }
}

impl Create {
    async fn create(&self, cx: &Context) -> Result<Outcome, ToolError> {
        let port = calendar::port(cx)?;
        let all = calendar::calendars(&*port.agenda).await?;
        let of =
            calendar::meant(&all, self.input.calendar.as_deref(), &port.usual, |one| one.holds.events())?;
        let input = &self.input;
        let new = NewEvent {
            calendar: of.id.clone(),
            title: input.title.clone(),
            start: self.start.clone(),
            end: self.end.clone(),
            time_zone: if self.start.is_day() { None } else { calendar::zone_name(input.time_zone.clone()) },
            location: input.location.clone(),
            notes: input.notes.clone(),
            url: input.url.clone(),
            recurrence: input.recurrence.clone(),
        };
        cx.begin();
        Ok(match port.agenda.create_event(new).await {
            Ok(made) => {
                let summary = format!(
                    "put {} into {}",
                    calendar::shown(&made.now.title),
                    calendar::named(&all, &of.id)
                );
                let data = calendar::event(&made.now, &all);
                calendar::changed(Changed::Event, summary, &made.now.title, data, &made.undo)
            }
            Err(error) => calendar::failed(CreateEvent::NAME, &error),
        })
    }
}

/// Which of a series; all where it is left out, or where the event does not recur.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Which {
    This,
    Following,
    All,
}

fn scope(which: Option<Which>, occurrence: Option<&String>) -> Result<Scope, ToolError> {
    let occurrence = moments("occurrence", occurrence)?.map(RecurrenceId);
    match (which.unwrap_or(Which::All), occurrence) {
        (Which::All, None) => Ok(Scope::All),
        (Which::All, Some(seen)) => Ok(Scope::AllSeenFrom(seen)),
        (Which::This, Some(one)) => Ok(Scope::This(one)),
        (Which::Following, Some(one)) => Ok(Scope::ThisAndFollowing(one)),
        (Which::This | Which::Following, None) => {
            Err(bad_arguments("occurrence is missing: listEvents tells it of each occurrence of a series"))
        }
    }
}

pub(super) struct ChangeEvent;

/// Changes an event: what is left out stays, an empty text removes. Where it is one of a series, say `which` and its
/// `occurrence`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ChangeInput {
    /// From listEvents.
    id: String,
    version: Option<String>,
    which: Option<Which>,
    occurrence: Option<String>,
    title: Option<String>,
    start: Option<String>,
    end: Option<String>,
    time_zone: Option<String>,
    location: Option<String>,
    notes: Option<String>,
    url: Option<String>,
    recurrence: Option<String>,
}

impl Builtin for ChangeEvent {
    const NAME: &'static str = "changeEvent";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Agenda;
    const NEEDS: Needs = Needs::Network;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = ChangeInput;

    fn plan(input: ChangeInput, _: &Env<'_>) -> Result<Plan, ToolError> {
        filled("id", &input.id, ID_CHARS)?;
        bounded("title", input.title.as_ref(), TITLE_CHARS)?;
        bounded("notes", input.notes.as_ref(), NOTES_CHARS)?;
        let scope = scope(input.which, input.occurrence.as_ref())?;
        calendar::zone(input.time_zone.as_deref())?;
        let patch = EventPatch {
            title: input.title,
            start: moments("start", input.start.as_ref())?,
            end: moments("end", input.end.as_ref())?,
            time_zone: input.time_zone,
            location: input.location,
            notes: input.notes,
            url: input.url,
            recurrence: input.recurrence,
            version: input.version,
        };
        let reach = Reach::Calendar { entry: Entry::Event(input.id.clone()), deletes: false };
        Ok(Plan::new(Self::RISK, Change { id: EventId(input.id), patch, scope }).reaching(reach))
    }
}

struct Change {
    id: EventId,
    patch: EventPatch,
    scope: Scope,
}

#[async_trait]
impl Task for Change {
    async fn run(&self, cx: &Context) -> Outcome {
        let port = match calendar::port(cx) {
            Ok(port) => port,
            Err(error) => return Outcome::failed(ChangeEvent::NAME, Effect::Refused, error),
        };
        cx.begin();
        match port.agenda.change_event(&self.id, self.patch.clone(), self.scope.clone()).await {
            Ok(made) => {
                let all = calendar::calendars(&*port.agenda).await.unwrap_or_default();
                let summary = format!("changed {}", calendar::shown(&made.now.title));
                let data = calendar::event(&made.now, &all);
                calendar::changed(Changed::Event, summary, &made.now.title, data, &made.undo)
            }
            Err(error) => calendar::failed(ChangeEvent::NAME, &error),
        }
    }
}

pub(super) struct DeleteEvent;

/// Deletes an event, or of a series what `which` says.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteInput {
    id: String,
    which: Option<Which>,
    occurrence: Option<String>,
}

impl Builtin for DeleteEvent {
    const NAME: &'static str = "deleteEvent";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Agenda;
    const NEEDS: Needs = Needs::Network;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = DeleteInput;

    fn plan(input: DeleteInput, _: &Env<'_>) -> Result<Plan, ToolError> {
        filled("id", &input.id, ID_CHARS)?;
        let scope = scope(input.which, input.occurrence.as_ref())?;
        let reach = Reach::Calendar { entry: Entry::Event(input.id.clone()), deletes: true };
        Ok(Plan::new(Self::RISK, Delete { id: EventId(input.id), scope }).reaching(reach))
    }
}

struct Delete {
    id: EventId,
    scope: Scope,
}

#[async_trait]
impl Task for Delete {
    async fn run(&self, cx: &Context) -> Outcome {
        let port = match calendar::port(cx) {
            Ok(port) => port,
            Err(error) => return Outcome::failed(DeleteEvent::NAME, Effect::Refused, error),
        };
        let title = match port.agenda.event(&self.id).await {
            Ok(event) => event.title,
            Err(error) => return calendar::failed(DeleteEvent::NAME, &error),
        };
        cx.begin();
        match port.agenda.delete_event(&self.id, self.scope.clone()).await {
            Ok(undo) => {
                let summary = format!("deleted {}", calendar::shown(&title));
                calendar::changed(Changed::Event, summary, &title, serde_json::Value::Null, &undo)
            }
            Err(error) => calendar::failed(DeleteEvent::NAME, &error),
        }
    }
}
