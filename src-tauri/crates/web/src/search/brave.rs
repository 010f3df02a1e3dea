//! Brave Search. Source: api-dashboard.search.brave.com/app/documentation (web search; rate limits: windows of a second
//! and of a month, comma-separated in each header).

use std::time::Duration;

use protocol::command::Secret;
use reqwest::header::{ACCEPT, HeaderValue};
use serde::Deserialize;

use super::{Answer, Ask, Hit, Searcher, base, html_hit, shown};
use crate::SearchError;

pub(super) const NAME: &str = "Brave";
pub(super) const BASE: &str = "https://api.search.brave.com/res/v1/web/search";
/// `offset` counts pages from 0 and is at most 9.
const LAST: u32 = 10;

#[derive(Deserialize)]
struct Found {
    /// Left out where nothing was found.
    #[serde(default)]
    web: Web,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Web {
    results: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    title: String,
    url: String,
    #[serde(default)]
    description: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Failure {
    error: Failed,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Failed {
    code: String,
    detail: String,
}

pub(super) async fn search(
    searcher: &Searcher,
    key: &Secret,
    ask: &Ask<'_>,
) -> Result<Vec<Hit>, SearchError> {
    let key = key.0.trim();
    if key.is_empty() {
        return Err(SearchError::NoKey { engine: NAME });
    }
    if ask.page > LAST {
        return Err(SearchError::Page { engine: NAME, page: ask.page, last: LAST });
    }
    let wrong_key = |detail: &str| SearchError::WrongKey { engine: NAME, detail: detail.to_owned() };
    let mut token = HeaderValue::from_str(key).map_err(|_| wrong_key("it has characters that no key has"))?;
    token.set_sensitive(true);
    let mut url = base(&searcher.bases.brave).ok_or(SearchError::NoBase)?;
    url.query_pairs_mut()
        .append_pair("q", ask.query)
        .append_pair("count", &ask.count.to_string())
        .append_pair("offset", &(ask.page - 1).to_string())
        .append_pair("result_filter", "web");
    let request =
        searcher.client.get(url).header(ACCEPT, "application/json").header("X-Subscription-Token", token);
    let answer = searcher.answer(NAME, request).await?;
    if answer.status.is_success() {
        let found: Found = answer.read()?;
        let hit = |item: Item| html_hit(&item.title, item.url, &item.description);
        return Ok(found.web.results.into_iter().map(hit).collect());
    }
    let failed = answer.error::<Failure>().error;
    let detail = shown(&failed.detail, key);
    let status = answer.status.as_u16();
    Err(if failed.code.starts_with("SUBSCRIPTION_TOKEN") || status == 401 {
        SearchError::WrongKey { engine: NAME, detail }
    } else if failed.code.contains("QUOTA") || failed.code.contains("USAGE_LIMIT") || status == 402 {
        SearchError::Quota { engine: NAME, detail, retry_after: wait(&answer) }
    } else if status == 429 {
        match wait(&answer) {
            // The window of a month is used up, not that of a second.
            Some(wait) if wait > Duration::from_secs(3_600) => {
                SearchError::Quota { engine: NAME, detail, retry_after: Some(wait) }
            }
            retry_after => SearchError::TooOften { engine: NAME, retry_after },
        }
    } else if matches!(status, 400 | 403 | 404 | 422) && !detail.is_empty() {
        SearchError::Refused { engine: NAME, detail }
    } else {
        answer.status_error(&failed.detail, key)
    })
}

/// `retry-after`, else the longest time until a window with nothing left begins anew.
fn wait(answer: &Answer) -> Option<Duration> {
    let windows = answer.reset.split(',').zip(answer.remaining.split(','));
    let used_up = windows.filter(|(_, remaining)| remaining.trim() == "0");
    let reset = used_up.filter_map(|(reset, _)| reset.trim().parse().ok()).max();
    answer.retry_after.or(reset.map(Duration::from_secs))
}
