//! `picture://localhost/<sha256>`: pictures of the screen for our own windows, read only.
//!
//! Blobs that are no pictures (a model's raw turns) are not served: what a page can show must be a JPEG or PNG.

use std::sync::Arc;

use protocol::ids::BlobRef;
use tauri::http::{Method, Request, Response, StatusCode, header};
use tauri::{Manager, UriSchemeContext, UriSchemeResponder, Wry};

use super::engine::Engine;

/// Answers one request of a page.
#[expect(clippy::needless_pass_by_value, reason = "the shape Tauri calls")]
pub fn answer(context: UriSchemeContext<'_, Wry>, request: Request<Vec<u8>>, responder: UriSchemeResponder) {
    let engine = Arc::clone(&context.app_handle().state::<Arc<Engine>>());
    tauri::async_runtime::spawn_blocking(move || {
        responder.respond(match name_in(&request).and_then(|name| engine.picture(name)) {
            Some(path) => match std::fs::read(&path) {
                Ok(bytes) => served(bytes),
                Err(error) => {
                    tracing::debug!("picture {} cannot be read: {error}", path.display());
                    empty(StatusCode::NOT_FOUND)
                }
            },
            None => empty(StatusCode::NOT_FOUND),
        });
    });
}

/// The blob's name, where the request asks for one and nothing else.
fn name_in(request: &Request<Vec<u8>>) -> Option<&str> {
    let name = request.uri().path().strip_prefix('/')?;
    (request.method() == Method::GET && BlobRef::is_name(name)).then_some(name)
}

fn served(bytes: Vec<u8>) -> Response<Vec<u8>> {
    let media_type = match bytes.as_slice() {
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        _ => return empty(StatusCode::FORBIDDEN),
    };
    let mut response = Response::new(bytes);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(media_type));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, header::HeaderValue::from_static("nosniff"));
    // Named by its content: it never changes.
    headers.insert(header::CACHE_CONTROL, header::HeaderValue::from_static("max-age=31536000, immutable"));
    response
}

fn empty(status: StatusCode) -> Response<Vec<u8>> {
    let mut response = Response::new(Vec::new());
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: Method, address: &str) -> Request<Vec<u8>> {
        Request::builder().method(method).uri(address).body(Vec::new()).unwrap()
    }

    #[test]
    fn only_a_blobs_name_reaches_a_path() {
        let name = "0a".repeat(32);
        assert_eq!(
            name_in(&request(Method::GET, &format!("picture://localhost/{name}"))),
            Some(name.as_str())
        );
        for path in [
            "",
            "/",
            "/..",
            "/../settings.json",
            "/%2e%2e/settings.json",
            &format!("/{name}/x"),
            &format!("//{name}"),
        ] {
            assert_eq!(name_in(&request(Method::GET, &format!("picture://localhost{path}"))), None, "{path}");
        }
        assert_eq!(name_in(&request(Method::POST, &format!("picture://localhost/{name}"))), None);
    }

    #[test]
    fn what_is_no_picture_is_not_served() {
        assert_eq!(served(b"{\"raw\":1}".to_vec()).status(), StatusCode::FORBIDDEN);
        assert_eq!(served(b"<svg onload=x>".to_vec()).status(), StatusCode::FORBIDDEN);
        let jpeg = served(vec![0xff, 0xd8, 0xff, 0xe0]);
        assert_eq!(
            (jpeg.status(), &jpeg.headers()[header::CONTENT_TYPE]),
            (StatusCode::OK, &header::HeaderValue::from_static("image/jpeg"))
        );
    }
}
