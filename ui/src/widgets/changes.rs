//! What a step changed and printed: the lines of a file, the output of a command with its colours, and a button that takes
//! changes back.

use fold::transcript::{Stage, Step};
use leptos::prelude::*;
use protocol::command::Undo;
use protocol::escape::visible_text;
use protocol::ids::{CallId, RunId};
use protocol::terminal::{Color, Line, Span, Style};

use crate::store::store;
use crate::words::Word;

/// Lines of a difference or an output that are drawn.
const LINES: usize = 400;
/// The same while more of them come: as many as are seen at once, since all are drawn anew each time.
const LIVE_LINES: usize = 20;

/// The differences that a step made in files, and a button that takes them back.
pub fn changes(step: &Step) -> impl IntoView + use<> {
    let Stage::Done { result } = &step.stage else { return ().into_any() };
    let diffs: Vec<_> = result
        .changes
        .iter()
        .filter_map(|change| Some((change.name.clone(), change.diff.clone()?)))
        .collect();
    let undone = step.is_undone.then(|| {
        let store = store();
        view! { <p class="undone">{move || store.say(Word::TakenBack)}</p> }
    });
    let button = step.can_be_undone().then(|| undo_button(None, Some(step.call.id.clone()), Word::Undo));
    view! {
        {diffs.into_iter().map(|(name, diff)| diff_view(&name, &diff)).collect_view()}
        {button}
        {undone}
    }
    .into_any()
}

/// Takes back what a call or a whole run changed. What was left as it is is said beside it.
pub fn undo_button(run: Option<RunId>, call: Option<CallId>, word: Word) -> impl IntoView {
    let store = store();
    let sending = RwSignal::new(false);
    let left = RwSignal::new(Vec::<String>::new());
    let undo = move |_| {
        sending.set(true);
        let command = Undo { run: run.clone(), call: call.clone() };
        let then = move |undone: protocol::command::Undone| {
            left.try_set(undone.left.iter().map(ToString::to_string).collect());
        };
        store.send_or(command, then, sending);
    };
    view! {
        <p class="undo">
            <button type="button" class="quiet" disabled=move || sending.get() on:click=undo>
                {move || store.say(word)}
            </button>
            {move || {
                let left = left.get();
                (!left.is_empty()).then(|| view! { <span class="faint" dir="auto">{visible_text(&left.join("; "))}</span> })
            }}
        </p>
    }
}

pub fn diff_view(name: &str, diff: &str) -> impl IntoView + use<> {
    let after = diff.lines().skip(1).map(Some).chain([None]);
    let lines = diff.lines().zip(after).take(LINES).map(|(line, after)| {
        let class = match line.as_bytes().first() {
            // A file's name, and no line that was taken out of it.
            Some(b'-') if line.starts_with("--- ") && after.is_some_and(begins_a_part) => "place",
            Some(b'+') => "added",
            Some(b'-') => "removed",
            Some(b'@') => "place",
            _ => "same",
        };
        view! { <span class=class>{visible_text(line)}{"\n"}</span> }
    });
    let lines: Vec<_> = lines.collect();
    view! {
        <details class="diff" open=true>
            <summary dir="auto">{visible_text(name)}</summary>
            <pre tabindex="0">{lines}</pre>
        </details>
    }
}

fn begins_a_part(line: &str) -> bool {
    line.starts_with("@@") || line.starts_with("+++ ")
}

/// What a command prints, or has printed.
pub fn output(step: &Step) -> impl IntoView + use<> {
    let (lines, most) = match &step.stage {
        Stage::Running => (step.printed(), LIVE_LINES),
        Stage::Done { result } => (result.output.as_slice(), LINES),
        Stage::Proposed | Stage::Waiting { .. } | Stage::NotRun => return ().into_any(),
    };
    if lines.is_empty() {
        return confinement(step).into_any();
    }
    let from = lines.len().saturating_sub(most);
    let lines: Vec<_> = lines[from..].iter().map(line_view).collect();
    view! { {confinement(step)} <pre class="terminal" tabindex="0">{lines}</pre> }.into_any()
}

/// That a command ran without a sandbox, or in a weaker one; `None` if nothing was missing.
fn confinement(step: &Step) -> Option<impl IntoView + use<>> {
    let Stage::Done { result } = &step.stage else { return None };
    let word = match result.data["confined"].as_str()? {
        "none" => Word::RanUnconfined,
        "weaker" => Word::RanConfinedLess,
        _ => return None,
    };
    let store = store();
    Some(view! { <p><span class="badge" data-state="limited">{move || store.say(word)}</span></p> })
}

fn line_view(line: &Line) -> impl IntoView + use<> {
    let spans: Vec<_> = line.spans.iter().map(span_view).collect();
    let more = (line.cut > 0).then_some("…");
    view! { <span class="printed">{spans}{more}{"\n"}</span> }
}

/// By classes alone: the page takes no style but its sheets'.
fn span_view(span: &Span) -> impl IntoView + use<> {
    view! { <span class=classes(&span.style)>{visible_text(&span.text)}</span> }
}

fn classes(style: &Style) -> String {
    let Style { fg, bg, bold, dim, italic, underline, strike, inverse } = style;
    let mut all = Vec::new();
    let (front, back) = if *inverse { (bg, fg) } else { (fg, bg) };
    all.extend(front.map(|colour| format!("fg-{}", name(colour))));
    all.extend(back.map(|colour| format!("bg-{}", name(colour))));
    let flags = [
        (bold, "bold"),
        (dim, "dim"),
        (italic, "italic"),
        (underline, "underline"),
        (strike, "strike"),
        (inverse, "inverse"),
    ];
    all.extend(flags.iter().filter(|(is, _)| **is).map(|(_, name)| (*name).to_owned()));
    all.join(" ")
}

/// One of the sixteen colours that the theme has: others are drawn as the nearest of them.
fn name(colour: Color) -> u8 {
    let (r, g, b) = match colour {
        Color::Index(n @ 0..=15) => return n,
        Color::Index(n @ 16..=231) => {
            let n = n - 16;
            let level = |part: u8| if part == 0 { 0 } else { 55 + part * 40 };
            (level(n / 36), level(n / 6 % 6), level(n % 6))
        }
        Color::Index(n) => {
            let grey = 8 + (n - 232) * 10;
            (grey, grey, grey)
        }
        Color::Rgb(r, g, b) => (r, g, b),
    };
    let most = r.max(g).max(b);
    if most < 60 {
        return 0;
    }
    let has = |part: u8| u16::from(part) * 2 > u16::from(most);
    let hue = u8::from(has(r)) + 2 * u8::from(has(g)) + 4 * u8::from(has(b));
    if most > 200 { hue + 8 } else { hue }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_colour_of_a_terminal_is_one_of_the_sixteen_of_the_theme() {
        assert_eq!(name(Color::Index(3)), 3);
        assert_eq!(name(Color::Rgb(255, 0, 0)), 9);
        assert_eq!(name(Color::Rgb(0, 120, 0)), 2);
        assert_eq!(name(Color::Index(16)), 0);
        assert_eq!(name(Color::Index(231)), 15);
        assert!((0..=255).all(|n| name(Color::Index(n)) < 16));
        let style = Style { fg: Some(Color::Index(1)), bold: true, inverse: true, ..Style::default() };
        assert_eq!(classes(&style), "bg-1 bold inverse");
    }
}
