//! A request body that ends with an error when its client stalls or sends too slowly.

use std::{
    error::Error,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    BoxError,
    body::{Body, Bytes},
};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

use super::{problem::Problem, stall_budget::StallBudget};

pub struct TimedBody {
    body: Body,
    budget: StallBudget,
    /// Since when we have been waiting for the client, and until when.
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

#[derive(Debug)]
pub struct BodyTimeout;

impl TimedBody {
    /// `limit` is the longest pause, and the time that a client may be behind the minimum rate.
    pub fn wrap(body: Body, limit: Duration) -> Body {
        Body::new(Self { body, budget: StallBudget::new(limit), waiting: None })
    }
}

impl hyper::body::Body for TimedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            let waited = this.waiting.take().map_or(Duration::ZERO, |(since, _)| since.elapsed());
            let bytes = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref());
            this.budget.record(waited, bytes.map_or(0, Bytes::len));
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let left = this.budget.left();
        let (_, timer) =
            this.waiting.get_or_insert_with(|| (Instant::now(), Box::pin(sleep(left))));
        ready!(timer.as_mut().poll(context));
        Poll::Ready(Some(Err(BodyTimeout.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl fmt::Display for BodyTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the client sent too slowly")
    }
}

impl Error for BodyTimeout {}

/// The response to a body that could not be read: 408, or 400 if it broke off.
pub fn body_problem(cause: &axum::Error) -> Problem {
    if is_body_timeout(cause) {
        Problem::body_timeout()
    } else {
        Problem::bad_request("The body broke off")
    }
}

pub fn is_body_timeout(cause: &(dyn Error + 'static)) -> bool {
    cause.is::<BodyTimeout>() || cause.source().is_some_and(is_body_timeout)
}
