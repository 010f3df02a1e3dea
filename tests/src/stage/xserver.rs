//! The X server, the window manager, the compositor and the tray.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;

use anyhow::{Context, Result, bail};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, CloseDown, ConnectionExt, CreateGCAux, PropMode, Rectangle,
};
use x11rb::wrapper::ConnectionExt as _;

use super::{READY, Stage};
use crate::process::Process;

/// A quiet blue, so that pictures show where windows end.
const BACKGROUND: u32 = 0x0033_4a66;

const TRAY: &str = "panel_items = TS\npanel_size = 100% 32\npanel_position = bottom center horizontal\nsystray_padding = 4 4 4\nsystray_icon_size = 22\n";

impl Stage {
    pub(super) fn start_xserver(&mut self, screen: &str) -> Result<()> {
        let mut command = self.command("Xvfb");
        command.args(["-displayfd", "1", "-screen", "0", screen, "-nolisten", "tcp", "-noreset"]);
        command.stdout(Stdio::piped()).stderr(fs::File::create(self.log_path("Xvfb"))?);
        super::require("Xvfb".as_ref(), "xvfb")?;
        let mut server = Process::spawn("Xvfb", "xvfb", command)?;
        let stdout = server.child().stdout.take().context("Xvfb has no output")?;
        let (said, number) = mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let _ = BufReader::new(stdout).read_line(&mut line);
            let _ = said.send(line.trim().to_owned());
        });
        let number = number.recv_timeout(READY).unwrap_or_default();
        self.processes.push(server);
        anyhow::ensure!(!number.is_empty(), "Xvfb gave no display; it said: {}", self.log("Xvfb"));
        self.set_env("DISPLAY", format!(":{number}"));
        self.paint_background()
    }

    /// As programs that set wallpapers do, so that a compositor finds it too.
    fn paint_background(&self) -> Result<()> {
        let (connection, screen) = self.connect()?;
        let screen = &connection.setup().roots[screen];
        let (root, width, height) = (screen.root, screen.width_in_pixels, screen.height_in_pixels);
        let (wallpaper, pen) = (connection.generate_id()?, connection.generate_id()?);
        connection.create_pixmap(screen.root_depth, wallpaper, root, width, height)?;
        connection.create_gc(pen, wallpaper, &CreateGCAux::new().foreground(BACKGROUND))?;
        connection.poly_fill_rectangle(wallpaper, pen, &[Rectangle { x: 0, y: 0, width, height }])?;
        for name in ["_XROOTPMAP_ID", "ESETROOT_PMAP_ID"] {
            let atom = connection.intern_atom(false, name.as_bytes())?.reply()?.atom;
            connection.change_property32(PropMode::REPLACE, root, atom, AtomEnum::PIXMAP, &[wallpaper])?;
        }
        let aux = ChangeWindowAttributesAux::new().background_pixmap(wallpaper);
        connection.change_window_attributes(root, &aux)?;
        connection.clear_area(false, root, 0, 0, 0, 0)?;
        // The wallpaper outlives this connection.
        connection.set_close_down_mode(CloseDown::RETAIN_PERMANENT)?;
        connection.sync_now()
    }

    /// A connection of our own to the stage's display.
    pub(super) fn connect(&self) -> Result<(x11rb::rust_connection::RustConnection, usize)> {
        let display = self.env("DISPLAY").and_then(|d| d.to_str()).context("the stage has no display")?;
        x11rb::connect(Some(display)).with_context(|| format!("cannot connect to display {display}"))
    }

    /// openbox, or what `MIKI_STAGE_WM` names.
    pub(super) fn start_window_manager(&mut self) -> Result<()> {
        let name = std::env::var("MIKI_STAGE_WM").unwrap_or_else(|_| "openbox".into());
        let start: &[&str] = match name.as_str() {
            // openbox 3.6.1 dies of a null pointer, now and then, where a program is killed while its windows are taken in.
            "openbox" => &["sh", "-c", "for start in 1 2 3 4 5; do openbox && break; done"],
            "xfwm4" => &["xfwm4", "--compositor=off"],
            "marco" => &["marco", "--no-composite"],
            "metacity" => &["metacity", "--no-composite"],
            "mutter" => &["mutter", "--x11"],
            other => bail!("MIKI_STAGE_WM is {other}; known: openbox, xfwm4, marco, metacity, mutter"),
        };
        let mut command = self.command(start[0]);
        command.args(&start[1..]);
        self.keep(&name, &name, command)?;
        let (connection, screen) = self.connect()?;
        let root = connection.setup().roots[screen].root;
        self.until_ready("a window manager", || has_property(&connection, root, "_NET_SUPPORTING_WM_CHECK"))
    }

    pub(super) fn start_compositor(&mut self) -> Result<()> {
        // Some window managers are one.
        if std::env::var("MIKI_STAGE_WM").is_ok_and(|name| name == "mutter") {
            return self.until_owned("a compositor", "_NET_WM_CM_S0");
        }
        let mut command = self.command("picom");
        command.args(["--backend", "xrender", "--config", "/dev/null"]);
        self.keep("picom", "picom", command)?;
        self.until_owned("a compositor", "_NET_WM_CM_S0")
    }

    pub(super) fn start_tray(&mut self) -> Result<()> {
        let config = self.path("tint2rc");
        fs::write(&config, TRAY)?;
        let mut command = self.command("tint2");
        command.arg("-c").arg(&config);
        self.keep("tint2", "tint2", command)?;
        self.until_owned("a tray", "_NET_SYSTEM_TRAY_S0")
    }

    fn until_owned(&mut self, what: &str, selection: &str) -> Result<()> {
        let (connection, _) = self.connect()?;
        let atom = connection.intern_atom(false, selection.as_bytes())?.reply()?.atom;
        self.until_ready(what, || {
            let owner = connection.get_selection_owner(atom).ok().and_then(|cookie| cookie.reply().ok());
            owner.is_some_and(|owner| owner.owner != x11rb::NONE)
        })
    }
}

fn has_property(connection: &impl Connection, window: u32, name: &str) -> bool {
    let asked = || -> Result<bool> {
        let atom = connection.intern_atom(false, name.as_bytes())?.reply()?.atom;
        let any = x11rb::protocol::xproto::AtomEnum::ANY;
        Ok(connection.get_property(false, window, atom, any, 0, 1)?.reply()?.value_len > 0)
    };
    asked().unwrap_or(false)
}

/// Flush, and wait until the server has done it all.
pub(super) trait SyncNow {
    fn sync_now(&self) -> Result<()>;
}

impl<C: Connection> SyncNow for C {
    fn sync_now(&self) -> Result<()> {
        self.get_input_focus()?.reply()?;
        Ok(())
    }
}
