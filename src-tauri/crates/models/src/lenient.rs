//! Reading what a provider sends without refusing all of it for one odd field.

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::TurnEvent;

/// A field that counts as missing if its value is of another type than documented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lenient<T>(pub T);

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = <&RawValue>::deserialize(deserializer)?.get();
        match serde_json::from_str(json) {
            Ok(value) => Ok(Self(value)),
            // A string that holds half a surrogate pair is of the right type and broken: to drop it could change a
            // call.
            Err(_) => match serde_json::from_str::<Value>(json) {
                Ok(_) => Ok(Self::default()),
                Err(error) => Err(D::Error::custom(error)),
            },
        }
    }
}

/// A web page that an answer rests on, in any provider's form.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Source {
    url: Lenient<Option<String>>,
    uri: Lenient<Option<String>>,
    title: Lenient<String>,
}

impl Source {
    /// `None` if no address is given.
    pub(crate) fn citation(self) -> Option<TurnEvent> {
        let url = self.url.0.or(self.uri.0)?;
        Some(TurnEvent::Citation { url, title: self.title.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default)]
    struct Example<'a> {
        count: Lenient<u64>,
        name: Lenient<Option<String>>,
        #[serde(borrow)]
        parts: Lenient<Vec<&'a str>>,
    }

    #[test]
    fn an_odd_field_costs_itself_and_no_other() {
        let read = |json| serde_json::from_str::<Example<'_>>(json).unwrap();
        let whole = Example { count: Lenient(7), name: Lenient(Some("n".into())), parts: Lenient(vec!["a"]) };
        assert_eq!(read(r#"{"count":7,"name":"n","parts":["a"],"new":{}}"#), whole);
        assert_eq!(read(r#"{"count":"x","name":"n","parts":["a"]}"#), Example { count: Lenient(0), ..whole });
        assert_eq!(read(r#"{"count":-1,"name":null,"parts":["a",3]}"#), Example::default());
        for broken in ["3", r#"{"count":7"#, r#"{"name":"\ud83d"}"#, r#"{"parts":["\ud83d"]}"#] {
            assert!(serde_json::from_str::<Example<'_>>(broken).is_err(), "{broken}");
        }
    }
}
