use super::*;

fn page(source: &str) -> Made {
    to_markdown(source, &Url::parse("https://example.com/a/b").unwrap(), Links::Kept, Extent::Main, &|| false)
}

fn check(source: &str, expected: &str) {
    assert_eq!(page(source).markdown, expected, "{source}");
}

#[test]
fn headings_paragraphs_and_emphasis_are_markdown() {
    check(
        "<title> A  title\n</title><h1>One</h1><p>first <b>bold </b>and\n <i>slanted</i><p>second<br>line<h2>Two</h2>end<hr>x",
        "# One\n\nfirst **bold** and *slanted*\n\nsecond\nline\n\n## Two\n\nend\n\n---\n\nx",
    );
    assert_eq!(page("<title> A  title\n</title><title>B</title>").title.as_deref(), Some("A title"));
    check("10<sup>2</sup> <b></b><h2> </h2><p></p>&lt;&amp;&nbsp;&eacute;", "10^2\n\n<&\u{a0}é");
}
