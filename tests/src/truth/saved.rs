//! What applications left, put so that two of them can be compared, and whether it is what was wished for.

use super::tasks::Oracle;

/// What an editor may put in front of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A text as a file has it.
pub(super) fn plain(name: &str, text: &str) -> String {
    let text = text.trim_start_matches(BYTE_ORDER_MARK).trim_end();
    // Quoted or not, a table says the same.
    if name.ends_with(".csv") { text.replace('"', "") } else { text.to_owned() }
}

/// In an order that does not change.
pub(super) fn lines(mut all: Vec<String>) -> String {
    all.sort();
    all.join("\n")
}

pub(super) fn is_as_wished(oracle: Oracle, found: &str) -> bool {
    match oracle {
        Oracle::Saved(_, text)
        | Oracle::File(_, text)
        | Oracle::Ended(_, text)
        | Oracle::Copied(_, text)
        | Oracle::Part(_, text) => found == text.trim_end(),
        Oracle::SavedWith(_, part) => found == format!("{part}\nalpha\nbeta"),
        Oracle::Holds(_, part, others) => found == [&[part], others].concat().join("\n"),
        Oracle::There(name) => found.lines().any(|one| one == name),
        Oracle::Gone(name) => found.lines().all(|one| one != name),
        Oracle::Title(start) => found.lines().any(|title| title.starts_with(start)),
        Oracle::Log { .. } => false,
    }
}

/// A document of LibreOffice: `part` where it has that, its paragraphs that are not empty, and what is set in its own
/// styles beside what `part` sets.
pub(super) fn document(text: &str, part: &str) -> String {
    let within = |start: &str, end: &str| {
        text.split_once(start).and_then(|(_, rest)| rest.split_once(end)).map_or("", |(inside, _)| inside)
    };
    let mut lines = vec![if text.contains(part) { part } else { "" }.to_owned()];
    // A heading is a paragraph of its own kind.
    let body = within("<office:text", "</office:text>")
        .replace("<text:h ", "<text:p ")
        .replace("<text:h>", "<text:p>");
    for paragraph in body.split("<text:p").skip(1) {
        let says = paragraph.split('<').filter_map(|piece| piece.split_once('>')).map(|(_, said)| said);
        lines.push(says.collect::<String>().trim().to_owned());
    }
    lines.retain(|line| !line.is_empty());
    for style in
        within("<office:automatic-styles", "</office:automatic-styles>").split("<style:style").skip(1)
    {
        if !style.contains("style:family=\"paragraph\"") && !style.contains("style:family=\"text\"") {
            continue;
        }
        let style = style.split_once("</style:style>").map_or(style, |(inside, _)| inside);
        for (_, set) in style.match_indices(" fo:").map(|(at, _)| style.split_at(at + 1)) {
            let set = set.split(['/', '>', ' ']).next().unwrap_or_default();
            // `fo:hyphenate` sets `fo:hyphenation-remain-char-count`, too.
            let kind = set.get(..9).unwrap_or(set);
            if !part.contains(kind) {
                lines.push(set.to_owned());
            }
        }
    }
    lines.join("\n")
}

/// A file of settings: `part` where it has that line, and the others that are switched on.
pub(super) fn settings(text: &str, part: &str) -> String {
    let mut others: Vec<&str> =
        text.lines().filter(|line| line.ends_with("=true") && *line != part).collect();
    others.sort_unstable();
    let first = text.lines().find(|line| *line == part).unwrap_or_default();
    [&[first], others.as_slice()].concat().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LETTER: &str = r#"<office:automatic-styles>
        <style:style style:name="P1" style:family="paragraph"><style:text-properties fo:font-weight="bold"/></style:style>
        <style:style style:name="T" style:family="table"><style:table-properties fo:margin="1in"/></style:style>
        </office:automatic-styles><office:body><office:text><text:sequence-decls/><text:p text:style-name="P1">al<text:span>pha</text:span></text:p><text:h>beta</text:h><text:p/></office:text></office:body>"#;

    #[test]
    fn what_a_document_says_beside_what_was_asked_for_is_seen() {
        let bold = "fo:font-weight=\"bold\"";
        assert_eq!(document(LETTER, bold), format!("{bold}\nalpha\nbeta"));
        assert!(is_as_wished(Oracle::SavedWith("", bold), &document(LETTER, bold)));
        let both = LETTER.replace("fo:font-weight=\"bold\"", "fo:font-weight=\"bold\" fo:color=\"#ff0000\"");
        assert!(!is_as_wished(Oracle::SavedWith("", bold), &document(&both, bold)), "another style, too");
        let less = LETTER.replace("beta", "");
        assert!(!is_as_wished(Oracle::SavedWith("", bold), &document(&less, bold)), "a paragraph less");
    }

    #[test]
    fn another_setting_that_is_switched_on_is_seen() {
        let holds = Oracle::Holds("", "a=true", &["b=true"]);
        assert!(is_as_wished(holds, &settings("c=false\nb=true\na=true\n", "a=true")));
        assert!(!is_as_wished(holds, &settings("c=true\nb=true\na=true\n", "a=true")));
        assert!(!is_as_wished(holds, &settings("b=true\na=false\n", "a=true")));
    }
}
