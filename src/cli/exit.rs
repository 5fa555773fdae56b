//! Defines the exit codes of the program, the error type of a command, and the result of a check of `tessera doctor`. A
//! new exit code is added here once, for the help, the manual, `spec` and error documents.

use std::{env, fmt, io};

use serde_json::{Value, json};
use tessera_model::{Failure, FailureKind, SafeText, ShellCommand};

use crate::{cli::messages::write_stderr, printable_text::PrintableText};

/// The exit codes. Scripts rely on them, so a code never changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    Network = 3,
    Login = 4,
    NotFound = 5,
    Conflict = 6,
    Remote = 7,
    Invalid = 8,
    Incomplete = 9,
    Empty = 10,
    CheckFailed = 11,
    /// The same code as `timeout(1)`.
    TimedOut = 124,
    Interrupted = 130,
}

impl Exit {
    pub const ALL: [Self; 14] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::Network,
        Self::Login,
        Self::NotFound,
        Self::Conflict,
        Self::Remote,
        Self::Invalid,
        Self::Incomplete,
        Self::Empty,
        Self::CheckFailed,
        Self::TimedOut,
        Self::Interrupted,
    ];

    /// Returns the meaning, for the help, the manual and `tessera spec`.
    pub fn meaning(self) -> &'static str {
        self.description().1
    }

    /// Returns the machine-readable name for error documents.
    pub fn code(self) -> &'static str {
        self.description().0
    }

    fn description(self) -> (&'static str, &'static str) {
        match self {
            Self::Done => {
                ("done", "success, even if nothing was found or the reader closed the pipe")
            }
            Self::Failed => ("failed", "failure without a more specific code"),
            Self::Usage => ("usage", "incorrect usage or configuration"),
            Self::Network => ("network", "network or server failure; try again"),
            Self::Login => ("login", "login or permission missing"),
            Self::NotFound => ("not_found", "not found, or no access"),
            Self::Conflict => ("conflict", "not possible in the current status of the dataset"),
            Self::Remote => ("remote_failed", "the task failed at the service"),
            Self::Invalid => ("invalid", "rejected as invalid"),
            Self::Incomplete => ("partly_done", "partly done"),
            Self::Empty => ("empty", "nothing found, with --fail-empty"),
            Self::CheckFailed => ("check_failed", "a check of `tessera check` failed"),
            Self::TimedOut => ("timed_out", "--timeout expired while waiting"),
            Self::Interrupted => ("interrupted", "interrupted"),
        }
    }
}

#[derive(Debug)]
pub struct CliError {
    pub exit: Exit,
    /// The message, which is empty if the reader closed the output.
    pub message: String,
    /// A machine-readable code, if it is more specific than the exit code.
    code: Option<&'static str>,
    remedy: Option<ShellCommand>,
    failure: Option<Box<Failure>>,
}

pub type CliResult<T = Exit> = Result<T, CliError>;

impl CliError {
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), code: None, remedy: None, failure: None }
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Exit::NotFound, message)
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    /// Creates an error of the operating system. `purpose` follows the word "cannot".
    pub fn io(purpose: impl fmt::Display, error: &io::Error) -> Self {
        Self::failed(format!("cannot {purpose}: {error}"))
    }

    /// Creates an error of standard output.
    pub fn output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            // A closed pipe, as in `| head -1`, is not an error, because the reader has what it
            // needs.
            return Self::new(Exit::Done, "");
        }
        Self::io("write the output", error)
    }

    pub fn interrupted() -> Self {
        Self::new(
            Exit::Interrupted,
            "interrupted; tasks that a service has accepted continue there",
        )
    }

    /// Replaces the message, both on screen and in the error document.
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        if let Some(failure) = &mut self.failure {
            failure.message = SafeText::detail(&self.message);
        }
        self
    }

    pub fn with_code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    pub fn with_remedy(mut self, command: impl Into<ShellCommand>) -> Self {
        self.remedy = Some(command.into());
        self
    }

    pub fn with_context(mut self, context: &str) -> Self {
        self.message = format!("{context}: {}", self.message);
        if let Some(failure) = &mut self.failure {
            failure.message = SafeText::detail(&format!("{context}: {}", failure.message));
        }
        self
    }

    pub fn http_status(&self) -> Option<u16> {
        self.failure.as_ref().and_then(|failure| failure.status)
    }

    /// Prints the error on standard error, as a document if programs read it, and returns the exit
    /// code.
    pub fn report(&self, machine: bool) -> i32 {
        if !self.message.is_empty() {
            let message = SafeText::detail(&self.message);
            let text = match &self.remedy {
                _ if machine => PrintableText::compact_json(&self.document(&message)),
                Some(remedy) => {
                    PrintableText::line(format_args!("tessera: {message}\ntessera: try: {remedy}"))
                }
                None => PrintableText::line(format_args!("tessera: {message}")),
            };
            write_stderr(&text);
        }
        self.exit as i32
    }

    /// Returns the error document `tessera.error/1`.
    fn document(&self, message: &SafeText) -> Value {
        let failure = self.failure.as_deref();
        let text = |text: Option<&SafeText>| text.map(|text| text.as_str().to_owned());
        let request =
            failure.and_then(|failure| failure.request.as_ref()?.as_str().split_once(' '));
        let remedy = self.remedy.as_ref().map(ShellCommand::to_string);
        let code = self.code.or(failure.and_then(|failure| failure.code));
        json!({
            "schema": "tessera.error/1",
            "exit_code": self.exit as i32,
            "http_status": failure.and_then(|failure| failure.status),
            "code": code.unwrap_or_else(|| self.exit.code()),
            "message": failure.map_or(message.as_str(), |failure| failure.message.as_str()),
            "detail": text(failure.and_then(|failure| failure.detail.as_ref())),
            "remedy": remedy.or_else(|| text(failure.and_then(|failure| failure.remedy.as_ref()))),
            "request": request.map(|(method, path)| json!({ "method": method, "path": path })),
            "retryable": self.exit == Exit::Network,
        })
    }
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        let exit = match failure.kind {
            FailureKind::Unreachable
            | FailureKind::NoResponse
            | FailureKind::Server
            | FailureKind::RateLimited => Exit::Network,
            FailureKind::Unauthorized | FailureKind::Forbidden => Exit::Login,
            FailureKind::NotFound => Exit::NotFound,
            FailureKind::Conflict => Exit::Conflict,
            FailureKind::Invalid => Exit::Invalid,
            FailureKind::Rejected => Exit::Remote,
            FailureKind::Unconfirmed | FailureKind::Unexpected | FailureKind::Local => Exit::Failed,
        };
        Self { failure: Some(Box::new(failure.clone())), ..Self::new(exit, failure.to_string()) }
    }
}

pub(super) struct CheckResult {
    subject: String,
    message: String,
    status: CheckStatus,
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

    /// Returns the exit code of a failed check.
    pub fn exit(&self) -> Option<Exit> {
        match self.status {
            CheckStatus::Failed(exit) => Some(exit),
            CheckStatus::Passed | CheckStatus::Warning => None,
        }
    }

    /// Returns the printed name of the status, and the exit code of a failed check.
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
            "message": redact_home(&self.message),
            "exit_code": exit,
        })
    }
}

enum CheckStatus {
    Passed,
    Warning,
    Failed(Exit),
}

/// Replaces the home directory with `~`, because it contains the user's name.
pub(super) fn redact_home(text: &str) -> String {
    match env::home_dir().map(|home| home.display().to_string()) {
        Some(home) if home.len() > 1 => text.replace(&home, "~"),
        _ => text.to_owned(),
    }
}
