//! One HTTP request and its outcome, for the request log. Contains no token, no header, and only the
//! parameter names of a signed link.

use std::time::Duration;

use crate::SafeText;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRecord {
    pub method: &'static str,
    /// Path and query; with the host when it is not the service's own.
    pub target: SafeText,
    /// From 1.
    pub attempt: u32,
    pub duration: Duration,
    pub bytes_sent: u64,
    pub outcome: RequestOutcome,
    pub retry_in: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    Succeeded {
        status: u16,
        /// Size of the decoded body.
        bytes: u64,
    },
    Rejected {
        status: u16,
        message: Option<SafeText>,
    },
    Failed(SafeText),
}
