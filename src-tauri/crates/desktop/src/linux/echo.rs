//! What a window's picture shows of a line that was typed into it, where its application tells nothing of what it holds.
//!
//! Only what changed counts, and only where that is no more than a few rows: what scrolls or is drawn anew may have had the
//! same words before.

use std::ops::Range;
use std::time::Duration;

use ocr::{ReadRequest, Source};
use pictures::{Frame, Viewport};
use protocol::geometry::PhysicalRect;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::LinuxDesktop;
use super::windows::KeyWindow;
use crate::{Area, WindowId};

/// How long a window may take to show what was typed, and to come to rest: Enter waits for it.
const SHOWN: Duration = Duration::from_millis(600);
const LOOK_AGAIN: Duration = Duration::from_millis(80);
/// Looks in that time, at the least: on a busy desktop they take longer.
const LOOKS: u32 = 6;
/// Longest wait for as many.
const LONGEST: Duration = Duration::from_secs(3);
/// Longest reading of two pictures.
const READING: Duration = Duration::from_secs(4);
/// Pixels above and below what changed that are read with it, so that letters are whole.
const AROUND: u32 = 12;
/// Rows of pixels that a line takes, and as often as it is broken at the edge.
const MOST_ROWS: u32 = 96;
/// Fewer characters than this are anywhere.
const LEAST_CHARS: usize = 4;

/// A window as it looked.
pub(super) struct Pictured {
    pub(super) window: u64,
    frame: Frame,
    viewport: Viewport,
}

/// Whether a text can be told from what else a window shows: one line, and not too short.
pub(super) fn is_telling(text: &str) -> bool {
    !text.contains(|c: char| c.is_control()) && folded(text).chars().count() >= LEAST_CHARS
}

impl LinuxDesktop {
    /// The window that keys go to; `None` if it has no picture, or if no text can be read in one.
    pub(super) async fn picture_of(&self, keys: &KeyWindow) -> Option<Pictured> {
        self.text_reader.as_ref()?;
        self.picture_now(u64::from(keys.top?)).await
    }

    /// Whether a window can still be pictured.
    pub(super) async fn is_there(&self, window: u64) -> bool {
        self.picture_now(window).await.is_some()
    }

    async fn picture_now(&self, window: u64) -> Option<Pictured> {
        let (frame, viewport) = self.look_at(Area::Window(WindowId(window))).await.ok()?;
        Some(Pictured { window, frame, viewport })
    }

    /// The window once it has changed, and looks the same twice; `None` if it does not in time.
    pub(super) async fn settled(&self, before: &Pictured, cancel: &CancellationToken) -> Option<Pictured> {
        let end = Instant::now() + SHOWN;
        let looks = async {
            let mut last: Option<Pictured> = None;
            for look in 1.. {
                let now = self.picture_now(before.window).await?;
                let rests = last.is_some_and(|last| changed(&last.frame, &now.frame).is_none());
                let has_changed = changed(&before.frame, &now.frame).is_some();
                if (rests && has_changed) || (look >= LOOKS && Instant::now() >= end) {
                    return has_changed.then_some(now);
                }
                last = Some(now);
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            None
        };
        unless_stopped(cancel, LONGEST, looks).await
    }

    /// Whether the window changes where nothing was typed, as it does where a line is taken. A caret that blinks in the line
    /// is none of that.
    pub(super) async fn goes_on(
        &self,
        before: &Pictured,
        typed: &Pictured,
        cancel: &CancellationToken,
    ) -> bool {
        let Some(line) = changed(&before.frame, &typed.frame) else { return false };
        let end = Instant::now() + SHOWN;
        let looks = async {
            for look in 1.. {
                let now = self.picture_now(typed.window).await?;
                let rows = changed(&typed.frame, &now.frame);
                if rows.is_some_and(|rows| rows.start < line.start || rows.end > line.end) {
                    return Some(());
                }
                if look >= LOOKS && Instant::now() >= end {
                    return None;
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            None
        };
        unless_stopped(cancel, LONGEST, looks).await.is_some()
    }

    /// Whether what changed shows the line that was typed, and did not before.
    pub(super) async fn shows_typed(
        &self,
        before: Pictured,
        now: Pictured,
        line: &str,
        cancel: &CancellationToken,
    ) -> bool {
        let Some(rows) = changed(&before.frame, &now.frame).filter(|rows| rows.end - rows.start <= MOST_ROWS)
        else {
            return false;
        };
        let reading = async {
            let now = self.read_rows(now, &rows).await?;
            // Most often it is not there, and the other is not read.
            if !now.contains(&folded(line)) {
                return None;
            }
            let before = self.read_rows(before, &rows).await?;
            shows(&before, &now, line).then_some(())
        };
        unless_stopped(cancel, READING, reading).await.is_some()
    }

    /// The text whose middle lies in these rows, folded; `None` if it was not read to its end.
    async fn read_rows(&self, picture: Pictured, rows: &Range<u32>) -> Option<String> {
        let Pictured { window, frame, viewport } = picture;
        let Frame { width, height, .. } = frame;
        let (top, bottom) = (rows.start.saturating_sub(AROUND), (rows.end + AROUND).min(height));
        let whole = PhysicalRect { x: 0, y: 0, width, height };
        let part = PhysicalRect { x: 0, y: top as i32, width, height: bottom - top };
        let part = Some(part.to_norm(&whole));
        let request = ReadRequest { source: Source::Window(window), frame, viewport, part };
        let (read, _) = self.text_reader.as_ref()?.read(request, READING).await.ok()?;
        let Viewport { shows, display } = viewport;
        let is_in_rows = |line: &&ocr::TextLine| {
            let middle = (line.bounds.y + line.bounds.height / 2.0) / 1000.0 * f64::from(display.height);
            let middle = f64::from(display.y) + middle - f64::from(shows.y);
            (f64::from(rows.start)..f64::from(rows.end)).contains(&middle)
        };
        let is_whole = read.unread.is_none();
        is_whole.then(|| read.lines.iter().filter(is_in_rows).map(|line| folded(&line.text)).collect())
    }
}

/// What comes of a look, unless it is stopped or takes longer than `most`.
async fn unless_stopped<T>(
    cancel: &CancellationToken,
    most: Duration,
    look: impl Future<Output = Option<T>>,
) -> Option<T> {
    tokio::select! {
        () = cancel.cancelled() => None,
        () = tokio::time::sleep(most) => None,
        looked = look => looked,
    }
}

/// The rows in which two pictures differ; `None` if they cannot be compared, or do not.
fn changed(before: &Frame, now: &Frame) -> Option<Range<u32>> {
    if (before.width, before.height) != (now.width, now.height) || now.width == 0 {
        return None;
    }
    let bytes = now.width as usize * 4;
    let rows = || before.pixels.chunks_exact(bytes).zip(now.pixels.chunks_exact(bytes));
    let top = rows().position(differ)? as u32;
    let bottom = rows().rposition(differ)? as u32 + 1;
    Some(top..bottom)
}

/// The fourth byte of a pixel means nothing.
fn differ((one, other): (&[u8], &[u8])) -> bool {
    let colour = |pixel: &[u8; 4]| [pixel[0], pixel[1], pixel[2]];
    let pixels = || one.as_chunks::<4>().0.iter().zip(other.as_chunks::<4>().0);
    one != other && pixels().any(|(one, other)| colour(one) != colour(other))
}

/// Whether a line stands more often in what was read, folded, than before.
fn shows(before: &str, now: &str, line: &str) -> bool {
    let line = folded(line);
    now.matches(line.as_str()).count() > before.matches(line.as_str()).count()
}

/// Without spaces, and with one sign for those that a reader takes for one another. What a lost Shift makes of a sign stays
/// another one.
fn folded(text: &str) -> String {
    let fold = |one: char| match one {
        // Of full width.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(one as u32 - 0xfee0).unwrap_or(one),
        _ => one,
    };
    let fold = |one: char| match fold(one) {
        'l' | 'I' | '|' => '1',
        'o' | 'O' => '0',
        ',' => '.',
        '\u{2013}' | '\u{2014}' => '-',
        one => one,
    };
    text.chars().filter(|one| !one.is_whitespace()).map(fold).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pictures::Order;

    fn shows_of(before: &str, now: &str, line: &str) -> bool {
        shows(&folded(before), &folded(now), line)
    }

    #[test]
    fn a_line_shows_where_it_stands_once_more_than_before_however_a_reader_takes_its_letters() {
        assert!(shows_of("$", "$ 1s -la I grep fo0 && cat 001I1.txt", "ls -la | grep foo && cat O0lI1.txt"));
        assert!(shows_of("$", "$ echo a> b,txt", "echo a > b.txt"));
        assert!(shows_of("$ ls /tmp", "$ ls /tmp $ 1s/tmp", "ls /tmp"));
        assert!(!shows_of("$ ls /tmp", "$ ls /tmp", "ls /tmp"), "it stood there before");
    }

    #[test]
    fn what_a_lost_shift_or_another_layout_makes_of_it_is_another_line() {
        for (typed, came) in [
            ("ls /tmp", "LS /TMP"),
            ("tar -C a", "tar -c a"),
            ("rm -rf ~/x", "rm -rf /x"),
            ("echo a_b", "echo a-b"),
            ("echo a;b", "echo a:b"),
            ("say \"hi\"", "say 'hi'"),
            ("echo 1!", "echo 11"),
            ("yes zebra", "zes yebra"),
        ] {
            assert!(!shows_of("$", &format!("$ {came}"), typed), "{typed} is not {came}");
        }
    }

    #[test]
    fn a_few_letters_or_several_lines_tell_nothing() {
        assert!(is_telling("ls /t"));
        for text in ["y", "12", "a b", "", "\t", "date\ndate", "user\t", "l s "] {
            assert!(!is_telling(text), "{text:?}");
        }
    }

    #[test]
    fn what_changed_is_rows_of_colours() {
        let frame = |rows: &[(usize, u8)]| {
            let mut pixels = vec![0; 4 * 10 * 100];
            for (row, value) in rows {
                pixels[row * 40 + 8] = *value;
            }
            Frame { width: 10, height: 100, order: Order::Bgrx, pixels }
        };
        assert_eq!(changed(&frame(&[]), &frame(&[])), None);
        assert_eq!(changed(&frame(&[(50, 1)]), &frame(&[(50, 2), (60, 1)])), Some(50..61));
        let mut padded = frame(&[]);
        padded.pixels[43] = 255;
        assert_eq!(changed(&frame(&[]), &padded), None, "the fourth byte means nothing");
        let other = Frame { width: 5, height: 200, ..frame(&[]) };
        assert_eq!(changed(&frame(&[]), &other), None, "another size");
    }
}
