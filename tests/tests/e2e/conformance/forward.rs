//! A proxy that passes on whatever it is asked, with one header more: the suite can send none of its own.

use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, TRANSFER_ENCODING};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// Ends when it is dropped.
pub struct Forward {
    pub url: String,
    _runtime: Runtime,
}

struct To {
    client: Client<HttpConnector, Body>,
    server: Authority,
    own: HeaderValue,
    authorization: HeaderValue,
}

impl Forward {
    /// To a server's address, with this value of `Authorization`.
    pub fn start(server: &str, authorization: &str) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let own = format!("localhost:{}", listener.local_addr()?.port());
        let server: Uri = server.parse()?;
        let to = To {
            client: Client::builder(TokioExecutor::new()).build_http(),
            server: server.authority().context("the server's address has no host")?.clone(),
            own: own.parse()?,
            authorization: authorization.parse()?,
        };
        let router = Router::new().fallback(pass_on).with_state(Arc::new(to));
        runtime.spawn(async move { axum::serve(listener, router).await });
        Ok(Self { url: format!("http://{own}{}", server.path()), _runtime: runtime })
    }
}

async fn pass_on(State(to): State<Arc<To>>, mut request: Request) -> Response {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let uri = Uri::builder().scheme("http").authority(to.server.clone()).path_and_query(path).build();
    let Ok(uri) = uri else { return StatusCode::BAD_REQUEST.into_response() };
    *request.uri_mut() = uri;
    let headers = request.headers_mut();
    headers.insert(AUTHORIZATION, to.authorization.clone());
    // Whoever asks for the proxy asks for the server; any other host stays as it is.
    if let (true, Ok(server)) = (headers.get(HOST) == Some(&to.own), to.server.as_str().parse()) {
        headers.insert(HOST, server);
    }
    match to.client.request(request).await {
        Ok(mut answer) => {
            // Of one connection.
            answer.headers_mut().remove(TRANSFER_ENCODING);
            answer.map(Body::new)
        }
        Err(error) => (StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
    }
}
