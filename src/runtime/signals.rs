//! Signals and the vanished terminal, each watched by a thread of its own, so that the program
//! ends even while the loop is stuck in a write to a terminal that takes nothing.

use std::{io, os::fd::AsFd, thread, time::Duration};

use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::{
    consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH},
    iterator::Signals,
};
use tokio::sync::mpsc;

use crate::runtime::terminal;

/// How long the loop has to end by itself before it is ended.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// What the outside wants of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// End with this exit code (128 + number).
    Exit(i32),
    /// Give the terminal back and stop.
    Suspend,
    /// Go on after a stop.
    Resume,
    /// The screen has another size.
    Resized,
}

/// The signals that have come, for whoever has the terminal now.
pub type SignalReceiver = mpsc::UnboundedReceiver<Signal>;

/// Watches for signals, for as long as the process lives.
///
/// # Errors
/// The handlers cannot be set.
pub fn watch_signals() -> io::Result<SignalReceiver> {
    let (sender, received) = mpsc::unbounded_channel();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH])?;
    let gone = sender.clone();
    thread::Builder::new().name("signals".into()).spawn(move || {
        for number in signals.forever() {
            let signal = match number {
                SIGTSTP => Signal::Suspend,
                SIGCONT => Signal::Resume,
                SIGWINCH => Signal::Resized,
                ending => Signal::Exit(128 + ending),
            };
            // The receiver goes when the program ends by itself.
            if sender.send(signal).is_err() {
                return;
            }
            if let Signal::Exit(code) = signal {
                exit_after_timeout(code);
            }
        }
    })?;
    thread::Builder::new().name("hang-up".into()).spawn(move || {
        wait_for_hang_up();
        let _ = gone.send(Signal::Exit(128 + SIGHUP));
        exit_after_timeout(128 + SIGHUP);
    })?;
    Ok(received)
}

/// Ends the process if the loop has not done so.
fn exit_after_timeout(code: i32) {
    thread::spawn(move || {
        thread::sleep(EXIT_TIMEOUT);
        terminal::restore();
        std::process::exit(code);
    });
}

/// Returns when the terminal is gone. An input reader would only spin on it.
fn wait_for_hang_up() {
    let stdin = io::stdin();
    loop {
        // No event is asked for: only a hang-up or an error can end the wait.
        let mut watched = [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::empty())];
        match poll(&mut watched, None) {
            Ok(_) if !watched[0].revents().is_empty() => return,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Stops this process as its shell expects; returns when it goes on.
///
/// # Errors
/// The signal cannot be sent.
pub fn suspend_process() -> io::Result<()> {
    signal_hook::low_level::emulate_default_handler(SIGTSTP)
}
