//! What a control says that it does, where that cannot be taken back: data, in the languages that Miki speaks.

use std::sync::LazyLock;

use protocol::contract::EffectClass;
use serde::Deserialize;

const DATA: &str = include_str!("../data/words.json");

#[derive(Deserialize)]
struct Data {
    #[serde(default)]
    send: Words,
    #[serde(default)]
    pay: Words,
    #[serde(default)]
    delete: Words,
    #[serde(default)]
    publish: Words,
    #[serde(default)]
    submit: Words,
    #[serde(default)]
    run: Words,
    #[serde(default)]
    install: Words,
    #[serde(default)]
    sign: Words,
    /// What looks alike and is harmless.
    #[serde(default)]
    except: Words,
}

impl Data {
    /// The gravest first.
    fn kinds(&self) -> [(&Words, &'static str, EffectClass); 8] {
        [
            (&self.pay, "pays", EffectClass::Pay),
            (&self.send, "sends", EffectClass::Send),
            (&self.delete, "deletes", EffectClass::Delete),
            (&self.publish, "publishes", EffectClass::Publish),
            (&self.submit, "submits", EffectClass::Submit),
            (&self.install, "installs", EffectClass::Install),
            (&self.sign, "signs", EffectClass::Sign),
            (&self.run, "runs something", EffectClass::Run),
        ]
    }
}

/// Whole labels or the first words of them, lower case.
#[derive(Default, Deserialize)]
struct Words {
    #[serde(default)]
    en: Vec<String>,
    #[serde(default)]
    ja: Vec<String>,
}

impl Words {
    fn are_in(&self, label: &str) -> bool {
        let begins = |word: &String| {
            let rest = label.strip_prefix(word.as_str());
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
        };
        // Japanese has no spaces between words, and its verbs come last.
        self.en.iter().any(begins) || self.ja.iter().any(|word| label.contains(word.as_str()))
    }
}

impl Words {
    /// The label without these words: where they are all of it in English, or nothing but a number or a sign is left,
    /// since what it goes on to say would be hidden.
    fn cut_from(&self, label: &str) -> String {
        let is_all = |word: &String| {
            label.strip_prefix(word.as_str()).is_some_and(|rest| !rest.contains(char::is_alphabetic))
        };
        let label = if self.en.iter().any(is_all) { "" } else { label };
        self.ja.iter().fold(label.to_owned(), |label, word| label.replace(word.as_str(), ""))
    }
}

static WORDS: LazyLock<Option<Data>> = LazyLock::new(|| serde_json::from_str(DATA).ok());

/// What a control of this name does, for the user; `None` if that can be taken back, or is not known.
pub(crate) fn says(name: &str) -> Option<&'static str> {
    says_by(WORDS.as_ref(), name)
}

/// All that a control of this name does, as contracts name it; `None` if nothing is known of any.
pub(crate) fn effects(name: &str) -> Option<Vec<EffectClass>> {
    let words = WORDS.as_ref()?;
    let all = found_in(words, name).map(|(_, effect)| effect);
    Some(all.collect())
}

/// Of which names a part may be the beginning.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Any,
    /// It is a menu on the way, which is named whole: `File` is not the beginning of `file return`.
    OfItsFirstWord,
}

/// What controls do whose English names begin with this.
pub(crate) fn effects_beginning(beginning: &str, part: Part) -> Vec<EffectClass> {
    let beginning = plain(beginning);
    let beginning = beginning.trim_start_matches(|c: char| !c.is_alphanumeric());
    let goes_on = |rest: &str| part == Part::Any || !rest.starts_with(' ');
    let begins =
        |words: &&Words| words.en.iter().any(|word| word.strip_prefix(beginning).is_some_and(goes_on));
    let kinds = WORDS.as_ref().into_iter().flat_map(Data::kinds);
    kinds.filter(|(words, ..)| begins(words)).map(|(.., effect)| effect).collect()
}

/// Without the data nothing is known to be harmless.
fn says_by(words: Option<&Data>, name: &str) -> Option<&'static str> {
    let Some(words) = words else { return Some("may do anything") };
    found_in(words, name).next().map(|(does, _)| does)
}

/// As menus are searched: marks of access keys, and a shortcut beside the name, say nothing.
fn plain(name: &str) -> String {
    let name = name.split('\t').next().unwrap_or(name).replace(['_', '&'], "");
    name.trim().to_lowercase()
}

fn found_in(words: &Data, name: &str) -> impl Iterator<Item = (&'static str, EffectClass)> {
    let label = plain(name);
    let label = label.trim_start_matches(|c: char| !c.is_alphanumeric());
    let label = words.except.cut_from(label);
    let kinds = words.kinds().into_iter();
    kinds.filter(move |(words, ..)| words.are_in(&label)).map(|(_, does, effect)| (does, effect))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_is_whole_and_without_it_nothing_is_harmless() {
        assert_eq!(says_by(None, "Save"), Some("may do anything"));
        let data: Data = serde_json::from_str(DATA).unwrap();
        for words in [&data.send, &data.pay, &data.delete, &data.publish] {
            assert!(words.en.len() >= 5 && words.ja.len() >= 3);
        }
    }

    #[test]
    fn a_control_is_told_by_what_it_says_in_both_languages() {
        assert_eq!(says("Send"), Some("sends"));
        assert_eq!(says("_Send…"), Some("sends"));
        assert_eq!(says("S&e_nd\tCtrl+Enter"), Some("sends"));
        assert_eq!(says("送信"), Some("sends"));
        assert_eq!(says("Place order"), Some("pays"));
        assert_eq!(says("購入"), Some("pays"));
        assert_eq!(says("Publish"), Some("publishes"));
        assert_eq!(says("公開する"), Some("publishes"));
        assert_eq!(says("Delete"), Some("deletes"));
        assert_eq!(says("削除"), Some("deletes"));
        assert_eq!(says("送信済みを完全に削除"), Some("deletes"));
        assert_eq!(effects("送信して削除"), Some(vec![EffectClass::Send, EffectClass::Delete]));
        assert_eq!(effects("Save"), Some(Vec::new()));
        // A phrase that is harmless hides nothing of what it goes on to say.
        assert_eq!(says("Delete line manager"), Some("deletes"));
        assert_eq!(says("Delete rows (3)"), None);
        for harmless in ["Save", "Sender", "Open", "Send to Back", "Paypal settings", "", "保存"] {
            assert_eq!(says(harmless), None, "{harmless}");
        }
    }
}
