//! Enters the terminal once and restores it once.
//!
//! One restore function serves the normal exit, the panic hook and the signals. It only writes to
//! the terminal, so it works on any thread, and even when the terminal is half gone.

use std::{
    env,
    io::{self, Stdout, Write},
    sync::atomic::{AtomicBool, AtomicU8, Ordering},
    time::{Duration, Instant},
};

use crossterm::{
    cursor,
    event::{
        DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste,
        EnableFocusChange, EnableMouseCapture,
    },
    execute, queue,
    terminal::{self, EnterAlternateScreen, LeaveAlternateScreen},
};
use parking_lot::Mutex;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{Mode, OFlags, open},
    io::Errno,
    termios::{
        Action, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflow, tcflush,
        tcgetattr, tcsetattr, ttyname,
    },
};
use tessera_interface::{app::JobAlert, drawing::picture_layer::delete_all_pictures};

use crate::runtime::{alerts::AlertSupport, frames::FrameWriter, probe::unanswered};

const KITTY_IN_TMUX: u8 = 2;
/// How soon after the program continues a signal to stop belongs to the previous stop.
const SECOND_STOP: Duration = Duration::from_millis(500);

/// Whether the terminal is in use. The lock is held until the terminal is restored, so that no
/// other thread ends the process earlier.
static TERMINAL_ACTIVE: Mutex<bool> = Mutex::new(false);
/// Whether pictures must be deleted on exit: 0 for none, 1 for kitty, 2 for kitty through tmux.
static PICTURES_TO_DELETE: AtomicU8 = AtomicU8::new(0);
/// Whether the terminal has saved its previous keyboard setting, which must be restored exactly once.
static KEYBOARD_SAVED: AtomicBool = AtomicBool::new(false);
/// Saves the keyboard setting, and reports all keys as sequences, with the text that they type and the keys at the same
/// place of a Latin layout.
const SAVE_AND_SET_KEYBOARD: &[u8] = b"\x1b[>29u";
/// Sets the same without saving.
const SET_KEYBOARD: &[u8] = b"\x1b[=29u";
const RESTORE_KEYBOARD: &[u8] = b"\x1b[<u";
static TITLE_CHANGED: AtomicBool = AtomicBool::new(false);

/// How long to wait for room in a terminal that accepts no output.
const WAIT_FOR_ROOM: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
/// The maximum number of times that restoring waits for room, which is half a second in total. The waits are counted
/// instead of timed, because a loaded machine may need longer than half a second to run this thread at all.
const MAX_WAITS: usize = 25;

/// The largest screen that is drawn. The rest of a larger screen stays empty.
const MAX_SIZE: (u16, u16) = (1000, 500);

/// Owns the terminal and restores it on drop.
#[derive(Debug)]
pub struct TerminalScreen {
    pub frames: FrameWriter<Stdout>,
    mouse: bool,
    /// Whether the terminal reports all keys by the keyboard protocol of kitty.
    keyboard: bool,
    alert_support: AlertSupport,
    /// When the job last continued after Ctrl-Z.
    resumed: Option<Instant>,
}

/// Returns the size of the terminal (columns, rows), limited to the size that is drawn. A terminal that does not know
/// its size, such as a serial console, has the size in `COLUMNS` and `LINES`, or else 80 columns and 24 rows.
pub fn size() -> io::Result<(u16, u16)> {
    let (columns, rows) = terminal::size()?;
    let known = |cells: u16, variable: &str, usual: u16| {
        let named = || env::var(variable).ok().and_then(|cells| cells.trim().parse().ok());
        let known = Some(cells).filter(|cells| *cells > 0).or_else(named);
        known.filter(|cells| *cells > 0).unwrap_or(usual)
    };
    let (columns, rows) = (known(columns, "COLUMNS", 80), known(rows, "LINES", 24));
    Ok((columns.min(MAX_SIZE.0), rows.min(MAX_SIZE.1)))
}

impl TerminalScreen {
    /// Enters raw mode and the alternate screen, and enables paste and mouse reports.
    pub fn enter(mouse: bool) -> io::Result<Self> {
        restore_on_panic();
        let alert_support = AlertSupport::detect();
        let frames = FrameWriter::new(io::stdout());
        let mut screen = Self { frames, mouse, keyboard: false, alert_support, resumed: None };
        screen.reenter()?;
        Ok(screen)
    }

    /// Enters the terminal again. It may not have been restored, because a SIGSTOP stops the program at once.
    pub fn reenter(&mut self) -> io::Result<()> {
        *TERMINAL_ACTIVE.lock() = true;
        terminal::enable_raw_mode()?;
        never_block_reads()?;
        let mut out = io::stdout();
        queue!(out, EnterAlternateScreen, EnableBracketedPaste, EnableFocusChange, cursor::Hide)?;
        if self.mouse {
            queue!(out, EnableMouseCapture)?;
        }
        if self.keyboard {
            out.write_all(keyboard_sequence())?;
        }
        self.frames.invalidate();
        out.flush()
    }

    /// Restores the terminal, stops the process by `stop`, and enters the terminal again afterwards, so that no frame
    /// goes to the shell's screen.
    pub fn suspend(&mut self, stop: fn() -> io::Result<()>) -> io::Result<()> {
        restore();
        // The input reader stops with the process.
        stop()?;
        self.reenter()
    }

    /// Stops all processes of the job in the same way.
    pub fn suspend_job(&mut self, stop: fn() -> io::Result<()>) -> io::Result<()> {
        self.suspend(stop)?;
        self.resumed = Some(Instant::now());
        Ok(())
    }

    /// Whether the job has just continued, so that a signal to stop is the one that stopped the job.
    pub fn is_just_resumed(&self) -> bool {
        self.resumed.is_some_and(|at| at.elapsed() < SECOND_STOP)
    }

    pub fn send_alert(&mut self, alert: &JobAlert) -> io::Result<()> {
        let first =
            matches!(alert, JobAlert::Activity(_)) && !TITLE_CHANGED.swap(true, Ordering::SeqCst);
        self.frames.write(self.alert_support.sequence(alert, first).as_bytes())
    }

    /// Enables the keyboard protocol of kitty once, so that keys of all layouts act.
    pub fn set_keyboard(&mut self, supported: bool) -> io::Result<()> {
        if !supported || self.keyboard {
            return Ok(());
        }
        self.keyboard = true;
        self.frames.write(keyboard_sequence())
    }

    pub fn set_mouse(&mut self, capture: bool) -> io::Result<()> {
        self.mouse = capture;
        let mut out = io::stdout();
        if capture { execute!(out, EnableMouseCapture) } else { execute!(out, DisableMouseCapture) }
    }
}

/// Returns the sequence that enables the keyboard protocol of kitty, and saves the previous setting only once.
fn keyboard_sequence() -> &'static [u8] {
    if KEYBOARD_SAVED.swap(true, Ordering::SeqCst) { SET_KEYBOARD } else { SAVE_AND_SET_KEYBOARD }
}

impl Drop for TerminalScreen {
    fn drop(&mut self) {
        restore();
    }
}

pub fn delete_pictures_on_exit(kitty: bool, tmux: bool) {
    PICTURES_TO_DELETE.store(u8::from(kitty) + u8::from(kitty && tmux), Ordering::SeqCst);
}

/// The line settings of the terminal, saved while another program uses it.
pub(super) struct LineSettings(Option<Termios>);

impl LineSettings {
    pub(super) fn read() -> Self {
        Self(tcgetattr(io::stdin()).ok())
    }

    pub(super) fn restore(&self) {
        if let Some(settings) = &self.0 {
            // If the terminal is gone, the next write reports it.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, settings);
        }
    }
}

/// Makes reads return immediately, even in the middle of a key's sequence. Raw mode must be on, and disabling it
/// also restores this setting.
fn never_block_reads() -> io::Result<()> {
    let mut settings = tcgetattr(io::stdin())?;
    settings.special_codes[SpecialCodeIndex::VMIN] = 0;
    settings.special_codes[SpecialCodeIndex::VTIME] = 0;
    Ok(tcsetattr(io::stdin(), OptionalActions::Now, &settings)?)
}

/// Restores the terminal once. Errors are ignored, because the terminal may be gone. This waits at most `MAX_WAITS`
/// times for room, even while another thread is blocked in a write, and then for the last replies of the terminal.
pub fn restore() {
    let mut active = TERMINAL_ACTIVE.lock();
    if !std::mem::take(&mut *active) {
        return;
    }
    let mut bytes = Vec::new();
    match PICTURES_TO_DELETE.load(Ordering::SeqCst) {
        0 => {}
        kind => bytes.extend(delete_all_pictures(kind == KITTY_IN_TMUX).as_bytes()),
    }
    if TITLE_CHANGED.swap(false, Ordering::SeqCst) {
        bytes.extend(AlertSupport::detect().reset_sequence().as_bytes());
    }
    // The alternate screen has its own setting.
    if KEYBOARD_SAVED.swap(false, Ordering::SeqCst) {
        bytes.extend(RESTORE_KEYBOARD);
    }
    let _ = queue!(
        bytes,
        DisableMouseCapture,
        DisableFocusChange,
        DisableBracketedPaste,
        cursor::Show,
        LeaveAlternateScreen
    );
    bytes.extend(unanswered::last_query().as_bytes());
    if write_without_blocking(&bytes).is_ok() {
        unanswered::discard_replies();
    }
    let _ = terminal::disable_raw_mode();
}

/// Writes to the terminal through a descriptor of its own, because a blocked thread may hold the
/// lock of standard output. If the terminal's output stays stopped, it is resumed, and what was
/// waiting in it is discarded.
fn write_without_blocking(mut bytes: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let terminal = ttyname(io::stdout(), Vec::new())
        .and_then(|path| open(path, flags, Mode::empty()))
        .or_else(|_| open(c"/dev/tty", flags, Mode::empty()))?;
    let mut waits = 0;
    while !bytes.is_empty() && waits < MAX_WAITS {
        match rustix::io::write(&terminal, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                waits += 1;
                if waits > MAX_WAITS / 2 {
                    tcflush(&terminal, QueueSelector::OFlush)?;
                    tcflow(&terminal, Action::OOn)?;
                }
                let mut ready = [PollFd::new(&terminal, PollFlags::OUT)];
                poll(&mut ready, Some(&WAIT_FOR_ROOM))?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    if bytes.is_empty() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

/// Restores the terminal before the panic is reported, so that the report is readable.
fn restore_on_panic() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // A decoder may panic on a broken picture, which the decoder's thread handles.
            if !tessera_picture::decode::is_in_decoder() {
                restore();
                report(panic);
            }
        }));
    });
}
