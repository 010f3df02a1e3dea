//! What can be done with a session of the list: pin, rename, archive, branch, export, delete; and the way back from a
//! deletion.

use std::time::Duration;

use leptos::prelude::*;
use leptos::{ev, html};
use protocol::command::{
    BranchSession, DeleteSession, EditSession, ExportFormat, ExportSession, RestoreSession,
};
use protocol::escape::visible_text;
use protocol::ids::SessionId;
use protocol::view::{SessionView, Shelf};

use crate::store::{Store, store};
use crate::words::Word;

/// How long the way back is offered here; the command line has it for days.
const UNDO_SHOWS: Duration = Duration::from_secs(12);

/// Whose tools are shown, whose title is written, and what was just done.
#[derive(Clone, Copy)]
pub struct Tools {
    pub open: RwSignal<Option<SessionId>>,
    pub renaming: RwSignal<Option<SessionId>>,
    said: RwSignal<Option<Said>>,
    number: StoredValue<u32>,
}

#[derive(Clone, Debug, PartialEq)]
enum Said {
    Deleted(SessionId),
    Exported(String),
}

impl Tools {
    pub fn new() -> Self {
        Self {
            open: RwSignal::new(None),
            renaming: RwSignal::new(None),
            said: RwSignal::new(None),
            number: StoredValue::new(0),
        }
    }

    fn say(self, said: Said) {
        self.said.set(Some(said));
        self.number.update_value(|number| *number += 1);
        let this = self.number.get_value();
        let forget = move || {
            if self.number.try_get_value() == Some(this) {
                self.said.set(None);
            }
        };
        set_timeout(forget, UNDO_SHOWS);
    }
}

pub fn edit(session: &SessionId) -> EditSession {
    EditSession {
        session: session.clone(),
        title: None,
        mode: None,
        approval: None,
        search: None,
        pinned: None,
        archived: None,
    }
}

/// The buttons of one session.
#[component]
pub fn SessionTools(id: SessionId, shelf: Memo<Shelf>, tools: Tools) -> impl IntoView {
    let store = store();
    let button = move |class: &'static str, word: Signal<Word>, act: Callback<()>| {
        view! {
            <button class=class on:click=move |_| { tools.open.set(None); act.run(()) }>
                {move || store.say(word.get())}
            </button>
        }
    };
    let of = |id: &SessionId| id.clone();
    let (pin, archive, rename, branch, delete) = (of(&id), of(&id), of(&id), of(&id), of(&id));
    let pin = Callback::new(move |()| {
        let pinned = Some(!shelf.get_untracked().pinned);
        store.send(EditSession { pinned, ..edit(&pin) });
    });
    let archive = Callback::new(move |()| {
        let archived = !shelf.get_untracked().archived;
        let came_back = move |session: SessionView| {
            if !archived {
                store.change(|state| state.take_older_sessions(vec![session]));
            }
        };
        store.send_then(EditSession { archived: Some(archived), ..edit(&archive) }, came_back);
    });
    let rename = Callback::new(move |()| tools.renaming.set(Some(rename.clone())));
    let branch = Callback::new(move |()| branch_at(store, branch.clone(), None));
    let delete = Callback::new(move |()| {
        let session = delete.clone();
        store.send_then(DeleteSession { session: session.clone() }, move |_| {
            if store.peek(|state| state.shown() == Some(&session)) {
                store.show_new();
            }
            tools.say(Said::Deleted(session));
        });
    });
    let export = move |format: ExportFormat, word: Word| {
        let session = id.clone();
        let act = Callback::new(move |()| {
            let command = ExportSession { session: session.clone(), format, pictures: true };
            store.send_then(command, move |exported| tools.say(Said::Exported(exported.file)));
        });
        button("quiet", Signal::stored(word), act)
    };
    let pin_word = Signal::derive(move || if shelf.get().pinned { Word::Unpin } else { Word::Pin });
    let archive_word =
        Signal::derive(move || if shelf.get().archived { Word::Unarchive } else { Word::Archive });
    let close = move |event: ev::KeyboardEvent| {
        if event.key() == "Escape" {
            tools.open.set(None);
        }
    };
    view! {
        <div class="session-tools" role="group" aria-label=move || store.say(Word::SessionTools) on:keydown=close>
            {button("quiet", pin_word, pin)}
            {button("quiet", Signal::stored(Word::Rename), rename)}
            {button("quiet", archive_word, archive)}
            {button("quiet", Signal::stored(Word::Branch), branch)}
            {export(ExportFormat::Html, Word::ExportHtml)}
            {export(ExportFormat::Markdown, Word::ExportMarkdown)}
            {export(ExportFormat::Jsonl, Word::ExportJsonl)}
            {button("quiet danger", Signal::stored(Word::Delete), delete)}
        </div>
    }
}

/// Makes a new session of one up to an event, and shows it.
pub fn branch_at(store: Store, session: SessionId, at: Option<u64>) {
    store.send_then(BranchSession { session, at }, move |branch| {
        let id = branch.id.clone();
        store.change(|state| state.take_older_sessions(vec![branch]));
        store.open_session(id);
    });
}

/// The field in which a title is written: Enter keeps it, Escape does not.
#[component]
pub fn TitleField(id: SessionId, title: String, tools: Tools) -> impl IntoView {
    let store = store();
    let field = NodeRef::<html::Input>::new();
    Effect::new(move |_| {
        if let Some(field) = field.get() {
            let _ = field.focus(); // refused while the window is hidden
            field.select();
        }
    });
    let keys = move |event: ev::KeyboardEvent| match event.key().as_str() {
        "Enter" if !event.is_composing() => {
            let title = event_target_value(&event);
            if !title.trim().is_empty() {
                store.send(EditSession { title: Some(title.trim().to_owned()), ..edit(&id) });
            }
            tools.renaming.set(None);
        }
        "Escape" => tools.renaming.set(None),
        _ => {}
    };
    view! {
        <input
            class="rename"
            type="text"
            node_ref=field
            maxlength="200"
            aria-label=move || store.say(Word::Rename)
            prop:value=title
            on:keydown=keys
            on:blur=move |_| tools.renaming.set(None)
        />
    }
}

/// Says what was just done, with the way back from a deletion.
#[component]
pub fn Toast(tools: Tools) -> impl IntoView {
    let store = store();
    let undo = move |session: SessionId| {
        tools.said.set(None);
        store.send_then(RestoreSession { session }, move |restored| {
            store.change(|state| state.take_older_sessions(vec![restored]));
        });
    };
    view! {
        <div class="toast" role="status">
            {move || tools.said.get().map(|said| match said {
                Said::Deleted(session) => view! {
                    <p>
                        <span>{move || store.say(Word::SessionDeleted)}</span>
                        <button class="quiet" on:click=move |_| undo(session.clone())>{move || store.say(Word::Undo)}</button>
                    </p>
                }
                .into_any(),
                Said::Exported(file) => view! {
                    <p dir="auto">{move || store.fill(Word::SessionExported, &[("file", &visible_text(&file))])}</p>
                }
                .into_any(),
            })}
        </div>
    }
}
