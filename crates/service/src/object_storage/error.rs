//! Errors of object storage, safe to send to clients: they contain neither addresses (which are
//! signed) nor secrets.

use std::{fmt, io};

use roxmltree::Document;

/// Why an object or a listing is not available.
#[derive(Debug)]
pub enum StorageError {
    /// This object is not available; others may be.
    Object(String),
    /// The storage is not available.
    Service(String),
    /// The local disk cannot be written.
    Io(io::Error),
}

/// A failed attempt.
#[derive(Debug)]
pub enum StorageAttemptError {
    /// Another attempt may succeed.
    Retryable(StorageError),
    /// Another attempt would fail as well.
    Permanent(StorageError),
}

impl StorageError {
    /// Interprets an error response that is not retryable. `keyless` means that the request was not
    /// signed.
    pub(super) fn from_response(status: u16, description: &str, keyless: bool) -> Self {
        let code = error_code(description).unwrap_or_default();
        let storage = |words: &str| StorageError::Service(words.to_owned());
        let object = |words: &str| StorageError::Object(words.to_owned());
        match (code.as_str(), status) {
            ("NoSuchBucket", _) => storage("there is no such bucket"),
            ("NoSuchKey", _) | ("", 404) => object("it does not exist"),
            ("InvalidObjectState", _) => object("it is archived; restore it first"),
            ("InvalidAccessKeyId" | "InvalidToken" | "SignatureDoesNotMatch", _) => {
                storage("the access key of this deployment is not accepted")
            }
            ("ExpiredToken", _) => storage("the session token of this deployment has expired"),
            ("RequestTimeTooSkewed", _) => storage("the clock of this machine is wrong"),
            ("AccessDenied", _) | ("", 401 | 403) if keyless => object(
                "access is denied; start the deployment with AWS_ACCESS_KEY_ID and \
                 AWS_SECRET_ACCESS_KEY set",
            ),
            ("AccessDenied", _) | ("", 401 | 403) => object("access is denied"),
            ("", status) => StorageError::Service(format!("the storage responded with {status}")),
            (code, status) => {
                StorageError::Service(format!("the storage responded with {status} {code}"))
            }
        }
    }
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object(words) | Self::Service(words) => f.write_str(words),
            Self::Io(cause) => write!(f, "it cannot be written to disk ({})", cause.kind()),
        }
    }
}

/// An error without a response. The message of the HTTP library is not used because it contains the
/// signed address.
pub fn transport_error(cause: &reqwest::Error) -> StorageAttemptError {
    let words = if cause.is_timeout() {
        "the storage did not respond in time"
    } else if cause.is_connect() {
        "the storage cannot be reached"
    } else {
        "the connection to the storage broke"
    };
    StorageAttemptError::Retryable(StorageError::Service(words.to_owned()))
}

/// The code in an S3 error document.
fn error_code(description: &str) -> Option<String> {
    let document = Document::parse(description).ok()?;
    let code = document.descendants().find(|node| node.has_tag_name("Code"))?;
    Some(sanitized_token(code.text()?)).filter(|code| !code.is_empty())
}

/// A word from outside, reduced to safe characters.
pub fn sanitized_token(word: &str) -> String {
    word.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect()
}
