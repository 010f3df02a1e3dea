//! Text that flows: Word, PowerPoint, and all of OpenDocument.

use super::{Archive, Out, Xml, attribute, relations};
use crate::files::document::DocumentKind;
use crate::files::error::FileError;

/// A cell that stands for many others is repeated so often at most.
const REPEATED: usize = 100;

/// Body, then notes and comments, then headers and footers.
pub(super) fn docx(archive: &mut Archive, out: &mut Out<'_>) -> Result<u32, FileError> {
    let mut names: Vec<String> = ["document", "footnotes", "endnotes", "comments"]
        .iter()
        .map(|name| format!("word/{name}.xml"))
        .collect();
    let mut margins: Vec<String> = archive
        .file_names()
        .filter_map(|name| name.ok().map(std::borrow::Cow::into_owned))
        .filter(|name| name.starts_with("word/header") || name.starts_with("word/footer"))
        .collect();
    margins.sort();
    names.append(&mut margins);
    for name in names {
        let (mut text, mut cells) = (false, 0_u32);
        out.part(archive, &name, &mut |out, xml| match xml {
            Xml::Start(start) => match start.local_name().as_ref() {
                "t" => text = true,
                "tab" => out.text.push('\t'),
                "br" | "cr" => out.text.push('\n'),
                "tc" => cells += 1,
                _ => {}
            },
            Xml::End("t") => text = false,
            Xml::End("p") => out.text.push(if cells > 0 { ' ' } else { '\n' }),
            Xml::End("tc") => {
                cells = cells.saturating_sub(1);
                end_cell(&mut out.text);
            }
            Xml::End("tr") => end_row(&mut out.text),
            Xml::Text(piece) if text => out.text.push_str(piece),
            Xml::End(_) | Xml::Text(_) => {}
        })?;
    }
    Ok(1)
}

/// Slides in their order.
pub(super) fn pptx(archive: &mut Archive, out: &mut Out<'_>) -> Result<u32, FileError> {
    let part = "ppt/presentation.xml";
    let targets = relations(archive, out, part)?;
    let mut slides = Vec::new();
    out.part(archive, part, &mut |_, xml| {
        if let Xml::Start(start) = xml
            && start.local_name().as_ref() == "sldId"
        {
            // Two attributes are called `id`: the relation's begins with a letter.
            let ids = start.attributes().flatten().filter(|a| a.key.local_name().as_ref() == "id");
            for id in ids {
                slides.extend(
                    targets.iter().find(|(known, _)| *known == id.value).map(|(_, target)| target.clone()),
                );
            }
        }
    })?;
    for (number, slide) in slides.iter().enumerate() {
        out.text.push_str(&format!("--- slide {} ---\n", number + 1));
        let (mut text, mut cells) = (false, 0_u32);
        out.part(archive, slide, &mut |out, xml| match xml {
            Xml::Start(start) => match start.local_name().as_ref() {
                "t" => text = true,
                "br" => out.text.push('\n'),
                "tc" => cells += 1,
                _ => {}
            },
            Xml::End("t") => text = false,
            Xml::End("p") => out.text.push(if cells > 0 { ' ' } else { '\n' }),
            Xml::End("tc") => {
                cells = cells.saturating_sub(1);
                end_cell(&mut out.text);
            }
            Xml::End("tr") => end_row(&mut out.text),
            Xml::Text(piece) if text => out.text.push_str(piece),
            Xml::End(_) | Xml::Text(_) => {}
        })?;
    }
    Ok(u32::try_from(slides.len()).unwrap_or(u32::MAX))
}

/// `content.xml` of a text, a spreadsheet or a presentation.
pub(super) fn open_document(archive: &mut Archive, out: &mut Out<'_>) -> Result<u32, FileError> {
    let (mut parts, mut paragraphs, mut cells, mut body) = (0_u32, 0_u32, 0_u32, false);
    // Where the cell's text begins, and how often it stands there.
    let (mut begin, mut times) = (0_usize, 1_usize);
    out.part(archive, "content.xml", &mut |out, xml| match xml {
        Xml::Start(start) => match start.local_name().as_ref() {
            "body" => body = true,
            "p" | "h" => paragraphs += 1,
            "tab" => out.text.push('\t'),
            "line-break" => out.text.push('\n'),
            "s" => {
                let count = attribute(start, "c").and_then(|c| c.parse().ok()).unwrap_or(1_usize);
                out.text.extend(std::iter::repeat_n(' ', count.min(REPEATED)));
            }
            "table" if body && out.kind == DocumentKind::Ods => {
                parts += 1;
                if let Some(name) = attribute(start, "name") {
                    out.text.push_str(&format!("--- sheet {name} ---\n"));
                }
            }
            "page" if body => {
                parts += 1;
                out.text.push_str(&format!("--- slide {parts} ---\n"));
            }
            "table-cell" | "covered-table-cell" => {
                cells += 1;
                begin = out.text.len();
                times = attribute(start, "number-columns-repeated").and_then(|n| n.parse().ok()).unwrap_or(1);
            }
            _ => {}
        },
        Xml::End("p" | "h") => {
            paragraphs = paragraphs.saturating_sub(1);
            out.text.push(if cells > 0 { ' ' } else { '\n' });
        }
        Xml::End("table-cell" | "covered-table-cell") => {
            cells = cells.saturating_sub(1);
            end_cell(&mut out.text);
            let cell = out.text.get(begin..).unwrap_or_default().to_owned();
            for _ in 1..times.min(REPEATED) {
                out.text.push_str(&cell);
            }
            times = 1;
        }
        Xml::End("table-row") => end_row(&mut out.text),
        Xml::Text(piece) if paragraphs > 0 => out.text.push_str(piece),
        Xml::End(_) | Xml::Text(_) => {}
    })?;
    Ok(parts.max(1))
}

fn end_cell(text: &mut String) {
    text.truncate(text.trim_end_matches(' ').len());
    text.push('\t');
}

/// Empty cells at the end of a row, and rows of nothing else, are left out.
fn end_row(text: &mut String) {
    text.truncate(text.trim_end_matches('\t').len());
    if !text.ends_with('\n') && !text.is_empty() {
        text.push('\n');
    }
}
