//! Watches signals and the terminal on separate threads, so that the program ends even if the loop
//! is blocked in a write.

use std::{
    fs, io,
    os::fd::AsFd,
    process::Stdio,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::retry_on_intr,
    process::{Pid, getpgid, getpid, getppid, getsid},
};
use signal_hook::{
    consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH},
    iterator::Signals,
};
use tokio::sync::mpsc;

use crate::{inherited_signals, runtime::terminal, subprocess};

/// How long the loop may take to end before the process is ended. The time to restore the terminal comes on top: half a
/// second, and 2 seconds more if the terminal has not answered its last query.
const EXIT_TIMEOUT: Duration = Duration::from_millis(1500);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The program exits with this code (128 + the signal's number).
    Exit(i32),
    Suspend,
    Resume,
    Resized,
}

const WATCHED: [i32; 7] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH];
/// Whether this process handles SIGTSTP, which its parent may have ignored.
static STOPS: AtomicBool = AtomicBool::new(false);
/// The maximum number of ancestors that may share the process group of this process.
const MAX_ANCESTORS: usize = 64;

pub type SignalReceiver = mpsc::UnboundedReceiver<Signal>;

pub fn watch_signals() -> io::Result<SignalReceiver> {
    let (sender, received) = mpsc::unbounded_channel();
    let heeded = WATCHED.into_iter().filter(|signal| !inherited_signals::is_ignored(*signal));
    let heeded: Vec<i32> = heeded.collect();
    STOPS.store(heeded.contains(&SIGTSTP), Ordering::SeqCst);
    let mut signals = Signals::new(heeded)?;
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

/// Stops this process, and returns when it continues.
pub fn suspend_process() -> io::Result<()> {
    signal_hook::low_level::emulate_default_handler(SIGTSTP)
}

/// Stops all processes of the job, as the terminal does at Ctrl-Z, and returns when this process continues. A script that
/// waits for this process would otherwise keep the shell waiting.
///
/// A shell that sees the script stop may resume the job at once, and a process that stops itself after that would stay
/// stopped. A child therefore stops this process before it stops the job.
pub fn suspend_job() -> io::Result<()> {
    let mut stopping = subprocess::command("sh");
    stopping.args(["-c", "kill -STOP \"$1\"; kill -TSTP 0", "sh"]);
    let process = getpid().as_raw_nonzero().to_string();
    // The child belongs to the job, so it ends when the job continues.
    match stopping.arg(process).stdin(Stdio::null()).status() {
        Ok(_) => Ok(()),
        Err(_) => suspend_process(),
    }
}

/// Returns whether a shell with job control could resume this job: an ancestor in the same session that is not a part of
/// the job.
pub fn can_be_resumed() -> bool {
    let (Ok(session), Ok(group)) = (getsid(None), getpgid(None)) else { return false };
    if !STOPS.load(Ordering::SeqCst) || session == getpid() {
        return false;
    }
    let mut ancestor = getppid();
    for _ in 0..MAX_ANCESTORS {
        let Some(process) = ancestor else { return false };
        match (getsid(Some(process)), getpgid(Some(process))) {
            (Ok(of_ancestor), Ok(_)) if of_ancestor != session => return false,
            (Ok(_), Ok(of_ancestor)) if of_ancestor != group => return true,
            (Ok(_), Ok(_)) => ancestor = parent_of(process),
            // Only the processes of other sessions are hidden.
            _ => return false,
        }
    }
    false
}

/// Returns the parent of a process, from Linux or from `ps`.
fn parent_of(process: Pid) -> Option<Pid> {
    let number = process.as_raw_nonzero();
    let parent = if let Ok(stat) = fs::read_to_string(format!("/proc/{number}/stat")) {
        // The name of the program, in parentheses, may contain anything.
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.to_owned()
    } else {
        let mut ps = subprocess::command("ps");
        let output = ps.args(["-o", "ppid=", "-p", &number.to_string()]).output().ok()?;
        String::from_utf8(output.stdout).ok()?
    };
    Pid::from_raw(parent.trim().parse().ok()?)
}
