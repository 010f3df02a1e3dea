//! Choices that people would take for each other: by case, width, or letters that look alike. What is answered in words would
//! be one of them for whoever reads it, and another one for the server.

use tools::untrusted;
use unicode_normalization::UnicodeNormalization as _;

/// The names of two choices that cannot be told apart; `None` if all can. Each is chosen by its value or by its name.
pub fn alike(choices: &[(String, String)]) -> Option<(&str, &str)> {
    let seen: Vec<[String; 2]> = choices.iter().map(|(value, name)| [looks(value), looks(name)]).collect();
    let pairs = (0..choices.len()).flat_map(|one| (one + 1..choices.len()).map(move |other| (one, other)));
    let is_one = |(one, other): &(usize, usize)| seen[*one].iter().any(|text| seen[*other].contains(text));
    let (one, other) = pairs.into_iter().find(is_one)?;
    Some((&choices[one].1, &choices[other].1))
}

/// What a text looks like: the same for texts that a glance takes for each other. More are the same than must be, since a list
/// that is refused does no harm.
fn looks(text: &str) -> String {
    let plain: String = untrusted::clean(text).0.nfkc().map(capital).collect();
    let lower: String = plain.to_lowercase().nfkc().map(letter).collect();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Capitals whose small letters look otherwise.
fn capital(c: char) -> char {
    match c {
        'В' | 'Β' => 'b',
        'Н' | 'Η' => 'h',
        'Ν' => 'n',
        'Υ' | 'У' | 'Ү' => 'y',
        'Т' | 'Τ' => 't',
        'М' | 'Μ' => 'm',
        'Г' | 'Γ' => 'r',
        c => c,
    }
}

/// A small letter, a digit or a sign by what it is taken for: Cyrillic and Greek, and what is alike in Japanese.
fn letter(c: char) -> char {
    match c {
        'а' | 'α' | 'ɑ' => 'a',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ε' => 'e',
        'ɡ' => 'g',
        'һ' => 'h',
        'i' | 'l' | '1' | '|' | 'ı' | 'і' | 'ι' | 'ӏ' | 'ǀ' => 'l',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'м' => 'm',
        'о' | 'ο' | 'σ' | '0' | 'օ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ս' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        'ζ' => 'z',
        '‐' | '‑' | '‒' | '–' | '—' | '−' | '一' | 'ー' => '-',
        '’' | '‘' | 'ʼ' | '´' | '`' => '\'',
        '力' => 'カ',
        '口' => 'ロ',
        '二' => 'ニ',
        '八' => 'ハ',
        '工' => 'エ',
        '夕' => 'タ',
        '卜' => 'ト',
        'へ' => 'ヘ',
        'べ' => 'ベ',
        'ぺ' => 'ペ',
        'り' => 'リ',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<(String, String)> {
        let one = |(at, name): (usize, &&str)| (format!("value {}", ["a", "b", "c"][at]), (*name).to_owned());
        names.iter().enumerate().map(one).collect()
    }

    #[test]
    fn choices_that_differ_in_case_width_or_look_alike_letters_are_alike() {
        for (one, other) in [
            ("Yes", "yes"),
            ("Yes", "Ｙｅｓ"),
            ("paypal", "pаypal"),
            ("ACE", "АСЕ"),
            ("Account 1", "Account l"),
            ("O2", "02"),
            ("Send", "Send\u{200b}"),
            ("Send it", "Send  it"),
            ("ｶｰﾄﾞ", "カード"),
            ("ロック", "口ック"),
            ("Ά", "Α\u{301}"),
        ] {
            let choices = named(&["other", one, other]);
            let told = alike(&choices).unwrap_or_else(|| panic!("{one} and {other} are told apart"));
            assert_eq!(told, (one, other));
        }
        assert_eq!(alike(&named(&["yes", "no", "later"])), None);
        assert_eq!(alike(&named(&["東京", "京都", "大阪"])), None);
        assert_eq!(alike(&named(&["Ärger", "Arger"])), None);
    }

    #[test]
    fn a_value_that_looks_like_another_choices_name_is_alike_too() {
        let pair = |value: &str, name: &str| (value.to_owned(), name.to_owned());
        assert!(alike(&[pair("keep", "Keep it"), pair("delete", "KEEP")]).is_some());
        assert_eq!(alike(&[pair("keep", "Keep"), pair("delete", "Delete")]), None, "its own name is its own");
    }
}
