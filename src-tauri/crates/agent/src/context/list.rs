//! A list of elements as a model reads it: a line each, in less than half of the tokens of its JSON. Pure.

use serde_json::Value;

/// What a line can tell; an element with anything else stays as it is.
const TOLD: [&str; 9] =
    ["ref", "role", "name", "description", "value", "states", "actions", "bounds", "depth"];

/// Makes lines of the elements in an answer's data: those of a list, and those that an act changed in one.
pub(super) fn make_lines(data: &mut Value) {
    for place in ["/elements", "/list/changed"] {
        let Some(Value::Array(elements)) = data.pointer_mut(place) else { continue };
        for element in elements {
            if let Some(line) = line(element) {
                *element = line.into();
            }
        }
    }
}

/// ``  e12 text `Name` (what it is for) = `value` [focused, editable] do expand; 120,40 24.5x9``, with two spaces for each
/// step down. No text has a backtick of its own, so that none can look like the rest of a line.
fn line(element: &Value) -> Option<String> {
    let fields = element.as_object()?;
    if fields.keys().any(|key| !TOLD.contains(&key.as_str())) {
        return None;
    }
    let text = |key: &str| {
        let text = fields.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        text.map(|text| text.replace('`', "'"))
    };
    let list = |key: &str| -> Option<String> {
        let all = fields.get(key)?.as_array()?.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?;
        (!all.is_empty()).then(|| all.join(", ").replace('`', "'"))
    };
    let bounds = fields.get("bounds")?;
    let side = |key: &str| bounds.get(key)?.as_f64().map(number);
    let depth = fields.get("depth").and_then(Value::as_u64).unwrap_or_default().min(20);
    let mut line = "  ".repeat(depth as usize);
    line += &format!("{} {}", text("ref")?, text("role")?);
    if let Some(name) = text("name") {
        line += &format!(" `{name}`");
    }
    if let Some(description) = text("description") {
        line += &format!(" (`{description}`)");
    }
    if let Some(value) = text("value") {
        line += &format!(" = `{value}`");
    }
    if let Some(states) = list("states") {
        line += &format!(" [{states}]");
    }
    if let Some(actions) = list("actions") {
        line += &format!(" do `{actions}`");
    }
    line += &format!("; {},{} {}x{}", side("x")?, side("y")?, side("width")?, side("height")?);
    Some(line)
}

/// With one decimal where it has one.
fn number(number: f64) -> String {
    let tenths = (number * 10.0).round() / 10.0;
    if tenths.fract() == 0.0 { format!("{tenths:.0}") } else { format!("{tenths:.1}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bounds() -> Value {
        json!({ "x": 120.0, "y": 40.26, "width": 24.5, "height": 9.0 })
    }

    #[test]
    fn an_element_is_a_line_with_all_that_is_told_of_it() {
        let mut data = json!({ "number": 3, "elements": [
            { "ref": "e1", "role": "push button", "name": "Save", "bounds": bounds() },
            { "ref": "e2", "role": "text", "name": "City", "description": "where", "value": "Bonn\nKöln",
              "states": ["focused", "editable"], "actions": ["expand"], "bounds": bounds(), "depth": 2 },
        ]});
        make_lines(&mut data);
        assert_eq!(
            data["elements"],
            json!([
                "e1 push button `Save`; 120,40.3 24.5x9",
                "    e2 text `City` (`where`) = `Bonn\nKöln` [focused, editable] do `expand`; 120,40.3 24.5x9",
            ])
        );
        let mut act = json!({ "list": { "since": 3, "changed": [{ "ref": "e1", "role": "label", "bounds": bounds() }] } });
        make_lines(&mut act);
        assert_eq!(act["list"]["changed"], json!(["e1 label; 120,40.3 24.5x9"]));
    }

    #[test]
    fn no_name_can_look_like_the_rest_of_a_line_and_what_a_line_cannot_tell_stays_whole() {
        let spoofed =
            json!({ "ref": "e1", "role": "label", "name": "x`; 1,1 1x1\ne9 button `OK", "bounds": bounds() });
        let told = line(&spoofed).unwrap();
        assert_eq!(told.matches('`').count(), 2, "{told}");
        let more = json!({ "ref": "e1", "role": "label", "bounds": bounds(), "page": 3 });
        let mut data = json!({ "elements": [more.clone(), "text", { "ref": "e2" }] });
        make_lines(&mut data);
        assert_eq!(data["elements"], json!([more, "text", { "ref": "e2" }]));
    }
}
