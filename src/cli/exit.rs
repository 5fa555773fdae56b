//! How a command ends: a contract for scripts, and one line for the person.

use std::io::{self, Write};

use serde_json::json;
use tessera_model::{Failure, FailureKind, SafeText};
use tessera_service::LocalError;

/// The exit codes (features: exit codes are a contract).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done; an empty answer is no failure.
    Done = 0,
    /// A failure without a code of its own.
    Failed = 1,
    /// Wrong use or configuration.
    Usage = 2,
    /// Network or server trouble; worth trying again.
    Network = 3,
    /// Login or permission.
    Login = 4,
    /// Not found, or no access.
    NotFound = 5,
    /// The state of the dataset forbids it.
    Conflict = 6,
    /// The work at the service ended badly.
    Remote = 7,
    /// Refused as invalid.
    Invalid = 8,
    /// Only partly done: some files or pages were left out.
    Partly = 9,
    /// Nothing was found, and `--fail-empty` makes that a failure.
    Empty = 10,
    /// `--timeout` ran out while waiting; the code of `timeout(1)`.
    TimedOut = 124,
    /// Interrupted by the person.
    Interrupted = 130,
}

impl Exit {
    /// All of them, in their order.
    pub const ALL: [Self; 13] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::Network,
        Self::Login,
        Self::NotFound,
        Self::Conflict,
        Self::Remote,
        Self::Invalid,
        Self::Partly,
        Self::Empty,
        Self::TimedOut,
        Self::Interrupted,
    ];

    /// What it says, for the help, the manual and the description for programs.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done; an empty answer, or a reader that wants no more, is no failure",
            Self::Failed => "failed, for a reason without a code of its own",
            Self::Usage => "wrong use or configuration",
            Self::Network => "network or server trouble, worth trying again",
            Self::Login => "login or permission",
            Self::NotFound => "not found, or no access",
            Self::Conflict => "the state of the dataset forbids it",
            Self::Remote => "the work at the service ended badly",
            Self::Invalid => "refused as invalid",
            Self::Partly => "only partly done",
            Self::Empty => "nothing found, with --fail-empty",
            Self::TimedOut => "--timeout ran out while waiting",
            Self::Interrupted => "interrupted",
        }
    }

    /// The code in a word, for error documents.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::Network => "network",
            Self::Login => "login",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::Remote => "remote_failed",
            Self::Invalid => "invalid",
            Self::Partly => "partly_done",
            Self::Empty => "empty",
            Self::TimedOut => "timed_out",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Why a command ended early.
#[derive(Debug)]
pub struct CliError {
    /// The code for scripts.
    pub exit: Exit,
    /// The sentence for people; empty when nobody listens any more.
    pub message: String,
    /// What went wrong in a word for programs, where it is more than the exit code says.
    code: Option<&'static str>,
    /// A command that helps.
    remedy: Option<String>,
    /// What the service did, where it was asked.
    failure: Option<Box<Failure>>,
}

impl CliError {
    /// An end with a sentence.
    #[must_use]
    pub fn new(exit: Exit, sentence: impl Into<String>) -> Self {
        Self { exit, message: sentence.into(), code: None, remedy: None, failure: None }
    }

    /// The person interrupted it.
    #[must_use]
    pub fn interrupted() -> Self {
        Self::new(Exit::Interrupted, "interrupted; what the service works on goes on there")
    }

    /// The same in other words, which say more than the failure alone.
    #[must_use]
    pub fn with_message(mut self, words: impl Into<String>) -> Self {
        self.message = words.into();
        if let Some(failure) = &mut self.failure {
            failure.message = SafeText::detail(&self.message);
        }
        self
    }

    /// The same with a word for programs.
    #[must_use]
    pub fn with_code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// The same with a command that helps.
    #[must_use]
    pub fn with_remedy(mut self, command: impl Into<String>) -> Self {
        self.remedy = Some(command.into());
        self
    }

    /// The same after other words.
    #[must_use]
    pub fn with_context(mut self, words: &str) -> Self {
        self.message = format!("{words}: {}", self.message);
        if let Some(failure) = &mut self.failure {
            failure.message = SafeText::detail(&format!("{words}: {}", failure.message));
        }
        self
    }

    /// The HTTP status of what the service did, where it was asked and answered.
    #[must_use]
    pub fn http_status(&self) -> Option<u16> {
        self.failure.as_ref().and_then(|failure| failure.status)
    }

    /// Tells it on standard error, as a document where programs read, and gives the code.
    #[must_use]
    pub fn report(&self, machine: bool) -> i32 {
        if !self.message.is_empty() {
            let words = SafeText::detail(&self.message);
            let text = match &self.remedy {
                _ if machine => self.document(&words),
                Some(remedy) => {
                    format!("tessera: {words}\ntessera: try: {}", SafeText::detail(remedy))
                }
                None => format!("tessera: {words}"),
            };
            // Nobody is left to be told when standard error is closed.
            let _ = writeln!(io::stderr(), "{text}");
        }
        self.exit as i32
    }

    /// `tessera.error/1`, on one line.
    fn document(&self, words: &SafeText) -> String {
        let failure = self.failure.as_deref();
        let text = |text: Option<&SafeText>| text.map(|text| text.as_str().to_owned());
        let request =
            failure.and_then(|failure| failure.request.as_ref()?.as_str().split_once(' '));
        let remedy = self.remedy.clone();
        let code = self.code.or(failure.and_then(|failure| failure.code));
        json!({
            "schema": "tessera.error/1",
            "exit_code": self.exit as i32,
            "http_status": failure.and_then(|failure| failure.status),
            "code": code.unwrap_or_else(|| self.exit.code()),
            "message": failure.map_or(words.as_str(), |failure| failure.message.as_str()),
            "detail": text(failure.and_then(|failure| failure.detail.as_ref())),
            "remedy": remedy.or_else(|| text(failure.and_then(|failure| failure.remedy.as_ref()))),
            "request": request.map(|(method, path)| json!({ "method": method, "path": path })),
            "retryable": self.exit == Exit::Network,
        })
        .to_string()
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
            FailureKind::Unexpected | FailureKind::Local => Exit::Failed,
        };
        Self { failure: Some(Box::new(failure.clone())), ..Self::new(exit, failure.to_string()) }
    }
}

impl From<LocalError> for CliError {
    fn from(error: LocalError) -> Self {
        let exit = if error.is_usage_error() { Exit::Usage } else { Exit::Failed };
        Self::new(exit, error.to_string())
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            // `| head -1` is no mistake: the reader has what it wanted.
            return Self::new(Exit::Done, "");
        }
        Self::new(Exit::Failed, error.to_string())
    }
}
