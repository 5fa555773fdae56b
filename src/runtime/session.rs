//! Connects a core with its worker: events go in, requests go to the worker, and the other effects come out. If tracing
//! is on, each event is recorded without secrets.

use std::{
    io,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tessera_client::{RequestRecorder, Trace, micros};
use tessera_config::input::Key;
use tessera_interface::{
    app::{App, Effect, Event, Uptime, unfinished_writes},
    message::{Response, Ticket, WorkerEvent},
};
use tokio::time::timeout;

use crate::{process_signals::WRITE_TIMEOUT, runtime::frames::FrameCost, worker::Worker};

#[derive(Debug)]
pub struct RunningApp {
    pub app: App,
    worker: Worker,
    /// When the core needs the next [`Event::Wake`].
    pub next_wake: Option<Uptime>,
    pub trace: SessionTrace,
}

impl RunningApp {
    pub fn new(app: App, worker: Worker, trace: Trace) -> Self {
        Self { app, worker, next_wake: None, trace: SessionTrace(trace) }
    }

    /// Passes one event to the core, and returns the effects that need a terminal.
    pub fn apply(&mut self, now: Uptime, event: Event) -> Vec<Effect> {
        let mut outside = Vec::new();
        // The open overlay may prompt for a secret.
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

    /// Returns the next event of the worker. Fails if the worker has crashed, because this session owns its handle, so
    /// that nothing else ends it. Cancel-safe.
    pub async fn next_worker_event(&mut self) -> io::Result<Event> {
        let crashed = || io::Error::other("internal error: the worker has ended; please report it");
        self.worker.events.recv().await.map(Event::Worker).ok_or_else(crashed)
    }

    /// Waits until all writes are finished, also those that are queued, or until `WRITE_TIMEOUT` has passed. Without this,
    /// changes made just before the program ends would be lost, because the worker ends with this session. Returns what
    /// was not saved.
    pub async fn finish_writes(&mut self, start: Instant) -> Vec<String> {
        let deadline = Instant::now() + WRITE_TIMEOUT;
        let mut failures = Vec::new();
        while self.app.tickets().lanes().any(|lane| !lane.is_cancellable()) {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(Ok(event)) = timeout(left, self.next_worker_event()).await else { break };
            if let Event::Worker(WorkerEvent::Response(Response { ticket, result: Err(failure) })) =
                &event
                && !ticket.lane.is_cancellable()
            {
                failures.push(failure.to_string());
            }
            self.apply(start.elapsed(), event);
        }
        failures.extend(unfinished_writes(&self.app));
        failures
    }

    pub fn try_worker_event(&mut self) -> Option<Event> {
        self.worker.events.try_recv().ok().map(Event::Worker)
    }
}

/// A [`Trace`] with the records that only the interface writes.
#[derive(Clone, Debug)]
pub struct SessionTrace(pub Trace);

impl SessionTrace {
    /// Returns the record of an event, if tracing is on. `secret` is set if typed text may be a
    /// secret.
    pub fn describe_event(&self, event: &Event, secret: bool) -> Option<Value> {
        self.0.is_enabled().then(|| event_json(event, secret))
    }

    pub fn write_event(&self, record: Option<&Value>, took: Duration) {
        self.0.write(|| json!({ "event": record, "took_us": micros(took) }));
    }

    pub fn write_request(&self, ticket: &Ticket) {
        self.0.write(|| json!({ "sent": lane_name(ticket), "number": ticket.number }));
    }

    pub fn write_frame(&self, took: Duration, cost: FrameCost, pictures: usize) {
        let FrameCost { cells, bytes } = cost;
        self.0.write(|| {
            json!({ "frame": { "cells": cells, "bytes": bytes, "pictures": pictures },
                    "took_us": micros(took) })
        });
    }
}

fn event_json(event: &Event, secret: bool) -> Value {
    match event {
        Event::Key(chord) | Event::LayoutKey { typed: chord, .. }
            if secret && matches!(chord.key, Key::Char(_)) =>
        {
            json!({ "key": "…" })
        }
        Event::Key(chord) | Event::LayoutKey { typed: chord, .. } => {
            json!({ "key": chord.to_string() })
        }
        Event::Action(action) => json!({ "action": action.name() }),
        Event::Item(index) => json!({ "item": index }),
        Event::Paste(text) => json!({ "paste": text.len() }),
        Event::Mouse(mouse) => json!({ "mouse": [mouse.column, mouse.row] }),
        Event::Hover(text) => json!({ "hover": text.is_some() }),
        Event::Resize(columns, rows) => json!({ "resize": [columns, rows] }),
        Event::Terminal(protocol, cell) => {
            json!({ "terminal": format!("{protocol:?}"), "cell": [cell.0, cell.1] })
        }
        Event::SixelSide(side) => json!({ "sixel": side }),
        Event::Worker(WorkerEvent::Response(response)) => json!({
            "answered": lane_name(&response.ticket),
            "number": response.ticket.number,
            "ok": response.result.is_ok(),
        }),
        Event::Worker(WorkerEvent::Progress(progress)) => {
            json!({ "progress": lane_name(&progress.ticket) })
        }
        Event::Worker(WorkerEvent::Exchange(exchange)) => RequestRecorder::exchange_json(exchange),
        Event::Worker(WorkerEvent::TokenIssued(expires_at)) => {
            json!({ "token_expires_at": expires_at.as_secs() })
        }
        Event::Worker(WorkerEvent::Warning(sentence)) => json!({ "warning": sentence.as_str() }),
        Event::WindowFocus(attended) => json!({ "focused": attended }),
        Event::Copied(_) => json!("copied"),
        Event::Wake => json!("wake"),
        Event::Edited(text) => json!({ "edited": text.as_ref().map_or(0, String::len) }),
        Event::PixelsUnconfirmed => json!("unproved"),
        Event::TerminalTaskDone(_) => json!("done"),
    }
}

/// Returns the name of the lane without its parameters.
fn lane_name(ticket: &Ticket) -> String {
    format!("{:?}", ticket.lane).chars().take_while(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use tessera_interface::message::Lane;
    use tessera_model::{DatasetId, Failure, FailureKind, Search};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_trace_records_events_but_no_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let trace = SessionTrace(Trace::create(&path).unwrap());
        let key = |key: &str| Event::Key(key.parse().unwrap());
        let write = |event: &Event, secret, took| {
            trace.write_event(trace.describe_event(event, secret).as_ref(), took);
        };
        write(&key("j"), false, Duration::from_micros(9));
        write(&key("S"), true, Duration::ZERO);
        write(&Event::Paste("SECRET".into()), true, Duration::ZERO);
        let lane = Lane::Page(Search::browse(DatasetId(Uuid::from_u128(7))));
        let ticket = Ticket { lane, number: 3 };
        trace.write_request(&ticket);
        let failure = Failure::new(FailureKind::Local, "no SECRET here");
        let response =
            Event::Worker(WorkerEvent::Response(Response { ticket, result: Err(failure) }));
        write(&response, false, Duration::ZERO);
        trace.write_frame(Duration::from_millis(2), FrameCost { cells: 5, bytes: 70 }, 12);
        trace.0.finish().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for line in &mut lines {
            assert!(line.as_object_mut().unwrap().remove("at_us").unwrap().is_u64());
        }
        let expected = [
            json!({ "event": { "key": "j" }, "took_us": 9 }),
            json!({ "event": { "key": "…" }, "took_us": 0 }),
            json!({ "event": { "paste": 6 }, "took_us": 0 }),
            json!({ "sent": "Page", "number": 3 }),
            json!({ "event": { "answered": "Page", "number": 3, "ok": false }, "took_us": 0 }),
            json!({ "frame": { "cells": 5, "bytes": 70, "pictures": 12 }, "took_us": 2000 }),
        ];
        assert_eq!(lines, expected);
        assert!(Trace::create(&path).is_err(), "an old trace is never overwritten");
        assert_eq!(SessionTrace(Trace::disabled()).describe_event(&key("j"), false), None);
    }
}
