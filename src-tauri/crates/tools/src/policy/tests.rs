//! What runs, asks or is forbidden.

use super::*;

// bar: C24, C35
#[test]
fn every_combination_is_decided_as_tabled() {
    use ApprovalMode::{Ask as A, Auto, Thread};
    use Granted::{InRun, No, Yes};
    use Mode::{Act, Plan};
    use Risk::{Consequential as C, Edit as E, Navigate as N, Observe as O};
    use Verdict::{Ask, Forbid, Run};
    // The table of the specification, row by row: as it is, where something would go to a host that nobody named, and
    // by a plan.
    let table = [
        ((Plan, A, O, InRun), [Run, Run, Run]),
        ((Plan, A, N, InRun), [Forbid, Forbid, Forbid]),
        ((Plan, A, E, InRun), [Forbid, Forbid, Forbid]),
        ((Plan, A, C, InRun), [Forbid, Forbid, Forbid]),
        ((Plan, Thread, O, InRun), [Run, Run, Run]),
        ((Plan, Thread, N, InRun), [Forbid, Forbid, Forbid]),
        ((Plan, Thread, E, InRun), [Forbid, Forbid, Forbid]),
        ((Plan, Thread, C, InRun), [Forbid, Forbid, Forbid]),
        ((Plan, Auto, O, InRun), [Run, Run, Run]),
        ((Plan, Auto, N, InRun), [Forbid, Forbid, Forbid]),
        ((Plan, Auto, E, InRun), [Forbid, Forbid, Forbid]),
        ((Plan, Auto, C, InRun), [Forbid, Forbid, Forbid]),
        ((Act, A, O, InRun), [Run, Run, Run]),
        ((Act, A, N, InRun), [Run, Run, Run]),
        ((Act, A, E, InRun), [Run, Run, Run]),
        ((Act, A, C, InRun), [Ask, Ask, Run]),
        ((Act, Thread, O, InRun), [Run, Run, Run]),
        ((Act, Thread, N, InRun), [Run, Run, Run]),
        ((Act, Thread, E, InRun), [Run, Run, Run]),
        ((Act, Thread, C, InRun), [Ask, Ask, Run]),
        ((Act, Auto, O, InRun), [Run, Run, Run]),
        ((Act, Auto, N, InRun), [Run, Run, Run]),
        ((Act, Auto, E, InRun), [Run, Run, Run]),
        ((Act, Auto, C, InRun), [Run, Ask, Run]),
        ((Plan, A, O, No), [Run, Run, Run]),
        ((Plan, A, O, Yes), [Run, Run, Run]),
        ((Plan, A, N, No), [Forbid, Forbid, Forbid]),
        ((Plan, A, N, Yes), [Forbid, Forbid, Forbid]),
        ((Plan, A, E, No), [Forbid, Forbid, Forbid]),
        ((Plan, A, E, Yes), [Forbid, Forbid, Forbid]),
        ((Plan, A, C, No), [Forbid, Forbid, Forbid]),
        ((Plan, A, C, Yes), [Forbid, Forbid, Forbid]),
        ((Plan, Thread, O, No), [Run, Run, Run]),
        ((Plan, Thread, O, Yes), [Run, Run, Run]),
        ((Plan, Thread, N, No), [Forbid, Forbid, Forbid]),
        ((Plan, Thread, N, Yes), [Forbid, Forbid, Forbid]),
        ((Plan, Thread, E, No), [Forbid, Forbid, Forbid]),
        ((Plan, Thread, E, Yes), [Forbid, Forbid, Forbid]),
        ((Plan, Thread, C, No), [Forbid, Forbid, Forbid]),
        ((Plan, Thread, C, Yes), [Forbid, Forbid, Forbid]),
        ((Plan, Auto, O, No), [Run, Run, Run]),
        ((Plan, Auto, O, Yes), [Run, Run, Run]),
        ((Plan, Auto, N, No), [Forbid, Forbid, Forbid]),
        ((Plan, Auto, N, Yes), [Forbid, Forbid, Forbid]),
        ((Plan, Auto, E, No), [Forbid, Forbid, Forbid]),
        ((Plan, Auto, E, Yes), [Forbid, Forbid, Forbid]),
        ((Plan, Auto, C, No), [Forbid, Forbid, Forbid]),
        ((Plan, Auto, C, Yes), [Forbid, Forbid, Forbid]),
        ((Act, A, O, No), [Run, Run, Run]),
        ((Act, A, O, Yes), [Run, Run, Run]),
        ((Act, A, N, No), [Run, Run, Run]),
        ((Act, A, N, Yes), [Run, Run, Run]),
        ((Act, A, E, No), [Ask, Ask, Run]),
        ((Act, A, E, Yes), [Ask, Ask, Run]),
        ((Act, A, C, No), [Ask, Ask, Run]),
        ((Act, A, C, Yes), [Ask, Ask, Run]),
        ((Act, Thread, O, No), [Run, Run, Run]),
        ((Act, Thread, O, Yes), [Run, Run, Run]),
        ((Act, Thread, N, No), [Run, Run, Run]),
        ((Act, Thread, N, Yes), [Run, Run, Run]),
        ((Act, Thread, E, No), [Ask, Ask, Run]),
        ((Act, Thread, E, Yes), [Run, Run, Run]),
        ((Act, Thread, C, No), [Ask, Ask, Run]),
        ((Act, Thread, C, Yes), [Ask, Ask, Run]),
        ((Act, Auto, O, No), [Run, Run, Run]),
        ((Act, Auto, O, Yes), [Run, Run, Run]),
        ((Act, Auto, N, No), [Run, Run, Run]),
        ((Act, Auto, N, Yes), [Run, Run, Run]),
        ((Act, Auto, E, No), [Run, Run, Run]),
        ((Act, Auto, E, Yes), [Run, Run, Run]),
        ((Act, Auto, C, No), [Run, Ask, Run]),
        ((Act, Auto, C, Yes), [Run, Ask, Run]),
    ];
    let mut seen = std::collections::HashSet::new();
    for ((mode, approval, risk, granted), expected) in table {
        assert!(seen.insert(format!("{mode:?}{approval:?}{risk:?}{granted:?}")), "a row stands twice");
        let decide = |egress, planned| decide(mode, approval, risk, granted, egress, planned);
        let decided = [
            decide(Egress::Known, Planned::No),
            decide(Egress::Unknown, Planned::No),
            decide(Egress::Known, Planned::Yes),
        ];
        assert_eq!(decided, expected, "{mode:?} {approval:?} {risk:?} {granted:?}");
        assert_eq!(decide(Egress::Unknown, Planned::Yes), decided[2], "a plan names its hosts");
    }
    assert_eq!(seen.len(), 2 * 3 * 4 * 3);
}

#[test]
fn a_rule_for_an_application_stands_above_what_was_allowed_and_what_has_run_out_is_not() {
    let grant = |tool: &str, app: &str| Grant { tool: tool.into(), app: Some(app.into()) };
    let standing = |app: &str, until: Option<i64>| StandingGrant {
        tool: "click".into(),
        app: app.into(),
        until: until.map(Timestamp),
    };
    let settings = Settings {
        ask_apps: vec!["Bank".into()],
        grants: vec![standing("Editor", None), standing("Files", Some(10)), standing("Mail", Some(11))],
        ..Settings::default()
    };
    let mut grants = Grants::default();
    grants.allow([grant("click", "gnubank")]);
    let grants = grants.with_settings(&settings, || Timestamp(10));
    assert!(grants.covers(&grant("click", "Editor")) && grants.covers(&grant("click", "Mail")));
    for other in [grant("type", "Editor"), grant("click", "Files"), grant("click", "gnubank")] {
        assert!(!grants.covers(&other), "{other:?}");
    }
    let mut in_run = grants.clone();
    in_run.allow_in_run([grant("click", "gnubank")]);
    assert!(!in_run.covers_in_run(&grant("click", "gnubank")) && !in_run.covers(&grant("click", "gnubank")));
    assert!(grants.ask_of(&grant("anything", "GNUBANK")) && !grants.ask_of(&grant("click", "Editor")));
    let page = grant("webClick", "https://example.org");
    for (app, asks) in
        [("Chromium", true), ("firefox", true), ("chrome", true), ("example.org", true), ("bank", false)]
    {
        let settings = Settings { ask_apps: vec![app.into()], ..Settings::default() };
        let grants = Grants::default().with_settings(&settings, || Timestamp(10));
        assert_eq!(grants.ask_of(&page), asks, "{app}");
    }
}
