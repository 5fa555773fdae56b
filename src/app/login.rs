//! The login of this deployment: whose login is used, until when it is valid, and whether the
//! service accepts it.

use std::time::Duration;

use tessera_model::{Failure, SafeText, Timestamp};

use crate::app::{Job, JobState, Uptime};

#[derive(Debug, Default)]
pub struct LoginState {
    /// The API key that identifies the login. `None` if the deployment has no login.
    pub key: Option<SafeText>,
    pub token_expires_at: Option<Timestamp>,
    /// Why the service does not accept the login. `None` once the service accepts it.
    pub rejection: Option<Failure>,
}

impl LoginState {
    /// Returns the time until the token expires. Tokens are renewed before that.
    pub fn token_time_left(&self, clock: Timestamp) -> Option<Duration> {
        let expires_at = self.token_expires_at?;
        Some(expires_at.saturating_sub(clock))
    }

    /// Returns when the remaining time on screen changes next. The screen counts in minutes, and in
    /// seconds during the last minute.
    pub(in crate::app) fn next_login_tick(&self, now: Uptime, clock: Timestamp) -> Option<Uptime> {
        let left = self.token_time_left(clock).filter(|left| !left.is_zero())?;
        let step = if left > Duration::from_mins(1) { left.as_secs() % 60 } else { 0 };
        Some(now + Duration::from_secs(step.max(1)))
    }

    /// Returns whether the service works on the job, or will, while this program cannot follow the job without login.
    pub fn waits_for_login(&self, job: &Job) -> bool {
        let follows = matches!(
            job.state(),
            JobState::Queued(_) | JobState::DatasetRunning | JobState::ExportRunning(..)
        );
        follows && self.rejection.is_some()
    }
}
