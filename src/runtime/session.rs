//! The core with its worker, without a terminal, so that tests can run it.

use std::time::{Duration, Instant};

use tokio::{sync::mpsc, time::timeout};

use crate::{
    app::{App, Effect, Event, Uptime},
    message::Lane,
    worker::{Worker, WorkerEvent},
};
use tessera_client::trace::Trace;

use crate::runtime::trace_events::SessionTrace;

/// The longest time that the end of the program waits for a disk.
const SAVE_LIMIT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Session {
    pub app: App,
    worker: Worker,
    worker_events: mpsc::UnboundedReceiver<WorkerEvent>,
    /// When the core needs [`Event::Wake`].
    pub next_wake: Option<Uptime>,
    pub trace: SessionTrace,
}

impl Session {
    pub fn new(
        app: App,
        (worker, worker_events): (Worker, mpsc::UnboundedReceiver<WorkerEvent>),
    ) -> Self {
        Self { app, worker, worker_events, next_wake: None, trace: SessionTrace(Trace::disabled()) }
    }

    pub fn with_trace(self, trace: Trace) -> Self {
        Self { trace: SessionTrace(trace), ..self }
    }

    /// Passes one event to the core, and returns the effects that need a terminal.
    pub fn apply(&mut self, now: Uptime, event: Event) -> Vec<Effect> {
        let mut outside = Vec::new();
        // An overlay may prompt for a secret.
        let description = self.trace.describe_event(&event, self.app.overlay().is_some());
        let started = Instant::now();
        let effects = self.app.update(now, event);
        self.trace.write_event(description.as_ref(), started.elapsed());
        for effect in effects {
            match effect {
                Effect::Send(ticket, request) => {
                    self.trace.write_request(&ticket);
                    self.worker.send(ticket, request);
                }
                Effect::Cancel(lane) => self.worker.cancel(lane),
                Effect::WakeAt(moment) => self.next_wake = Some(moment),
                effect => outside.push(effect),
            }
        }
        outside
    }

    /// The next event of the worker; cancel-safe.
    pub async fn next_worker_event(&mut self) -> Option<Event> {
        self.worker_events.recv().await.map(event_from_worker)
    }

    /// Waits until the last changes are saved, for example after a key that ends the program, or until
    /// five seconds have passed: the worker ends with this session.
    pub async fn finish_saves(&mut self, start: Instant) {
        let deadline = Instant::now() + SAVE_LIMIT;
        while self.app.tickets().lanes().any(|lane| matches!(lane, Lane::SaveState(_))) {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(Some(event)) = timeout(left, self.next_worker_event()).await else { return };
            self.apply(start.elapsed(), event);
        }
    }

    pub fn try_worker_event(&mut self) -> Option<Event> {
        self.worker_events.try_recv().ok().map(event_from_worker)
    }
}

fn event_from_worker(reply: WorkerEvent) -> Event {
    match reply {
        WorkerEvent::Response(response) => Event::Response(response),
        WorkerEvent::Progress(progress) => Event::Progress(progress),
        WorkerEvent::Exchange(exchange) => Event::Exchange(exchange),
        WorkerEvent::TokenIssued(expires_at) => Event::TokenIssued(expires_at),
        WorkerEvent::Warning(sentence) => Event::Warning(sentence),
    }
}
