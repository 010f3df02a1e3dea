//! Tests of `find`.

use super::*;

#[test]
fn the_port_file_is_read_and_half_a_file_is_not() {
    let whole = "37171\n/devtools/browser/0a6e-11\n";
    assert_eq!(parse_port(whole), Some((37171, "/devtools/browser/0a6e-11".into())));
    for bad in ["", "37171", "37171\n", "0\n/devtools/browser/x", "x\n/devtools/browser/x", "9\n/other"] {
        assert_eq!(parse_port(bad), None, "{bad:?}");
    }
}

#[test]
fn own_profile_comes_first_and_alone_where_others_are_not_to_be_attached_to() {
    let mine = PathBuf::from("data").join("browser");
    let options = Options { data: "data".into(), ..Options::default() };
    assert_eq!(profiles(&options)[0], mine);
    assert_eq!(profiles(&Options { attach: Attach::Own, ..options }), [mine]);
}

#[tokio::test]
async fn a_port_without_a_browser_says_how_to_start_one() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let options = Options { port: Some(port), ..Options::default() };
    assert_eq!(missing(&options), None);
    let error = attach_running(&options).await.err().unwrap();
    assert!(matches!(error, DesktopError::NotAvailable(_)), "{error:?}");
    assert!(error.to_string().contains(&format!("--remote-debugging-port={port}")), "{error}");
}
