//! What a window's picture shows of a text that was typed into it, where its application tells nothing of what it holds.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use ocr::{ReadRequest, Source};
use pictures::{Frame, Viewport};
use protocol::geometry::PhysicalRect;
use tokio_util::sync::CancellationToken;

use super::LinuxDesktop;
use super::windows::KeyWindow;
use crate::{Area, WindowId};

/// How long a window may take to show what was typed, and to come to rest.
const SHOWN: Duration = Duration::from_millis(1200);
const LOOK_AGAIN: Duration = Duration::from_millis(40);
/// Longest reading of one picture.
const READING: Duration = Duration::from_millis(1500);
/// Pixels around what changed that are read with it.
const AROUND: i32 = 12;
/// Fewer characters than this are anywhere.
const LEAST_CHARS: usize = 3;

/// A window as it looked.
pub(super) struct Pictured {
    window: u64,
    frame: Frame,
    viewport: Viewport,
}

impl LinuxDesktop {
    /// The window that keys go to; `None` if it has no picture, or if no text can be read in one.
    pub(super) async fn picture_of(&self, keys: &KeyWindow) -> Option<Pictured> {
        self.text_reader.as_ref()?;
        self.picture_now(u64::from(keys.top?)).await
    }

    async fn picture_now(&self, window: u64) -> Option<Pictured> {
        let (frame, viewport) = self.look_at(Area::Window(WindowId(window))).await.ok()?;
        Some(Pictured { window, frame, viewport })
    }

    /// Whether the window looks different at some time from now.
    pub(super) async fn changes_from(&self, before: &Pictured, cancel: &CancellationToken) -> bool {
        let end = Instant::now() + SHOWN;
        while Instant::now() < end && !cancel.is_cancelled() {
            match self.picture_now(before.window).await {
                Some(now) if now.frame == before.frame => tokio::time::sleep(LOOK_AGAIN).await,
                now => return now.is_some(),
            }
        }
        false
    }

    /// The window with each line of a text in it more often than before that was typed; `None` if it does not show so.
    pub(super) async fn shows_typed(
        &self,
        before: &Pictured,
        text: &str,
        cancel: &CancellationToken,
    ) -> Option<Pictured> {
        let now = self.rested(before, cancel).await?;
        let part = changed(&before.frame, &now.frame)?;
        // Before it, so that the newer picture is what is known of this window.
        let then = self.read_part(before, part).await?;
        let shows = shows(&then, &self.read_part(&now, part).await?, text);
        shows.then_some(now)
    }

    /// The window once it differs from before, and has come to rest or had the time for it.
    async fn rested(&self, before: &Pictured, cancel: &CancellationToken) -> Option<Pictured> {
        let end = Instant::now() + SHOWN;
        let mut last: Option<Pictured> = None;
        while !cancel.is_cancelled() {
            let now = self.picture_now(before.window).await?;
            let is_as_before = now.frame == before.frame;
            let rests = last.as_ref().is_some_and(|last| last.frame == now.frame);
            if (rests && !is_as_before) || Instant::now() >= end {
                return (!is_as_before).then_some(now);
            }
            last = Some(now);
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        None
    }

    /// All text in a part of a picture, in pixels of it; `None` if it was not read to its end.
    async fn read_part(&self, picture: &Pictured, part: PhysicalRect) -> Option<String> {
        let Pictured { window, frame, viewport } = picture;
        let whole = PhysicalRect { x: 0, y: 0, width: frame.width, height: frame.height };
        let request = ReadRequest {
            source: Source::Window(*window),
            frame: frame.clone(),
            viewport: *viewport,
            part: Some(part.to_norm(&whole)),
        };
        let (read, _) = self.text_reader.as_ref()?.read(request, READING).await.ok()?;
        let is_whole = read.unread.is_none();
        is_whole.then(|| read.lines.into_iter().map(|line| line.text).collect())
    }
}

/// Where two pictures differ, with what lies around it, in pixels of them; `None` if they cannot be compared, or do not.
fn changed(before: &Frame, now: &Frame) -> Option<PhysicalRect> {
    if (before.width, before.height) != (now.width, now.height) || now.width == 0 {
        return None;
    }
    let bytes = now.width as usize * 4;
    let rows = || before.pixels.chunks_exact(bytes).zip(now.pixels.chunks_exact(bytes));
    let differs = |(one, other): (&[u8], &[u8])| one != other;
    let top = rows().position(differs)? as i32;
    let bottom = rows().rposition(differs)? as i32 + 1;
    // Whole rows: a line is read better with what stands before it.
    let (top, bottom) = ((top - AROUND).max(0), (bottom + AROUND).min(now.height as i32));
    Some(PhysicalRect { x: 0, y: top, width: now.width, height: (bottom - top) as u32 })
}

/// Whether each line of `text` stands more often in what was read than before.
fn shows(before: &str, now: &str, text: &str) -> bool {
    let (before, now) = (folded(before), folded(now));
    let mut lines: HashMap<String, usize> = HashMap::new();
    for line in text.lines().map(folded).filter(|line| !line.is_empty()) {
        *lines.entry(line).or_default() += 1;
    }
    let is_telling = lines.keys().map(|line| line.chars().count()).sum::<usize>() >= LEAST_CHARS;
    let count = |text: &str, line: &str| text.matches(line).count();
    is_telling && lines.iter().all(|(line, times)| count(&now, line) >= count(&before, line) + times)
}

/// Without what is often read as something else, or not at all: spaces, small marks, and the case of letters that have but one
/// shape.
fn folded(text: &str) -> String {
    text.chars()
        .map(|one| match one {
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(one as u32 - 0xfee0).unwrap_or(one),
            _ => one,
        })
        .filter(|one| {
            !one.is_whitespace() && !"~\"'`^-_\u{2013}\u{2014}\u{2018}\u{2019}\u{201c}\u{201d}".contains(*one)
        })
        .map(|one| match one {
            'l' | 'I' | '|' | '!' => '1',
            'O' | '0' => 'o',
            ',' => '.',
            ';' => ':',
            'C' | 'K' | 'P' | 'S' | 'U' | 'V' | 'W' | 'X' | 'Z' => one.to_ascii_lowercase(),
            _ => one,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pictures::Order;

    #[test]
    fn a_line_shows_where_it_stands_once_more_than_before_however_a_reader_takes_its_small_marks() {
        let typed = "ls -la | grep foo && cat O0lI1.txt";
        assert!(shows("$", "$ 1s -la I grep fo0 && cat 001I1.txt", typed));
        assert!(shows("$ ls /tmp", "$ ls /tmp $ 1s/tmp", "ls /tmp"));
        assert!(!shows("$ ls /tmp", "$ ls /tmp", "ls /tmp"), "it stood there before");
        assert!(!shows("$", "$ LS /TMP", "ls /tmp"), "another case is another text");
        assert!(!shows("$", "$ 1s /tnp", "ls /tmp"));
        assert!(!shows("", "y", "y"), "one letter is anywhere");
    }

    #[test]
    fn each_of_several_lines_has_to_show_as_often_as_it_was_typed() {
        let typed = "for n in 1 2; do\necho $n\ndone\n";
        assert!(shows("$", "$ for n in 1 2; do > echo $n > done 1 2", typed));
        assert!(!shows("$", "$ for n in 1 2; do > done", typed));
        assert!(!shows("$", "$ date", "date\ndate"));
        assert!(!shows("$", "$", "\n\n"));
    }

    #[test]
    fn what_changed_is_whole_rows_with_what_is_around_them() {
        let frame = |rows: &[(usize, u8)]| {
            let mut pixels = vec![0; 4 * 10 * 100];
            for (row, value) in rows {
                pixels[row * 40 + 8] = *value;
            }
            Frame { width: 10, height: 100, order: Order::Bgrx, pixels }
        };
        let at = |y, height| Some(PhysicalRect { x: 0, y, width: 10, height });
        assert_eq!(changed(&frame(&[]), &frame(&[])), None);
        assert_eq!(changed(&frame(&[(50, 1)]), &frame(&[(50, 2), (60, 1)])), at(38, 35));
        assert_eq!(changed(&frame(&[]), &frame(&[(0, 1), (99, 1)])), at(0, 100));
        let other = Frame { width: 5, height: 200, ..frame(&[]) };
        assert_eq!(changed(&frame(&[]), &other), None, "another size");
    }
}
