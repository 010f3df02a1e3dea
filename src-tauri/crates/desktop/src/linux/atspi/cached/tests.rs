//! Tests of `cached`.

use super::*;

#[test]
fn a_list_whose_rows_the_cache_does_not_hold_lacks_them_and_a_table_is_asked_for_its_cells() {
    let list = Facts { interfaces: Interfaces::named(&[]), ..Facts::default() };
    assert!(lacks(&list, -1, 0) && lacks(&list, 3, 2));
    assert!(!lacks(&list, 3, 3) && !lacks(&list, -1, 6) && !lacks(&list, 0, 0));
    let table = Facts { interfaces: Interfaces::named(&[table::TABLE.into()]), ..Facts::default() };
    assert!(!lacks(&table, -1, 0));
}
