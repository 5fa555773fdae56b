//! The loop of the worker. It starts a task for each request, aborts the tasks that a newer request of the same lane
//! makes useless, and limits reports of progress. Aborting only saves work, because the core drops stale responses
//! anyway.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use tessera_client::Client;
use tessera_model::Failure;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    task::{AbortHandle, JoinError, JoinSet},
};

use crate::{
    message::{Lane, Request, Response, Ticket},
    state::StateFolder,
    worker::{
        DiskCacheOptions, WorkerEvent, login::LoginRequests, request_handler::RequestHandler,
    },
};

const PICTURES_IN_FLIGHT: usize = 6;

pub(super) enum WorkerCommand {
    Send(Ticket, Request),
    Cancel(Lane),
}

pub(super) struct WorkerLoop {
    handler: Arc<RequestHandler>,
    events: mpsc::UnboundedSender<WorkerEvent>,
    tasks: JoinSet<Response>,
    lanes: CancellableRequests,
    /// Picture requests that wait for a slot, oldest first.
    queued_pictures: VecDeque<(Ticket, Request)>,
    picture_slots: Arc<Semaphore>,
}

impl WorkerLoop {
    pub(super) fn new(
        client: (Client, LoginRequests),
        state: StateFolder,
        disk_cache: Option<DiskCacheOptions>,
        events: mpsc::UnboundedSender<WorkerEvent>,
    ) -> Self {
        let handler = RequestHandler::new(client, state, disk_cache, events.clone());
        Self {
            handler: Arc::new(handler),
            events,
            tasks: JoinSet::new(),
            lanes: CancellableRequests::default(),
            queued_pictures: VecDeque::new(),
            picture_slots: Arc::new(Semaphore::new(PICTURES_IN_FLIGHT)),
        }
    }

    pub(super) async fn run(mut self, mut commands: mpsc::UnboundedReceiver<WorkerCommand>) {
        loop {
            tokio::select! {
                // Commands are handled before a queued picture request starts, so that a cancelled
                // request never starts.
                biased;
                command = commands.recv() => match command {
                    Some(WorkerCommand::Send(ticket, request)) => self.accept(ticket, request),
                    Some(WorkerCommand::Cancel(lane)) => self.cancel_lane(&lane),
                    None => return,
                },
                Some(outcome) = self.tasks.join_next() => self.finish(outcome),
                Ok(slot) = Arc::clone(&self.picture_slots).acquire_owned(), if !self.queued_pictures.is_empty() => {
                    if let Some((ticket, request)) = self.queued_pictures.pop_front() {
                        self.start(ticket, request, Some(slot));
                    }
                }
            }
        }
    }

    fn accept(&mut self, ticket: Ticket, request: Request) {
        self.cancel_lane(&ticket.lane);
        if matches!(ticket.lane, Lane::Picture(..)) {
            self.queued_pictures.push_back((ticket, request));
        } else {
            self.start(ticket, request, None);
        }
    }

    fn start(&mut self, ticket: Ticket, request: Request, slot: Option<OwnedSemaphorePermit>) {
        let handler = Arc::clone(&self.handler);
        let request_ticket = ticket.clone();
        let abort = self.tasks.spawn(async move {
            let response = handler.handle(request_ticket, request).await;
            drop(slot);
            response
        });
        self.lanes.insert(ticket, abort);
    }

    fn cancel_lane(&mut self, lane: &Lane) {
        self.queued_pictures.retain(|(ticket, _)| ticket.lane != *lane);
        self.lanes.cancel(lane);
    }

    fn finish(&mut self, outcome: Result<Response, JoinError>) {
        // The only other outcome is that the task was cancelled.
        if let Ok(response) = outcome
            && self.lanes.finish(&response.ticket)
        {
            // A send fails only while the program is ending.
            let _ = self.events.send(WorkerEvent::Response(response));
        }
    }
}

#[derive(Default)]
pub(super) struct CancellableRequests {
    active: HashMap<Lane, (u64, AbortHandle)>,
}

impl CancellableRequests {
    /// Registers a request. Writes are not registered, because nothing may stop them.
    pub(super) fn insert(&mut self, ticket: Ticket, abort: AbortHandle) {
        if ticket.lane.is_cancellable() {
            self.active.insert(ticket.lane, (ticket.number, abort));
        }
    }

    pub(super) fn cancel(&mut self, lane: &Lane) {
        if let Some((_, abort)) = self.active.remove(lane) {
            abort.abort();
        }
    }

    /// Removes a finished request and returns whether its response is still wanted.
    pub(super) fn finish(&mut self, ticket: &Ticket) -> bool {
        if !ticket.lane.is_cancellable() {
            return true;
        }
        let current = self.active.get(&ticket.lane).map(|(number, _)| *number);
        current == Some(ticket.number) && self.active.remove(&ticket.lane).is_some()
    }
}

const MIN_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Default)]
pub(super) struct ProgressThrottle {
    last_report: Option<Instant>,
}

impl ProgressThrottle {
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        let due = self.last_report.is_none_or(|latest| now >= latest + MIN_INTERVAL);
        if due {
            self.last_report = Some(now);
        }
        due
    }
}

/// Runs blocking work on a blocking thread. A panic becomes an internal error.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(Failure::internal_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_ten_reports_per_second() {
        let start = Instant::now();
        let mut throttle = ProgressThrottle::default();
        let reports = (0..1_000).filter(|&ms| throttle.is_due(start + Duration::from_millis(ms)));
        assert_eq!(reports.count(), 10);
    }
}
