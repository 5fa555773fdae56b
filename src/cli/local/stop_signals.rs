//! The signals that stop a service or a worker.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::cli::{CliError, CliResult};

/// Receives signals from its creation on, so that it is created before the service is announced: a signal
/// that came earlier would end the process at once.
#[derive(Debug)]
pub(super) struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl StopSignals {
    pub(super) fn listen() -> CliResult<Self> {
        let listen =
            |kind| signal(kind).map_err(|error| CliError::io("listen for signals", &error));
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for the next signal, and returns its exit code. Ctrl-C and SIGTERM are the normal ways to stop.
    pub(super) async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.interrupt.recv() => 130,
            _ = self.terminate.recv() => 0,
            _ = self.hang_up.recv() => 129,
        }
    }
}
