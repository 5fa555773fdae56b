//! Reads what the terminal sends, and turns it into events. Replies to the probe arrive among the keys.
//!
//! The reader is not a thread: the loop waits until input is available and then reads it. The reader can therefore
//! pause at any time, and no thread is left behind that would consume the input of another program.

use std::{
    io::{self, Stdin},
    time::Instant,
};

use futures_util::future::OptionFuture;
use rustix::io::ioctl_fionread;
use tessera_config::input::{Sequence, SequenceSplitter, TerminalInput, decode};
use tessera_interface::app::Event;
use tessera_picture::Protocol;
use tokio::{
    io::{Interest, unix::AsyncFd},
    task::JoinHandle,
};

use crate::runtime::probe::{Capabilities, Environment, INTERFACE_QUERIES, Probe};

pub(super) struct InputReader {
    /// A probe that queries the terminal as soon as tmux has described it.
    prepared_probe: Option<JoinHandle<Probe>>,
    probe: Option<Probe>,
    /// Signals that input is available.
    terminal: AsyncFd<Stdin>,
    splitter: SequenceSplitter,
    /// When the unfinished sequence ends without its rest.
    expires: Option<Instant>,
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
        let splitter = SequenceSplitter::default();
        let (prepared_probe, probe, expires, motion) = (None, None, None, None);
        Ok(Self { prepared_probe, probe, terminal, splitter, expires, motion })
    }

    /// Begins to probe the terminal. [`Self::next_events`] queries it and reads its replies.
    pub(super) fn start_probe(&mut self, environment: Environment, forced: Option<Protocol>) {
        let prepare = move || Probe::new(environment, forced);
        self.prepared_probe = Some(tokio::task::spawn_blocking(prepare));
    }

    /// Returns the next events and, when a reply decides or changes them, the capabilities of the terminal. If the
    /// mouse was only moved, there are no events. Cancel-safe.
    pub(super) async fn next_events(&mut self) -> (Vec<Event>, Option<Capabilities>) {
        loop {
            let probe_deadline = self.probe.as_ref().and_then(Probe::deadline);
            let sequences = tokio::select! {
                biased;
                sequences = read_sequences(&self.terminal, &mut self.splitter) => sequences,
                () = sleep_until(self.expires) => self.splitter.expire(),
                Some(prepared) = OptionFuture::from(self.prepared_probe.as_mut()) => {
                    self.prepared_probe = None;
                    self.query_terminal(prepared.ok());
                    continue;
                }
                () = sleep_until(probe_deadline) => {
                    let capabilities = self.probe.as_mut().map(Probe::give_up);
                    return (Vec::new(), capabilities);
                }
            };
            self.expires = self.splitter.timeout().map(|timeout| Instant::now() + timeout);
            let (events, capabilities) = self.decode(sequences);
            if !events.is_empty() || capabilities.is_some() || self.motion.is_some() {
                return (events, capabilities);
            }
        }
    }

    fn query_terminal(&mut self, prepared: Option<Probe>) {
        self.probe = prepared;
        // The probe gives up if nothing was sent, and the next frame reports a terminal that cannot be written to.
        let _ = self.probe.as_mut().map(|probe| probe.send_queries(INTERFACE_QUERIES));
    }

    fn decode(&mut self, sequences: Vec<Sequence>) -> (Vec<Event>, Option<Capabilities>) {
        let (mut events, mut capabilities) = (Vec::new(), None);
        for input in sequences.into_iter().flat_map(decode) {
            match input {
                TerminalInput::Key(chord) => events.push(Event::Key(chord)),
                TerminalInput::LayoutKey { typed, latin } => {
                    events.push(Event::LayoutKey { typed, latin });
                }
                TerminalInput::Paste(text) => events.push(Event::Paste(text)),
                TerminalInput::Focus(focused) => events.push(Event::WindowFocus(focused)),
                TerminalInput::MouseMove(column, row) => self.motion = Some((column, row)),
                TerminalInput::Mouse(mouse) => events.push(Event::Mouse(mouse)),
                TerminalInput::Reply(reply) => {
                    let decided = self.probe.as_mut().and_then(|probe| probe.read(&reply));
                    capabilities = decided.or(capabilities);
                }
            }
        }
        (events, capabilities)
    }
}

/// Waits for input and splits it. A terminal that is gone never has input again, and the hang-up thread ends the
/// program.
async fn read_sequences(
    terminal: &AsyncFd<Stdin>,
    splitter: &mut SequenceSplitter,
) -> Vec<Sequence> {
    let mut bytes = [0; 4096];
    let Ok(mut ready) = terminal.readable().await else { return std::future::pending().await };
    if ready.ready().is_read_closed() {
        // Reading from a closed terminal would spin.
        return std::future::pending().await;
    }
    let Ok(count) = rustix::io::read(terminal.get_ref(), &mut bytes) else {
        return std::future::pending().await;
    };
    // Readiness is reported once for all input, so it is cleared only when no input is left.
    if ioctl_fionread(terminal.get_ref()).unwrap_or(0) == 0 {
        ready.clear_ready();
    }
    splitter.feed(&bytes[..count])
}

/// Waits until `instant`, or forever if it is `None`.
pub(crate) async fn sleep_until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant.into()).await,
        None => std::future::pending().await,
    }
}
