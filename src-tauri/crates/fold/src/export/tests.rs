//! What a file says, and that nothing in it is more than text.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use protocol::Event;
use protocol::event::{EventBody, RunEnd};
use protocol::ids::{BlobRef, SessionId, Timestamp};
use protocol::tool::{ExecResult, PictureView};
use protocol::view::SessionView;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::*;
use crate::sample::{click, clicked, created, event, events, question, said, started, tool_started, turn};

const JPEG: &[u8] = &[0xff, 0xd8, 0xff, 0xe0, 1, 2, 3];

fn blob(name: u8) -> BlobRef {
    let sha256 = format!("{name:02x}").repeat(32);
    BlobRef { sha256, media_type: "image/jpeg".into(), bytes: JPEG.len() as u64 }
}

fn finished(id: &str, name: u8) -> EventBody {
    let picture = Some(PictureView { blob: blob(name), width: 4, height: 3, dot: None });
    EventBody::ToolFinished {
        call: protocol::ids::CallId(id.into()),
        result: ExecResult { picture, ..clicked() },
    }
}

fn sample() -> (SessionView, Vec<Event>) {
    let mut evil = click("c-1");
    evil.arguments = json!({ "text": "</pre><script>alert(1)</script><img src=http://x.test/a.png>" });
    let all = events([
        created(),
        started(),
        turn(
            1,
            "# <b>Look</b> ![x](http://x.test/y.png)\n``` \u{202e}",
            vec![evil, click("c-2"), click("c-3")],
        ),
        tool_started("c-1"),
        finished("c-1", 1),
        tool_started("c-2"),
        finished("c-2", 1),
        tool_started("c-3"),
        finished("c-3", 2),
        said("<svg onload=alert(2)>"),
        EventBody::RunEnded {
            end: protocol::event::RunEnd::Completed { summary: "'done' & \"over\"".into() },
        },
    ]);
    let view = crate::session(None, &SessionId("s-1".into()), &event(1, created())).unwrap();
    (SessionView { title: "</title><script>alert(3)</script>".into(), ..view }, all)
}

/// The second picture is gone.
fn pictures(of: &BlobRef) -> Option<Vec<u8>> {
    (*of == blob(1)).then(|| JPEG.to_vec())
}

fn check(hash: &str, file: &[u8]) {
    assert_eq!(hash, BASE64_STANDARD.encode(Sha256::digest(file)), "the hash in html.rs");
}

// bar: C42
#[test]
fn a_page_runs_its_own_script_alone_and_asks_nobody() {
    check(super::html::STYLE_HASH, include_bytes!("page.css"));
    check(super::html::SCRIPT_HASH, include_bytes!("page.js"));
    let (view, events) = sample();
    let mut page = Vec::new();
    let written = html(&mut page, &view, &events, Some(&mut pictures)).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert_eq!(written, Written { pictures: 1, missing: 1 });
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    assert!(page.contains("default-src 'none'") && !page.contains("unsafe-inline"));
    assert!(!page.contains("<svg") && !page.contains("<b>") && !page.contains('\u{202e}'));
    // Only in text.
    assert_eq!(page.matches("http://x.test").count(), 2);
    assert!(!page.contains("<img src=http") && !page.contains("href="));
    assert_eq!(page.matches("src=\"data:image/jpeg;base64,").count(), 1, "the same picture is in it once");
    assert_eq!(page.matches("data-same=\"p0\"").count(), 1);
    assert_eq!(page.matches("is gone").count(), 1);
    assert!(page.contains("&#39;done&#39; &amp; &quot;over&quot;"));
    let mut without = Vec::new();
    assert_eq!(html(&mut without, &view, &events, None).unwrap(), Written::default());
    assert!(!String::from_utf8(without).unwrap().contains("<img"));
}

#[test]
fn markdown_has_no_markup_of_what_was_said() {
    let (view, events) = sample();
    let mut page = Vec::new();
    markdown(&mut page, &view, &events).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("## Goal\n\n> write a haiku\n"), "{page}");
    assert!(page.contains("confirmed: clicked Save at 10,20"), "{page}");
    assert!(page.contains("> \\# \\<b\\>Look\\</b\\> \\!\\[x\\]"), "{page}");
    assert!(page.contains("Completed: 'done' \\& \"over\""), "{page}");
}

#[test]
fn what_was_printed_changed_asked_and_taken_back_stands_in_both() {
    let mut all = Vec::new();
    let call = click("c-1");
    let asked = question("q-1");
    let printed = json!({ "spans": [{ "text": "one " }, { "text": "<b>two", "bold": true }] });
    let change = json!({ "of": "file", "name": "list.txt", "diff": "-milk\n+butter", "data": null });
    let mut result = serde_json::to_value(clicked()).unwrap();
    (result["output"], result["changes"]) = (json!([printed]), json!([change]));
    all.extend([created(), started(), turn(1, "", vec![call.clone(), click("c-2")])]);
    all.push(EventBody::ApprovalRequested { approval: asked.clone() });
    let answer =
        |answer| EventBody::ApprovalAnswered { approval: asked.id.clone(), answer, by: Surface::Chat };
    all.push(answer(Answer::Until { until: Until::Run }));
    all.push(tool_started("c-1"));
    all.push(EventBody::ToolFinished { call: call.id, result: serde_json::from_value(result).unwrap() });
    all.push(EventBody::RunEnded { end: RunEnd::Completed { summary: "over".into() } });
    let (view, _) = sample();
    let (mut page, mut text) = (Vec::new(), Vec::new());
    html(&mut page, &view, &events(all.clone()), None).unwrap();
    markdown(&mut text, &view, &events(all)).unwrap();
    let (page, text) = (String::from_utf8(page).unwrap(), String::from_utf8(text).unwrap());
    for said in ["Allowed for the run in the chat", "-milk\n+butter", "list.txt", "Actions: 1 carried out"] {
        assert!(page.contains(said) && text.contains(said), "{said}: {page} {text}");
    }
    assert!(page.contains("one &lt;b&gt;two") && text.contains("one <b>two"), "{page} {text}");
}

#[test]
fn a_run_whose_model_gave_up_is_told_as_failed_alone() {
    let said = |success: Option<bool>| {
        let arguments = json!({ "summary": "no password", "success": success });
        let done = protocol::tool::ToolCall { tool: "done".into(), arguments, ..click("c-1") };
        let result = ExecResult { summary: "gave up: no password".into(), ..clicked() };
        let end = RunEnd::Failed { message: "the model gave up: no password".into(), hint: None };
        let all = events([
            created(),
            started(),
            turn(1, "", vec![done.clone()]),
            tool_started("c-1"),
            EventBody::ToolFinished { call: done.id, result },
            EventBody::RunEnded { end },
        ]);
        let (view, _) = sample();
        let (mut page, mut text) = (Vec::new(), Vec::new());
        html(&mut page, &view, &all, None).unwrap();
        markdown(&mut text, &view, &all).unwrap();
        [page, text].map(|said| String::from_utf8(said).unwrap())
    };
    for told in said(Some(false)) {
        assert!(told.contains("failed") && !told.contains("confirmed"), "{told}");
    }
    assert!(said(None).iter().all(|told| told.contains("confirmed")));
}

fn file(pictures_too: bool) -> Vec<u8> {
    let (view, events) = sample();
    let mut file = Vec::new();
    let mut of = pictures;
    let with: Option<&mut Pictures<'_>> = if pictures_too { Some(&mut of) } else { None };
    let written = jsonl(&mut file, &view, &events, with).unwrap();
    assert_eq!(written.pictures, u64::from(pictures_too));
    file
}

fn read_of(bytes: &[u8]) -> (Result<File, Fault>, Vec<Picture>) {
    let mut taken = Vec::new();
    let file = read(&mut &*bytes, &mut |picture| {
        taken.push(picture);
        true
    });
    (file, taken)
}

#[test]
fn lines_are_read_as_they_were_written() {
    let (view, events) = sample();
    for pictures_too in [true, false] {
        let (read, taken) = read_of(&file(pictures_too));
        assert_eq!(read.unwrap(), File { title: view.title.clone(), events: events.clone() });
        assert_eq!(taken.len(), usize::from(pictures_too));
    }
    let (_, taken) = read_of(&file(true));
    assert_eq!(taken, [Picture { sha256: blob(1).sha256, media_type: "image/jpeg", bytes: JPEG.to_vec() }]);
}

#[test]
fn a_fault_says_its_line_and_nothing_of_the_file_is_taken() {
    let whole = String::from_utf8(file(true)).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let with = |at: usize, line: &str| {
        let mut lines = lines.clone();
        lines[at] = line;
        lines.join("\n")
    };
    let other = lines[3].replace("\"session\":\"s-1\"", "\"session\":\"s-2\"");
    let picture = lines.iter().position(|line| line.starts_with("{\"picture\"")).unwrap();
    let text = BASE64_STANDARD.encode("<svg/>");
    let no_picture = format!(
        r#"{{"picture":{{"sha256":"{}","mediaType":"image/jpeg","base64":"{text}"}}}}"#,
        "01".repeat(32)
    );
    let no_name = lines[6].replace(&"01".repeat(32), "../../x");
    for (bytes, line, why) in [
        (String::new(), 1, Why::NoExport),
        ("hello".into(), 1, Why::NoExport),
        (with(0, "{}"), 1, Why::NoExport),
        (with(0, r#"{"miki":"session","version":99}"#), 1, Why::NewerFile),
        (with(0, r#"{"miki":"session","version":1}"#), 1, Why::Broken),
        (with(3, "{\"n\":"), 4, Why::Broken),
        (with(3, &lines[3][..lines[3].len() / 2]), 4, Why::Broken),
        (with(3, &lines[3].replace("turnFinished", "somethingNew")), 4, Why::NewerEvent),
        (with(3, &other), 4, Why::NotOfIt),
        (with(picture, &no_picture), picture as u64 + 1, Why::NoPicture),
        (with(6, &no_name), 7, Why::Broken),
    ] {
        assert_eq!(read_of(bytes.as_bytes()).0, Err(Fault { line, why }), "{bytes}");
    }
}

#[test]
fn a_picture_is_as_long_as_it_is_whatever_an_event_says() {
    let mut one = events([created(), finished("c-1", 1)]);
    if let EventBody::ToolFinished { result, .. } = &mut one[1].body {
        result.picture.as_mut().unwrap().blob.bytes = u64::MAX;
    }
    let (view, _) = sample();
    for with_it in [true, false] {
        let mut bytes = Vec::new();
        let of = pictures;
        // Of another name, so that the lookup knows it.
        let mut found = |blob: &BlobRef| of(&BlobRef { bytes: JPEG.len() as u64, ..blob.clone() });
        let with: Option<&mut Pictures<'_>> = if with_it { Some(&mut found) } else { None };
        jsonl(&mut bytes, &view, &one, with).unwrap();
        let (file, _) = read_of(&bytes);
        let EventBody::ToolFinished { result, .. } = &file.unwrap().events[1].body else { panic!() };
        let bytes = result.picture.as_ref().unwrap().blob.bytes;
        assert_eq!(bytes, if with_it { JPEG.len() as u64 } else { 1 << 32 });
    }
}

#[test]
fn a_time_is_told_in_utc() {
    for (ms, text) in [
        (0, "1970-01-01 00:00:00 UTC"),
        (951_782_400_000, "2000-02-29 00:00:00 UTC"),
        (1_795_555_805_123, "2026-11-24 21:30:05 UTC"),
        (-1, "1969-12-31 23:59:59 UTC"),
    ] {
        assert_eq!(utc(Timestamp(ms)), text);
    }
}
