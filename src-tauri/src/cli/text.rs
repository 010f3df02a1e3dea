//! Text from outside as a terminal may show it: what a screen, a page or a model says is only data and steers nothing.

use protocol::escape::{visible_in_order, visible_text};

/// One line: where a line ended, or a tab was, is a space; whatever else cannot be seen is spelled out.
pub fn plain(text: &str) -> String {
    visible_text(&text.replace("\r\n", " ").replace(['\n', '\t'], " "))
}

/// Prose with its line ends. What only joins or varies the letters beside it may stay.
pub fn prose(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\u{a0}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' => c.to_string(),
        '\t' => "    ".into(),
        other => visible_text(other.encode_utf8(&mut [0; 4])),
    };
    text.replace("\r\n", "\n").chars().map(shown).collect()
}

/// One line in which nothing turns about its neighbours; of a long text only its beginning and its end, with how much
/// there is in between.
pub fn bounded(text: &str, head: usize, tail: usize) -> String {
    let length = text.chars().count();
    let plain = |text: &str| visible_in_order(&text.replace(['\n', '\t'], " "));
    let Some(left_out) = length.checked_sub(head + tail).filter(|left_out| *left_out > 0) else {
        return plain(text);
    };
    let part = |from: usize, count: usize| plain(&text.chars().skip(from).take(count).collect::<String>());
    format!("{} ... {left_out} more characters ... {}", part(0, head), part(length - tail, tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_steer_a_terminal_or_turn_a_line_about_is_spelled_out() {
        let steering = "a\x1b]52;c;eA==\x07b\u{202e}c\u{9b}31m\rd\u{200b}";
        let spelled = r"a\u{001B}]52;c;eA==\u{0007}b\u{202E}c\u{009B}31m\rd\u{200B}";
        assert_eq!(plain(steering), spelled);
        assert_eq!(prose(steering), spelled);
    }

    #[test]
    fn ordinary_text_in_any_script_stays_as_it_is() {
        for text in
            ["Save as haiku.txt", "秋の暮れ　静か", "مرحبا", "né", "❤\u{fe0f} 👩\u{200d}💻", "12\u{a0}%"]
        {
            assert_eq!(prose(text), text);
        }
        assert_eq!(prose("a\r\n\tb\n"), "a\n    b\n");
        assert_eq!(plain("a\r\n\tb\n"), "a  b ");
    }

    #[test]
    fn of_a_long_text_the_beginning_and_the_end_are_shown_and_how_much_is_missing() {
        assert_eq!(bounded("0123456789", 5, 5), "0123456789");
        assert_eq!(bounded("[\"א\"]", 9, 9), r#"["\u{05D0}"]"#);
        assert_eq!(bounded("0123456789\n", 3, 2), "012 ... 6 more characters ... 9 ");
    }
}
