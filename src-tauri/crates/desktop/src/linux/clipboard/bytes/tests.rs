//! Tests of `bytes`.

use super::*;

#[test]
fn a_content_comes_back_as_it_was_and_a_cut_one_not_at_all() {
    let target = |name, bytes: &[u8]| Target { name, kind: 4, format: 8, bytes: bytes.to_vec() };
    let content = Content { targets: vec![target(7, b"<b>x</b>"), target(8, b"")] };
    let bytes = content.encode(69);
    assert_eq!(Content::decode(&bytes), Some((69, content)));
    assert_eq!(Content::decode(&bytes[..bytes.len() - 1]), None);
}
