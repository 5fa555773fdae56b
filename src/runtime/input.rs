//! What the person does: first the probe has the terminal, then the event stream, and while a
//! picture is shown full size or the program is stopped, nobody.

use std::time::Instant;

use crossterm::event::{Event as Report, EventStream, MouseButton, MouseEventKind};
use futures_util::StreamExt;
use tokio::task::JoinHandle;

use crate::{
    app::{Event, Mouse, MouseKind},
    input::{Chord, Key},
    picture::Protocol,
    runtime::probe::{self, Capabilities, Environment, Stragglers},
};

/// Reads what the person does.
pub(super) struct Input {
    reader: Reader,
    stragglers: Stragglers,
}

/// Who reads from the terminal now.
enum Reader {
    /// The probe does, once.
    Probe(JoinHandle<Capabilities>),
    /// The event stream does.
    Stream(EventStream),
    /// Nobody.
    Nobody,
}

impl Input {
    /// Reads nothing yet.
    pub(super) fn idle() -> Self {
        Self {
            reader: Reader::Nobody,
            stragglers: Stragglers::new(Instant::now()),
        }
    }

    /// Begins with the probe, on a thread of its own: it may wait for the terminal, we may not.
    pub(super) fn probing(environment: Environment, wanted: Option<Protocol>) -> Self {
        let probe = tokio::task::spawn_blocking(move || probe::probe(&environment, wanted));
        Self {
            reader: Reader::Probe(probe),
            stragglers: Stragglers::new(Instant::now()),
        }
    }

    /// Lets go of the terminal.
    pub(super) fn pause(&mut self) {
        self.reader = Reader::Nobody;
    }

    /// Reads again.
    pub(super) fn resume(&mut self) {
        self.reader = Reader::Stream(EventStream::new());
    }

    /// The next thing the person does; once, what the terminal can draw.
    pub(super) async fn next(&mut self) -> (Vec<Event>, Option<Capabilities>) {
        match &mut self.reader {
            Reader::Probe(probe) => {
                let found = probe.await;
                self.resume();
                // A probe that failed has found nothing: what was assumed before stays.
                let Ok(found) = found else {
                    return (Vec::new(), None);
                };
                let typed = found
                    .leftover
                    .iter()
                    .copied()
                    .filter_map(typed)
                    .map(Event::Key);
                (typed.collect(), Some(found))
            }
            Reader::Stream(stream) => loop {
                match stream.next().await {
                    Some(Ok(Report::Key(key))) if self.stragglers.swallow(Instant::now(), &key) => {
                    }
                    Some(Ok(report)) => {
                        if let Some(event) = event(report) {
                            return (vec![event], None);
                        }
                    }
                    // The terminal is gone; the hang-up watch ends the program.
                    Some(Err(_)) | None => return std::future::pending().await,
                }
            },
            Reader::Nobody => std::future::pending().await,
        }
    }

    /// Waits for any key or click.
    pub(super) async fn key(&mut self) {
        loop {
            let (events, _) = self.next().await;
            let pressed = |event: &Event| {
                matches!(
                    event,
                    Event::Key(_)
                        | Event::Mouse(Mouse {
                            kind: MouseKind::Click,
                            ..
                        })
                )
            };
            if events.iter().any(pressed) {
                return;
            }
        }
    }
}

/// A report of the terminal in the words of the core.
fn event(report: Report) -> Option<Event> {
    match report {
        Report::Key(key) => Chord::from_terminal(key).map(Event::Key),
        Report::Paste(text) => Some(Event::Paste(text)),
        Report::Resize(columns, rows) => Some(Event::Resize(columns, rows)),
        Report::Mouse(mouse) => {
            let kind = match mouse.kind {
                MouseEventKind::Down(MouseButton::Left) => MouseKind::Click,
                MouseEventKind::ScrollUp => MouseKind::WheelUp,
                MouseEventKind::ScrollDown => MouseKind::WheelDown,
                _ => return None,
            };
            Some(Event::Mouse(Mouse {
                column: mouse.column,
                row: mouse.row,
                kind,
            }))
        }
        Report::FocusGained | Report::FocusLost => None,
    }
}

/// A byte typed while the probe was listening; longer sequences are not worth keeping.
fn typed(byte: u8) -> Option<Chord> {
    let key = match byte {
        b'\r' | b'\n' => Key::Enter,
        b'\t' => Key::Tab,
        0x7F => Key::Backspace,
        b' '..=b'~' => Key::Char(char::from(byte)),
        3 => {
            return Some(Chord {
                ctrl: true,
                ..Chord::plain(Key::Char('c'))
            });
        }
        _ => return None,
    };
    Some(Chord::plain(key))
}
