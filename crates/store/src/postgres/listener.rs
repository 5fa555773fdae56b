//! The notification of a server that a task may be waiting.

use super::{PostgresServer, tables::LISTEN};
use crate::{StoreError, engine::Connection};

/// A connection on which the server announces tasks. Notifications may be lost when it is closed, so workers
/// also look for tasks from time to time.
pub struct TaskListener(Connection);

impl TaskListener {
    /// Calls `wake` after each notification, on another thread.
    pub(crate) fn start(
        server: &PostgresServer,
        wake: impl Fn() + Send + 'static,
    ) -> Result<Self, StoreError> {
        let connection = server.connect_listening(wake)?;
        connection.execute_batch(LISTEN)?;
        Ok(Self(connection))
    }

    /// Whether it has to be started again.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}
