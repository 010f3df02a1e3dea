//! A SearXNG of the user's. Source: docs.searxng.org/dev/search_api: `format=json` must be switched on in its settings,
//! else it answers 403.

use serde::Deserialize;

use super::{Ask, Hit, REDIRECTS, Searcher, base};
use crate::SearchError;

pub(super) const NAME: &str = "SearXNG";

#[derive(Deserialize)]
struct Found {
    results: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    title: Option<String>,
    /// Some kinds of results have none.
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    content: Option<String>,
}

pub(super) async fn search(searcher: &Searcher, at: &str, ask: &Ask<'_>) -> Result<Vec<Hit>, SearchError> {
    let mut url = base(at).ok_or(SearchError::NoBase)?;
    // A whole address of a search is taken as its beginning.
    url.set_query(None);
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/');
    let path = if path.ends_with("/search") { path.to_owned() } else { format!("{path}/search") };
    url.set_path(&path);
    url.query_pairs_mut()
        .append_pair("q", ask.query)
        .append_pair("format", "json")
        .append_pair("pageno", &ask.page.to_string());
    for _ in 0..=REDIRECTS {
        let answer = searcher.answer(NAME, searcher.client.get(url.clone())).await?;
        if answer.status.is_redirection()
            && let Ok(to) = url.join(&answer.location)
            && to.origin() == url.origin()
            && !answer.location.is_empty()
        {
            url = to;
            continue;
        }
        let is_json = answer.kind.contains("json") || answer.body.trim_ascii_start().starts_with(b"{");
        return match answer.status.as_u16() {
            200 if is_json => {
                let found: Found = answer.read()?;
                let hit = |item: Item| {
                    let text = |text: Option<String>| text.unwrap_or_default();
                    Hit { title: text(item.title), url: text(item.url), snippet: text(item.content) }
                };
                Ok(found.results.into_iter().map(hit).collect())
            }
            200 | 403 => Err(SearchError::NoJson),
            429 => Err(SearchError::TooOften { engine: NAME, retry_after: answer.retry_after }),
            _ => Err(answer.status_error("", "")),
        };
    }
    Err(SearchError::Moved { engine: NAME, to: "itself, in a circle".to_owned() })
}
