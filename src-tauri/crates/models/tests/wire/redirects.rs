//! Redirects: neither a key nor a request goes to another host, and no request becomes another one on its way.

use axum::body::Body;
use axum::http::Response;
use models::{Model, ModelErrorKind};

use crate::{KEY, Server, answer, ask, gemini, is_finished};

fn redirect(status: u16, target: &str) -> Response<Body> {
    Response::builder().status(status).header("location", target).body(Body::empty()).unwrap()
}

// bar: C75
#[tokio::test]
async fn a_redirect_to_another_host_gets_neither_the_key_nor_a_request() {
    let other = Server::start(|_| answer(200, "{}")).await;
    for status in [301, 302, 303, 307, 308] {
        let target = format!("{}/steal", other.url);
        let server = Server::start(move |_| redirect(status, &target)).await;
        let model = gemini(&server.url, "v1");
        for error in [model.probe().await.unwrap_err(), ask(&model).await.unwrap_err()] {
            assert_eq!(error.kind, ModelErrorKind::Redirect, "{status}");
            assert!(error.message.contains(other.url.trim_start_matches("http://")), "{error}");
            assert!(!error.message.contains("steal"), "{error}");
        }
        assert_eq!(server.asked().len(), 2);
    }
    assert_eq!(other.asked(), []);
}

#[tokio::test]
async fn a_question_that_is_redirected_on_the_same_host_is_followed_with_the_key() {
    for status in [301, 302, 303, 307, 308] {
        let server = Server::start(move |asked| match asked.line.as_str() {
            "GET /moved" => answer(200, "{}"),
            _ => redirect(status, "/moved"),
        })
        .await;
        gemini(&server.url, "v1").probe().await.unwrap();
        let keys: Vec<_> = server.asked().into_iter().map(|asked| asked.key).collect();
        assert_eq!(keys, [Some(KEY.to_owned()), Some(KEY.to_owned())], "{status}");
    }
}

#[tokio::test]
async fn a_turn_is_asked_for_at_its_new_address_as_it_was_or_not_at_all() {
    for (status, is_followed) in [(301, false), (302, false), (303, false), (307, true), (308, true)] {
        let server = Server::start(move |asked| match asked.line.as_str() {
            "POST /moved" => answer(200, fixture!("stream_text.sse")),
            _ => redirect(status, "/moved"),
        })
        .await;
        let outcome = ask(&gemini(&server.url, "v1")).await;
        let asked = server.asked();
        if is_followed {
            assert!(is_finished(outcome.unwrap().last()), "{status}");
            let [first, second] = &asked[..] else { panic!("{asked:?}") };
            assert_eq!((&first.body, &first.key), (&second.body, &second.key), "{status}");
        } else {
            let error = outcome.unwrap_err();
            assert_eq!((error.kind, asked.len()), (ModelErrorKind::Redirect, 1), "{status}");
            assert!(error.message.contains(server.url.trim_start_matches("http://")), "{error}");
        }
    }
}

#[tokio::test]
async fn redirects_that_lead_nowhere_end() {
    for target in [Some("/again"), None] {
        let server = Server::start(move |_| match target {
            Some(target) => redirect(307, target),
            None => answer(307, ""),
        })
        .await;
        let error = ask(&gemini(&server.url, "v1")).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Redirect);
        assert_eq!(server.asked().len(), if target.is_some() { 4 } else { 1 });
    }
}
