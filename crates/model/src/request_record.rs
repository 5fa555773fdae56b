//! One request and what came of it, for the log that a person can look at. Made without what is
//! secret: no token, no header, and of a signed link only the names of its parameters.

use std::time::Duration;

use crate::SafeText;

/// One attempt of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRecord {
    /// `GET` or `POST`.
    pub method: &'static str,
    /// Path and query; with its host where it is not the service's own.
    pub target: SafeText,
    /// Which attempt of the same request it was, from 1.
    pub attempt: u32,
    /// From its sending to its end.
    pub duration: Duration,
    /// Bytes of a body that was sent.
    pub bytes_sent: u64,
    /// How it ended.
    pub outcome: RequestOutcome,
    /// After which time it is sent again by itself, if it is: the wait that the service asked for,
    /// or one of our own.
    pub retry_in: Option<Duration>,
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// With success.
    Succeeded {
        /// The HTTP status.
        status: u16,
        /// Decoded bytes of the answer.
        bytes: u64,
    },
    /// With another status.
    Rejected {
        /// The HTTP status.
        status: u16,
        /// The words of the service.
        message: Option<SafeText>,
    },
    /// Without a whole answer, for this reason.
    Failed(SafeText),
}
