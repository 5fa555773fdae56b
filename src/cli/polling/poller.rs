//! Waits between polls, within the time limit and through connection losses.

use std::time::{Duration, Instant, SystemTime};

use serde_json::json;
use tokio::time::timeout;

use crate::cli::{
    CliError, CliResult, Connection, Context, Exit, messages::ProgressBar,
    timestamps::timestamp_now,
};
use tessera_model::{Dataset, DatasetId, Failure, Status, polling::PollTarget};

/// Maximum time without output.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(30);
const DEFAULT_TIMEOUT: Duration = Duration::from_hours(24);
/// Minimum time for the last request.
const MIN_REQUEST_TIMEOUT: Duration = Duration::from_secs(1);
/// Sleep in steps and compare the wall clock, so that time asleep counts after a suspend.
const SLEEP_STEP: Duration = Duration::from_secs(1);

pub struct Poller<'a> {
    pub(super) context: &'a Context,
    started: Instant,
    pub(super) last_output: Instant,
    interval: Option<Duration>,
    limit: Option<Duration>,
    /// Whether the events are the command's output rather than status messages.
    pub(super) is_primary_output: bool,
    consecutive_failures: u32,
    /// The last reported status, percentage, and counts of images and videos.
    pub(super) last_reported: Option<(Status, Option<u8>, [Option<u64>; 2])>,
    pub(super) last_change: Instant,
    pub(super) progress_bar: Option<ProgressBar>,
}

impl<'a> Poller<'a> {
    /// Starts now, and ends after `--timeout` or a day.
    pub fn new(context: &'a Context, interval: Option<Duration>) -> Self {
        let now = Instant::now();
        Self {
            context,
            started: now,
            last_output: now,
            interval,
            limit: Some(context.global.timeout.unwrap_or(DEFAULT_TIMEOUT)),
            is_primary_output: false,
            consecutive_failures: 0,
            last_reported: None,
            last_change: now,
            progress_bar: None,
        }
    }

    /// Starts now. The events are the command's output, and only `--timeout` ends them.
    pub fn stream(context: &'a Context, interval: Option<Duration>) -> Self {
        let limit = context.global.timeout;
        Self { limit, is_primary_output: true, ..Self::new(context, interval) }
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub async fn wait_for_dataset(&mut self) -> CliResult<()> {
        self.wait(PollTarget::Dataset(self.last_change.elapsed())).await
    }

    pub async fn wait(&mut self, target: PollTarget) -> CliResult<()> {
        let mut wait = match self.interval {
            Some(chosen) if self.consecutive_failures == 0 => chosen,
            _ => {
                let regular =
                    self.context.settings.poll.interval(target, self.consecutive_failures);
                regular.mul_f64(1.0 - 0.2 * jitter())
            }
        };
        if let Some(limit) = self.limit {
            let left = limit.checked_sub(self.elapsed()).ok_or_else(|| timeout_error(limit))?;
            wait = wait.min(left);
        }
        if self.last_output.elapsed() + wait > HEARTBEAT_INTERVAL {
            self.emit_heartbeat(wait)?;
        }
        let (steady, clock) = (Instant::now(), SystemTime::now());
        // If the wall clock was set back, the monotonic clock counts.
        while let Some(left) =
            remaining(wait, steady.elapsed(), clock.elapsed().unwrap_or_default())
        {
            tokio::time::sleep(left.min(SLEEP_STEP)).await;
        }
        Ok(())
    }

    pub(super) fn time_limit(&self) -> TimeLimit {
        let left = |limit: Duration| limit.saturating_sub(self.elapsed()).max(MIN_REQUEST_TIMEOUT);
        TimeLimit(self.limit.map(|limit| (limit, left(limit))))
    }

    /// Fetches a dataset, retrying while the connection is lost.
    pub async fn fetch_dataset(
        &mut self,
        connection: &Connection<'_>,
        dataset: DatasetId,
    ) -> CliResult<Dataset> {
        loop {
            let response = self.time_limit().apply(connection.client.dataset(dataset)).await?;
            if let Some(dataset) = self.tolerate_outage(response)? {
                return Ok(dataset);
            }
            self.wait_for_dataset().await?;
        }
    }

    /// Turns a connection loss into `None`; any other failure ends polling.
    pub fn tolerate_outage<T>(&mut self, response: Result<T, Failure>) -> CliResult<Option<T>> {
        match response {
            Ok(value) => {
                self.report_recovery()?;
                Ok(Some(value))
            }
            Err(failure) if failure.is_connection_failure() => {
                self.consecutive_failures += 1;
                if self.consecutive_failures == 1 {
                    let fields = json!({ "message": failure.message.as_str() });
                    self.emit("lost", fields, &format!("no response, retrying: {failure}"))?;
                }
                Ok(None)
            }
            Err(failure) => Err(failure.into()),
        }
    }

    pub(super) fn report_recovery(&mut self) -> CliResult<()> {
        if std::mem::take(&mut self.consecutive_failures) == 0 {
            return Ok(());
        }
        self.emit("back", json!({}), "the service responds again")
    }
}

/// The total time limit, if there is one, and what is left of it.
pub(super) struct TimeLimit(Option<(Duration, Duration)>);

impl TimeLimit {
    pub(super) async fn apply<T>(self, work: impl Future<Output = T>) -> CliResult<T> {
        match self.0 {
            None => Ok(work.await),
            Some((limit, left)) => timeout(left, work).await.map_err(|_| timeout_error(limit)),
        }
    }
}

/// The rest of a pause. Both clocks count: the monotonic one may stop during a suspend.
fn remaining(wait: Duration, steady: Duration, clock: Duration) -> Option<Duration> {
    wait.checked_sub(steady.max(clock)).filter(|left| !left.is_zero())
}

fn timeout_error(limit: Duration) -> CliError {
    let limit = humantime::format_duration(limit);
    let message = format!("timed out after {limit}; the operation continues at the service");
    CliError::new(Exit::TimedOut, message)
}

/// A number in [0, 1) that varies, so that many clients started together do not poll together.
fn jitter() -> f64 {
    f64::from(timestamp_now().subsec_micros() % 1000) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_slept_polls_once_and_at_once() {
        let [second, minute] = [Duration::from_secs(1), Duration::from_mins(1)];
        assert_eq!(remaining(minute, second, second), Some(minute.checked_sub(second).unwrap()));
        assert_eq!(remaining(minute, second, Duration::from_hours(10)), None, "it slept");
        assert_eq!(remaining(minute, minute, Duration::ZERO), None, "its clock was set back");
        assert!(jitter() < 1.0);
    }
}
