//! First messages of TLS as programs write them, and as somebody would who means another server.

use super::*;

fn block<const N: usize>(content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u32).to_be_bytes();
    [&length[4 - N..], content].concat()
}

fn extension(kind: u16, content: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &block::<2>(content)].concat()
}

fn name(host: &str) -> Vec<u8> {
    extension(SERVER_NAME, &block::<2>(&[&[0][..], &block::<2>(host.as_bytes())].concat()))
}

/// A whole first message with these extensions.
pub(in super::super) fn hello(extensions: &[u8]) -> Vec<u8> {
    let body = [
        &[3, 3][..],
        &[7; 32],
        &block::<1>(&[9; 32]),
        &block::<2>(&[0x13, 0x01]),
        &block::<1>(&[0]),
        &block::<2>(extensions),
    ]
    .concat();
    record(&[&[CLIENT_HELLO][..], &block::<3>(&body)].concat())
}

pub(in super::super) fn hello_for(host: &str) -> Vec<u8> {
    hello(&[extension(10, &[0, 2, 0, 29]), name(host), extension(43, &[2, 3, 4])].concat())
}

fn record(content: &[u8]) -> Vec<u8> {
    [&[HANDSHAKE, 3, 1][..], &block::<2>(content)].concat()
}

#[test]
fn the_server_that_is_meant_is_told_once_all_of_the_message_is_there() {
    let bytes = hello_for("Good.example");
    for end in 0..bytes.len() {
        assert_eq!(server_name(&bytes[..end]), Ok(None), "{end}");
    }
    assert_eq!(server_name(&bytes), Ok(Some("good.example".into())));
    let more = [bytes, vec![20, 3, 3, 0, 1, 1]].concat();
    assert_eq!(server_name(&more), Ok(Some("good.example".into())));
}

#[test]
fn what_could_mean_another_server_or_none_is_refused() {
    let two_names =
        block::<2>(&[&[0][..], &block::<2>(b"good.example"), &[0], &block::<2>(b"evil.example")].concat());
    let good = hello_for("good.example");
    // The message goes on in another record.
    let split = [record(&good[HEADER..60]), record(&good[60..])].concat();
    let two_messages = record(&[&good[HEADER..], &good[HEADER..]].concat());
    for bytes in [
        hello(&[]),
        hello(&[name("good.example"), name("evil.example")].concat()),
        hello(&extension(SERVER_NAME, &two_names)),
        hello(&[name("good.example"), extension(ENCRYPTED_HELLO, &[0; 40])].concat()),
        hello(&name("")),
        hello(&name("évil.example")),
        hello(&extension(SERVER_NAME, &[0, 9, 0])),
        split,
        two_messages,
        record(&[2, 0, 0, 0]),
        b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_vec(),
        b"SSH-2.0-x\r\n".to_vec(),
        vec![HANDSHAKE, 3, 1, 0, 0],
        vec![HANDSHAKE, 9, 1, 0, 5, 1, 2, 3, 4, 5],
    ] {
        assert!(server_name(&bytes).is_err(), "{bytes:?}");
    }
}

#[test]
fn no_bytes_break_it() {
    let good = hello_for("good.example");
    for at in 0..good.len() {
        for byte in [0, 1, 127, 255] {
            let mut bytes = good.clone();
            bytes[at] = byte;
            let _ = server_name(&bytes);
        }
    }
}
