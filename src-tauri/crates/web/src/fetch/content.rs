//! What a body is, and the text that is made of it. Pure but for the clock that `stop` looks at.

use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap};

use super::{Document, FetchBounds, PageKind, header};
use crate::{WebError, charset, html, json, text};

/// What a body is said to be, and in which charset.
pub(super) struct ContentKind {
    /// `None` if only the body can tell.
    kind: Option<PageKind>,
    charset: Option<String>,
}

impl ContentKind {
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, WebError> {
        let said = header(headers, CONTENT_TYPE.as_str()).to_ascii_lowercase();
        let mut parts = said.split(';').map(str::trim);
        let mime = parts.next().unwrap_or_default();
        let charset = parts
            .find_map(|part| part.strip_prefix("charset="))
            .map(|name| name.trim_matches(['"', '\'']).to_owned());
        let kind = match mime {
            "text/html" | "application/xhtml+xml" => Some(PageKind::Html),
            "application/json" | "text/json" => Some(PageKind::Json),
            "" | "application/octet-stream" => None,
            _ if mime.ends_with("+json") => Some(PageKind::Json),
            _ if mime.starts_with("text/") || mime.ends_with("+xml") => Some(PageKind::Text),
            "application/xml"
            | "application/javascript"
            | "application/x-javascript"
            | "application/yaml"
            | "application/x-yaml"
            | "application/toml"
            | "application/x-ndjson"
            | "application/jsonl"
            | "application/x-sh"
            | "application/sql" => Some(PageKind::Text),
            _ => return Err(WebError::NotText(mime.chars().take(100).collect())),
        };
        Ok(Self { kind, charset })
    }

    pub(super) fn document(
        &self,
        url: &Url,
        bytes: &[u8],
        cut: bool,
        bounds: &FetchBounds,
        stop: &dyn Fn() -> bool,
    ) -> Result<Document, WebError> {
        let kind = match self.kind {
            Some(kind) => kind,
            None => sniffed(bytes)?,
        };
        let source = charset::decode(bytes, self.charset.as_deref(), kind == PageKind::Html);
        let url_text = url.to_string();
        Ok(match kind {
            PageKind::Html => {
                let made = html::to_markdown(&source, url, bounds.links, bounds.extent, stop);
                if made.stopped && stop() {
                    return Err(WebError::TimedOut(bounds.time));
                }
                Document {
                    url: url_text,
                    title: made.title,
                    kind,
                    text: made.markdown,
                    cut: cut || made.stopped,
                }
            }
            PageKind::Json => match json::laid_out(&source) {
                Some(text) => Document { url: url_text, title: None, kind, text: text::cleaned(&text), cut },
                // Broken, or cut off in the middle: as it came.
                None => Document {
                    url: url_text,
                    title: None,
                    kind: PageKind::Text,
                    text: text::cleaned(&source),
                    cut,
                },
            },
            PageKind::Text => {
                Document { url: url_text, title: None, kind, text: text::cleaned(&source), cut }
            }
        })
    }
}

/// The kind of a body that nobody named.
fn sniffed(bytes: &[u8]) -> Result<PageKind, WebError> {
    let head = &bytes[..bytes.len().min(1024)];
    let utf16 = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
    if head.starts_with(b"%PDF-") {
        return Err(WebError::NotText("application/pdf".to_owned()));
    }
    if head.contains(&0) && !utf16 {
        return Err(WebError::NotText("a binary file".to_owned()));
    }
    let text = String::from_utf8_lossy(head).trim_start().to_ascii_lowercase();
    Ok(if text.starts_with("<!doctype html") || text.starts_with("<html") {
        PageKind::Html
    } else if text.starts_with(['{', '[']) {
        PageKind::Json
    } else {
        PageKind::Text
    })
}
