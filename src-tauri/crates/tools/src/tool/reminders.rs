//! Reminders: `listReminders`, `createReminder`, `changeReminder`, `deleteReminder`.

use agenda::{Due, Moment, NewReminder, ReminderFilter, ReminderId, ReminderPatch, ReminderState};
use async_trait::async_trait;
use protocol::tool::{Changed, Effect, Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::calendar::{NOTES_CHARS, TITLE_CHARS};
use super::{
    Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, bad_arguments, calendar, filled, within,
};
use crate::reach::{Entry, Reach};

const ID_CHARS: usize = 1_000;

fn due(text: &str) -> Result<Moment, ToolError> {
    text.trim().parse().map_err(|error: agenda::NotAMoment| bad_arguments(format!("due: {error}")))
}

pub(super) struct ListReminders;

/// Lists reminders: those that are open, unless `which` says otherwise.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListInput {
    which: Option<Which>,
    list: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Which {
    Open,
    Done,
    All,
}

impl Builtin for ListReminders {
    const NAME: &'static str = "listReminders";
    const RISK: Risk = Risk::Observe;
    const GROUP: Group = Group::Agenda;
    const NEEDS: Needs = Needs::Network;
    const VERIFY: Verify = Verify::Own;
    type Input = ListInput;

    fn plan(input: ListInput, _: &Env<'_>) -> Result<Plan, ToolError> {
        let state = match input.which.unwrap_or(Which::Open) {
            Which::Open => ReminderState::Open,
            Which::Done => ReminderState::Done,
            Which::All => ReminderState::All,
        };
        Ok(Plan::new(Self::RISK, List { state, list: input.list }))
    }
}

struct List {
    state: ReminderState,
    list: Option<String>,
}

#[async_trait]
impl Task for List {
    async fn run(&self, cx: &Context) -> Outcome {
        self.list(cx)
            .await
            .unwrap_or_else(|error| Outcome::failed(ListReminders::NAME, Effect::Refused, error))
    }
}

impl List {
    async fn list(&self, cx: &Context) -> Result<Outcome, ToolError> {
        let port = calendar::port(cx)?;
        let all = calendar::calendars(&*port.agenda).await?;
        let list = match &self.list {
            Some(name) => {
                Some(calendar::meant(&all, Some(name), "", |one| one.holds.reminders())?.id.clone())
            }
            None => None,
        };
        let found = port.agenda.reminders(&ReminderFilter { state: self.state, list }).await;
        let found = found.map_err(|error| calendar::from_agenda(&error))?;
        let reminders: Vec<_> = found.reminders.iter().map(|one| calendar::reminder(one, &all)).collect();
        let lists: Vec<_> = all
            .iter()
            .filter(|one| one.holds.reminders())
            .map(|one| calendar::named(&all, &one.id))
            .collect();
        let mut data = json!({ "reminders": reminders, "lists": lists });
        if found.left_off > 0 {
            data["leftOff"] = found.left_off.into();
        }
        Ok(Outcome::looked(format!("{} reminders", reminders.len()), data))
    }
}

pub(super) struct CreateReminder;

/// Makes a reminder. Due: 2026-03-29 or 2026-03-29T10:00:00.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct CreateInput {
    title: String,
    due: Option<String>,
    list: Option<String>,
    time_zone: Option<String>,
    notes: Option<String>,
    /// 1 (most) to 9 (least).
    #[schemars(range(min = 0, max = 9))]
    priority: Option<u8>,
    recurrence: Option<String>,
}

impl Builtin for CreateReminder {
    const NAME: &'static str = "createReminder";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Agenda;
    const NEEDS: Needs = Needs::Network;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = CreateInput;

    fn plan(input: CreateInput, _: &Env<'_>) -> Result<Plan, ToolError> {
        filled("title", &input.title, TITLE_CHARS)?;
        if let Some(notes) = &input.notes {
            within("the number of characters of notes", notes.chars().count(), 0, NOTES_CHARS)?;
        }
        within("priority", input.priority.unwrap_or(0), 0, 9)?;
        let at = input.due.as_deref().map(due).transpose()?;
        calendar::zone(input.time_zone.as_deref())?;
        let reach =
            Reach::Calendar { entry: Entry::NewReminder { list: input.list.clone() }, deletes: false };
        Ok(Plan::new(Self::RISK, Create { input, at }).reaching(reach))
    }
}

struct Create {
    input: CreateInput,
    at: Option<Moment>,
}

#[async_trait]
impl Task for Create {
    async fn run(&self, cx: &Context) -> Outcome {
        self.create(cx)
            .await
            .unwrap_or_else(|error| Outcome::failed(CreateReminder::NAME, Effect::Refused, error))
    }
}

impl Create {
    async fn create(&self, cx: &Context) -> Result<Outcome, ToolError> {
        let port = calendar::port(cx)?;
        let all = calendar::calendars(&*port.agenda).await?;
        let input = &self.input;
        let list = calendar::meant(&all, input.list.as_deref(), &port.usual, |one| one.holds.reminders())?;
        let is_timed = self.at.as_ref().is_some_and(|at| !at.is_day());
        let new = NewReminder {
            list: list.id.clone(),
            title: input.title.clone(),
            due: self.at.clone(),
            time_zone: if is_timed { calendar::zone_name(input.time_zone.clone()) } else { None },
            notes: input.notes.clone(),
            priority: input.priority.unwrap_or(0),
            recurrence: input.recurrence.clone(),
        };
        cx.begin();
        Ok(match port.agenda.create_reminder(new).await {
            Ok(made) => {
                let summary = format!(
                    "put {} on {}",
                    calendar::shown(&made.now.title),
                    calendar::named(&all, &list.id)
                );
                let data = calendar::reminder(&made.now, &all);
                calendar::changed(Changed::Reminder, summary, &made.now.title, data, &made.undo)
            }
            Err(error) => calendar::failed(CreateReminder::NAME, &error),
        })
    }
}

pub(super) struct ChangeReminder;

/// Changes a reminder, or ticks it off (`done`): what is left out stays, an empty text removes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ChangeInput {
    /// From listReminders.
    id: String,
    version: Option<String>,
    title: Option<String>,
    /// An empty one: no date any more.
    due: Option<String>,
    time_zone: Option<String>,
    notes: Option<String>,
    #[schemars(range(min = 0, max = 9))]
    priority: Option<u8>,
    done: Option<bool>,
}

impl Builtin for ChangeReminder {
    const NAME: &'static str = "changeReminder";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Agenda;
    const NEEDS: Needs = Needs::Network;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = ChangeInput;

    fn plan(input: ChangeInput, _: &Env<'_>) -> Result<Plan, ToolError> {
        filled("id", &input.id, ID_CHARS)?;
        within("priority", input.priority.unwrap_or(0), 0, 9)?;
        calendar::zone(input.time_zone.as_deref())?;
        let at = match input.due.as_deref().map(str::trim) {
            None => None,
            Some("") => Some(Due::Never),
            Some(text) => Some(Due::At(due(text)?)),
        };
        let patch = ReminderPatch {
            title: input.title,
            due: at,
            time_zone: input.time_zone,
            notes: input.notes,
            priority: input.priority,
            done: input.done.filter(|done| !done),
            version: input.version,
        };
        let completes = input.done == Some(true);
        let reach = Reach::Calendar { entry: Entry::Reminder(input.id.clone()), deletes: false };
        Ok(Plan::new(Self::RISK, Change { id: ReminderId(input.id), patch, completes }).reaching(reach))
    }
}

struct Change {
    id: ReminderId,
    patch: ReminderPatch,
    completes: bool,
}

impl Change {
    fn changes_more(&self) -> bool {
        self.patch != ReminderPatch { version: self.patch.version.clone(), ..ReminderPatch::default() }
    }
}

#[async_trait]
impl Task for Change {
    async fn run(&self, cx: &Context) -> Outcome {
        let port = match calendar::port(cx) {
            Ok(port) => port,
            Err(error) => return Outcome::failed(ChangeReminder::NAME, Effect::Refused, error),
        };
        cx.begin();
        let mut outcome = None;
        if self.changes_more() || !self.completes {
            match port.agenda.change_reminder(&self.id, self.patch.clone()).await {
                Ok(made) => outcome = Some(made),
                Err(error) => return calendar::failed(ChangeReminder::NAME, &error),
            }
        }
        let mut undo = outcome.as_ref().map(|made| made.undo.clone()).unwrap_or_default();
        if self.completes {
            match port.agenda.complete_reminder(&self.id).await {
                Ok(made) => {
                    // The newest is taken back first.
                    undo.objects.splice(0..0, made.undo.objects.clone());
                    outcome = Some(made);
                }
                Err(error) => return calendar::failed(ChangeReminder::NAME, &error),
            }
        }
        let Some(made) = outcome else { return Outcome::looked("nothing to change", json!({})) };
        let all = calendar::calendars(&*port.agenda).await.unwrap_or_default();
        let did = if self.completes { "ticked off" } else { "changed" };
        let summary = format!("{did} {}", calendar::shown(&made.now.title));
        let data = calendar::reminder(&made.now, &all);
        calendar::changed(Changed::Reminder, summary, &made.now.title, data, &undo)
    }
}

pub(super) struct DeleteReminder;

/// Deletes a reminder.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteInput {
    id: String,
}

impl Builtin for DeleteReminder {
    const NAME: &'static str = "deleteReminder";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Agenda;
    const NEEDS: Needs = Needs::Network;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = DeleteInput;

    fn plan(input: DeleteInput, _: &Env<'_>) -> Result<Plan, ToolError> {
        filled("id", &input.id, ID_CHARS)?;
        let reach = Reach::Calendar { entry: Entry::Reminder(input.id.clone()), deletes: true };
        Ok(Plan::new(Self::RISK, Delete { id: ReminderId(input.id) }).reaching(reach))
    }
}

struct Delete {
    id: ReminderId,
}

#[async_trait]
impl Task for Delete {
    async fn run(&self, cx: &Context) -> Outcome {
        let port = match calendar::port(cx) {
            Ok(port) => port,
            Err(error) => return Outcome::failed(DeleteReminder::NAME, Effect::Refused, error),
        };
        let title = match port.agenda.reminder(&self.id).await {
            Ok(reminder) => reminder.title,
            Err(error) => return calendar::failed(DeleteReminder::NAME, &error),
        };
        cx.begin();
        match port.agenda.delete_reminder(&self.id).await {
            Ok(undo) => {
                let summary = format!("deleted {}", calendar::shown(&title));
                calendar::changed(Changed::Reminder, summary, &title, serde_json::Value::Null, &undo)
            }
            Err(error) => calendar::failed(DeleteReminder::NAME, &error),
        }
    }
}
