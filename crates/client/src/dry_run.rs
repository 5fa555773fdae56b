//! A dry run: the request of a command is recorded; preparing requests are sent.

use std::sync::{Arc, Mutex, PoisonError};

use reqwest::header::HeaderName;

use crate::{request::ApiRequest, retry_table::ApiOperation};
use tessera_model::{Failure, ShellCommand};

/// The operations that are not sent, and the first such request.
#[derive(Clone, Debug)]
pub struct DryRun {
    operations: &'static [ApiOperation],
    request: Arc<Mutex<Option<DryRunRequest>>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DryRunRequest {
    pub method: &'static str,
    /// The full URL. It contains no login.
    pub url: String,
    /// The `curl` command. The token is not included: the shell inserts it.
    pub curl: ShellCommand,
}

impl DryRun {
    pub fn new(operations: &'static [ApiOperation]) -> Self {
        Self { operations, request: Arc::default() }
    }

    pub fn request(&self) -> Option<DryRunRequest> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn take_request(&self) -> Option<DryRunRequest> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns the failure that ends the command, if the request belongs to the dry run.
    pub(super) fn intercept(
        &self,
        login: Option<&HeaderName>,
        request: &ApiRequest,
    ) -> Option<Failure> {
        if !self.operations.contains(&request.operation) {
            return None;
        }
        let request = DryRunRequest {
            method: request.method(),
            url: request.url.to_string(),
            curl: request.curl(login),
        };
        self.request.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(request);
        Some(Failure::local("dry run: nothing was sent"))
    }
}
