//! What is left of what a command writes.

use proptest::prelude::*;

use super::{COLUMNS, Screen};
use protocol::terminal::{Color, Line, Style};

/// As a pseudo-terminal hands it on: every line feed with a carriage return.
fn feed(screen: &mut Screen, bytes: &[u8]) {
    for part in bytes.split_inclusive(|&byte| byte == b'\n') {
        match part.split_last() {
            Some((b'\n', rest)) => {
                screen.feed(rest);
                screen.feed(b"\r\n");
            }
            _ => screen.feed(part),
        }
    }
}

fn text(bytes: &[u8]) -> String {
    let mut screen = Screen::new();
    feed(&mut screen, bytes);
    screen.text(1 << 20)
}

fn line(bytes: &[u8]) -> Line {
    let mut screen = Screen::new();
    feed(&mut screen, bytes);
    screen.lines(0).1.swap_remove(0)
}

// bar: C17
#[test]
fn sequences_that_do_something_else_than_show_text_leave_nothing_behind() {
    for hostile in [
        "\x1b]52;c;Y2xpcGJvYXJk\x07",
        "\x1b]52;c;?\x1b\\",
        "\x1b]8;;http://evil/\x1b\\",
        "\x1b]8;;\x07",
        "\x1b]0;title\x07",
        "\x1b]2;title\x1b\\",
        "\x1b]4;1;?\x07",
        "\x1b]10;?\x07",
        "\x1b]1337;File=inline=1:AAAA\x07",
        "\x1b]777;notify;a;b\x07",
        "\x1b]9;hi\x07",
        "\x1bP$q\"p\x1b\\",
        "\x1bP+q544e\x1b\\",
        "\x1bPq#0;2;0;0;0~~@@vv\x1b\\",
        "\x1b_Gf=24;AAAA\x1b\\",
        "\x1b^pm\x1b\\",
        "\x1bXsos\x1b\\",
        "\x1b[6n",
        "\x1b[c",
        "\x1b[>c",
        "\x1b[5n",
        "\x1b[?2004h",
        "\x1b[?1000h",
        "\x1b[?1049h",
        "\x1b[21t",
        "\x1b[18t",
        "\x1b[?25l",
        "\x1b[!p",
        "\x1b[3;1;2t",
        "\x1b=",
        "\x1b>",
        "\x1b(0\x1b(B",
        "\x0e\x0f",
        "\x07",
        "\x05",
        "\u{90}$qm\u{9c}",
        "\u{9d}52;c;AA\u{9c}",
        "\u{202e}",
        "\u{200b}",
        "\u{2066}",
        "\u{feff}",
        "\u{e0041}\u{e0042}",
        "\u{ad}",
        "\x7f",
        "\x00",
    ] {
        let said = text(format!("a{hostile}b").as_bytes());
        let shown: String = said.chars().filter(|c| !c.is_whitespace()).collect();
        // Of C1 in two bytes only the invisible part goes: its text is text.
        let allowed = ["ab", "a$qmb", "a52;c;AAb"];
        assert!(allowed.contains(&shown.as_str()), "{hostile:?}: {said:?}");
        assert!(!said.chars().any(|c| c.is_control() && c != '\n'), "{hostile:?}");
    }
    // C1 in one byte is no text in UTF-8.
    assert!(!text(b"a\x9d52;c;AA\x9cb\x90q\x9c\x9b31m").contains(|c: char| c.is_control()));
}

// bar: C17
#[test]
fn ten_megabytes_of_an_unfinished_sequence_cost_nothing_and_hide_no_more_than_a_part() {
    for begin in ["\x1b]52;c;", "\x1bP", "\x1b_", "\x1b^", "\x1b]8;;", "\x1b["] {
        let mut screen = Screen::new();
        feed(&mut screen, b"before\n");
        feed(&mut screen, begin.as_bytes());
        for _ in 0..160 {
            feed(&mut screen, &[b'1'; 64 << 10]);
        }
        feed(&mut screen, b"\nafter\n");
        let said = screen.text(1 << 20);
        assert!(said.starts_with("before\n") && said.ends_with("\nafter"), "{begin:?}: {:?}", &said[..60]);
        assert!(said.len() < 2 * COLUMNS, "{begin:?}: {}", said.len());
    }
}

#[test]
fn a_line_that_is_written_again_shows_its_last_state() {
    assert_eq!(text(b"10%\r50%\r100%\ndone\n"), "100%\ndone");
    assert_eq!(text(b"long text\rab\n"), "abng text");
    assert_eq!(text(b"long text\r\x1b[Kab\n"), "ab");
    assert_eq!(text(b"a\x08b"), "b");
    assert_eq!(text(b"one\ntwo\n\x1b[2A\x1b[2Kuno\n\x1b[2Kdos\n"), "uno\ndos");
    assert_eq!(text(b"a\n\x1b[1A\x1b[1Gb\x1b[1B\rc"), "b\nc");
    assert_eq!(text(b"tab\tstop"), "tab     stop");
    assert_eq!(text("全角\rab".as_bytes()), "ab角");
    assert_eq!(text("e\u{301}x".as_bytes()), "e\u{301}x");
}

#[test]
fn a_cleared_screen_is_still_readable() {
    assert_eq!(text(b"first\n\x1b[2J\x1b[Hsecond"), "first\nsecond");
    assert_eq!(text(b"first\n\x1b[?1049h\x1b[Hinside\x1b[?1049lafter"), "first\ninside\nafter");
}

#[test]
fn colours_of_all_kinds_are_kept() {
    let style = |bytes: &[u8]| line(bytes).spans[0].style;
    let plain = Style::default();
    assert_eq!(style(b"x"), plain);
    assert_eq!(
        style(b"\x1b[1;3;4;31mx"),
        Style { bold: true, italic: true, underline: true, fg: Some(Color::Index(1)), ..plain }
    );
    assert_eq!(
        style(b"\x1b[97;101mx"),
        Style { fg: Some(Color::Index(15)), bg: Some(Color::Index(9)), ..plain }
    );
    assert_eq!(style(b"\x1b[38;5;200mx"), Style { fg: Some(Color::Index(200)), ..plain });
    assert_eq!(style(b"\x1b[48;2;1;2;3mx"), Style { bg: Some(Color::Rgb(1, 2, 3)), ..plain });
    assert_eq!(style(b"\x1b[38:2::1:2:3mx"), Style { fg: Some(Color::Rgb(1, 2, 3)), ..plain });
    assert_eq!(style(b"\x1b[38:5:7mx"), Style { fg: Some(Color::Index(7)), ..plain });
    assert_eq!(style(b"\x1b[31m\x1b[0mx"), plain);
    assert_eq!(style(b"\x1b[31m\x1b[mx"), plain);
    // Concealed text is shown.
    assert_eq!(line(b"\x1b[8msecret").text(), "secret");
    for broken in [
        "\x1b[38;5m",
        "\x1b[38;2;1m",
        "\x1b[38;5;999m",
        "\x1b[999m",
        "\x1b[;;;;m",
        "\x1b[38:m",
        "\x1b[38:9:1m",
    ] {
        assert_eq!(line(format!("{broken}x").as_bytes()).text(), "x");
    }
    let json = serde_json::to_string(&line(b"\x1b[1;38;2;1;2;3mx\x1b[0m y")).unwrap();
    assert_eq!(json, r#"{"spans":[{"text":"x","fg":{"rgb":[1,2,3]},"bold":true},{"text":" y"}]}"#);
    assert_eq!(serde_json::from_str::<Line>(&json).unwrap(), line(b"\x1b[1;38;2;1;2;3mx\x1b[0m y"));
}

#[test]
fn of_much_output_the_head_and_the_tail_are_told_and_how_much_is_missing() {
    let mut screen = Screen::new();
    for n in 0..100_000 {
        feed(&mut screen, format!("line {n}\n").as_bytes());
    }
    let said = screen.text(4 << 10);
    assert!(said.len() <= (4 << 10) + 64, "{}", said.len());
    assert!(said.starts_with("line 0\nline 1\n") && said.ends_with("\nline 99999"));
    let (head, rest) = said.split_once("… (").unwrap();
    let (missing, tail) = rest.split_once(" lines left out) …\n").unwrap();
    let told = head.lines().count() + tail.lines().count();
    assert_eq!(missing.parse::<usize>().unwrap() + told, 100_000);
    // Not so much that lines are gone, but more than is asked for.
    let mut few = Screen::new();
    feed(&mut few, "some words in a line\n".repeat(400).as_bytes());
    let said = few.text(1 << 10);
    assert!(said.len() <= (1 << 10) + 64 && said.contains(" lines left out) …"));
    let one = "x".repeat(5_000);
    let mut long = Screen::new();
    feed(&mut long, one.as_bytes());
    assert!(long.text(1 << 10).len() <= (1 << 10) + 64);
}

#[test]
fn numbers_of_lines_go_on_when_old_ones_are_gone() {
    let mut screen = Screen::new();
    for n in 0..20_000 {
        feed(&mut screen, format!("{n}\n").as_bytes());
    }
    let (first, lines) = screen.lines(0);
    assert_eq!(first + lines.len() as u64, screen.end());
    assert_eq!(lines[0].text(), first.to_string());
    assert!(lines.len() < 6_000);
    assert_eq!(screen.settled(), 20_000);
    let (first, lines) = screen.lines(19_998);
    assert_eq!((first, lines[0].text()), (19_998, "19998".into()));
    assert_eq!(screen.lines(u64::MAX).1, []);
}

#[test]
fn a_line_without_end_is_cut_and_says_so() {
    let line = line(&vec![b'x'; COLUMNS + 1234]);
    assert_eq!(line.cut, 1234);
    assert!(line.text().ends_with("… (cut: 1234 more characters)"));
}

proptest! {
    // bar: C17
    #[test]
    fn any_bytes_become_clean_bounded_text(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        check(&bytes)?;
    }

    #[test]
    fn any_sequences_become_clean_bounded_text(parts in prop::collection::vec(prop_oneof![
        "[a-z]{0,5}".prop_map(String::into_bytes),
        "\x1b\\[[0-9;:?]{0,12}[@-~]".prop_map(String::into_bytes),
        "\x1b[ -~]".prop_map(String::into_bytes),
        prop::sample::select(vec![b"\n".to_vec(), b"\r".to_vec(), b"\x08".to_vec(), b"\t".to_vec(), b"\x1b]0;".to_vec(), b"\x07".to_vec(), b"\x1b[65535;65535H".to_vec(), "全".into(), b"\x1bM".to_vec()]),
    ], 0..200)) {
        check(&parts.concat())?;
    }
}

fn check(bytes: &[u8]) -> Result<(), TestCaseError> {
    let mut screen = Screen::new();
    screen.feed(bytes);
    let said = screen.text(8 << 10);
    prop_assert!(said.len() <= (8 << 10) + 64);
    prop_assert!(!said.chars().any(|c| c != '\n' && super::is_unseen(c)));
    let (first, lines) = screen.lines(0);
    prop_assert_eq!(first + lines.len() as u64, screen.end());
    prop_assert!(screen.settled() <= screen.end());
    Ok(())
}
