//! A rehearsal: the request that a command is about is written down instead of sent. What leads up to
//! it, such as finding a dataset by its name, is really asked.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{call::Call, client::Client, operation::Operation};
use tessera_model::{Failure, FailureKind};

/// Which operations are written down, and the first one that was.
#[derive(Clone, Debug)]
pub struct Rehearsal {
    about: &'static [Operation],
    written: Arc<Mutex<Option<Rehearsed>>>,
}

/// A request that was not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rehearsed {
    /// `GET` or `POST`.
    pub method: &'static str,
    /// The whole address; it holds no login.
    pub url: String,
    /// The same as a command. The token stays out of it: the shell puts it in.
    pub curl: String,
}

impl Rehearsal {
    /// A rehearsal of these operations.
    #[must_use]
    pub fn new(about: &'static [Operation]) -> Self {
        Self { about, written: Arc::default() }
    }

    /// The request that would have been sent.
    #[must_use]
    pub fn written(&self) -> Option<Rehearsed> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The same, and then forgets it.
    #[must_use]
    pub fn take(&self) -> Option<Rehearsed> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Takes the place of sending: the failure that ends the command, if it is about this request.
    pub(super) fn intercept(&self, client_login: bool, call: &Call) -> Option<Failure> {
        if !self.about.contains(&call.operation) {
            return None;
        }
        let rehearsed = Rehearsed {
            method: call.method(),
            url: call.url.to_string(),
            curl: call.curl(client_login),
        };
        self.written.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(rehearsed);
        Some(Failure::new(FailureKind::Local, "this is a rehearsal: nothing was sent"))
    }
}

impl Client {
    /// The same client, which writes down what `rehearsal` is about.
    #[must_use]
    pub fn rehearsing(self, rehearsal: Rehearsal) -> Self {
        let mut transport = self.transport.as_ref().clone();
        transport.rehearsal = Some(rehearsal);
        Self { transport: Arc::new(transport) }
    }
}
