//! What a file is, and the lines of it.

use super::{Stage, go_on};
use crate::files::{Encoding, FileError, PictureKind, Range, Reading, Text};

fn text(stage: &Stage, path: &str, range: Range) -> Text {
    match stage.space.read(&stage.path(path), range, &go_on).unwrap() {
        Reading::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn lines_are_read_by_their_numbers_and_what_is_left_out_is_said() {
    let stage = Stage::new();
    let all: String = (1..=5000).map(|n| format!("line {n}\n")).collect();
    stage.write("a.txt", &all);
    let some = text(&stage, "a.txt", Range { from: 10, lines: 2, ..Range::default() });
    assert_eq!((some.text.as_str(), some.from, some.lines), ("line 10\nline 11\n", 10, 2));
    assert_eq!((some.total, some.more, some.encoding), (Some(5000), true, Encoding::Utf8));
    let end = text(&stage, "a.txt", Range { from: 4999, ..Range::default() });
    assert_eq!((end.text.as_str(), end.more), ("line 4999\nline 5000\n", false));
    let beyond = text(&stage, "a.txt", Range { from: 6000, ..Range::default() });
    assert_eq!((beyond.text.as_str(), beyond.total, beyond.more), ("", Some(5000), false));
    let short = text(&stage, "a.txt", Range { bytes: 20, ..Range::default() });
    assert_eq!((short.text.as_str(), short.more), ("line 1\nline 2\n", true));
    let default = text(&stage, "a.txt", Range::default());
    assert_eq!((default.lines, default.more, default.total), (2000, true, Some(5000)));
}

#[test]
fn a_last_line_without_an_end_counts_and_an_empty_file_has_none() {
    let stage = Stage::new();
    stage.write("a.txt", "one\r\ntwo");
    let all = text(&stage, "a.txt", Range::default());
    assert_eq!((all.text.as_str(), all.lines, all.total), ("one\r\ntwo", 2, Some(2)));
    stage.write("empty.txt", "");
    let empty = text(&stage, "empty.txt", Range::default());
    assert_eq!((empty.text.as_str(), empty.lines, empty.total), ("", 0, Some(0)));
}

#[test]
fn a_long_line_is_shortened_between_two_characters() {
    let stage = Stage::new();
    stage.write("a.txt", format!("{}\nnext\n", "ü".repeat(1500)));
    stage.write("b.txt", format!("x{}\n", "ü".repeat(1500)));
    stage.write("c.txt", format!("{}\n", "x".repeat(2000)));
    let a = text(&stage, "a.txt", Range::default());
    assert_eq!(a.text, format!("{}… [+1000 bytes]\nnext\n", "ü".repeat(1000)));
    assert_eq!((a.shortened, a.encoding), (1, Encoding::Utf8));
    let b = text(&stage, "b.txt", Range::default());
    assert_eq!(
        (b.text.starts_with('x'), b.text.contains('\u{fffd}'), b.encoding),
        (true, false, Encoding::Utf8)
    );
    let c = text(&stage, "c.txt", Range::default());
    assert_eq!((c.text.len(), c.shortened), (2001, 0));
}

#[test]
fn encodings_are_told_and_what_is_no_text_is_said_to_be_none() {
    let stage = Stage::new();
    let utf16 = |big: bool| {
        let unit = move |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        "\u{feff}Grüße 🎉\n".encode_utf16().flat_map(unit).collect::<Vec<u8>>()
    };
    stage.write("le.txt", utf16(false));
    stage.write("be.txt", utf16(true));
    stage.write("bom.txt", "\u{feff}Grüße 🎉\n");
    stage.write("latin.txt", b"Gr\xfc\xdfe\n");
    for (name, encoding) in
        [("le.txt", Encoding::Utf16), ("be.txt", Encoding::Utf16), ("bom.txt", Encoding::Utf8)]
    {
        let read = text(&stage, name, Range::default());
        assert_eq!((read.text.as_str(), read.encoding), ("Grüße 🎉\n", encoding), "{name}");
    }
    let latin = text(&stage, "latin.txt", Range::default());
    assert_eq!((latin.text.as_str(), latin.encoding), ("Gr\u{fffd}\u{fffd}e\n", Encoding::Lossy));
    stage.write("program", b"\x7fELF\x02\x01\x01\0\0\0");
    stage.write("some.bin", b"abc\0def");
    stage.write("MZ.txt", "MZ is how programs begin");
    let looks = |path: &str| match stage.space.read(&stage.path(path), Range::default(), &go_on).unwrap() {
        Reading::Binary { looks_like, bytes } => (looks_like, bytes),
        other => panic!("{other:?}"),
    };
    assert_eq!(looks("program"), ("a program", 10));
    assert_eq!(looks("some.bin"), ("binary data", 7));
    assert_eq!(text(&stage, "MZ.txt", Range::default()).lines, 1);
    stage.write("p.txt", b"\x89PNG\r\n\x1a\nrest");
    let png = stage.space.read(&stage.path("p.txt"), Range::default(), &go_on).unwrap();
    assert_eq!(png, Reading::Picture { kind: PictureKind::Png, bytes: b"\x89PNG\r\n\x1a\nrest".to_vec() });
}

#[test]
fn a_stop_ends_a_read_and_a_folder_is_no_file() {
    let stage = Stage::new();
    stage.write("a.txt", "a");
    assert!(matches!(
        stage.space.read(&stage.path("a.txt"), Range::default(), &|| true),
        Err(FileError::Stopped)
    ));
    for path in [".", "folder"] {
        std::fs::create_dir_all(stage.at("folder")).unwrap();
        let result = stage.space.read(&stage.path(path), Range::default(), &go_on);
        assert!(matches!(result, Err(FileError::NotAFile { .. })), "{path}: {result:?}");
    }
    assert!(matches!(
        stage.space.list(&stage.path("a.txt"), None, 9, &go_on),
        Err(FileError::NotAFolder { .. })
    ));
    assert!(matches!(
        stage.space.read(&stage.path("a.txt/b"), Range::default(), &go_on),
        Err(FileError::NotAFolder { .. })
    ));
    assert!(matches!(
        stage.space.read(&stage.path("none"), Range::default(), &go_on),
        Err(FileError::Missing { .. })
    ));
}
