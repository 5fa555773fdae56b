//! Reads standard input for commands, and ends a read at Ctrl-C. A command reads in the middle of its work, so nothing
//! else would notice the interrupt before the user presses Enter or the input ends.

use std::{
    borrow::Cow,
    env,
    future::pending,
    io::{self, Read, Write as _},
    os::{fd::AsFd as _, unix::net::UnixStream},
    process,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crossterm::terminal::disable_raw_mode;
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::{Errno, retry_on_intr},
    process::getppid,
    stdio::stdin,
    termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr},
};
use secrecy::zeroize::Zeroizing;
use tokio::{signal::unix::SignalKind, task::JoinHandle, time::timeout};

use crate::{
    cli::{
        CliError, CliResult, Exit,
        messages::write_stderr,
        terminal_changes::{TerminalChange, is_in_background, undo_all, wait_for_foreground},
    },
    process_signals::{END_TIMEOUT, SignalListener, read_blocks},
    subprocess::PARENT_VARIABLE,
};
use tessera_interface::printable_text::PrintableText;
use tessera_wire::text_encoding::decode_text;

const READ_STDIN: &str = "read standard input";
/// Ends the input if the terminal passes on each key.
const CTRL_D: u8 = 4;

/// A socket pair of which the first end becomes readable at an interrupt.
static INTERRUPT: OnceLock<Option<[UnixStream; 2]>> = OnceLock::new();

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

const PARENT_INTERVAL: Duration = Duration::from_millis(200);

/// Installs the signal handler before anything is printed. A task of its own waits for the signal, because a read from
/// the keyboard blocks the task of the command. An interrupt that the parent ignores never comes. The end of the parent
/// for which this process works is an interrupt, too. The process ends at once if a command is reading a named pipe,
/// otherwise at a second interrupt or after a time limit.
pub(super) fn watch_interrupts(is_machine: bool) -> CliResult<JoinHandle<()>> {
    let interrupts = SignalListener::new(SignalKind::interrupt());
    let mut interrupts = interrupts.map_err(|error| CliError::io("wait for a signal", &error))?;
    Ok(tokio::spawn(async move {
        tokio::select! {
            () = interrupts.received() => {}
            () = parent_ended() => {}
        }
        interrupt();
        tokio::spawn(async move {
            // Each outcome ends the process.
            tokio::select! {
                _ = timeout(END_TIMEOUT, interrupts.received()) => {}
                () = read_blocks() => {}
            }
            undo_all();
            // The detection of the terminal may be waiting for a reply.
            let _ = disable_raw_mode();
            process::exit(CliError::interrupted().report(is_machine));
        });
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

/// Reads one line without its line break, or an empty line at the end of the input.
pub(super) fn read_line() -> CliResult<String> {
    // The line may be a secret, so its bytes are erased.
    let mut line = Zeroizing::new(Vec::new());
    let mut byte = [0];
    while Keyboard.read(&mut byte).map_err(|error| read_error(READ_STDIN, &error))? == 1 {
        match byte {
            [b'\n' | b'\r'] => break,
            [CTRL_D] if line.is_empty() => break,
            _ => line.extend(byte),
        }
    }
    let text = str::from_utf8(&line).map(edited);
    text.map_err(|_| CliError::usage("standard input: this line is not UTF-8 text"))
}

/// Reads one line that is not shown while it is typed. The terminal passes on each key, because its own lines end after
/// 4095 bytes, but keys that interrupt or stop the program still do so.
pub(super) fn read_hidden_line(prompt: &str) -> CliResult<String> {
    let failed = |error: io::Error| CliError::io("read the terminal", &error);
    let shown = tcgetattr(stdin()).map_err(|error| failed(error.into()))?;
    let mut hidden = shown.clone();
    hidden.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON);
    hidden.special_codes[SpecialCodeIndex::VMIN] = 1;
    hidden.special_codes[SpecialCodeIndex::VTIME] = 0;
    let prompt = PrintableText::lines(prompt);
    let hide = move || {
        wait_for_foreground()?;
        // A cookie that is pasted as soon as the prompt appears is not shown.
        tcsetattr(stdin(), OptionalActions::Now, &hidden)?;
        write_stderr(&prompt);
        Ok(())
    };
    let show = move || {
        if is_in_background() {
            return Ok(());
        }
        Ok(tcsetattr(stdin(), OptionalActions::Now, &shown)?)
    };
    let hidden = TerminalChange::new(hide, show).map_err(failed)?;
    let line = read_line();
    drop(hidden);
    write_stderr(&PrintableText::lines("\n"));
    line
}

/// Applies the keys that the settings of the terminal have left in a line: Backspace, Ctrl-U, Ctrl-W and arrows.
fn edited(typed: &str) -> String {
    let (mut line, mut chars) = (String::new(), typed.chars());
    while let Some(c) = chars.next() {
        match c {
            '\u{8}' | '\u{7f}' => drop(line.pop()),
            '\u{15}' => line.clear(),
            '\u{17}' => line.truncate(line.trim_end().rfind(' ').map_or(0, |space| space + 1)),
            '\u{1b}' => {
                if matches!(chars.next(), Some('[' | 'O')) {
                    chars.find(|c| ('@'..='~').contains(c));
                }
            }
            c if c.is_control() => {}
            c => line.push(c),
        }
    }
    line
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
        let input = stdin();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_edit_a_line_that_the_terminal_has_not_edited() {
        for (typed, line) in [
            ("yx\u{7f}", "y"),
            ("\u{8}n", "n"),
            ("wrong\u{15}right", "right"),
            ("one two\u{17}three", "one three"),
            ("a\u{1b}[Db\u{1b}OCc\u{1b}[1;5Dd", "abcd"),
            ("a\tb\u{0}", "ab"),
        ] {
            assert_eq!(edited(typed), line, "{typed:?}");
        }
    }
}
