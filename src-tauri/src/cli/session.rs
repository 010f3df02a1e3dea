//! `miki session`: what was done, found again, put in order, branched, written to files and read from them.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use protocol::command::{
    BranchSession, DeleteSession, EditSession, ExportFormat, ImportSession, ListSessions, OpenSession,
    ReadEvents, RestoreSession, SearchSessions, Which,
};
use protocol::ids::{SessionId, StreamId};
use protocol::view::{Exported, Found, Imported, SessionView};
use protocol::{ErrorCode, ErrorView, Event};
use serde::Serialize;

use super::ids::{self, short};
use super::interrupt;
use super::text::plain;
use crate::exit::Exit;
use crate::home::Home;
use crate::link::Link;
use crate::transfer;

/// Sessions and events that are asked for at a time.
const PAGE: u32 = 1_000;

/// List, search, rename, pin, archive, branch, delete, export and import sessions
///
/// A session is named by its id, by the end or the beginning of it, or as `last`: the one in which something happened last.
#[derive(Debug, Args)]
pub struct Sessions {
    #[command(subcommand)]
    what: What,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List sessions: the pinned ones first, then the newest
    List {
        /// The archived ones
        #[arg(long, conflicts_with = "deleted")]
        archived: bool,
        /// The deleted ones that can still be restored
        #[arg(long)]
        deleted: bool,
        /// At most so many
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
        limit: u32,
    },
    /// Find sessions by words of goals, messages, answers, results and titles; "in quotes" as they stand
    Search {
        #[arg(required = true, num_args = 1..)]
        words: Vec<String>,
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
        limit: u32,
    },
    /// Print a session as Markdown; with --json, its events
    Show {
        session: String,
    },
    Rename {
        session: String,
        title: String,
    },
    /// Keep it at the top of the list
    Pin {
        session: String,
    },
    Unpin {
        session: String,
    },
    /// Take it out of the list, until something runs in it again
    Archive {
        session: String,
    },
    Unarchive {
        session: String,
    },
    /// Make a new session with what happened in this one up to an event
    Branch {
        session: String,
        /// The event's number, `n` in `show --json`; all that happened where it is left out
        #[arg(long, value_name = "N")]
        at: Option<u64>,
    },
    /// Delete it; it can be restored for some time (setting deletedDays)
    Delete {
        session: String,
    },
    /// Bring a deleted one back
    Restore {
        session: String,
    },
    /// Write it into a new file
    Export {
        session: String,
        /// What the file is: jsonl can be imported, md is to read, html shows it step by step. By the file's ending where it
        /// is left out, else jsonl
        #[arg(long, value_enum)]
        format: Option<Format>,
        /// The file; `-` for stdout. By the session's title, here, where it is left out
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Without the pictures of the screen
        #[arg(long)]
        no_pictures: bool,
    },
    /// Take a session from a file that was exported as jsonl
    Import {
        file: PathBuf,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Jsonl,
    Md,
    Html,
}

impl From<Format> for ExportFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Jsonl => Self::Jsonl,
            Format::Md => Self::Markdown,
            Format::Html => Self::Html,
        }
    }
}

impl Sessions {
    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        let link = Link::open(home).await?;
        let done = work(&link, home, self.what, self.json).await;
        link.leave(&mut interrupt::listen()?).await;
        done.map(|()| Exit::Done)
    }
}

async fn work(link: &Link, home: &Home, what: What, json: bool) -> Result<(), ErrorView> {
    match what {
        What::List { archived, deleted, limit } => {
            let which = match (archived, deleted) {
                (true, _) => Which::Archived,
                (_, true) => Which::Deleted,
                _ => Which::Open,
            };
            let mut listed = Vec::new();
            if which == Which::Open {
                listed = list(link, Which::Pinned, limit).await?;
            }
            listed.extend(
                list(link, which, limit)
                    .await?
                    .into_iter()
                    .filter(|one| which != Which::Open || !one.shelf.pinned),
            );
            listed.truncate(limit as usize);
            if json {
                say_json(&listed);
            } else if listed.is_empty() {
                super::tell("no sessions");
            } else {
                let all = ids_of(&listed);
                listed.iter().for_each(|one| super::tell(&line(one, &all)));
            }
        }
        What::Search { words, limit } => {
            let query = words.join(" ");
            let found = link.call(SearchSessions { query, limit: Some(limit) }).await?;
            if json {
                say_json(&found);
            } else if found.is_empty() {
                super::tell("nothing was found");
            } else {
                let all: Vec<&str> = found.iter().map(|one| one.session.id.as_str()).collect();
                found.iter().for_each(|one| super::tell(&found_line(one, &all)));
            }
        }
        What::Show { session } => {
            let session = one(link, &session).await?;
            let events = events_of(link, &session.id).await?;
            if json {
                events.iter().for_each(say_json);
            } else {
                let mut text = Vec::new();
                // Writing to memory cannot fail.
                let _ = transfer::write(&mut text, ExportFormat::Markdown, &session, &events, None);
                super::say(String::from_utf8_lossy(&text).trim_end());
            }
        }
        What::Rename { session, title } => {
            edit(link, &session, json, |edit| edit.title = Some(title)).await?
        }
        What::Pin { session } => edit(link, &session, json, |edit| edit.pinned = Some(true)).await?,
        What::Unpin { session } => edit(link, &session, json, |edit| edit.pinned = Some(false)).await?,
        What::Archive { session } => edit(link, &session, json, |edit| edit.archived = Some(true)).await?,
        What::Unarchive { session } => edit(link, &session, json, |edit| edit.archived = Some(false)).await?,
        What::Branch { session, at } => {
            let session = one(link, &session).await?.id;
            say_session(&link.call(BranchSession { session, at }).await?, json);
        }
        What::Delete { session } => {
            let session = one(link, &session).await?.id;
            let deleted = link.call(DeleteSession { session }).await?;
            say_session(&deleted, json);
            if !json {
                super::tell(&format!("undo with: miki session restore {}", short(deleted.id.as_str(), &[])));
            }
        }
        What::Restore { session } => {
            let session = one(link, &session).await?.id;
            say_session(&link.call(RestoreSession { session }).await?, json);
        }
        What::Export { session, format, output, no_pictures } => {
            let session = one(link, &session).await?;
            let events = events_of(link, &session.id).await?;
            let format = format.or_else(|| of_ending(output.as_deref())).unwrap_or(Format::Jsonl).into();
            let folder = home.blobs();
            let blobs = Some(folder.as_path()).filter(|_| !no_pictures);
            if output.as_deref() == Some(Path::new("-")) {
                let mut out = std::io::stdout().lock();
                // A closed pipe (`| head`) is no failure.
                let _ = transfer::write(&mut out, format, &session, &events, blobs).and_then(|_| out.flush());
                return Ok(());
            }
            let to = output.unwrap_or_else(|| transfer::free_name(Path::new("."), &session, format));
            let Exported { file, bytes, pictures, missing } =
                transfer::export(&to, format, &session, &events, blobs)?;
            if json {
                say_json(&Exported { file, bytes, pictures, missing });
            } else {
                let gone = if missing > 0 { format!(", {missing} are gone") } else { String::new() };
                super::tell(&format!("{}: {} events, {pictures} pictures{gone}", plain(&file), events.len()));
            }
        }
        What::Import { file } => {
            let absolute =
                std::path::absolute(&file).ok().and_then(|path| path.into_os_string().into_string().ok());
            let file = absolute.ok_or_else(|| {
                ErrorView::new(ErrorCode::BadRequest, format!("{} is no path in Unicode", file.display()))
            })?;
            let imported = link.call(ImportSession { file }).await?;
            if json {
                say_json(&imported);
            } else {
                let Imported { session, events, pictures } = imported;
                super::tell(&format!("{}  {events} events, {pictures} pictures", line(&session, &[])));
            }
        }
    }
    Ok(())
}

async fn list(link: &Link, which: Which, limit: u32) -> Result<Vec<SessionView>, ErrorView> {
    link.call(ListSessions { before: None, limit: Some(limit), which }).await
}

async fn edit(
    link: &Link,
    session: &str,
    json: bool,
    change: impl FnOnce(&mut EditSession),
) -> Result<(), ErrorView> {
    let session = one(link, session).await?.id;
    let mut edit = EditSession {
        session,
        title: None,
        mode: None,
        approval: None,
        search: None,
        pinned: None,
        archived: None,
    };
    change(&mut edit);
    say_session(&link.call(edit).await?, json);
    Ok(())
}

/// The session that is meant.
async fn one(link: &Link, named: &str) -> Result<SessionView, ErrorView> {
    if named == "last" {
        let newest = list(link, Which::Open, 1).await?;
        return newest
            .into_iter()
            .next()
            .ok_or_else(|| ErrorView::new(ErrorCode::NotFound, "there is no session yet"));
    }
    let whole = SessionId(named.to_owned());
    if let Ok(session) = link.call(OpenSession { session: whole }).await {
        return Ok(session);
    }
    let mut all = Vec::new();
    for which in [Which::Open, Which::Archived, Which::Deleted] {
        all.extend(list(link, which, PAGE).await?);
    }
    meant(all, named)
}

fn meant(all: Vec<SessionView>, named: &str) -> Result<SessionView, ErrorView> {
    ids::meant(all, |one| one.id.as_str(), named).map_err(|several| match several {
        0 => ErrorView::new(ErrorCode::NotFound, format!("no session's id ends or begins with {named:?}"))
            .with_hint("miki session list tells them; of very old ones, give the whole id"),
        _ => ErrorView::new(
            ErrorCode::BadRequest,
            format!("{several} sessions' ids end or begin with {named:?}"),
        )
        .with_hint("give more of the id"),
    })
}

async fn events_of(link: &Link, session: &SessionId) -> Result<Vec<Event>, ErrorView> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let after = Some(events.last().and_then(|event| event.position).map_or(0, |position| position.n));
        let stream = StreamId::of_session(session);
        let page = link.call(ReadEvents { stream, before: None, after, limit: PAGE }).await?;
        if page.events.is_empty() {
            return Ok(events);
        }
        events.extend(page.events);
    }
}

fn of_ending(file: Option<&Path>) -> Option<Format> {
    match file?.extension()?.to_str()? {
        "jsonl" => Some(Format::Jsonl),
        "md" | "markdown" => Some(Format::Md),
        "html" | "htm" => Some(Format::Html),
        _ => None,
    }
}

fn say_json(value: &impl Serialize) {
    super::say(&serde_json::to_string(value).unwrap_or_default());
}

fn say_session(session: &SessionView, json: bool) {
    if json {
        say_json(session);
    } else {
        super::tell(&line(session, &[]));
    }
}

fn ids_of(all: &[SessionView]) -> Vec<&str> {
    all.iter().map(|one| one.id.as_str()).collect()
}

/// A session on one line, among others with these ids.
fn line(session: &SessionView, among: &[&str]) -> String {
    let shelf = &session.shelf;
    let marks = [
        (shelf.pinned, " (pinned)"),
        (shelf.archived, " (archived)"),
        (shelf.deleted.is_some(), " (deleted)"),
    ];
    let marks: String = marks.into_iter().filter_map(|(is, mark)| is.then_some(mark)).collect();
    format!(
        "{}  {}  {}{marks}",
        short(session.id.as_str(), among),
        fold::export::utc(session.updated),
        plain(&session.title)
    )
}

fn found_line(found: &Found, among: &[&str]) -> String {
    format!("{}\n  {}: {}", line(&found.session, among), found.event, plain(&found.snippet))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_ending_says_what_it_is() {
        for (file, format) in
            [("a.md", Some(Format::Md)), ("a.b.html", Some(Format::Html)), ("a", None), ("a.txt", None)]
        {
            assert_eq!(of_ending(Some(Path::new(file))), format, "{file}");
        }
        assert_eq!(of_ending(None), None);
    }
}
