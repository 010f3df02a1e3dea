//! The cells of tables whose cells are made when they are asked for: only those on the screen, however many rows
//! there are.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::bus::{CallError, Object, Reference};
use super::interfaces::Interfaces;
use super::matched;
use super::nodes::{Node, Reading, Wish, append_below, pipeline};
use super::role::{States, number};
use crate::Scope;

pub(super) const TABLE: &str = "org.a11y.atspi.Table";
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
        let shown = tokio::time::timeout_at(wish.deadline, on_screen(&table, extents, wish.scope)).await;
        let shown = match shown.unwrap_or(Err(CallError::Late)) {
            Ok(shown) => shown,
            Err(error) => {
                reading.miss(usize::from(error == CallError::Late));
                continue;
            }
        };
        reading.nodes[at].facts.children = u32::try_from(shown.rows).ok();
        let cells = (shown.first..=shown.last)
            .flat_map(|row| (0..shown.columns).map(move |column| (row, column)))
            .take(usize::try_from(MOST).unwrap_or(0));
        let cells: Vec<(i32, i32)> = cells.collect();
        let wished = cells.len();
        let ask = |(row, column)| {
            let table = table.clone();
            async move { cell(&table, row, column).await }
        };
        let found = pipeline(cells, wish.deadline, ask, 4).await;
        let late = found.iter().filter(|cell| matches!(cell, Err(CallError::Late))).count();
        reading.miss(wished - found.len() + late);
        let mut found: Vec<(i32, Node)> = found.into_iter().flatten().collect();
        {
            let known: HashSet<&str> = reading.nodes.iter().map(|node| &*node.object.path).collect();
            found.retain(|(_, node)| !known.contains(&*node.object.path));
        }
        name_by_columns(&table, &mut found, wish).await;
        let cells = found.into_iter().map(|(_, node)| node).collect();
        let (cells, missing) = with_parts(cells, wish).await;
        reading.miss(missing);
        append_below(&mut reading.nodes, at, cells);
    }
}

/// A cell without a name, as one with a check box, is known by its column's.
async fn name_by_columns(table: &Object, cells: &mut [(i32, Node)], wish: Wish) {
    let is_nameless = |node: &Node| node.facts.name.is_empty() && node.facts.children == Some(0);
    let columns: BTreeSet<i32> =
        cells.iter().filter(|(_, node)| is_nameless(node)).map(|(column, _)| *column).collect();
    let ask = |column| {
        let table = table.clone();
        async move {
            let header: Result<Reference, CallError> = table.call(TABLE, "GetColumnHeader", &column).await;
            let name = Object::new(&table.program, header.ok()?.1.as_str()).name().await.ok()?;
            Some((column, name))
        }
    };
    let names: HashMap<i32, String> =
        pipeline(columns, wish.deadline, ask, 1).await.into_iter().flatten().collect();
    for (column, node) in cells.iter_mut().filter(|(_, node)| is_nameless(node)) {
        node.facts.description = names.get(column).cloned().unwrap_or_default();
    }
}

/// The cells, each before the parts it is made of: where a column shows an icon beside a text, the text is one. And of
/// how many cells the parts were not read in time.
async fn with_parts(cells: Vec<Node>, wish: Wish) -> (Vec<Node>, usize) {
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
    let wished = asked.len();
    let found = pipeline(asked, wish.deadline, ask, 5).await;
    let missing = wished - found.len();
    // From the last one on, so that places before it stay as they are.
    for (at, parts) in found.into_iter().rev() {
        append_below(&mut nodes, at, parts);
    }
    (nodes, missing)
}

async fn cell(table: &Object, row: i32, column: i32) -> Result<(i32, Node), CallError> {
    let (_, path): Reference = table.call(TABLE, "GetAccessibleAt", &(row, column)).await?;
    let object = Object::new(&table.program, path.as_str());
    let (facts, _) = matched::facts(&object).await?;
    Ok((column, Node { object, parent: None, facts }))
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
