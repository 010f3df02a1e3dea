//! What a change would do, as people read it: a unified diff, bounded in time and length.

use std::time::{Duration, Instant};

use serde::Serialize;
use similar::{Algorithm, ChangeTag, TextDiff};

/// A change of a file before it is made, or after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// Hunks with three lines around each; empty where nothing changes or where it is no text.
    pub text: String,
    pub added: u64,
    pub removed: u64,
    /// There are further hunks or lines.
    pub cut: bool,
    /// The file is new.
    pub new: bool,
    /// Not compared by lines: binary, or too large. What is told then are sizes.
    pub opaque: bool,
    pub bytes_before: u64,
    pub bytes_after: u64,
}

/// What is compared by lines, each side.
const COMPARED: usize = 2 << 20;
/// What is shown of it.
const SHOWN: usize = 60_000;
/// A line is shown up to here.
const LINE: usize = 500;
/// How long lines are compared; from then on the diff is right but not the shortest.
const PATIENCE: Duration = Duration::from_millis(500);

/// The difference of two contents; `before` is `None` for a new file.
pub(super) fn diff(before: Option<&[u8]>, after: &[u8]) -> Diff {
    let old = before.unwrap_or_default();
    let mut out = Diff {
        text: String::new(),
        added: 0,
        removed: 0,
        cut: false,
        new: before.is_none(),
        opaque: true,
        bytes_before: old.len() as u64,
        bytes_after: after.len() as u64,
    };
    let is_text = |bytes: &[u8]| bytes.len() <= COMPARED && memchr::memchr(0, bytes).is_none();
    if !is_text(old) || !is_text(after) {
        return out;
    }
    out.opaque = false;
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(after));
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .deadline(Instant::now() + PATIENCE)
        .diff_lines(old.as_ref(), new.as_ref());
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => out.added += 1,
            ChangeTag::Delete => out.removed += 1,
            ChangeTag::Equal => {}
        }
    }
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        if out.text.len() > SHOWN {
            out.cut = true;
            break;
        }
        out.text.push_str(&format!("{}\n", hunk.header()));
        for change in hunk.iter_changes() {
            if out.text.len() > SHOWN {
                out.cut = true;
                break;
            }
            let line = change.value();
            let body = line.strip_suffix('\n').unwrap_or(line);
            let sign = match change.tag() {
                ChangeTag::Insert => '+',
                ChangeTag::Delete => '-',
                ChangeTag::Equal => ' ',
            };
            out.text.push(sign);
            let shown = &body[..body.floor_char_boundary(LINE)];
            out.text.push_str(shown);
            if shown.len() < body.len() {
                out.text.push_str(&format!("… [+{} bytes]", body.len() - shown.len()));
            }
            out.text.push('\n');
            if !line.ends_with('\n') {
                out.text.push_str("\\ no line end at the end of the file\n");
            }
        }
    }
    out
}
