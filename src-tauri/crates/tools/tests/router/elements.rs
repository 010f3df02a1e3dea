//! Tools that act on an element: what reaches the desktop, what is said of it, and what of it is evidence.

use crate::stage::{call, desktop};
use desktop::fake::Call;
use desktop::{Button, DesktopError, ElementAction, Evidence, Selector, Target, WindowId, WindowView};
use protocol::geometry::NormRect;
use protocol::tool::{Effect, ToolErrorKind};
use serde_json::{Value, json};
use tools::Router;

fn save() -> Target {
    Target::Selector(Selector {
        app: Some("Editor".into()),
        role: Some("button".into()),
        name: Some("Save".into()),
        within: Some("tool bar".into()),
    })
}

#[tokio::test(start_paused = true)]
async fn each_action_reaches_the_element_that_was_named() {
    let selector = json!({"app": "Editor", "role": "button", "name": "Save", "within": "tool bar"});
    let with = |more: Value| {
        let mut all = selector.clone();
        for (key, value) in more.as_object().unwrap() {
            all[key] = value.clone();
        }
        all
    };
    let click = |button, count| ElementAction::Click { button, count };
    let reference = || Target::Ref("e1".into());
    let table = [
        (
            "clickElement",
            json!({"ref": "e1"}),
            reference(),
            click(Button::Left, 1),
            "clicked button \"Save\"",
        ),
        (
            "clickElement",
            with(json!({"button": "right", "count": 2})),
            save(),
            click(Button::Right, 2),
            "clicked right twice button \"Save\"",
        ),
        (
            "setValue",
            json!({"ref": "e1", "value": "s3cret", "role": "", "app": " "}),
            reference(),
            ElementAction::SetValue("s3cret".into()),
            "set the value of button \"Save\"",
        ),
        ("focusElement", with(json!({})), save(), ElementAction::Focus, "focused button \"Save\""),
        (
            "doAction",
            json!({"ref": "e1", "action": "expand"}),
            reference(),
            ElementAction::Do("expand".into()),
            "did expand of button \"Save\"",
        ),
    ];
    for (tool, arguments, target, action, summary) in table {
        let fake = desktop();
        fake.edit(|scene| scene.evidence = Evidence::ReadBack);
        let executed = call(&Router::builtin(fake.clone()), tool, arguments).await;
        let reached: Vec<Call> =
            fake.calls().into_iter().filter(|call| matches!(call, Call::Operate(..))).collect();
        assert_eq!(reached, [Call::Operate(target, action)], "{tool}");
        // What was looked at on the way was told to nobody.
        assert_eq!(executed.told, [], "{tool}");
        assert_eq!((executed.result.effect, executed.result.summary.as_str()), (Effect::Confirmed, summary));
        assert_eq!(executed.result.data["by"], "accessibility");
        assert!(executed.picture.unwrap().dot.is_some(), "{tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_menu_is_chosen_by_its_path() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let path = json!(["File", "Save As..."]);
    let result = call(&router, "pressMenu", json!({"app": "Editor", "path": path})).await.result;
    assert_eq!(result.summary, "chose menu item \"File > Save As...\"; the screen is as before");
    let path = vec!["File".to_owned(), "Save As...".to_owned()];
    assert!(fake.calls().contains(&Call::Menu(Some("Editor".into()), path)));
}

// bar: C64
#[tokio::test(start_paused = true)]
async fn an_element_that_is_gone_is_refused_with_the_desktops_words() {
    let fake = desktop();
    let words = "e12 (button \"Save\") is gone; the nearest now is e40 (button \"Save As...\")";
    let router = Router::builtin(fake.clone());
    let result = {
        // The first call that can fail is the look before the act.
        fake.fail_next(DesktopError::Failed("no picture".into()));
        fake.fail_next(DesktopError::NotFound(words.into()));
        call(&router, "clickElement", json!({"ref": "e12"})).await.result
    };
    let error = result.error.unwrap();
    assert_eq!((result.effect, error.kind), (Effect::Refused, ToolErrorKind::NotFound));
    assert!(error.message.contains(words), "{}", error.message);
}

#[tokio::test(start_paused = true)]
async fn a_press_that_changed_nothing_on_the_screen_says_so() {
    let result = call(&Router::builtin(desktop()), "clickElement", json!({"ref": "e1"})).await.result;
    assert_eq!(result.effect, Effect::Unverified);
    assert_eq!(result.summary, "clicked button \"Save\"; the screen is as before");
}

#[tokio::test(start_paused = true)]
async fn a_window_that_opens_and_a_focus_that_moves_are_evidence() {
    let fake = desktop();
    let window = |id, title: &str, states: &[&str]| WindowView {
        id: WindowId(id),
        title: title.into(),
        app: "Editor".into(),
        pid: None,
        display: 0,
        bounds: NormRect { x: 0.0, y: 0.0, width: 500.0, height: 500.0 },
        states: states.iter().map(|state| (*state).to_owned()).collect(),
    };
    fake.edit(|scene| {
        scene.windows = vec![window(1, "Untitled", &["focused"])];
        scene.focused = Some("text \"Untitled\"".into());
    });
    let before = vec![window(1, "Untitled", &[])];
    let opened = move || {
        let mut windows = before.clone();
        windows.push(window(2, "Save", &["focused"]));
        windows
    };
    fake.react(move |_, scene| {
        scene.windows = opened();
        scene.focused = Some("entry \"Name\"".into());
        scene.colour = [1, 2, 3];
    });
    let router = Router::builtin(fake.clone());
    let result = call(&router, "click", json!({"x": 1, "y": 2})).await.result;
    assert_eq!(result.effect, Effect::Unverified);
    assert_eq!(result.summary, "clicked left at 1,2; opened the window \"Save\"");
    let evidence = &result.data["evidence"];
    assert_eq!(evidence["windowsOpened"], json!(["Save"]));
    assert_eq!(evidence["activeWindow"], json!({"from": "Untitled", "to": "Save"}));
    assert_eq!(evidence["focus"], json!({"from": "text \"Untitled\"", "to": "entry \"Name\""}));
    // The fake's screen is of one colour, and all of it changed.
    assert_eq!(evidence["changed"]["percent"], 100.0);
    assert_eq!(evidence["changed"]["bounds"], json!({"x": 0.0, "y": 0.0, "width": 1000.0, "height": 1000.0}));
}

#[tokio::test(start_paused = true)]
async fn a_confirmed_act_does_not_wait_for_a_screen_that_never_rests() {
    let fake = desktop();
    fake.edit(|scene| scene.evidence = Evidence::ReadBack);
    let restless = fake.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            restless.edit(|scene| scene.colour[0] = scene.colour[0].wrapping_add(1));
        }
    });
    let router = Router::builtin(fake.clone());
    let result = call(&router, "clickElement", json!({"ref": "e1"})).await.result;
    assert_eq!(result.effect, Effect::Confirmed);
    assert!(result.took.0 <= 400, "{:?}", result.took);
}

#[tokio::test(start_paused = true)]
async fn a_batch_takes_elements_and_stops_at_the_first_that_is_not_as_wished() {
    let fake = desktop();
    fake.edit(|scene| scene.evidence = Evidence::Mismatch);
    let router = Router::builtin(fake.clone());
    let actions = json!({"actions": [
        {"tool": "setValue", "arguments": {"ref": "e1", "value": "a"}},
        {"tool": "clickElement", "arguments": {"ref": "e1"}},
    ]});
    let result = call(&router, "batch", actions).await.result;
    assert_eq!(result.effect, Effect::Unverified);
    assert_eq!(fake.calls().iter().filter(|call| matches!(call, Call::Operate(..))).count(), 1);
}
