//! Tools that come from outside while runs are under way: added, offered, called and taken away.

use std::sync::Arc;

use crate::stage::{call, desktop, limits, request};
use async_trait::async_trait;
use protocol::tool::{ApprovalMode, Effect, Mode, Risk, ToolError, ToolErrorKind};
use serde_json::{Value, json};
use tools::{
    AddError, Context, Decision, Env, ExecRequest, Group, Needs, Outcome, Plan, Registry, Router, Spec, Task,
    Tool, Verify,
};

/// A tool of a server: it looks things up, and with `send` it sends them.
struct Remote(Spec);

impl Remote {
    fn spec(name: &str) -> Spec {
        Spec {
            name: name.into(),
            description: "Looks up a word in the pond.".into(),
            schema: json!({"type": "object", "properties": {"word": {"type": "string"}, "send": {"type": "boolean"}}}),
            group: Group::Server("pond".into()),
            needs: Needs::Network,
            verify: Verify::Own,
            reads: true,
            egress: true,
            risk: Risk::Consequential,
        }
    }

    fn named(name: &str) -> Arc<dyn Tool> {
        Arc::new(Self(Self::spec(name)))
    }
}

impl Tool for Remote {
    fn spec(&self) -> &Spec {
        &self.0
    }

    fn plan(&self, arguments: Value, _: &Env<'_>) -> Result<Plan, ToolError> {
        let Some(word) = arguments["word"].as_str() else {
            let message = "word is missing".to_owned();
            return Err(ToolError { kind: ToolErrorKind::BadArguments, message });
        };
        let risk = if arguments["send"] == true { Risk::Consequential } else { Risk::Observe };
        Ok(Plan::new(risk, LookUp(word.to_owned())).because(Some("to know".into())))
    }
}

struct LookUp(String);

#[async_trait]
impl Task for LookUp {
    async fn run(&self, cx: &Context) -> Outcome {
        cx.begin();
        Outcome::looked(format!("looked up {}", self.0), json!({ "said": "plop" }))
    }
}

fn names(router: &Router) -> Vec<String> {
    router.specs(Mode::Act, &tools::Ports::default()).into_iter().map(|spec| spec.name.to_string()).collect()
}

#[tokio::test]
async fn a_tool_that_is_added_is_offered_last_and_called_by_its_exact_name_until_it_is_taken_away() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let before = names(&router);
    let name = format!("pond_{}", "lookUp");
    router.registry().add(Remote::named(&name)).unwrap();
    assert_eq!(names(&router), [before.clone(), vec![name.clone()]].concat());
    let result = call(&router, &name, json!({"word": "frog"})).await.result;
    assert_eq!((result.effect, result.summary.as_str()), (Effect::Confirmed, "looked up frog"));
    assert_eq!(fake.calls(), [], "it has nothing to do with the desktop");
    let error = call(&router, "pond_lookup", json!({"word": "frog"})).await.result.error.unwrap();
    assert_eq!(error.kind, ToolErrorKind::UnknownTool);
    assert!(error.message.contains(&name), "{}", error.message);
    assert_eq!(router.registry().remove(&name).unwrap().spec(), &Remote::spec(&name));
    assert!(router.registry().remove(&name).is_none());
    assert_eq!(names(&router), before);
    let error = call(&router, &name, json!({"word": "frog"})).await.result.error.unwrap();
    assert_eq!(error.kind, ToolErrorKind::UnknownTool);
}

#[tokio::test]
async fn the_risk_is_that_of_the_arguments_and_policy_goes_by_it() {
    let router = Router::builtin(desktop());
    router.registry().add(Remote::named("lookUp")).unwrap();
    let assess = |mode, arguments| {
        let asking = ExecRequest { mode, approval: ApprovalMode::Ask, ..request("lookUp", arguments) };
        router.outline(&asking, &limits())
    };
    let looks = assess(Mode::Act, json!({"word": "frog"}));
    assert_eq!((looks.risk, looks.needs, looks.seat), (Some(Risk::Observe), Some(Needs::Network), false));
    assert_eq!(looks.decision, Decision::Run);
    assert_eq!(assess(Mode::Plan, json!({"word": "frog"})).decision, Decision::Run);
    let sends = assess(Mode::Act, json!({"word": "frog", "send": true}));
    assert_eq!((sends.risk, sends.seat), (Some(Risk::Consequential), false));
    assert!(
        matches!(&sends.decision, Decision::Ask { reason } if reason.ends_with("the model says: to know"))
    );
    let planned = assess(Mode::Plan, json!({"word": "frog", "send": true}));
    assert!(matches!(planned.decision, Decision::Forbid { .. }));
    // Where it could send, a plan is not offered it.
    assert!(!router.specs(Mode::Plan, &tools::Ports::default()).iter().any(|spec| *spec.name == *"lookUp"));
    let refused = assess(Mode::Act, json!({}));
    assert_eq!(
        (refused.risk, refused.needs, refused.seat),
        (Some(Risk::Consequential), Some(Needs::Network), false)
    );
}

#[tokio::test]
async fn a_batch_takes_its_looking_calls_and_refuses_what_is_asked_for_by_itself() {
    let router = Router::builtin(desktop());
    router.registry().add(Remote::named("lookUp")).unwrap();
    let batch = |send: bool| {
        json!({"actions": [
            {"tool": "think", "arguments": {"thought": "a"}},
            {"tool": "lookUp", "arguments": {"word": "frog", "send": send}},
        ]})
    };
    let result = call(&router, "batch", batch(false)).await.result;
    assert_eq!((result.effect, result.summary.as_str()), (Effect::Confirmed, "2 of 2 actions done"));
    let error = call(&router, "batch", batch(true)).await.result.error.unwrap();
    assert_eq!(error.kind, ToolErrorKind::BadArguments);
    assert!(
        error.message.starts_with("actions[1]: this call of lookUp is asked for by itself"),
        "{}",
        error.message
    );
}

#[test]
fn a_name_that_is_taken_or_no_provider_takes_is_refused_with_the_reason() {
    let registry = Registry::builtin();
    registry.add(Remote::named("lookUp")).unwrap();
    for taken in ["lookUp", "click"] {
        let error = registry.add(Remote::named(taken)).unwrap_err();
        assert_eq!(error.to_string(), format!("there is a tool {taken} already"));
    }
    let long = "x".repeat(65);
    for bad in ["", "1up", "-up", "look up", "look.up", "lookUp\n", "clісk", "__proto__()", long.as_str()] {
        let error = registry.add(Remote::named(bad)).unwrap_err();
        assert_eq!(error, AddError::Name(bad.into()));
        assert!(error.to_string().contains("a letter or _ first"), "{error}");
    }
    registry.add(Remote::named(&"x".repeat(64))).unwrap();
    let spec = Spec { schema: json!({"type": "string"}), ..Remote::spec("other") };
    assert_eq!(registry.add(Arc::new(Remote(spec))).unwrap_err(), AddError::Schema("other".into()));
    assert!(registry.get("lookUp").is_some() && registry.get("LookUp").is_none());
}

#[test]
fn schemas_are_derived_once_and_shared() {
    let registry = Arc::new(Registry::builtin());
    let (one, other) = (Router::new(registry.clone(), desktop()), Router::new(registry.clone(), desktop()));
    assert!(Arc::ptr_eq(one.registry(), other.registry()));
    let first = registry.get("click").unwrap();
    one.specs(Mode::Act, &tools::Ports::default());
    other.outline(&request("click", json!({"x": 1, "y": 2})), &limits());
    assert!(Arc::ptr_eq(&first, &registry.get("click").unwrap()));
}

#[test]
fn tools_come_and_go_while_others_are_called() {
    let router = Router::builtin(desktop());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let router = &router;
            scope.spawn(move || {
                for round in 0..200 {
                    let name = format!("t{thread}_{round}");
                    router.registry().add(Remote::named(&name)).unwrap();
                    let calls = request(&name, json!({"word": "frog"}));
                    assert_eq!(router.outline(&calls, &limits()).decision, Decision::Run);
                    assert!(router.registry().remove(&name).is_some());
                }
            });
        }
    });
    assert_eq!(names(&router), names(&Router::builtin(desktop())));
}
