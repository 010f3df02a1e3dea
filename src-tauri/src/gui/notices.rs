//! The system's notification of a question, for a user who is in none of our windows.
//!
//! It shows the question and leads to it, and never answers: any program of the user's may be the notification service.

use fold::call::{Line, lines, shortened};
use protocol::escape::visible_text;
use protocol::ids::ApprovalId;
use protocol::settings::Language;
use protocol::tool::Approval;
use protocol::view::Overview;
use tauri::AppHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::tray_state::Words;

/// The open questions; each one's notification, where there is one, goes when this does.
#[derive(Default)]
pub struct Notices(Vec<(ApprovalId, Option<DropGuard>)>);

impl Notices {
    /// Takes back the notifications of questions that have been answered, and shows those of new ones. `is_seen`: the user
    /// is where questions are shown.
    pub fn update(&mut self, app: &AppHandle, view: &Overview, is_seen: impl Fn() -> bool) {
        for question in self.new_ones(view) {
            let shows = view.settings.notifications && !is_seen();
            let guard = shows.then(|| {
                let gone = CancellationToken::new();
                let (title, body) = words(question, view.settings.language);
                tauri::async_runtime::spawn(show(app.clone(), title, body, gone.clone()));
                gone.drop_guard()
            });
            self.0.push((question.id.clone(), guard));
        }
    }

    fn new_ones<'a>(&mut self, view: &'a Overview) -> Vec<&'a Approval> {
        let open = || view.questions.iter().map(|question| &question.approval);
        self.0.retain(|(id, _)| open().any(|question| question.id == *id));
        open().filter(|question| self.0.iter().all(|(id, _)| *id != question.id)).collect()
    }
}

/// Title and text. Nothing in them is taken for markup.
fn words(question: &Approval, language: Language) -> (String, String) {
    let line = |Line { tool, about, goes_to }| {
        let parts = [tool, about, goes_to].into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(" ")
    };
    let body =
        visible_text(&shortened(&lines(question).into_iter().map(line).collect::<Vec<_>>().join("; ")));
    let body = match cfg!(target_os = "linux") {
        true => body.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"),
        false => body,
    };
    (Words::of(language).asks.to_owned(), body)
}

/// Shows it until it is clicked, which opens the dashboard, closed, or `gone`.
#[cfg(target_os = "linux")]
async fn show(app: AppHandle, title: String, body: String, gone: CancellationToken) {
    use notify_rust::{Hint, Notification, Timeout};
    use protocol::command::{Window, WindowAction};

    use super::windows;

    let mut notification = Notification::new();
    notification.appname("Miki").summary(&title).body(&body).timeout(Timeout::Never);
    notification.action("default", Words::of(Language::English).open).hint(Hint::DesktopEntry("miki".into()));
    let shown = tokio::select! {
        shown = notification.show_async() => shown,
        () = gone.cancelled() => return,
    };
    match shown {
        Ok(shown) => {
            let mut is_wanted = false;
            tokio::select! {
                () = shown.wait_for_action_async(|action| {
                    is_wanted = !matches!(action, notify_rust::NotificationResponse::Closed(_));
                }) => {}
                () = gone.cancelled() => shown.close_async().await,
            }
            if is_wanted {
                windows::show_or_log(&app, Window::Dashboard, WindowAction::Show);
            }
        }
        // Many a desktop has no service for them.
        Err(error) => tracing::debug!("no notification: {error}"),
    }
}

/// Shows it; the system takes it away. Not run here.
#[cfg(target_os = "macos")]
async fn show(_: AppHandle, title: String, body: String, gone: CancellationToken) {
    // notify-rust's own way is compiled by Apple's compiler alone.
    const SCRIPT: &str =
        "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run";
    if gone.is_cancelled() {
        return;
    }
    let mut script = tokio::process::Command::new("/usr/bin/osascript");
    script.args(["-e", SCRIPT, &title, &body]).env_clear().envs(desktop::environment::for_children());
    if let Err(error) = script.status().await {
        tracing::debug!("no notification: {error}");
    }
}

/// Shows it; the system takes it away. Not run here.
#[cfg(windows)]
async fn show(_: AppHandle, title: String, body: String, gone: CancellationToken) {
    if gone.is_cancelled() {
        return;
    }
    let show = move || notify_rust::Notification::new().appname("Miki").summary(&title).body(&body).show();
    match tokio::task::spawn_blocking(show).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::debug!("no notification: {error}"),
        Err(error) => tracing::debug!("no notification: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use protocol::ids::{RunId, Seq, SessionId, Timestamp};
    use protocol::settings::Settings;
    use protocol::tool::{Risk, ToolCall};
    use protocol::view::{DesktopView, Platform, Question};
    use serde_json::json;

    use super::*;

    fn question(id: &str, text: &str) -> Question {
        let call = ToolCall {
            id: protocol::ids::CallId("c-1".into()),
            tool: "type".into(),
            arguments: json!({ "text": text }),
        };
        let approval = Approval {
            asks: Default::default(),
            id: ApprovalId(id.into()),
            call,
            risk: Risk::Edit,
            reason: String::new(),
            digest: String::new(),
            deadline: Timestamp(0),
            window: None,
            target: None,
            goes_to: Vec::new(),
            seen: None,
            picture: None,
            hosts: Vec::new(),
            touches: Vec::new(),
            read: Vec::new(),
            about: Box::default(),
        };
        Question { session: SessionId("s-1".into()), run: RunId("r-1".into()), approval }
    }

    fn view(questions: Vec<Question>) -> Overview {
        Overview {
            seq: Seq(0),
            settings: Settings::default(),
            sessions: Vec::new(),
            questions,
            runs: Vec::new(),
            desktop: DesktopView::default(),
            version: "0.1.0".into(),
            platform: Platform::Linux,
        }
    }

    #[test]
    fn each_question_is_told_once_and_forgotten_with_its_answer() {
        let mut notices = Notices::default();
        let (one, two) = (question("a-1", "x"), question("a-2", "y"));
        let new = |notices: &mut Notices, questions: &[&Question]| {
            let view = view(questions.iter().map(|&one| one.clone()).collect());
            let ids: Vec<_> = notices.new_ones(&view).into_iter().map(|one| one.id.clone()).collect();
            notices.0.extend(ids.iter().map(|id| (id.clone(), None)));
            ids.into_iter().map(|id| id.0).collect::<Vec<_>>()
        };
        assert_eq!(new(&mut notices, &[&one]), ["a-1"]);
        assert_eq!(new(&mut notices, &[&one, &two]), ["a-2"]);
        assert!(new(&mut notices, &[&two]).is_empty());
        assert_eq!(notices.0.len(), 1);
    }

    #[test]
    fn what_it_says_is_no_markup_and_has_no_hidden_letters() {
        let (title, body) = words(&question("a-1", "<b>rm</b> & \u{202e}x").approval, Language::English);
        assert_eq!(title, "Miki asks");
        assert!(!body.contains("<b>") && !body.contains('\u{202e}'), "{body}");
        assert!(body.starts_with("type “"), "{body}");
    }
}
