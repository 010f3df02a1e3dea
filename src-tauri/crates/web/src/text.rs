//! Text for a model: without what nobody sees, and in parts.

/// A part of a text, counted in characters.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part<'t> {
    pub(crate) text: &'t str,
    pub(crate) offset: usize,
    pub(crate) next: Option<usize>,
    pub(crate) total: usize,
}

/// At most `chars` characters from `offset` on. Ends at a line's end where one stands in the last fifth, so that no row or
/// sentence is torn.
pub(crate) fn part(text: &str, offset: usize, chars: usize) -> Part<'_> {
    let total = text.chars().count();
    let offset = offset.min(total);
    let rest = &text[byte_of(text, offset)..];
    let chars = chars.max(1);
    if total - offset <= chars {
        return Part { text: rest, offset, next: None, total };
    }
    let hard = &rest[..byte_of(rest, chars)];
    let soft = hard.rfind('\n').map(|at| &hard[..=at]);
    let text = soft.filter(|soft| soft.len() * 5 >= hard.len() * 4).unwrap_or(hard);
    Part { text, offset, next: Some(offset + text.chars().count()), total }
}

fn byte_of(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at)
}

/// Without control and invisible characters, with `\n` for all ends of lines.
pub(crate) fn cleaned(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .map(|c| if c == '\r' { '\n' } else { c })
        .filter(|&c| is_seen(c))
        .collect()
}

/// False for what a page can hide words with or turn them about with: controls, zero-width characters, bidirectional
/// overrides, tags. Joiners are seen: Persian words and emoji are written with them.
pub(crate) fn is_seen(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}' => false,
        '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => false,
        '\u{e0000}'..='\u{e0fff}' => false,
        _ => !c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_without_gap_or_overlap_in_any_script() {
        let text = "één 日本語 🏳️‍🌈\nline two\n\nמילה four\n".repeat(40);
        for chars in [1, 7, 50, 333, 10_000] {
            let (mut offset, mut whole) = (0, String::new());
            loop {
                let part = part(&text, offset, chars);
                assert!(part.text.chars().count() <= chars);
                assert_eq!((part.offset, part.total), (offset, text.chars().count()));
                whole.push_str(part.text);
                match part.next {
                    Some(next) => offset = next,
                    None => break,
                }
            }
            assert_eq!(whole, text);
        }
    }

    #[test]
    fn a_part_ends_with_a_line_where_one_ends_late_and_an_offset_beyond_the_end_is_the_end() {
        assert_eq!(part("0123456\n89abc", 0, 10).text, "0123456\n");
        assert_eq!(part("01\n3456789abc", 0, 10).text, "01\n3456789");
        assert_eq!(part("abc", 99, 10), Part { text: "", offset: 3, next: None, total: 3 });
        assert_eq!(part("", 0, 0), Part { text: "", offset: 0, next: None, total: 0 });
    }

    #[test]
    fn what_nobody_sees_is_taken_out_and_what_writes_words_stays() {
        let hidden = "a\u{200b}b\u{202e}c\u{e0041}\u{e0042}d\u{feff}\u{0}\u{1b}[31me\u{2066}\r\nf\rg\th";
        assert_eq!(cleaned(hidden), "abcd[31me\nf\ng\th");
        assert_eq!(cleaned("می‌خواهم 👩‍💻"), "می‌خواهم 👩‍💻");
    }
}
