//! The background task of the terminal interface, the only one that waits for the network.
//!
//! One task receives commands and sends events. Each request runs in its own task; pictures first
//! wait for one of a few slots. Every request gets exactly one response, unless its lane was
//! cancelled or has a newer request.

mod external_viewer;
mod folder_listing;
mod lanes;
mod progress_throttle;
mod request_handler;
mod thumbnail_loader;

use std::{collections::VecDeque, sync::Arc};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    task::{JoinError, JoinSet},
};

use crate::{
    message::{Lane, Request, RequestProgress, Response, Ticket},
    state::StateStore,
    worker::{lanes::CancellableRequests, request_handler::RequestHandler},
};
use tessera_client::{Client, RequestRecorder};
use tessera_model::RequestRecord;

const PICTURES_IN_FLIGHT: usize = 6;

#[derive(Clone, Debug, PartialEq)]
pub enum WorkerEvent {
    Response(Response),
    Progress(RequestProgress),
    Exchange(RequestRecord),
}

enum WorkerCommand {
    Send(Ticket, Request),
    Cancel(Lane),
}

/// The handle of the worker, which stops when this is dropped.
#[derive(Debug)]
pub struct Worker {
    commands: mpsc::UnboundedSender<WorkerCommand>,
}

/// Starts the worker of `client` and `state` on the current tokio runtime. The channels are
/// unbounded: the interface must never wait, and it requests only what is on the screen.
#[must_use]
pub fn spawn(client: Client, state: StateStore) -> (Worker, mpsc::UnboundedReceiver<WorkerEvent>) {
    let (commands, command_receiver) = mpsc::unbounded_channel();
    let (events, event_receiver) = mpsc::unbounded_channel();
    let log = events.clone();
    let client = client.with_recorder(RequestRecorder::new(move |exchange| {
        // Without a listener the program is ending.
        let _ = log.send(WorkerEvent::Exchange(exchange));
    }));
    let worker_loop = WorkerLoop {
        handler: Arc::new(RequestHandler::new(client, state, events.clone())),
        events,
        tasks: JoinSet::new(),
        lanes: CancellableRequests::default(),
        queued_pictures: VecDeque::new(),
        picture_slots: Arc::new(Semaphore::new(PICTURES_IN_FLIGHT)),
    };
    tokio::spawn(worker_loop.run(command_receiver));
    (Worker { commands }, event_receiver)
}

impl Worker {
    /// Sends a request and cancels an older one of the same lane.
    pub fn send(&self, ticket: Ticket, request: Request) {
        // The worker outlives every sender, so nothing is lost here.
        let _ = self.commands.send(WorkerCommand::Send(ticket, request));
    }

    /// Cancels the request of a lane, unless it is a write.
    pub fn cancel(&self, lane: Lane) {
        let _ = self.commands.send(WorkerCommand::Cancel(lane));
    }
}

/// The receiving task.
struct WorkerLoop {
    handler: Arc<RequestHandler>,
    events: mpsc::UnboundedSender<WorkerEvent>,
    tasks: JoinSet<Response>,
    lanes: CancellableRequests,
    /// Pictures that wait for a slot, oldest first.
    queued_pictures: VecDeque<(Ticket, Request)>,
    picture_slots: Arc<Semaphore>,
}

impl WorkerLoop {
    async fn run(mut self, mut commands: mpsc::UnboundedReceiver<WorkerCommand>) {
        loop {
            tokio::select! {
                // Cancellations first, so that no cancelled request starts.
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
        match ticket.lane {
            Lane::Picture(..) => self.queued_pictures.push_back((ticket, request)),
            Lane::Datasets
            | Lane::Page(_)
            | Lane::Enrichment(_)
            | Lane::Record(_)
            | Lane::Folder(_)
            | Lane::Inspect
            | Lane::OpenExternally
            | Lane::Original
            | Lane::Anchor
            | Lane::Dataset(_)
            | Lane::Curl
            | Lane::StartJob(_)
            | Lane::Upload(_)
            | Lane::Preflight
            | Lane::Selection
            | Lane::SaveState(_)
            | Lane::LoadState(_)
            | Lane::Export(_)
            | Lane::Download(_) => self.start(ticket, request, None),
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
        // The only other outcome is a cancelled request.
        if let Ok(response) = outcome
            && self.lanes.finish(&response.ticket)
        {
            // Without a listener the program is ending.
            let _ = self.events.send(WorkerEvent::Response(response));
        }
    }
}
