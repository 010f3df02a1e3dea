//! Pages for a real browser to go to.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

/// What a path has.
pub struct Page {
    /// Its media type, with the charset for text.
    pub kind: &'static str,
    pub body: Vec<u8>,
}

/// Serves what `page` makes of each path, as HTML, on a port of this machine for as long as the process lives; the address
/// without a slash at its end.
///
/// # Panics
/// Where no port can be had.
pub fn serve_pages(page: impl Fn(&str) -> String + Send + 'static) -> String {
    let page = Mutex::new(page);
    serve(move |path| {
        let page = page.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Page { kind: "text/html", body: page(path).into_bytes() })
    })
}

/// The same of any kind. A browser may open a connection long before it asks for something: each has a thread.
///
/// # Panics
/// Where no port can be had.
pub fn serve(page: impl Fn(&str) -> Option<Page> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port of this machine");
    let address = listener.local_addr().expect("the port has an address");
    let page = Arc::new(page);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let page = Arc::clone(&page);
            std::thread::spawn(move || answer(stream, &*page));
        }
    });
    format!("http://{address}")
}

fn answer(mut stream: TcpStream, page: &dyn Fn(&str) -> Option<Page>) {
    let Ok(read) = stream.try_clone() else { return };
    let mut lines = BufReader::new(read).lines();
    let Some(Ok(first)) = lines.next() else { return };
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let found = page(first.split(' ').nth(1).unwrap_or_default());
    let status = if found.is_some() { "200 OK" } else { "404 Not Found" };
    let Page { kind, body } = found.unwrap_or_else(|| Page { kind: "text/plain", body: Vec::new() });
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(&[head.into_bytes(), body].concat()); // whoever asked may have gone
}
