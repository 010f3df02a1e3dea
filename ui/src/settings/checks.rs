//! What the program needs from the machine: what was found, and how to fix what is not well.

use leptos::ev;
use leptos::prelude::*;
use protocol::command::{OpenPermission, Permissions};
use protocol::view::{Check, CheckState, CheckView};

use crate::store::store;
use crate::words::Word;

#[component]
pub fn Checks() -> impl IntoView {
    let store = store();
    let found = RwSignal::new(Vec::<CheckView>::new());
    let checking = RwSignal::new(false);
    let look = move || {
        checking.set(true);
        store.send_or(Permissions {}, move |checks| drop(found.try_set(checks)), checking);
    };
    look();
    // Back from the system's settings, where something may have been allowed meanwhile.
    let returned = window_event_listener(ev::focus, move |_| {
        let waits = found.with_untracked(|found| found.iter().any(is_asked_for));
        if waits && !checking.get_untracked() {
            look();
        }
    });
    on_cleanup(move || returned.remove());
    let again = move || store.say(if checking.get() { Word::Checking } else { Word::CheckAgain });
    view! {
        <section class="group" id="checks">
            <div class="group-head">
                <h2>{move || store.say(Word::Checks)}</h2>
                <button class="quiet" disabled=move || checking.get() on:click=move |_| look()>{again}</button>
            </div>
            <ul class="rows" aria-busy=move || checking.get().to_string()>
                {move || found.get().into_iter().map(item).collect_view()}
            </ul>
        </section>
    }
}

fn item(view: CheckView) -> impl IntoView {
    let store = store();
    let (check, state) = (view.check, view.state);
    let (name, word) = match state {
        CheckState::Well => ("well", Word::Well),
        CheckState::Limited => ("limited", Word::Limited),
        CheckState::Missing => ("missing", Word::Missing),
    };
    let remedy = (state != CheckState::Well).then(|| {
        view! {
            <div class="remedy">
                {view.remedy.map(|remedy| view! { <p class="faint" dir="auto">{remedy}</p> })}
                <Show when=move || can_open(check)>
                    <button class="quiet" on:click=move |_| store.send(OpenPermission { check })>
                        {move || store.say(Word::OpenSettings)}
                    </button>
                </Show>
            </div>
        }
    });
    view! {
        <li class="row check" data-check=check_name(check) data-state=name>
            <div class="label">
                <span>{move || store.say(check_word(check))}</span>
                <span class="badge" data-state=name>{move || store.say(word)}</span>
            </div>
            <div class="control">
                <p dir="auto">{view.detail}</p>
                {remedy}
            </div>
        </li>
    }
}

/// What the user was sent to the system's settings for.
fn is_asked_for(view: &CheckView) -> bool {
    view.state != CheckState::Well && can_open(view.check)
}

/// Checks that a permission of the system stands behind.
fn can_open(check: Check) -> bool {
    match check {
        Check::ScreenCapture
        | Check::Input
        | Check::Accessibility
        | Check::Automation
        | Check::InputMonitoring => true,
        Check::Display
        | Check::Clipboard
        | Check::Ocr
        | Check::Keychain
        | Check::Sandbox
        | Check::Settings
        | Check::Journal
        | Check::Model => false,
    }
}

fn check_name(check: Check) -> &'static str {
    match check {
        Check::Display => "display",
        Check::ScreenCapture => "screenCapture",
        Check::Input => "input",
        Check::Accessibility => "accessibility",
        Check::Automation => "automation",
        Check::InputMonitoring => "inputMonitoring",
        Check::Clipboard => "clipboard",
        Check::Ocr => "ocr",
        Check::Keychain => "keychain",
        Check::Sandbox => "sandbox",
        Check::Settings => "settings",
        Check::Journal => "journal",
        Check::Model => "model",
    }
}

fn check_word(check: Check) -> Word {
    match check {
        Check::Display => Word::CheckDisplay,
        Check::ScreenCapture => Word::CheckScreenCapture,
        Check::Input => Word::CheckInput,
        Check::Accessibility => Word::CheckAccessibility,
        Check::Automation => Word::CheckAutomation,
        Check::InputMonitoring => Word::CheckInputMonitoring,
        Check::Clipboard => Word::CheckClipboard,
        Check::Ocr => Word::CheckOcr,
        Check::Keychain => Word::CheckKeychain,
        Check::Sandbox => Word::CheckSandbox,
        Check::Settings => Word::CheckSettings,
        Check::Journal => Word::CheckJournal,
        Check::Model => Word::CheckModel,
    }
}
