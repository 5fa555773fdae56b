//! The task of the worker: receives commands, starts requests and sends their responses.

use std::{collections::VecDeque, sync::Arc};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    task::{JoinError, JoinSet},
};

use crate::{
    message::{Lane, Request, Response, Ticket},
    state::StateStore,
    worker::{
        DiskCacheOptions, WorkerEvent, lanes::CancellableRequests, login::LoginRequests,
        request_handler::RequestHandler,
    },
};
use tessera_client::Client;

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
    /// Pictures that wait for a slot, oldest first.
    queued_pictures: VecDeque<(Ticket, Request)>,
    picture_slots: Arc<Semaphore>,
}

impl WorkerLoop {
    pub(super) fn new(
        client: (Client, LoginRequests),
        state: StateStore,
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
        // The only other outcome is a cancelled request.
        if let Ok(response) = outcome
            && self.lanes.finish(&response.ticket)
        {
            // Without a listener the program is ending.
            let _ = self.events.send(WorkerEvent::Response(response));
        }
    }
}
