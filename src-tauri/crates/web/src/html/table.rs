//! A table's cells, then its Markdown. Tables that only lay a page out become paragraphs.

use super::markdown::Markdown;

/// A cell longer than this is no datum.
const CELL_CHARS: usize = 600;

#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
    /// What the cell in work, or what stands between cells, is written into.
    pub(super) cell: Markdown,
    holds_table: bool,
    bytes: usize,
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.bytes + self.cell.len()
    }

    pub(super) fn begin_row(&mut self) {
        // A caption is a row of its own.
        if self.cell.len() > 0 {
            self.end_cell();
        }
        self.rows.push(Vec::new());
    }

    pub(super) fn begin_cell(&mut self) {
        // Words outside of cells are kept as a cell of their own.
        if self.cell.len() > 0 {
            self.end_cell();
        }
        self.cell = Markdown::default();
    }

    pub(super) fn end_cell(&mut self) {
        let text = std::mem::take(&mut self.cell).into_text();
        self.bytes += text.len();
        match self.rows.last_mut() {
            Some(row) => row.push(text),
            None => self.rows.push(vec![text]),
        }
    }

    /// A table inside has ended: this one lays out.
    pub(super) fn took_table(&mut self) {
        self.holds_table = true;
    }

    pub(super) fn into_markdown(mut self) -> String {
        if self.cell.len() > 0 {
            self.end_cell();
        }
        let rows: Vec<_> =
            self.rows.into_iter().filter(|row| row.iter().any(|cell| !cell.is_empty())).collect();
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        let is_long = |cell: &String| cell.len() > CELL_CHARS && cell.chars().nth(CELL_CHARS).is_some();
        if self.holds_table
            || columns < 2
            || rows.iter().flatten().any(|cell| is_long(cell) || cell.contains("```"))
        {
            let cells: Vec<_> = rows.into_iter().flatten().filter(|cell| !cell.is_empty()).collect();
            return cells.join("\n\n");
        }
        let mut out = String::new();
        for (at, row) in rows.iter().enumerate() {
            for cell in row {
                out.push_str("| ");
                let words = cell.replace('|', "\\|");
                out.extend(words.split_whitespace().flat_map(|word| [word, " "]));
            }
            out.push_str("|\n");
            if at == 0 {
                out.push_str(&"| --- ".repeat(row.len().max(1)));
                out.push_str("|\n");
            }
        }
        out
    }
}
