//! What a question about a click looks up, for `cargo xtask bench desktop`: each line of standard input is a kind and a
//! part of an application's name (`element gtk`), which is done and answered by a line of JSON: `{"ms":[9.8],"count":1}`,
//! or `{"error":"..."}`. The kinds: `element` and `point` (what a click there would touch), `picture` (the cut of the
//! screen with the place marked), `whole` (all that a question about the element looks up, as the agent does it).
//!
//! `DISPLAY` and the session bus are the environment's. Judges nothing: what a figure should be is xtask's to know.

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
#[tokio::main]
async fn main() -> Result<(), work::Failure> {
    let mut work = work::Work::open()?;
    for line in std::io::stdin().lines() {
        let line = line?;
        // As the app does its calls: in a task, and not on the thread that waits for it.
        let task = tokio::spawn(async move {
            let done = work.perform(&line).await.map_err(|error| format!("{line}: {error}"));
            (work, done)
        });
        let done;
        (work, done) = task.await?;
        let told = match done {
            Ok(ms) => serde_json::json!({ "ms": [ms], "count": 1 }),
            Err(error) => serde_json::json!({ "error": error }),
        };
        println!("{told}");
    }
    Ok(())
}

#[cfg(target_os = "linux")]
mod work {
    use std::hint::black_box;
    use std::sync::Arc;
    use std::time::Instant;

    use desktop::{Desktop, Element, ElementQuery, Options, Scope};
    use protocol::ids::CallId;
    use protocol::settings::Settings;
    use protocol::tool::{ApprovalMode, Mode, ToolCall};
    use serde_json::{Value, json};
    use tools::{Decision, ExecRequest, Grants, Limits, Planning, Router};

    pub type Failure = Box<dyn std::error::Error + Send + Sync>;

    pub struct Work {
        desktop: Arc<dyn Desktop>,
        router: Router,
        limits: Limits,
        /// The button that is clicked.
        button: Option<Element>,
    }

    impl Work {
        /// The desktop as the app has it.
        pub fn open() -> Result<Self, Failure> {
            let desktop = desktop::open(Options::default());
            let router = Router::builtin(Arc::clone(&desktop));
            Ok(Self { desktop, router, limits: Limits::from(&Settings::default()), button: None })
        }

        /// Milliseconds from question to answer.
        pub async fn perform(&mut self, line: &str) -> Result<f64, Failure> {
            let (kind, app) = line.split_once(' ').ok_or("a kind and an application")?;
            let button = match &self.button {
                Some(button) => button,
                None => self.button.insert(button_of(&*self.desktop, app).await?),
            };
            let at = button.bounds.center()?;
            let by_point = ("click", json!({ "x": at.x(), "y": at.y(), "reason": "to go on" }));
            let by_ref = ("clickElement", json!({ "ref": button.reference, "reason": "to go on" }));
            let (tool, arguments) = if kind == "point" { by_point } else { by_ref };
            let request = request(tool, arguments);
            let (router, limits, call) = (&self.router, &self.limits, &request.call);
            let begun = Instant::now();
            match kind {
                "element" | "point" => {
                    let (assessed, told) = tools::one_look(async {
                        let assessed = router.assess(&request, limits).await;
                        let told =
                            tokio::join!(router.goes_to(call, limits), router.surroundings(call, limits));
                        (assessed, told)
                    })
                    .await;
                    let took = begun.elapsed();
                    let asks = matches!(assessed.decision, Decision::Ask { .. });
                    if !asks || black_box(told).0.iter().all(String::is_empty) {
                        return Err("it does not ask, or does not say what about".into());
                    }
                    Ok(took.as_secs_f64() * 1e3)
                }
                "whole" => {
                    let (assessed, told) = tools::one_look(async {
                        let assessed = router.assess(&request, limits).await;
                        let told = tokio::join!(
                            router.goes_to(call, limits),
                            router.surroundings(call, limits),
                            router.sight(call, limits),
                        );
                        (assessed, told)
                    })
                    .await;
                    let took = begun.elapsed();
                    let asks = matches!(assessed.decision, Decision::Ask { .. });
                    if !asks || black_box(told).2.is_none() {
                        return Err("it does not ask, or has no picture".into());
                    }
                    Ok(took.as_secs_f64() * 1e3)
                }
                "picture" => {
                    let taken = black_box(router.sight(call, limits).await);
                    let took = begun.elapsed();
                    taken.ok_or("there is no picture of it")?;
                    Ok(took.as_secs_f64() * 1e3)
                }
                _ => Err("no such work".into()),
            }
        }
    }

    async fn button_of(desktop: &dyn Desktop, app: &str) -> Result<Element, Failure> {
        let (app, scope) = (Some(app.to_owned()), Scope::Interactive);
        let query = ElementQuery { app, scope, limit: 10_000, ..ElementQuery::default() };
        let found = desktop.elements(query).await?.elements;
        let is_button = |one: &Element| one.role.ends_with("button") && !one.name.is_empty();
        Ok(found.into_iter().find(is_button).ok_or("it has no button")?)
    }

    fn request(tool: &str, arguments: Value) -> ExecRequest {
        ExecRequest {
            waived: Vec::new(),
            fence: Default::default(),
            ports: tools::Ports::default(),
            call: ToolCall { id: CallId("c-1".into()), tool: tool.into(), arguments },
            mode: Mode::Act,
            approval: ApprovalMode::Ask,
            grants: Grants::default(),
            has_read: true,
            approved: None,
            planning: Planning::Off,
        }
    }
}
