//! Google Programmable Search. Source: developers.google.com/custom-search/v1/reference/rest/v1/cse/list; it is closed to
//! new customers and ends on 2027-01-01.

use protocol::command::Secret;
use serde::Deserialize;

use super::{Ask, Hit, Searcher, base, shown};
use crate::SearchError;

pub(super) const NAME: &str = "Google";
pub(super) const BASE: &str = "https://www.googleapis.com/customsearch/v1";
/// `num` is at most this, and `start + num` at most [`LAST`].
const COUNT: u32 = 10;
const LAST: u32 = 100;

#[derive(Deserialize)]
struct Found {
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    title: String,
    link: String,
    #[serde(default)]
    snippet: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Failure {
    error: Failed,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Failed {
    message: String,
    errors: Vec<Reason>,
    details: Vec<Reason>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Reason {
    reason: String,
}

pub(super) async fn search(
    searcher: &Searcher,
    key: &Secret,
    engine_id: &str,
    ask: &Ask<'_>,
) -> Result<Vec<Hit>, SearchError> {
    let (key, engine_id) = (key.0.trim(), engine_id.trim());
    if key.is_empty() {
        return Err(SearchError::NoKey { engine: NAME });
    }
    if engine_id.is_empty() {
        return Err(SearchError::NoEngineId);
    }
    let count = ask.count.min(COUNT);
    let last = LAST / count;
    if ask.page > last {
        return Err(SearchError::Page { engine: NAME, page: ask.page, last });
    }
    let start = (ask.page - 1) * count + 1;
    let mut url = base(&searcher.bases.google).ok_or(SearchError::NoBase)?;
    url.query_pairs_mut()
        .append_pair("key", key)
        .append_pair("cx", engine_id)
        .append_pair("q", ask.query)
        .append_pair("num", &count.to_string())
        .append_pair("start", &start.to_string());
    let answer = searcher.answer(NAME, searcher.client.get(url)).await?;
    if answer.status.is_success() {
        let found: Found = answer.read()?;
        let hit = |item: Item| Hit { title: item.title, url: item.link, snippet: item.snippet };
        return Ok(found.items.into_iter().map(hit).collect());
    }
    let failed = answer.error::<Failure>().error;
    let is = |reasons: &[&str]| {
        failed.errors.iter().chain(&failed.details).any(|one| reasons.contains(&one.reason.as_str()))
    };
    let detail = || shown(&failed.message, key);
    let status = answer.status.as_u16();
    Err(if is(&["keyInvalid", "keyExpired", "API_KEY_INVALID"]) || status == 401 {
        SearchError::WrongKey { engine: NAME, detail: detail() }
    } else if is(&["dailyLimitExceeded", "quotaExceeded", "limitExceeded"])
        || status == 429 && failed.message.contains("per day")
    {
        SearchError::Quota { engine: NAME, detail: detail(), retry_after: answer.retry_after }
    } else if status == 429 || is(&["rateLimitExceeded", "userRateLimitExceeded"]) {
        SearchError::TooOften { engine: NAME, retry_after: answer.retry_after }
    } else if matches!(status, 400 | 403) && !failed.message.is_empty() {
        SearchError::Refused { engine: NAME, detail: detail() }
    } else {
        answer.status_error(&failed.message, key)
    })
}
