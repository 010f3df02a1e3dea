//! Events that come by the hundred, read without a tree being built of them.
//!
//! Each wire's own `hot.rs` knows the few forms of a plain piece of text, thought or arguments; whatever is not wholly
//! such a piece is none of theirs, and is read the long way. Here is what they share.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, SeqAccess, Visitor};

/// An event of a plain form; nothing where it is not wholly one.
pub(crate) fn read<'a, T: Deserialize<'a>>(data: &'a str) -> Option<T> {
    #[cfg(test)]
    if tests::is_off() {
        return None;
    }
    serde_json::from_str(data).ok()
}

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
#[path = "hot_tests.rs"]
mod tests;
