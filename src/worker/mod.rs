//! The background task of the interface, and the only part of it that waits for the network.
//!
//! One task receives commands and sends events. Each request runs in its own task, and pictures
//! first wait for one of a few slots. Every request gets exactly one response, unless its lane was
//! cancelled or has a newer request.

mod decoded_pictures;
mod disk_cache;
mod external_viewer;
mod login;
mod request_handler;
mod thumbnails;
mod worker_loop;

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::mpsc;

pub use disk_cache::DiskCacheOptions;

use crate::{
    message::{Lane, Request, RequestProgress, Response, Ticket},
    state::StateFolder,
    usecase::KeyPairOwner,
    worker::{
        login::LoginRequests,
        worker_loop::{WorkerCommand, WorkerLoop},
    },
};
use tessera_client::{Client, RequestRecorder};
use tessera_model::{RequestRecord, SafeText, Timestamp};

#[derive(Clone, Debug, PartialEq)]
pub enum WorkerEvent {
    Response(Response),
    Progress(RequestProgress),
    Exchange(RequestRecord),
    /// The client has a new token, which expires at this time.
    TokenIssued(Timestamp),
    /// Something outside of the requests does not work, or a field of a response cannot be read. Each warning is
    /// reported once.
    Warning(SafeText),
}

/// The handle of the worker. Dropping the handle stops the worker.
#[derive(Debug)]
pub struct Worker {
    commands: mpsc::UnboundedSender<WorkerCommand>,
}

/// Resolves to a warning that is only known later, or to none.
pub type LaterWarning = Pin<Box<dyn Future<Output = Option<SafeText>> + Send>>;

#[derive(Default)]
pub struct WorkerOptions {
    /// Where thumbnails are stored. `None` stores none.
    pub disk_cache: Option<DiskCacheOptions>,
    /// How a new login is stored. `None` if the login cannot be replaced.
    pub key_pair_owner: Option<Arc<KeyPairOwner>>,
    pub later_warning: Option<LaterWarning>,
}

/// Starts the worker of `client` and `state` on the current tokio runtime. The channels are unbounded because the
/// interface must never wait. Their length stays small, because the interface requests only what is on the screen.
pub fn spawn(
    client: Client,
    state: StateFolder,
    options: WorkerOptions,
) -> (Worker, mpsc::UnboundedReceiver<WorkerEvent>) {
    let (commands, command_receiver) = mpsc::unbounded_channel();
    let (events, event_receiver) = mpsc::unbounded_channel();
    let client = client.clone().with_recorder(event_recorder(client, events.clone()));
    let warnings = events.clone();
    let client = client.with_field_warnings(move |sentence| {
        let _ = warnings.send(WorkerEvent::Warning(sentence));
    });
    if let Some(warning) = options.later_warning {
        let events = events.clone();
        tokio::spawn(async move {
            if let Some(sentence) = warning.await {
                let _ = events.send(WorkerEvent::Warning(sentence));
            }
        });
    }
    let login = LoginRequests { client: client.clone(), owner: options.key_pair_owner };
    let worker_loop = WorkerLoop::new((client, login), state, options.disk_cache, events);
    tokio::spawn(worker_loop.run(command_receiver));
    (Worker { commands }, event_receiver)
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
