//! The screen put together without our own windows: every other window's pixmap, lowest first, on the background.
//!
//! Windows are kept off-screen by Composite: a compositor has done so already; else we ask the server to, once,
//! which it undoes when we go. Alpha and shapes are honoured; a compositor's shadows and effects are not drawn.

use std::collections::HashMap;
use std::time::Duration;

use protocol::geometry::PhysicalRect;
use x11rb::connection::Connection as _;
use x11rb::protocol::composite::{self, ConnectionExt as _, Redirect};
use x11rb::protocol::render::{
    self, Color, ConnectionExt as _, CreatePictureAux, PictOp, PictType, Pictformat, Picture,
};
use x11rb::protocol::shape::SK;
use x11rb::protocol::xfixes::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateGCAux, Pixmap, Rectangle, SubwindowMode, Visualid,
};

use super::session::Session;
use super::windows::{Own, Top, overlap};
use crate::DesktopError;

/// How long windows get to draw what was covered, when they are first kept off-screen.
const REDRAW: Duration = Duration::from_millis(150);

pub(super) struct Composer {
    formats: HashMap<Visualid, Format>,
    root_format: Pictformat,
    root_depth: u8,
    redirected: bool,
}

#[derive(Clone, Copy)]
struct Format {
    id: Pictformat,
    alpha: bool,
}

impl Composer {
    /// `None` if the server lacks Composite, Render or XFixes.
    pub(super) fn open(session: &Session) -> Result<Option<Self>, DesktopError> {
        let needed = [composite::X11_EXTENSION_NAME, render::X11_EXTENSION_NAME, xfixes::X11_EXTENSION_NAME];
        if !needed.iter().all(|extension| session.has(extension)) {
            return Ok(None);
        }
        let conn = &session.conn;
        conn.composite_query_version(0, 4)?.reply()?;
        conn.xfixes_query_version(5, 0)?.reply()?;
        conn.render_query_version(0, 11)?.reply()?;
        let known = conn.render_query_pict_formats()?.reply()?;
        let alpha: HashMap<Pictformat, bool> = known
            .formats
            .iter()
            .map(|f| (f.id, f.type_ == PictType::DIRECT && f.direct.alpha_mask != 0))
            .collect();
        let formats: HashMap<Visualid, Format> = known
            .screens
            .iter()
            .flat_map(|screen| &screen.depths)
            .flat_map(|depth| &depth.visuals)
            .map(|v| (v.visual, Format { id: v.format, alpha: alpha.get(&v.format) == Some(&true) }))
            .collect();
        let screen = conn.setup().roots.iter().find(|screen| screen.root == session.root);
        let root = screen.and_then(|s| Some((formats.get(&s.root_visual)?.id, s.root_depth)));
        Ok(root.map(|(root_format, root_depth)| Self { formats, root_format, root_depth, redirected: false }))
    }

    /// A pixmap of `area` with those windows alone that are `wanted`; the caller frees it.
    pub(super) fn compose(
        &mut self,
        session: &Session,
        tops: &[Top],
        own: &Own,
        area: PhysicalRect,
        wanted: impl Fn(&Top) -> bool,
    ) -> Result<Pixmap, DesktopError> {
        let conn = &session.conn;
        let mut fresh = None;
        if !self.redirected {
            conn.composite_redirect_subwindows(session.root, Redirect::AUTOMATIC)?.check()?;
            self.redirected = true;
            if !has_compositor(session)? {
                session.sync()?;
                std::thread::sleep(REDRAW);
                fresh = Some(session.tops(own)?);
            }
        }
        let pixmap = conn.generate_id()?;
        let (width, height) = (area.width as u16, area.height as u16);
        conn.create_pixmap(self.root_depth, pixmap, session.root, width, height)?;
        let target = conn.generate_id()?;
        conn.render_create_picture(target, pixmap, self.root_format, &CreatePictureAux::new())?;
        background(session, pixmap, target, area)?;
        let tops = fresh.as_deref().unwrap_or(tops);
        for top in tops.iter().filter(|top| wanted(top) && overlap(&top.rect, &area)) {
            // A window may vanish meanwhile, or have no pixmap: then there is nothing of it to show.
            if let Err(error) = self.draw(session, top, target, area) {
                tracing::debug!(%error, window = top.window, "left out of the picture");
            }
        }
        conn.render_free_picture(target)?;
        Ok(pixmap)
    }

    fn draw(
        &self,
        session: &Session,
        top: &Top,
        target: Picture,
        area: PhysicalRect,
    ) -> Result<(), DesktopError> {
        let conn = &session.conn;
        let Some(format) = self.formats.get(&top.visual) else { return Ok(()) };
        let content = conn.generate_id()?;
        conn.composite_name_window_pixmap(top.window, content)?.check()?;
        let source = conn.generate_id()?;
        conn.render_create_picture(source, content, format.id, &CreatePictureAux::new())?;
        let (x, y) = ((top.rect.x - area.x) as i16, (top.rect.y - area.y) as i16);
        let border = top.border as i16;
        let shape = conn.generate_id()?;
        conn.xfixes_create_region_from_window(shape, top.window, SK::BOUNDING)?;
        conn.xfixes_set_picture_clip_region(target, shape, x + border, y + border)?;
        let op = if format.alpha { PictOp::OVER } else { PictOp::SRC };
        let (width, height) = (top.rect.width as u16, top.rect.height as u16);
        conn.render_composite(op, source, x11rb::NONE, target, 0, 0, 0, 0, x, y, width, height)?;
        conn.xfixes_set_picture_clip_region(target, x11rb::NONE, 0, 0)?;
        conn.xfixes_destroy_region(shape)?;
        conn.render_free_picture(source)?;
        conn.free_pixmap(content)?;
        Ok(())
    }
}

/// The wallpaper where it is known; else what of the root window can be seen; else black.
fn background(
    session: &Session,
    pixmap: Pixmap,
    target: Picture,
    area: PhysicalRect,
) -> Result<(), DesktopError> {
    let conn = &session.conn;
    let black = Color { red: 0, green: 0, blue: 0, alpha: u16::MAX };
    let (width, height) = (area.width as u16, area.height as u16);
    let whole = Rectangle { x: 0, y: 0, width, height };
    conn.render_fill_rectangles(PictOp::SRC, target, black, &[whole])?;
    let wallpaper = conn
        .get_property(false, session.root, session.atoms._XROOTPMAP_ID, AtomEnum::PIXMAP, 0, 1)?
        .reply()?
        .value32()
        .and_then(|mut ids| ids.next())
        .filter(|id| *id != 0);
    let from = match wallpaper {
        // The property may outlive its pixmap.
        Some(id) if conn.get_geometry(id)?.reply().is_ok() => id,
        // Below a compositor the root window itself holds nothing of use.
        _ if has_compositor(session)? => return Ok(()),
        _ => session.root,
    };
    let context = conn.generate_id()?;
    let values = CreateGCAux::new().subwindow_mode(SubwindowMode::CLIP_BY_CHILDREN).graphics_exposures(0);
    conn.create_gc(context, pixmap, &values)?;
    let (x, y) = (area.x as i16, area.y as i16);
    conn.copy_area(from, pixmap, context, x, y, 0, 0, width, height)?;
    conn.free_gc(context)?;
    Ok(())
}

fn has_compositor(session: &Session) -> Result<bool, DesktopError> {
    Ok(session.conn.get_selection_owner(session.atoms._NET_WM_CM_S0)?.reply()?.owner != x11rb::NONE)
}
