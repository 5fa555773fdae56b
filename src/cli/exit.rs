//! Defines the exit codes of the program and the error type of a command. A new exit code is added here once, for the
//! help, the manual, `spec` and error documents.

use std::{fmt, io};

use tessera_config::{edit::EditError, text_enum};
use tessera_model::FailureKind;

use crate::cli::messages::write_stderr;
use crate::cli::prelude::*;

text_enum! {
    /// The exit codes. Scripts rely on them, so a code never changes its meaning.
    pub enum Exit:
        /// Returns the machine-readable name for error documents.
        code,
        /// Returns the meaning, for the help, the manual and `tessera spec`.
        meaning
    {
        Done[0] = "done", "success, even if nothing was found or the reader closed the pipe";
        Failed[1] = "failed", "failure without a more specific code";
        Usage[2] = "usage", "incorrect usage or configuration";
        Network[3] = "network", "network or server failure; try again";
        Login[4] = "login", "login or permission missing";
        NotFound[5] = "not_found", "not found, or no access";
        Conflict[6] = "conflict", "not possible in the current status of the dataset";
        Remote[7] = "remote_failed", "the task failed at the service";
        Invalid[8] = "invalid", "rejected as invalid";
        Incomplete[9] = "partly_done", "partly done";
        Empty[10] = "empty", "nothing found, with --fail-empty";
        CheckFailed[11] = "check_failed", "a check of `tessera check` failed";
        /// The same code as `timeout(1)`.
        TimedOut[124] = "timed_out", "--timeout expired while waiting";
        Interrupted[130] = "interrupted", "interrupted";
    }
}

#[derive(Debug)]
pub struct CliError {
    pub exit: Exit,
    /// The message, which is empty if the command has ended early without an error.
    pub message: String,
    /// A machine-readable code, if it is more specific than the exit code.
    code: Option<&'static str>,
    remedy: Option<ShellCommand>,
    failure: Option<Box<Failure>>,
    /// The exit code and the message of an expression of `--jq`, which replace `exit` and `message`.
    pub(super) halt: Option<(i32, PrintableText)>,
}

pub type CliResult<T = Exit> = Result<T, CliError>;

impl CliError {
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), code: None, remedy: None, failure: None, halt: None }
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
            return Self::early_end();
        }
        Self::io("write the output", error)
    }

    /// Ends a command before it has done everything, although nothing went wrong.
    pub fn early_end() -> Self {
        Self::new(Exit::Done, "")
    }

    /// Creates the error with which `halt` or `halt_error` in an expression of `--jq` ends a command.
    pub fn halted(exit_code: i32, message: PrintableText) -> Self {
        Self { halt: Some((exit_code, message)), ..Self::failed("--jq: halted") }
    }

    /// Returns whether the command has ended early, although nothing went wrong.
    pub fn is_early_end(&self) -> bool {
        self.exit == Exit::Done
    }

    pub fn interrupted() -> Self {
        Self::new(
            Exit::Interrupted,
            "interrupted; tasks that a service has accepted continue there, and those of a local folder when it \
             is opened again",
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
        if let Some((exit_code, message)) = &self.halt {
            write_stderr(message);
            return *exit_code;
        }
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
            // Repeating a request that may already have taken effect could apply it twice.
            "retryable": self.exit == Exit::Network && code != Some("may_have_started"),
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

impl From<EditError> for CliError {
    fn from(error: EditError) -> Self {
        match error {
            EditError::Invalid(message) => Self::usage(message),
            EditError::Unwritten(message) => Self::failed(message),
        }
    }
}
