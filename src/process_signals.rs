//! Lists the signals that end this process, and finds out which of them were ignored when the process started. `nohup`
//! ignores hang-ups, and a shell without job control ignores interrupts of programs in the background. Such a signal
//! stays ignored. Reads that only a signal can end are counted here.

use std::{
    fs,
    future::pending,
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use signal_hook::{
    consts::{
        SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM,
        SIGXCPU, SIGXFSZ,
    },
    flag,
};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end a process by default, and that another process or a limit of the system sends.
pub(crate) const TERMINATION_SIGNALS: &[i32] = &[
    SIGINT,
    SIGTERM,
    SIGHUP,
    SIGQUIT,
    SIGUSR1,
    SIGUSR2,
    SIGALRM,
    SIGABRT,
    SIGXCPU,
    SIGVTALRM,
    SIGPROF,
    #[cfg(target_os = "linux")]
    signal_hook::consts::SIGIO,
];

/// How long this process may take to end after a signal. Restoring a terminal that does not respond takes up to three
/// seconds more, and a system that shuts down kills a program after ten.
pub(crate) const END_TIMEOUT: Duration = Duration::from_secs(7);
/// How long the end of the interface waits for writes. What was not saved is reported before [`END_TIMEOUT`], even if
/// the terminal does not respond, and a local service is stopped only after the report.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(4);

/// Returns the signals that this process does not ignore. This must be called before the signals are handled.
pub(crate) fn not_ignored(signals: impl IntoIterator<Item = i32>) -> Vec<i32> {
    signals.into_iter().filter(|signal| !is_ignored(*signal)).collect()
}

/// Waits for a signal from its creation on.
#[derive(Debug)]
pub(crate) struct SignalListener(Option<Signal>);

impl SignalListener {
    pub(crate) fn new(kind: SignalKind) -> io::Result<Self> {
        let is_handled = !is_ignored(kind.as_raw_value());
        is_handled.then(|| signal(kind)).transpose().map(Self)
    }

    /// Waits for the next signal, or forever if this process ignores it.
    pub(crate) async fn received(&mut self) {
        match &mut self.0 {
            Some(signal) => drop(signal.recv().await),
            None => pending().await,
        }
    }
}

const READ_INTERVAL: Duration = Duration::from_millis(50);
/// The number of running reads of [`blocking_read`].
static BLOCKING_READS: AtomicUsize = AtomicUsize::new(0);

/// Reads a file that the user has named. If it is a named pipe or a device, the read may wait for another program, and
/// no other code of this process can end it.
pub(crate) fn blocking_read<T>(read: impl FnOnce() -> T) -> T {
    BLOCKING_READS.fetch_add(1, Ordering::SeqCst);
    let result = read();
    BLOCKING_READS.fetch_sub(1, Ordering::SeqCst);
    result
}

/// Waits until such a read is running, so that an interrupt has to end this process.
pub(crate) async fn read_blocks() {
    while BLOCKING_READS.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(READ_INTERVAL).await;
    }
}

/// Makes a write beyond the file size limit (`ulimit -f`) fail instead of ending this process. The signal has a handler
/// instead of being ignored, so that it has its default effect in child processes.
pub fn survive_file_size_limit() -> io::Result<()> {
    if !is_ignored(SIGXFSZ) {
        flag::register(SIGXFSZ, Arc::default())?;
    }
    Ok(())
}

/// Returns whether this process ignores a signal. This must be asked before the signal is handled. Only Linux reports
/// ignored signals to safe code, so on other systems no signal counts as ignored.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignored_signals(&status).is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Reads the set of ignored signals, in which bit 0 is signal 1.
fn ignored_signals(status: &str) -> Option<u64> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_ended_by_the_signal_of_the_file_size_limit() {
        use std::os::unix::process::ExitStatusExt as _;

        survive_file_size_limit().unwrap();
        signal_hook::low_level::raise(SIGXFSZ).unwrap();
        let mut child = tessera_subprocess::isolated_command("sh");
        let status = child.args(["-c", "kill -XFSZ $$"]).status().unwrap();
        assert_eq!(status.signal(), Some(SIGXFSZ));
    }

    #[test]
    fn the_mask_of_the_system_is_read() {
        let status = "Name:\ttessera\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001007\n";
        assert_eq!(ignored_signals(status), Some(0x1007));
        assert_eq!(ignored_signals("Name:\ttessera\n"), None);
    }
}
