//! Bodies unpacked within their bounds.

use super::*;

fn unpacked(packing: Packing, pieces: &[&[u8]], limit: usize) -> std::io::Result<Body> {
    let mut unpacking = Unpacking::new(packing, limit);
    for piece in pieces {
        if unpacking.push(piece)? == Room::Full {
            break;
        }
    }
    unpacking.finish()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_body_is_cut_at_its_bound_and_not_before() {
    let body = |bytes: &[u8], cut| Body { bytes: bytes.to_vec(), cut };
    assert_eq!(unpacked(Packing::Plain, &[b"ab", b"cd"], 4).unwrap(), body(b"abcd", false));
    assert_eq!(unpacked(Packing::Plain, &[b"ab", b"cd"], 3).unwrap(), body(b"abc", true));
    let long = vec![b'x'; 100_000];
    let packed = gzip(&long);
    let pieces: Vec<_> = packed.chunks(7).collect();
    assert_eq!(unpacked(Packing::Gzip, &pieces, 100_000).unwrap(), body(&long, false));
    assert_eq!(unpacked(Packing::Gzip, &pieces, 99_999).unwrap(), body(&long[1..], true));
}

#[test]
fn gzip_that_is_cut_off_or_none_is_an_error_and_two_members_are_one_body() {
    let packed = gzip(b"some text that is packed");
    assert!(unpacked(Packing::Gzip, &[&packed[..packed.len() - 9]], 1000).is_err());
    assert!(unpacked(Packing::Gzip, &[b"no gzip at all"], 1000).is_err());
    let two = [packed, gzip(b"!")].concat();
    assert_eq!(unpacked(Packing::Gzip, &[&two], 1000).unwrap().bytes, b"some text that is packed!");
}
