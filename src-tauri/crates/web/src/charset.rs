//! Bytes to text, as browsers decide: byte order mark, header, the page's own word, then UTF-8 where it is valid.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// How far a page's own word is looked for; the standard's number.
const HEAD: usize = 1024;

/// Never fails: what is not valid becomes U+FFFD.
pub(crate) fn decode(bytes: &[u8], header: Option<&str>, is_html: bool) -> String {
    let encoding = Encoding::for_bom(bytes)
        .map(|(encoding, _)| encoding)
        .or_else(|| Encoding::for_label(header?.as_bytes()))
        .or_else(|| if is_html { declared(&bytes[..bytes.len().min(HEAD)]) } else { None })
        .unwrap_or_else(|| if is_utf8(bytes) { UTF_8 } else { WINDOWS_1252 });
    encoding.decode(bytes).0.into_owned()
}

/// Valid, or cut off within its last character.
fn is_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}

/// `<meta charset=x>` or `<meta http-equiv=content-type content="...; charset=x">`: in both, what follows `charset`
/// and `=` inside of a `meta` tag.
fn declared(head: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let encoding = head.split("<meta").skip(1).find_map(|tag| {
        let tag = tag.split('>').next()?;
        let said = tag.split_once("charset")?.1.trim_start().strip_prefix('=')?;
        let said = said.trim_start().trim_start_matches(['"', '\'']);
        let label = said.split(|c: char| c.is_whitespace() || "\"';/".contains(c)).next()?;
        Encoding::for_label(label.as_bytes())
    })?;
    // A page whose meta tag could be read as ASCII is not UTF-16, whatever it says.
    Some(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_charset_comes_from_the_mark_then_the_header_then_the_page_then_the_bytes() {
        let page = |meta: &str, text: &[u8]| [b"<html><head>", meta.as_bytes(), b"</head>", text].concat();
        let cases: [(Vec<u8>, Option<&str>, &str); 13] = [
            (page("<meta charset=shift_jis>", b"\x93\xfa\x96\x7b"), None, "日本"),
            (page("<META CHARSET = 'EUC-JP'/>", b"\xc6\xfc\xcb\xdc"), None, "日本"),
            (
                page(
                    "<meta http-equiv=Content-Type content='text/html; charset=windows-1251'>",
                    b"\xcf\xf0\xe8",
                ),
                None,
                "При",
            ),
            (page("<meta name=x content=charset><meta charset=\"gbk\">", b"\xd6\xd0"), None, "中"),
            (page("<meta charset=utf-16>", "ü".as_bytes()), None, "ü"),
            (page("<meta charset=windows-1251>", "ü".as_bytes()), Some("utf-8"), "ü"),
            (page("<meta charset=nonsense>", "ü".as_bytes()), Some("rubbish"), "ü"),
            (page("", b"caf\xe9 \x80"), None, "café €"),
            (page("", b"caf\xe9"), Some("latin1"), "café"),
            (page("", "日本".as_bytes()), None, "日本"),
            ([b"\xef\xbb\xbf", "ü".as_bytes()].concat(), Some("shift_jis"), "ü"),
            (b"\xff\xfe\xfc\x00".to_vec(), Some("utf-8"), "ü"),
            (b"\xfe\xff\x00\xfc".to_vec(), None, "ü"),
        ];
        for (bytes, header, expected) in cases {
            let text = decode(&bytes, header, true);
            assert!(text.ends_with(expected), "{text:?} does not end with {expected}");
        }
    }

    #[test]
    fn text_that_was_cut_off_within_a_character_stays_utf8_and_plain_text_has_no_say_of_its_own() {
        assert_eq!(decode(&"日本".as_bytes()[..5], None, false), "日\u{fffd}");
        assert_eq!(decode("<meta charset=shift_jis>ü".as_bytes(), None, false), "<meta charset=shift_jis>ü");
    }
}
