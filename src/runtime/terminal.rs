//! The terminal, which is entered once and restored once.
//!
//! One restore function serves the normal exit, the panic hook and the signals. It only writes to
//! the terminal, so it works on any thread and when the terminal is half gone.

use std::{
    io::{self, Stdout, Write},
    sync::atomic::{AtomicBool, AtomicU8, Ordering},
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
use rustix::termios::{OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};

use crate::{
    app::JobAlert,
    runtime::{alerts::AlertSupport, frames::FrameWriter},
    ui::picture_layer::delete_all_pictures,
};

const KITTY_IN_TMUX: u8 = 2;

static TERMINAL_ACTIVE: AtomicBool = AtomicBool::new(false);
/// Whether pictures must be deleted on exit: 0 no, 1 kitty, 2 kitty through tmux.
static PICTURES_TO_DELETE: AtomicU8 = AtomicU8::new(0);
static TITLE_CHANGED: AtomicBool = AtomicBool::new(false);

/// Largest screen that is drawn; the rest stays empty.
const MAX_SIZE: (u16, u16) = (1000, 500);

/// Owns the terminal and restores it on drop.
#[derive(Debug)]
pub struct TerminalScreen {
    pub frames: FrameWriter<Stdout>,
    mouse: bool,
    alert_support: AlertSupport,
}

/// The size of the terminal (columns, rows), limited to the drawn size.
pub fn size() -> io::Result<(u16, u16)> {
    let (columns, rows) = terminal::size()?;
    Ok((columns.min(MAX_SIZE.0), rows.min(MAX_SIZE.1)))
}

impl TerminalScreen {
    /// Enters raw mode and the alternate screen, and enables paste and mouse reports.
    pub fn enter(mouse: bool) -> io::Result<Self> {
        restore_on_panic();
        // NO_COLOR selects the plain theme; pictures are content and keep their colors, which
        // crossterm would drop.
        crossterm::style::force_color_output(true);
        let alert_support = AlertSupport::detect();
        let mut screen = Self { frames: FrameWriter::new(io::stdout()), mouse, alert_support };
        screen.reenter()?;
        Ok(screen)
    }

    pub fn reenter(&mut self) -> io::Result<()> {
        TERMINAL_ACTIVE.store(true, Ordering::SeqCst);
        terminal::enable_raw_mode()?;
        never_block_reads()?;
        let mut out = io::stdout();
        queue!(out, EnterAlternateScreen, EnableBracketedPaste, EnableFocusChange, cursor::Hide)?;
        if self.mouse {
            queue!(out, EnableMouseCapture)?;
        }
        self.frames.invalidate();
        out.flush()
    }

    pub fn send_alert(&mut self, alert: &JobAlert) -> io::Result<()> {
        let first =
            matches!(alert, JobAlert::Activity(_)) && !TITLE_CHANGED.swap(true, Ordering::SeqCst);
        self.frames.write(self.alert_support.sequence(alert, first).as_bytes())
    }

    pub fn set_mouse(&mut self, capture: bool) -> io::Result<()> {
        self.mouse = capture;
        let mut out = io::stdout();
        if capture { execute!(out, EnableMouseCapture) } else { execute!(out, DisableMouseCapture) }
    }
}

impl Drop for TerminalScreen {
    fn drop(&mut self) {
        restore();
    }
}

pub fn delete_pictures_on_exit(kitty: bool, tmux: bool) {
    PICTURES_TO_DELETE.store(u8::from(kitty) + u8::from(kitty && tmux), Ordering::SeqCst);
}

/// Makes reads return immediately, also in the middle of the sequence of a key. Raw mode must be on;
/// disabling it restores this setting, too.
fn never_block_reads() -> io::Result<()> {
    let mut settings = tcgetattr(io::stdin())?;
    settings.special_codes[SpecialCodeIndex::VMIN] = 0;
    settings.special_codes[SpecialCodeIndex::VTIME] = 0;
    Ok(tcsetattr(io::stdin(), OptionalActions::Now, &settings)?)
}

/// Restores the terminal, once. Errors are ignored: the terminal may be gone.
pub fn restore() {
    if !TERMINAL_ACTIVE.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    let kind = PICTURES_TO_DELETE.load(Ordering::SeqCst);
    if kind > 0 {
        let _ = out.write_all(delete_all_pictures(kind == KITTY_IN_TMUX).as_bytes());
    }
    if TITLE_CHANGED.swap(false, Ordering::SeqCst) {
        let _ = out.write_all(AlertSupport::detect().reset_sequence().as_bytes());
    }
    let _ = execute!(
        out,
        DisableMouseCapture,
        DisableFocusChange,
        DisableBracketedPaste,
        cursor::Show,
        LeaveAlternateScreen
    );
    let _ = terminal::disable_raw_mode();
}

/// Restores the terminal before the panic is reported, so that the report is readable.
fn restore_on_panic() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // A decoder may panic on a broken picture; its thread handles that.
            if !tessera_picture::decode::is_in_decoder() {
                restore();
                report(panic);
            }
        }));
    });
}
