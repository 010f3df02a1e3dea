//! Families of models in the data files, by how their ids start. Pure.
//!
//! A family has `starts`, beginnings of `PROVIDER/NAME` with `-` for each point; the longest that fits, of all families,
//! decides. It has `source` as well: where what it says is from.

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A data file.
#[derive(Deserialize)]
struct Table<T> {
    families: Vec<T>,
}

/// The families of a data file.
#[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
pub(crate) fn read<T: DeserializeOwned>(json: &str) -> Vec<T> {
    serde_json::from_str::<Table<T>>(json).expect("a table of families").families
}

/// A model's id as the data files write it: with `-` for each point, and under its own vendor if it is behind
/// OpenRouter.
pub(crate) fn id_of(model: &str) -> String {
    let passed_on = model.strip_prefix("openrouter/").unwrap_or(model);
    let id = match passed_on.split_once('/') {
        Some(("google", name)) => format!("gemini/{name}"),
        Some(("x-ai", name)) => format!("xai/{name}"),
        _ => passed_on.to_owned(),
    };
    id.replace('.', "-")
}

/// The one of all families whose start fits `id` best, the longest of them.
pub(crate) fn best<'a, T>(all: &'a [T], starts: impl Fn(&T) -> &[String], id: &str) -> Option<&'a T> {
    let fit = |one: &&'a T| {
        let fitting = starts(one).iter().filter(|start| id.starts_with(start.as_str()));
        fitting.map(String::len).max()
    };
    let fitting = all.iter().filter_map(|one| Some((fit(&one)?, one)));
    fitting.max_by_key(|(length, _)| *length).map(|(_, one)| one)
}
