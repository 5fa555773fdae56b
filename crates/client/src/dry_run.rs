//! Records the request of a command without sending it, so that a dry run can print this request.

use std::sync::Arc;

use parking_lot::Mutex;
use reqwest::header::HeaderName;

use crate::request::ApiRequest;
use tessera_model::{Failure, ShellCommand};
use tessera_wire::endpoints::Endpoint;

/// The endpoints whose requests are not sent, and the first such request.
#[derive(Clone, Debug)]
pub struct DryRun {
    endpoints: &'static [Endpoint],
    request: Arc<Mutex<Option<DryRunRequest>>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DryRunRequest {
    pub method: &'static str,
    /// The full URL. It contains no login.
    pub url: String,
    /// The `curl` command. The shell inserts the token, so the command does not contain it.
    pub curl: ShellCommand,
}

impl DryRun {
    pub fn new(endpoints: &'static [Endpoint]) -> Self {
        Self { endpoints, request: Arc::default() }
    }

    pub fn request(&self) -> Option<DryRunRequest> {
        self.request.lock().clone()
    }

    pub fn take_request(&self) -> Option<DryRunRequest> {
        self.request.lock().take()
    }

    /// Returns the failure that ends the command if the request belongs to the dry run.
    pub(super) fn intercept(
        &self,
        login: Option<&HeaderName>,
        request: &ApiRequest,
    ) -> Option<Failure> {
        if !self.endpoints.contains(&request.endpoint) {
            return None;
        }
        let request = DryRunRequest {
            method: request.method(),
            url: request.url.to_string(),
            curl: request.curl(login),
        };
        self.request.lock().get_or_insert(request);
        Some(Failure::local("dry run: nothing was sent"))
    }
}
