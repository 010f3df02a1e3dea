//! `webNavigate`: the browser's front tab goes somewhere. An address can carry data out, so it counts as an edit.

use async_trait::async_trait;
use browser::{Arrived, Journey, Loaded};
use protocol::tool::{Effect, Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, bad_arguments, filled, web};
use crate::reach::Reach;
use crate::untrusted;

const URL_CHARS: usize = 4_000;

pub(super) struct WebNavigate;

/// Opens an address in the browser's front tab, or goes back, forward or loads it again; waits until the page is
/// loaded, and tells where it ended. Only http, https and about:blank. Starts a browser where none is attached.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// With its scheme: https://example.org/
    #[schemars(length(min = 1, max = 4000))]
    url: Option<String>,
    /// Instead of an address.
    go: Option<Go>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Go {
    Back,
    Forward,
    Reload,
}

impl Builtin for WebNavigate {
    const NAME: &'static str = "webNavigate";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Web;
    const NEEDS: Needs = Needs::Browser;
    const EGRESS: bool = true;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let journey = match (input.url.filter(|url| !url.is_empty()), input.go) {
            (Some(_), Some(_)) => return Err(bad_arguments("give url or go, not both")),
            (None, None) => return Err(bad_arguments("url is missing")),
            (Some(url), None) => {
                filled("url", &url, URL_CHARS)?;
                Journey::To(url)
            }
            (None, Some(Go::Back)) => Journey::Back,
            (None, Some(Go::Forward)) => Journey::Forward,
            (None, Some(Go::Reload)) => Journey::Reload,
        };
        let reach = match &journey {
            Journey::To(url) => Reach::Address(url.clone()),
            Journey::Back | Journey::Forward | Journey::Reload => Reach::Nowhere,
        };
        Ok(Plan::new(Self::RISK, Travel { journey }).reaching(reach))
    }
}

struct Travel {
    journey: Journey,
}

#[async_trait]
impl Task for Travel {
    async fn run(&self, cx: &Context) -> Outcome {
        cx.begin();
        match cx.browser.navigate(self.journey.clone(), cx.cancel.clone()).await {
            Ok(arrived) => told(&arrived),
            Err(error) => Outcome::failed_acting(WebNavigate::NAME, &error),
        }
    }
}

fn told(arrived: &Arrived) -> Outcome {
    let url = untrusted::line(&arrived.url, 300);
    let title = untrusted::line(&arrived.title, 200);
    let status = arrived.status.map(|status| format!(", status {status}")).unwrap_or_default();
    let mut summary = format!("the page is {url}{status}");
    let mut data = json!({ "tab": arrived.tab, "url": url, "title": title, "loaded": arrived.loaded });
    if let Some(status) = arrived.status {
        data["status"] = status.into();
    }
    let mut effect = Effect::Confirmed;
    if arrived.loaded == Loaded::StillLoading {
        summary.push_str("; it still loads");
        effect = Effect::Unverified;
    }
    if let Some(dialog) = &arrived.dialog {
        summary.push_str("; a dialog of the page is open, to be answered with webClick");
        data["dialog"] = web::clean_dialog(dialog);
    }
    Outcome { effect, ..Outcome::looked(summary, data) }
}
