//! The last result of a check, shared by all probes.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};

/// How long the result of a check is used again, so that many probes cost one check.
const CHECK_LIFETIME: Duration = Duration::from_secs(1);
/// Time that a check may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// The reason of a check that failed or took too long.
pub const NOT_READY: &str = "The service is not ready";

/// Whether requests can be served, or why not.
type Readiness = Result<(), &'static str>;

/// The last check of the store; clones share it.
#[derive(Clone, Default)]
pub struct ReadinessCheck(Arc<Mutex<Option<LastCheck>>>);

#[derive(Clone, Copy)]
struct LastCheck {
    at: Instant,
    result: Readiness,
}

impl ReadinessCheck {
    /// The last result if it is recent, otherwise that of `check`; one check runs at a time. A check that
    /// takes too long is not ready.
    pub async fn result(&self, check: impl Future<Output = Readiness>) -> Readiness {
        let latest = async {
            let mut last = self.0.lock().await;
            let recent = last.filter(|last| last.at.elapsed() < CHECK_LIFETIME);
            let now = match recent {
                Some(recent) => recent,
                None => LastCheck { result: check.await, at: Instant::now() },
            };
            *last = Some(now);
            now.result
        };
        timeout(CHECK_TIMEOUT, latest).await.unwrap_or(Err(NOT_READY))
    }
}
