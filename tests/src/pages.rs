//! Pages for a real browser to go to.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

/// Serves what `page` makes of each path, as HTML, on a port of this machine for as long as the process lives; the address
/// without a slash at its end.
///
/// # Panics
/// Where no port can be had.
pub fn serve_pages(page: impl Fn(&str) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port of this machine");
    let address = listener.local_addr().expect("the port has an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let Ok(read) = stream.try_clone() else { continue };
            let mut lines = BufReader::new(read).lines();
            let Some(Ok(first)) = lines.next() else { continue };
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let page = page(first.split(' ').nth(1).unwrap_or_default());
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                page.len()
            );
            let _ = stream.write_all((head + &page).as_bytes()); // whoever asked may have gone
        }
    });
    format!("http://{address}")
}
