//! What is known of elements by their names. Data.

/// Have no content and no end.
pub(super) fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "source"
            | "track"
            | "wbr"
    )
}

/// Begin and end a paragraph.
pub(super) fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "caption"
            | "center"
            | "details"
            | "dialog"
            | "div"
            | "dl"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "p"
            | "pre"
            | "search"
            | "section"
            | "summary"
            | "table"
            | "ul"
    )
}

/// Show no text of their own, wherever they stand.
pub(super) fn is_never_text(name: &str) -> bool {
    matches!(
        name,
        "applet"
            | "audio"
            | "canvas"
            | "datalist"
            | "iframe"
            | "math"
            | "noembed"
            | "noframes"
            | "object"
            | "script"
            | "select"
            | "style"
            | "svg"
            | "template"
            | "textarea"
            | "title"
            | "video"
    )
}

/// Around the text, not of it.
pub(super) fn is_boilerplate(name: &str, role: &str) -> bool {
    matches!(name, "nav" | "footer" | "button" | "dialog" | "search")
        || matches!(
            role,
            "navigation" | "contentinfo" | "search" | "dialog" | "alertdialog" | "menu" | "menubar"
        )
}

/// Around the text unless they stand inside of its main part: there they are its heading and its notes.
pub(super) fn is_boilerplate_outside(name: &str, role: &str) -> bool {
    matches!(name, "header" | "aside") || matches!(role, "banner" | "complementary")
}

/// An end tag of anything else does not close them.
pub(super) fn is_boundary(name: &str) -> bool {
    matches!(name, "td" | "th" | "table")
}

/// What a start tag ends by itself: the elements it closes, and those behind which it does not look.
pub(super) fn implied_end(name: &str) -> Option<(&'static [&'static str], &'static [&'static str])> {
    Some(match name {
        "li" => (&["li"], &["ul", "ol", "menu", "td", "th", "table"]),
        "dt" | "dd" => (&["dt", "dd"], &["dl", "td", "th", "table"]),
        "td" | "th" => (&["td", "th", "caption"], &["table"]),
        "tr" => (&["tr", "td", "th", "caption"], &["table"]),
        "thead" | "tbody" | "tfoot" => {
            (&["thead", "tbody", "tfoot", "tr", "td", "th", "caption"], &["table"])
        }
        _ => return None,
    })
}
