//! The cells of tables whose cells are made when they are asked for: only those on the screen, however many rows
//! and columns there are.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use futures::StreamExt as _;

use super::bus::{ACCESSIBLE, CallError, Object, Reference};
use super::interfaces::Interfaces;
use super::matched;
use super::nodes::{AT_ONCE, Node, Reading, Wish, append_below, pipeline};
use super::role::{States, number};
use crate::Scope;

pub(super) const TABLE: &str = "org.a11y.atspi.Table";
/// Cells read of one table, and of how many of its columns where it is not known which are on the screen.
const MOST: i32 = 600;
const MOST_COLUMNS: i32 = 40;

/// So few are read without looking where they are.
const FEW: i32 = 60;
/// The same, of cells that come in one answer.
const FEW_AT_ONCE: i32 = 300;

/// Points along an edge of a table at which cells are looked for.
const STEPS: i32 = 16;

/// On the screen: x, y, width, height.
type Extents = (i32, i32, i32, i32);

#[derive(Clone, Copy)]
struct Size {
    rows: i32,
    columns: i32,
}

impl Size {
    fn cells(self) -> i32 {
        self.rows.saturating_mul(self.columns)
    }
}

/// What of a table is on the screen.
struct Window {
    first: Cell,
    last: Cell,
}

#[derive(Clone, Copy)]
struct Cell {
    row: i32,
    column: i32,
}

impl Window {
    fn cells(&self) -> impl Iterator<Item = Cell> + use<> {
        let Self { first, last } = *self;
        (first.row..=last.row)
            .flat_map(move |row| (first.column..=last.column).map(move |column| Cell { row, column }))
            .take(usize::try_from(MOST).unwrap_or(0))
    }
}

/// Some of an object's children, and how many there are of them; rows, for a table.
#[derive(Default)]
pub(super) struct Below {
    pub(super) read: Vec<Reference>,
    pub(super) count: u32,
}

impl Below {
    pub(super) fn all(read: Vec<Reference>) -> Self {
        Self { count: u32::try_from(read.len()).unwrap_or(u32::MAX), read }
    }
}

/// What is below an object that makes its children when they are asked for: all where they are few, else what is on
/// the screen.
pub(super) async fn below(object: &Object, place: Extents, scope: Scope) -> Result<Below, CallError> {
    let count = |count: i32| u32::try_from(count).unwrap_or(0);
    let Ok(size) = size(object).await else {
        let all = object.program.property(&object.path, ACCESSIBLE, "ChildCount").await?;
        return Ok(Below { read: object.children().await?, count: count(all) });
    };
    if size.cells() <= FEW_AT_ONCE {
        return Ok(Below { read: object.all_children().await?, count: count(size.rows) });
    }
    let shown = on_screen(object, size, place, scope).await;
    let asked = shown.cells().map(|cell| at(object, cell));
    let found = futures::stream::iter(asked).buffered(AT_ONCE);
    let read = found.filter_map(async |cell| cell.ok()).collect().await;
    Ok(Below { read, count: count(size.rows) })
}

/// Puts the cells that are on the screen below their tables, and the number of rows on the table.
pub(super) async fn add_cells(reading: &mut Reading, wish: Wish) {
    let tables: Vec<(usize, Object)> = reading
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| {
            node.facts.states.has(States::MANAGES_DESCENDANTS.with(States::SHOWING))
                && matches!(node.facts.role, number::TABLE | number::TREE | number::TREE_TABLE)
                && node.facts.interfaces.has(TABLE)
        })
        .map(|(at, node)| (at, node.object.clone()))
        .collect();
    // From the last one on, so that places before it stay as they are.
    for (at, table) in tables.into_iter().rev() {
        // A flow box calls itself a table, and is none.
        let told = reading.nodes[at].facts.interfaces != Interfaces::ALL;
        if !told && table.interfaces().await.is_ok_and(|all| !all.has(TABLE)) {
            continue;
        }
        let extents = reading.nodes[at].facts.extents;
        let looked = async {
            let size = size(&table).await?;
            Ok::<_, CallError>((size, on_screen(&table, size, extents, wish.scope).await))
        };
        let Ok(Ok((size, shown))) = tokio::time::timeout_at(wish.deadline, looked).await else {
            reading.unread += 1;
            continue;
        };
        reading.nodes[at].facts.children = u32::try_from(size.rows).ok();
        let ask = |place| {
            let table = table.clone();
            async move { cell(&table, place).await }
        };
        let found = pipeline(shown.cells(), wish.deadline, ask, 4).await;
        let mut found: Vec<(i32, Node)> = found.into_iter().flatten().collect();
        let headers = headers(&table, &shown, wish).await;
        name_by_columns(&headers, &mut found);
        let known: HashSet<Arc<str>> = reading.nodes.iter().map(|node| node.object.path.clone()).collect();
        let is_new = |node: &Node| !known.contains(&node.object.path);
        let is_seen = |node: &Node| wish.scope == Scope::All || node.facts.states.has(States::SHOWING);
        let headers = headers.into_values().filter(|node| is_new(node) && is_seen(node)).collect();
        append_below(&mut reading.nodes, at, headers);
        let cells = found.into_iter().map(|(_, node)| node).filter(is_new).collect();
        append_below(&mut reading.nodes, at, with_parts(cells, wish).await);
    }
}

/// Of the columns that are on the screen, those that have one.
async fn headers(table: &Object, shown: &Window, wish: Wish) -> BTreeMap<i32, Node> {
    let ask = |column| {
        let table = table.clone();
        async move {
            let header: Result<Reference, CallError> = table.call(TABLE, "GetColumnHeader", &column).await;
            let object = Object::new(&table.program, header.ok()?.1.as_str());
            let (facts, _) = matched::facts(&object).await.ok()?;
            Some((column, Node { object, parent: None, facts }))
        }
    };
    let columns = shown.first.column..=shown.last.column;
    pipeline(columns, wish.deadline, ask, 4).await.into_iter().flatten().collect()
}

/// A cell without a name, as one with a check box, is known by its column's.
fn name_by_columns(headers: &BTreeMap<i32, Node>, cells: &mut [(i32, Node)]) {
    let is_nameless = |node: &Node| node.facts.name.is_empty() && node.facts.children == Some(0);
    for (column, node) in cells.iter_mut().filter(|(_, node)| is_nameless(node)) {
        node.facts.description =
            headers.get(column).map(|header| header.facts.name.clone()).unwrap_or_default();
    }
}

/// The cells, each before the parts it is made of: where a column shows an icon beside a text, the text is one.
async fn with_parts(cells: Vec<Node>, wish: Wish) -> Vec<Node> {
    let is_made_of_parts = |cell: &Node| cell.facts.children.is_some_and(|count| count > 0);
    let mut nodes = Vec::with_capacity(cells.len());
    let mut asked = Vec::new();
    for cell in cells {
        if is_made_of_parts(&cell) {
            asked.push((nodes.len(), cell.object.clone()));
        }
        nodes.push(cell);
    }
    let ask = |(at, cell): (usize, Object)| async move {
        let mut parts = Vec::new();
        for (_, path) in cell.children().await.unwrap_or_default() {
            let object = Object::new(&cell.program, path.as_str());
            let facts = matched::facts(&object).await;
            parts.extend(facts.ok().map(|(facts, _)| Node { object, parent: None, facts }));
        }
        (at, parts)
    };
    // From the last one on, so that places before it stay as they are.
    for (at, parts) in pipeline(asked, wish.deadline, ask, 5).await.into_iter().rev() {
        append_below(&mut nodes, at, parts);
    }
    nodes
}

/// With its column.
async fn cell(table: &Object, place: Cell) -> Option<(i32, Node)> {
    let (_, path) = at(table, place).await.ok()?;
    let object = Object::new(&table.program, path.as_str());
    let (facts, _) = matched::facts(&object).await.ok()?;
    Some((place.column, Node { object, parent: None, facts }))
}

async fn at(table: &Object, Cell { row, column }: Cell) -> Result<Reference, CallError> {
    table.call(TABLE, "GetAccessibleAt", &(row, column)).await
}

async fn size(table: &Object) -> Result<Size, CallError> {
    let (rows, columns) = tokio::try_join!(
        table.program.property::<i32>(&table.path, TABLE, "NRows"),
        table.program.property::<i32>(&table.path, TABLE, "NColumns"),
    )?;
    Ok(Size { rows: rows.max(0), columns: columns.max(0) })
}

async fn on_screen(table: &Object, size: Size, place: Extents, scope: Scope) -> Window {
    let many = scope != Scope::All && size.cells() > FEW;
    let seen = if many { rows_on_screen(table, place).await } else { None };
    let across = match seen {
        Some(VisibleRows { line, .. }) if size.columns > MOST_COLUMNS => {
            columns_on_screen(table, place, line).await
        }
        _ => None,
    };
    let (left, right) = across.unwrap_or((0, size.columns.min(MOST_COLUMNS) - 1));
    let wide = (right - left + 1).max(1);
    let (top, bottom) = match seen {
        Some(VisibleRows { top, bottom, .. }) => (top, bottom.min(top + (MOST / wide).max(1) - 1)),
        None => (0, size.rows.min((if many { FEW } else { MOST } / wide).max(1)) - 1),
    };
    Window { first: Cell { row: top, column: left }, last: Cell { row: bottom, column: right } }
}

struct VisibleRows {
    top: i32,
    bottom: i32,
    /// A height on the screen at which there is a row.
    line: i32,
}

/// The pane it lies in may cut it off at either end; and there may be a header, or room below the last row.
async fn rows_on_screen(table: &Object, (x, y, width, height): Extents) -> Option<VisibleRows> {
    let down = (0..STEPS).map(|step| (x + width / 2, y + 2 + step * height / STEPS));
    let up = (0..STEPS).map(|step| (x + width / 2, y + height - 2 - step * height / STEPS));
    let (top, (_, line)) = first_cell(table, down).await?;
    let (bottom, _) = first_cell(table, up).await?;
    (top.row <= bottom.row).then_some(VisibleRows { top: top.row, bottom: bottom.row, line })
}

async fn columns_on_screen(table: &Object, (x, _, width, _): Extents, line: i32) -> Option<(i32, i32)> {
    let (left, _) = first_cell(table, (0..STEPS).map(|step| (x + 2 + step * width / STEPS, line))).await?;
    let back = (0..STEPS).map(|step| (x + width - 2 - step * width / STEPS, line));
    let (right, _) = first_cell(table, back).await?;
    (left.column <= right.column).then_some((left.column, right.column))
}

/// The first of these points at which there is a cell.
async fn first_cell(table: &Object, points: impl Iterator<Item = (i32, i32)>) -> Option<(Cell, (i32, i32))> {
    for point in points {
        if let Some(cell) = cell_at(table, point).await {
            return Some((cell, point));
        }
    }
    None
}

async fn cell_at(table: &Object, (x, y): (i32, i32)) -> Option<Cell> {
    const SCREEN: u32 = 0;
    let found: Result<Reference, CallError> =
        table.call("org.a11y.atspi.Component", "GetAccessibleAtPoint", &(x, y, SCREEN)).await;
    let (_, path) = found.ok()?;
    let object = Object::new(&table.program, path.as_str());
    // Qt crashes when it is asked for the row of a header.
    if !matches!(object.role().await.ok()?, number::TABLE_CELL | number::LIST_ITEM | number::TREE_ITEM) {
        return None;
    }
    let place: i32 = object.call(ACCESSIBLE, "GetIndexInParent", &()).await.ok()?;
    let (row, column): (i32, i32) = tokio::try_join!(
        table.call(TABLE, "GetRowAtIndex", &place),
        table.call(TABLE, "GetColumnAtIndex", &place),
    )
    .ok()?;
    (row >= 0 && column >= 0).then_some(Cell { row, column })
}
