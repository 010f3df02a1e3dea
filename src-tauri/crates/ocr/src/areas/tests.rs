//! Tests of `areas`.

use super::*;

/// `#` is a marked tile.
fn areas(rows: &[&str]) -> Vec<[u32; 4]> {
    let tiles: Vec<bool> = rows.iter().flat_map(|row| row.bytes().map(|tile| tile == b'#')).collect();
    let columns = rows[0].len() as u32;
    let whole = Rect { left: 0, top: 0, right: columns * TILE - 5, bottom: rows.len() as u32 * TILE };
    let areas = around(&tiles, columns, &whole);
    areas.iter().map(|area| [area.left, area.top, area.right, area.bottom]).collect()
}

#[test]
fn what_lies_apart_is_looked_at_apart_and_nothing_that_is_empty() {
    assert_eq!(areas(&["......", "......"]), [[0; 4]; 0]);
    assert_eq!(areas(&["##..#.", "......"]), [[0, 0, 160, 32]]);
    assert_eq!(areas(&["##...#", "......"]), [[0, 0, 64, 32], [160, 0, 187, 32]]);
    // The columns meet in the rows' gap only.
    let rows = ["##....", "......", "......", "......", "...###"];
    assert_eq!(areas(&rows), [[0, 0, 64, 32], [96, 128, 187, 160]]);
}

#[test]
fn a_high_part_is_cut_into_equal_ones_and_each_is_as_narrow_as_it_can_be() {
    let mut rows = vec!["#....."; 9];
    rows.push("###...");
    assert_eq!(areas(&rows), [[0, 0, 32, 160], [0, 160, 96, 320]]);
}
