//! Errors of object storage, safe for clients: without signed addresses and secrets.

use std::{fmt, io};

use roxmltree::Document;

#[derive(Debug)]
pub enum StorageError {
    /// This object is not available; others may be.
    Object(String),
    Service(String),
    Io(io::Error),
}

#[derive(Debug)]
pub struct StorageAttemptError {
    pub error: StorageError,
    /// Whether another attempt may succeed.
    pub retryable: bool,
}

impl StorageError {
    pub(super) fn object(message: impl Into<String>) -> Self {
        Self::Object(message.into())
    }

    pub(super) fn service(message: impl Into<String>) -> Self {
        Self::Service(message.into())
    }

    /// For responses that are not retryable; `keyless`: the request was not signed.
    pub(super) fn from_response(status: u16, description: &str, keyless: bool) -> Self {
        let code = error_code(description).unwrap_or_default();
        match (code.as_str(), status) {
            ("NoSuchBucket", _) => Self::service("the bucket does not exist"),
            ("NoSuchKey", _) | ("", 404) => Self::object("it does not exist"),
            ("InvalidObjectState", _) => Self::object("it is archived; restore it first"),
            ("InvalidAccessKeyId" | "InvalidToken" | "SignatureDoesNotMatch", _) => {
                Self::service("the access key of this deployment is not accepted")
            }
            ("ExpiredToken", _) => {
                Self::service("the session token of this deployment has expired")
            }
            ("RequestTimeTooSkewed", _) => Self::service("the clock of this machine is wrong"),
            ("AccessDenied", _) | ("", 401 | 403) if keyless => Self::object(
                "access is denied; start the deployment with AWS_ACCESS_KEY_ID and \
                 AWS_SECRET_ACCESS_KEY set",
            ),
            ("AccessDenied", _) | ("", 401 | 403) => Self::object("access is denied"),
            ("", status) => Self::service(format!("the storage responded with {status}")),
            (code, status) => Self::service(format!("the storage responded with {status} {code}")),
        }
    }
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object(message) | Self::Service(message) => f.write_str(message),
            Self::Io(cause) => write!(f, "it cannot be written to disk ({})", cause.kind()),
        }
    }
}

impl From<io::Error> for StorageError {
    fn from(cause: io::Error) -> Self {
        Self::Io(cause)
    }
}

impl From<StorageError> for StorageAttemptError {
    fn from(error: StorageError) -> Self {
        Self { error, retryable: false }
    }
}

impl From<io::Error> for StorageAttemptError {
    fn from(cause: io::Error) -> Self {
        StorageError::Io(cause).into()
    }
}

/// The message of the HTTP library is not used because it contains the signed address.
impl From<reqwest::Error> for StorageAttemptError {
    fn from(cause: reqwest::Error) -> Self {
        let message = if cause.is_timeout() {
            "the storage did not respond in time"
        } else if cause.is_connect() {
            "the storage cannot be reached"
        } else {
            "the connection to the storage broke"
        };
        Self { error: StorageError::service(message), retryable: true }
    }
}

fn error_code(description: &str) -> Option<String> {
    let document = Document::parse(description).ok()?;
    let code = document.descendants().find(|node| node.has_tag_name("Code"))?;
    Some(sanitized_token(code.text()?)).filter(|code| !code.is_empty())
}

/// A word from outside, reduced to safe characters.
pub fn sanitized_token(word: &str) -> String {
    word.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect()
}
