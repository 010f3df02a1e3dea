//! Pages as Markdown.

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

#[test]
fn lists_quotes_and_definitions_keep_their_shape() {
    check(
        "<p>x<ul><li>one<li><p>two</p><p>more</p><ol start=9><li>a<li>b</ol><li></li><li>three</ul>y",
        "x\n\n- one\n- two\n\n  more\n\n  9. a\n  10. b\n- three\n\ny",
    );
    check("<blockquote><p>a<p>b<blockquote>c</blockquote></blockquote>d", "> a\n\n> b\n\n> > c\n\nd");
    check("<dl><dt>Term<dd>meaning<dt>Other<dd>thing</dl>", "Term\n: meaning\nOther\n: thing");
}

#[test]
fn code_is_kept_as_it_stands_with_its_language() {
    check(
        "<p>call <code>f()</code>:<pre class='x language-rust'><code><span>fn</span> f() {\n    1 &lt; 2;<br>}\n</code></pre>",
        "call `f()`:\n\n```rust\nfn f() {\n    1 < 2;\n}\n```",
    );
    check(
        "<ul><li>a<pre><code class=lang-sh>```\nls</code></pre></ul>",
        "- a\n\n  ````sh\n  ```\n  ls\n  ````",
    );
}

#[test]
fn tables_are_rows_and_tables_that_only_lay_out_are_paragraphs() {
    check(
        "<table><caption>Prices</caption><thead><tr><th>Item<th>Price</thead><tr><td>A|B<td><b>1</b><br>EUR<tr><td>C</table>z",
        "| Prices |\n| --- |\n| Item | Price |\n| A\\|B | **1** EUR |\n| C |\n\nz",
    );
    check(
        "<table><tr><td>menu<td><table><tr><th>a<th>b<tr><td>1<td>2</table></table>",
        "menu\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
    );
    check("<table><tr><td><p>only<p>one</table>", "only\n\none");
}

#[test]
fn links_lead_to_whole_addresses_of_the_web_and_to_nothing_else() {
    check(
        "<a href=../c>up</a> <a href='//x.example/(a)'>other</a> <a href=#x>here</a> <a href=javascript:x()>js</a>, \
         <a href=data:x>data</a> <a href=/y></a><a href=mailto:a@b.example>mail</a>",
        "[up](https://example.com/c) [other](https://x.example/%28a%29) here js, data [mail](mailto:a@b.example)",
    );
    check(
        "<base href=/docs/><a href=z><h3>Card</h3><p>words</a>",
        "### [Card](https://example.com/docs/z)\n\nwords",
    );
    check(
        "<a href=/p><img src=x alt='A red door'></a><img alt=''>",
        "[(image: A red door)](https://example.com/p)",
    );
}

#[test]
fn what_is_around_the_text_is_left_out_unless_the_whole_is_wanted() {
    let source = "<head><title>T</title><style>p{}</style></head><body><header>logo</header><nav><a href=/>home</a></nav>\
        <div role=navigation>menu</div><p>text</p><aside>ads</aside><button>buy</button><footer>legal</footer>\
        <script>if (a < b) '<p>script'</script><noscript>needs scripts</noscript><svg><title/><text>x</text></svg>!";
    check(source, "text\n\nneeds scripts!");
    let whole = to_markdown(
        source,
        &Url::parse("https://a.example").unwrap(),
        Links::TextOnly,
        Extent::Whole,
        &|| false,
    );
    assert_eq!(whole.markdown, "logo\n\nhome\n\nmenu\n\ntext\n\nads\n\nbuy\n\nlegal\n\nneeds scripts!");
}

#[test]
fn a_main_part_or_the_one_article_is_the_page() {
    let words = "many words ".repeat(30);
    let words = words.trim();
    check(
        &format!("<p>before<main><header><h1>H</h1></header>{words}</main>after"),
        &format!("# H\n\n{words}"),
    );
    check(
        &format!("before<article><p>{words}<article>comment</article></article>after"),
        &format!("{words}\n\ncomment"),
    );
    check(
        &format!("before<article>{words}</article><article>b</article>"),
        &format!("before\n\n{words}\n\nb"),
    );
    check("before<main>short</main>after", "before\n\nshort\n\nafter");
}

#[test]
fn what_a_reader_does_not_see_is_not_told() {
    check(
        "a<p hidden>b<p>c<div style='x:y; DISPLAY : none'>d<div>e</div>f</div><span aria-hidden=true>g</span>\
         <i style=visibility:hidden>h</i><template>i</template><!-- j --><textarea>k</textarea>\u{200b}l\u{e0041}",
        "a\n\nc\n\nl",
    );
}

#[test]
fn broken_html_is_read_as_browsers_do() {
    check(
        "<b>bold<p>a</div></span></p>b<table><tr><td>x</div>y<td>z",
        "**bold**\n\na\n\nb\n\n| xy | z |\n| --- | --- |",
    );
    check("a < b && c <3 &unknown; <", "a < b && c <3 &unknown; <");
    check("<p>cut <a href='/x", "cut");
    check("", "");
}

#[test]
fn no_page_takes_more_than_its_length_in_time_or_depth() {
    // Made to overflow a stack, to be quadratic, or to multiply itself.
    let n = 10_000;
    for source in [
        "<div>".repeat(n),
        "<b><i><a href=x>".repeat(n),
        "<table><tr><td>".repeat(n),
        "<blockquote><ul><li>".repeat(n) + &"<br>x".repeat(n),
        "<p><pre>".repeat(n),
        "</p></div>".repeat(n),
        "<svg>".repeat(n) + &"<g/>".repeat(n),
        "<td>".repeat(n),
        format!("<base href='/{}'>{}", "y".repeat(350), "<a href=x>z</a>".repeat(n)),
        "&".repeat(n),
        "<!--".repeat(n),
    ] {
        let from = std::time::Instant::now();
        let made = page(&source);
        assert!(made.markdown.len() <= LIMIT + (4 << 20), "{}: {}", &source[..20], made.markdown.len());
        assert!(from.elapsed().as_secs() < 10, "{}: {:?}", &source[..20], from.elapsed());
    }
}

#[test]
fn reading_stops_when_it_is_told_to() {
    let base = Url::parse("https://a.example").unwrap();
    let steps = std::cell::Cell::new(0);
    let stop = || steps.replace(steps.get() + 1) >= 3;
    let made = to_markdown(&"word ".repeat(100_000), &base, Links::Kept, Extent::Main, &stop);
    assert!(made.stopped && made.markdown.len() < 4 * STEP, "{}", made.markdown.len());
}

/// The tokenizer compares each attribute of a tag with those before it: the clock is looked at within the tag.
#[test]
fn a_tag_of_very_many_attributes_ends_at_its_time() {
    let attributes: String = (0..200_000).map(|at| format!(" a{at}")).collect();
    let base = Url::parse("https://a.example").unwrap();
    let from = std::time::Instant::now();
    let stop = || from.elapsed().as_millis() > 200;
    let made = to_markdown(&format!("<p{attributes}>x"), &base, Links::Kept, Extent::Main, &stop);
    assert!(made.stopped && from.elapsed().as_secs() < 10, "{:?}", from.elapsed());
}

#[test]
fn words_of_a_piece_of_html_are_one_line() {
    assert_eq!(words("a <strong>b</strong>c &lt;i&gt;\n<script>x</script> &#x27;d&#39;"), "a bc <i> 'd'");
}
