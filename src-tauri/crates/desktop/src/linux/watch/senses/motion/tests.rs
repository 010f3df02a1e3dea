//! Tests of `motion`.

use super::*;

#[test]
fn a_shaken_table_is_no_move_and_a_slow_hand_is_one() {
    let now = Instant::now();
    let mut shake = Shake::default();
    for i in 0..100 {
        assert!(!shake.is_meant((if i % 2 == 0 { 1.0 } else { -1.0 }, 0.0), now));
    }
    let mut slow = Shake::default();
    assert!((0..5).any(|_| slow.is_meant((1.0, 0.0), now)));
    let mut apart = Shake::default();
    let later = |i: u64| now + Duration::from_secs(i);
    assert!((0..5).all(|i| !apart.is_meant((1.0, 0.0), later(i))));
}
