//! Excel workbooks as rows of cells divided by tabs: what the cells show, dates as dates.

use super::{Archive, Out, Xml, attribute, relations};
use crate::files::error::FileError;

/// Shared strings of a workbook, in bytes.
const STRINGS: usize = 64 << 20;
/// Columns that are shown of a row.
const COLUMNS: usize = 500;

pub(super) fn xlsx(archive: &mut Archive, out: &mut Out<'_>) -> Result<u32, FileError> {
    let part = "xl/workbook.xml";
    let targets = relations(archive, out, part)?;
    let mut sheets: Vec<(String, String)> = Vec::new();
    let mut since_1904 = false;
    out.part(archive, part, &mut |_, xml| {
        let Xml::Start(start) = xml else { return };
        match start.local_name().as_ref() {
            "workbookPr" => {
                since_1904 = matches!(attribute(start, "date1904").as_deref(), Some("1" | "true"))
            }
            "sheet" => {
                if let (Some(name), Some(id)) = (attribute(start, "name"), attribute(start, "id"))
                    && let Some((_, target)) = targets.iter().find(|(known, _)| *known == id)
                {
                    sheets.push((name, target.clone()));
                }
            }
            _ => {}
        }
    })?;
    let strings = strings(archive, out)?;
    let dates = date_styles(archive, out)?;
    for (name, target) in &sheets {
        out.text.push_str(&format!("--- sheet {name} ---\n"));
        sheet(archive, out, target, &strings, &dates, since_1904)?;
    }
    Ok(u32::try_from(sheets.len()).unwrap_or(u32::MAX))
}

fn strings(archive: &mut Archive, out: &mut Out<'_>) -> Result<Vec<String>, FileError> {
    let mut all: Vec<String> = Vec::new();
    let (mut one, mut text, mut sound, mut bytes) = (String::new(), false, false, 0);
    out.part(archive, "xl/sharedStrings.xml", &mut |out, xml| match xml {
        Xml::Start(start) => match start.local_name().as_ref() {
            "t" => text = true,
            "rPh" => sound = true, // how Japanese is read aloud
            _ => {}
        },
        Xml::End("t") => text = false,
        Xml::End("rPh") => sound = false,
        Xml::End("si") => {
            bytes += one.len() + size_of::<String>();
            if bytes > STRINGS {
                out.whole = false;
                one.clear();
            } else {
                all.push(std::mem::take(&mut one));
            }
        }
        Xml::Text(piece) if text && !sound && one.len() < STRINGS => one.push_str(piece),
        Xml::End(_) | Xml::Text(_) => {}
    })?;
    Ok(all)
}

/// Which cell styles show a date or a time.
fn date_styles(archive: &mut Archive, out: &mut Out<'_>) -> Result<Vec<bool>, FileError> {
    let mut own: Vec<(u32, bool)> = Vec::new();
    let (mut styles, mut cells) = (Vec::new(), false);
    out.part(archive, "xl/styles.xml", &mut |_, xml| match xml {
        Xml::Start(start) => {
            let number = |name| attribute(start, name).and_then(|id| id.parse::<u32>().ok()).unwrap_or(0);
            match start.local_name().as_ref() {
                "numFmt" => {
                    let code = attribute(start, "formatCode").unwrap_or_default();
                    own.push((number("numFmtId"), shows_date(&code)));
                }
                "cellXfs" => cells = true,
                "xf" if cells => {
                    let id = number("numFmtId");
                    let builtin = matches!(id, 14..=22 | 27..=36 | 45..=47 | 50..=58);
                    styles
                        .push(own.iter().find(|(known, _)| *known == id).map_or(builtin, |(_, date)| *date));
                }
                _ => {}
            }
        }
        Xml::End("cellXfs") => cells = false,
        Xml::End(_) | Xml::Text(_) => {}
    })?;
    Ok(styles)
}

/// A format code with day, month, year, hour or second outside of quotes and brackets.
fn shows_date(code: &str) -> bool {
    let (mut quoted, mut bracket, mut escaped) = (false, false, false);
    for c in code.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' | '_' | '*' => escaped = true,
            '"' => quoted = !quoted,
            '[' if !quoted => bracket = true,
            ']' if !quoted => bracket = false,
            'd' | 'D' | 'm' | 'M' | 'y' | 'Y' | 'h' | 'H' | 's' | 'S' if !quoted && !bracket => return true,
            _ => {}
        }
    }
    false
}

#[derive(Default)]
struct Cell {
    kind: String,
    style: usize,
    value: String,
}

fn sheet(
    archive: &mut Archive,
    out: &mut Out<'_>,
    part: &str,
    strings: &[String],
    dates: &[bool],
    since_1904: bool,
) -> Result<(), FileError> {
    let mut cell = Cell::default();
    let (mut column, mut value) = (0, false);
    let mut row = String::new();
    let mut row_column = 0;
    out.part(archive, part, &mut |out, xml| match xml {
        Xml::Start(start) => match start.local_name().as_ref() {
            "row" => {
                row.clear();
                (row_column, column) = (0, 0);
            }
            "c" => {
                column = attribute(start, "r").and_then(|r| column_of(&r)).unwrap_or(column + 1);
                cell = Cell {
                    kind: attribute(start, "t").unwrap_or_default(),
                    style: attribute(start, "s").and_then(|s| s.parse().ok()).unwrap_or(usize::MAX),
                    value: String::new(),
                };
            }
            "v" | "t" => value = true,
            _ => {}
        },
        Xml::End("v" | "t") => value = false,
        Xml::End("c") => {
            if column > COLUMNS {
                out.whole = false;
            } else if !cell.value.is_empty() && row.len() < super::TEXT {
                while row_column + 1 < column {
                    row.push('\t');
                    row_column += 1;
                }
                row.push_str(&shown(&cell, strings, dates, since_1904));
            }
        }
        Xml::End("row") => {
            if !row.is_empty() {
                out.text.push_str(&row);
                out.text.push('\n');
            }
        }
        Xml::Text(piece) if value => cell.value.push_str(piece),
        Xml::End(_) | Xml::Text(_) => {}
    })
}

fn shown(cell: &Cell, strings: &[String], dates: &[bool], since_1904: bool) -> String {
    let flat = |text: &str| text.replace(['\t', '\n', '\r'], " ");
    match cell.kind.as_str() {
        "s" => cell
            .value
            .parse()
            .ok()
            .and_then(|at: usize| strings.get(at))
            .map(|text| flat(text))
            .unwrap_or_default(),
        "b" => if cell.value == "1" { "TRUE" } else { "FALSE" }.to_owned(),
        "" | "n" if dates.get(cell.style) == Some(&true) => cell
            .value
            .parse()
            .ok()
            .and_then(|serial| date(serial, since_1904))
            .unwrap_or_else(|| flat(&cell.value)),
        "" | "n" => number(&cell.value),
        _ => flat(&cell.value),
    }
}

/// `0.1 + 0.2` is kept as `0.30000000000000004` and shown with 15 digits, as Excel does.
fn number(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && text.len() > 15 => {
            let rounded: f64 = format!("{value:.14e}").parse().unwrap_or(value);
            format!("{rounded}")
        }
        _ => text.to_owned(),
    }
}

/// `BC12` is in column 55.
fn column_of(reference: &str) -> Option<usize> {
    let letters = reference.bytes().take_while(u8::is_ascii_alphabetic);
    letters.clone().next()?;
    letters
        .take(4)
        .try_fold(0_usize, |sum, letter| Some(sum * 26 + usize::from(letter.to_ascii_uppercase() - b'A') + 1))
}

/// A serial number as `2026-11-24`, with the time where there is one.
fn date(serial: f64, since_1904: bool) -> Option<String> {
    if !(0.0..3_000_000.0).contains(&serial) {
        return None;
    }
    let seconds = (serial * 86_400.0).round() as i64;
    let (mut days, time) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let clock = || {
        let (h, m, s) = (time / 3600, time / 60 % 60, time % 60);
        if s == 0 { format!("{h:02}:{m:02}") } else { format!("{h:02}:{m:02}:{s:02}") }
    };
    if days == 0 && !since_1904 {
        return Some(clock());
    }
    // Excel has a 29 February 1900 that never was.
    days += if since_1904 { 1462 } else { i64::from(days < 60) };
    let (y, m, d) = civil(days - 25_569);
    Some(if time == 0 {
        format!("{y:04}-{m:02}-{d:02}")
    } else {
        format!("{y:04}-{m:02}-{d:02} {}", clock())
    })
}

/// The date `days` after 1970-01-01 (Howard Hinnant's algorithm).
pub(in crate::files) fn civil(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let m = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + i64::from(m <= 2), m, doy - (153 * mp + 2) / 5 + 1)
}
