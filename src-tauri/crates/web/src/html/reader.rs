//! Follows a page's tags: which elements are open, what of them is shown, and what each writes.

use std::cell::RefCell;

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};
use reqwest::Url;

use super::Made;
use super::elements::{
    implied_end, is_block, is_boilerplate, is_boilerplate_outside, is_boundary, is_never_text, is_void,
};
use super::markdown::{Mark, Markdown};
use super::table::Table;
use crate::fetch::{Extent, Links};

/// Open elements that are kept in mind; deeper ones are counted, and their text is shown.
const DEPTH: usize = 256;
const TABLES: usize = 8;
/// A longer address is a tracker's or a picture in itself.
const LINK_CHARS: usize = 400;
const TITLE_CHARS: usize = 300;
/// A main part with less text is not where the text is.
const MAIN_CHARS: usize = 200;

pub(super) struct Reader<'p>(RefCell<State<'p>>);

impl<'p> Reader<'p> {
    pub(super) fn new(base: &'p Url, links: Links, extent: Extent) -> Self {
        Self(RefCell::new(State {
            page: base,
            base: base.clone(),
            links,
            extent,
            open: Vec::new(),
            beyond: 0,
            hidden: 0,
            out: Markdown::default(),
            tables: Vec::new(),
            lists: Vec::new(),
            pre: None,
            title: None,
            in_title: false,
            main: None,
            articles: 0,
            article: None,
        }))
    }

    pub(super) fn len(&self) -> usize {
        let state = self.0.borrow();
        state.out.len()
            + state.tables.iter().map(Table::len).sum::<usize>()
            + state.pre.as_ref().map_or(0, |pre| pre.text.len())
    }

    pub(super) fn made(self, stopped: bool) -> Made {
        self.0.into_inner().made(stopped)
    }
}

impl TokenSink for Reader<'_> {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut state = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => state.text(&text),
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => return state.start(&tag),
            Token::TagToken(tag) => state.end(&tag.name),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// What an open element wrote, and what its end must undo.
#[derive(Clone, Copy)]
enum Effect {
    Nothing,
    Block,
    Hidden,
    Level { breaks: usize },
    List,
    Strong,
    Emphasis,
    Code,
    Link,
    Pre,
    Table,
    Cell,
    Main { from: usize },
    Article { from: usize },
}

struct Element {
    name: String,
    effect: Effect,
}

struct List {
    number: Option<u32>,
    items: usize,
}

#[derive(Default)]
struct Pre {
    text: String,
    language: String,
}

struct State<'p> {
    page: &'p Url,
    base: Url,
    links: Links,
    extent: Extent,
    open: Vec<Element>,
    beyond: usize,
    /// How many open elements hide what is in them.
    hidden: usize,
    out: Markdown,
    tables: Vec<Table>,
    lists: Vec<List>,
    pre: Option<Pre>,
    title: Option<String>,
    in_title: bool,
    /// The bytes of `out` that the first main part wrote.
    main: Option<(usize, usize)>,
    articles: usize,
    article: Option<(usize, usize)>,
}

impl State<'_> {
    fn writer(&mut self) -> &mut Markdown {
        match self.tables.last_mut() {
            Some(table) => &mut table.cell,
            None => &mut self.out,
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_title {
            let title = self.title.get_or_insert_default();
            if title.len() < 4 * TITLE_CHARS {
                title.push_str(text);
            }
        } else if self.hidden > 0 {
        } else if let Some(pre) = &mut self.pre {
            pre.text.push_str(text);
        } else {
            self.writer().text(text);
        }
    }

    fn start(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name = &*tag.name;
        let foreign = self.open.iter().any(|element| matches!(&*element.name, "svg" | "math"));
        if foreign && tag.self_closing {
            return TokenSinkResult::Continue;
        }
        self.end_implied(name);
        if is_void(name) {
            self.void(tag);
            return TokenSinkResult::Continue;
        }
        if !matches!(name, "html" | "head" | "body") {
            if self.open.len() < DEPTH {
                let effect = self.begin(tag);
                self.open.push(Element { name: name.to_owned(), effect });
            } else {
                self.beyond += 1;
            }
        }
        match name {
            _ if foreign => TokenSinkResult::Continue,
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            "style" | "iframe" | "noembed" | "noframes" | "xmp" => TokenSinkResult::RawData(RawKind::Rawtext),
            "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
            "title" => {
                self.in_title = self.title.is_none();
                TokenSinkResult::RawData(RawKind::Rcdata)
            }
            _ => TokenSinkResult::Continue,
        }
    }

    /// What this element does to what is written.
    fn begin(&mut self, tag: &Tag) -> Effect {
        let name = &*tag.name;
        if self.hidden > 0 || self.is_hidden(tag) {
            self.hidden += 1;
            return Effect::Hidden;
        }
        if let Some(pre) = &mut self.pre {
            if name == "code" && pre.language.is_empty() {
                pre.language = language(tag);
            }
            return Effect::Nothing;
        }
        match name {
            "main" => self.region(|from| Effect::Main { from }),
            "article" => self.region(|from| Effect::Article { from }),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = usize::from(name.as_bytes()[1] - b'0');
                self.writer().heading(level);
                Effect::Block
            }
            "blockquote" => {
                self.writer().begin_quote();
                Effect::Level { breaks: 2 }
            }
            "ul" | "ol" | "menu" => self.begin_list(tag),
            "li" => self.begin_item(),
            "dd" => {
                self.writer().begin_item(": ".to_owned(), true);
                Effect::Level { breaks: 1 }
            }
            "dt" => {
                self.writer().end_block(1);
                Effect::Block
            }
            "b" | "strong" => self.mark(Mark::Strong, Effect::Strong),
            "i" | "em" => self.mark(Mark::Emphasis, Effect::Emphasis),
            "code" | "kbd" | "samp" | "tt" => self.mark(Mark::Code, Effect::Code),
            "a" => match self.link(tag) {
                Some(url) => self.mark(Mark::Link(url), Effect::Link),
                None => Effect::Nothing,
            },
            "sup" => {
                self.writer().text("^");
                Effect::Nothing
            }
            "pre" | "listing" | "xmp" => {
                self.pre = Some(Pre { text: String::new(), language: language(tag) });
                Effect::Pre
            }
            "table" if self.tables.len() < TABLES => {
                self.writer().end_block(2);
                self.tables.push(Table::default());
                Effect::Table
            }
            "tr" => {
                if let Some(table) = self.tables.last_mut() {
                    table.begin_row();
                }
                Effect::Nothing
            }
            "td" | "th" => match self.tables.last_mut() {
                Some(table) => {
                    table.begin_cell();
                    Effect::Cell
                }
                None => Effect::Block,
            },
            _ if is_block(name) => {
                self.writer().end_block(2);
                Effect::Block
            }
            _ => Effect::Nothing,
        }
    }

    fn mark(&mut self, mark: Mark, effect: Effect) -> Effect {
        self.writer().open(mark);
        effect
    }

    fn region(&mut self, effect: fn(usize) -> Effect) -> Effect {
        self.writer().end_block(2);
        if self.tables.is_empty() { effect(self.out.len()) } else { Effect::Block }
    }

    fn begin_list(&mut self, tag: &Tag) -> Effect {
        let breaks = if self.lists.is_empty() { 2 } else { 1 };
        self.writer().end_block(breaks);
        let first = attribute(tag, "start").and_then(|start| start.trim().parse().ok()).unwrap_or(1);
        self.lists.push(List { number: (&*tag.name == "ol").then_some(first), items: 0 });
        Effect::List
    }

    fn begin_item(&mut self) -> Effect {
        let (marker, follows) = match self.lists.last_mut() {
            Some(list) => {
                list.items += 1;
                let marker = match &mut list.number {
                    Some(number) => {
                        let marker = format!("{number}. ");
                        *number = number.saturating_add(1);
                        marker
                    }
                    None => "- ".to_owned(),
                };
                (marker, list.items > 1)
            }
            None => ("- ".to_owned(), false),
        };
        self.writer().begin_item(marker, follows);
        Effect::Level { breaks: 1 }
    }

    fn void(&mut self, tag: &Tag) {
        if &*tag.name == "base"
            && let Some(base) = attribute(tag, "href").and_then(|href| self.page.join(href).ok())
        {
            self.base = base;
        }
        if self.hidden > 0 || self.is_hidden(tag) {
            return;
        }
        match (&*tag.name, &mut self.pre) {
            ("br", Some(pre)) => pre.text.push('\n'),
            ("br", None) => self.writer().end_block(1),
            ("hr", None) => self.writer().verbatim("---"),
            ("img", None) => {
                let alt = attribute(tag, "alt").unwrap_or_default().trim();
                if alt.chars().count() > 2 {
                    let alt: String = alt.chars().take(TITLE_CHARS).collect();
                    self.writer().text(&format!("(image: {alt})"));
                }
            }
            ("wbr", _) | (_, None) | (_, Some(_)) => {}
        }
    }

    fn end(&mut self, name: &str) {
        if name == "title" {
            self.in_title = false;
        }
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        let boundary = |element: &Element| is_boundary(&element.name) && !is_table_part(name);
        for at in (0..self.open.len()).rev() {
            if self.open[at].name == name {
                return self.close_from(at);
            }
            if boundary(&self.open[at]) {
                break;
            }
        }
        if name == "p" && self.hidden == 0 && self.pre.is_none() {
            self.writer().end_block(2);
        }
    }

    /// Ends what a start tag ends without saying so.
    fn end_implied(&mut self, name: &str) {
        if is_block(name) || name == "hr" {
            if let Some(at) = self.open.len().checked_sub(1).filter(|&at| self.open[at].name == "p") {
                self.close_from(at);
            }
        } else if let Some((closed, behind)) = implied_end(name) {
            let reach = self.open.iter().rposition(|element| behind.contains(&&*element.name));
            let from = reach.map_or(0, |at| at + 1);
            if let Some(at) = self.open[from..].iter().position(|element| closed.contains(&&*element.name)) {
                self.close_from(from + at);
            }
        }
    }

    fn close_from(&mut self, at: usize) {
        while self.open.len() > at {
            if let Some(element) = self.open.pop() {
                self.undo(element.effect);
            }
        }
    }

    fn undo(&mut self, effect: Effect) {
        match effect {
            Effect::Nothing => {}
            Effect::Hidden => self.hidden -= 1,
            Effect::Block => self.writer().end_block(2),
            Effect::Level { breaks } => self.writer().end_level(breaks),
            Effect::List => {
                self.lists.pop();
                let breaks = if self.lists.is_empty() { 2 } else { 1 };
                self.writer().end_block(breaks);
            }
            Effect::Strong => self.writer().close(|mark| *mark == Mark::Strong),
            Effect::Emphasis => self.writer().close(|mark| *mark == Mark::Emphasis),
            Effect::Code => self.writer().close(|mark| *mark == Mark::Code),
            Effect::Link => self.writer().close(|mark| matches!(mark, Mark::Link(_))),
            Effect::Pre => {
                let pre = self.pre.take().unwrap_or_default();
                self.writer().code_block(&pre.language, &pre.text);
            }
            Effect::Table => {
                let text = self.tables.pop().map(Table::into_markdown).unwrap_or_default();
                if let Some(outer) = self.tables.last_mut() {
                    outer.took_table();
                }
                self.writer().verbatim(&text);
            }
            Effect::Cell => {
                if let Some(table) = self.tables.last_mut() {
                    table.end_cell();
                }
            }
            Effect::Main { from } => {
                self.out.end_block(2);
                self.main = self.main.or(Some((from, self.out.len())));
            }
            Effect::Article { from } => {
                self.out.end_block(2);
                // An article in an article is a comment on it.
                if !self.open.iter().any(|element| element.name == "article") {
                    self.articles += 1;
                    self.article = Some((from, self.out.len()));
                }
            }
        }
    }

    fn is_hidden(&self, tag: &Tag) -> bool {
        let name = &*tag.name;
        let style = || attribute(tag, "style").unwrap_or_default().to_ascii_lowercase().replace(' ', "");
        let role = attribute(tag, "role").unwrap_or_default();
        is_never_text(name)
            || attribute(tag, "hidden").is_some_and(|value| !value.eq_ignore_ascii_case("until-found"))
            || attribute(tag, "aria-hidden") == Some("true")
            || ["display:none", "visibility:hidden"].iter().any(|hidden| style().contains(hidden))
            || self.extent == Extent::Main
                && (is_boilerplate(name, role) || is_boilerplate_outside(name, role) && !self.is_in_main())
    }

    fn is_in_main(&self) -> bool {
        self.open.iter().any(|element| matches!(&*element.name, "main" | "article"))
    }

    /// Where a link leads, if that is worth saying.
    fn link(&self, tag: &Tag) -> Option<String> {
        let href = attribute(tag, "href")?.trim();
        if self.links == Links::TextOnly || href.is_empty() || href.starts_with('#') {
            return None;
        }
        let url =
            self.base.join(href).ok().filter(|url| matches!(url.scheme(), "http" | "https" | "mailto"))?;
        let url = String::from(url).replace('(', "%28").replace(')', "%29");
        (url.len() <= LINK_CHARS).then_some(url)
    }

    fn made(mut self, stopped: bool) -> Made {
        self.close_from(0);
        let text = self.out.into_text();
        let of = |range: Option<(usize, usize)>| {
            let (from, to) = range?;
            let part = text.get(from..to)?.trim_matches('\n');
            (part.chars().nth(MAIN_CHARS).is_some()).then_some(part)
        };
        let main = match self.extent {
            Extent::Main => of(self.main).or_else(|| of(self.article.filter(|_| self.articles == 1))),
            Extent::Whole => None,
        };
        let markdown = main.unwrap_or(&text).trim_matches('\n').to_owned();
        let title = self.title.map(|title| crate::text::cleaned(&title));
        let title = title.map(|title| title.split_whitespace().collect::<Vec<_>>().join(" "));
        let title = title.filter(|title| !title.is_empty());
        Made { title: title.map(|title| title.chars().take(TITLE_CHARS).collect()), markdown, stopped }
    }
}

fn is_table_part(name: &str) -> bool {
    matches!(name, "table" | "thead" | "tbody" | "tfoot" | "tr" | "td" | "th" | "caption")
}

fn attribute<'t>(tag: &'t Tag, name: &str) -> Option<&'t str> {
    tag.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
}

/// The language that a block of code is said to be in, by the names that highlighters use.
fn language(tag: &Tag) -> String {
    let classes = attribute(tag, "class").unwrap_or_default().split_ascii_whitespace();
    let mut named = classes.filter_map(|class| {
        ["language-", "lang-", "highlight-source-"].iter().find_map(|prefix| class.strip_prefix(prefix))
    });
    let is_name = |name: &&str| {
        name.len() <= 20 && name.chars().all(|c| c.is_ascii_alphanumeric() || "+-#_".contains(c))
    };
    named.rfind(|name| is_name(name)).unwrap_or_default().to_owned()
}
