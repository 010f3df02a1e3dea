//! Ids in short: by their ends. They begin with the time, which is the same of all that was begun together.

/// Characters of an id that are shown at the least.
const CHARS: usize = 8;

/// An id as it is shown among others: as much of its end as tells it from them.
pub fn short(id: &str, among: &[&str]) -> String {
    let all: Vec<char> = id.chars().collect();
    let end = |length: usize| all[all.len().saturating_sub(length)..].iter().collect::<String>();
    let tells = |length: &usize| {
        let end = end(*length);
        among.iter().all(|other| *other == id || !other.ends_with(&end))
    };
    end((CHARS..all.len()).find(tells).unwrap_or(all.len()))
}

/// The one of these that is named by its id, or by the end or the beginning of it.
///
/// # Errors
/// How many it could be: none, or several.
pub fn meant<T>(all: Vec<T>, id: impl Fn(&T) -> &str, named: &str) -> Result<T, usize> {
    let is_whole = |one: &T| id(one) == named;
    let ends = |one: &T| id(one).ends_with(named);
    let begins = |one: &T| {
        let rest = id(one).split_once('-').map_or(id(one), |(_, rest)| rest);
        id(one).starts_with(named) || rest.starts_with(named)
    };
    let ways: [&dyn Fn(&T) -> bool; 3] = [&is_whole, &ends, &begins];
    let Some(way) = ways.into_iter().find(|way| !named.is_empty() && all.iter().any(way)) else {
        return Err(0);
    };
    let mut meant: Vec<T> = all.into_iter().filter(way).collect();
    match (meant.pop(), meant.len()) {
        (Some(one), 0) => Ok(one),
        (_, others) => Err(others + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_shown_by_as_much_of_its_end_as_tells_it_from_the_others() {
        let all = ["r-0193f4c2a81b7c30bb3fd1e0a4a6f2d1", "r-0193f4c2a8227c30bb3fd1e0a4a6f2d2"];
        assert_eq!(short(all[0], &all), "a4a6f2d1");
        let alike = ["r-019312345678", "r-019212345678"];
        assert_eq!(
            (short(alike[0], &alike), short(alike[1], &alike)),
            ("312345678".into(), "212345678".into())
        );
        assert_eq!((short("r-1", &["r-1", "r-1"]), short("", &[])), ("r-1".into(), String::new()));
    }

    #[test]
    fn what_is_shown_of_an_id_names_it_and_so_do_the_whole_and_its_beginning() {
        let all = ["r-0193aa11", "r-0193bb11", "r-0193bb"];
        let named = |text: &str| meant(all.to_vec(), |id| id, text);
        for id in all {
            assert_eq!((named(id), named(&short(id, &all))), (Ok(id), Ok(id)));
        }
        assert_eq!((named("a11"), named("0193a"), named("r-0193a")), (Ok(all[0]), Ok(all[0]), Ok(all[0])));
        assert_eq!((named("11"), named("0193"), named("zz"), named("")), (Err(2), Err(3), Err(0), Err(0)));
    }
}
