//! Watches signals and the terminal on separate threads, so that the program ends even if the loop
//! is blocked in a write.

use std::{io, os::fd::AsFd, thread, time::Duration};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::retry_on_intr,
};
use signal_hook::{
    consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH},
    iterator::Signals,
};
use tokio::sync::mpsc;

use crate::runtime::terminal;

/// How long the loop may take to end before the process is ended. Together with the time to restore
/// the terminal, a signal ends the program within 2 seconds.
const EXIT_TIMEOUT: Duration = Duration::from_millis(1500);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The program exits with this code (128 + the signal's number).
    Exit(i32),
    Suspend,
    Resume,
    Resized,
}

pub type SignalReceiver = mpsc::UnboundedReceiver<Signal>;

pub fn watch_signals() -> io::Result<SignalReceiver> {
    let (sender, received) = mpsc::unbounded_channel();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH])?;
    let hang_up = sender.clone();
    thread::Builder::new().name("signals".into()).spawn(move || {
        for number in signals.forever() {
            let signal = match number {
                SIGTSTP => Signal::Suspend,
                SIGCONT => Signal::Resume,
                SIGWINCH => Signal::Resized,
                ending => Signal::Exit(128 + ending),
            };
            // The receiver was dropped, because the program is ending by itself.
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
        let _ = hang_up.send(Signal::Exit(128 + SIGHUP));
        exit_after_timeout(128 + SIGHUP);
    })?;
    Ok(received)
}

/// Ends the process if the loop does not end in time.
fn exit_after_timeout(code: i32) {
    thread::spawn(move || {
        thread::sleep(EXIT_TIMEOUT);
        terminal::restore();
        std::process::exit(code);
    });
}

/// Returns when the terminal is gone. An input reader cannot detect that, because it would only
/// spin.
fn wait_for_hang_up() {
    let stdin = io::stdin();
    // No event is requested, so only a hang-up or an error ends the wait.
    let mut watched = [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::empty())];
    let _ = retry_on_intr(|| poll(&mut watched, None));
}

/// Stops this process as its shell expects, and returns when the process continues.
pub fn suspend_process() -> io::Result<()> {
    signal_hook::low_level::emulate_default_handler(SIGTSTP)
}
