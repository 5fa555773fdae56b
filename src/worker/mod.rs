//! The background task of the terminal interface: it alone waits for the network.
//!
//! One task receives commands and gives out answers. Each request runs beside it; pictures first
//! queue for one of a few places. Every request is answered exactly once, unless its lane was
//! cancelled or asked something newer.

mod folder;
mod lanes;
mod outside;
mod perform;
mod pictures;
mod progress;

use std::{collections::VecDeque, sync::Arc};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    task::{JoinError, JoinSet},
};

use crate::{
    journal::Journal,
    message::{Lane, Progress, Request, Response, Ticket},
    worker::{lanes::Lanes, perform::Desk},
};
use tessera_client::{Client, Witness};
use tessera_model::Exchange;

/// Pictures fetched or decoded at the same time.
const PICTURES_IN_FLIGHT: usize = 6;

/// What the worker has to say.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A request is answered.
    Response(Response),
    /// A long request has come further.
    Progress(Progress),
    /// The client has sent something, and this came of it.
    Exchange(Exchange),
}

/// What the worker is told.
enum Command {
    Send(Ticket, Request),
    Cancel(Lane),
}

/// The way to the worker. It ends, with all that it does, when this is dropped.
#[derive(Debug)]
pub struct Worker {
    commands: mpsc::UnboundedSender<Command>,
}

/// Starts the worker of `client`, which keeps things in `journal`, on the present tokio runtime. Neither channel is bounded: the
/// interface must never wait, and it asks for no more than what is on the screen.
#[must_use]
pub fn spawn(client: Client, journal: Journal) -> (Worker, mpsc::UnboundedReceiver<Reply>) {
    let (commands, inbox) = mpsc::unbounded_channel();
    let (replies, outbox) = mpsc::unbounded_channel();
    let log = replies.clone();
    let client = client.with_witness(Witness::new(move |exchange| {
        // Without a listener the program is ending.
        let _ = log.send(Reply::Exchange(exchange));
    }));
    let shift = Shift {
        desk: Arc::new(Desk::new(client, journal, replies.clone())),
        replies,
        tasks: JoinSet::new(),
        lanes: Lanes::default(),
        wishes: VecDeque::new(),
        places: Arc::new(Semaphore::new(PICTURES_IN_FLIGHT)),
    };
    tokio::spawn(shift.run(inbox));
    (Worker { commands }, outbox)
}

impl Worker {
    /// Asks for `request`; an older request of the same lane is given up.
    pub fn send(&self, ticket: Ticket, request: Request) {
        // The worker outlives every sender, so nothing can be lost here.
        let _ = self.commands.send(Command::Send(ticket, request));
    }

    /// Gives up what a lane is waiting for, unless it is a write.
    pub fn cancel(&self, lane: Lane) {
        let _ = self.commands.send(Command::Cancel(lane));
    }
}

/// The one task that receives.
struct Shift {
    desk: Arc<Desk>,
    replies: mpsc::UnboundedSender<Reply>,
    tasks: JoinSet<Response>,
    lanes: Lanes,
    /// Pictures that wait for a place, first wish first.
    wishes: VecDeque<(Ticket, Request)>,
    places: Arc<Semaphore>,
}

impl Shift {
    async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Command>) {
        loop {
            tokio::select! {
                // Cancellations first: what nobody wants any more must not start.
                biased;
                command = inbox.recv() => match command {
                    Some(Command::Send(ticket, request)) => self.accept(ticket, request),
                    Some(Command::Cancel(lane)) => self.give_up(&lane),
                    None => return,
                },
                Some(outcome) = self.tasks.join_next() => self.answer(outcome),
                Ok(place) = Arc::clone(&self.places).acquire_owned(), if !self.wishes.is_empty() => {
                    if let Some((ticket, request)) = self.wishes.pop_front() {
                        self.start(ticket, request, Some(place));
                    }
                }
            }
        }
    }

    fn accept(&mut self, ticket: Ticket, request: Request) {
        self.give_up(&ticket.lane);
        match ticket.lane {
            Lane::Picture(..) => self.wishes.push_back((ticket, request)),
            Lane::Datasets
            | Lane::Page(_)
            | Lane::Enrichment(_)
            | Lane::Record(_)
            | Lane::Folder(_)
            | Lane::Inspect
            | Lane::Outside
            | Lane::Original
            | Lane::Anchor
            | Lane::Dataset(_)
            | Lane::Curl
            | Lane::Start(_)
            | Lane::Upload(_)
            | Lane::Preflight
            | Lane::Selection
            | Lane::Keep(_)
            | Lane::Recall(_)
            | Lane::Export(_)
            | Lane::Download(_) => self.start(ticket, request, None),
        }
    }

    fn start(&mut self, ticket: Ticket, request: Request, place: Option<OwnedSemaphorePermit>) {
        let desk = Arc::clone(&self.desk);
        let asked = ticket.clone();
        let abort = self.tasks.spawn(async move {
            let response = desk.respond(asked, request).await;
            drop(place);
            response
        });
        self.lanes.open(ticket, abort);
    }

    fn give_up(&mut self, lane: &Lane) {
        self.wishes.retain(|(ticket, _)| ticket.lane != *lane);
        self.lanes.cancel(lane);
    }

    fn answer(&mut self, outcome: Result<Response, JoinError>) {
        // The only other outcome is a request that was given up.
        if let Ok(response) = outcome
            && self.lanes.close(&response.ticket)
        {
            // Without a listener the program is ending.
            let _ = self.replies.send(Reply::Response(response));
        }
    }
}
