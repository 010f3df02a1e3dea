//! A web of one server on this machine, for tests.

use std::net::SocketAddr;

use axum::Router;

/// Serves until the test's runtime ends.
pub(crate) async fn serve(router: Router) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}
