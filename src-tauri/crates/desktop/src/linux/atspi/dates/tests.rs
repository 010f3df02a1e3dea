//! What is typed into each part, from a value and the names of the parts.

use super::split;

#[test]
fn each_part_gets_what_the_value_says_of_it_in_the_order_of_the_field() {
    let check = |names: &[&str], value: &str, typed: &[&str]| {
        assert_eq!(split(names, value).as_deref().unwrap_or_default(), typed, "{names:?} of {value}");
    };
    check(&["Month Day", "Day Day", "Year Day"], "2026-03-14", &["03", "14", "2026"]);
    check(&["年", "月", "日"], "2026-3-14", &["2026", "03", "14"]);
    check(&["Hours", "Minutes", "AM/PM"], "13:05", &["01", "05", "p"]);
    check(&["Hours", "Minutes", "AM/PM"], "00:30", &["12", "30", "a"]);
    check(&["時", "分", "秒"], "13:05", &["13", "05", "00"]);
    check(
        &["Day", "Month", "Year", "Hours", "Minutes"],
        "2026-03-14T09:00",
        &["14", "03", "2026", "09", "00"],
    );
    check(&["Month", "Year"], "2026-03", &["03", "2026"]);
    check(&["Month", "Day", "Year"], "tomorrow", &[]);
    check(&["Month", "Day", "Year"], "13:05", &[]);
    check(&["Mese", "Giorno", "Anno"], "2026-03-14", &[]);
}
