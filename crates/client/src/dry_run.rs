//! A rehearsal: the request that a command is about is written down instead of sent. What leads up to
//! it, such as finding a dataset by its name, is really asked.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{client::Client, request::ApiRequest, retry_table::ApiOperation};
use tessera_model::{Failure, FailureKind};

/// Which operations are written down, and the first one that was.
#[derive(Clone, Debug)]
pub struct DryRun {
    operations: &'static [ApiOperation],
    request: Arc<Mutex<Option<DryRunRequest>>>,
}

/// A request that was not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DryRunRequest {
    /// `GET` or `POST`.
    pub method: &'static str,
    /// The whole address; it holds no login.
    pub url: String,
    /// The same as a command. The token stays out of it: the shell puts it in.
    pub curl: String,
}

impl DryRun {
    /// A rehearsal of these operations.
    #[must_use]
    pub fn new(operations: &'static [ApiOperation]) -> Self {
        Self { operations, request: Arc::default() }
    }

    /// The request that would have been sent.
    #[must_use]
    pub fn request(&self) -> Option<DryRunRequest> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The same, and then forgets it.
    #[must_use]
    pub fn take_request(&self) -> Option<DryRunRequest> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Takes the place of sending: the failure that ends the command, if it is about this request.
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
    /// The same client, which writes down what `rehearsal` is about.
    #[must_use]
    pub fn with_dry_run(self, rehearsal: DryRun) -> Self {
        let mut transport = self.transport.as_ref().clone();
        transport.dry_run = Some(rehearsal);
        Self { transport: Arc::new(transport) }
    }
}
