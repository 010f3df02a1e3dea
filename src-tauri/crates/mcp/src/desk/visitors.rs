//! Clients over HTTP, and the relay that each of them has: a connection says nothing of who is there, and may end between
//! two calls. A client is its session; one of the protocol without sessions (2026-07-28) is its name.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use tokio::time::Instant;

use super::Relay;

/// At the end, what is under way gets this long to be given up.
const END: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Visitor {
    Session(String),
    Named(String),
}

pub struct Visitors {
    /// A client that calls nothing for this long has left; if it calls again, it begins anew.
    idle: Duration,
    relay: Box<dyn Fn() -> Arc<dyn Relay> + Send + Sync>,
    all: Mutex<HashMap<Visitor, Stay>>,
}

struct Stay {
    relay: Arc<dyn Relay>,
    /// Calls.
    under_way: usize,
    /// When the last one ended.
    since: Instant,
}

/// One call of a client: while there is one, it has not left.
pub struct Visit {
    visitors: Arc<Visitors>,
    visitor: Visitor,
    pub relay: Arc<dyn Relay>,
}

impl Drop for Visit {
    fn drop(&mut self) {
        if let Some(stay) = self.visitors.all().get_mut(&self.visitor) {
            (stay.under_way, stay.since) = (stay.under_way.saturating_sub(1), Instant::now());
        }
    }
}

impl Visitors {
    pub fn new(relay: impl Fn() -> Arc<dyn Relay> + Send + Sync + 'static, idle: Duration) -> Self {
        Self { idle, relay: Box::new(relay), all: Mutex::default() }
    }

    /// A client calls.
    pub fn visit(self: &Arc<Self>, visitor: Visitor) -> Visit {
        let mut all = self.all();
        let new = || Stay { relay: (self.relay)(), under_way: 0, since: Instant::now() };
        let stay = all.entry(visitor.clone()).or_insert_with(new);
        stay.under_way += 1;
        Visit { visitors: Arc::clone(self), visitor, relay: Arc::clone(&stay.relay) }
    }

    /// A client has ended its session.
    pub fn leave(&self, session: &str) {
        let stay = self.all().remove(&Visitor::Session(session.to_owned()));
        close_all(stay.into_iter().collect());
    }

    /// Those who have called nothing for a while have left.
    pub fn let_go_of_idle(&self) {
        let is_idle = |stay: &Stay| stay.under_way == 0 && stay.since.elapsed() >= self.idle;
        let idle = self.all().extract_if(|_, stay| is_idle(stay)).map(|(_, stay)| stay).collect();
        close_all(idle);
    }

    /// All have left.
    pub async fn close(&self) {
        let all: Vec<Stay> = self.all().drain().map(|(_, stay)| stay).collect();
        let closed = join_all(all.iter().map(|stay| stay.relay.close()));
        if tokio::time::timeout(END, closed).await.is_err() {
            tracing::warn!("not all work for clients has ended");
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Visitor, Stay>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn close_all(stays: Vec<Stay>) {
    for stay in stays {
        tokio::spawn(async move { stay.relay.close().await });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::FutureExt as _;
    use futures::future::BoxFuture;
    use protocol::command::GuestAnswer;
    use serde_json::Value;

    use super::super::AtWork;
    use super::*;

    const IDLE: Duration = Duration::from_secs(60);

    struct Counted(Arc<AtomicUsize>);

    impl Relay for Counted {
        fn call<'a>(
            &'a self,
            _: &'a str,
            _: &'a str,
            _: Value,
        ) -> BoxFuture<'a, Result<GuestAnswer, String>> {
            async { Err("not here".into()) }.boxed()
        }

        fn at_work(&self) -> BoxFuture<'_, Vec<AtWork>> {
            async { Vec::new() }.boxed()
        }

        fn close(&self) -> BoxFuture<'_, ()> {
            async {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
            .boxed()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_has_left_once_it_ends_its_session_or_calls_nothing_for_a_while() {
        let closed = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&closed);
        let visitors = Arc::new(Visitors::new(move || Arc::new(Counted(Arc::clone(&counted))), IDLE));
        let count = async || {
            visitors.let_go_of_idle();
            tokio::task::yield_now().await;
            closed.load(Ordering::Relaxed)
        };
        let (named, session) = (Visitor::Named("pond".into()), Visitor::Session("pond".into()));
        let call = visitors.visit(named.clone());
        let other = visitors.visit(session.clone());
        assert!(!Arc::ptr_eq(&call.relay, &other.relay), "each has its own");
        drop(other);
        tokio::time::advance(IDLE / 2).await;
        drop(visitors.visit(session.clone()));
        tokio::time::advance(IDLE / 2).await;
        assert_eq!(count().await, 0, "one has called meanwhile, the other's call goes on");
        tokio::time::advance(IDLE / 2).await;
        assert_eq!(count().await, 1, "the session was idle");
        drop(call);
        visitors.leave("pond");
        assert_eq!(count().await, 1, "it has no session");
        tokio::time::advance(IDLE).await;
        assert_eq!(count().await, 2);
        drop(visitors.visit(session));
        visitors.leave("pond");
        assert_eq!(count().await, 3);
        let _call = visitors.visit(named);
        visitors.close().await;
        assert_eq!(count().await, 4);
    }
}
