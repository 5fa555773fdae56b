//! The results of the checks of `tessera doctor`.

use std::env;

use serde_json::{Value, json};

use super::Exit;
use tessera_model::SafeText;

pub(super) struct CheckResult {
    subject: String,
    message: String,
    status: CheckStatus,
}

enum CheckStatus {
    Passed,
    Warning,
    Failed(Exit),
}

impl CheckResult {
    pub fn passed(subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self { subject: subject.into(), message: message.into(), status: CheckStatus::Passed }
    }

    pub fn warning(subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self { status: CheckStatus::Warning, ..Self::passed(subject, message) }
    }

    pub fn failed(subject: impl Into<String>, message: impl Into<String>, exit: Exit) -> Self {
        Self { status: CheckStatus::Failed(exit), ..Self::passed(subject, message) }
    }

    /// The exit code of a failed check.
    pub fn exit(&self) -> Option<Exit> {
        match self.status {
            CheckStatus::Failed(exit) => Some(exit),
            CheckStatus::Passed | CheckStatus::Warning => None,
        }
    }

    /// The printed name of the status, and the exit code of a failed check.
    fn status_word(&self) -> (&'static str, Option<i32>) {
        match self.status {
            CheckStatus::Passed => ("ok", None),
            CheckStatus::Warning => ("warning", None),
            CheckStatus::Failed(exit) => ("trouble", Some(exit as i32)),
        }
    }

    pub fn line(&self) -> String {
        let subject = SafeText::name(&self.subject);
        let message = SafeText::detail(&redact_home(&self.message));
        format!("{:<9}{subject}: {message}\n", self.status_word().0)
    }

    pub fn row(&self) -> Value {
        let (state, exit) = self.status_word();
        json!({
            "state": state,
            "subject": redact_home(&self.subject),
            "words": redact_home(&self.message),
            "exit_code": exit,
        })
    }
}

/// Replaces the home directory with `~`, because it contains the user's name.
pub(super) fn redact_home(text: &str) -> String {
    match env::home_dir().map(|home| home.display().to_string()) {
        Some(home) if home.len() > 1 => text.replace(&home, "~"),
        _ => text.to_owned(),
    }
}
