//! Collects what leaves the core while an event is handled: requests with their tickets, other effects, and
//! notifications. Come here to send something, or to see how stale responses are detected.
//!
//! A lane of reads has at most one open ticket. Opening the lane again, or cancelling it, makes the response to the
//! older ticket stale, so `close` returns `false` for that ticket. The worker also aborts such requests, but only
//! to save work. Correctness depends only on this check. A write is never superseded, because the user must read
//! what each write did.

use std::{collections::BTreeMap, mem};

use tessera_config::{Destination, NotificationMethod, custom_command::ReadyCommand};
use tessera_model::{StateValue, Timestamp};
use tessera_picture::Protocol;

use crate::app::prelude::*;
use crate::{app::Notifications, message::Ticket, printable_text::PrintableText};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobAlert {
    Bell,
    Desktop(SafeText),
    /// Progress of the active jobs, in percent if it is known.
    Activity(Activity),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    pub active_jobs: usize,
    /// The average percentage of the jobs whose progress is known.
    pub percent: Option<u8>,
}

/// What is known about a copied text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyOutcome {
    /// The text is in these places.
    Copied(Vec<&'static str>),
    /// The terminal does not say what it does with the text.
    SentToTerminal,
    /// The text was printed, because there is no screen.
    Printed,
}

/// A text that is being copied.
#[derive(Debug)]
struct PendingCopy {
    level: Level,
    /// What the text is, such as `id`.
    name: String,
    /// The text as it is shown.
    excerpt: String,
}

/// What the core asks the runtime to do. Effects are plain values, so that tests can compare them.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Send(Ticket, Request),
    Cancel(Lane),
    /// Sends `Event::Wake` at this time, which replaces an earlier time.
    WakeAt(Uptime),
    /// Copies a text and sends `Event::Copied`.
    Copy(PrintableText),
    Edit(String),
    /// Gives the terminal to a command, and sends `Event::TerminalTaskDone` at its end.
    RunInTerminal(ReadyCommand),
    CaptureMouse(bool),
    /// Draws pictures with this protocol from now on, and saves the choice for this terminal.
    SaveProtocol(Protocol),
    Alert(JobAlert),
    /// Draws everything and sends all pictures again.
    Redraw,
    Suspend,
    Quit,
    OpenDeployment(Destination),
}

/// The time of the event that is being handled, and what is sent because of the event.
#[derive(Debug, Default)]
pub struct Outbox {
    /// The time of day at which the program was started.
    started_at: Timestamp,
    pub now: Uptime,
    pub(in crate::app) tickets: Tickets,
    pub notifications: Notifications,
    effects: Vec<Effect>,
    pending_copy: Option<PendingCopy>,
    /// The time for which `Event::Wake` was last requested.
    next_wake: Option<Uptime>,
}

impl Outbox {
    pub(in crate::app) fn new(setup: &Setup) -> Self {
        Self {
            started_at: setup.started_at,
            notifications: Notifications::of_warnings(&setup.settings.warnings),
            ..Self::default()
        }
    }

    /// Returns the time of day of the event.
    pub fn clock(&self) -> Timestamp {
        self.started_at + self.now
    }

    pub fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub fn take_effects(&mut self) -> Vec<Effect> {
        mem::take(&mut self.effects)
    }

    pub fn send(&mut self, lane: Lane, request: Request) {
        let ticket = self.tickets.open(lane, self.now);
        self.effects.push(Effect::Send(ticket, request));
    }

    /// Sends a request before all other effects of this event, so that a crash cannot lose the request after the user
    /// saw a later effect.
    pub fn send_first(&mut self, lane: Lane, request: Request) {
        let ticket = self.tickets.open(lane, self.now);
        self.effects.insert(0, Effect::Send(ticket, request));
    }

    /// Saves a part of the state.
    pub(in crate::app) fn save(&mut self, value: StateValue) {
        self.send(Lane::SaveState(value.key()), Request::SaveState(value));
    }

    pub fn cancel(&mut self, lane: Lane) {
        if self.tickets.cancel(&lane) {
            self.effects.push(Effect::Cancel(lane));
        }
    }

    pub(in crate::app) fn cancel_matching(&mut self, is_unneeded: impl Fn(&Lane) -> bool) {
        let unneeded = self.tickets.lanes().filter(|lane| is_unneeded(lane)).cloned();
        for lane in unneeded.collect::<Vec<_>>() {
            self.cancel(lane);
        }
    }

    /// Copies a text. What happened to the text is reported when the runtime knows it.
    pub(in crate::app) fn copy(
        &mut self,
        level: Level,
        name: &str,
        excerpt: String,
        text: PrintableText,
    ) {
        self.pending_copy = Some(PendingCopy { level, name: name.to_owned(), excerpt });
        self.push(Effect::Copy(text));
    }

    pub(in crate::app) fn copied(&mut self, outcome: &CopyOutcome) {
        let Some(PendingCopy { level, name, excerpt }) = self.pending_copy.take() else { return };
        let text = match outcome {
            CopyOutcome::Copied(places) => {
                format!("copied the {name} to {}: {excerpt}", places.join(" and to "))
            }
            CopyOutcome::SentToTerminal => {
                format!(
                    "sent the {name} to the terminal, which may put it into the clipboard: {excerpt}"
                )
            }
            CopyOutcome::Printed => format!("printed the {name}: {excerpt}"),
        };
        self.notify(level, text);
    }

    pub fn notify(&mut self, level: Level, text: impl AsRef<str>) {
        self.notifications.push(self.now, level, text);
    }

    /// Flips a switch, and says what it does now.
    pub(in crate::app) fn toggle(&mut self, switch: &mut bool, on: &str, off: &str) {
        *switch = !*switch;
        self.notify(Level::Success, if *switch { on } else { off });
    }

    /// Says that a job has ended, if the user wants to read it.
    pub(in crate::app) fn toast(&mut self, text: impl AsRef<str>, setup: &Setup) {
        if setup.settings.ui.notify.contains(&NotificationMethod::Toast) {
            self.notify(Level::Success, text);
        }
    }

    pub fn notify_failure(&mut self, failure: &Failure) {
        self.notify(Level::Error, failure.to_string());
    }

    /// Sets the time of the next `Event::Wake`, if it has changed.
    pub fn wake_at(&mut self, time: Option<Uptime>) {
        if time != self.next_wake {
            self.next_wake = time;
            self.effects.extend(time.map(Effect::WakeAt));
        }
    }
}

#[derive(Debug, Default)]
pub struct Tickets {
    last_number: u64,
    /// The numbers of the open tickets of each lane, oldest first, and when each was opened.
    open: BTreeMap<Lane, Vec<(u64, Uptime)>>,
}

impl Tickets {
    /// Opens `lane`. An older ticket of the lane becomes stale, unless its request is never superseded.
    pub fn open(&mut self, lane: Lane, now: Uptime) -> Ticket {
        self.last_number += 1;
        let tickets = self.open.entry(lane.clone()).or_default();
        if lane.is_superseded() {
            tickets.clear();
        }
        tickets.push((self.last_number, now));
        Ticket { lane, number: self.last_number }
    }

    /// Closes the ticket of a response. Returns `false` if it is stale.
    pub fn close(&mut self, ticket: &Ticket) -> bool {
        let current = self.is_current(ticket);
        if let Some(tickets) = self.open.get_mut(&ticket.lane) {
            tickets.retain(|(number, _)| *number != ticket.number);
            if tickets.is_empty() {
                self.open.remove(&ticket.lane);
            }
        }
        current
    }

    /// Forgets the open tickets of `lane`. Returns whether there was one.
    pub fn cancel(&mut self, lane: &Lane) -> bool {
        self.open.remove(lane).is_some()
    }

    pub fn is_current(&self, ticket: &Ticket) -> bool {
        let mut open = self.open.get(&ticket.lane).into_iter().flatten();
        open.any(|(number, _)| *number == ticket.number)
    }

    pub fn is_open(&self, lane: &Lane) -> bool {
        self.open.contains_key(lane)
    }

    pub fn opened_at(&self, lane: &Lane) -> Option<Uptime> {
        self.open.get(lane)?.last().map(|(_, since)| *since)
    }

    pub fn lanes(&self) -> impl Iterator<Item = &Lane> {
        self.open.keys()
    }

    /// Returns the number of open requests. The screen shows it, and tests use it to know that
    /// nothing is pending.
    pub fn outstanding(&self) -> usize {
        self.open.values().map(Vec::len).sum()
    }
}
