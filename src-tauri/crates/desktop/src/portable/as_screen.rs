//! [`Screen`] of macOS and Windows: the platform's own capture where it has one, else xcap.

use futures::future::BoxFuture;
#[cfg(windows)]
use ocr::ReadRequest;
#[cfg(target_os = "macos")]
use ocr::TextLine;
use ocr::TextRead;
use pictures::{Frame, Picture, Thumbnail, Viewport, encode, thumbnail};
use protocol::geometry::PhysicalRect;
use protocol::view::DisplayView;

use super::capture::Capturer;
use super::crop;
use super::facade::{Facade, LOOK};
use super::platform::Platform;
use super::scene::{self, Own};
#[cfg(windows)]
use crate::reading::{ENOUGH, TextReader, source_of};
use crate::{Area, DesktopError, Screen, Shot, locked};

/// The pixels of an area, and where they are on the screen.
fn look<P: Platform>(area: &Area, own: &Own) -> Result<(Frame, PhysicalRect), DesktopError> {
    if P::is_locked() {
        return Err(locked());
    }
    match area {
        Area::Display(index) => Ok((Capturer::look::<P>(*index, own)?, Capturer::display(*index)?.bounds)),
        Area::Window(id) => {
            let top = Capturer::tops()?.into_iter().find(|top| top.id == id.0).ok_or_else(|| {
                DesktopError::NotFound(format!(
                    "window {} on the screen; it may be minimized or closed",
                    id.0
                ))
            })?;
            if own.has(&top) {
                return Err(DesktopError::Forbidden("that is Miki's own window".into()));
            }
            Ok((Capturer::look_at_window::<P>(&top, own)?, top.rect))
        }
        Area::Region { display, rect } => {
            let bounds = Capturer::display(*display)?.bounds;
            let wanted = crop::region(rect, &bounds)?;
            Ok((crop::crop(&Capturer::look::<P>(*display, own)?, &bounds, &wanted)?, wanted))
        }
    }
}

/// The display whose 0-1000 an area's answers are in.
fn display_of(area: &Area, shows: &PhysicalRect) -> Result<DisplayView, DesktopError> {
    match area {
        Area::Display(index) | Area::Region { display: index, .. } => Capturer::display(*index),
        Area::Window(_) => {
            let mut displays = Capturer::displays()?;
            let bounds: Vec<PhysicalRect> = displays.iter().map(|display| display.bounds).collect();
            Ok(displays.swap_remove(scene::shows_most(&bounds, shows)))
        }
    }
}

#[cfg(windows)]
impl<P: Platform> Facade<P> {
    async fn read_by_networks(&self, area: Area) -> Result<TextRead, DesktopError> {
        let Some(reader) = &self.text_reader else { return Err(TextReader::missing()) };
        let (source, area, part) = source_of(area);
        let own = self.own.clone();
        let seen = self.capturer.run(LOOK, move |_| {
            let (frame, shows) = look::<P>(&area, &own)?;
            Ok((frame, Viewport { shows, display: display_of(&area, &shows)?.bounds }))
        });
        let (frame, viewport) = seen.await?;
        Ok(reader.read(ReadRequest { source, frame, viewport, part }, ENOUGH).await?.0)
    }
}

#[cfg(target_os = "macos")]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "places on a screen")]
fn read<P: Platform>(area: &Area, own: &Own) -> Result<TextRead, DesktopError> {
    let (frame, shows) = look::<P>(area, own)?;
    let display = display_of(area, &shows)?;
    let lines = P::read_text(&frame)?;
    let place = |part: f64, from: i32, length: u32| from + (part * f64::from(length)).round() as i32;
    let size = |part: f64, length: u32| (part * f64::from(length)).round() as u32;
    let lines = lines
        .into_iter()
        .map(|line| TextLine {
            bounds: PhysicalRect {
                x: place(line.x, shows.x, shows.width),
                y: place(line.y, shows.y, shows.height),
                width: size(line.width, shows.width),
                height: size(line.height, shows.height),
            }
            .to_norm(&display.bounds),
            text: line.text,
            confidence: line.confidence,
        })
        .collect();
    Ok(TextRead { lines, unread: None })
}

impl<P: Platform> Screen for Facade<P> {
    fn displays(&self) -> BoxFuture<'_, Result<Vec<DisplayView>, DesktopError>> {
        Box::pin(self.capturer.run(LOOK, |_| Capturer::displays()))
    }

    fn screenshot(&self, shot: Shot) -> BoxFuture<'_, Result<Picture, DesktopError>> {
        let own = self.own.clone();
        Box::pin(self.capturer.run(LOOK, move |_| {
            let (mut frame, shows) = look::<P>(&shot.area, &own)?;
            let viewport = Viewport { shows, display: display_of(&shot.area, &shows)?.bounds };
            Ok(encode(&mut frame, viewport, &shot.style())?)
        }))
    }

    fn thumbnail(&self, area: Area) -> BoxFuture<'_, Result<Thumbnail, DesktopError>> {
        let own = self.own.clone();
        Box::pin(self.capturer.run(LOOK, move |_| Ok(thumbnail(&look::<P>(&area, &own)?.0)?)))
    }

    fn read_text(&self, area: Area) -> BoxFuture<'_, Result<TextRead, DesktopError>> {
        #[cfg(windows)]
        return Box::pin(self.read_by_networks(area));
        #[cfg(target_os = "macos")]
        {
            let own = self.own.clone();
            Box::pin(self.capturer.run(LOOK, move |_| read::<P>(&area, &own)))
        }
    }

    fn is_locked(&self) -> BoxFuture<'_, bool> {
        Box::pin(async { P::is_locked() })
    }
}
