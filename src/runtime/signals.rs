//! Watches signals and the terminal on separate threads, so that the program ends even if the loop
//! is blocked in a write.

use std::{
    io, iter,
    os::fd::AsFd,
    process::Stdio,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::retry_on_intr,
    process::{RawPid, getpid},
};
use signal_hook::{
    consts::{SIGCONT, SIGHUP, SIGTSTP, SIGWINCH},
    iterator::Signals,
};
use tokio::sync::mpsc;

use crate::{
    process_signals::{self, END_TIMEOUT, TERMINATION_SIGNALS},
    runtime::terminal,
    subprocess,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The program exits with this code (128 + the signal's number).
    Exit(i32),
    Suspend,
    Resume,
    Resized,
}

/// Whether this process handles SIGTSTP, which its parent may have ignored.
static HANDLES_SIGTSTP: AtomicBool = AtomicBool::new(false);
/// The maximum number of ancestors that may share the process group of this process.
const MAX_ANCESTORS: usize = 64;

pub type SignalReceiver = mpsc::UnboundedReceiver<Signal>;

pub fn watch_signals() -> io::Result<SignalReceiver> {
    let (sender, received) = mpsc::unbounded_channel();
    let watched = TERMINATION_SIGNALS.iter().copied().chain([SIGTSTP, SIGCONT, SIGWINCH]);
    let handled = process_signals::not_ignored(watched);
    HANDLES_SIGTSTP.store(handled.contains(&SIGTSTP), Ordering::SeqCst);
    let mut signals = Signals::new(handled)?;
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

/// Ends the process if the loop does not end in time. The time to restore the terminal comes on top: half a second, and
/// 2 seconds more if the terminal has not answered its last query.
fn exit_after_timeout(code: i32) {
    thread::spawn(move || {
        thread::sleep(END_TIMEOUT);
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

/// Stops all processes of the job, as the terminal does at Ctrl-Z, and returns when this process continues. A script
/// that waits for this process would otherwise keep the shell waiting.
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

/// Returns whether a shell with job control could resume this job.
pub fn can_be_resumed() -> bool {
    if !HANDLES_SIGTSTP.load(Ordering::SeqCst) {
        return false;
    }
    let pid = getpid().as_raw_pid();
    let Some(process) = JobMembership::of(pid) else { return false };
    let ancestors = iter::successors(Some(process), |it| JobMembership::of(it.parent));
    process.session != pid && has_shell_outside_job(process, ancestors.skip(1).take(MAX_ANCESTORS))
}

/// The parent, process group and session of a process. 0 stands for one outside the container of this process.
#[derive(Clone, Copy)]
struct JobMembership {
    parent: RawPid,
    group: RawPid,
    session: RawPid,
}

impl JobMembership {
    /// Reads them from `/proc`, because rustix cannot return a group or session outside the container.
    #[cfg(target_os = "linux")]
    fn of(process: RawPid) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name of the program, in parentheses, may contain anything. The state follows it.
        let mut numbers = stat.rsplit_once(')')?.1.split_whitespace().skip(1).map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(Self { parent: next()?, group: next()?, session: next()? })
    }

    #[cfg(not(target_os = "linux"))]
    fn of(process: RawPid) -> Option<Self> {
        let id = rustix::process::Pid::from_raw(process)?;
        let mut ps = subprocess::command("ps");
        let output = ps.args(["-o", "ppid=", "-p", &process.to_string()]).output().ok()?;
        Some(Self {
            parent: String::from_utf8(output.stdout).ok()?.trim().parse().ok()?,
            group: rustix::process::getpgid(Some(id)).ok()?.as_raw_pid(),
            session: rustix::process::getsid(Some(id)).ok()?.as_raw_pid(),
        })
    }
}

/// Returns whether the nearest ancestor that is not a part of the job belongs to the session of `process`.
fn has_shell_outside_job(
    process: JobMembership,
    mut ancestors: impl Iterator<Item = JobMembership>,
) -> bool {
    let outside = |it: &JobMembership| (it.session, it.group) != (process.session, process.group);
    ancestors.find(outside).is_some_and(|it| it.session == process.session)
}

#[cfg(test)]
mod tests {
    use super::{JobMembership, RawPid, has_shell_outside_job};

    fn member(session: RawPid, group: RawPid) -> JobMembership {
        JobMembership { parent: 1, group, session }
    }

    #[test]
    fn only_a_shell_of_the_same_session_resumes_a_job() {
        let job = member(10, 30);
        for (ancestors, resumed) in [
            (vec![member(10, 10)], true),
            (vec![job, job, member(10, 20), member(5, 5)], true),
            (vec![member(5, 5)], false),
            // The session of the ancestor was started outside the container.
            (vec![job, member(0, 0)], false),
            (vec![job], false),
            (vec![], false),
        ] {
            assert_eq!(has_shell_outside_job(job, ancestors.into_iter()), resumed);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_belongs_to_the_process_that_started_it() {
        let membership = JobMembership::of(std::process::id().cast_signed()).unwrap();
        assert_eq!(membership.parent.cast_unsigned(), std::os::unix::process::parent_id());
        assert!(JobMembership::of(0).is_none());
    }
}
