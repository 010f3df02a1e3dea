//! What the tests of the contract share: a small fake desktop, one that makes trouble, and ways to call a tool.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use desktop::fake::FakeDesktop;
use desktop::{
    Abilities, Acted, Action, AppView, Area, Clipboard, Desktop, DesktopError, Element, ElementAction,
    ElementQuery, Elements, Fence, Hands, Interruption, ListedElement, Operated, Screen, Script, Shot,
    Snapshot, Target, ToldElements, WindowChange, WindowId, WindowView, Windows,
};
use futures::future::BoxFuture;
use ocr::TextRead;
use pictures::{Picture, Thumbnail};
use protocol::geometry::{NormRect, PixelSize};
use protocol::ids::CallId;
use protocol::tool::{ApprovalMode, Mode, ToolCall};
use protocol::view::{Check, CheckView, DisplayView};
use serde_json::Value;
use space::files::Keep;
use tokio_util::sync::CancellationToken;
use tools::{ExecRequest, Executed, Grants, Limits, Planning, Ports, Router};

pub fn limits() -> Limits {
    Limits {
        timeout: Duration::from_secs(30),
        retries: 3,
        batch_delay: Duration::from_millis(200),
        batch_actions: 8,
        ui_nodes: 200,
        jpeg_quality: 85,
        picture: PixelSize { width: 1280, height: 800 }.into(),
        data_chars: 2_000,
        settle: Duration::from_millis(800),
    }
}

/// A fake with a small display, one element and a script, whose screen changes with every act.
pub fn desktop() -> Arc<FakeDesktop> {
    let fake = FakeDesktop::new();
    fake.edit(|scene| {
        scene.displays[0].bounds.width = 64;
        scene.displays[0].bounds.height = 48;
        scene.abilities.scripting = true;
        scene.script = Some("out\u{200b}put".into());
        scene.snapshot = Snapshot {
            app: "Editor".into(),
            window: "Untitled".into(),
            elements: vec![Element {
                reference: "e1".into(),
                role: "button".into(),
                name: "Save".into(),
                value: String::new(),
                states: Vec::new(),
                bounds: NormRect { x: 100.0, y: 200.0, width: 50.0, height: 20.0 },
                depth: 1,
                ..Element::default()
            }],
            cut: Vec::new(),
            ..Snapshot::default()
        };
    });
    fake.react(|_, scene| scene.colour[0] = scene.colour[0].wrapping_add(1));
    fake
}

pub fn request(tool: &str, arguments: Value) -> ExecRequest {
    ExecRequest {
        call: ToolCall { id: CallId("c-1".into()), tool: tool.into(), arguments },
        mode: Mode::Act,
        approval: ApprovalMode::Auto,
        grants: Grants::default(),
        has_read: false,
        approved: None,
        planning: Planning::Off,
        waived: Vec::new(),
        fence: Default::default(),
        ports: Ports::default(),
    }
}

pub async fn call(router: &Router, tool: &str, arguments: Value) -> Executed {
    execute(router, request(tool, arguments), CancellationToken::new()).await
}

pub async fn execute(router: &Router, request: ExecRequest, cancel: CancellationToken) -> Executed {
    router.execute(tools::Call { request, cancel, limits: Arc::new(limits()) }).await
}

/// What an act, or a look at the elements, does in place of its work.
#[derive(Clone, Debug)]
pub enum Trouble {
    Fails(DesktopError),
    Hangs,
    HangsUntilCancelled,
    Panics,
}

/// The fake, with trouble in every act and every look at elements, and where wished in every picture.
pub struct Troubled {
    pub fake: Arc<FakeDesktop>,
    pub trouble: Trouble,
    /// Pictures fail too.
    pub blind: bool,
    pub tries: AtomicUsize,
    /// Where it falls out of the tries of `tries`: later ones go well.
    pub until: usize,
}

impl Troubled {
    pub fn new(trouble: Trouble) -> Arc<Self> {
        Arc::new(Self {
            fake: desktop(),
            trouble,
            blind: false,
            tries: AtomicUsize::new(0),
            until: usize::MAX,
        })
    }

    pub fn tried(&self) -> usize {
        self.tries.load(Ordering::SeqCst)
    }

    async fn meet<T>(&self, cancel: Option<CancellationToken>) -> Option<Result<T, DesktopError>> {
        if self.tries.fetch_add(1, Ordering::SeqCst) >= self.until {
            return None;
        }
        match &self.trouble {
            Trouble::Fails(error) => Some(Err(error.clone())),
            Trouble::Panics => panic!("the backend is broken"),
            Trouble::Hangs => std::future::pending().await,
            Trouble::HangsUntilCancelled => match cancel {
                Some(cancel) => {
                    cancel.cancelled().await;
                    Some(Err(DesktopError::Cancelled))
                }
                None => std::future::pending().await,
            },
        }
    }
}

impl Screen for Troubled {
    fn displays(&self) -> BoxFuture<'_, Result<Vec<DisplayView>, DesktopError>> {
        self.fake.displays()
    }
    fn screenshot(&self, shot: Shot) -> BoxFuture<'_, Result<Picture, DesktopError>> {
        Box::pin(async move {
            if self.blind {
                return Err(DesktopError::Failed("the display is gone".into()));
            }
            self.fake.screenshot(shot).await
        })
    }
    fn thumbnail(&self, area: Area) -> BoxFuture<'_, Result<Thumbnail, DesktopError>> {
        Box::pin(async move {
            if self.blind {
                return Err(DesktopError::Failed("the display is gone".into()));
            }
            self.fake.thumbnail(area).await
        })
    }
    fn read_text(&self, area: Area) -> BoxFuture<'_, Result<TextRead, DesktopError>> {
        self.fake.read_text(area)
    }
    fn is_locked(&self) -> BoxFuture<'_, bool> {
        self.fake.is_locked()
    }
}

impl Hands for Troubled {
    fn act(&self, action: Action, cancel: CancellationToken) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async move {
            match self.meet(Some(cancel.clone())).await {
                Some(trouble) => trouble,
                None => self.fake.act(action, cancel).await,
            }
        })
    }
    fn release_all(&self) {
        self.fake.release_all();
    }
    fn is_holding(&self) -> bool {
        self.fake.is_holding()
    }
    fn fence(&self, fence: Fence) {
        self.fake.fence(fence);
    }
    fn fenced(&self) -> Fence {
        self.fake.fenced()
    }
    fn interrupted(&self) -> BoxFuture<'_, Interruption> {
        self.fake.interrupted()
    }
}

impl Elements for Troubled {
    fn elements(&self, query: ElementQuery) -> BoxFuture<'_, Result<Snapshot, DesktopError>> {
        Box::pin(async move {
            match self.meet(None).await {
                Some(trouble) => trouble,
                None => self.fake.elements(query).await,
            }
        })
    }
    fn told(&self, told: ToldElements) -> BoxFuture<'_, ()> {
        self.fake.told(told)
    }

    fn listed(&self, reference: String) -> BoxFuture<'_, Option<ListedElement>> {
        self.fake.listed(reference)
    }
    fn operate(
        &self,
        target: Target,
        action: ElementAction,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Operated, DesktopError>> {
        self.fake.operate(target, action, cancel)
    }
    fn press_menu(
        &self,
        app: Option<String>,
        path: Vec<String>,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Operated, DesktopError>> {
        self.fake.press_menu(app, path, cancel)
    }
}

impl Windows for Troubled {
    fn windows(&self) -> BoxFuture<'_, Result<Vec<WindowView>, DesktopError>> {
        self.fake.windows()
    }
    fn change_window(
        &self,
        window: WindowId,
        change: WindowChange,
    ) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        self.fake.change_window(window, change)
    }
    fn give_keyboard(&self, window: WindowId) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        self.fake.give_keyboard(window)
    }
    fn apps(&self) -> BoxFuture<'_, Result<Vec<AppView>, DesktopError>> {
        self.fake.apps()
    }
    fn launch(&self, app: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        self.fake.launch(app)
    }
    fn quit(&self, app: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        self.fake.quit(app)
    }
}

impl Clipboard for Troubled {
    fn clipboard(&self) -> BoxFuture<'_, Result<String, DesktopError>> {
        self.fake.clipboard()
    }
    fn set_clipboard(&self, text: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        self.fake.set_clipboard(text)
    }
}

impl Desktop for Troubled {
    fn abilities(&self) -> Abilities {
        self.fake.abilities()
    }
    fn run_script(
        &self,
        script: Script,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<String, DesktopError>> {
        self.fake.run_script(script, cancel)
    }
    fn checks(&self) -> BoxFuture<'_, Vec<CheckView>> {
        self.fake.checks()
    }
    fn open_permission(&self, check: Check) -> BoxFuture<'_, Result<(), DesktopError>> {
        self.fake.open_permission(check)
    }
}

/// What files were, as long as the test lives.
#[derive(Default)]
pub struct InMemory(Mutex<BTreeMap<String, Vec<u8>>>);

impl Keep for InMemory {
    fn keep(&self, bytes: &mut dyn Read) -> io::Result<String> {
        let mut whole = Vec::new();
        bytes.read_to_end(&mut whole)?;
        let mut kept = self.0.lock().unwrap();
        let name = kept.len().to_string();
        kept.insert(name.clone(), whole);
        Ok(name)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Read>> {
        let kept = self.0.lock().unwrap().get(name).cloned();
        Ok(Box::new(io::Cursor::new(kept.ok_or(io::ErrorKind::NotFound)?)))
    }
}
