//! The text of one page as it stands there: what is on one height is one line, with tabs where there are gaps. A table
//! is read as rows, then; two columns of prose are, too, which is the price.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};

use lopdf::content::Content;
use lopdf::{Dictionary, Document, Encoding, Object, ObjectId};

/// What a page, a form in it or a font may inflate to.
const INFLATED: usize = 16 << 20;
/// Pieces of text of a page.
const PIECES: usize = 200_000;
/// Operations of a page.
const OPERATIONS: u32 = 3_000_000;
/// Forms within forms.
const DEPTH: u8 = 5;

/// Text shown at one place.
struct Piece {
    x: f64,
    y: f64,
    end: f64,
    size: f64,
    text: String,
}

/// `[a b c d e f]` of the PDF specification.
#[derive(Clone, Copy)]
struct Matrix([f64; 6]);

impl Matrix {
    const SAME: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    fn moved(x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// First this, then `next`.
    fn then(self, next: Self) -> Self {
        let ([a, b, c, d, e, f], [na, nb, nc, nd, ne, nf]) = (self.0, next.0);
        Self([
            a * na + b * nc,
            a * nb + b * nd,
            c * na + d * nc,
            c * nb + d * nd,
            e * na + f * nc + ne,
            e * nb + f * nd + nf,
        ])
    }
}

/// How a font's codes read, and how wide they are in thousandths of its size.
struct Font<'a> {
    encoding: Encoding<'a>,
    wide: bool,
    widths: HashMap<u32, f64>,
    default: f64,
}

#[derive(Clone, Copy)]
struct State<'f, 'd> {
    page: Matrix,
    font: Option<&'f Font<'d>>,
    size: f64,
    leading: f64,
}

struct Page<'a> {
    document: &'a Document,
    pieces: Vec<Piece>,
    operations: u32,
    ended: &'a AtomicBool,
}

/// The lines of a page.
pub(super) fn text(document: &Document, id: ObjectId, ended: &AtomicBool) -> Result<String, String> {
    let content = document.get_page_content_with_limit(id, INFLATED).map_err(|e| e.to_string())?;
    let (own, inherited) = document.get_page_resources(id).map_err(|e| e.to_string())?;
    let inherited = inherited.iter().filter_map(|id| document.get_dictionary(*id).ok());
    let resources: Vec<&Dictionary> = own.into_iter().chain(inherited).collect();
    let mut page = Page { document, pieces: Vec::new(), operations: 0, ended };
    page.run(&content, &resources, Matrix::SAME, 0)?;
    Ok(page.lines())
}

impl<'a> Page<'a> {
    fn run(
        &mut self,
        content: &[u8],
        resources: &[&'a Dictionary],
        page: Matrix,
        depth: u8,
    ) -> Result<(), String> {
        let fonts = self.fonts(resources)?;
        let mut state = State { page, font: None, size: 0.0, leading: 0.0 };
        let mut saved = Vec::new();
        let (mut line, mut at) = (Matrix::SAME, Matrix::SAME);
        // Whether the next text goes on where the last ended.
        let mut goes_on = false;
        for operation in Content::decode_iter(content) {
            let operation = operation.map_err(|e| e.to_string())?;
            self.operations += 1;
            if self.operations > OPERATIONS || self.pieces.len() > PIECES {
                return Err("a page has too much on it".into());
            }
            if self.operations.is_multiple_of(1024) && self.ended.load(Ordering::Relaxed) {
                return Ok(());
            }
            let number = |at: usize| operation.operands.get(at).map_or(0.0, number_of);
            let matrix = || Matrix([number(0), number(1), number(2), number(3), number(4), number(5)]);
            let down = |leading: f64, line: Matrix| Matrix::moved(0.0, -leading).then(line);
            match operation.operator.as_str() {
                "q" if saved.len() < 256 => saved.push(state),
                "Q" => state = saved.pop().unwrap_or(state),
                "cm" => state.page = matrix().then(state.page),
                "BT" => (line, at) = (Matrix::SAME, Matrix::SAME),
                "Tf" => {
                    let name = operation.operands.first().and_then(|name| name.as_name().ok());
                    state.font = name.and_then(|name| fonts.get(name));
                    state.size = number(1);
                    continue;
                }
                "TL" => state.leading = number(0),
                "Td" | "TD" => {
                    if operation.operator == "TD" {
                        state.leading = -number(1);
                    }
                    line = Matrix::moved(number(0), number(1)).then(line);
                    at = line;
                }
                "Tm" => (line, at) = (matrix(), matrix()),
                "T*" | "'" | "\"" => {
                    line = down(state.leading, line);
                    at = line;
                }
                "Do" if depth < DEPTH => {
                    let name =
                        operation.operands.first().and_then(|name| name.as_name().ok()).unwrap_or_default();
                    self.form(name, resources, state.page, depth)?;
                }
                _ => {}
            }
            match operation.operator.as_str() {
                "Tj" | "'" | "\"" => {
                    if let Some(Object::String(bytes, _)) = operation.operands.last() {
                        self.show(bytes, &state, &mut at, goes_on && operation.operator == "Tj");
                        goes_on = true;
                    }
                }
                "TJ" => {
                    for part in
                        operation.operands.first().and_then(|all| all.as_array().ok()).into_iter().flatten()
                    {
                        if let Object::String(bytes, _) = part {
                            self.show(bytes, &state, &mut at, goes_on);
                            goes_on = true;
                        } else {
                            let moved = -number_of(part) / 1000.0;
                            at = Matrix::moved(moved * state.size, 0.0).then(at);
                            // A gap of a letter is a space; one of two is another column.
                            goes_on &= moved < 1.0;
                            if goes_on && moved > 0.18 {
                                self.space();
                            }
                        }
                    }
                }
                "BT" | "ET" | "Td" | "TD" | "Tm" | "T*" | "cm" | "Q" | "Do" => goes_on = false,
                _ => {}
            }
        }
        Ok(())
    }

    fn fonts(&self, resources: &[&'a Dictionary]) -> Result<BTreeMap<Vec<u8>, Font<'a>>, String> {
        let mut fonts = BTreeMap::new();
        for resources in resources {
            let Some(all) = resources.get_deref(b"Font", self.document).ok().and_then(|o| o.as_dict().ok())
            else {
                continue;
            };
            for (name, _) in all.iter() {
                if fonts.contains_key(name) || fonts.len() > 500 {
                    continue;
                }
                let Ok(font) = all.get_deref(name, self.document).and_then(Object::as_dict) else { continue };
                let encoding =
                    font.get_font_encoding_with_limit(self.document, INFLATED).map_err(|e| e.to_string())?;
                let wide = font.get(b"Subtype").and_then(Object::as_name).is_ok_and(|kind| kind == b"Type0");
                let (widths, default) = self.widths(font, wide);
                fonts.insert(name.clone(), Font { encoding, wide, widths, default });
            }
        }
        Ok(fonts)
    }

    fn widths(&self, font: &Dictionary, wide: bool) -> (HashMap<u32, f64>, f64) {
        let mut widths = HashMap::new();
        let get = |dict: &Dictionary, key: &[u8]| {
            dict.get_deref(key, self.document).and_then(Object::as_array).cloned().unwrap_or_default()
        };
        if !wide {
            let first = font.get_deref(b"FirstChar", self.document).map_or(0.0, number_of);
            for (at, width) in get(font, b"Widths").iter().take(256).enumerate() {
                widths.insert(first as u32 + at as u32, number_of(width));
            }
            return (widths, 550.0);
        }
        let below = get(font, b"DescendantFonts");
        let below = below.first().and_then(|font| self.document.dereference(font).ok());
        let Some(below) = below.and_then(|(_, font)| font.as_dict().ok()) else { return (widths, 1000.0) };
        let default = below.get_deref(b"DW", self.document).map_or(1000.0, number_of);
        // `first [w w w]` or `first last w`.
        let all = get(below, b"W");
        let mut left = all.as_slice();
        while let [first, second, rest @ ..] = left {
            let first = number_of(first) as u32;
            match self.document.dereference(second).map(|(_, object)| object) {
                Ok(Object::Array(each)) => {
                    for (at, width) in each.iter().take(65_536).enumerate() {
                        widths.insert(first.saturating_add(at as u32), number_of(width));
                    }
                    left = rest;
                }
                _ => {
                    let [width, rest @ ..] = rest else { break };
                    let last = (number_of(second) as u32).min(first.saturating_add(65_535));
                    for code in first..=last {
                        widths.insert(code, number_of(width));
                    }
                    left = rest;
                }
            }
            if widths.len() > 100_000 {
                break;
            }
        }
        (widths, default)
    }

    fn form(
        &mut self,
        name: &[u8],
        resources: &[&'a Dictionary],
        page: Matrix,
        depth: u8,
    ) -> Result<(), String> {
        let found = resources.iter().find_map(|resources| {
            let all = resources.get_deref(b"XObject", self.document).ok()?.as_dict().ok()?;
            all.get_deref(name, self.document).ok()?.as_stream().ok()
        });
        let Some(form) = found else { return Ok(()) };
        if !form.dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|kind| kind == b"Form") {
            return Ok(());
        }
        let content = form.get_plain_content_with_limit(INFLATED).map_err(|e| e.to_string())?;
        let matrix = form.dict.get_deref(b"Matrix", self.document).and_then(Object::as_array).ok();
        let matrix = matrix.filter(|matrix| matrix.len() == 6).map_or(Matrix::SAME, |matrix| {
            let mut all = [0.0; 6];
            for (to, from) in all.iter_mut().zip(matrix) {
                *to = number_of(from);
            }
            Matrix(all)
        });
        let own = form.dict.get_deref(b"Resources", self.document).and_then(Object::as_dict).ok();
        let resources: Vec<&'a Dictionary> = own.into_iter().chain(resources.iter().copied()).collect();
        self.run(&content, &resources, matrix.then(page), depth + 1)
    }

    fn show(&mut self, bytes: &[u8], state: &State<'_, '_>, at: &mut Matrix, goes_on: bool) {
        let Some(font) = state.font else { return };
        let text = Document::decode_text(&font.encoding, bytes).unwrap_or_default();
        let width: f64 = if font.wide {
            let codes =
                bytes.chunks(2).map(|pair| pair.iter().fold(0, |code, byte| code << 8 | u32::from(*byte)));
            codes.map(|code| font.widths.get(&code).copied().unwrap_or(font.default)).sum()
        } else {
            bytes.iter().map(|byte| font.widths.get(&u32::from(*byte)).copied().unwrap_or(font.default)).sum()
        };
        let begin = at.then(state.page).0;
        *at = Matrix::moved(width / 1000.0 * state.size, 0.0).then(*at);
        let end = at.then(state.page).0;
        let size = (begin[2].hypot(begin[3]) * state.size).abs();
        match self.pieces.last_mut() {
            Some(last) if goes_on => {
                last.text.push_str(&text);
                last.end = end[4];
            }
            _ => self.pieces.push(Piece { x: begin[4], y: begin[5], end: end[4], size, text }),
        }
    }

    fn space(&mut self) {
        if let Some(last) = self.pieces.last_mut()
            && !last.text.ends_with(' ')
        {
            last.text.push(' ');
        }
    }

    fn lines(mut self) -> String {
        self.pieces.retain(|piece| !piece.text.trim().is_empty());
        self.pieces.sort_by(|a, b| b.y.total_cmp(&a.y));
        let mut text = String::new();
        let mut left = self.pieces.as_mut_slice();
        while let Some(first) = left.first() {
            let (height, size) = (first.y, first.size.max(1.0));
            let count = left.iter().take_while(|piece| height - piece.y <= size * 0.4).count();
            let (line, rest) = left.split_at_mut(count.max(1));
            line.sort_by(|a, b| a.x.total_cmp(&b.x));
            let mut end = f64::NEG_INFINITY;
            for piece in line {
                let gap = (piece.x - end) / piece.size.max(1.0);
                let joined =
                    end == f64::NEG_INFINITY || text.ends_with([' ', '\t']) || piece.text.starts_with(' ');
                if gap > 0.6 && end != f64::NEG_INFINITY {
                    text.truncate(text.trim_end_matches(' ').len());
                    text.push('\t');
                } else if gap > 0.12 && !joined {
                    text.push(' ');
                }
                text.push_str(piece.text.trim_matches(['\n', '\r']));
                end = piece.end;
            }
            text.truncate(text.trim_end_matches([' ', '\t']).len());
            text.push('\n');
            left = rest;
        }
        text
    }
}

fn number_of(object: &Object) -> f64 {
    object.as_float().map_or(0.0, f64::from)
}
