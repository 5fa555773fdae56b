//! Undoes what a command has changed on the terminal, such as hidden input or a progress bar, before a signal ends or
//! stops the program. An interrupt drops the work of a command, and with it the changes.

use std::{
    fs::File,
    io,
    sync::{Once, mpsc},
    thread,
    time::Duration,
};

use parking_lot::Mutex;
use rustix::{process::getpgrp, termios::tcgetpgrp};
use signal_hook::{
    consts::{SIGCONT, SIGINT, SIGTSTP, SIGTTOU},
    iterator::Signals,
    low_level::{emulate_default_handler, raise},
};

use crate::process_signals::{self, TERMINATION_SIGNALS};

/// How long a signal waits for a terminal that accepts no output.
const UNDO_TIMEOUT: Duration = Duration::from_millis(500);

type Step = Box<dyn FnMut() -> io::Result<()> + Send>;

struct Change {
    id: u64,
    is_made: bool,
    make: Step,
    undo: Step,
}

impl Change {
    fn make(&mut self) -> io::Result<()> {
        (self.make)().inspect(|()| self.is_made = true)
    }

    fn undo(&mut self) {
        if std::mem::take(&mut self.is_made) {
            // The error is ignored, because the terminal may be gone.
            let _ = (self.undo)();
        }
    }
}

static CHANGES: Mutex<Vec<Change>> = Mutex::new(Vec::new());

/// A change of the terminal, which is undone on drop.
#[derive(Debug)]
pub(super) struct TerminalChange(u64);

impl TerminalChange {
    /// Makes a change now, and again when the program continues after a stop.
    ///
    /// # Errors
    /// `make` failed. The change is undone, because a part of it may have been made.
    pub(super) fn new(
        make: impl FnMut() -> io::Result<()> + Send + 'static,
        undo: impl FnMut() -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        static WATCH: Once = Once::new();
        // If the signals cannot be watched, they end or stop the program at once, as they do in other programs.
        WATCH.call_once(|| drop(watch_signals()));
        let mut changes = CHANGES.lock();
        let id = changes.last().map_or(0, |last| last.id + 1);
        let mut change = Change { id, is_made: true, make: Box::new(make), undo: Box::new(undo) };
        change.make().inspect_err(|_| change.undo())?;
        changes.push(change);
        Ok(Self(id))
    }

    /// Replaces how the change is made, and makes it in this way unless the program is about to stop.
    pub(super) fn replace(&self, make: impl FnMut() -> io::Result<()> + Send + 'static) {
        if let Some(change) = CHANGES.lock().iter_mut().find(|it| it.id == self.0) {
            change.make = Box::new(make);
            if change.is_made {
                // The error is ignored, because the terminal may be gone.
                let _ = change.make();
            }
        }
    }
}

impl Drop for TerminalChange {
    fn drop(&mut self) {
        let mut changes = CHANGES.lock();
        if let Some(index) = changes.iter().position(|it| it.id == self.0) {
            changes.remove(index).undo();
        }
    }
}

/// Whether the shell has put this program into the background, where it must not change the settings of the terminal.
pub(super) fn is_in_background() -> bool {
    File::open("/dev/tty").is_ok_and(|it| tcgetpgrp(it).is_ok_and(|group| group != getpgrp()))
}

/// Stops a program in the background until the shell brings it to the foreground.
///
/// # Errors
/// The program is still in the background, or cannot be stopped.
pub(super) fn wait_for_foreground() -> io::Result<()> {
    if is_in_background() {
        stop()?;
    }
    if is_in_background() {
        return Err(io::Error::other("the program is in the background"));
    }
    Ok(())
}

/// Stops the program until the shell continues it. The system ignores this signal if no shell could continue the
/// program, whereas it would obey SIGSTOP.
fn stop() -> io::Result<()> {
    raise(SIGTTOU)
}

fn watch_signals() -> io::Result<()> {
    let ending = TERMINATION_SIGNALS.iter().copied().filter(|signal| *signal != SIGINT);
    let handled = process_signals::not_ignored(ending.chain([SIGTSTP, SIGCONT]));
    let mut signals = Signals::new(handled)?;
    thread::Builder::new().name("terminal-changes".into()).spawn(move || {
        for signal in signals.forever() {
            match signal {
                SIGCONT => make_again(),
                SIGTSTP => {
                    undo_all();
                    // A signal that cannot be raised does not stop the program, so the changes are made again.
                    let _ = stop();
                    make_again();
                }
                ending => {
                    undo_all();
                    let _ = emulate_default_handler(ending);
                    // The library takes SIGIO for a signal that does nothing by default.
                    std::process::exit(128 + ending);
                }
            }
        }
    })?;
    Ok(())
}

/// Undoes the changes. Another thread does so, because the terminal may have stopped its output.
pub(super) fn undo_all() {
    let (sender, undone) = mpsc::channel();
    thread::spawn(move || {
        CHANGES.lock().iter_mut().rev().for_each(Change::undo);
        sender.send(())
    });
    let _ = undone.recv_timeout(UNDO_TIMEOUT);
}

/// Makes the changes that were undone. A change that fails is made when the program continues the next time.
fn make_again() {
    for change in CHANGES.lock().iter_mut().filter(|it| !it.is_made) {
        let _ = change.make();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_change_is_undone_once_and_made_again_as_it_was_made_last() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let step = |name| {
            let log = Arc::clone(&log);
            move || {
                log.lock().push(name);
                Ok(())
            }
        };
        let change = TerminalChange::new(step("10%"), step("clear")).unwrap();
        change.replace(step("20%"));
        undo_all();
        change.replace(step("30%"));
        undo_all();
        make_again();
        make_again();
        drop(change);
        assert_eq!(*log.lock(), ["10%", "20%", "clear", "30%", "clear"]);
    }
}
