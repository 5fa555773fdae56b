//! The core with its worker: events in, requests out, answers back in. It knows no terminal, so
//! the tests drive exactly this.

use std::time::Instant;

use tokio::sync::mpsc;

use crate::{
    app::{App, Effect, Event, Moment},
    worker::{Reply, Worker},
};
use tessera_client::trace::Trace;

use crate::runtime::trace::SessionTrace;

/// A running program without its terminal.
#[derive(Debug)]
pub struct Session {
    /// The core.
    pub app: App,
    worker: Worker,
    replies: mpsc::UnboundedReceiver<Reply>,
    wake: Option<Moment>,
    /// Where all of it is written down.
    pub trace: SessionTrace,
}

impl Session {
    /// A core whose requests go to a worker, and whose answers come from it.
    #[must_use]
    pub fn new(app: App, (worker, replies): (Worker, mpsc::UnboundedReceiver<Reply>)) -> Self {
        Self { app, worker, replies, wake: None, trace: SessionTrace(Trace::off()) }
    }

    /// The same with a trace of what it does.
    #[must_use]
    pub fn traced(self, trace: Trace) -> Self {
        Self { trace: SessionTrace(trace), ..self }
    }

    /// Takes one event through the core. What only a terminal can do is handed back.
    pub fn apply(&mut self, now: Moment, event: Event) -> Vec<Effect> {
        let mut outside = Vec::new();
        for effect in self.update(now, event) {
            match effect {
                Effect::Send(ticket, request) => {
                    self.trace.sent(&ticket);
                    self.worker.send(ticket, request);
                }
                Effect::Cancel(lane) => self.worker.cancel(lane),
                Effect::WakeAt(moment) => self.wake = Some(moment),
                Effect::FullSize(_)
                | Effect::Copy(_)
                | Effect::Graphics(_)
                | Effect::Edit(_)
                | Effect::Mouse(_)
                | Effect::Redraw
                | Effect::Tell(_)
                | Effect::Suspend
                | Effect::Quit
                | Effect::Switch(_) => {
                    outside.push(effect);
                }
            }
        }
        outside
    }

    fn update(&mut self, now: Moment, event: Event) -> Vec<Effect> {
        // A layer may ask for a secret.
        let told = self.trace.words(&event, self.app.overlay.is_some());
        let started = Instant::now();
        let effects = self.app.update(now, event);
        self.trace.event(told.as_ref(), started.elapsed());
        effects
    }

    /// When the core wants to be woken.
    #[must_use]
    pub fn wake(&self) -> Option<Moment> {
        self.wake
    }

    /// The wake has come: it counts once.
    pub fn woken(&mut self) {
        self.wake = None;
    }

    /// The next reply of the worker; safe to drop while waiting.
    pub async fn reply(&mut self) -> Option<Event> {
        self.replies.recv().await.map(event)
    }

    /// A reply that has already come.
    pub fn ready_reply(&mut self) -> Option<Event> {
        self.replies.try_recv().ok().map(event)
    }
}

fn event(reply: Reply) -> Event {
    match reply {
        Reply::Response(response) => Event::Response(response),
        Reply::Progress(progress) => Event::Progress(progress),
        Reply::Exchange(exchange) => Event::Exchange(exchange),
    }
}
