//! A private X server, and on wish a window manager and a session bus; ended with the test.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use desktop::{Action, Button, Desktop, Options};
use protocol::geometry::NormPoint;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::randr::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, InputFocus, MapState, PropMode, Window,
    WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

#[path = "managed.rs"]
mod managed;

use self::managed::wait_for_manager;

/// The process that the desktop under test takes for its own; there is none with this number.
pub const OURS: u32 = 0x7fff_fff0;
pub const WIDTH: u16 = 1280;
pub const HEIGHT: u16 = 800;

/// The point in the middle of a pixel.
pub fn at(x: f64, y: f64) -> NormPoint {
    NormPoint::new((x + 0.5) * 1000.0 / f64::from(WIDTH), (y + 0.5) * 1000.0 / f64::from(HEIGHT)).unwrap()
}

pub fn token() -> CancellationToken {
    CancellationToken::new()
}

pub fn click(x: f64, y: f64) -> Action {
    Action::Click { display: 0, at: at(x, y), button: Button::Left, count: 1, held: vec![] }
}

/// A program of the test, killed when it goes out of scope.
pub struct Program(pub Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

pub struct Screen {
    // Dropped in this order: programs before their server.
    pub programs: Vec<Program>,
    server: Program,
    pub display: String,
    pub bus: Option<String>,
    pub home: TempDir,
}

/// Starts a program whose first line of output is its address.
fn start(command: &mut Command) -> (Program, String) {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.unwrap_or_else(|error| panic!("start {command:?}: {error}"));
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Program(child), line.trim().to_owned())
}

impl Screen {
    pub fn new() -> Self {
        let size = format!("{WIDTH}x{HEIGHT}x24");
        let mut server = Command::new("Xvfb");
        server.args(["-displayfd", "1", "-screen", "0", &size, "-nolisten", "tcp", "-noreset"]);
        let (server, number) = start(&mut server);
        assert!(!number.is_empty(), "Xvfb named no display");
        let display = format!(":{number}");
        Self { programs: Vec::new(), server, display, bus: None, home: tempfile::tempdir().unwrap() }
    }

    /// Ends the server and starts another one at the same place.
    pub fn restart(&mut self) {
        let _ended = self.server.0.kill();
        let _status = self.server.0.wait();
        let size = format!("{WIDTH}x{HEIGHT}x24");
        let mut server = Command::new("Xvfb");
        server.args([
            &self.display,
            "-displayfd",
            "1",
            "-screen",
            "0",
            &size,
            "-nolisten",
            "tcp",
            "-noreset",
        ]);
        let (server, number) = start(&mut server);
        assert_eq!(format!(":{number}"), self.display);
        self.server = server;
    }

    pub fn with_bus(mut self) -> Self {
        let mut command = Command::new("dbus-daemon");
        command.args(["--session", "--nofork", "--print-address=1"]);
        self.environment(&mut command);
        let (program, address) = start(&mut command);
        assert!(!address.is_empty(), "dbus-daemon named no address");
        self.programs.push(program);
        self.bus = Some(address);
        self
    }

    pub fn with_window_manager(mut self) -> Self {
        self.run("openbox", &[]);
        wait_for_manager(&self.connect());
        self
    }

    fn environment(&self, command: &mut Command) {
        let home = self.home.path();
        command
            .current_dir(home)
            .env("DISPLAY", &self.display)
            .env("HOME", home)
            .env("XDG_RUNTIME_DIR", home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("LANG", "C.UTF-8")
            .env("GDK_BACKEND", "x11")
            .env("NO_AT_BRIDGE", "0")
            .env("GTK_A11Y", "atspi")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::null());
        match &self.bus {
            Some(bus) => command.env("DBUS_SESSION_BUS_ADDRESS", bus),
            None => command.env_remove("DBUS_SESSION_BUS_ADDRESS"),
        };
    }

    #[allow(dead_code, reason = "only the test of memory asks")]
    pub fn server_pid(&self) -> u32 {
        self.server.0.id()
    }

    /// Two monitors side by side, LEFT and RIGHT, in place of one.
    pub fn split(&self) {
        let conn = self.connect();
        let root = conn.setup().roots[0].root;
        let outputs = conn.randr_get_screen_resources_current(root).unwrap().reply().unwrap().outputs;
        let half = WIDTH / 2;
        for (name, x, outputs) in [("LEFT", 0, outputs), ("RIGHT", half, Vec::new())] {
            let name = conn.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom;
            let monitor = randr::MonitorInfo {
                name,
                primary: x == 0,
                x: i16::try_from(x).unwrap(),
                width: half,
                height: HEIGHT,
                width_in_millimeters: 160,
                height_in_millimeters: 200,
                outputs,
                ..Default::default()
            };
            conn.randr_set_monitor(root, monitor).unwrap().check().unwrap();
        }
    }

    pub fn run(&mut self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(program);
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        self.environment(&mut command);
        let child = command.spawn().unwrap_or_else(|error| panic!("start {program}: {error}"));
        self.programs.push(Program(child));
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn connect(&self) -> RustConnection {
        RustConnection::connect(Some(&self.display)).unwrap().0
    }

    /// The desktop under test. The test's own process is not ours, or its windows would be.
    pub fn desktop(&self) -> Arc<dyn Desktop> {
        desktop::open(self.options())
    }

    pub fn options(&self) -> Options {
        Options {
            failsafe: true,
            own_pid: OURS,
            display: Some(self.display.clone()),
            session_bus: self.bus.clone(),
            ..Options::default()
        }
    }
}

/// Polls until `look` sees it; fails the test after a generous while.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A window of one colour that records what happens to it.
pub struct Target {
    pub conn: RustConnection,
    pub window: Window,
}

impl Target {
    pub fn new(screen: &Screen, title: &str, rect: (i16, i16, u16, u16), colour: u32) -> Self {
        Self::of(screen, title, rect, colour, None)
    }

    /// One of our own.
    pub fn ours(screen: &Screen, rect: (i16, i16, u16, u16), colour: u32) -> Self {
        Self::of(screen, "Miki", rect, colour, Some(OURS))
    }

    fn of(screen: &Screen, title: &str, rect: (i16, i16, u16, u16), colour: u32, pid: Option<u32>) -> Self {
        let conn = screen.connect();
        let root = conn.setup().roots[0].root;
        let window = conn.generate_id().unwrap();
        let mask = EventMask::BUTTON_PRESS
            | EventMask::BUTTON_RELEASE
            | EventMask::KEY_PRESS
            | EventMask::KEY_RELEASE
            | EventMask::POINTER_MOTION
            | EventMask::STRUCTURE_NOTIFY;
        let values = CreateWindowAux::new().background_pixel(colour).event_mask(mask);
        let (x, y, width, height) = rect;
        conn.create_window(0, window, root, x, y, width, height, 0, WindowClass::INPUT_OUTPUT, 0, &values)
            .unwrap();
        conn.change_property8(
            PropMode::REPLACE,
            window,
            AtomEnum::WM_NAME,
            AtomEnum::STRING,
            title.as_bytes(),
        )
        .unwrap();
        if let Some(pid) = pid {
            let name = conn.intern_atom(false, b"_NET_WM_PID").unwrap().reply().unwrap().atom;
            conn.change_property32(PropMode::REPLACE, window, name, AtomEnum::CARDINAL, &[pid]).unwrap();
        }
        conn.map_window(window).unwrap();
        conn.flush().unwrap();
        wait_for("the window to be shown", || {
            let attributes = conn.get_window_attributes(window).unwrap().reply().unwrap();
            (attributes.map_state == MapState::VIEWABLE).then_some(())
        });
        Self { conn, window }
    }

    pub fn focus(&self) {
        self.conn.set_input_focus(InputFocus::PARENT, self.window, x11rb::CURRENT_TIME).unwrap();
        self.conn.get_input_focus().unwrap().reply().unwrap();
    }

    /// Waits for an event that `wanted` takes.
    pub fn event<T>(&self, what: &str, mut wanted: impl FnMut(&Event) -> Option<T>) -> T {
        wait_for(what, || {
            while let Some(event) = self.conn.poll_for_event().unwrap() {
                if let Some(found) = wanted(&event) {
                    return Some(found);
                }
            }
            None
        })
    }

    /// All events that have arrived by now.
    pub fn events(&self) -> Vec<Event> {
        self.conn.get_input_focus().unwrap().reply().unwrap();
        std::iter::from_fn(|| self.conn.poll_for_event().unwrap()).collect()
    }
}
