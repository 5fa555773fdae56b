//! The errors of object storage. Their messages are safe for clients, because they contain neither signed addresses nor
//! secrets.

use std::{error::Error, fmt, io};

use object_store::client::HttpError;
use roxmltree::Document;
use tessera_crypto::certificate_problem;
use tessera_files::error_name;
use tessera_model::SafeText;
use tessera_proxy::used_proxy;

use super::object_uri::CloudService;
use crate::ingest::unavailable;

const MISSING: &str = "it does not exist";

#[derive(Debug)]
pub enum StorageError {
    /// This object is not available, but other objects may be.
    Object(String),
    /// The object does not exist.
    Missing,
    /// Access to the object is denied, perhaps because the access key has expired.
    Denied(String),
    /// The storage does not send the object, although it may exist. For example, it is archived, its key is disabled,
    /// or its bucket is wrong. Other objects may be available.
    Refused(String),
    /// The deployment cannot use the storage at all.
    Service(String),
    /// The service cannot be reached or is overloaded, so that the request may succeed later.
    Temporary(String),
    Io(io::Error),
}

#[derive(Clone, Debug)]
pub struct StorageAttemptError {
    pub error: StorageError,
    /// Whether another attempt may succeed.
    pub retryable: bool,
}

impl Clone for StorageError {
    fn clone(&self) -> Self {
        match self {
            Self::Object(message) => Self::Object(message.clone()),
            Self::Missing => Self::Missing,
            Self::Denied(message) => Self::Denied(message.clone()),
            Self::Refused(message) => Self::Refused(message.clone()),
            Self::Service(message) => Self::Service(message.clone()),
            Self::Temporary(message) => Self::Temporary(message.clone()),
            Self::Io(cause) => Self::Io(cause.kind().into()),
        }
    }
}

impl StorageError {
    pub fn object(message: impl Into<String>) -> Self {
        Self::Object(message.into())
    }

    pub fn refused(message: impl Into<String>) -> Self {
        Self::Refused(message.into())
    }

    pub fn service(message: impl Into<String>) -> Self {
        Self::Service(message.into())
    }

    /// Adds that the listing of `uri` failed.
    pub(super) fn in_listing(self, uri: &str) -> Self {
        let message = list_error(uri, &self.to_string());
        match self {
            Self::Temporary(_) => Self::Temporary(message),
            Self::Missing => Self::Object(message),
            Self::Object(_) | Self::Denied(_) | Self::Refused(_) => Self::Refused(message),
            Self::Service(_) | Self::Io(_) => Self::Service(message),
        }
    }

    /// Converts the error to an I/O error of a file.
    pub fn into_io(self) -> io::Error {
        match self {
            Self::Object(reason) => io::Error::new(io::ErrorKind::NotFound, reason),
            Self::Missing => io::Error::new(io::ErrorKind::NotFound, MISSING),
            Self::Denied(reason) | Self::Refused(reason) => {
                io::Error::new(io::ErrorKind::PermissionDenied, reason)
            }
            Self::Service(reason) => unavailable(reason),
            Self::Temporary(reason) => io::Error::new(io::ErrorKind::HostUnreachable, reason),
            Self::Io(cause) => cause,
        }
    }

    /// Describes a response for which another attempt is useless. `unsigned` is the service if the request was not
    /// signed.
    pub(crate) fn from_response(
        status: u16,
        description: &str,
        unsigned: Option<CloudService>,
    ) -> Self {
        let code = error_code(description).unwrap_or_default();
        match (code.as_str(), status) {
            ("NoSuchBucket" | "ContainerNotFound", _) => Self::refused("the bucket does not exist"),
            ("NoSuchKey" | "NoSuchUpload" | "BlobNotFound", _) | ("", 404) => Self::Missing,
            ("PreconditionFailed" | "ConditionNotMet", _) | ("", 412) => {
                Self::object("it has changed while it was read")
            }
            ("InvalidRange", _) | ("", 416) => Self::object("it is shorter than it was"),
            ("InvalidObjectState" | "BlobArchived", _) => {
                Self::refused("it is archived; restore it first")
            }
            (
                "InvalidAccessKeyId"
                | "InvalidToken"
                | "SignatureDoesNotMatch"
                | "AuthenticationFailed",
                _,
            ) => Self::service("the access key of this deployment is not accepted"),
            ("ExpiredToken", _) => {
                Self::service("the session token of this deployment has expired")
            }
            ("RequestTimeTooSkewed", _) => Self::service("the clock of this machine is wrong"),
            (
                "AccessDenied"
                | "AuthenticationRequired"
                | "AuthorizationFailure"
                | "AuthorizationPermissionMismatch"
                | "NoAuthenticationInformation"
                | "PublicAccessNotPermitted",
                _,
            )
            | ("", 401 | 403) => Self::Denied(match unsigned {
                None => "access is denied".to_owned(),
                Some(service) => format!(
                    "access is denied; start the deployment with {} set",
                    service.credential_hint()
                ),
            }),
            // Without an error document, the response is not about the object.
            ("", status) => Self::service(format!("the storage responded with {status}")),
            (code, status) => Self::Refused(refusal(status, code, description)),
        }
    }
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object(message)
            | Self::Denied(message)
            | Self::Refused(message)
            | Self::Service(message)
            | Self::Temporary(message) => f.write_str(message),
            Self::Missing => f.write_str(MISSING),
            Self::Io(cause) => write!(f, "it cannot be written to disk ({})", error_name(cause)),
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

/// Replaces the message of the HTTP library, because it contains the signed address.
impl From<&reqwest::Error> for StorageAttemptError {
    fn from(cause: &reqwest::Error) -> Self {
        if let Some(problem) = certificate_problem(cause) {
            return StorageError::service(problem).into();
        }
        let message = if cause.is_timeout() {
            "the storage did not respond in time"
        } else if cause.is_connect() {
            "the storage cannot be reached"
        } else {
            "the connection to the storage broke"
        };
        let proxy = cause.url().and_then(used_proxy);
        let proxy = proxy.map(|proxy| format!(", through the proxy {proxy}")).unwrap_or_default();
        Self { error: StorageError::service(format!("{message}{proxy}")), retryable: true }
    }
}

impl From<object_store::Error> for StorageAttemptError {
    fn from(error: object_store::Error) -> Self {
        cause_in_library(&error)
    }
}

impl From<HttpError> for StorageAttemptError {
    fn from(error: HttpError) -> Self {
        cause_in_library(&error)
    }
}

/// Finds the cause inside an error of the library, whose messages contain addresses. If no known cause is found, the
/// response could not be read.
fn cause_in_library(error: &(dyn Error + 'static)) -> StorageAttemptError {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(failed) = error.downcast_ref::<StorageAttemptError>() {
            return failed.clone();
        }
        if let Some(failed) = error.downcast_ref::<reqwest::Error>() {
            return failed.into();
        }
        cause = error.source();
    }
    not_object_storage()
}

impl fmt::Display for StorageAttemptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for StorageAttemptError {}

pub(crate) fn not_object_storage() -> StorageAttemptError {
    StorageError::service("the server is not an object storage service").into()
}

fn error_code(description: &str) -> Option<String> {
    let document = Document::parse(description).ok()?;
    let code = document.descendants().find(|node| node.has_tag_name("Code"))?;
    Some(sanitized_token(code.text()?)).filter(|code| !code.is_empty())
}

pub(crate) fn ensure(
    valid: bool,
    error: impl FnOnce() -> StorageError,
) -> Result<(), StorageError> {
    if valid { Ok(()) } else { Err(error()) }
}

/// Describes a response with an unknown error code.
fn refusal(status: u16, code: &str, description: &str) -> String {
    if code.starts_with("KMS") {
        return format!("its encryption key cannot be used ({code}); enable the key");
    }
    let response = format!("the storage responded with {status} {code}");
    if description.contains("Server Side Encryption") {
        return format!(
            "{response}, as for an object with a key of its owner (SSE-C); copy it without such a key"
        );
    }
    response
}

/// Whether an error document says that the storage is overloaded or lost the connection, which some services say with a
/// status of 400.
pub(crate) fn is_overload(description: &str) -> bool {
    error_code(description).is_some_and(|code| {
        code.contains("Throttl")
            || ["RequestTimeout", "RequestLimitExceeded", "SlowDown"].contains(&code.as_str())
    })
}

/// Reduces a word from outside to safe characters.
pub(crate) fn sanitized_token(word: &str) -> String {
    word.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect()
}

/// Returns the message for a failed listing, which is the message of the API with the reason.
pub fn list_error(uri: &str, reason: &str) -> String {
    let uri = SafeText::file_name(uri);
    let message = format!("Invalid S3 URI or no media files found at {uri}");
    if reason.is_empty() { message } else { format!("{message} ({reason})") }
}
