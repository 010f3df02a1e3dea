//! JSON laid out for reading. Checked, then copied token by token: no tree is built, and numbers stay as they were sent.

/// More than this is not worth laying out: indentation can multiply a small body by a hundred.
const LIMIT: usize = 8 << 20;

/// `None` if it is not JSON, nests deeper than 128, or would become too long.
pub(crate) fn laid_out(source: &str) -> Option<String> {
    serde_json::from_str::<serde::de::IgnoredAny>(source).ok()?;
    let mut out = String::with_capacity(source.len());
    let mut depth = 0;
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let (token, after) = rest.split_at(if c == '"' { string_len(rest) } else { c.len_utf8() });
        rest = after;
        match c {
            '{' | '[' => {
                out.push(c);
                let inner = rest.trim_start();
                if let Some(after) = inner.strip_prefix(['}', ']']) {
                    out.push_str(&inner[..1]);
                    rest = after;
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth -= 1;
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            ' ' | '\n' | '\r' | '\t' => {}
            _ => out.push_str(token),
        }
        if out.len() > LIMIT {
            return None;
        }
    }
    Some(out)
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Bytes of the string that `text` begins with, quotes included.
fn string_len(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|byte| match (escaped, byte) {
        (true, _) => {
            escaped = false;
            false
        }
        (false, b'\\') => {
            escaped = true;
            false
        }
        (false, byte) => byte == b'"',
    });
    end.map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_laid_out_like_serdes_own_and_numbers_stay_as_sent() {
        let source = r#"{"a":[1,{"b":"x,{}:\"\\"},[],{}],"日":null , "e":[ ] }"#;
        let value: serde_json::Value = serde_json::from_str(source).unwrap();
        assert_eq!(laid_out(source).unwrap(), serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(laid_out("[1.10, 12345678901234567890123, 1E400]").unwrap().replace([' ', '\n'], ""), {
            "[1.10,12345678901234567890123,1E400]"
        });
        assert_eq!(laid_out("\"\\\"\"").unwrap(), "\"\\\"\"");
    }

    #[test]
    fn what_is_no_json_too_deep_or_a_bomb_of_indentation_is_left_as_it_is() {
        assert_eq!(laid_out("{\"a\":1"), None);
        assert_eq!(laid_out(&"[".repeat(100_000)), None);
        assert_eq!(
            laid_out(&format!("{}{}{}", "[".repeat(120), vec!["0"; 500_000].join(","), "]".repeat(120))),
            None
        );
    }
}
