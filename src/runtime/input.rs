//! What the person does: first the probe has the terminal, then the reader, and while a picture
//! is shown full size nobody.
//!
//! The reader is no thread: the loop waits until the terminal has something to read, and only then
//! takes what is there. So it can be paused at any moment, and nothing it left behind can eat the
//! answer to somebody else's question.

use std::{
    io::{self, Stdin},
    time::{Duration, Instant},
};

use crossterm::event::{self, Event as Report, MouseButton, MouseEventKind};
use tokio::{
    io::{Interest, unix::AsyncFd},
    task::JoinHandle,
};

use crate::{
    app::{Event, Mouse, MouseKind},
    input::{Chord, Key},
    runtime::probe::{self, Capabilities, Environment, LateReplyFilter},
};
use tessera_picture::Protocol;

/// Reads what the person does.
pub(super) struct InputReader {
    /// The probe, until it has ended.
    probe: Option<JoinHandle<Capabilities>>,
    /// Tells when the terminal has something to read.
    terminal: AsyncFd<Stdin>,
    late_replies: LateReplyFilter,
}

impl InputReader {
    /// Reads nothing before `probe`.
    ///
    /// # Errors
    /// Standard input cannot be waited for.
    pub(super) fn new() -> io::Result<Self> {
        #[expect(
            deprecated,
            reason = "its successor is unsafe for descriptors that may be closed; standard input is not"
        )]
        let terminal = AsyncFd::with_interest(io::stdin(), Interest::READABLE)?;
        Ok(Self { probe: None, terminal, late_replies: LateReplyFilter::new(Instant::now()) })
    }

    /// Asks what the terminal can draw, on a thread of its own: it may wait for the terminal, we
    /// may not.
    pub(super) fn start_probe(&mut self, environment: Environment, wanted: Option<Protocol>) {
        let probe = tokio::task::spawn_blocking(move || probe::probe(&environment, wanted));
        self.probe = Some(probe);
    }

    /// The next things the person does; once, what the terminal can draw.
    pub(super) async fn next_events(&mut self) -> (Vec<Event>, Option<Capabilities>) {
        if let Some(probe) = &mut self.probe {
            let found = probe.await;
            self.probe = None;
            // A probe that failed has found nothing: what was assumed before stays.
            let Ok(found) = found else {
                return (Vec::new(), None);
            };
            let typed = found.typed_bytes.iter().copied().filter_map(key_from_byte).map(Event::Key);
            return (typed.collect(), Some(found));
        }
        loop {
            let Ok(mut ready) = self.terminal.readable().await else {
                // The terminal is gone; the hang-up watch ends the program.
                return std::future::pending().await;
            };
            if ready.ready().is_read_closed() {
                // A reader would spin on a terminal that is gone.
                return std::future::pending().await;
            }
            let mut events = Vec::new();
            while let Ok(true) = event::poll(Duration::ZERO) {
                match event::read() {
                    Ok(Report::Key(key)) if self.late_replies.drops(Instant::now(), &key) => {}
                    Ok(report) => events.extend(event_from_terminal(report)),
                    Err(_) => return std::future::pending().await,
                }
            }
            ready.clear_ready();
            if !events.is_empty() {
                return (events, None);
            }
        }
    }

    /// Waits for any key or click.
    pub(super) async fn wait_for_key_or_click(&mut self) {
        loop {
            let (events, _) = self.next_events().await;
            let pressed = |event: &Event| {
                matches!(event, Event::Key(_) | Event::Mouse(Mouse { kind: MouseKind::Click, .. }))
            };
            if events.iter().any(pressed) {
                return;
            }
        }
    }
}

/// A report of the terminal in the words of the core.
fn event_from_terminal(report: Report) -> Option<Event> {
    match report {
        Report::Key(key) => Chord::from_terminal(key).map(Event::Key),
        Report::Paste(text) => Some(Event::Paste(text)),
        Report::Mouse(mouse) => {
            let kind = match mouse.kind {
                MouseEventKind::Down(MouseButton::Left) => MouseKind::Click,
                MouseEventKind::Drag(MouseButton::Left) => MouseKind::Drag,
                MouseEventKind::Up(MouseButton::Left) => MouseKind::Release,
                MouseEventKind::Down(MouseButton::Right) => MouseKind::RightClick,
                MouseEventKind::ScrollUp => MouseKind::WheelUp,
                MouseEventKind::ScrollDown => MouseKind::WheelDown,
                _ => return None,
            };
            Some(Event::Mouse(Mouse { column: mouse.column, row: mouse.row, kind }))
        }
        // A new size is told by its signal, which comes also when nothing is read.
        Report::Resize(..) => None,
        Report::FocusGained => Some(Event::WindowFocus(true)),
        Report::FocusLost => Some(Event::WindowFocus(false)),
    }
}

/// A byte typed while the probe was listening; longer sequences are not worth keeping.
fn key_from_byte(byte: u8) -> Option<Chord> {
    let key = match byte {
        b'\r' | b'\n' => Key::Enter,
        b'\t' => Key::Tab,
        0x7F => Key::Backspace,
        b' '..=b'~' => Key::Char(char::from(byte)),
        3 => {
            return Some(Chord { ctrl: true, ..Chord::plain(Key::Char('c')) });
        }
        _ => return None,
    };
    Some(Chord::plain(key))
}
