//! The cells of tables whose cells are made when they are asked for: only those on the screen, however many rows
//! there are.

use super::bus::{CallError, Object, Reference};
use super::matched;
use super::nodes::{Node, Reading, Wish, pipeline};
use super::role::{States, number};
use crate::Scope;

const TABLE: &str = "org.a11y.atspi.Table";
/// Cells read of one table.
const MOST: i32 = 600;

/// So few are read without looking where they are.
const FEW: i32 = 60;

/// What of a table is on the screen.
struct Window {
    columns: i32,
    rows: i32,
    first: i32,
    last: i32,
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
        let Ok(Ok(shown)) =
            tokio::time::timeout_at(wish.deadline, on_screen(&table, extents, wish.scope)).await
        else {
            continue;
        };
        reading.nodes[at].facts.children = u32::try_from(shown.rows).ok();
        let cells = (shown.first..=shown.last)
            .flat_map(|row| (0..shown.columns).map(move |column| (row, column)))
            .take(usize::try_from(MOST).unwrap_or(0));
        let ask = |(row, column)| {
            let table = table.clone();
            async move { cell(&table, row, column).await }
        };
        let found = pipeline(cells, wish.deadline, ask, 4).await;
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

async fn cell(table: &Object, row: i32, column: i32) -> Option<Node> {
    let (_, path): Reference = table.call(TABLE, "GetAccessibleAt", &(row, column)).await.ok()?;
    let object = Object::new(&table.program, path.as_str());
    let (facts, _) = matched::facts(&object).await?;
    Some(Node { object, parent: None, facts })
}

async fn on_screen(table: &Object, extents: (i32, i32, i32, i32), scope: Scope) -> Result<Window, CallError> {
    let (rows, columns) = tokio::try_join!(
        table.program.property::<i32>(&table.path, TABLE, "NRows"),
        table.program.property::<i32>(&table.path, TABLE, "NColumns"),
    )?;
    let (rows, columns) = (rows.max(0), columns.max(0));
    let most = MOST / columns.max(1);
    let whole = Window { columns, rows, first: 0, last: rows.min(most) - 1 };
    if scope == Scope::All || rows.saturating_mul(columns) <= FEW {
        return Ok(whole);
    }
    let (x, y, width, height) = extents;
    let mut first = None;
    let mut last = None;
    // The pane it lies in may cut it off at either end; and there may be a header, or room below the last row.
    for step in 0..16 {
        if first.is_none() {
            first = row_at(table, x + width / 2, y + 2 + step * height / 16).await;
        }
        if last.is_none() {
            last = row_at(table, x + width / 2, y + height - 2 - step * height / 16).await;
        }
    }
    match (first, last) {
        (Some(first), Some(last)) if first <= last => {
            Ok(Window { columns, rows, first, last: last.min(first + most - 1) })
        }
        _ => Ok(Window { last: whole.last.min(FEW / columns.max(1)), ..whole }),
    }
}

async fn row_at(table: &Object, x: i32, y: i32) -> Option<i32> {
    const SCREEN: u32 = 0;
    let found: Result<Reference, CallError> =
        table.call("org.a11y.atspi.Component", "GetAccessibleAtPoint", &(x, y, SCREEN)).await;
    let (_, path) = found.ok()?;
    let place: i32 = Object::new(&table.program, path.as_str())
        .call(super::bus::ACCESSIBLE, "GetIndexInParent", &())
        .await
        .ok()?;
    let row: i32 = table.call(TABLE, "GetRowAtIndex", &place).await.ok()?;
    (row >= 0).then_some(row)
}
