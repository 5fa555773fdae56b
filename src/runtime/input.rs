//! Reads terminal input after the probe, which reads the input first.
//!
//! The reader is not a thread: the loop waits until input is available and then reads it. The
//! reader can therefore pause at any time, and no thread is left behind that would consume the
//! reply to another query.

use std::{
    io::{self, Stdin},
    time::{Duration, Instant},
};

use crossterm::event::{self, MouseButton, MouseEventKind};
use rustix::io::ioctl_fionread;
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

/// The timeout of a read. It is long enough for crossterm to read what is available. With a timeout of zero, crossterm
/// does not try to read.
const READ_TIMEOUT: Duration = Duration::from_millis(1);

pub(super) struct InputReader {
    probe: Option<JoinHandle<Capabilities>>,
    /// Signals that input is available.
    terminal: AsyncFd<Stdin>,
    late_replies: LateReplyFilter,
    /// The last position of the mouse while no button was pressed, until the event loop takes it.
    pub(super) motion: Option<(u16, u16)>,
}

impl InputReader {
    pub(super) fn new() -> io::Result<Self> {
        #[expect(
            deprecated,
            reason = "its successor is unsafe for descriptors that may be closed; standard input is not"
        )]
        let terminal = AsyncFd::with_interest(io::stdin(), Interest::READABLE)?;
        Ok(Self {
            probe: None,
            terminal,
            late_replies: LateReplyFilter::new(Instant::now()),
            motion: None,
        })
    }

    pub(super) fn start_probe(&mut self, environment: Environment, forced: Option<Protocol>) {
        let probe = tokio::task::spawn_blocking(move || probe::probe(&environment, forced));
        self.probe = Some(probe);
    }

    /// Returns the next events and, once, the result of the probe. If the mouse was only moved, there are no events.
    pub(super) async fn next_events(&mut self) -> (Vec<Event>, Option<Capabilities>) {
        if let Some(probe) = &mut self.probe {
            let capabilities = probe.await;
            self.probe = None;
            // If the probe fails, the terminal keeps its initial settings.
            let Ok(capabilities) = capabilities else {
                return (Vec::new(), None);
            };
            let typed =
                capabilities.typed_bytes.iter().copied().filter_map(key_from_byte).map(Event::Key);
            return (typed.collect(), Some(capabilities));
        }
        loop {
            let Ok(mut ready) = self.terminal.readable().await else {
                // The terminal is gone, so this waits forever until the hang-up thread ends the
                // program.
                return std::future::pending().await;
            };
            if ready.ready().is_read_closed() {
                // Reading from a closed terminal would spin.
                return std::future::pending().await;
            }
            let mut events = Vec::new();
            while let Ok(true) = event::poll(READ_TIMEOUT) {
                match event::read() {
                    Ok(event::Event::Key(key)) if self.late_replies.drops(Instant::now(), &key) => {
                    }
                    Ok(event::Event::Mouse(mouse)) if mouse.kind == MouseEventKind::Moved => {
                        self.motion = Some((mouse.column, mouse.row));
                    }
                    Ok(report) => events.extend(event_from_terminal(report)),
                    Err(_) => return std::future::pending().await,
                }
            }
            // Readiness is reported once for all input, so it is cleared only when no input is
            // left.
            if ioctl_fionread(io::stdin()).unwrap_or(0) == 0 {
                ready.clear_ready();
            }
            if !events.is_empty() || self.motion.is_some() {
                return (events, None);
            }
        }
    }
}

fn event_from_terminal(report: event::Event) -> Option<Event> {
    match report {
        event::Event::Key(key) => Chord::from_terminal(key).map(Event::Key),
        event::Event::Paste(text) => Some(Event::Paste(text)),
        event::Event::Mouse(mouse) => {
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
        // A signal reports the new size, even when nothing is read.
        event::Event::Resize(..) => None,
        event::Event::FocusGained => Some(Event::WindowFocus(true)),
        event::Event::FocusLost => Some(Event::WindowFocus(false)),
    }
}

/// Converts a byte that was typed during the probe. Longer sequences are dropped.
fn key_from_byte(byte: u8) -> Option<Chord> {
    let key = match byte {
        b'\r' | b'\n' => Key::Enter,
        b'\t' => Key::Tab,
        0x7F => Key::Backspace,
        b' '..=b'~' => Key::Char(char::from(byte)),
        3 => return Some(Chord { ctrl: true, ..Chord::plain(Key::Char('c')) }),
        _ => return None,
    };
    Some(Chord::plain(key))
}
