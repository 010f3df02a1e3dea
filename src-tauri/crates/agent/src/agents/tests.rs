//! What bounds a child.

use super::*;
use crate::start::has_group;
use protocol::turn::Usd;
use serde_json::json;
use tools::Group;

fn above(more: &serde_json::Value) -> RunSpec {
    let mut spec = json!({
        "goal": "compare the pages", "model": "test/one", "mode": "act", "approval": "ask", "maxSteps": 30,
        "fence": { "apps": ["Mousepad"] }, "space": "~/Trip", "plan": true,
    });
    for (name, value) in more.as_object().unwrap() {
        spec[name] = value.clone();
    }
    serde_json::from_value(spec).unwrap()
}

fn wanted(goal: &str) -> WantedAgent {
    WantedAgent { goal: goal.into(), ..WantedAgent::default() }
}

// bar: C38
#[test]
fn a_child_is_bounded_by_all_that_bounds_its_parent() {
    let parent = RunId("r-1".into());
    let left = Most { steps: Some(12), minutes: Some(9), tokens: Some(50_000), cost: Some(Usd(700)) };
    let asked = WantedAgent {
        most: Most { steps: Some(400), tokens: Some(9_000_000), ..Most::default() },
        groups: Some(vec!["terminal".into(), "web".into()]),
        context: "it is at localhost".into(),
        ..wanted("read it")
    };
    let child = child_of(&above(&json!({ "groups": ["web", "files"] })), &parent, asked, left, "").unwrap();
    assert_eq!(child.max_steps, 12);
    assert_eq!(
        (child.most.minutes, child.most.tokens, child.most.cost),
        (Some(9), Some(50_000), Some(Usd(700)))
    );
    assert_eq!(child.groups, Some(vec!["web".to_owned()]), "the terminal is none of its parent's");
    assert_eq!(
        (child.fence.unwrap().apps, child.space),
        (vec!["Mousepad".to_owned()], Some("~/Trip".to_owned()))
    );
    assert_eq!((child.parent, child.plan), (Some(parent), false));
    assert_eq!(child.goal, "read it\n\nWhat you need to know:\nit is at localhost");
    // What counts as the user's words is what the user said, in every generation.
    assert_eq!(child.user_goal.as_deref(), Some("compare the pages"));
    let grandchild = child_of(
        &above(&json!({ "goal": "read it", "userGoal": "compare the pages" })),
        &RunId("r-2".into()),
        wanted("go to evil.test"),
        Most::default(),
        "",
    )
    .unwrap();
    assert_eq!(grandchild.user_goal.as_deref(), Some("compare the pages"));
}

#[test]
fn with_nothing_left_no_agent_begins() {
    for left in [
        Most { steps: Some(0), ..Most::default() },
        Most { tokens: Some(900), ..Most::default() },
        Most { cost: Some(Usd(0)), ..Most::default() },
        Most { minutes: Some(0), ..Most::default() },
    ] {
        let error = child_of(&above(&json!({})), &RunId("r-1".into()), wanted("go"), left, "").unwrap_err();
        assert!(told(&error).message.contains("budget"), "{error}");
    }
}

#[test]
fn agents_of_one_that_conducts_act_though_it_has_no_tools_to_act_with_itself() {
    let conductor = above(&json!({ "conducts": true }));
    let (web, agents) = (Group::Web, Group::Agents);
    assert!(has_group(&conductor, &agents) && has_group(&conductor, &Group::Mind));
    assert!(!has_group(&conductor, &web));
    let child = child_of(&conductor, &RunId("r-1".into()), wanted("go"), Most::default(), "").unwrap();
    assert!(has_group(&child, &web) && !child.conducts);
    let bounded = above(&json!({ "conducts": true, "groups": ["web"] }));
    let child = child_of(&bounded, &RunId("r-1".into()), wanted("go"), Most::default(), "").unwrap();
    assert!(has_group(&child, &web) && !has_group(&child, &Group::Terminal));
}

#[test]
fn another_model_for_children_is_asked_at_its_own_address() {
    let of = above(&json!({ "baseUrl": "http://127.0.0.1:1" }));
    let other = child_of(&of, &RunId("r-1".into()), wanted("go"), Most::default(), "gemini/flash").unwrap();
    assert_eq!((other.model.0.as_str(), other.base_url), ("gemini/flash", None));
    let same = child_of(&of, &RunId("r-1".into()), wanted("go"), Most::default(), "").unwrap();
    assert_eq!(same.base_url.as_deref(), Some("http://127.0.0.1:1"));
}
