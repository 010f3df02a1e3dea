//! Tests of `cached`.

use super::*;

#[test]
fn a_list_whose_rows_the_cache_does_not_hold_lacks_them_and_a_table_is_asked_for_its_cells() {
    let list = Facts { interfaces: Interfaces::named(&[]), ..Facts::default() };
    assert_eq!([lack(&list, -1, 0), lack(&list, 3, 1), lack(&list, 3, 0)], [Some(Lack::Most); 3]);
    assert_eq!(lack(&list, 3, 2), Some(Lack::Few));
    assert_eq!([lack(&list, 3, 3), lack(&list, -1, 6), lack(&list, 0, 0)], [None; 3]);
    let table = Facts { interfaces: Interfaces::named(&[table::TABLE.into()]), ..Facts::default() };
    assert_eq!(lack(&table, -1, 0), None);
}
