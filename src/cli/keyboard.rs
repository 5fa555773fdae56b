//! Reads standard input for commands, and ends a read at Ctrl-C. A command reads in the middle of its work, so nothing
//! else would notice the interrupt before the user presses Enter or the input ends.

use std::{
    borrow::Cow,
    env,
    future::pending,
    io::{self, Read, Write as _},
    os::{fd::AsFd as _, unix::net::UnixStream},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::{Errno, retry_on_intr},
    process::getppid,
};
use secrecy::zeroize::Zeroizing;
use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinHandle,
};

use crate::{
    cli::{CliError, CliResult, Exit},
    inherited_signals,
};
use tessera_wire::text_encoding::decode_text;

const READ_STDIN: &str = "read standard input";

/// A socket pair of which the first end becomes readable at an interrupt.
static INTERRUPT: OnceLock<Option<[UnixStream; 2]>> = OnceLock::new();

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Names the process with which this process ends.
pub(super) const PARENT_VARIABLE: &str = "TESSERA_PARENT";
const PARENT_INTERVAL: Duration = Duration::from_millis(200);

/// Installs the signal handler before anything is printed. A task of its own waits for the signal, because a read from
/// the keyboard blocks the task of the command. An interrupt that the parent ignores never comes. The end of the parent
/// for which this process works is an interrupt, too.
pub(super) fn watch_interrupts() -> CliResult<JoinHandle<()>> {
    let kind = SignalKind::interrupt();
    let is_heeded = !inherited_signals::is_ignored(kind.as_raw_value());
    let interrupts = is_heeded.then(|| signal(kind)).transpose();
    let interrupts = interrupts.map_err(|error| CliError::io("wait for a signal", &error))?;
    Ok(tokio::spawn(async move {
        let interrupted = async {
            match interrupts {
                Some(mut interrupts) => drop(interrupts.recv().await),
                None => pending().await,
            }
        };
        tokio::select! {
            () = interrupted => {}
            () = parent_ended() => {}
        }
        interrupt();
    }))
}

/// Waits until the process has ended that [`PARENT_VARIABLE`] names. The system has then given this process another
/// parent. A signal from the parent would be missing if the parent was killed.
async fn parent_ended() {
    let parent = env::var(PARENT_VARIABLE).ok().and_then(|id| id.parse::<i32>().ok());
    let Some(parent) = parent else { return pending().await };
    while getppid().is_some_and(|current| current.as_raw_nonzero().get() == parent) {
        tokio::time::sleep(PARENT_INTERVAL).await;
    }
}

fn interrupt_ends() -> Option<&'static [UnixStream; 2]> {
    // Without descriptors, a read ends at the next line.
    INTERRUPT.get_or_init(|| UnixStream::pair().ok().map(|(read, write)| [read, write])).as_ref()
}

/// Ends the running read and all later ones.
pub(super) fn interrupt() {
    INTERRUPTED.store(true, Ordering::SeqCst);
    if let Some([_, write]) = interrupt_ends() {
        let mut write: &UnixStream = write;
        // If the socket is full, it is readable already.
        let _ = write.write(&[0]);
    }
}

/// Reads one line without its line break, or an empty line at the end of the input. A backspace that the line settings
/// of the terminal do not know removes the character before it.
pub(super) fn read_line() -> CliResult<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while Keyboard.read(&mut byte).map_err(|error| read_error(READ_STDIN, &error))? == 1
        && byte != *b"\n"
    {
        line.extend(byte);
    }
    let mut typed = String::new();
    for c in String::from_utf8_lossy(&line).chars() {
        match c {
            '\u{8}' | '\u{7f}' => drop(typed.pop()),
            c => typed.push(c),
        }
    }
    Ok(typed)
}

pub(super) fn read_bytes() -> CliResult<Vec<u8>> {
    let mut bytes = Vec::new();
    Keyboard.read_to_end(&mut bytes).map_err(|error| read_error(READ_STDIN, &error))?;
    Ok(bytes)
}

/// Reads text, which may be UTF-16 with a byte-order mark, as programs on Windows write it.
pub(super) fn read_text() -> CliResult<String> {
    // The text may be a secret, so its bytes are erased.
    let bytes = Zeroizing::new(read_bytes()?);
    let text = decode_text(&bytes).map(Cow::into_owned);
    text.map_err(|reason| CliError::usage(format!("standard input: {reason}")))
}

/// Standard input, whose reads end at an interrupt.
pub(super) struct Keyboard;

impl Read for Keyboard {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let input = rustix::stdio::stdin();
        let mut waits = vec![PollFd::from_borrowed_fd(input, PollFlags::IN)];
        let interrupted = interrupt_ends().map(|[read, _]| read.as_fd());
        waits.extend(interrupted.map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN)));
        retry_on_intr(|| poll(&mut waits, None))?;
        if waits.get(1).is_some_and(|interrupted| !interrupted.revents().is_empty()) {
            return Err(io::Error::other("interrupted"));
        }
        match retry_on_intr(|| rustix::io::read(input, &mut *buffer)) {
            // A closed standard input is empty.
            Err(Errno::BADF) => Ok(0),
            read => Ok(read?),
        }
    }
}

/// Converts an error of [`Keyboard`]. `purpose` follows the word "cannot".
pub(super) fn read_error(purpose: &str, error: &io::Error) -> CliError {
    if INTERRUPTED.load(Ordering::SeqCst) {
        CliError::new(Exit::Interrupted, "interrupted")
    } else {
        CliError::io(purpose, error)
    }
}
