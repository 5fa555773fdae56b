//! The login of this deployment: who is logged in, until when, and whether the service accepts it.

use std::time::Duration;

use crate::{
    app::{App, Job, JobState, Level, Uptime},
    message::{ImportedLogin, Lane, Payload},
};
use tessera_model::{Failure, FailureKind, NO_SECRET, SafeText, Timestamp};

#[derive(Debug, Default)]
pub struct LoginState {
    /// Whose login it is: the API key. `None`: the deployment has no login.
    pub key: Option<SafeText>,
    pub token_expires_at: Option<Timestamp>,
    /// Why the service does not accept the login, until it does.
    pub rejection: Option<Failure>,
}

impl App {
    /// Takes from a response whether the service accepts the login. Called for every response, so that
    /// a rejection shows everywhere at once.
    pub(super) fn observe_login(&mut self, lane: &Lane, result: &Result<Payload, Failure>) {
        if !lane.carries_login() {
            return;
        }
        match result {
            Err(failure) if failure.kind == FailureKind::Unauthorized => {
                let is_new = self.login.rejection.replace(failure.clone()).is_none();
                if is_new && failure.code == Some(NO_SECRET) && !self.overlays.is_open() {
                    self.open_login();
                } else if is_new {
                    let text =
                        format!("the service rejects the login (L opens it): {}", failure.message);
                    self.outbox.notify(Level::Warning, text);
                }
            }
            // These responses come after the check of the login.
            Ok(_)
            | Err(Failure {
                kind:
                    FailureKind::Forbidden
                    | FailureKind::NotFound
                    | FailureKind::Conflict
                    | FailureKind::Invalid,
                ..
            }) => {
                if self.login.rejection.take().is_some() {
                    self.outbox.notify(Level::Success, "the login is accepted again");
                    self.refresh();
                }
            }
            Err(_) => {}
        }
    }

    /// The time until the token expires; tokens are renewed before that.
    pub fn token_time_left(&self) -> Option<Duration> {
        let expires_at = self.login.token_expires_at?;
        Some(expires_at.saturating_sub(self.clock()))
    }

    /// When the time left on screen changes next: by minutes, in the last minute by seconds.
    pub(super) fn next_login_tick(&self) -> Option<Uptime> {
        let left = self.token_time_left().filter(|left| !left.is_zero())?;
        let step = if left > Duration::from_mins(1) { left.as_secs() % 60 } else { 0 };
        Some(self.outbox.now + Duration::from_secs(step.max(1)))
    }

    /// Whether the service works on a job, or will, and this program cannot follow it without login.
    pub fn waits_for_login(&self, job: &Job) -> bool {
        let follows = matches!(
            job.state(),
            JobState::Queued(_) | JobState::DatasetRunning | JobState::ExportRunning(..)
        );
        follows && self.login.rejection.is_some()
    }

    /// Another key pair is used from now on.
    pub(super) fn login_imported(&mut self, login: ImportedLogin) {
        let place = login.stored_in.map_or_else(
            || "it is not stored, and ends with this program".to_owned(),
            |place| format!("its secret is in {place}"),
        );
        let message = login.message.map(|text| format!(" ({text})")).unwrap_or_default();
        let text = format!("logged in with the key {}; {place}{message}", login.api_key);
        self.outbox.notify(Level::Success, text);
        self.login = LoginState { key: Some(login.api_key), ..LoginState::default() };
        self.refresh();
    }
}
