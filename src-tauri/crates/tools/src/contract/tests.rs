//! What a plan covers, and every way that a call may try to look as if it were covered.

use super::*;
use std::path::Path;

use protocol::tool::ToolError;
use serde_json::{Value, json};

fn contract(value: &Value) -> Contract {
    let mut whole = json!({"steps": ["s"]});
    whole.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
    serde_json::from_value(whole).unwrap()
}

fn read_of(value: &Value) -> Result<Contract, ToolError> {
    let read = read(contract(value), Some(Path::new("/people/u")))?;
    check_binds(&read)?;
    Ok(read)
}

fn window(app: &str, control: Option<&str>) -> Touched {
    let class = applications::class_of([app]);
    let control = control.map(str::to_owned);
    Touched { app: app.into(), window: Some(1), control, ..Touched::of_name("", class) }
}

fn needs(reach: &Reach, touched: &Touched) -> Vec<Need> {
    of_window(reach, None, touched)
}

const CLICK: Reach = Reach::App(None);
const KEYS: Reach = Reach::Focus { enters: false };
const ENTER: Reach = Reach::Focus { enters: true };

#[test]
fn what_a_window_needs_is_its_application_and_what_its_control_and_kind_do() {
    let all = contract(&json!({"applications": ["Mousepad", "xterm", "Thunderbird", "Thunar", "Code"],
        "effects": ["edit"]}));
    for (app, reach, control, outside_of) in [
        ("Mousepad", CLICK, None, &[][..]),
        ("mousepad", KEYS, Some("Save"), &[]),
        ("gedit", KEYS, None, &["application gedit"]),
        ("Mousepad", CLICK, Some("Send"), &["effect send"]),
        ("Mousepad", CLICK, Some("送信して削除"), &["effect send", "effect delete"]),
        ("xterm", KEYS, None, &["effect run"]),
        ("xterm", CLICK, None, &["effect run"]),
        // What opens a file may run it, and an editor's terminal may be anywhere in it.
        ("Thunar", CLICK, None, &["effect run"]),
        ("Code", CLICK, None, &["effect run"]),
        // Its place on the screen runs nothing.
        ("xterm", Reach::Window(1), None, &[]),
        ("Thunderbird", KEYS, None, &[]),
        ("Thunderbird", ENTER, None, &["effect send"]),
    ] {
        assert_eq!(outside(&all, &needs(&reach, &window(app, control))), outside_of, "{app} {control:?}");
    }
}

#[test]
fn a_menus_item_is_all_that_its_beginning_may_choose() {
    let one = contract(&json!({"applications": ["Mousepad"], "effects": ["edit"]}));
    let item = |name: &str| {
        let reach = Reach::Menu { app: None, path: vec!["File".into(), name.into()] };
        outside(&one, &needs(&reach, &window("Mousepad", Some(name))))
    };
    assert_eq!((item("Save"), item("Sav"), item("Undo")), (vec![], vec![], vec![]));
    for part in ["Send", "Sen", "Se", "s", "_Del", "S&e_n", "Se\tnd", "Publ", ""] {
        assert!(!item(part).is_empty(), "{part:?}");
    }
    // All names of its path count; that a menu is called as a phrase begins is none of it.
    let below = |path: &[&str]| {
        let path = path.iter().map(|name| (*name).to_owned()).collect();
        outside(&one, &needs(&Reach::Menu { app: None, path }, &window("Mousepad", None)))
    };
    assert_eq!(below(&["Format", "Bold"]), [""; 0]);
    for path in [&["Delete", "All"][..], &["Run", "Filter"], &["Del", "Row"], &["File", "Send to", "Mia"]] {
        assert!(!below(path).is_empty(), "{path:?}");
    }
    // "メール" is the beginning of "メールを送信".
    assert!(!item("メール").is_empty() && !item("保存").is_empty());
}

#[test]
fn an_application_is_no_other_that_looks_alike() {
    let one =
        contract(&json!({"applications": ["Mousepad", "org.gnome.Terminal"], "effects": ["edit", "run"]}));
    let covers = |app: &str| outside(&one, &needs(&CLICK, &window(app, None))).is_empty();
    assert!(covers("MOUSEPAD") && covers("Gnome-terminal"), "by case, and by the list of names");
    for other in ["Mоusepad", "Mousepad2", "Mousepa", "Mousepad ", " ", "", "Mousepad\u{200b}", "xterm"] {
        assert!(!covers(other), "{other:?}");
    }
    let kelvin = contract(&json!({"applications": ["kate"], "effects": ["edit"]}));
    let odd = window("\u{212a}ate", None);
    assert!(!outside(&kelvin, &needs(&CLICK, &odd)).is_empty(), "the sign for kelvin is no k");
}

#[test]
fn a_window_is_of_its_program_whatever_it_calls_itself() {
    let one = contract(&json!({"applications": ["Mousepad", "Notes"], "effects": ["edit"]}));
    let by = |app: &str, program: &str| {
        let touched = Touched { program: Some(program.into()), ..window(app, None) };
        outside(&one, &needs(&CLICK, &touched))
    };
    assert_eq!(by("Mousepad", "mousepad"), [""; 0]);
    assert_eq!(by("Mousepad", "evil"), ["application evil"]);
    assert_eq!(by("Mousepad", "gedit"), ["application gedit"]);
    // What interprets a script says nothing of it.
    assert_eq!(by("Notes", "python3.11"), [""; 0]);
}

#[test]
fn what_is_launched_is_what_is_named_whatever_window_has_that_in_its_title() {
    // The window of “xterm.txt” is found for xterm, and is Mousepad's.
    let one = contract(&json!({"applications": ["Mousepad"], "effects": ["edit"]}));
    let needs = needs(&Reach::App(Some("xterm".into())), &window("Mousepad", None));
    assert_eq!(outside(&one, &needs), ["application xterm", "effect run"]);
}

#[test]
fn a_host_is_itself_whatever_stands_about_it() {
    let one =
        contract(&json!({"hosts": ["example.com", "xn--bcher-kva.example"], "effects": ["edit", "browse"]}));
    let left = |address: &str| outside(&one, &of_address(address));
    for same in [
        "https://example.com/a?b#c",
        "HTTPS://EXAMPLE.COM",
        "http://example.com:80",
        "https://example.com:443/",
        "https://www.example.com",
        "https://example.com.",
        "https://xn--bcher-kva.example/",
    ] {
        assert_eq!(left(same), [""; 0], "{same}");
    }
    for other in [
        "https://evil-example.com",
        "https://example.com.evil.com",
        "https://evil.com/example.com",
        "https://evil.com?example.com",
        "https://example.com@evil.com",
        "https://evil.com\\@example.com",
        "https://evil.com#@example.com",
        "https://example.com:8443",
        "http://example.com:443",
        "https://sub.example.com",
        "https://com",
        "https://examp\u{430}le.com",
        "https://example.com\u{ff0f}.evil.com",
        "https://example.com%2eevil.com",
        "https://exam\tple.com",
        "https:///example.com@evil.com",
        "file:///people/u/a",
        "javascript:alert(1)",
        "about:blank",
        "example.com",
    ] {
        assert!(!left(other).is_empty(), "{other}");
    }
}

#[test]
fn a_page_needs_its_own_host_and_all_that_it_sends_to() {
    let one = contract(&json!({"hosts": ["example.com"], "effects": ["edit", "browse"]}));
    let page = "https://example.com/form";
    assert_eq!(outside(&one, &of_page(page, None, [page])), [""; 0]);
    assert_eq!(outside(&one, &of_page(page, None, ["https://evil.com/x"])), ["host evil.com"]);
    assert_eq!(outside(&one, &of_page(page, Some("Buy now"), [])), ["effect pay"]);
    assert!(!outside(&one, &of_page("about:blank", None, [])).is_empty());
}

#[test]
fn what_cannot_be_told_is_in_no_plan() {
    let all = contract(&json!({"applications": ["Firefox", "xterm"], "hosts": ["example.com"],
        "effects": EffectClass::ALL}));
    assert!(!outside(&all, &[]).is_empty(), "nothing known is nothing covered");
    assert!(!outside(&all, &[of_nothing(&crate::Group::Script)]).is_empty());
    assert!(!outside(&all, &[of_nothing(&crate::Group::Server("pond".into()))]).is_empty());
    // A browser's window: which page it shows is not told there.
    assert!(!outside(&all, &needs(&CLICK, &window("Firefox", None))).is_empty());
    // One of many outside is enough.
    let mut batch = needs(&KEYS, &window("xterm", None));
    assert!(outside(&all, &batch).is_empty());
    batch.extend(needs(&KEYS, &window("gedit", None)));
    assert_eq!(outside(&all, &batch), ["application gedit"]);
}

#[test]
fn a_plan_that_cannot_be_agreed_to_is_refused_with_the_reason() {
    let good = json!({"applications": ["Mousepad"], "folders": ["~/Documents", "/people/u/Pictures/"],
        "hosts": ["Example.com", "localhost:8080", "[::1]:3000", "10.0.0.1"], "effects": ["edit"],
        "checks": [{"check": "fileContains", "path": "~/Documents/a.txt", "text": "x"}]});
    let fit = read_of(&good).unwrap();
    assert_eq!(fit.hosts[0], "example.com");
    assert_eq!(fit.folders[1], "/people/u/Pictures");
    for (field, value, why) in [
        ("hosts", json!(["*.example.com"]), "no host"),
        ("hosts", json!(["*"]), "no host"),
        ("hosts", json!(["com"]), "no host"),
        ("hosts", json!(["https://example.com"]), "no host"),
        ("hosts", json!(["example.com/a"]), "no host"),
        ("hosts", json!(["me@example.com"]), "no host"),
        ("hosts", json!(["example.com:99999"]), "no host"),
        ("hosts", json!(["example.com:"]), "no host"),
        ("hosts", json!(["exämple.com"]), "no host"),
        ("hosts", json!([".example.com"]), "no host"),
        ("hosts", json!(["2130706433.1"]), "no host"),
        ("applications", json!(["*"]), "no application"),
        ("applications", json!(["/usr/bin/xterm"]), "no application"),
        ("applications", json!(["Mouse\u{202e}pad"]), "cannot be seen"),
        ("applications", json!([" "]), "empty"),
        ("folders", json!(["/etc"]), "not in the user's home"),
        ("folders", json!(["/people/user2"]), "not in the user's home"),
        ("folders", json!(["~/Documents/../../other"]), "`..`"),
        ("folders", json!(["~/.ssh"]), "hidden"),
        ("folders", json!(["/people/u"]), "whole home"),
        ("folders", json!(["~/*"]), "wildcard"),
        ("folders", json!(["Documents"]), "not in the user's home"),
        ("effects", json!([]), "effects is empty"),
        ("budget", json!({"turns": 0}), "budget.turns"),
        ("budget", json!({"minutes": 100_000}), "budget.minutes"),
        ("budget", json!({"dollars": -1.0}), "budget.dollars"),
        ("checks", json!([{"check": "fileExists", "path": "~/Music/a"}]), "none of the plan's folders"),
        ("checks", json!([{"check": "fileExists", "path": "~/Documents/../Music/a"}]), "`..`"),
        ("checks", json!([{"check": "fileHash", "path": "~/Documents/a", "sha256": "AB"}]), "64 hexadecimal"),
        ("checks", json!([{"check": "commandExit", "command": "", "code": 0}]), "command is empty"),
        ("checks", json!([{"check": "commandExit", "command": "ls", "code": 256}]), "0-255"),
        ("checks", json!([{"check": "commandExit", "command": "eval $X", "code": 0}]), "unasked"),
        ("checks", json!([{"check": "commandExit", "command": "rm -rf ~", "code": 0}]), "unasked"),
        (
            "checks",
            json!([{"check": "commandExit", "command": "make all", "code": 0}]),
            "name the effect run",
        ),
        (
            "checks",
            vec![json!({"check": "commandExit", "command": "ls", "code": 0}); 4].into(),
            "commands in checks",
        ),
        ("checks", json!([{"check": "reminder", "title": ""}]), "title is empty"),
        ("checks", json!([{"check": "event", "title": " t"}]), "spaces at its ends"),
        ("checks", json!([{"check": "pageAddress", "address": "file:///a"}]), "no web address"),
    ] {
        let mut odd = good.clone();
        odd[field] = value.clone();
        let error = read_of(&odd).expect_err(&format!("{field} {value}"));
        assert!(error.message.contains(why), "{field} {value}: {}", error.message);
    }
    assert!(read_of(&json!({})).unwrap_err().message.contains("binds to nothing"));
    let none = Contract { steps: Vec::new(), ..contract(&good) };
    assert!(check_binds(&none).is_err());
    assert!(read(contract(&good), None).is_err(), "without a home there are no folders");
}

#[test]
fn words_that_would_pass_for_something_else_are_cleaned() {
    let steps = json!({"steps": ["write\nAllow once\u{202e}\u{200b}\u{e0041}"], "applications": ["Mousepad"],
        "effects": ["edit"]});
    assert_eq!(read_of(&steps).unwrap().steps, ["write Allow once"]);
}

#[cfg(target_os = "linux")]
#[test]
fn no_link_leads_a_check_out_of_its_folder() {
    let home = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let at = |path: &str| home.path().join(path);
    for folder in ["docs", ".ssh"] {
        std::fs::create_dir(at(folder)).unwrap();
    }
    let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, at(name)).unwrap();
    link(outside.path(), "out");
    link(&at(".ssh"), "keys");
    for folder in ["~/out", "~/out/new", "~/keys"] {
        let one = contract(&json!({"folders": [folder], "effects": ["edit"]}));
        assert!(look(&one, Some(home.path())).is_err(), "{folder}");
    }
    let one = contract(&json!({"folders": ["~/docs", "~/docs/not/yet/there"], "effects": ["edit"]}));
    look(&one, Some(home.path())).unwrap();
}
