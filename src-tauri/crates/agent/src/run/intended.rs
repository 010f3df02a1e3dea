//! What a call is about to change, in the journal before it is done: a start after a kill finds it, and `miki undo` can
//! take it back, whether it was done or not.

use std::io;
use std::sync::Arc;

use protocol::EventBody;
use protocol::event::Scope;
use protocol::ids::CallId;
use protocol::tool::{Change, ToolCall};
use tokio::runtime::Handle;
use tools::Intent;

use super::Run;
use crate::log::Log;

/// Of one call.
pub(super) struct Intended {
    log: Arc<Log>,
    scope: Scope,
    call: CallId,
    runtime: Handle,
}

impl Intended {
    pub(super) fn of(run: &Run, call: &ToolCall) -> Self {
        let (log, scope, call) = (run.log.clone(), run.scope.clone(), call.id.clone());
        Self { log, scope, call, runtime: Handle::current() }
    }
}

impl Intent for Intended {
    fn write_down(&self, change: Change) -> io::Result<()> {
        let intended = EventBody::ChangeIntended { call: self.call.clone(), change };
        let written = self.runtime.block_on(self.log.append(self.scope.clone(), intended));
        written.map(drop).map_err(io::Error::other)
    }
}
