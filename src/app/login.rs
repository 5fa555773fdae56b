//! The login of this deployment: who is logged in, until when, and whether the service accepts it.

use std::time::Duration;

use tessera_model::{Failure, SafeText, Timestamp};

use crate::app::{Job, JobState, Uptime};

#[derive(Debug, Default)]
pub struct LoginState {
    /// Whose login it is: the API key. `None`: the deployment has no login.
    pub key: Option<SafeText>,
    pub token_expires_at: Option<Timestamp>,
    /// Why the service does not accept the login, until it does.
    pub rejection: Option<Failure>,
}

impl LoginState {
    /// The time until the token expires; tokens are renewed before that.
    pub fn token_time_left(&self, clock: Timestamp) -> Option<Duration> {
        let expires_at = self.token_expires_at?;
        Some(expires_at.saturating_sub(clock))
    }

    /// When the time left on screen changes next: by minutes, in the last minute by seconds.
    pub(in crate::app) fn next_login_tick(&self, now: Uptime, clock: Timestamp) -> Option<Uptime> {
        let left = self.token_time_left(clock).filter(|left| !left.is_zero())?;
        let step = if left > Duration::from_mins(1) { left.as_secs() % 60 } else { 0 };
        Some(now + Duration::from_secs(step.max(1)))
    }

    /// Whether the service works on a job, or will, and this program cannot follow it without login.
    pub fn waits_for_login(&self, job: &Job) -> bool {
        let follows = matches!(
            job.state(),
            JobState::Queued(_) | JobState::DatasetRunning | JobState::ExportRunning(..)
        );
        follows && self.rejection.is_some()
    }
}
