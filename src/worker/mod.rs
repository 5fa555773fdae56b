//! Runs the background task of the interface, the only part of it that waits for the network.
//!
//! One task receives commands and sends events. Each request runs in its own task, and pictures first wait for one of a
//! few slots. Every request gets exactly one response, unless its lane was cancelled or has a newer request, which
//! aborts the older task. Aborting only saves work, because the core drops stale responses anyway.

mod custom_command;
mod disk_cache;
mod handed_over_files;
mod login_requests;
mod model_requests;
mod options;
mod request_handler;
mod thumbnails;

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tessera_client::{Client, RequestRecorder};
use tessera_interface::message::{Lane, Request, Response, Ticket, WorkerEvent};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    task::{AbortHandle, JoinError, JoinSet},
};

use crate::{state::StateFolder, worker::request_handler::RequestHandler};

pub use disk_cache::DiskCacheOptions;
pub use options::WorkerOptions;
pub(crate) use request_handler::read_folder;

/// A running worker, and the events that it sends. Dropping this value stops the worker.
#[derive(Debug)]
pub struct Worker {
    commands: mpsc::UnboundedSender<WorkerCommand>,
    pub events: mpsc::UnboundedReceiver<WorkerEvent>,
}

/// Starts the worker of `client` and `state` on the current tokio runtime. The channels are unbounded because the
/// interface must never wait. Their length stays small, because the interface requests only what is on the screen.
pub fn spawn(client: Client, state: StateFolder, mut options: WorkerOptions) -> Worker {
    let (commands, command_receiver) = mpsc::unbounded_channel();
    let (events, event_receiver) = mpsc::unbounded_channel();
    let client = client.clone().with_recorder(event_recorder(client, events.clone()));
    let warnings = events.clone();
    let client = client.with_field_warnings(move |sentence| {
        let _ = warnings.send(WorkerEvent::Warning(sentence));
    });
    if let Some(warning) = options.later_warning.take() {
        let events = events.clone();
        tokio::spawn(async move {
            if let Some(sentence) = warning.await {
                let _ = events.send(WorkerEvent::Warning(sentence));
            }
        });
    }
    let worker_loop = WorkerLoop {
        handler: Arc::new(RequestHandler::new(client, state, options, events.clone())),
        events,
        tasks: JoinSet::new(),
        active: HashMap::new(),
        queued_pictures: VecDeque::new(),
        picture_slots: Arc::new(Semaphore::new(PICTURES_IN_FLIGHT)),
    };
    tokio::spawn(worker_loop.run(command_receiver));
    Worker { commands, events: event_receiver }
}

/// Reports every request, and every new token.
fn event_recorder(client: Client, events: mpsc::UnboundedSender<WorkerEvent>) -> RequestRecorder {
    let reported = AtomicU64::new(0);
    RequestRecorder::new(move |exchange| {
        // A send fails only while the program is ending.
        let _ = events.send(WorkerEvent::Exchange(exchange));
        if let Some(expires_at) = client.token_expires_at()
            && reported.swap(expires_at.as_secs(), Ordering::Relaxed) != expires_at.as_secs()
        {
            let _ = events.send(WorkerEvent::TokenIssued(expires_at));
        }
    })
}

impl Worker {
    /// Sends a request, and cancels an older request of the same lane.
    pub fn send(&self, ticket: Ticket, request: Request) {
        // The worker outlives every sender, so this send cannot fail.
        let _ = self.commands.send(WorkerCommand::Send(ticket, request));
    }

    pub fn cancel(&self, lane: Lane) {
        let _ = self.commands.send(WorkerCommand::Cancel(lane));
    }
}

const PICTURES_IN_FLIGHT: usize = 6;

enum WorkerCommand {
    Send(Ticket, Request),
    Cancel(Lane),
}

struct WorkerLoop {
    handler: Arc<RequestHandler>,
    events: mpsc::UnboundedSender<WorkerEvent>,
    tasks: JoinSet<Response>,
    /// The requests that may be aborted. Writes are not among them, so that only the end of the worker stops writes,
    /// which waits for them for a few seconds.
    active: HashMap<Lane, (u64, AbortHandle)>,
    /// Picture requests that wait for a slot, oldest first.
    queued_pictures: VecDeque<(Ticket, Request)>,
    picture_slots: Arc<Semaphore>,
}

impl WorkerLoop {
    async fn run(mut self, mut commands: mpsc::UnboundedReceiver<WorkerCommand>) {
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
        if ticket.lane.is_cancellable() {
            self.active.insert(ticket.lane, (ticket.number, abort));
        }
    }

    fn cancel_lane(&mut self, lane: &Lane) {
        self.queued_pictures.retain(|(ticket, _)| ticket.lane != *lane);
        if let Some((_, abort)) = self.active.remove(lane) {
            abort.abort();
        }
    }

    fn finish(&mut self, outcome: Result<Response, JoinError>) {
        // The only other outcome is that the task was cancelled.
        if let Ok(response) = outcome
            && self.is_awaited(&response.ticket)
        {
            // A send fails only while the program is ending.
            let _ = self.events.send(WorkerEvent::Response(response));
        }
    }

    /// Removes a finished request, and returns whether its response is still wanted.
    fn is_awaited(&mut self, ticket: &Ticket) -> bool {
        if !ticket.lane.is_cancellable() {
            return true;
        }
        let current = self.active.get(&ticket.lane).map(|(number, _)| *number);
        current == Some(ticket.number) && self.active.remove(&ticket.lane).is_some()
    }
}
