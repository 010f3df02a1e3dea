//! Tests of `change`.

use super::*;

#[test]
fn a_place_off_the_display_is_refused_not_clamped() {
    assert_eq!(along(500.0, 1000, 800).unwrap(), 1400);
    for bad in [-1.0, 1000.5, f64::NAN] {
        assert!(along(bad, 0, 100).is_err());
        assert!(length(bad, 100).is_err());
    }
}
