//! The background task of the terminal interface, the only one that waits for the network.
//!
//! One task receives commands and sends events. Each request runs in its own task; pictures first
//! wait for one of a few slots. Every request gets exactly one response, unless its lane was
//! cancelled or has a newer request.

mod blocking;
mod decoded_pictures;
mod disk_cache;
mod external_viewer;
mod folder_listing;
mod lanes;
mod login;
mod progress_throttle;
mod request_handler;
mod thumbnail_loader;
mod thumbnail_store;
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
    state::StateStore,
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
    /// A new token, and when it expires.
    TokenIssued(Timestamp),
    /// Something besides the requests does not work, or a field of a response cannot be read; reported
    /// once.
    Warning(SafeText),
}

/// The handle of the worker, which stops when this is dropped.
#[derive(Debug)]
pub struct Worker {
    commands: mpsc::UnboundedSender<WorkerCommand>,
}

/// A warning that is known later, or that there is none.
pub type LaterWarning = Pin<Box<dyn Future<Output = Option<SafeText>> + Send>>;

#[derive(Default)]
pub struct WorkerOptions {
    /// Without one, thumbnails are not stored.
    pub disk_cache: Option<DiskCacheOptions>,
    /// Without one, the login cannot be replaced.
    pub key_pair_owner: Option<Arc<KeyPairOwner>>,
    pub later_warning: Option<LaterWarning>,
}

/// Starts the worker of `client` and `state` on the current tokio runtime. The channels are unbounded:
/// the interface must never wait, and it requests only what is on the screen.
pub fn spawn(
    client: Client,
    state: StateStore,
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
        // Without a listener the program is ending.
        let _ = events.send(WorkerEvent::Exchange(exchange));
        if let Some(expires_at) = client.token_expires_at()
            && reported.swap(expires_at.as_secs(), Ordering::Relaxed) != expires_at.as_secs()
        {
            let _ = events.send(WorkerEvent::TokenIssued(expires_at));
        }
    })
}

impl Worker {
    /// Sends a request and cancels an older one of the same lane.
    pub fn send(&self, ticket: Ticket, request: Request) {
        // The worker outlives every sender, so nothing is lost here.
        let _ = self.commands.send(WorkerCommand::Send(ticket, request));
    }

    pub fn cancel(&self, lane: Lane) {
        let _ = self.commands.send(WorkerCommand::Cancel(lane));
    }
}
