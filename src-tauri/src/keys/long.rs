//! Values that may be longer than one entry of a keychain takes (on Windows 2,560 bytes, two a letter), over several entries.
//!
//! The first says how many there are, and is written last: until then the others are nobody's.

use protocol::command::Secret;

use super::store::{KeyError, KeyStore};

/// Characters of one entry, beside their number.
const PART: usize = 1_000;
/// Entries of one value.
const PARTS: usize = 64;

/// `None` if there is none, or not all of it.
pub fn get(store: &dyn KeyStore, name: &str) -> Result<Option<Secret>, KeyError> {
    let Some((count, mut text)) = first(store, name)? else { return Ok(None) };
    for number in 2..=count {
        let Some(part) = store.get(&entry(name, number))? else { return Ok(None) };
        text.push_str(&part.0);
    }
    Ok(Some(Secret(text)))
}

/// Keeps it in the place of an earlier one.
///
/// # Errors
/// It was not kept; then there may be none at all.
pub fn set(store: &dyn KeyStore, name: &str, value: &Secret) -> Result<(), KeyError> {
    let before = first(store, name)?.map_or(0, |(count, _)| count);
    let letters: Vec<char> = value.0.chars().collect();
    let parts: Vec<String> = letters.chunks(PART).map(|part| part.iter().collect()).collect();
    if parts.len() > PARTS {
        return Err(KeyError::Failed(format!("it has more than {} characters", PART * PARTS)));
    }
    for (number, part) in parts.iter().enumerate().skip(1) {
        super::store_and_compare(store, &entry(name, number + 1), &Secret(part.clone()))?;
    }
    let head = parts.first().map_or("", String::as_str);
    super::store_and_compare(store, name, &Secret(format!("{}:{head}", parts.len().max(1))))?;
    (parts.len().max(1) + 1..=before).try_for_each(|number| store.delete(&entry(name, number)))
}

/// That there was none is no error.
pub fn delete(store: &dyn KeyStore, name: &str) -> Result<(), KeyError> {
    let count = first(store, name)?.map_or(0, |(count, _)| count);
    store.delete(name)?;
    (2..=count).try_for_each(|number| store.delete(&entry(name, number)))
}

/// How many entries there are, and the text of the first.
fn first(store: &dyn KeyStore, name: &str) -> Result<Option<(usize, String)>, KeyError> {
    let kept = store.get(name)?;
    Ok(kept.and_then(|kept| {
        let (count, text) = kept.0.split_once(':')?;
        Some((count.parse().ok().filter(|count| (1..=PARTS).contains(count))?, text.to_owned()))
    }))
}

fn entry(name: &str, number: usize) -> String {
    format!("{name} {number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::fake::FakeStore;

    #[test]
    fn a_value_of_any_length_is_read_back_whole_or_not_at_all_and_leaves_nothing_behind() {
        let store = FakeStore::default();
        let count = || store.kept.lock().unwrap().len();
        for (length, entries) in [(3 * PART, 3), (2 * PART + 1, 3), (PART, 1), (0, 1), (PART + 1, 2)] {
            let value = Secret("é".repeat(length));
            set(&store, "x", &value).unwrap();
            assert_eq!((get(&store, "x").unwrap(), count()), (Some(value), entries), "{length}");
            assert!(store.kept.lock().unwrap().values().all(|part| part.0.chars().count() <= PART + 3));
        }
        store.delete("x 2").unwrap();
        assert_eq!(get(&store, "x").unwrap(), None);
        delete(&store, "x").unwrap();
        assert_eq!((get(&store, "x").unwrap(), count()), (None, 0));
        assert!(set(&store, "x", &Secret("a".repeat(PART * PARTS + 1))).is_err());
    }
}
