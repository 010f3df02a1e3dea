//! Events that come by the hundred, read without a tree being built of them.
//!
//! Each wire's own `hot.rs` knows the few forms of a plain piece of text, thought or arguments; whatever is not wholly
//! such a piece is none of theirs, and is read the long way. Here is what they share.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, SeqAccess, Visitor};

/// A string, borrowed where it has no escapes, also inside of an `Option`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Words<'a>(pub Cow<'a, str>);

impl Words<'_> {
    /// Nothing where it says nothing.
    pub(crate) fn said(self) -> Option<String> {
        if self.0.is_empty() { None } else { Some(self.0.into_owned()) }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Words<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Words<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Words(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Words(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Reader)
    }
}

/// A list of exactly one.
pub(crate) struct Only<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Only<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = Only<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of one")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let first = list.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
                match list.next_element::<IgnoredAny>()? {
                    None => Ok(Only(first)),
                    Some(_) => Err(A::Error::invalid_length(2, &self)),
                }
            }
        }
        deserializer.deserialize_seq(Reader(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_borrowed_where_they_can_be() {
        let Words(text) = serde_json::from_str("\"ab\"").unwrap();
        assert!(matches!(text, Cow::Borrowed("ab")));
        let words: Option<Words<'_>> = serde_json::from_str(r#""a\nb""#).unwrap();
        assert_eq!(words.and_then(Words::said).as_deref(), Some("a\nb"));
        assert_eq!(serde_json::from_str::<Option<Words<'_>>>("null").unwrap(), None);
        assert!(serde_json::from_str::<Words<'_>>("7").is_err());
    }

    #[test]
    fn a_list_of_one_has_no_other() {
        let only = |json: &str| serde_json::from_str::<Only<u8>>(json).ok().map(|only| only.0);
        assert_eq!([only("[7]"), only("[]"), only("[7, 8]")], [Some(7), None, None]);
    }
}
