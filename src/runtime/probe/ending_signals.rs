//! Keeps the terminal usable if a signal ends the program while the terminal is in raw mode for queries.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use signal_hook::{consts::SIGINT, flag};

use crate::process_signals::{self, ENDING};

/// Notes signals that would end the program, instead of letting them act.
pub(super) struct EndingSignals {
    /// The last signal, or 0.
    last_signal: Arc<AtomicUsize>,
    /// Whether signals end the program again. Their handlers stay, because the library cannot remove them.
    act: Arc<AtomicBool>,
}

impl EndingSignals {
    pub(super) fn hold_back() -> io::Result<Self> {
        let (last_signal, act) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        for signal in process_signals::heeded(ENDING.iter().copied()) {
            // The commands handle an interrupt themselves when the terminal is restored.
            if signal != SIGINT {
                flag::register_conditional_default(signal, Arc::clone(&act))?;
            }
            let number = signal.unsigned_abs() as usize;
            flag::register_usize(signal, Arc::clone(&last_signal), number)?;
        }
        Ok(Self { last_signal, act })
    }

    /// Lets the signals act again, and ends the program if one came meanwhile. The terminal must have been restored.
    pub(super) fn release(self) {
        self.act.store(true, Ordering::SeqCst);
        match i32::try_from(self.last_signal.load(Ordering::SeqCst)) {
            Ok(0) | Err(_) => {}
            Ok(signal) => std::process::exit(128 + signal),
        }
    }
}
