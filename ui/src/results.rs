//! What a search of the web or of files found and what calendars hold, read out of a step's outcome for its card. Titles and texts are others'
//! words: they are shown, and lead nowhere.

use fold::transcript::{Stage, Step};
use protocol::citation::Citation;
use serde_json::Value;

/// Items that a card draws.
pub const SHOWN: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Results {
    /// Of a search of the web.
    Hits(Vec<Hit>),
    /// Of a search of files: which they are, each with its lines.
    Files(Vec<Found>),
    /// Events and reminders.
    Entries(Vec<Entry>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    pub title: String,
    /// `None` for an address that leads to no page.
    pub host: Option<String>,
    pub address: String,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub path: String,
    /// With their numbers, as the tool tells them; empty if it looked for names alone.
    pub lines: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub title: String,
    /// Its calendar, or the list it is on.
    pub calendar: String,
    /// When it begins, or is due.
    pub when: Option<When>,
    /// When it ends.
    pub until: Option<When>,
    pub state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Event,
    Cancelled,
    Open,
    Done,
}

/// As calendars write times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// A whole day, wherever one is: `2026-03-29`.
    Day(String),
    /// A time on the wall, wherever one is: `2026-03-29T10:00:00`.
    Wall(String),
    /// A point in time, as ISO 8601 has it, with its offset.
    Instant(String),
}

/// What a step's card lists; `None` if it lists nothing.
pub fn results(step: &Step) -> Option<Results> {
    let Stage::Done { result } = &step.stage else { return None };
    let data = &result.data;
    let list = |name: &str| data.get(name)?.as_array();
    match step.call.tool.as_str() {
        "webSearch" => Some(Results::Hits(list("results")?.iter().filter_map(hit).collect())),
        "searchFiles" | "listFiles" => {
            Some(Results::Files(list("files")?.iter().filter_map(found).collect()))
        }
        "listEvents" => Some(Results::Entries(list("events")?.iter().filter_map(event).collect())),
        "createEvent" | "changeEvent" => Some(Results::Entries(vec![event(data)?])),
        "listReminders" => Some(Results::Entries(list("reminders")?.iter().filter_map(reminder).collect())),
        "createReminder" | "changeReminder" => Some(Results::Entries(vec![reminder(data)?])),
        _ => None,
    }
}

fn text(of: &Value, name: &str) -> Option<String> {
    of.get(name)?.as_str().map(str::to_owned)
}

fn hit(of: &Value) -> Option<Hit> {
    let (title, address) = (text(of, "title")?, text(of, "url")?);
    let page = Citation::new(&address, &title);
    let host = page.as_ref().and_then(Citation::host).map(str::to_owned);
    Some(Hit { title, host, address, text: text(of, "text").unwrap_or_default() })
}

fn found(of: &Value) -> Option<Found> {
    if let Some(path) = of.as_str() {
        return Some(Found { path: path.to_owned(), lines: Vec::new() });
    }
    let lines = of.get("lines")?.as_array()?.iter().filter_map(|line| line.as_str().map(str::to_owned));
    Some(Found { path: text(of, "path")?, lines: lines.collect() })
}

fn event(of: &Value) -> Option<Entry> {
    let is = |name: &str| of.get(name).and_then(Value::as_bool) == Some(true);
    let when = text(of, "start").as_deref().map(When::read);
    // A whole day's end is the next one, which is no part of it.
    let until = text(of, "end").as_deref().map(When::read).filter(|until| !matches!(until, When::Day(_)));
    let state = if is("cancelled") { State::Cancelled } else { State::Event };
    Some(Entry {
        title: text(of, "title")?,
        calendar: text(of, "calendar").unwrap_or_default(),
        when,
        until,
        state,
    })
}

fn reminder(of: &Value) -> Option<Entry> {
    let is_done = of.get("done").and_then(Value::as_bool)?;
    Some(Entry {
        title: text(of, "title")?,
        calendar: text(of, "list").unwrap_or_default(),
        when: text(of, "due").as_deref().map(When::read),
        until: None,
        state: if is_done { State::Done } else { State::Open },
    })
}

impl When {
    fn read(text: &str) -> Self {
        // A zone's name stands behind its offset.
        let bare = text.split('[').next().unwrap_or_default();
        match bare.split_once('T') {
            None => Self::Day(bare.to_owned()),
            Some((_, clock)) if clock.contains(['Z', '+', '-']) => Self::Instant(bare.to_owned()),
            Some(_) => Self::Wall(bare.to_owned()),
        }
    }

    /// As JavaScript reads it; what has no zone is read as if it were in UTC, and told so, too.
    pub fn iso(&self) -> String {
        match self {
            Self::Day(day) => format!("{day}T00:00:00Z"),
            Self::Wall(time) => format!("{time}Z"),
            Self::Instant(time) => time.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::ids::CallId;
    use protocol::tool::{Effect, ExecResult, Millis, ToolCall};
    use serde_json::json;

    fn of(tool: &str, data: Value) -> Option<Results> {
        let call = ToolCall { id: CallId("c-1".into()), tool: tool.into(), arguments: json!({}) };
        let result = ExecResult {
            effect: Effect::Confirmed,
            summary: String::new(),
            data,
            error: None,
            picture: None,
            read: Vec::new(),
            changes: Vec::new(),
            output: Vec::new(),
            took: Millis(1),
        };
        results(&Step::of(call, Stage::Done { result: Box::new(result) }))
    }

    #[test]
    fn a_search_is_listed_by_title_host_and_text_and_no_address_is_trusted_for_its_looks() {
        let found = json!({"results": [
            {"title": "Haiku", "url": "https://example.org/haiku", "text": "Five, seven, five."},
            {"title": "Bank", "url": "https://bank.example@evil.example/x", "text": ""},
            {"title": "Odd", "url": "javascript:alert(1)", "text": ""},
            {"url": "https://no.title"},
        ]});
        let Some(Results::Hits(hits)) = of("webSearch", found) else { panic!("no hits") };
        let hosts: Vec<_> = hits.iter().map(|hit| (hit.title.as_str(), hit.host.as_deref())).collect();
        assert_eq!(hosts, [("Haiku", Some("example.org")), ("Bank", Some("evil.example")), ("Odd", None)]);
        assert_eq!(hits[0].text, "Five, seven, five.");
    }

    #[test]
    fn a_search_of_files_is_listed_by_path_and_line_and_a_folder_s_entries_are_no_search() {
        let found = json!({"path": ".", "files": [{"path": "a/b.txt", "lines": ["3: total 4", "4- rest"]}]});
        let lines = vec!["3: total 4".to_owned(), "4- rest".to_owned()];
        let listed = Results::Files(vec![Found { path: "a/b.txt".into(), lines }]);
        assert_eq!(of("searchFiles", found), Some(listed));
        let named = of("listFiles", json!({"path": ".", "files": ["c.txt"], "more": false}));
        assert_eq!(named, Some(Results::Files(vec![Found { path: "c.txt".into(), lines: Vec::new() }])));
        assert_eq!(of("searchFiles", json!({"path": ".", "files": []})), Some(Results::Files(Vec::new())));
        assert_eq!(of("listFiles", json!({"path": ".", "entries": ["folder/"]})), None);
    }

    #[test]
    fn events_and_reminders_are_listed_with_their_times_as_calendars_mean_them() {
        let events = json!({"events": [
            {"title": "Tax", "calendar": "Home", "start": "2026-03-29T10:00:00+02:00[Europe/Berlin]",
             "end": "2026-03-29T11:00:00+02:00[Europe/Berlin]"},
            {"title": "Trip", "calendar": "Home", "start": "2026-04-01", "end": "2026-04-03", "allDay": true},
            {"title": "Run", "calendar": "Home", "start": "2026-04-01T07:00:00", "end": "2026-04-01T08:00:00",
             "cancelled": true},
        ]});
        let Some(Results::Entries(events)) = of("listEvents", events) else { panic!("no events") };
        let [tax, trip, run] = events.as_slice() else { panic!("{events:?}") };
        assert_eq!(tax.when, Some(When::Instant("2026-03-29T10:00:00+02:00".into())));
        assert_eq!(tax.until.as_ref().map(When::iso).as_deref(), Some("2026-03-29T11:00:00+02:00"));
        assert_eq!((&trip.when, &trip.until), (&Some(When::Day("2026-04-01".into())), &None));
        assert_eq!(run.when.as_ref().map(When::iso).as_deref(), Some("2026-04-01T07:00:00Z"));
        assert_eq!(run.state, State::Cancelled);
        let made = json!({"id": "1", "list": "Chores", "title": "Milk", "done": false, "due": "2026-04-02T08:00:00Z"});
        let Some(Results::Entries(made)) = of("createReminder", made) else { panic!("no reminder") };
        assert_eq!(made[0].state, State::Open);
        assert_eq!(made[0].when, Some(When::Instant("2026-04-02T08:00:00Z".into())));
        assert_eq!(made[0].calendar, "Chores");
    }

    #[test]
    fn another_tool_s_data_is_no_list() {
        let data = json!({"results": [{"title": "a", "url": "https://a.org", "text": ""}]});
        assert_eq!(of("server__search", data.clone()), None);
        assert_eq!(of("listEvents", data), None);
    }
}
