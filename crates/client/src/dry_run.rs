//! A dry run: the request of a command is recorded instead of sent. Preparing requests, such as
//! finding a dataset by name, are sent.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{client::Client, request::ApiRequest, retry_table::ApiOperation};
use tessera_model::{Failure, FailureKind};

/// The operations that are not sent, and the first such request.
#[derive(Clone, Debug)]
pub struct DryRun {
    operations: &'static [ApiOperation],
    request: Arc<Mutex<Option<DryRunRequest>>>,
}

/// A request that was not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DryRunRequest {
    pub method: &'static str,
    /// The full URL. It contains no login.
    pub url: String,
    /// The `curl` command. The token is not included: the shell inserts it.
    pub curl: String,
}

impl DryRun {
    #[must_use]
    pub fn new(operations: &'static [ApiOperation]) -> Self {
        Self { operations, request: Arc::default() }
    }

    #[must_use]
    pub fn request(&self) -> Option<DryRunRequest> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    #[must_use]
    pub fn take_request(&self) -> Option<DryRunRequest> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns the failure that ends the command instead of sending the request, if it belongs to
    /// the dry run.
    pub(super) fn intercept(&self, client_login: bool, call: &ApiRequest) -> Option<Failure> {
        if !self.operations.contains(&call.operation) {
            return None;
        }
        let rehearsed = DryRunRequest {
            method: call.method(),
            url: call.url.to_string(),
            curl: call.curl(client_login),
        };
        self.request.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(rehearsed);
        Some(Failure::new(FailureKind::Local, "this is a rehearsal: nothing was sent"))
    }
}

impl Client {
    /// Records the requests of `dry_run` instead of sending them.
    #[must_use]
    pub fn with_dry_run(self, rehearsal: DryRun) -> Self {
        let mut transport = self.transport.as_ref().clone();
        transport.dry_run = Some(rehearsal);
        Self { transport: Arc::new(transport) }
    }
}
