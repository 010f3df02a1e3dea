//! The composition root: settings, journal, keys, desktop and mind put together, and every command's way to them.
//!
//! Knows neither windows nor sockets: both come to it through [`Windows`] and [`socket::Endpoint`].

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use ::mcp::Servers;
use agent::{AgentHandle, ModelSource, PortSource, Setup, Subscription};
use desktop::WindowsProcess;
use futures::StreamExt;
use futures::future::BoxFuture;
use journal::{Clock, Journal, SystemClock};
use protocol::command::{
    AnswerApproval, AnswerWithKey, AnyCommand, ChooseFolder, Command, ExportSession, FillPrompt, OpenGuest,
    OpenedGuest, RunOverrides, SetServerKey, ShowWindow, StartRun, SteerRun, StopRun, Subscribe,
};
use protocol::ids::Seq;
use protocol::principal::{Principal, Surface};
use protocol::settings::Settings;
use protocol::tool::Answer;
use protocol::view::{Check, CheckState, CheckView, Exported, KeyState};
use protocol::{ErrorCode, ErrorView};
use serde_json::Value;

use crate::guests::Comes;
use crate::home::Home;
use crate::keys::{Keychain, Keys, Migrated, Secrets, environment, migrate, service_address, takers};
use crate::line::AskFolder;
use crate::lock::HomeLock;
use crate::model_source::{Models, address_of, offer};
use crate::servers::{self, Launcher};
use crate::settings_file::SettingsFile;
use crate::workplaces::Workplaces;
use crate::{checks, socket, transfer};

/// Our windows, where there are any.
pub trait Windows: Send + Sync {
    /// Shows, hides or toggles one of them.
    ///
    /// # Errors
    /// [`ErrorCode::Internal`] where the window system refuses.
    fn show<'a>(&'a self, command: &'a ShowWindow) -> BoxFuture<'a, Result<(), ErrorView>>;

    /// Asks whoever sits at the machine for a folder; `None` if they choose none.
    ///
    /// # Errors
    /// [`ErrorCode::Busy`] while they are asked already, [`ErrorCode::Internal`] where the window system refuses.
    fn choose_folder(&self, asks: AskFolder) -> BoxFuture<'_, Result<Option<PathBuf>, ErrorView>>;
}

/// The one engine of a data folder.
pub struct Engine {
    agent: AgentHandle,
    desktop: Arc<dyn desktop::Desktop>,
    keys: Keys,
    secrets: Secrets,
    models: Arc<Models>,
    workplaces: Arc<Workplaces>,
    servers: Arc<Servers>,
    windows: RwLock<Option<Arc<dyn Windows>>>,
    windows_process: WindowsProcess,
    /// It has had windows.
    is_app: AtomicBool,
    home: PathBuf,
    /// The folder of pictures.
    blobs: PathBuf,
    launcher: Arc<Launcher>,
    /// Held while another program's agent comes.
    coming: tokio::sync::Mutex<()>,
    /// Last, so that it is let go of when all else has ended.
    _lock: HomeLock,
}

impl Engine {
    /// Opens everything in the data folder, in the order in which a failure does least harm.
    ///
    /// # Errors
    /// Settings, names of secrets or a journal that cannot be used; what is missing of the machine is no error here.
    pub async fn start(home: &Home, lock: HomeLock) -> Result<Arc<Self>, ErrorView> {
        let settings_file = SettingsFile::new(home.settings());
        let settings = settings_file.load()?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let journal = {
            let (path, clock) = (home.path().to_owned(), Arc::clone(&clock));
            blocking(move || Journal::open(&path, clock)).await??
        };
        let keys = Keys::new(Arc::new(Keychain), environment());
        take_over_old_keys(home.dotenv(), &keys).await?;
        let secrets = Secrets::new(home.secrets(), Arc::new(Keychain));
        secrets.check()?;
        let models = Arc::new(Models::new(keys.clone()));
        let windows_process = crate::windows::program().map(WindowsProcess::of).unwrap_or_default();
        let desktop = open_desktop(home, &settings, windows_process.clone());
        let browser = open_browser(home, &desktop);
        let workplaces = Arc::new(Workplaces::new(home, journal.blobs().clone(), keys.clone()));
        let registry = Arc::new(tools::Registry::builtin());
        let launcher = Arc::new(Launcher::new(home.servers(), Arc::clone(&workplaces), Arc::new(Keychain)));
        let launch = Arc::clone(&launcher) as Arc<dyn mcp::Launch>;
        let servers = Servers::new(Arc::clone(&registry), launch, home.servers());
        let agent = AgentHandle::init(Setup {
            journal,
            clock,
            router: tools::Router::new(registry, Arc::clone(&desktop))
                .with_browser(browser)
                .with_secrets(Arc::new(secrets.clone()))
                .with_home(std::env::home_dir()),
            models: Arc::clone(&models) as Arc<dyn ModelSource>,
            ports: Arc::clone(&workplaces) as Arc<dyn PortSource>,
            settings,
            settings_store: Arc::new(settings_file),
            version: env!("CARGO_PKG_VERSION").into(),
        })
        .await?;
        // As they are in force: a file that was changed behind our back has been put back.
        servers.set(&agent.settings().mcp_servers);
        let (windows, blobs) = (RwLock::default(), home.blobs());
        Ok(Arc::new(Self {
            agent,
            desktop,
            keys,
            secrets,
            models,
            workplaces,
            servers,
            windows,
            windows_process,
            is_app: AtomicBool::new(false),
            home: home.path().to_owned(),
            blobs,
            launcher,
            coming: tokio::sync::Mutex::default(),
            _lock: lock,
        }))
    }

    pub fn agent(&self) -> &AgentHandle {
        &self.agent
    }

    /// Tells the engine of the windows and their process, when that begins and when it has ended.
    pub fn set_windows(&self, windows: Option<Arc<dyn Windows>>, pid: Option<u32>) {
        self.windows_process.set(pid);
        if windows.is_some() {
            self.is_app.store(true, Ordering::Relaxed);
        }
        *self.windows.write().unwrap_or_else(PoisonError::into_inner) = windows;
    }

    /// The data folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Any command from any surface. `subscribe` is each surface's own affair, since events need its channel.
    ///
    /// # Errors
    /// `Forbidden` where `principal` may not; else as the command has it.
    pub async fn call(&self, command: AnyCommand, principal: &Principal) -> Result<Value, ErrorView> {
        let (agent, surface) = (&self.agent, principal.surface);
        agent.permit(&command, principal).await?;
        match command {
            AnyCommand::StartRun(c) => json(&c, agent.start_run(c.clone(), surface).await?),
            AnyCommand::OpenGuest(c) => json(&c, self.open_guest(c.clone(), surface).await?),
            AnyCommand::GuestCall(c) => {
                let mut left = Left(Some((agent.clone(), Arc::clone(&self.models), c.ticket.clone())));
                let answer = self.models.guests.call(c.clone()).await;
                left.0 = None;
                json(&c, answer?)
            }
            AnyCommand::CloseGuest(c) => json(&c, close_guest(agent, &self.models, &c.ticket).await?),
            AnyCommand::SteerRun(c) => json(&c, agent.steer_run(c.clone()).await?),
            AnyCommand::TakeBackGrant(c) => json(&c, agent.take_back_grant(c.clone()).await?),
            AnyCommand::Undo(c) => json(&c, agent.undo(c.clone()).await?),
            AnyCommand::StopRun(c) => json(&c, agent.stop_run(c.clone(), surface).await?),
            AnyCommand::PauseRun(c) => json(&c, agent.pause_run(c.clone(), surface).await?),
            AnyCommand::BringUpWindow(c) => json(&c, agent.bring_up_window(c.clone()).await?),
            AnyCommand::ResumeRun(c) => json(&c, agent.resume_run(c.clone()).await?),
            AnyCommand::AnswerApproval(c) => json(&c, agent.answer_approval(c.clone(), surface).await?),
            AnyCommand::AnswerWithKey(c) => {
                let (keys, key) = (self.keys.clone(), c.key.clone());
                let known =
                    tokio::time::timeout(UNLOCKED, blocking(move || Approver::known(&keys, &key))).await;
                let silent = || {
                    ErrorView::new(ErrorCode::Keychain, "the keychain does not answer")
                        .with_hint("unlock it, or answer in Miki's windows")
                };
                if let Some(error) = known.map_err(|_| silent())???.fault() {
                    agent.note_refusal(AnswerWithKey::NAME, &error).await?;
                    return Err(error);
                }
                let (approval, digest, answer) = (c.approval.clone(), c.digest.clone(), c.answer.clone());
                if let (Answer::Deny, Some(why)) = (&answer, &c.why) {
                    let open = agent.overview().await?.questions;
                    if let Some(question) = open.into_iter().find(|open| open.approval.id == approval) {
                        agent.steer_run(SteerRun { run: question.run, text: why.clone() }).await?;
                    }
                }
                json(&c, agent.answer_approval(AnswerApproval { approval, digest, answer }, surface).await?)
            }
            AnyCommand::NewApproverKey(c) => {
                let keys = self.keys.clone();
                json(&c, blocking(move || keys.new_approver()).await??)
            }
            AnyCommand::DeleteApproverKey(c) => {
                let keys = self.keys.clone();
                json(&c, blocking(move || keys.delete_approver()).await??)
            }
            AnyCommand::GetOverview(c) => json(&c, agent.overview().await?),
            AnyCommand::ReadEvents(c) => json(&c, agent.read_events(c.clone()).await?),
            AnyCommand::GetForecast(c) => json(&c, agent.forecast(c.model.clone()).await?),
            AnyCommand::ListRuns(c) => json(&c, agent.list_runs().await?),
            AnyCommand::Subscribe(_) => Err(ErrorView::new(
                ErrorCode::BadRequest,
                "events need a channel, which this surface has not opened",
            )),
            AnyCommand::ListSessions(c) => json(&c, agent.list_sessions(c.clone()).await?),
            AnyCommand::OpenSession(c) => json(&c, agent.open_session(&c.session).await?),
            AnyCommand::SearchSessions(c) => json(&c, agent.search_sessions(c.clone()).await?),
            AnyCommand::BranchSession(c) => json(&c, agent.branch_session(c.clone()).await?),
            AnyCommand::DeleteSession(c) => json(&c, agent.delete_session(c.session.clone()).await?),
            AnyCommand::RestoreSession(c) => json(&c, agent.restore_session(c.session.clone()).await?),
            AnyCommand::ChooseFolder(c) => json(&c, self.choose_folder(&c).await?),
            AnyCommand::ExportSession(c) => json(&c, self.export(&c).await?),
            AnyCommand::ImportSession(c) => {
                let file = PathBuf::from(&c.file);
                if surface != Surface::Cli || !file.is_absolute() {
                    let message = "a session is imported by the command line only";
                    return Err(
                        ErrorView::new(ErrorCode::BadRequest, message).with_hint("miki session import FILE")
                    );
                }
                json(&c, transfer::import(agent, file).await?)
            }
            AnyCommand::EditSession(c) => json(&c, agent.edit_session_by(c.clone(), principal).await?),
            AnyCommand::CallTool(c) => json(&c, agent.call_tool_by(c.clone(), principal).await?),
            AnyCommand::UpdateSettings(c) => {
                let before = agent.settings().mcp_servers;
                let settings = agent.update_settings_by(c.patch.clone(), principal).await?;
                // As they are by now: another change may have come in between.
                self.servers.set(&agent.settings().mcp_servers);
                if before != settings.mcp_servers {
                    let now = settings.mcp_servers.clone();
                    let launcher = Arc::clone(&self.launcher);
                    blocking(move || launcher.forget(&before, &now)).await?;
                }
                json(&c, settings)
            }
            AnyCommand::SetKey(c) => {
                let (keys, new) = (self.keys.clone(), c.clone());
                let set = move || match &new.address {
                    Some(address) => keys.set_for(&new.provider, &new.key, address),
                    None => keys.set(&new.provider, &new.key),
                };
                json(&c, blocking(set).await??)
            }
            AnyCommand::MoveKey(c) => {
                let (keys, provider) = (self.keys.clone(), c.provider.clone());
                // As its window shows it.
                let settings = agent.settings();
                let of_service = || service_address(&provider, &settings);
                let url = address_of(&provider, &settings).or_else(of_service).ok_or_else(|| {
                    ErrorView::new(ErrorCode::BadRequest, format!("there is no address of {provider}"))
                })?;
                json(&c, blocking(move || keys.move_to(&provider, &url)).await??)
            }
            AnyCommand::DeleteKey(c) => {
                let (keys, provider) = (self.keys.clone(), c.provider.clone());
                json(&c, blocking(move || keys.delete(&provider)).await??)
            }
            AnyCommand::KeyStatus(c) => {
                let keys = self.keys.clone();
                json(&c, blocking(move || keys.status()).await?)
            }
            AnyCommand::SetSecret(c) => {
                let (secrets, new) = (self.secrets.clone(), c.clone());
                json(&c, blocking(move || secrets.set(&new.name, &new.place, &new.value)).await??)
            }
            AnyCommand::DeleteSecret(c) => {
                let (secrets, name) = (self.secrets.clone(), c.name.clone());
                json(&c, blocking(move || secrets.delete(&name)).await??)
            }
            AnyCommand::ListSecrets(c) => {
                let secrets = self.secrets.clone();
                json(&c, blocking(move || secrets.list()).await??)
            }
            AnyCommand::ListGuests(c) => {
                let _coming = self.coming.lock().await;
                json(&c, self.models.guests.list())
            }
            AnyCommand::ListServers(c) => {
                // Who heard that the settings have changed may ask before whoever changed them has said it here.
                self.servers.set(&agent.settings().mcp_servers);
                json(&c, self.servers.list())
            }
            AnyCommand::TestServer(c) => json(&c, self.servers.test(&c.server).await?),
            AnyCommand::FillPrompt(c) => {
                let FillPrompt { server, prompt, fields } = c.clone();
                json(&c, self.servers.fill_prompt(&server, &prompt, fields).await?)
            }
            AnyCommand::SetServerKey(c) => {
                let SetServerKey { server, variable, value } = c.clone();
                let settings = agent.settings();
                let of =
                    settings.mcp_servers.get(&server).filter(|one| one.keys.contains(&variable)).cloned();
                let Some(of) = of else {
                    let message =
                        format!("there is no server {server:?} that gets {variable:?} from the keychain");
                    return Err(ErrorView::new(ErrorCode::NotFound, message)
                        .with_hint("miki mcp list tells which there are; add one with --key NAME"));
                };
                let name = server.clone();
                blocking(move || servers::keep(&Keychain, (&server, &of), &variable, &value)).await??;
                json(&c, self.servers.renew(&name).await?)
            }
            AnyCommand::BeginSignIn(c) => {
                json(&c, self.servers.begin_sign_in(&c.server, c.client.as_deref(), &c.scopes).await?)
            }
            AnyCommand::FinishSignIn(c) => json(&c, self.servers.finish_sign_in(&c.server).await?),
            AnyCommand::SignOut(c) => json(&c, self.servers.sign_out(&c.server).await?),
            AnyCommand::ListProviders(c) => json(&c, offer::providers()),
            AnyCommand::ListModels(c) if c.asked => {
                let settings = agent.settings();
                json(&c, offer::asked(&self.models, &c.provider, &settings).await?)
            }
            AnyCommand::ListModels(c) => json(&c, offer::known(&c.provider)?),
            AnyCommand::TestModel(c) => {
                let settings = agent.settings();
                json(&c, offer::tried(&self.models, &c.model, &settings).await?)
            }
            AnyCommand::Permissions(c) => json(&c, self.checks().await?),
            AnyCommand::OpenPermission(c) => {
                self.desktop.open_permission(c.check).await.map_err(|error| no_settings(&error))?;
                json(&c, ())
            }
            AnyCommand::ShowWindow(c) => {
                agent.check_staying()?;
                self.windows()?.show(&c).await?;
                json(&c, ())
            }
            AnyCommand::GetRemembered(_) | AnyCommand::Remember(_) => Err(ErrorView::new(
                ErrorCode::BadRequest,
                "what the windows remember is theirs alone, and no way leads there from here",
            )),
        }
    }

    /// A run whose model is an agent of another program.
    async fn open_guest(&self, guest: OpenGuest, by: Surface) -> Result<OpenedGuest, ErrorView> {
        let OpenGuest { client, groups, conducts, unattended, way } = guest;
        // Whatever it asks for: eyes and hands; one that conducts starts agents, which have what agents of ours have.
        let of_a_desk = mcp::desk::groups();
        let is_one = |name: &String| of_a_desk.iter().any(|group| *name == group.name());
        let groups = (!conducts).then(|| groups.into_iter().filter(is_one).collect());
        // Whoever asks who is there is told of this one as soon as its run is.
        let _coming = self.coming.lock().await;
        let comes = Comes { client, conducts, way, at: SystemClock.now() };
        let (model, ticket) = self.models.guests.open(comes)?;
        // Whoever asked for it may be gone before it has begun.
        let mut left = Left(Some((self.agent.clone(), Arc::clone(&self.models), ticket.clone())));
        let does = if conducts { "Start agents" } else { "Work at the desktop" };
        let goal = format!("{does} for {}, another program's agent (MCP)", model.name());
        // Its steps are its calls, and those of all agents that it starts: as many as those have that may be at work at once.
        let settings = self.agent.settings();
        let of_all = settings.max_steps.saturating_mul(settings.agents).min(Settings::MOST_STEPS);
        let overrides = RunOverrides {
            model: Some(model),
            search: Some(false),
            unattended,
            plan: Some(false),
            groups,
            conducts,
            max_steps: conducts.then_some(of_all),
            ..RunOverrides::default()
        };
        let started = self.agent.start_run(StartRun { goal, session: None, overrides }, by).await;
        left.0 = None;
        match started {
            Ok(run) => {
                self.models.guests.note_run(&ticket, &run);
                Ok(OpenedGuest { run, ticket })
            }
            Err(error) => {
                self.models.guests.leave(&ticket);
                Err(error)
            }
        }
    }

    /// The folder that the user chooses in a dialog, judged before it is anybody's.
    async fn choose_folder(&self, command: &ChooseFolder) -> Result<Option<String>, ErrorView> {
        let settings = self.agent.settings();
        let now = match &command.session {
            Some(session) => self.agent.open_session(session).await?.space,
            None => None,
        };
        let from = self.workplaces.path(&now.unwrap_or(settings.space));
        // Of one whose name is no text the dialog is not told.
        let from = from.filter(|folder| folder.is_dir() && folder.to_str().is_some());
        let asks = AskFolder { from, language: settings.language };
        let Some(chosen) = self.windows()?.choose_folder(asks).await? else { return Ok(None) };
        let workplaces = Arc::clone(&self.workplaces);
        let folder = blocking(move || workplaces.judged(&chosen)).await??;
        if let Some(session) = &command.session {
            self.agent.work_in(session, folder.clone()).await?;
        }
        Ok(Some(folder))
    }

    /// Into a new file of the user's downloads: a window names no files.
    async fn export(&self, command: &ExportSession) -> Result<Exported, ErrorView> {
        let folder = dirs::download_dir().filter(|folder| folder.is_dir()).or_else(std::env::home_dir);
        let folder = folder.ok_or_else(|| {
            ErrorView::new(ErrorCode::Unavailable, "no folder for downloads is known")
                .with_hint("use the command line: miki session export SESSION")
        })?;
        let (agent, format, pictures) = (self.agent.clone(), command.format, command.pictures);
        let session = agent.open_session(&command.session).await?;
        let events = agent.events_of(&session.id).await?;
        let blobs = self.blobs.clone();
        blocking(move || {
            let to = transfer::free_name(&folder, &session, format);
            transfer::export(&to, format, &session, &events, Some(blobs.as_path()).filter(|_| pictures))
        })
        .await?
    }

    /// Refuses to send a key elsewhere at the word of a program on the socket: its window asks the user.
    async fn keep_keys(&self, command: &AnyCommand) -> Result<(), ErrorView> {
        let settings = self.agent.settings();
        let mut next = settings.clone();
        match command {
            // What is wrong with a patch is said by whoever carries it out.
            AnyCommand::UpdateSettings(c) => next = settings.patched(&c.patch).unwrap_or(next),
            AnyCommand::StartRun(c) => {
                let model = c.overrides.model.as_ref().unwrap_or(&settings.model);
                let provider = model.provider().unwrap_or_default().to_owned();
                next.base_urls.extend(c.overrides.base_url.clone().map(|url| (provider, url)));
            }
            _ => return Ok(()),
        }
        for provider in takers() {
            let (old, new) = (address_of(provider, &settings), address_of(provider, &next));
            if old == new {
                continue;
            }
            let keys = self.keys.clone();
            let state = blocking(move || keys.view(provider).state).await?;
            if matches!(state, KeyState::InKeychain | KeyState::InEnvironment) {
                let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
                let message = format!("the key for {provider} goes to {old} only, and not to {new}");
                let error = ErrorView::new(ErrorCode::Forbidden, message).with_hint(
                    "change the address in the settings of Miki's window, or delete the key first",
                );
                self.agent.note_refusal(command.name(), &error).await?;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Refuses to make an approver key for a program on the socket: whoever has one answers every question. It is made by
    /// a command that is the engine itself.
    async fn keep_approver(&self, command: &AnyCommand) -> Result<(), ErrorView> {
        if !matches!(command, AnyCommand::NewApproverKey(_)) {
            return Ok(());
        }
        let error = ErrorView::new(ErrorCode::Forbidden, "an approver key cannot be made while Miki runs")
            .with_hint("quit Miki, then run this again: miki approvals key new");
        self.agent.note_refusal(command.name(), &error).await?;
        Err(error)
    }

    fn windows(&self) -> Result<Arc<dyn Windows>, ErrorView> {
        self.windows.read().unwrap_or_else(PoisonError::into_inner).clone().ok_or_else(|| {
            if self.is_app.load(Ordering::Relaxed) {
                return ErrorView::new(ErrorCode::Leaving, "the windows are gone")
                    .with_hint("try again in a moment");
            }
            ErrorView::new(ErrorCode::Unavailable, "this miki has no windows")
                .with_hint("it was started by a command; wait for its end, then start the app with: miki")
        })
    }

    async fn checks(&self) -> Result<Vec<CheckView>, ErrorView> {
        let settings = self.agent.settings();
        let journal = CheckView {
            check: Check::Journal,
            state: CheckState::Well,
            detail: "open, and written before each step".into(),
            remedy: None,
        };
        let file = checks::settings_file(self.agent.put_back().await?.map(|put_back| put_back.said));
        let kept = (file, journal);
        Ok(checks::all(self.desktop.as_ref(), &self.keys, kept, self.models.as_ref(), &settings).await)
    }

    /// What the desktop says of itself: quick, and without keychain or network.
    pub async fn display_checks(&self) -> Vec<CheckView> {
        self.desktop.checks().await
    }

    /// Stops what runs, releases what is held, and writes the end of it.
    pub async fn shutdown(&self) {
        self.agent.shutdown().await;
        self.desktop.release_all();
    }

    /// Releases held keys and buttons at once, for an end that cannot wait.
    pub fn release_all(&self) {
        self.desktop.release_all();
    }
}

/// Nobody can answer a question by the approver key, and how it is answered.
pub fn no_approver_made() -> ErrorView {
    ErrorView::new(ErrorCode::Forbidden, "no approver key was made, so nothing is answered here").with_hint(
        "answer in one of Miki's windows; to answer here another time, make a key while no run is open and Miki does not run: \
         miki approvals key new",
    )
}

/// For the keychain, which may ask its user to unlock it first.
const UNLOCKED: Duration = Duration::from_secs(45);

/// What a key is that was given as the approver's.
#[derive(Clone, Copy)]
enum Approver {
    This,
    Another,
    /// There is no approver key that it could be.
    None,
}

impl Approver {
    fn known(keys: &Keys, key: &protocol::command::Secret) -> Result<Self, ErrorView> {
        Ok(match keys.is_approver(key)? {
            true => Self::This,
            false if keys.has_approver()? => Self::Another,
            false => Self::None,
        })
    }

    /// Why it does not answer a question, and how to.
    fn fault(self) -> Option<ErrorView> {
        match self {
            Self::This => None,
            Self::Another => Some(
                ErrorView::new(ErrorCode::Forbidden, "that is not the approver key").with_hint(
                    "answer in one of Miki's windows; if the key is lost, make another while no run is open and Miki does not \
                     run: miki approvals key new",
                ),
            ),
            Self::None => Some(no_approver_made()),
        }
    }
}

/// Ends the work of a guest whose client has left.
async fn close_guest(agent: &AgentHandle, models: &Models, ticket: &str) -> Result<(), ErrorView> {
    let Some(run) = models.guests.leave(ticket) else { return Ok(()) };
    if agent.list_runs().await?.iter().any(|status| status.run == run) {
        agent.stop_run(StopRun { run: Some(run) }, Surface::Cli).await?;
    }
    Ok(())
}

/// Whoever waited for a guest's call is gone: without its client, nobody wants what comes of it.
struct Left(Option<(AgentHandle, Arc<Models>, String)>);

impl Drop for Left {
    fn drop(&mut self) {
        let Some((agent, models, ticket)) = self.0.take() else { return };
        tokio::spawn(async move {
            if let Err(error) = close_guest(&agent, &models, &ticket).await {
                tracing::warn!("the work of a client that has left was not ended: {error}");
            }
        });
    }
}

impl socket::Endpoint for Engine {
    fn call<'a>(
        &'a self,
        command: AnyCommand,
        principal: &'a Principal,
    ) -> BoxFuture<'a, Result<Value, ErrorView>> {
        Box::pin(async move {
            self.keep_keys(&command).await?;
            self.keep_approver(&command).await?;
            Engine::call(self, command, principal).await
        })
    }

    fn subscribe(&self, command: Subscribe) -> BoxFuture<'_, Result<(Seq, socket::Stream), ErrorView>> {
        Box::pin(async move {
            let events = self.agent.subscribe(command).await?;
            let start = events.start();
            let next = |mut events: Subscription| async move { Some((events.next().await, events)) };
            Ok((start, futures::stream::unfold(events, next).boxed()))
        })
    }
}

/// Why the system's settings did not open.
fn no_settings(error: &desktop::DesktopError) -> ErrorView {
    let code = match error {
        desktop::DesktopError::NotAvailable(_) => ErrorCode::Unavailable,
        _ => ErrorCode::Internal,
    };
    ErrorView::new(code, error.to_string()).with_hint("miki doctor tells how to fix it")
}

/// The desktop, with our own windows out of bounds.
pub fn open_desktop(home: &Home, settings: &Settings, windows: WindowsProcess) -> Arc<dyn desktop::Desktop> {
    desktop::open(desktop::Options {
        failsafe: settings.failsafe,
        windows,
        watchdog: watchdog(),
        scripted_apps: browser::scriptable(),
        ocr_models: Some(ocr_models(home)),
        ..desktop::Options::default()
    })
}

/// The browser: one that runs and allows it, or one of our own with its profile in the data folder.
fn open_browser(home: &Home, desktop: &Arc<dyn desktop::Desktop>) -> Arc<dyn browser::Browser> {
    let options = browser::Options { data: home.path().to_owned(), ..browser::Options::default() };
    browser::open(options, Arc::clone(desktop))
}

/// `MIKI_OCR_MODELS`, else the first that has them: `models/ocr` of the data folder, and what came with the program;
/// the data folder's where there are none yet.
fn ocr_models(home: &Home) -> PathBuf {
    if let Some(named) = std::env::var_os("MIKI_OCR_MODELS").filter(|value| !value.is_empty()) {
        return named.into();
    }
    let own = home.ocr_models();
    let program = std::env::current_exe().and_then(|program| program.canonicalize()).ok();
    let bundled = program.iter().flat_map(|program| bundled_models(program));
    let mut folders = std::iter::once(own.clone()).chain(bundled);
    folders.find(|folder| desktop::has_ocr_models(folder)).unwrap_or(own)
}

/// Where `models/ocr` may have come with this program: beside it, where Tauri's packages for Linux have their resources
/// (`/usr/lib/Miki` for `/usr/bin/miki`, the same below an AppImage's mount), and where distributions would put them.
fn bundled_models(program: &Path) -> Vec<PathBuf> {
    let folder = program.parent().unwrap_or(Path::new("."));
    ["", "../lib/Miki", "../lib/miki", "../share/miki"]
        .map(|part| folder.join(part).join("models/ocr"))
        .into()
}

/// This very program as the watchdog of what it holds down; empty if it cannot be found again.
fn watchdog() -> Vec<String> {
    let program = std::env::current_exe().ok().and_then(|path| path.into_os_string().into_string().ok());
    program.map_or_else(Vec::new, |program| vec![program, "watchdog".into()])
}

/// From the data folder's own `.env`; any other file is someone's, and takes `miki key migrate`.
async fn take_over_old_keys(file: PathBuf, keys: &Keys) -> Result<(), ErrorView> {
    let keys = keys.clone();
    blocking(move || {
        for outcome in migrate(&file, keys.store()) {
            match outcome {
                Migrated::Moved { name, provider, file } => {
                    tracing::warn!(
                        "the key for {provider} ({name}) was moved from {} to the keychain",
                        file.display()
                    );
                }
                Migrated::Left { name, file, reason } => {
                    tracing::warn!("{name} was left in {}: {reason}", file.display());
                }
            }
        }
    })
    .await
}

/// The answer as JSON, of the type that the command promises.
fn json<C: Command>(_command: &C, response: C::Response) -> Result<Value, ErrorView> {
    serde_json::to_value(response).map_err(|error| {
        ErrorView::new(ErrorCode::Internal, format!("answer to {} cannot be written: {error}", C::NAME))
    })
}

/// Runs what blocks (files, the keychain) where it holds nobody up.
///
/// # Errors
/// [`ErrorCode::Internal`] where it broke down.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ErrorView> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| ErrorView::new(ErrorCode::Internal, format!("a piece of work broke down: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_that_came_with_a_package_are_looked_for_where_tauri_puts_resources() {
        let config = include_str!("../../tauri.conf.json");
        let config: Value = serde_json::from_str(config).unwrap();
        let root = tempfile::tempdir().unwrap();
        let resources = root.path().join("usr/lib").join(config["productName"].as_str().unwrap());
        std::fs::create_dir_all(resources.join("models/ocr")).unwrap();
        std::fs::create_dir_all(root.path().join("usr/bin")).unwrap();
        let found =
            bundled_models(&root.path().join("usr/bin/miki")).into_iter().find(|folder| folder.is_dir());
        let expected = resources.join("models/ocr").canonicalize().unwrap();
        assert_eq!(found.unwrap().canonicalize().unwrap(), expected);
    }
}
