//! `--http`: the same for clients that cannot start a program. Each has a run of its own.

use std::sync::Arc;

use ::mcp::desk::http::{self, Address};
use ::mcp::desk::{AtWork, Relay, Role};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use protocol::command::{GuestAnswer, Secret};
use protocol::mcp::GuestWay;
use protocol::{ErrorCode, ErrorView};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{Gate, Way};
use crate::cli::{interrupt, say};
use crate::exit::Exit;
use crate::home::Home;

/// Serves at a port of this machine alone until the user wishes the end, and says where and by what header.
pub async fn serve(home: &Home, role: Role, port: u16) -> Result<Exit, ErrorView> {
    let mut interrupts = interrupt::listen()?;
    // 244 bits by the system's generator; gone with this process.
    let token = [Uuid::new_v4(), Uuid::new_v4()].map(|half| half.simple().to_string()).concat();
    let address = Address::take(port, Secret(token)).await.map_err(|error| {
        ErrorView::new(ErrorCode::BadRequest, format!("the port {port} cannot be taken: {error}"))
            .with_hint("name another one, or none: --http")
    })?;
    say(&address.to_string());
    say(&address.header());
    eprintln!("miki: the address is this machine's alone, the header for this start; ctrl-c ends it");

    let (gate, specs) = (Arc::new(Gate::new(home)), tools::Registry::builtin().specs());
    let (stop, at_once) = (CancellationToken::new(), CancellationToken::new());
    let of_relays = (Arc::clone(&gate), at_once.clone());
    let relay = move || -> Arc<dyn Relay> {
        let (gate, at_once) = of_relays.clone();
        Arc::new(OneOfMany { way: Way::new(role, GuestWay::Http, Arc::clone(&gate)), gate, at_once })
    };
    let mut serving = std::pin::pin!(http::serve(role, &specs, relay, address, stop.clone()));
    let served = match interrupt::unless(&mut interrupts, &mut serving).await {
        Some(served) => served,
        None => {
            stop.cancel();
            interrupt::unless(&mut interrupts, serving).await.unwrap_or(Ok(()))
        }
    };
    let mut leaving = std::pin::pin!(gate.leave_unless(&at_once));
    if interrupt::unless(&mut interrupts, &mut leaving).await.is_none() {
        at_once.cancel();
        leaving.await;
    }
    served.map(|()| Exit::Done).map_err(|error| {
        ErrorView::new(ErrorCode::Internal, format!("no connection can be taken any more: {error}"))
    })
}

/// The way of one client; when the last of them has left, no engine stays here.
struct OneOfMany {
    way: Way,
    gate: Arc<Gate>,
    at_once: CancellationToken,
}

impl Relay for OneOfMany {
    fn call<'a>(
        &'a self,
        client: &'a str,
        tool: &'a str,
        arguments: Value,
    ) -> BoxFuture<'a, Result<GuestAnswer, String>> {
        self.way.call(client, tool, arguments)
    }

    fn at_work(&self) -> BoxFuture<'_, Vec<AtWork>> {
        self.way.at_work()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        async {
            self.way.close().await;
            // By itself: an engine that is being left must not be dropped in the middle.
            let (gate, at_once) = (Arc::clone(&self.gate), self.at_once.clone());
            tokio::spawn(async move { gate.leave_unless(&at_once).await });
        }
        .boxed()
    }
}

impl Gate {
    /// As [`Self::leave`]. What others asked for of an engine here is waited for, unless the end is wished at once.
    async fn leave_unless(&self, at_once: &CancellationToken) {
        let (wish, mut interrupts) = mpsc::channel(1);
        let wishes = async {
            at_once.cancelled().await;
            let _ = wish.send(()).await;
            std::future::pending().await
        };
        tokio::select! {
            () = self.leave(&mut interrupts) => {}
            () = wishes => {}
        }
    }
}
