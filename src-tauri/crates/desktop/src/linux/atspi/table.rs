//! The cells of tables whose cells are made when they are asked for: only those on the screen, however many rows
//! and columns there are.

use futures::StreamExt as _;

use super::bus::{ACCESSIBLE, CallError, Object, Reference};
use super::matched;
use super::nodes::{AT_ONCE, Node, Reading, Wish, pipeline};
use super::role::{States, number};
use crate::Scope;

const TABLE: &str = "org.a11y.atspi.Table";
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
        })
        .map(|(at, node)| (at, node.object.clone()))
        .collect();
    // From the last one on, so that places before it stay as they are.
    for (at, table) in tables.into_iter().rev() {
        let extents = reading.nodes[at].facts.extents;
        let looked = async {
            let size = size(&table).await?;
            Ok::<_, CallError>((size, on_screen(&table, size, extents, wish.scope).await))
        };
        let Ok(Ok((size, shown))) = tokio::time::timeout_at(wish.deadline, looked).await else { continue };
        reading.nodes[at].facts.children = u32::try_from(size.rows).ok();
        let ask = |place| {
            let table = table.clone();
            async move { cell(&table, place).await }
        };
        let found = pipeline(shown.cells(), wish.deadline, ask, 4).await;
        let nodes: Vec<Node> = found
            .into_iter()
            .flatten()
            .filter(|node| !reading.nodes.iter().any(|known| known.object.path == node.object.path))
            .map(|node| Node { parent: Some(at), ..node })
            .collect();
        insert(&mut reading.nodes, at, nodes);
    }
}

/// Behind everything that is already below the table.
fn insert(all: &mut Vec<Node>, table: usize, cells: Vec<Node>) {
    let mut end = table + 1;
    while end < all.len() && all[end].parent.is_some_and(|parent| parent >= table) {
        end += 1;
    }
    let count = cells.len();
    for node in &mut all[end..] {
        node.parent = node.parent.map(|parent| if parent >= end { parent + count } else { parent });
    }
    all.splice(end..end, cells);
}

async fn cell(table: &Object, place: Cell) -> Option<Node> {
    let (_, path) = at(table, place).await.ok()?;
    let object = Object::new(&table.program, path.as_str());
    let (facts, _) = matched::facts(&object).await?;
    Some(Node { object, parent: None, facts })
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
        Some(Seen { line, .. }) if size.columns > MOST_COLUMNS => columns_on_screen(table, place, line).await,
        _ => None,
    };
    let (left, right) = across.unwrap_or((0, size.columns.min(MOST_COLUMNS) - 1));
    let wide = (right - left + 1).max(1);
    let (top, bottom) = match seen {
        Some(Seen { top, bottom, .. }) => (top, bottom.min(top + (MOST / wide).max(1) - 1)),
        None => (0, size.rows.min((if many { FEW } else { MOST } / wide).max(1)) - 1),
    };
    Window { first: Cell { row: top, column: left }, last: Cell { row: bottom, column: right } }
}

struct Seen {
    top: i32,
    bottom: i32,
    /// A height on the screen at which there is a row.
    line: i32,
}

/// The pane it lies in may cut it off at either end; and there may be a header, or room below the last row.
async fn rows_on_screen(table: &Object, (x, y, width, height): Extents) -> Option<Seen> {
    let down = (0..STEPS).map(|step| (x + width / 2, y + 2 + step * height / STEPS));
    let up = (0..STEPS).map(|step| (x + width / 2, y + height - 2 - step * height / STEPS));
    let (top, (_, line)) = first_cell(table, down).await?;
    let (bottom, _) = first_cell(table, up).await?;
    (top.row <= bottom.row).then_some(Seen { top: top.row, bottom: bottom.row, line })
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
