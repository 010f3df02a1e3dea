//! How a run comes to be.

use models::{Patience, SharedModel};
use protocol::command::{RunOverrides, StartRun, StartedRun, Unattended};
use protocol::event::Scope;
use protocol::ids::{AgentId, RunId, SessionId};
use protocol::view::SessionView;
use protocol::{ErrorCode, ErrorView, EventBody};
use tokio::sync::mpsc;

use super::{Active, CONTROL, Orchestrator, Prepared, Reply, fresh};
use crate::brakes::Brake;
use crate::context::{Bounds, Context};
use crate::handle::no_session;
use crate::machine::Rules;
use crate::run::{Run, drive};
use crate::{history, prompts};

/// Characters of a goal that make a session's title.
const TITLE_CHARS: usize = 60;

impl Orchestrator {
    /// What must hold before a model is opened, which may take long and is not done here.
    pub(super) async fn prepare(&self, command: &StartRun) -> Result<Box<Prepared>, ErrorView> {
        self.check_free()?;
        if command.goal.trim().is_empty() {
            return Err(ErrorView::new(ErrorCode::BadRequest, "the goal is empty")
                .with_hint("say what is to be done"));
        }
        let over = &command.overrides;
        let mut settings = self.settings.clone();
        if let Some(max_steps) = over.max_steps {
            settings.max_steps = max_steps;
        }
        if let Some(model) = &over.model {
            settings.model = model.clone();
        }
        if let Some(url) = &over.base_url {
            let provider = settings.model.provider().unwrap_or_default().to_owned();
            settings.base_urls.insert(provider, url.clone());
        }
        if let Some(apps) = &over.only_apps {
            settings.fence_apps = apps.clone();
        }
        settings.validate()?;
        let search = match (over.search, &command.session) {
            (Some(search), _) => search,
            (None, Some(session)) => self.known(session).await?.search,
            (None, None) => false,
        };
        Ok(Box::new(Prepared { settings, search }))
    }

    /// Starts a run for someone who waits for it: nothing begins, or goes on, where they have gone.
    pub(super) async fn start_for(
        &mut self,
        command: StartRun,
        prepared: Prepared,
        model: SharedModel,
        reply: Reply<StartedRun>,
    ) {
        if reply.is_closed() {
            return;
        }
        let started = self.start(command, prepared, model).await;
        if let Err(Ok(unheard)) = reply.send(started) {
            self.brakes.stop(Some(&unheard.run), "whoever asked for it went away as it began");
        }
    }

    async fn start(
        &mut self,
        command: StartRun,
        prepared: Prepared,
        model: SharedModel,
    ) -> Result<StartedRun, ErrorView> {
        self.check_free()?;
        let Prepared { settings, search } = prepared;
        let over = command.overrides;
        let (session, view) = self.session(command.session, &command.goal, &over).await?;
        let (mode, approval) = (over.mode.unwrap_or(view.mode), over.approval.unwrap_or(view.approval));
        let run = RunId::from_suffix(fresh());
        let scope = Scope {
            session: Some(session.clone()),
            run: Some(run.clone()),
            agent: Some(AgentId::from_suffix(fresh())),
        };
        let family = models::pictures::family(&settings.model);
        let (router, limits) = (self.tools.clone(), Self::limits(&settings));
        let specs = router
            .specs(mode)
            .into_iter()
            .map(|spec| models::ToolSpec {
                name: spec.name.to_string(),
                description: spec.description,
                schema: spec.schema,
            })
            .collect();
        let id = session.clone();
        let earlier = self.log.frozen(move |journal| history::rebuild(journal, &id)).await?;
        let context =
            Context::new(prompts::system(mode), specs, earlier, &command.goal, Bounds::of(&settings, family));
        let started = EventBody::RunStarted {
            goal: command.goal,
            model: settings.model.clone(),
            mode,
            approval,
            max_steps: settings.max_steps,
            search,
        };
        self.log.append(scope.clone(), started).await?;
        self.hand_over_desktop(&settings);
        let (control, heard) = mpsc::channel(CONTROL);
        let brake = Brake::default();
        let run_task = Run {
            scope,
            mode,
            approval,
            rules: Rules {
                max_steps: settings.max_steps,
                model_tries: Patience::default().tries,
                repairs: 3,
                end_on_approval: over.unattended == Unattended::End,
            },
            settings,
            log: self.log.clone(),
            router,
            limits,
            model,
            context,
            grants: self.grants.entry(session.clone()).or_default().clone(),
            brake: brake.clone(),
            control: heard,
        };
        let task = tokio::spawn(async move {
            if let Err(error) = drive(run_task).await {
                tracing::error!("the run stopped: {error}");
            }
        });
        self.brakes.of_run(run.clone(), brake);
        self.active =
            Some(Active { session: session.clone(), run: run.clone(), control, task, stopping: Vec::new() });
        Ok(StartedRun { session, run })
    }

    /// The session named, or a new one for `goal`.
    async fn session(
        &self,
        session: Option<SessionId>,
        goal: &str,
        over: &RunOverrides,
    ) -> Result<(SessionId, SessionView), ErrorView> {
        let id = match session {
            Some(id) => id,
            None => {
                let id = SessionId::from_suffix(fresh());
                let title =
                    goal.trim().lines().next().unwrap_or_default().chars().take(TITLE_CHARS).collect();
                let created = EventBody::SessionCreated {
                    title,
                    mode: over.mode.unwrap_or(self.settings.mode),
                    approval: over.approval.unwrap_or(self.settings.approval),
                    search: over.search.unwrap_or(false),
                };
                self.log.append(Scope { session: Some(id.clone()), ..Scope::default() }, created).await?;
                id
            }
        };
        let view = self.known(&id).await?;
        Ok((id, view))
    }

    /// A session that there is.
    pub(super) async fn known(&self, session: &SessionId) -> Result<SessionView, ErrorView> {
        let id = session.clone();
        self.log.frozen(move |journal| journal.session(&id)).await?.ok_or_else(|| no_session(session))
    }
}
