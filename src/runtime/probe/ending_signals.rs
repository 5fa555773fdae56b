//! Keeps the terminal usable if a signal ends the program while the terminal is in raw mode for queries.

use std::{
    io,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream,
    },
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use signal_hook::{
    SigId,
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM},
    flag,
    low_level::{pipe, unregister},
};

use crate::inherited_signals;

/// Notes signals that would end the program, instead of letting them act.
pub(super) struct EndingSignals {
    /// Becomes readable when a signal comes.
    receiver: UnixStream,
    /// The last signal, or 0.
    last_signal: Arc<AtomicUsize>,
    /// Whether signals end the program again. Their handlers stay, because the library cannot remove them.
    act: Arc<AtomicBool>,
    ids: Vec<SigId>,
}

impl EndingSignals {
    pub(super) fn hold_back() -> io::Result<Self> {
        let (receiver, sender) = UnixStream::pair()?;
        let (last_signal, act) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let mut ids = Vec::new();
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            if inherited_signals::is_ignored(signal) {
                continue;
            }
            // The commands handle an interrupt themselves when the terminal is restored.
            if signal != SIGINT {
                flag::register_conditional_default(signal, Arc::clone(&act))?;
            }
            let number = signal.unsigned_abs() as usize;
            ids.push(flag::register_usize(signal, Arc::clone(&last_signal), number)?);
            // The number is noted before the pipe wakes the reader.
            ids.push(pipe::register(signal, sender.try_clone()?)?);
        }
        Ok(Self { receiver, last_signal, act, ids })
    }

    /// Returns what becomes readable when a signal comes.
    pub(super) fn receiver(&self) -> BorrowedFd<'_> {
        self.receiver.as_fd()
    }

    /// Lets the signals act again, and ends the program if one came meanwhile. The terminal must have been restored.
    pub(super) fn release(self) {
        self.act.store(true, Ordering::SeqCst);
        for id in self.ids {
            unregister(id);
        }
        match i32::try_from(self.last_signal.load(Ordering::SeqCst)) {
            Ok(0) | Err(_) => {}
            Ok(signal) => std::process::exit(128 + signal),
        }
    }
}
