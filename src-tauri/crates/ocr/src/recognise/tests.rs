//! Tests of `recognise`.

use super::*;

#[test]
fn repeats_are_one_character_unless_nothing_is_between_them() {
    let alphabet: Vec<String> = ["", "a", "あ", " "].map(str::to_owned).to_vec();
    let line: Vec<f32> = [1, 1, 0, 1, 2, 2, 0, 3, 0]
        .iter()
        .flat_map(|&class| (0..4).map(move |at| if at == class { 0.8 } else { 0.1 }))
        .collect();
    let text = decode(&line, &alphabet).unwrap();
    assert_eq!(text.text, "aaあ");
    assert!((text.confidence - 0.8).abs() < 1e-6);
}

#[test]
fn what_is_not_sure_or_empty_is_no_text() {
    let alphabet: Vec<String> = ["", "a"].map(str::to_owned).to_vec();
    assert_eq!(decode(&[0.6, 0.4, 0.7, 0.3], &alphabet), None);
    assert_eq!(decode(&[0.1, 0.4], &alphabet), None);
}
